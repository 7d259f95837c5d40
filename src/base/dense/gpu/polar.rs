//! Singular values of small matrices by the polar decomposition.
//!
//! A = P H with P unitary and H = P^H A Hermitian, positive semidefinite; with H = V S V^H the factors are U = P V, S and
//! V (Higham, Papadimitriou, Parallel Computing 20 (1994) 1161). On a device an eigenvalue problem of a Hermitian matrix
//! takes a third of the time of its singular values.
//!
//! P is computed by products alone: x (a + b x^2 + c x^4) is applied to the singular values of A / ||A||_F. The first
//! polynomial maps them from (0, 1] to about [0.7, 1.2], and small ones grow by 3.44 a step. It satisfies
//! p(x) / max p >= x / 2, which makes such an iteration backward stable (Nakatsukasa, Higham, SIAM J. Matrix Anal. 34
//! (2013) 1325). The second has order 3 at 1. Numbers of the size of a rounding error are added to A first, so that no
//! singular value is 0.
//!
//! If the singular values are close to each other, A^H A itself is accurate enough. This is so for projections of data whose
//! values decrease slowly.

use super::super::{Algebra, Svd};
use super::DeviceMatrix;
use super::algebra::GpuAlgebra;
use crate::alloc;
use crate::backend::gpu::kernels::dense::{self, Reduction};
use crate::backend::gpu::{Region, Transpose, View};
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar};

/// The first polynomial, which maps singular values to near 1.
const FAR: [f64; 3] = [3.4445, -4.7750, 2.0315];
/// The second polynomial, which maps values near 1 to 1.
const NEAR: [f64; 3] = [1.875, -1.25, 0.375];

/// Steps with the first polynomial, then with the second, before each check of the result. All steps with the first together
/// suffice for the smallest singular value after the addition: 3.44^44 > 1e23.
const ROUNDS: [(usize, usize); 5] = [(6, 3), (8, 3), (8, 3), (10, 3), (12, 3)];

/// Smaller dimension up to which the CPU is faster, copies included (0.2 ms at 20, 0.9 ms at 64; the GPU takes 1.1 ms to
/// 2.5 ms at 64, 2.3 ms to 3.2 ms at 128).
const LEFT_TO_HOST: usize = 64;

/// ||P^H P - I||_F below which one more step with the second polynomial is accurate to the last digit.
const CLOSE: f64 = 1e-5;

/// Largest ratio of the largest to the smallest singular value for which A^H A is used: U = A V S^-1 is orthonormal to the
/// square of this ratio times the roundoff.
const GENTLE: f64 = 4.0;

/// Upper bound of the mean of the squares over the square of the mean, of the eigenvalues of such an A^H A. For singular
/// values that decrease evenly to a fourth it is 1.55.
const GENTLE_VARIANCE: f64 = 1.6;

impl GpuAlgebra {
    /// See [`Algebra::svd`].
    ///
    /// # Errors
    /// As [`Algebra::svd`].
    pub fn singular_values(&mut self, a: &DeviceMatrix) -> Result<Svd<DeviceMatrix>> {
        let ((rows, cols), dtype, wide_type) = (a.shape(), a.dtype(), a.dtype().wide());
        let wide = self.converted("singular values", (dtype, wide_type), a.view(), false)?;
        let found = if rows.min(cols) > LEFT_TO_HOST && self.has_solver()? { self.wide_svd(&wide)? } else { None };
        let svd = match found {
            Some(svd) => svd,
            None if wide_type.is_complex() => self.svd_on_host::<Complex<f64>>(&wide)?,
            None => self.svd_on_host::<f64>(&wide)?,
        };
        Ok(Svd { u: self.narrowed(dtype, svd.u)?, s: svd.s, v: self.narrowed(dtype, svd.v)? })
    }

    /// Singular values of a matrix in double precision on the CPU.
    fn svd_on_host<W: Scalar>(&mut self, wide: &DeviceMatrix) -> Result<Svd<DeviceMatrix>> {
        let host = self.fetch::<W>("singular values", wide)?;
        let svd = self.host.svd(&host)?;
        let (u, v) = (self.send("left singular vectors", &svd.u)?, &svd.v);
        Ok(Svd { u, s: svd.s, v: self.send("right singular vectors", v)? })
    }

