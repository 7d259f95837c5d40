//! The products of a pass with the panels of X.

use super::factors::{Factors, Prepared};
use super::member::Member;
use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::{Transpose, View};
use crate::dense::gpu::GpuMatrix;
use crate::error::{Error, Result};
use crate::rpca::ops::{LowRank, Product};
use crate::scalar::{Element, Scalar};

impl<T: Scalar> Member<'_, T> {
    /// A copy of the small matrix in the type of the arithmetic, conjugated if `conjugate`.
    pub(super) fn factor(&self, matrix: &GpuMatrix<T::Wide>, conjugate: bool) -> Result<GpuMatrix<T>> {
        let copy =
            GpuMatrix::new(self.algebra.converted("factor", (T::Wide::DTYPE, T::DTYPE), matrix.view(), false)?)?;
        if !(conjugate && T::IS_COMPLEX) {
            return Ok(copy);
        }
        let other = self.algebra.uninitialised::<T>("factor", copy.rows(), copy.cols())?;
        dense::place(T::DTYPE, &self.gpu, &self.stream, copy.view(), other.view(), false, true)?;
        Ok(other)
    }

    /// Computes L of a panel.
    pub(super) fn make_low_rank(
        &self,
        panel: usize,
        kind: &LowRank<'_, GpuMatrix<T::Wide>>,
        factors: &Factors<T>,
    ) -> Result<()> {
        let rows = self.cut.range(panel).1;
        let (fast, slow) = self.cut.axes(rows);
        let bytes = fast * slow * size_of::<T>();
        let l = View::packed(self.low_rank.region(0, bytes)?, fast, slow);
        let (x, blas) = (self.view(panel)?, self.algebra.blas());
        match (kind, &factors.first, &factors.second) {
            (LowRank::Zero, ..) => self.gpu.clear(&self.stream, self.low_rank.region(0, bytes)?),
            (LowRank::Whole(_), Some(k), _) if self.cut.by_rows => {
                blas.multiply::<T>(1.0, k.view(), Transpose::Transpose, x, Transpose::Plain, 0.0, l)
            }
            (LowRank::Whole(_), Some(k), _) => {
                blas.multiply::<T>(1.0, x, Transpose::Plain, k.view(), Transpose::Plain, 0.0, l)
            }
            (LowRank::Factors(..), Some(a), Some(b)) => {
                let p = self.algebra.uninitialised::<T>("X V", rows, a.cols())?;
                blas.multiply::<T>(1.0, x, self.plain(), a.view(), Transpose::Plain, 0.0, p.view())?;
                if self.cut.by_rows {
                    // Here the second factor is the conjugate of B.
                    blas.multiply::<T>(1.0, b.view(), Transpose::Plain, p.view(), Transpose::Transpose, 0.0, l)
                } else {
                    blas.multiply::<T>(1.0, p.view(), Transpose::Plain, b.view(), Transpose::Adjoint, 0.0, l)
                }
            }
            _ => Err(Error::Internal("a low-rank part without its factors".into())),
        }
    }

    /// Adds a panel's part of the product to `wide`, or to `sum` in the type of the arithmetic.
    pub(super) fn add_product(
        &self,
        panel: usize,
        kind: &Product<'_, GpuMatrix<T::Wide>>,
        w: Option<&GpuMatrix<T>>,
        wide: View<'_>,
        sum: Option<&GpuMatrix<T>>,
        beta: f64,
    ) -> Result<()> {
        let (x, blas) = (self.view(panel)?, self.algebra.blas());
        let rows = self.cut.range(panel).1;
        match (kind, w) {
            (Product::None, _) => Ok(()),
            (Product::Gram, _) => {
                let copy;
                let x = if T::DTYPE == T::Wide::DTYPE {
                    x
                } else {
                    copy = self.algebra.converted("X in double precision", (T::DTYPE, T::Wide::DTYPE), x, false)?;
                    copy.view()
                };
                // For a transposed panel this is the conjugate of the product.
                let (a, b) = match self.cut.by_rows {
                    true => (Transpose::Plain, Transpose::Adjoint),
                    false => (Transpose::Adjoint, Transpose::Plain),
                };
                blas.multiply::<T::Wide>(1.0, x, a, x, b, beta, wide)
            }
            (Product::Normal(_), Some(w)) => {
                let p = self.algebra.uninitialised::<T>("X W", rows, w.cols())?;
                blas.multiply::<T>(1.0, x, self.plain(), w.view(), Transpose::Plain, 0.0, p.view())?;
                let sum = sum.ok_or_else(|| Error::Internal("a product without a sum".into()))?;
                match (self.cut.by_rows, T::IS_COMPLEX) {
                    // This is the adjoint of the product.
                    (true, true) => {
                        blas.multiply::<T>(1.0, p.view(), Transpose::Adjoint, x, Transpose::Transpose, beta, sum.view())
                    }
                    (true, false) => {
                        blas.multiply::<T>(1.0, x, Transpose::Plain, p.view(), Transpose::Plain, beta, sum.view())
                    }
                    (false, _) => {
                        blas.multiply::<T>(1.0, x, Transpose::Adjoint, p.view(), Transpose::Plain, beta, sum.view())
                    }
                }
            }
            (Product::Projected(_), Some(w)) => {
                let p = self.algebra.uninitialised::<T>("X W", rows, w.cols())?;
                blas.multiply::<T>(1.0, x, self.plain(), w.view(), Transpose::Plain, 0.0, p.view())?;
                let copy =
                    self.algebra.converted("X W in double precision", (T::DTYPE, T::Wide::DTYPE), p.view(), false)?;
                let p = copy.view();
                blas.multiply::<T::Wide>(1.0, p, Transpose::Adjoint, p, Transpose::Plain, beta, wide)
            }
            _ => Err(Error::Internal("a product without its factor".into())),
        }
    }

    /// The factor of a product, and the sum of those that are not formed in double precision.
    pub(super) fn prepare(&self, kind: &Product<'_, GpuMatrix<T::Wide>>) -> Result<Prepared<T>> {
        let (w, is_normal) = match kind {
            Product::None | Product::Gram => return Ok((None, None)),
            Product::Normal(w) => (w, true),
            Product::Projected(w) => (w, false),
        };
        let factor = self.factor(w, false)?;
        let (n, l) = factor.shape();
        let (rows, cols) = if self.cut.by_rows && T::IS_COMPLEX { (l, n) } else { (n, l) };
        let sum = if is_normal { Some(self.algebra.uninitialised::<T>("X^H X W", rows, cols)?) } else { None };
        Ok((Some(factor), sum))
    }

    /// Writes the product from its sums over the panels.
    pub(super) fn finish(
        &self,
        kind: &Product<'_, GpuMatrix<T::Wide>>,
        sum: Option<GpuMatrix<T>>,
        out: &mut GpuMatrix<T::Wide>,
    ) -> Result<()> {
        match (kind, sum) {
            (Product::Normal(_), Some(sum)) => {
                let wide = self.algebra.converted("X^H X W", (T::DTYPE, T::Wide::DTYPE), sum.view(), false)?;
                let adjoint = self.cut.by_rows && T::IS_COMPLEX;
                dense::place(T::Wide::DTYPE, &self.gpu, &self.stream, wide.view(), out.view(), adjoint, adjoint)
            }
            (Product::Gram, _) if self.cut.by_rows && T::IS_COMPLEX => {
                let (n, _) = out.shape();
                let other = self.algebra.uninitialised::<T::Wide>("X^H X", n, n)?;
                dense::place(T::Wide::DTYPE, &self.gpu, &self.stream, out.view(), other.view(), false, true)?;
                *out = other;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
