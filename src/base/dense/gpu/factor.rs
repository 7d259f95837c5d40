//! Factorizations: a CholeskyQR step, Householder QR, eigenvalues.

use super::super::{Algebra, Step};
use super::DeviceMatrix;
use super::algebra::{GpuAlgebra, mismatch};
use crate::backend::gpu::kernels::dense::{self, UpperOutputs};
use crate::backend::gpu::{DeviceMemory, Solver, Transpose, View, Work};
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Scalar};

/// Largest size in bytes of the panel in which rows in single precision are converted to double.
const PANEL: usize = 64 << 20;
/// Smallest size in bytes of this panel.
const LEAST_PANEL: usize = 64 << 10;

/// Bytes of the panel: at most an eighth of the `available` bytes of device memory.
pub(super) fn panel_within(available: u64) -> usize {
    usize::try_from(available / 8).map_or(PANEL, |bytes| bytes.clamp(LEAST_PANEL, PANEL))
}

/// A triangle R whose inverse is applied to columns.
pub struct Divisor {
    /// R in f64; undefined below the diagonal.
    triangle: DeviceMatrix,
    /// R^-1, rounded to the columns' type.
    inverse: DeviceMatrix,
    /// Largest product of the norm of a column of R and of the row of R^-1 with the same index; infinite where the columns'
    /// type does not hold R^-1.
    condition: f64,
    spread: f64,
}

impl Divisor {
    /// Smallest over largest diagonal element.
    pub fn spread(&self) -> f64 {
        self.spread
    }
}

impl GpuAlgebra {
    /// Whether cuSOLVER is available. Loads it on the first call, and after a call of it threw.
    pub(super) fn has_solver(&mut self) -> Result<bool> {
        if self.solver.as_ref().is_none_or(|found| found.as_ref().is_some_and(Solver::is_broken)) {
            self.solver = Some(match Solver::new(&self.gpu, &self.stream) {
                Ok(solver) => Some(solver),
                Err(Error::NoDevice(_)) => None,
                Err(e) => return Err(e),
            });
        }
        Ok(self.solver.as_ref().is_some_and(Option::is_some))
    }

    /// cuSOLVER, its workspace and the memory for its status.
    pub(super) fn solver(&mut self) -> Result<(&Solver, &mut Work, &DeviceMemory)> {
        match &self.solver {
            Some(Some(solver)) => Ok((solver, &mut self.work, &self.info)),
            _ => Err(Error::Internal("cuSOLVER was not looked for".into())),
        }
    }

    /// G = X^H X + beta G, both triangles, in double precision; X is of type `dtype`.
    ///
    /// # Errors
    /// [`Error::Internal`] for sizes that do not fit; out of memory; errors of the device.
    pub fn gram_add(&self, dtype: DType, x: View<'_>, beta: f64, g: View<'_>) -> Result<()> {
        let (cols, wide) = (x.cols, dtype.wide());
        if dtype == wide {
            return self.square_add(wide, x, beta, g);
        }
        let height = (self.panel / wide.size() / cols.max(1)).max(1).min(x.rows.max(1));
        let panel = self.uninitialized(wide, "panel of a Gram matrix", height, cols)?;
        let mut first = 0;
        loop {
            let rows = height.min(x.rows - first);
            let part = View { rows, ..panel.view() };
            dense::convert(dtype, wide, &self.gpu, &self.stream, x.rows(dtype, first, rows)?, part, false)?;
            self.square_add(wide, part, if first == 0 { beta } else { 1.0 }, g)?;
            first += rows;
            if first == x.rows {
                return Ok(());
            }
        }
    }

    /// G = X^H X + beta G. One triangle would suffice, but cuBLAS takes longer for one than for both.
    fn square_add(&self, dtype: DType, x: View<'_>, beta: f64, g: View<'_>) -> Result<()> {
        self.blas.multiply(dtype, 1.0, x, Transpose::Adjoint, x, Transpose::Plain, beta, g)
    }

