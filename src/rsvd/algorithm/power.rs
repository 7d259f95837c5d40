//! Row-space iterations as published: Basic, FIFO (the same with the blocks in reverse order every second pass) and Fused
//! (both products in one pass). A is approximated by A W W^H.

use super::run::Resumed;
use super::{Factors, Run, finish};
use crate::dense::orthonormal::BasisAccuracy;
use crate::error::Result;
use crate::rsvd::erased::Dense;

/// W = orth(A^H (A W)) q times, each product a pass of its own; 2q + 1 passes.
pub fn basic(run: &mut Run<'_>) -> Result<Factors> {
    let width = run.task.columns;
    let (first, mut w, resumed) = match run.resume_any()? {
        Some((done, Resumed::Product(p))) => (done, run.ops.zeros("A^H A W", run.ops.columns(), width)?, Some(p)),
        Some((done, Resumed::Basis(w))) => (done, w, None),
        None => {
            let (done, w) = run.begin()?;
            (done, w, None)
        }
    };
    let mut is_product = resumed.is_some();
    let mut p = match resumed {
        Some(p) => p,
        None => run.ops.tall("A W", width)?,
    };
    for i in first..run.task.iterations {
        if !std::mem::take(&mut is_product) {
            run.spanning(|ops| ops.pass_multiply(&w, &mut p))?;
            run.product_done(i, &p)?;
        }
        run.spanning(|ops| ops.pass_adjoint(&p, &mut w))?;
        run.check_range()?;
        run.orthonormalize(&mut w)?;
        run.pass_done(Some((i + 1, &w)))?;
    }
    run.ops.pass_multiply(&w, &mut p)?;
    run.pass_done(None)?;
    finish::row_space(run, &w, p)
}

/// The same with A^H A W in one pass; q + 1 passes.
pub fn row_fused(run: &mut Run<'_>) -> Result<Factors> {
    let w = iterate(run, BasisAccuracy::Basis)?;
    last_product(run, &w)
}

/// The basis after the task's fused passes. Only the last iterate has to be orthonormal, and only for
/// [`BasisAccuracy::Basis`]. The sketch is not made orthonormal before the first pass, unless its columns may depend on
/// each other.
#[inline(never)]
pub fn iterate(run: &mut Run<'_>, need: BasisAccuracy) -> Result<Dense> {
    let iterations = run.task.iterations;
    let (first, mut w) = match run.resume()? {
        Some(resumed) => resumed,
        None => {
            let mut w = run.omega(run.task.columns, 0)?;
            if iterations == 0 && need == BasisAccuracy::Basis {
                run.orthonormalize(&mut w)?;
            } else {
                run.complete_sketch(&mut w)?;
            }
            (0, w)
        }
    };
    let mut t = run.ops.zeros("A^H A W", run.ops.columns(), run.task.columns)?;
    for i in first..iterations {
        run.look()?;
        run.spanning(|ops| ops.pass_fused(&w, None, &mut t))?;
        run.check_range()?;
        std::mem::swap(&mut w, &mut t);
        if i + 1 == iterations && need == BasisAccuracy::Basis {
            run.orthonormalize(&mut w)?;
        } else {
            run.span(&mut w)?;
        }
        run.pass_done(Some((i + 1, &w)))?;
    }
    Ok(w)
}

/// The pass P = A W for an orthonormal W, and the factors of A W W^H.
#[inline(never)]
pub fn last_product(run: &mut Run<'_>, w: &Dense) -> Result<Factors> {
    let width = run.ops.shape(w).1;
    let mut p = run.ops.tall("A W", width)?;
    run.ops.pass_multiply(w, &mut p)?;
    run.pass_done(None)?;
    finish::row_space(run, w, p)
}
