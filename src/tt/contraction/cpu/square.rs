//! Environments of a norm. They are Hermitian, so only a triangle of each is computed: with F = L L^H and B = L^H X the
//! next environment is F' = B^H B. Its eigenvalues are negative only by rounding.
//!
//! `square.rs` and `sweep.rs` import each other: a sweep takes these products for norms, which use the workspace of the
//! sweep.

use super::products::{Block, Bra, Threads, multiply};
use super::sweep::{Pair, Workspace};
use crate::dense::cpu::factor::cholesky;
use crate::dense::{Mat, MatMut};
use crate::error::Result;
use crate::scalar::Scalar;

/// Least order of an environment for this method. Below it the panels are too thin to save time.
pub const LEAST: usize = 192;

/// Number of columns of a panel. The square of a panel on the diagonal is computed as a whole.
fn panel(order: usize) -> usize {
    order.div_ceil(8).next_multiple_of(8).max(32)
}

/// Writes the lower triangle of the next environment to `workspace.f`, for a step to the left if `leftwards`. Returns
/// `false` and leaves `workspace.f` unchanged if the order is below [`LEAST`], if the product's buffer is too small for
/// a copy, or if the environment is not positive definite.
pub fn step<T: Scalar>(
    pair: &Pair<'_, T>,
    workspace: &mut Workspace,
    k: usize,
    alpha: f64,
    leftwards: bool,
) -> Result<bool> {
    let Bra::Same(x) = pair.x else { return Ok(false) };
    let [n, r, r2, ..] = pair.sizes(k);
    let (near, far) = if leftwards { (r2, r) } else { (r, r2) };
    // `factored` copies the environment to the product's buffer, because the factorization may fail.
    if near > n * far || near < LEAST || !factored::<T>(workspace, near)? {
        return Ok(false);
    }
    let Workspace { f, t, .. } = workspace;
    let core = x.core(k);
    {
        let l = Mat::from_columns(&f.get::<T>()?[..near * near], near, near);
        let t = &mut t.get_mut::<T>()?[..n * r * r2];
        let width = panel(near);
        for first in (0..near).step_by(width) {
            let (width, rest) = (width.min(near - first), near - first);
            let l = l.submatrix(first, first, rest, width);
            if leftwards {
                // B[(b i), q] = cj(X)[(b i), b'] L[b', q].
                let x =
                    Mat::from_columns(core, r * n, near).subcols(first, rest).conjugate_if(pair.work.plan.conjugate);
                let b = MatMut::from_columns(&mut *t, r * n, near).subcols(first, width);
                multiply(pair.threads, 1.0, x, l, false, b);
            } else {
                // B[q, (i a')] = L^H[q, a] X[a, (i a')].
                let x = Mat::from_columns(core, near, n * far).subrows(first, rest);
                let l = l.transpose().conjugate_if(pair.work.plan.conjugate);
                let b = MatMut::from_columns(&mut *t, near, n * far).subrows(first, width);
                multiply(pair.threads, 1.0, l, x, false, b);
            }
        }
    }
    let t = &t.get::<T>()?[..n * r * r2];
    let f = &mut f.get_mut::<T>()?[..far * far];
    // The buffer may hold any numbers, and `triangle` does not write all of the upper triangle: clear it first.
    f.fill(T::default());
    let c = MatMut::from_columns(f, far, far);
    if leftwards {
        let b = Mat::from_columns(t, far, n * near);
        triangle(pair.threads, alpha, b, b.adjoint(), c);
    } else {
        let b = Mat::from_columns(t, near * n, far);
        triangle(pair.threads, alpha, b.adjoint(), b, c);
    }
    Ok(true)
}

/// The second product of a site: `core` T, or T `core` if `last`. Only one triangle of it is computed.
pub fn second<T: Scalar>(
    threads: Threads,
    workspace: &mut Workspace,
    core: Mat<'_, T>,
    t: Block,
    to: Block,
    last: bool,
) -> Result<()> {
    let Workspace { f, t: product, .. } = workspace;
    let t = t.view(product.get::<T>()?);
    let f = f.get_mut::<T>()?;
    f[..to.rows * to.cols].fill(T::default());
    let (a, b) = if last { (t, core) } else { (core, t) };
    triangle(threads, 1.0, a, b, to.view_mut(f));
    Ok(())
}

/// The lower triangle of C = alpha A B, and the rest of the squares on the diagonal.
fn triangle<T: Scalar>(threads: Threads, alpha: f64, a: Mat<'_, T>, b: Mat<'_, T>, mut c: MatMut<'_, T>) {
    let order = c.rows();
    let width = panel(order);
    for first in (0..order).step_by(width) {
        let (width, rest) = (width.min(order - first), order - first);
        let c = c.as_mut().submatrix(first, first, rest, width);
        multiply(threads, alpha, a.subrows(first, rest), b.subcols(first, width), false, c);
    }
}

/// Replaces F by L with F = L L^H, and zeros above it. If that fails, restores F and returns `false`.
fn factored<T: Scalar>(workspace: &mut Workspace, order: usize) -> Result<bool> {
    let Workspace { f, t, .. } = workspace;
    let (f, kept) = (&mut f.get_mut::<T>()?[..order * order], &mut t.get_mut::<T>()?[..order * order]);
    kept.copy_from_slice(f);
    let is_definite = cholesky(MatMut::from_columns(&mut *f, order, order))?;
    let pivots = f.iter().step_by(order + 1).map(|d| d.re());
    let (least, most) = pivots.fold((f64::INFINITY, 0.0f64), |(a, b), d| (a.min(d), b.max(d)));
    // If a pivot is no larger than its rounding error, its column of L is only noise.
    let noise = if size_of::<T::Part>() == 4 { 1e-3 } else { 1e-7 };
    if !is_definite || !least.is_finite() || least.is_nan() || least <= noise * most {
        f.copy_from_slice(kept);
        return Ok(false);
    }
    for (j, column) in f.chunks_exact_mut(order).enumerate() {
        column[..j].fill(T::default());
    }
    Ok(true)
}
