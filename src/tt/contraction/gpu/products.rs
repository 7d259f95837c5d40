//! Products by cuBLAS in the requested arithmetic. Large products may be computed from int8 digits or from TF32 parts.

use std::cell::Cell;

use super::pieces::Piece;
use crate::backend::gpu::kernels::tt::{digits, result, tf32};
use crate::backend::gpu::{Blas, DeviceMemory, Gpu, Precision, Region, Scalars, Series, Transpose, View};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::product;
use crate::trains::options::Math;

/// Least number of rows and columns, and least number of multiplications, of products by int8 digits. Below, cuBLAS is
/// faster.
const DIGITS: (usize, usize) = (256, 1 << 26);
/// The same limits for products by TF32 parts. At rank 1024 a plain product takes three quarters of the time of the
/// parts; at rank 2048 it takes longer than the parts.
const PARTS: (usize, usize) = (2048, 1 << 33);

/// Largest number of terms of a sum in TF32. Tensor cores truncate within a sum; adding it to the sum before rounds
/// correctly.
const SUMS: usize = 512;
/// Alignment of the parts of factors in bytes.
const GRAIN: usize = 256;

/// Products by cuBLAS on one stream, in the arithmetic of `math`.
pub(super) struct Products<'a> {
    dtype: DType,
    gpu: &'a Gpu,
    blas: &'a Blas,
    math: Math,
    /// The numbers 1 and 0, in [`Products::NUMBERS`] bytes.
    numbers: Piece<'a>,
    /// Workspace for digits or parts, allocated when first needed.
    scratch: Cell<Option<DeviceMemory>>,
}

/// An operand of a product: a matrix, and how it is transposed.
pub(super) type Factor<'a> = (View<'a>, Transpose);

/// How y enters a product: as its adjoint if it is conjugated, otherwise as its transpose.
pub(super) fn adjoint(conjugate: bool) -> Transpose {
    if conjugate { Transpose::Adjoint } else { Transpose::Transpose }
}

/// Whether a product is large enough. `least` has the least number of rows and columns of C, and of multiplications.
fn is_large((a, op): Factor<'_>, c: View<'_>, least: (usize, usize)) -> bool {
    let (m, n, k) = (c.rows, c.cols, op.shape(&a).1);
    m.min(n) >= least.0 && m.saturating_mul(n).saturating_mul(k) >= least.1
}

/// The part of op(A), or of op(B), with the summation indices from `from` on.
fn inner<'a>((view, op): Factor<'a>, is_left: bool, from: usize, count: usize) -> Result<Factor<'a>> {
    let across = (op == Transpose::Plain) == is_left;
    Ok((if across { view.columns(DType::F32, from, count)? } else { view.rows(DType::F32, from, count)? }, op))
}

impl<'a> Products<'a> {
    /// Bytes of the numbers 1 and 0.
    pub(super) const NUMBERS: usize = 32;

    /// Products on the stream of `blas`.
    pub(super) fn new(dtype: DType, gpu: &'a Gpu, blas: &'a Blas, math: Math) -> Result<Self> {
        let stream = blas.stream();
        let mut numbers = gpu.allocate_on(stream, "scalars of products", Self::NUMBERS)?;
        gpu.store_numbers(stream, &result::one(dtype), &mut numbers, 0)?;
        Ok(Self { dtype, gpu, blas, math, numbers: Piece::Own(numbers), scratch: Cell::default() })
    }

    /// The same with the numbers in the caller's memory, without a copy from the host.
    pub(super) fn in_memory(
        dtype: DType,
        gpu: &'a Gpu,
        blas: &'a Blas,
        math: Math,
        numbers: Region<'a>,
    ) -> Result<Self> {
        let [low, high] = result::one(dtype);
        result::store(gpu, blas.stream(), &[low, high, 0, 0], numbers.part(0, Self::NUMBERS)?)?;
        // The split operands of these two modes need more memory than the caller gave.
        let math = if matches!(math, Math::Int8x6 | Math::Tf32x3) { Math::Default } else { math };
        Ok(Self { dtype, gpu, blas, math, numbers: Piece::Borrowed(numbers), scratch: Cell::default() })
    }

