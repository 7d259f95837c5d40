//! The products of a pass with the panels of X.

use super::factors::{Factors, Prepared};
use super::member::Member;
use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::{Transpose, View};
use crate::dense::gpu::DeviceMatrix;
use crate::error::{Error, Result};
use crate::rpca::ops::{LowRank, Product};

impl Member<'_> {
    /// A copy of the small matrix in the type of the arithmetic, conjugated if `conjugate`.
    pub(super) fn factor(&self, matrix: &DeviceMatrix, conjugate: bool) -> Result<DeviceMatrix> {
        let dtype = self.dtype;
        let copy = self.algebra.converted("factor", (dtype.wide(), dtype), matrix.view(), false)?;
        if !(conjugate && dtype.is_complex()) {
            return Ok(copy);
        }
        let other = self.algebra.uninitialized(dtype, "factor", copy.rows(), copy.cols())?;
        dense::place(dtype, &self.gpu, &self.stream, copy.view(), other.view(), false, true)?;
        Ok(other)
    }

    /// Computes L of a panel.
    pub(super) fn make_low_rank(
        &self,
        panel: usize,
        kind: &LowRank<'_, DeviceMatrix>,
        factors: &Factors,
    ) -> Result<()> {
        let rows = self.cut.range(panel).1;
        let (fast, slow) = self.cut.axes(rows);
        let bytes = fast * slow * self.dtype.size();
        let l = View::packed(self.low_rank.region(0, bytes)?, fast, slow);
        let (x, blas) = (self.view(panel)?, self.algebra.blas());
        match (kind, &factors.first, &factors.second) {
            (LowRank::Zero, ..) => self.gpu.clear(&self.stream, self.low_rank.region(0, bytes)?),
            (LowRank::Whole(_), Some(k), _) if self.cut.by_rows => {
                blas.multiply(self.dtype, 1.0, k.view(), Transpose::Transpose, x, Transpose::Plain, 0.0, l)
            }
            (LowRank::Whole(_), Some(k), _) => {
                blas.multiply(self.dtype, 1.0, x, Transpose::Plain, k.view(), Transpose::Plain, 0.0, l)
            }
            (LowRank::Factors(..), Some(a), Some(b)) => {
                let p = self.algebra.uninitialized(self.dtype, "X V", rows, a.cols())?;
                blas.multiply(self.dtype, 1.0, x, self.plain(), a.view(), Transpose::Plain, 0.0, p.view())?;
                if self.cut.by_rows {
                    // Here the second factor is the conjugate of B.
                    blas.multiply(self.dtype, 1.0, b.view(), Transpose::Plain, p.view(), Transpose::Transpose, 0.0, l)
                } else {
                    blas.multiply(self.dtype, 1.0, p.view(), Transpose::Plain, b.view(), Transpose::Adjoint, 0.0, l)
                }
            }
            _ => Err(Error::Internal("a low-rank part without its factors".into())),
        }
    }

    /// Adds a panel's part of the product to `wide`, or to `sum` in the type of the arithmetic.
    pub(super) fn add_product(
        &self,
        panel: usize,
        kind: &Product<'_, DeviceMatrix>,
        w: Option<&DeviceMatrix>,
        wide: View<'_>,
        sum: Option<&DeviceMatrix>,
        beta: f64,
    ) -> Result<()> {
        let (x, blas) = (self.view(panel)?, self.algebra.blas());
        let rows = self.cut.range(panel).1;
        match (kind, w) {
            (Product::None, _) => Ok(()),
            (Product::Gram, _) => {
                let copy;
                let x = if !self.dtype.is_single() {
                    x
                } else {
                    copy =
                        self.algebra.converted("X in double precision", (self.dtype, self.dtype.wide()), x, false)?;
                    copy.view()
                };
                // For a transposed panel this is the conjugate of the product.
                let (a, b) = match self.cut.by_rows {
                    true => (Transpose::Plain, Transpose::Adjoint),
                    false => (Transpose::Adjoint, Transpose::Plain),
                };
                blas.multiply(self.dtype.wide(), 1.0, x, a, x, b, beta, wide)
            }
            (Product::Normal(_), Some(w)) => {
                let p = self.algebra.uninitialized(self.dtype, "X W", rows, w.cols())?;
                blas.multiply(self.dtype, 1.0, x, self.plain(), w.view(), Transpose::Plain, 0.0, p.view())?;
                let sum = sum.ok_or_else(|| Error::Internal("a product without a sum".into()))?;
                match (self.cut.by_rows, self.dtype.is_complex()) {
                    // This is the adjoint of the product.
                    (true, true) => blas.multiply(
                        self.dtype,
                        1.0,
                        p.view(),
                        Transpose::Adjoint,
                        x,
                        Transpose::Transpose,
                        beta,
                        sum.view(),
                    ),
                    (true, false) => blas.multiply(
                        self.dtype,
                        1.0,
                        x,
                        Transpose::Plain,
                        p.view(),
                        Transpose::Plain,
                        beta,
                        sum.view(),
                    ),
                    (false, _) => blas.multiply(
                        self.dtype,
                        1.0,
                        x,
                        Transpose::Adjoint,
                        p.view(),
                        Transpose::Plain,
                        beta,
                        sum.view(),
                    ),
                }
            }
            (Product::Projected(_), Some(w)) => {
                let p = self.algebra.uninitialized(self.dtype, "X W", rows, w.cols())?;
                blas.multiply(self.dtype, 1.0, x, self.plain(), w.view(), Transpose::Plain, 0.0, p.view())?;
                let copy = self.algebra.converted(
                    "X W in double precision",
                    (self.dtype, self.dtype.wide()),
                    p.view(),
                    false,
                )?;
                let p = copy.view();
                blas.multiply(self.dtype.wide(), 1.0, p, Transpose::Adjoint, p, Transpose::Plain, beta, wide)
            }
            _ => Err(Error::Internal("a product without its factor".into())),
        }
    }

    /// The factor of a product, and the sum of those that are not formed in double precision.
    pub(super) fn prepare(&self, kind: &Product<'_, DeviceMatrix>) -> Result<Prepared> {
        let (w, is_normal) = match kind {
            Product::None | Product::Gram => return Ok((None, None)),
            Product::Normal(w) => (w, true),
            Product::Projected(w) => (w, false),
        };
        let factor = self.factor(w, false)?;
        let (n, l) = factor.shape();
        let (rows, cols) = if self.cut.by_rows && self.dtype.is_complex() { (l, n) } else { (n, l) };
        let sum = if is_normal { Some(self.algebra.uninitialized(self.dtype, "X^H X W", rows, cols)?) } else { None };
        Ok((Some(factor), sum))
    }

    /// Writes the product from its sums over the panels.
    pub(super) fn finish(
        &self,
        kind: &Product<'_, DeviceMatrix>,
        sum: Option<DeviceMatrix>,
        out: &mut DeviceMatrix,
    ) -> Result<()> {
        match (kind, sum) {
            (Product::Normal(_), Some(sum)) => {
                let wide = self.algebra.converted("X^H X W", (self.dtype, self.dtype.wide()), sum.view(), false)?;
                let adjoint = self.cut.by_rows && self.dtype.is_complex();
                dense::place(self.dtype.wide(), &self.gpu, &self.stream, wide.view(), out.view(), adjoint, adjoint)
            }
            (Product::Gram, _) if self.cut.by_rows && self.dtype.is_complex() => {
                let (n, _) = out.shape();
                let other = self.algebra.uninitialized(self.dtype.wide(), "X^H X", n, n)?;
                dense::place(self.dtype.wide(), &self.gpu, &self.stream, out.view(), other.view(), false, true)?;
                *out = other;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
