//! Products by cuBLAS in the arithmetic that was asked for.

use crate::backend::gpu::{Blas, DeviceMemory, Gpu, Region, Scalars, Series, Transpose, View};
use crate::error::Result;
use crate::scalar::Scalar;
use crate::tt::options::Math;

/// cuBLAS on one queue.
pub(super) struct Products<'a> {
    blas: &'a Blas,
    math: Math,
    /// 1 and 0.
    numbers: DeviceMemory,
}

/// A factor of a product.
pub(super) type Factor<'a> = (View<'a>, Transpose);

/// What y is taken as on the way to the next bond.
pub(super) fn adjoint(conjugate: bool) -> Transpose {
    if conjugate { Transpose::Adjoint } else { Transpose::Transpose }
}

impl<'a> Products<'a> {
    /// Products on the queue of `blas`.
    pub(super) fn new<T: Scalar>(gpu: &Gpu, blas: &'a Blas, math: Math) -> Result<Self> {
        let stream = blas.stream();
        let mut numbers = gpu.allocate_on(stream, "scalars of products", 32)?;
        gpu.store_numbers(stream, &[T::from_parts(1.0, 0.0)], &mut numbers, 0)?;
        Ok(Self { blas, math, numbers })
    }

    /// The library.
    pub(super) fn blas(&self) -> &'a Blas {
        self.blas
    }

    /// Whether products of many matrices at a time are to be had.
    pub(super) fn takes_many(&self) -> bool {
        self.math != Math::Gemm3m
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
        self.blas.multiply_by::<T>(self.scalars(alpha, add)?, a, b, c)
    }
}