    /// The cuBLAS handle, bound to the stream.
    pub(super) fn blas(&self) -> &'a Blas {
        self.blas
    }

    /// The numbers 1 and 0 on the device, as factors of products.
    pub(super) fn numbers(&self) -> Region<'_> {
        self.numbers.whole()
    }

    /// Whether [`Products::multiply_all`] supports this arithmetic.
    pub(super) fn takes_many(math: Math) -> bool {
        math != Math::Gemm3m
    }

    fn scalars<'s>(&'s self, alpha: Option<Region<'s>>, add: bool) -> Result<Scalars<'s>> {
        let numbers = self.numbers.whole();
        let (one, zero) = (numbers.part(0, 16)?, numbers.part(16, 16)?);
        let alpha = alpha.map_or(Ok(one), |alpha| alpha.part(0, 16))?;
        Ok(Scalars { alpha, beta: if add { one } else { zero }, three: self.math == Math::Gemm3m })
    }

    /// C = alpha op(A) op(B) for each of `count` matrices, added to C if `add`. Always uses four real products for a
    /// complex one, even if three are requested: check [`Products::takes_many`] first.
    pub(super) fn multiply_all(
        &self,
        alpha: Option<Region<'_>>,
        add: bool,
        a: (Series<'_>, Transpose),
        b: (Series<'_>, Transpose),
        c: Series<'_>,
        count: usize,
    ) -> Result<()> {
        self.blas.multiply_all_by(self.dtype, self.scalars(alpha, add)?, a, b, c, count)
    }

    /// C = alpha op(A) op(B), added to C if `add`. `alpha` is in device memory and is read when the product runs;
    /// `None` stands for 1.
    pub(super) fn multiply(
        &self,
        alpha: Option<Region<'_>>,
        add: bool,
        a: Factor<'_>,
        b: Factor<'_>,
        c: View<'_>,
    ) -> Result<()> {
        let scalars = self.scalars(alpha, add)?;
        match self.math {
            Math::Int8x6 if self.dtype == DType::F32 && is_large(a, c, DIGITS) => {
                let mut scratch = self.scratch.take();
                let done = digits::multiply(self.gpu, self.blas.stream(), &mut scratch, (scalars.alpha, add), a, b, c);
                self.scratch.set(scratch);
                done
            }
            Math::Tf32x3 if self.dtype == DType::F32 && is_large(a, c, PARTS) => self.multiply_parts(scalars, a, b, c),
            _ => self.blas.multiply_by(self.dtype, scalars, a, b, c),
        }
    }

    /// The same in f32, as three products in TF32 of operands that are split into two parts each. The product of both
    /// low parts is as small as the rounding error and is left out. The product of the high parts comes last: tensor
    /// cores truncate sums, and small terms would be lost beside it.
    fn multiply_parts(&self, scalars: Scalars<'_>, a: Factor<'_>, b: Factor<'_>, c: View<'_>) -> Result<()> {
        let bytes = |factor: &Factor<'_>| product("parts of a factor", factor.0.rows * 4, factor.0.cols);
        let (in_a, in_b) = (bytes(&a)?.next_multiple_of(GRAIN), bytes(&b)?.next_multiple_of(GRAIN));
        let needed = in_a.checked_add(in_b).and_then(|both| both.checked_mul(2));
        let needed = needed.ok_or_else(|| Error::invalid("math", "parts of factors are of too many bytes"))?;
        let stream = self.blas.stream();
        let memory = match self.scratch.take().filter(|memory| memory.bytes() >= needed) {
            Some(memory) => memory,
            None => self.gpu.allocate_uninitialized_on(stream, "parts of factors", needed)?,
        };
        let parts = |(view, op): Factor<'_>, first: usize, each: usize| {
            let part = |at: usize| Ok::<_, Error>(View::packed(memory.region(at, each)?, view.rows, view.cols));
            let both = [part(first)?, part(first + each)?];
            tf32::split(self.gpu, stream, view, both)?;
            Ok::<_, Error>(both.map(|part| (part, op)))
        };
        let ([high_a, low_a], [high_b, low_b]) = (parts(a, 0, in_a)?, parts(b, 2 * in_a, in_b)?);
        let more = Scalars { beta: self.scalars(None, true)?.beta, ..scalars };
        self.blas.set_precision(Precision::Reduced)?;
        let mut scalars = scalars;
        let mut some = |from: usize, count: usize| -> Result<()> {
            for (a, b) in [(low_a, high_b), (high_a, low_b), (high_a, high_b)] {
                let (a, b) = (inner(a, true, from, count)?, inner(b, false, from, count)?);
                self.blas.multiply_by(DType::F32, scalars, a, b, c)?;
                scalars = more;
            }
            Ok(())
        };
        let all = a.1.shape(&a.0).1;
        let made = (0..all).step_by(SUMS).try_for_each(|from| some(from, SUMS.min(all - from)));
        self.blas.set_precision(Precision::Full)?;
        self.scratch.set(Some(memory));
        made
    }
}
