//! The Gram method: one pass forms A^H A, the iterations use it in memory, and the second pass is that of the row-space
//! form.

use super::{Factors, Run, finish, power};
use crate::dense::Op;
use crate::error::Result;
use crate::rsvd::erased::Dense;

/// Columns up to which all eigenvectors of A^H A are computed if there are at least 50 rows a column: the passes then take
/// longer than the eigensolver.
const EIGEN_COLUMNS: usize = 4096;

/// Columns up to which all eigenvectors are computed for any number of rows.
const EIGEN_ALWAYS: usize = 512;

/// W from G = A^H A, then A W. The singular values are not the roots of G's eigenvalues, which lose half the digits.
pub fn gram(run: &mut Run<'_>) -> Result<Factors> {
    let w = match run.resume()? {
        Some((_, w)) => w,
        None => {
            let w = basis(run)?;
            run.pass_done(Some((1, &w)))?;
            w
        }
    };
    let width = run.ops.shape(&w).1;
    let mut p = run.ops.tall("A W", width)?;
    run.ops.pass_multiply(&w, &mut p)?;
    run.pass_done(None)?;
    let r = run.orthonormalize_tall(&mut p)?;
    let small = run.ops.svd(&r)?;
    let last = small.s.get(run.task.rank.wrapping_sub(1)).copied().unwrap_or(0.0);
    let ratio = last / small.s.first().copied().unwrap_or(0.0);
    // Directions below sqrt(u) of the largest are noise in G: their columns of P are as random as a sketch.
    if ratio.is_nan() || ratio >= 10.0 * run.roundoff().sqrt() {
        return finish::assemble(run, p, small.u, small.s, &w, small.v);
    }
    run.remarks.push(format!("two more passes, as sigma_k / sigma_1 = {ratio:.1e} is beyond what A^H A resolves"));
    run.expect(2);
    let mut w = w;
    run.ops.pass_adjoint(&p, &mut w)?;
    run.pass_done(None)?;
    drop(p);
    run.orthonormalize(&mut w)?;
    power::last_product(run, &w)
}

/// Leading directions of A^H A.
fn basis(run: &mut Run<'_>) -> Result<Dense> {
    let (m, n, width) = (run.ops.rows(), run.ops.columns(), run.task.columns);
    let mut g = run.ops.zeros("A^H A", n, n)?;
    run.ops.pass_gram(&mut g)?;
    run.check_range()?;
    let is_cheap = n <= EIGEN_ALWAYS || (n <= EIGEN_COLUMNS && m / 50 >= n);
    if is_cheap && run.given.is_none() {
        let vectors = run.ops.eigen(&g)?.1;
        let mut w = run.head(&vectors, width)?;
        // The eigenvectors are orthonormal only to the eigensolver's accuracy. V is W times a unitary matrix and has to be
        // more accurate.
        run.orthonormalize(&mut w)?;
        return Ok(w);
    }
    let mut w = run.omega(width, 0)?;
    // All iterates but the last only have to span the space.
    for _ in 1..run.task.iterations {
        w = run.product(&g, Op::Plain, &w, Op::Plain)?;
        run.span(&mut w)?;
    }
    // Also without power iterations, if the sketch was drawn: it is independent of the data, and this product needs no pass.
    if run.task.iterations > 0 || run.given.is_none() {
        w = run.product(&g, Op::Plain, &w, Op::Plain)?;
    }
    run.orthonormalize(&mut w)?;
    Ok(w)
}
