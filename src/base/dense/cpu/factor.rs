//! Factorizations: a CholeskyQR step, Householder QR, singular values, eigenvalues.

use super::matrix::{CpuMatrix, mismatch, pieces, split_rows};
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::serial::{self, MemStack, STACK, StackReq, with_uncharged_stack};
use crate::dense::{Mat, MatMut, Step, Svd};
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::scalar::{Scalar, is_finite};

/// Rows that are converted to double precision at a time: with 128 columns they stay in a second-level cache.
const PANEL: usize = 256;

/// Calls `work` with the working memory of a factorization, which is charged to the context meanwhile.
fn with_stack<R>(context: &Context, need: StackReq, work: impl FnOnce(&mut MemStack) -> R) -> Result<R> {
    let _charge = context.host_budget().charge_host(STACK, need.unaligned_bytes_required())?;
    with_uncharged_stack(need, work)
}

compiled_here! {
    /// `serial::cholesky` with its working memory, which is charged to nobody.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn cholesky<T: Scalar>(a: MatMut<'_, T>) -> Result<bool> = cholesky_of;
}

fn cholesky_of<T: Scalar>(a: MatMut<'_, T>) -> Result<bool> {
    with_uncharged_stack(serial::cholesky_scratch::<T>(a.rows()), |stack| serial::cholesky(a, stack))
}

compiled_here! {
    /// `serial::reflect` with its working memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], the context's limit included.
    pub fn reflect<T: Scalar>(
        context: &Context,
        a: MatMut<'_, T>,
        coefficients: MatMut<'_, T>,
    ) -> Result<()> = reflect_of;
}

fn reflect_of<T: Scalar>(context: &Context, a: MatMut<'_, T>, coefficients: MatMut<'_, T>) -> Result<()> {
    let (rows, cols) = a.shape();
    with_stack(context, serial::reflections_scratch::<T>(rows, cols), |stack| serial::reflect(a, coefficients, stack))
}

/// All of `x` in double precision, column-major.
fn widen<T: Scalar>(x: Mat<'_, T>, out: &mut [T::Wide]) {
    for (j, column) in out.chunks_exact_mut(x.rows()).enumerate() {
        for (i, value) in column.iter_mut().enumerate() {
            *value = x[(i, j)].widen();
        }
    }
}

/// Rows of a partial sum of X^H X. The sums together are not larger than the matrix.
fn rows_of_a_sum(rows: usize, cols: usize) -> usize {
    pieces(rows, (2 * cols).max(PANEL))
}

/// X^H X in double precision, lower triangle, column-major.
fn gram<T: Scalar>(context: &Context, x: Mat<'_, T>) -> Result<Vec<T::Wide>> {
    let what = "Gram matrix of a CholeskyQR step";
    let (rows, cols) = x.shape();
    let size = cols * cols;
    let chunk = rows_of_a_sum(rows, cols);
    let count = rows.div_ceil(chunk).max(1);
    let _charge = context.host_budget().charge_host(what, size * count * size_of::<T::Wide>())?;
    let mut partial = alloc::filled(what, size * count, T::Wide::default())?;
    context.pool().run(|| -> Result<()> {
        partial.par_chunks_exact_mut(size).enumerate().try_for_each(|(i, part)| -> Result<()> {
            let length = chunk.min(rows - i * chunk);
            let mut panel = alloc::filled(what, PANEL.min(length) * cols, T::Wide::default())?;
            let mut sum = MatMut::from_columns(part, cols, cols);
            for first in (0..length).step_by(PANEL) {
                let height = PANEL.min(length - first);
                let panel = &mut panel[..height * cols];
                widen(x.subrows(i * chunk + first, height), panel);
                let p = Mat::from_columns(panel, height, cols);
                serial::add_lower::<T>(sum.as_mut(), p.adjoint(), p);
            }
            Ok(())
        })?;
        let (sum, rest) = partial.split_at_mut(size);
        for part in rest.chunks_exact(size) {
            sum.iter_mut().zip(part).for_each(|(s, p)| *s += *p);
        }
        Ok(())
    })?;
    partial.truncate(size);
    Ok(partial)
}