    /// R with G + shift tr(G) I = R^H R, which is also written to `r`, of the columns' type; `None` if there is none to
    /// working precision. Consumes G, which is in double precision. Waits for the stream.
    ///
    /// # Errors
    /// [`Error::Internal`] for sizes that do not fit; out of memory; errors of the device.
    pub fn cholesky(&mut self, g: DeviceMatrix, shift: f64, r: &DeviceMatrix) -> Result<Option<Divisor>> {
        let (dtype, wide_type) = (r.dtype(), g.dtype());
        let order = g.cols();
        if g.rows() != order || r.shape() != (order, order) {
            return Err(mismatch("a Cholesky factorization", &[g.shape(), r.shape()]));
        }
        let mut g = g;
        let factored = if self.has_solver()? {
            if shift != 0.0 {
                dense::shift(wide_type, &self.gpu, &self.stream, g.view(), shift)?;
            }
            let (solver, work, info) = self.solver()?;
            solver.cholesky(wide_type, g.view(), work, info.region(0, 4)?)?;
            true
        } else if wide_type.is_complex() {
            self.cholesky_on_host::<Complex<f64>>(&mut g, shift)?
        } else {
            self.cholesky_on_host::<f64>(&mut g, shift)?
        };
        if !factored {
            return Ok(None);
        }
        let wide = self.uninitialized(wide_type, "inverse of a triangle", order, order)?;
        // The real part of each diagonal element, the status of the factorization, and the condition of each column.
        let numbers =
            self.gpu.allocate_uninitialized_on(&self.stream, "diagonal of a triangle", (2 * order + 1) * 8)?;
        let diagonal = numbers.region(0, (order + 1) * 8)?;
        let info = Some(self.info.region(0, 4)?).filter(|_| self.solver.as_ref().is_some_and(Option::is_some));
        let outputs = UpperOutputs { identity: Some(wide.memory().whole()), diagonal: Some(diagonal), info };
        dense::upper(wide_type, dtype, &self.gpu, &self.stream, g.view(), r.view(), outputs)?;
        // Solved from the right: the rows of I = S R hold to rounding. The error of X S R is bounded by the condition below.
        self.blas.solve_upper(wide_type, g.view(), wide.view(), true)?;
        let (triangle, inverse) = (g.memory().whole(), wide.memory().whole());
        let output = numbers.region((order + 1) * 8, order * 8)?;
        dense::condition(wide_type, &self.gpu, &self.stream, order, triangle, inverse, output)?;
        let inverse = self.narrowed(dtype, wide)?;
        let numbers = self.numbers(&numbers, 2 * order + 1)?;
        let (diagonal, rest) = numbers.split_at(order);
        let (least, most) = diagonal.iter().fold((f64::INFINITY, 0.0f64), |(a, b), d| (a.min(*d), b.max(*d)));
        // A smaller pivot comes from squares below the range of normal numbers.
        let failed = rest.first().is_none_or(|info| *info != 0.0);
        if failed || !diagonal.iter().all(|d| d.is_finite()) || least < 1e-150 {
            return Ok(None);
        }
        // An inverse in single precision overflows, or loses digits, beyond this range.
        let is_held = !dtype.is_single() || (least > 1e-30 && most < 1e30);
        let condition = rest[1..].iter().fold(0.0f64, |most, c| if *c <= most { most } else { *c });
        let condition = if is_held { condition } else { f64::INFINITY };
        Ok(Some(Divisor { triangle: g, inverse, condition, spread: least / most }))
    }

    /// A matrix in double precision rounded to `dtype`; the matrix itself if that is double precision.
    pub(super) fn narrowed(&self, dtype: DType, wide: DeviceMatrix) -> Result<DeviceMatrix> {
        if dtype == wide.dtype() {
            return Ok(wide);
        }
        self.converted("rounded matrix", (wide.dtype(), dtype), wide.view(), false)
    }

    /// Whether [`GpuAlgebra::divide_to`] is as accurate as [`GpuAlgebra::divide`]. Multiplication with an inverse is several
    /// times faster than substitution, but the error X - Q R is a unit of roundoff times the condition.
    pub fn divides_by_inverse(&self, divisor: &Divisor) -> bool {
        divisor.condition <= if divisor.inverse.dtype().is_single() { 16.0 } else { 100.0 }
    }

