//! Orthonormal bases of a range, with the coordinates of the matrix in them.

use super::run::SIGN_ROWS;
use super::{Run, power};
use crate::dense::orthonormal::BasisAccuracy;
use crate::error::Result;
use crate::rsvd::erased::{Dense, Tall};

/// Q and, `with_coordinates`, T = A^H Q: A is close to Q T^H. q + 1 passes, and 1 for T.
///
/// # Errors
/// Errors of the passes and of the restart file.
pub fn columns(run: &mut Run<'_>, with_coordinates: bool) -> Result<(Tall, Option<Dense>)> {
    let w = power::iterate(run, BasisAccuracy::Basis)?;
    let mut p = run.ops.tall("A W", run.task.columns)?;
    run.ops.pass_multiply(&w, &mut p)?;
    run.pass_done(None)?;
    run.orthonormalize_tall(&mut p)?;
    if !with_coordinates {
        return Ok((p, None));
    }
    let mut t = w;
    run.ops.pass_adjoint(&p, &mut t)?;
    run.pass_done(None)?;
    Ok((p, Some(t)))
}

/// W and, `with_coordinates`, P = A W: A is close to P W^H, with the accuracy of [`columns`] for the transposed problem.
///
/// # Errors
/// As [`columns`].
pub fn rows(run: &mut Run<'_>, with_coordinates: bool) -> Result<(Dense, Option<Tall>)> {
    let (n, width) = (run.ops.columns(), run.task.columns);
    let (first, mut w) = match run.resume()? {
        Some(resumed) => resumed,
        None => {
            let mut psi = run.ops.tall("sketch", width)?;
            run.ops.tall_fill(&mut psi, &run.task.sketch, 0)?;
            if run.ops.rows() <= SIGN_ROWS && run.task.sketch.may_be_singular() {
                run.orthonormalize_tall(&mut psi)?;
            }
            let mut w = run.ops.zeros("A^H Psi", n, width)?;
            if run.task.iterations > 0 {
                run.spanning(|ops| ops.pass_adjoint(&psi, &mut w))?;
            } else {
                run.ops.pass_adjoint(&psi, &mut w)?;
            }
            run.check_range()?;
            run.orthonormalize(&mut w)?;
            run.pass_done(Some((0, &w)))?;
            (0, w)
        }
    };
    let mut t = run.ops.zeros("A^H A W", n, width)?;
    for i in first..run.task.iterations {
        run.look()?;
        // The last product is the basis itself, so it is in full precision.
        if i + 1 < run.task.iterations {
            run.spanning(|ops| ops.pass_fused(&w, None, &mut t))?;
        } else {
            run.ops.pass_fused(&w, None, &mut t)?;
        }
        run.check_range()?;
        std::mem::swap(&mut w, &mut t);
        run.orthonormalize(&mut w)?;
        run.pass_done(Some((i + 1, &w)))?;
    }
    if !with_coordinates {
        return Ok((w, None));
    }
    let mut p = run.ops.tall("A W", width)?;
    run.ops.pass_multiply(&w, &mut p)?;
    run.pass_done(None)?;
    Ok((w, Some(p)))
}