/// X := X R^-1 for R = L^H, by substitution in double precision, which is stable for each row and any R.
fn divide<T: Scalar>(context: &Context, x: MatMut<'_, T>, l: Mat<'_, T::Wide>) -> Result<()> {
    let cols = x.cols();
    let chunk = pieces(x.rows(), PANEL);
    let parts = split_rows(x, chunk);
    context.pool().run(|| {
        parts.into_par_iter().try_for_each(|mut part| {
            let rows = part.rows();
            let mut panel = alloc::filled("panel of a CholeskyQR step", PANEL.min(rows) * cols, T::Wide::default())?;
            for first in (0..rows).step_by(PANEL) {
                let height = PANEL.min(rows - first);
                let panel = &mut panel[..height * cols];
                let mut target = part.as_mut().subrows(first, height);
                widen(target.as_ref(), panel);
                // X R = P means R^T X^T = P^T, and R^T is the conjugate of L.
                let p = MatMut::from_columns(panel, height, cols);
                serial::solve_lower::<T>(l.conjugate_if(true), p.transpose());
                for (j, column) in panel.chunks_exact(height).enumerate() {
                    for (i, &value) in column.iter().enumerate() {
                        target[(i, j)] = T::narrow(value);
                    }
                }
            }
            Ok(())
        })
    })
}

compiled_here! {
    /// One step of CholeskyQR, see [`crate::dense::Algebra::cholesky_step`].
    ///
    /// # Errors
    /// As there.
    pub fn cholesky_step<T: Scalar>(
        context: &Context,
        x: &mut CpuMatrix<T>,
        shift: f64,
        r: &mut CpuMatrix<T>,
    ) -> Result<Step> = cholesky_step_of;
}

fn cholesky_step_of<T: Scalar>(
    context: &Context,
    x: &mut CpuMatrix<T>,
    shift: f64,
    r: &mut CpuMatrix<T>,
) -> Result<Step> {
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
    let mut g = gram(context, x.view()?)?;
    let trace: f64 = g.iter().step_by(cols + 1).map(|d| d.re()).sum();
    if !trace.is_finite() || trace <= 0.0 {
        return Ok(Step::Failed);
    }
    for d in g.iter_mut().step_by(cols + 1) {
        *d += T::Wide::from_parts(shift * trace, 0.0);
    }
    let factored = with_stack(context, serial::cholesky_scratch::<T::Wide>(cols), |stack| {
        let g = MatMut::from_columns(&mut g, cols, cols);
        context.pool().run(|| serial::cholesky(g, stack))
    })?;
    let diagonal = || g.iter().step_by(cols + 1).map(|d| d.re());
    let (least, most) = diagonal().fold((f64::INFINITY, 0.0f64), |(a, b), d| (a.min(d), b.max(d)));
    // A smaller pivot comes from squares below the range of normal numbers.
    if !factored || !diagonal().all(f64::is_finite) || least < 1e-150 {
        return Ok(Step::Failed);
    }
    divide(context, x.view_mut()?, Mat::from_columns(&g, cols, cols))?;
    let upper = r.slice_mut()?;
    for j in 0..cols {
        for i in 0..cols {
            upper[j * cols + i] = if i <= j { T::narrow(g[i * cols + j].conjugate()) } else { T::default() };
        }
    }
    Ok(Step::Done { spread: least / most })
}

compiled_here! {
    /// X = Q R, see [`crate::dense::Algebra::householder`].
    ///
    /// # Errors
    /// As there.
    pub fn householder<T: Scalar>(
        context: &Context,
        x: &mut CpuMatrix<T>,
        r: &mut CpuMatrix<T>,
    ) -> Result<()> = householder_of;
}