    /// Singular values of any shape, in double precision; `None` as for [`GpuAlgebra::square_svd`].
    fn wide_svd(&mut self, a: &DeviceMatrix) -> Result<Option<Svd<DeviceMatrix>>> {
        let ((rows, cols), dtype) = (a.shape(), a.dtype());
        if rows < cols {
            let adjoint = self.adjoint_of("singular values", a)?;
            let svd = self.wide_svd(&adjoint)?;
            return Ok(svd.map(|s| Svd { u: s.v, s: s.s, v: s.u }));
        }
        if rows == cols {
            return self.scaled_svd(a);
        }
        let mut q = self.converted("left singular vectors", (dtype, dtype), a.view(), false)?;
        let mut r = self.uninitialized(dtype, "triangle of a factorization", cols, cols)?;
        match self.householder_qr(&mut q, &mut r) {
            Err(Error::Numerical(_)) => return Ok(None),
            other => other?,
        }
        let Some(inner) = self.scaled_svd(&r)? else { return Ok(None) };
        let u = self.uninitialized(dtype, "left singular vectors", rows, cols)?;
        let plain = Transpose::Plain;
        self.blas.multiply(dtype, 1.0, q.view(), plain, inner.u.view(), plain, 0.0, u.view())?;
        Ok(Some(Svd { u, ..inner }))
    }

    /// Singular values of a square matrix, which is first multiplied by a power of two if its squares would overflow or
    /// underflow.
    fn scaled_svd(&mut self, a: &DeviceMatrix) -> Result<Option<Svd<DeviceMatrix>>> {
        let dtype = a.dtype();
        let total: f64 = self.column_sums(dtype, a.view(), 1.0)?.iter().sum();
        if total > 1e-200 && total < 1e200 {
            return match self.gentle_svd(a, total)? {
                Some(svd) => Ok(Some(svd)),
                None => self.square_svd(a),
            };
        }
        let largest = self.norms(dtype, a.view())?.into_iter().fold(0.0f64, |most, n| if n <= most { most } else { n });
        if largest == 0.0 || !largest.is_finite() {
            return Ok(None);
        }
        let factor = 2.0f64.powi(-(largest.log2().floor() as i32).clamp(-1000, 1000));
        let scaled = self.converted("singular values", (dtype, dtype), a.view(), false)?;
        let factors = alloc::filled("factors of columns", a.cols(), factor)?;
        self.scale_by(&scaled, &factors)?;
        let svd = self.square_svd(&scaled)?;
        Ok(svd.map(|mut svd| {
            svd.s.iter_mut().for_each(|s| *s /= factor);
            svd
        }))
    }

    /// Singular values of a square matrix if they lie within a factor of [`GENTLE`]; else `None`. The eigenvalues of
    /// A^H A then give them to the last digits, without a polar decomposition. `total` is the sum of their squares.
    fn gentle_svd(&mut self, a: &DeviceMatrix, total: f64) -> Result<Option<Svd<DeviceMatrix>>> {
        if !(1e-100..1e100).contains(&total) {
            return Ok(None);
        }
        let (order, dtype) = (a.rows(), a.dtype());
        let (what, plain) = ("singular values", Transpose::Plain);
        let square = self.uninitialized(dtype, what, order, order)?;
        self.blas.multiply(dtype, 1.0, a.view(), Transpose::Adjoint, a.view(), plain, 0.0, square.view())?;
        // The test uses the variance of the eigenvalues over the square of their mean, plus 1. It is cheap and seldom wrong.
        let fourth: f64 = self.column_sums(dtype, square.view(), 1.0)?.iter().sum();
        if order as f64 * fourth > GENTLE_VARIANCE * total * total {
            return Ok(None);
        }
        let (mut s, v) = match self.eigenvalues(&square) {
            Err(Error::Numerical(_)) => return Ok(None),
            other => other?,
        };
        let ends = s.first().zip(s.last());
        if ends.is_none_or(|(largest, least)| least * GENTLE * GENTLE < *largest) {
            return Ok(None);
        }
        s.iter_mut().for_each(|s| *s = s.sqrt());
        let u = self.uninitialized(dtype, "left singular vectors", order, order)?;
        self.blas.multiply(dtype, 1.0, a.view(), plain, v.view(), plain, 0.0, u.view())?;
        let mut factors = alloc::filled("factors of columns", order, 0.0)?;
        factors.iter_mut().zip(&s).for_each(|(factor, s)| *factor = 1.0 / s);
        self.scale_by(&u, &factors)?;
        Ok(Some(Svd { u, s, v }))
    }