    /// Q = X R^-1 into `q`, which does not overlap X, by the inverse of R.
    ///
    /// # Errors
    /// As [`Blas::multiply`](crate::backend::gpu::Blas::multiply).
    pub fn divide_to(&self, x: View<'_>, divisor: &Divisor, q: View<'_>) -> Result<()> {
        let (plain, inverse) = (Transpose::Plain, &divisor.inverse);
        self.blas.multiply(inverse.dtype(), 1.0, x, plain, inverse.view(), plain, 0.0, q)
    }

    /// X := X R^-1 by substitution, which is stable for any R.
    ///
    /// # Errors
    /// [`Error::Internal`] for sizes that do not fit; out of memory; errors of the device.
    pub fn divide(&self, x: View<'_>, divisor: &Divisor) -> Result<()> {
        let (dtype, wide, triangle) = (divisor.inverse.dtype(), divisor.triangle.dtype(), divisor.triangle.view());
        if dtype == wide {
            return self.blas.solve_upper(dtype, triangle, x, true);
        }
        let height = (self.panel / wide.size() / x.cols.max(1)).max(1).min(x.rows.max(1));
        let panel = self.uninitialized(wide, "panel of a CholeskyQR step", height, x.cols)?;
        for first in (0..x.rows).step_by(height) {
            let rows = height.min(x.rows - first);
            let (part, of) = (View { rows, ..panel.view() }, x.rows(dtype, first, rows)?);
            dense::convert(dtype, wide, &self.gpu, &self.stream, of, part, false)?;
            self.blas.solve_upper(wide, triangle, part, true)?;
            dense::convert(wide, dtype, &self.gpu, &self.stream, part, of, false)?;
        }
        Ok(())
    }

    /// See [`Algebra::cholesky_step`].
    pub(super) fn cholesky_qr(&mut self, x: &mut DeviceMatrix, shift: f64, r: &DeviceMatrix) -> Result<Step> {
        let dtype = x.dtype();
        let (rows, cols) = x.shape();
        if r.shape() != (cols, cols) {
            return Err(mismatch("a CholeskyQR step", &[x.shape(), r.shape()]));
        }
        if cols == 0 {
            return Ok(Step::Done { spread: 1.0 });
        }
        if rows == 0 {
            return Ok(Step::Failed);
        }
        let g = self.uninitialized(dtype.wide(), "Gram matrix of a CholeskyQR step", cols, cols)?;
        self.gram_add(dtype, x.view(), 0.0, g.view())?;
        let Some(divisor) = self.cholesky(g, shift, r)? else { return Ok(Step::Failed) };
        if self.divides_by_inverse(&divisor) {
            let q = self.uninitialized(dtype, "orthonormal basis", rows, cols)?;
            self.divide_to(x.view(), &divisor, q.view())?;
            *x = q;
            return Ok(Step::Done { spread: divisor.spread });
        }
        self.divide(x.view(), &divisor)?;
        Ok(Step::Done { spread: divisor.spread })
    }

    /// See [`Algebra::inverse`].
    pub(super) fn inverse_of(&self, r: &DeviceMatrix) -> Result<DeviceMatrix> {
        let (dtype, wide_type) = (r.dtype(), r.dtype().wide());
        let order = r.cols();
        if r.rows() != order {
            return Err(mismatch("an inverse", &[r.shape()]));
        }
        let what = "inverse of a triangle";
        let wide = self.converted(what, (dtype, wide_type), r.view(), false)?;
        let triangle = self.uninitialized(wide_type, what, order, order)?;
        let inverse = self.uninitialized(wide_type, what, order, order)?;
        let outputs = UpperOutputs { identity: Some(inverse.memory().whole()), ..UpperOutputs::default() };
        dense::upper(wide_type, wide_type, &self.gpu, &self.stream, wide.view(), triangle.view(), outputs)?;
        self.blas.solve_upper(wide_type, triangle.view(), inverse.view(), true)?;
        self.narrowed(dtype, inverse)
    }

