//! From an orthonormal basis to the factors.

use super::{Factors, Phase, Run};
use crate::dense::{Op, Svd};
use crate::error::Result;
use crate::rsvd::erased::{Dense, Tall};

/// Factors of A W W^H from an orthonormal W and P = A W.
///
/// # Errors
/// [`crate::error::Error::Numerical`] for numbers that are not finite and for singular values that do not converge;
/// errors of the backend.
#[inline(never)]
pub fn row_space(run: &mut Run<'_>, w: &Dense, mut p: Tall) -> Result<Factors> {
    let r = run.orthonormalize_tall(&mut p)?;
    let Svd { u, s, v } = run.ops.svd(&r)?;
    assemble(run, p, u, s, w, v)
}

/// Factors of Q Q^H A from an orthonormal Q and T = A^H Q, which is destroyed.
///
/// # Errors
/// As [`row_space`].
#[inline(never)]
pub fn range(run: &mut Run<'_>, q: Tall, t: &mut Dense) -> Result<Factors> {
    let r = run.orthonormalize(t)?;
    let Svd { u, s, v } = run.ops.svd(&r)?;
    assemble(run, q, v, s, t, u)
}

/// Factors U = Q L_k and V = X R_k of rank k for orthonormal Q and X and the small matrices L and R.
///
/// # Errors
/// Errors of the backend.
#[inline(never)]
pub fn assemble(run: &mut Run<'_>, q: Tall, left: Dense, mut s: Vec<f64>, x: &Dense, right: Dense) -> Result<Factors> {
    let k = run.task.rank.min(s.len());
    s.truncate(k);
    let (mut left, right) = (run.head(&left, k)?, run.head(&right, k)?);
    let phase = run.task.phase;
    let mut v = None;
    if run.task.right || phase == Phase::Right {
        let mut columns = run.product(x, Op::Plain, &right, Op::Plain)?;
        if phase == Phase::Right {
            let turns = turns(&run.ops.column_peaks(&columns)?)?;
            turn(run, &mut columns, &turns)?;
            turn(run, &mut left, &turns)?;
        }
        v = Some(columns);
    }
    let mut u = None;
    if run.task.left || phase == Phase::Left {
        let mut columns = q;
        run.ops.tall_transform(&mut columns, &left)?;
        if phase == Phase::Left {
            let turns = turns(&run.ops.tall_column_peaks(&columns)?)?;
            let mut diagonal = run.identity(k, k)?;
            turn(run, &mut diagonal, &turns)?;
            run.ops.tall_transform(&mut columns, &diagonal)?;
            if let Some(v) = v.as_mut() {
                turn(run, v, &turns)?;
            }
        }
        u = Some(columns);
    }
    Ok(Factors { u: u.filter(|_| run.task.left), s, v: v.filter(|_| run.task.right) })
}

/// Multipliers of modulus 1, one a column, that make the peak of each column real and positive.
///
/// # Errors
/// Out of memory.
pub fn turns(peaks: &[(f64, f64)]) -> Result<Vec<(f64, f64)>> {
    let turn = |&(re, im): &(f64, f64)| {
        let modulus = re.hypot(im);
        if modulus > 0.0 { (re / modulus, -im / modulus) } else { (1.0, 0.0) }
    };
    crate::alloc::collected("phases", peaks.iter().map(turn))
}

/// Multiplies each column by a number of modulus 1.
///
/// # Errors
/// Errors of the backend.
#[inline(never)]
pub fn turn(run: &mut Run<'_>, m: &mut Dense, turns: &[(f64, f64)]) -> Result<()> {
    if !run.ops.dtype().is_complex() {
        let signs = crate::alloc::collected("phases", turns.iter().map(|t| t.0))?;
        return run.ops.scale_columns(m, &signs);
    }
    let k = turns.len();
    let mut phases = turns.iter().enumerate().map(|(j, turn)| (j, j, *turn));
    let diagonal = run.ops.entries("phases", k, k, &mut phases)?;
    *m = run.product(m, Op::Plain, &diagonal, Op::Plain)?;
    Ok(())
}
