//! Products by cuBLAS in the arithmetic that was asked for.
//!
//! A number of 24 bits is nearly the sum of two of 11: the product of two sums is three products on tensor cores, with
//! the fourth below the rounding of the first. Tensor cores cut off what they add up, always towards 0, so that long sums
//! shrink: the largest of the three is added up in panels, between which numbers are rounded as usual.

use crate::backend::gpu::kernels::tt;
use crate::backend::gpu::{Blas, DeviceMemory, Gpu, Region, Scalars, Series, Transpose, View};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::shape::product;
use crate::tt::options::Math;

/// Terms of a sum that tensor cores add up by themselves.
const PANEL: usize = 256;

/// cuBLAS on one queue.
pub(super) struct Products<'a> {
    blas: &'a Blas,
    gpu: &'a Gpu,
    math: Math,
    /// 1 and 0.
    numbers: DeviceMemory,
    /// Room for both parts of either factor, of so many elements.
    parts: Option<[DeviceMemory; 2]>,
    elements: usize,
}

/// A factor of a product.
pub(super) type Factor<'a> = (View<'a>, Transpose);

/// What y is taken as on the way to the next bond.
pub(super) fn adjoint(conjugate: bool) -> Transpose {
    if conjugate { Transpose::Adjoint } else { Transpose::Transpose }
}

/// The part of a factor with some of the terms of every sum, which run over the columns of op(A) and the rows of op(B).
fn panel<'a, T: Scalar>((view, op): Factor<'a>, is_left: bool, from: usize, count: usize) -> Result<Factor<'a>> {
    let by_columns = (op == Transpose::Plain) == is_left;
    let part = if by_columns { view.columns::<T>(from, count)? } else { view.rows::<T>(from, count)? };
    Ok((part, op))
}

impl<'a> Products<'a> {
    /// Products whose factors have at most `elements` elements.
    pub(super) fn new<T: Scalar>(gpu: &'a Gpu, blas: &'a Blas, math: Math, elements: usize) -> Result<Self> {
        let stream = blas.stream();
        let mut numbers = gpu.allocate_on(stream, "scalars of products", 32)?;
        gpu.store_numbers(stream, &[T::from_parts(1.0, 0.0)], &mut numbers, 0)?;
        let mut parts = None;
        if math == Math::Tf32x3 && size_of::<T::Part>() == size_of::<f32>() {
            let bytes = product("factor", elements, 2 * size_of::<T>())?;
            let room = || gpu.allocate_uninitialised_on(stream, "parts of factors", bytes);
            parts = Some([room()?, room()?]);
        }
        Ok(Self { blas, gpu, math, numbers, parts, elements })
    }

    /// The library.
    pub(super) fn blas(&self) -> &'a Blas {
        self.blas
    }

    /// Whether products of many matrices at a time are to be had.
    pub(super) fn takes_many(&self) -> bool {
        self.parts.is_none() && self.math != Math::Gemm3m
    }

    fn scalars<'s>(&'s self, alpha: Option<Region<'s>>, add: bool) -> Result<Scalars<'s>> {
        let (one, zero) = (self.numbers.region(0, 16)?, self.numbers.region(16, 16)?);
        let alpha = alpha.map_or(Ok(one), |alpha| alpha.part(0, 16))?;
        Ok(Scalars { alpha, beta: if add { one } else { zero }, three: self.math == Math::Gemm3m })
    }

    /// C = alpha op(A) op(B) for each of `count` matrices, where [`Products::takes_many`].
    pub(super) fn multiply_all<T: Scalar>(
        &self,
        alpha: Option<Region<'_>>,
        a: (Series<'_>, Transpose),
        b: (Series<'_>, Transpose),
        c: Series<'_>,
        count: usize,
    ) -> Result<()> {
        self.blas.multiply_all_by::<T>(self.scalars(alpha, false)?, a, b, c, count)
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
        let Some(parts) = &self.parts else {
            return self.blas.multiply_by::<T>(scalars, a, b, c);
        };
        let [a_high, a_low] = self.split::<T>(&parts[0], a)?;
        let [b_high, b_low] = self.split::<T>(&parts[1], b)?;
        let more = Scalars { beta: self.numbers.region(0, 16)?, ..scalars };
        self.blas.multiply_by::<T>(scalars, a_high, b_low, c)?;
        self.blas.multiply_by::<T>(more, a_low, b_high, c)?;
        let inner = a.1.shape(&a.0).1;
        for from in (0..inner).step_by(PANEL) {
            let count = PANEL.min(inner - from);
            let left = panel::<T>(a_high, true, from, count)?;
            let right = panel::<T>(b_high, false, from, count)?;
            self.blas.multiply_by::<T>(more, left, right, c)?;
        }
        Ok(())
    }

    /// Both parts of a factor.
    fn split<'m, T: Scalar>(&self, memory: &'m DeviceMemory, (view, transpose): Factor<'_>) -> Result<[Factor<'m>; 2]> {
        let count = product("factor", view.rows, view.cols)?;
        if count > self.elements {
            let (rows, cols, elements) = (view.rows, view.cols, self.elements);
            return Err(Error::Internal(format!("a factor of {rows} x {cols} in room for {elements} elements")));
        }
        let bytes = count * size_of::<T>();
        let (high, low) = (memory.region(0, bytes)?, memory.region(bytes, bytes)?);
        tt::split::<T>(self.gpu, self.blas.stream(), view, high, low)?;
        Ok([high, low].map(|part| (View::packed(part, view.rows, view.cols), transpose)))
    }
}
