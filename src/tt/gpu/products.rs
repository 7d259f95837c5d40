//! Products by cuBLAS in the arithmetic that was asked for, and large ones by digits.

use std::cell::Cell;

use crate::backend::gpu::kernels::tt::{digits, result};
use crate::backend::gpu::{Blas, DeviceMemory, Gpu, Region, Scalars, Series, Transpose, View};
use crate::error::Result;
use crate::scalar::{DType, Scalar};
use crate::tt::options::Math;

/// Fewest rows and columns of products by digits, and fewest products of numbers in all: below, cuBLAS is faster.
const LEAST: (usize, usize) = (256, 1 << 26);

/// cuBLAS on one queue.
pub(super) struct Products<'a> {
    gpu: &'a Gpu,
    blas: &'a Blas,
    math: Math,
    numbers: Numbers<'a>,
    /// Room for digits, once they are needed.
    digits: Cell<Option<DeviceMemory>>,
}

/// Where 1 and 0 are, in [`Products::NUMBERS`] bytes.
enum Numbers<'a> {
    Own(DeviceMemory),
    Lent(Region<'a>),
}

/// A factor of a product.
pub(super) type Factor<'a> = (View<'a>, Transpose);

/// What y is taken as on the way to the next bond.
pub(super) fn adjoint(conjugate: bool) -> Transpose {
    if conjugate { Transpose::Adjoint } else { Transpose::Transpose }
}

/// Whether digits are worth it for op(A) and C.
fn is_large((a, op): Factor<'_>, c: View<'_>) -> bool {
    let (m, n, k) = (c.rows, c.cols, op.shape(&a).1);
    m.min(n) >= LEAST.0 && m.saturating_mul(n).saturating_mul(k) >= LEAST.1
}

impl<'a> Products<'a> {
    /// Bytes of the numbers 1 and 0.
    pub(super) const NUMBERS: usize = 32;

    /// Products on the queue of `blas`.
    pub(super) fn new<T: Scalar>(gpu: &'a Gpu, blas: &'a Blas, math: Math) -> Result<Self> {
        let stream = blas.stream();
        let mut numbers = gpu.allocate_on(stream, "scalars of products", Self::NUMBERS)?;
        gpu.store_numbers(stream, &[T::from_parts(1.0, 0.0)], &mut numbers, 0)?;
        Ok(Self { gpu, blas, math, numbers: Numbers::Own(numbers), digits: Cell::default() })
    }

    /// The same with memory that the caller lends, and nothing that comes from the host.
    pub(super) fn lent<T: Scalar>(gpu: &'a Gpu, blas: &'a Blas, math: Math, numbers: Region<'a>) -> Result<Self> {
        let [low, high] = result::one::<T>();
        result::store(gpu, blas.stream(), &[low, high, 0, 0], numbers.part(0, Self::NUMBERS)?)?;
        // Digits lie in memory that nobody has lent.
        let math = if math == Math::Int8x6 { Math::Default } else { math };
        Ok(Self { gpu, blas, math, numbers: Numbers::Lent(numbers), digits: Cell::default() })
    }

    /// The library.
    pub(super) fn blas(&self) -> &'a Blas {
        self.blas
    }

    /// Whether products of many matrices at a time are to be had.
    pub(super) fn takes_many(math: Math) -> bool {
        math != Math::Gemm3m
    }

    fn scalars<'s>(&'s self, alpha: Option<Region<'s>>, add: bool) -> Result<Scalars<'s>> {
        let numbers = match &self.numbers {
            Numbers::Own(memory) => memory.whole(),
            Numbers::Lent(region) => *region,
        };
        let (one, zero) = (numbers.part(0, 16)?, numbers.part(16, 16)?);
        let alpha = alpha.map_or(Ok(one), |alpha| alpha.part(0, 16))?;
        Ok(Scalars { alpha, beta: if add { one } else { zero }, three: self.math == Math::Gemm3m })
    }

    /// C = alpha op(A) op(B) for each of `count` matrices, with `add` added to what is there: in four real products where
    /// complex ones are asked for in three, of which [`Products::takes_many`] knows.
    pub(super) fn multiply_all<T: Scalar>(
        &self,
        alpha: Option<Region<'_>>,
        add: bool,
        a: (Series<'_>, Transpose),
        b: (Series<'_>, Transpose),
        c: Series<'_>,
        count: usize,
    ) -> Result<()> {
        self.blas.multiply_all_by::<T>(self.scalars(alpha, add)?, a, b, c, count)
    }

    /// C = alpha op(A) op(B), with `add` added to what is there. `alpha` is in device memory, read when the product runs; 1
    /// where there is none.
    pub(super) fn multiply<T: Scalar>(
        &self,
        alpha: Option<Region<'_>>,
        add: bool,
        a: Factor<'_>,
        b: Factor<'_>,
        c: View<'_>,
    ) -> Result<()> {
        let scalars = self.scalars(alpha, add)?;
        if self.math == Math::Int8x6 && T::DTYPE == DType::F32 && is_large(a, c) {
            let mut room = self.digits.take();
            let result = digits::multiply(self.gpu, self.blas.stream(), &mut room, (scalars.alpha, add), a, b, c);
            self.digits.set(room);
            return result;
        }
        self.blas.multiply_by::<T>(scalars, a, b, c)
    }
}