fn householder_of<T: Scalar>(context: &Context, x: &mut CpuMatrix<T>, r: &mut CpuMatrix<T>) -> Result<()> {
    let (rows, cols) = x.shape();
    if r.shape() != (cols, cols) || rows < cols {
        return Err(mismatch("a Householder factorization", &[x.shape(), r.shape()]));
    }
    if cols == 0 {
        return Ok(());
    }
    x.check_finite(context, "a Householder factorization")?;
    let budget = context.host_budget();
    let block = serial::coefficient_rows(cols);
    let mut coefficients = CpuMatrix::zeros("Householder coefficients", block, cols, budget)?;
    let mut q = CpuMatrix::<T::Wide>::zeros("Householder basis", rows, cols, budget)?;
    let mut a = CpuMatrix::<T::Wide>::zeros("Householder vectors", rows, cols, budget)?;
    with_stack(context, serial::reflections_scratch::<T::Wide>(rows, cols), |stack| {
        context.pool().run(|| -> Result<()> {
            widen(x.view()?, a.slice_mut()?);
            serial::reflect(a.view_mut()?, coefficients.view_mut()?, stack);
            let (factored, mut basis, mut upper) = (a.view()?, q.view_mut()?, r.view_mut()?);
            for j in 0..cols {
                basis[(j, j)] = T::Wide::from_parts(1.0, 0.0);
                for i in 0..cols {
                    upper[(i, j)] = if i <= j { T::narrow(factored[(i, j)]) } else { T::default() };
                }
            }
            serial::apply_reflections::<T>(factored, coefficients.view()?, basis, stack);
            narrow(&q, x)
        })
    })?
}

/// Rounds to the type of `to`.
fn narrow<T: Scalar>(from: &CpuMatrix<T::Wide>, to: &mut CpuMatrix<T>) -> Result<()> {
    to.slice_mut()?.iter_mut().zip(from.slice()?).for_each(|(to, from)| *to = T::narrow(*from));
    Ok(())
}

/// The upper triangle of the first rows of `from`, and zeros below it.
fn upper<T: Scalar>(from: Mat<'_, T>, mut to: MatMut<'_, T>) {
    for j in 0..to.cols() {
        for i in 0..to.rows() {
            to[(i, j)] = if i <= j { from[(i, j)] } else { T::default() };
        }
    }
}

compiled_here! {
    /// The thin singular value decomposition, see [`crate::dense::Algebra::svd`]; in double precision for every type.
    ///
    /// # Errors
    /// As there.
    pub fn svd<T: Scalar>(context: &Context, a: &CpuMatrix<T>) -> Result<Svd<CpuMatrix<T>>> = svd_of;
}

fn svd_of<T: Scalar>(context: &Context, a: &CpuMatrix<T>) -> Result<Svd<CpuMatrix<T>>> {
    let (rows, cols) = a.shape();
    let rank = rows.min(cols);
    let budget = context.host_budget();
    let mut u = CpuMatrix::zeros("left singular vectors", rows, rank, budget)?;
    let mut v = CpuMatrix::zeros("right singular vectors", cols, rank, budget)?;
    if rank == 0 {
        return Ok(Svd { u, s: alloc::with_capacity("singular values", 0)?, v });
    }
    a.check_finite(context, "singular values")?;
    // Tall matrices are reduced to their R first, because the reduction itself reads the matrix once a column.
    let mut tall = CpuMatrix::<T::Wide>::zeros("matrix of singular values", rows.max(cols), rank, budget)?;
    let (from, to) = (a.view()?, tall.slice_mut()?);
    context.pool().run(|| widen(if rows >= cols { from } else { from.transpose() }, to));
    let (long, s, short) = tall_svd(context, tall)?;
    if rows >= cols {
        narrow(&long, &mut u)?;
        narrow(&short, &mut v)?;
    } else {
        // A^T = U S V^H is A = conj(V) S conj(U)^H.
        narrow(&short, &mut u)?;
        narrow(&long, &mut v)?;
        for m in [&mut u, &mut v] {
            m.slice_mut()?.iter_mut().for_each(|x| *x = x.conjugate());
        }
    }
    Ok(Svd { u, s, v })
}