    /// Replaces `g` by the Cholesky factor of `g` plus `shift` times its trace times I, on the CPU. `false` if there is none.
    fn cholesky_on_host<W: Scalar>(&mut self, g: &mut DeviceMatrix, shift: f64) -> Result<bool> {
        let order = g.cols();
        let mut host = self.fetch::<W>("Gram matrix of a CholeskyQR step", g)?;
        let a = host.slice_mut()?;
        let trace: f64 = a.iter().step_by(order + 1).map(|d| d.re()).sum();
        a.iter_mut().step_by(order + 1).for_each(|d| *d += W::from_parts(shift * trace, 0.0));
        for j in 0..order {
            let (before, rest) = a.split_at_mut(j * order);
            let pivot = &mut rest[..order];
            for i in 0..=j {
                // Column i of R is known. The remainder of entry (i, j) is divided by its diagonal element.
                let sum = match before.get(i * order..i * order + i) {
                    Some(column) => dot(column, &pivot[..i]),
                    None => dot(&pivot[..j], &pivot[..j]),
                };
                let left = pivot[i] + W::from_parts(-sum.re(), -sum.im());
                pivot[i] = if i < j {
                    let d = before[i * order + i].re();
                    W::from_parts(left.re() / d, left.im() / d)
                } else if left.re() > 0.0 && left.re().is_finite() {
                    W::from_parts(left.re().sqrt(), 0.0)
                } else {
                    return Ok(false);
                };
            }
        }
        self.gpu.store_numbers(&self.stream, host.slice()?, g.memory_mut(), 0)?;
        Ok(true)
    }

    /// See [`Algebra::householder`].
    pub(super) fn householder_qr(&mut self, x: &mut DeviceMatrix, r: &mut DeviceMatrix) -> Result<()> {
        let (dtype, wide_type) = (x.dtype(), x.dtype().wide());
        let (rows, cols) = x.shape();
        if r.shape() != (cols, cols) || rows < cols {
            return Err(mismatch("a Householder factorization", &[x.shape(), r.shape()]));
        }
        if cols == 0 {
            return Ok(());
        }
        let what = "Householder basis";
        let wide = self.converted(what, (dtype, wide_type), x.view(), false)?;
        if !self.has_solver()? {
            return self.householder_on_host(&wide, x, r);
        }
        let size = cols * wide_type.size();
        let tau = self.gpu.allocate_uninitialized_on(&self.stream, "Householder coefficients", size)?;
        let (solver, work, info) = self.solver()?;
        solver.qr(wide_type, wide.view(), tau.whole(), work, info.region(0, 4)?)?;
        let square = wide.view().rows(wide_type, 0, cols)?;
        dense::upper(wide_type, dtype, &self.gpu, &self.stream, square, r.view(), UpperOutputs::default())?;
        let (solver, work, info) = self.solver()?;
        solver.orthogonal(wide_type, wide.view(), tau.whole(), work, info.region(4, 4)?)?;
        let mut ended = [0i32; 2];
        self.gpu.load_numbers(&self.stream, &self.info, 0, &mut ended)?;
        if ended != [0, 0] {
            return Err(Error::Internal(format!("cuSOLVER refuses an argument of a factorization: {ended:?}")));
        }
        if !are_unit(&self.column_sums(wide_type, wide.view(), 1.0)?) {
            // The factorization on the CPU holds for columns near the ends of the range, and refuses entries that are not finite.
            let wide = self.converted(what, (dtype, wide_type), x.view(), false)?;
            return self.householder_on_host(&wide, x, r);
        }
        *x = self.narrowed(dtype, wide)?;
        Ok(())
    }

    /// The factorization of a matrix in double precision on the CPU.
    fn householder_on_host(&mut self, wide: &DeviceMatrix, x: &mut DeviceMatrix, r: &mut DeviceMatrix) -> Result<()> {
        if wide.dtype().is_complex() {
            self.wide_householder_on_host::<Complex<f64>>(wide, x, r)
        } else {
            self.wide_householder_on_host::<f64>(wide, x, r)
        }
    }

    fn wide_householder_on_host<W: Scalar>(
        &mut self,
        wide: &DeviceMatrix,
        x: &mut DeviceMatrix,
        r: &mut DeviceMatrix,
    ) -> Result<()> {
        let (what, dtype) = ("Householder basis", x.dtype());
        let mut host = self.fetch::<W>(what, wide)?;
        let mut upper = self.host.zeros("triangle of a factorization", wide.cols(), wide.cols())?;
        self.host.householder(&mut host, &mut upper)?;
        *x = self.narrowed(dtype, self.send(what, &host)?)?;
        *r = self.narrowed(dtype, self.send("triangle of a factorization", &upper)?)?;
        Ok(())
    }