    /// Singular values of a square matrix; `None` if the iteration or the eigenvalues do not converge.
    fn square_svd(&mut self, a: &DeviceMatrix) -> Result<Option<Svd<DeviceMatrix>>> {
        let (order, dtype) = (a.rows(), a.dtype());
        let what = "polar decomposition";
        let sums = self.gpu.allocate_uninitialized_on(&self.stream, what, order * 8)?;
        let reduction = Reduction::Sums { factor: 1.0 };
        dense::columns(dtype, &self.gpu, &self.stream, reduction, a.view(), sums.whole())?;
        let mut p = self.uninitialized(dtype, what, order, order)?;
        let noise = f64::EPSILON / (order as f64).sqrt();
        dense::start(
            dtype,
            &self.gpu,
            &self.stream,
            order,
            a.memory().whole(),
            sums.whole(),
            noise,
            p.memory().whole(),
        )?;
        let mut spare = self.uninitialized(dtype, what, order, order)?;
        let first = self.uninitialized(dtype, what, order, order)?;
        let mut square = self.uninitialized(dtype, what, order, order)?;
        let mut is_close = false;
        for (far, near) in ROUNDS {
            for step in 0..far + near {
                let coefficients = if step < far { FAR } else { NEAR };
                self.polar_step(&mut p, &mut spare, &first, &square, coefficients)?;
            }
            if self.defect(&p, &first, &mut square)? < CLOSE {
                is_close = true;
                break;
            }
        }
        if !is_close {
            return Ok(None);
        }
        self.polar_step(&mut p, &mut spare, &first, &square, NEAR)?;
        let plain = Transpose::Plain;
        self.blas.multiply(dtype, 1.0, p.view(), Transpose::Adjoint, a.view(), plain, 0.0, square.view())?;
        let (mut s, v) = match self.eigenvalues(&square) {
            Err(Error::Numerical(_)) => return Ok(None),
            other => other?,
        };
        // The smallest eigenvalues may be negative by rounding.
        s.iter_mut().for_each(|s| *s = s.max(0.0));
        self.blas.multiply(dtype, 1.0, p.view(), plain, v.view(), plain, 0.0, spare.view())?;
        Ok(Some(Svd { u: spare, s, v }))
    }

    /// P := P (a + b P^H P + c (P^H P)^2).
    fn polar_step(
        &self,
        p: &mut DeviceMatrix,
        spare: &mut DeviceMatrix,
        first: &DeviceMatrix,
        square: &DeviceMatrix,
        coefficients: [f64; 3],
    ) -> Result<()> {
        let (plain, order, dtype) = (Transpose::Plain, p.rows(), p.dtype());
        let multiply =
            |a: View<'_>, op, b: View<'_>, c: View<'_>| self.blas.multiply(dtype, 1.0, a, op, b, plain, 0.0, c);
        multiply(p.view(), Transpose::Adjoint, p.view(), first.view())?;
        multiply(first.view(), plain, first.view(), square.view())?;
        let regions: [Region<'_>; 2] = [first.memory().whole(), square.memory().whole()];
        dense::polynomial(dtype, &self.gpu, &self.stream, order, coefficients, regions[0], regions[1])?;
        multiply(p.view(), plain, square.view(), spare.view())?;
        std::mem::swap(p, spare);
        Ok(())
    }

    /// ||P^H P - I||_F; waits for the stream.
    fn defect(&self, p: &DeviceMatrix, first: &DeviceMatrix, square: &mut DeviceMatrix) -> Result<f64> {
        let (plain, dtype) = (Transpose::Plain, p.dtype());
        self.blas.multiply(dtype, 1.0, p.view(), Transpose::Adjoint, p.view(), plain, 0.0, square.view())?;
        let (unread, output) = (first.memory().whole(), square.memory().whole());
        dense::polynomial(dtype, &self.gpu, &self.stream, p.rows(), [-1.0, 0.0, 1.0], unread, output)?;
        Ok(self.column_sums(dtype, square.view(), 1.0)?.iter().sum::<f64>().sqrt())
    }
}