/// Singular vectors and values of a matrix with at least as many rows as columns.
fn tall_svd<T: Scalar<Wide = T>>(
    context: &Context,
    mut a: CpuMatrix<T>,
) -> Result<(CpuMatrix<T>, Vec<f64>, CpuMatrix<T>)> {
    let (rows, cols) = a.shape();
    let budget = context.host_budget();
    let mut u = CpuMatrix::<T>::zeros("left singular vectors", rows, cols, budget)?;
    if rows == cols {
        let mut v = CpuMatrix::<T>::zeros("right singular vectors", cols, cols, budget)?;
        let s = square_svd(context, &mut a, u.view_mut()?, v.view_mut()?)?;
        return Ok((u, s, v));
    }
    let block = serial::coefficient_rows(cols);
    let mut coefficients = CpuMatrix::<T>::zeros("Householder coefficients", block, cols, budget)?;
    let mut r = CpuMatrix::<T>::zeros("triangular factor", cols, cols, budget)?;
    let need = serial::reflections_scratch::<T>(rows, cols);
    with_stack(context, need, |stack| {
        context.pool().run(|| -> Result<()> {
            serial::reflect(a.view_mut()?, coefficients.view_mut()?, stack);
            upper(a.view()?, r.view_mut()?);
            Ok(())
        })
    })??;
    let mut v = CpuMatrix::<T>::zeros("right singular vectors", cols, cols, budget)?;
    let s = square_svd(context, &mut r, u.view_mut()?.subrows(0, cols), v.view_mut()?)?;
    with_stack(context, need, |stack| {
        context.pool().run(|| -> Result<()> {
            serial::apply_reflections::<T>(a.view()?, coefficients.view()?, u.view_mut()?, stack);
            Ok(())
        })
    })??;
    Ok((u, s, v))
}

/// The power of two that scales the largest part of `values` to between 1 and 2; 1 for zeros. The solvers of problems of
/// an order over 128 compare some numbers with absolute bounds, so they are only accurate for entries of about this size.
fn unit_factor<W: Scalar>(values: &[W]) -> f64 {
    let most = values.iter().fold(0.0f64, |most, x| most.max(x.re().abs()).max(x.im().abs()));
    // For subnormal numbers the exponent is clamped so that both the power and its inverse are normal.
    if most > 0.0 && most.is_finite() { (-most.log2().floor()).clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
}

/// Multiplies each of `values` by a real `factor`; 1 leaves them alone.
fn multiply_all<W: Scalar>(values: &mut [W], factor: f64) {
    if factor != 1.0 {
        values.iter_mut().for_each(|x| *x = W::from_parts(x.re() * factor, x.im() * factor));
    }
}

/// Singular vectors and values of a square matrix, which is scaled to the range that the solver needs.
fn square_svd<T: Scalar<Wide = T>>(
    context: &Context,
    a: &mut CpuMatrix<T>,
    u: MatMut<'_, T>,
    v: MatMut<'_, T>,
) -> Result<Vec<f64>> {
    let order = a.rows();
    let factor = unit_factor(a.slice()?);
    multiply_all(a.slice_mut()?, factor);
    let a = a.view()?;
    let mut values = alloc::filled("singular values", order, T::default())?;
    let converged = with_stack(context, serial::svd_scratch::<T>(order), |stack| {
        context.pool().run(|| serial::svd::<T>(a, &mut values, u, v, stack))
    })?;
    let mut s = alloc::with_capacity("singular values", order)?;
    s.extend(values.iter().map(|value| value.re() / factor));
    if !converged || !s.iter().all(|s| s.is_finite()) {
        return Err(Error::Numerical(format!("singular values of order {order} do not converge")));
    }
    Ok(s)
}

compiled_here! {
    /// Eigenvalues and eigenvectors, see [`crate::dense::Algebra::eigen`]; in double precision for every type.
    ///
    /// # Errors
    /// As there.
    pub fn eigen<T: Scalar>(context: &Context, a: &CpuMatrix<T>) -> Result<(Vec<f64>, CpuMatrix<T>)> = eigen_of;
}

fn eigen_of<T: Scalar>(context: &Context, a: &CpuMatrix<T>) -> Result<(Vec<f64>, CpuMatrix<T>)> {
    let (order, cols) = a.shape();
    if order != cols {
        return Err(mismatch("eigenvalues", &[a.shape()]));
    }
    let budget = context.host_budget();
    let mut vectors = CpuMatrix::<T>::zeros("eigenvectors", order, order, budget)?;
    let mut values = alloc::filled("eigenvalues", order, T::Wide::default())?;
    if order == 0 {
        return Ok((alloc::with_capacity("eigenvalues", 0)?, vectors));
    }
    lower_is_finite(a)?;
    let mut whole = CpuMatrix::<T::Wide>::zeros("matrix of eigenvalues", order, order, budget)?;
    let mut ascending = CpuMatrix::<T::Wide>::zeros("eigenvectors", order, order, budget)?;
    widen(a.view()?, whole.slice_mut()?);
    // The upper triangle is undefined.
    for (j, column) in whole.slice_mut()?.chunks_exact_mut(order).enumerate() {
        column[..j].fill(T::Wide::default());
    }
    let factor = unit_factor(whole.slice()?);
    multiply_all(whole.slice_mut()?, factor);
    let converged = with_stack(context, serial::eigen_scratch::<T>(order), |stack| {
        context.pool().run(|| -> Result<bool> {
            Ok(serial::eigen::<T>(whole.view()?, &mut values, ascending.view_mut()?, stack))
        })
    })??;
    let mut descending = alloc::with_capacity("eigenvalues", order)?;
    descending.extend(values.iter().rev().map(|v| v.re() / factor));
    if !converged || !descending.iter().all(|s| s.is_finite()) {
        return Err(Error::Numerical(format!("eigenvalues of a matrix of order {order} do not converge")));
    }
    let from = ascending.slice()?;
    for (to, from) in vectors.slice_mut()?.chunks_exact_mut(order).zip(from.chunks_exact(order).rev()) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = T::narrow(*from));
    }
    Ok((descending, vectors))
}