    /// See [`Algebra::eigen`].
    pub(super) fn eigenvalues(&mut self, a: &DeviceMatrix) -> Result<(Vec<f64>, DeviceMatrix)> {
        let (dtype, wide_type) = (a.dtype(), a.dtype().wide());
        let (order, cols) = a.shape();
        if order != cols {
            return Err(mismatch("eigenvalues", &[a.shape()]));
        }
        if order == 0 || !self.has_solver()? {
            return self.eigenvalues_on_host(a);
        }
        let wide = self.converted("eigenvectors", (dtype, wide_type), a.view(), false)?;
        let values = self.gpu.allocate_uninitialized_on(&self.stream, "eigenvalues", order * 8)?;
        let (solver, work, info) = self.solver()?;
        solver.eigen(wide_type, wide.view(), values.whole(), work, info.region(0, 4)?)?;
        let squares = self.column_sums(wide_type, wide.view(), 1.0)?;
        let mut values = self.numbers(&values, order)?;
        let mut ended = [0i32];
        self.gpu.load_numbers(&self.stream, &self.info, 0, &mut ended)?;
        // Of graded matrices cuSOLVER (of CUDA 13) may return vectors that are not finite, or not converge.
        if ended != [0] || !values.iter().all(|v| v.is_finite()) || !are_unit(&squares) {
            return self.eigenvalues_on_host(a);
        }
        values.reverse();
        Ok((values, self.converted("eigenvectors", (wide_type, dtype), wide.view(), true)?))
    }

    /// The same on the CPU.
    fn eigenvalues_on_host(&mut self, a: &DeviceMatrix) -> Result<(Vec<f64>, DeviceMatrix)> {
        let (dtype, wide_type) = (a.dtype(), a.dtype().wide());
        let wide = self.converted("eigenvectors", (dtype, wide_type), a.view(), false)?;
        let (values, vectors) = if wide_type.is_complex() {
            self.wide_eigenvalues_on_host::<Complex<f64>>(&wide)?
        } else {
            self.wide_eigenvalues_on_host::<f64>(&wide)?
        };
        Ok((values, self.narrowed(dtype, vectors)?))
    }

    fn wide_eigenvalues_on_host<W: Scalar>(&mut self, wide: &DeviceMatrix) -> Result<(Vec<f64>, DeviceMatrix)> {
        let host = self.fetch::<W>("matrix of an eigenvalue problem", wide)?;
        let (values, vectors) = self.host.eigen(&host)?;
        Ok((values, self.send("eigenvectors", &vectors)?))
    }
}

/// Whether columns with these sums of squares have the norm 1, as those of orthonormal bases have in double precision.
/// If not, cuSOLVER lost them: their squares overflowed or underflowed on the way, or entries are not finite.
fn are_unit(squares: &[f64]) -> bool {
    squares.iter().all(|square| (square - 1.0).abs() < 1e-9)
}

/// Sum of conj(a_i) b_i, from the first to the last.
fn dot<W: Scalar>(a: &[W], b: &[W]) -> W {
    let mut sum = W::default();
    for (x, y) in a.iter().zip(b) {
        sum += x.conjugate() * *y;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_a_library_lost_are_not_unit() {
        assert!(are_unit(&[]) && are_unit(&[1.0, 1.0 + 1e-12, 1.0 - 1e-12]));
        for lost in [f64::NAN, f64::INFINITY, 0.0, 0.99, 1.01, 1e-300, 1e300] {
            assert!(!are_unit(&[1.0, lost]) && !are_unit(&[lost, 1.0]), "{lost}");
        }
    }

    #[test]
    fn a_small_limit_makes_panels_small() {
        assert_eq!(panel_within(u64::MAX), PANEL);
        assert_eq!(panel_within(512 << 20), PANEL);
        assert_eq!(panel_within(48 << 20), 6 << 20);
        assert_eq!(panel_within(0), LEAST_PANEL);
    }
}