fn lower_is_finite<T: Scalar>(a: &CpuMatrix<T>) -> Result<()> {
    let order = a.rows();
    let finite =
        a.slice()?.chunks_exact(order).enumerate().all(|(j, column)| column[j..].iter().all(|x| is_finite(*x)));
    if finite {
        Ok(())
    } else {
        Err(Error::Numerical("eigenvalues of a matrix with numbers that are not finite".into()))
    }
}

/// Bytes that the functions of this module allocate and charge in addition to their arguments and results. `W` is the
/// double-precision type of the elements.
pub mod working_bytes {
    use super::{Scalar, StackReq, rows_of_a_sum, serial};

    fn stack(need: StackReq) -> usize {
        need.unaligned_bytes_required()
    }

    fn bytes<W>(elements: &[usize]) -> usize {
        elements.iter().fold(1, |product: usize, n| product.saturating_mul(*n)).saturating_mul(size_of::<W>())
    }

    /// Of [`reflect`](super::reflect).
    pub fn reflect<T: Scalar>(rows: usize, cols: usize) -> usize {
        stack(serial::reflections_scratch::<T>(rows, cols))
    }

    /// Of [`cholesky_step`](super::cholesky_step).
    pub fn cholesky_step<W: Scalar>(rows: usize, cols: usize) -> usize {
        if rows == 0 || cols == 0 {
            return 0;
        }
        let sums = rows.div_ceil(rows_of_a_sum(rows, cols)).max(1);
        bytes::<W>(&[cols, cols, sums]).max(stack(serial::cholesky_scratch::<W>(cols)))
    }

    /// Of [`householder`](super::householder).
    pub fn householder<W: Scalar>(rows: usize, cols: usize) -> usize {
        if cols == 0 {
            return 0;
        }
        let coefficients = bytes::<W>(&[serial::coefficient_rows(cols), cols]);
        [coefficients, bytes::<W>(&[2, rows, cols]), stack(serial::reflections_scratch::<W>(rows, cols))]
            .into_iter()
            .fold(0, usize::saturating_add)
    }

    /// Of [`svd`](super::svd).
    pub fn svd<W: Scalar>(rows: usize, cols: usize) -> usize {
        let (long, rank) = (rows.max(cols), rows.min(cols));
        if rank == 0 {
            return 0;
        }
        let square = stack(serial::svd_scratch::<W>(rank));
        let (both, small) = (bytes::<W>(&[2, long, rank]), bytes::<W>(&[rank, rank]));
        if long == rank {
            return both.saturating_add(small).saturating_add(square);
        }
        let coefficients = bytes::<W>(&[serial::coefficient_rows(rank), rank]);
        let reflections = stack(serial::reflections_scratch::<W>(long, rank));
        [both, coefficients, small, small, square.max(reflections)].into_iter().fold(0, usize::saturating_add)
    }

    /// Of [`eigen`](super::eigen).
    pub fn eigen<W: Scalar>(order: usize) -> usize {
        if order == 0 {
            return 0;
        }
        bytes::<W>(&[2, order, order]).saturating_add(stack(serial::eigen_scratch::<W>(order)))
    }
}
