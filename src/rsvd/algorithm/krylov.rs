//! Block Krylov (Musco and Musco, NIPS 2015): the space of all iterates W_0, A^H A W_0, ... instead of the last alone.

use super::{Factors, Run, direct, power};
use crate::dense::Op;
use crate::dense::sketch::Sketch;
use crate::error::{Error, Result};
use crate::rng::stream;
use crate::rsvd::erased::Dense;

/// Makes each iterate orthogonal to all before it; the factors are those of A K K^H. q + 1 passes, and a small problem of
/// (q + 1) l columns.
pub fn krylov(run: &mut Run<'_>) -> Result<Factors> {
    let (m, n) = (run.ops.rows(), run.ops.columns());
    if run.task.columns >= m && m < n {
        // The span of narrower blocks would not contain all rows of A, not even after a completion by random columns.
        run.remarks.push("the whole matrix, as the sketch is as wide as its rows are many".into());
        return direct::direct(run);
    }
    let blocks = run.task.iterations.saturating_add(1);
    let width = run.task.columns.min(m.min(n) / blocks);
    if width < run.task.rank {
        // All iterates together would have more columns than the space; the last alone is as good.
        run.remarks.push("the last iterate alone, as all together are more than min(m, n)".into());
        return power::row_fused(run);
    }
    // A sketch as wide as the space means that the basis has to span all of it.
    let total = if run.task.columns >= n { n } else { width * blocks };
    let (first, begun) = match run.resume()? {
        Some(resumed) => resumed,
        None => {
            let mut w = run.omega(width, 0)?;
            run.orthonormalize(&mut w)?;
            (0, w)
        }
    };
    let mut filled = run.ops.shape(&begun).1;
    let mut k = run.ops.zeros("Krylov basis", n, total)?;
    run.ops.copy_columns(&begun, 0, filled, &mut k, 0)?;
    drop(begun);
    for i in first..run.task.iterations {
        let mut w = run.ops.zeros("Krylov block", n, width)?;
        run.ops.copy_columns(&k, filled - width, width, &mut w, 0)?;
        let mut t = run.ops.zeros("A^H A W", n, width)?;
        run.look()?;
        run.spanning(|ops| ops.pass_fused(&w, None, &mut t))?;
        run.check_range()?;
        let before = run.head(&k, filled)?;
        orthogonalize(run, &mut t, &before)?;
        run.ops.copy_columns(&t, 0, width, &mut k, filled)?;
        filled += width;
        let state = run.head(&k, filled)?;
        run.pass_done(Some((i + 1, &state)))?;
    }
    if filled < total {
        let mut rest = run.ops.zeros("Krylov block", n, total - filled)?;
        let sketch = fresh_numbers(run);
        run.ops.fill(&mut rest, &sketch, 0, first_draw(filled))?;
        let before = run.head(&k, filled)?;
        orthogonalize(run, &mut rest, &before)?;
        run.ops.copy_columns(&rest, 0, total - filled, &mut k, filled)?;
    }
    run.columns = total;
    power::last_product(run, &k)
}

// Two rounds are enough for columns that are independent of the basis (Kahan and Parlett). A dependent column, which was
// replaced by a random one, needs one more.
const ROUNDS: usize = 5;

/// Numbers that complete a basis: continuous, as signs could lie in it.
fn fresh_numbers(run: &Run<'_>) -> Sketch {
    Sketch { stream: stream::TEST, ..run.task.sketch }.never_singular()
}

/// Index of the first random column that a block may draw for a basis of `columns`. Blocks must not draw the same columns,
/// because those of an earlier block are already in the basis.
fn first_draw(columns: usize) -> u32 {
    u32::try_from(columns.saturating_mul(ROUNDS + 1)).unwrap_or(u32::MAX)
}

/// Makes `x` orthonormal and orthogonal to the orthonormal columns of `basis`.
#[inline(never)]
pub fn orthogonalize(run: &mut Run<'_>, x: &mut Dense, basis: &Dense) -> Result<()> {
    let limit = 32.0 * run.roundoff();
    let (rows, columns) = run.ops.shape(x);
    let sketch = fresh_numbers(run);
    let mut fresh = run.ops.zeros("column of a Krylov block", rows, 1)?;
    // The caller may draw the first `columns` of a block's random columns itself.
    let earlier = first_draw(run.ops.shape(basis).1);
    let own = u32::try_from(columns).unwrap_or(u32::MAX);
    let (mut drawn, mut left) = (earlier.saturating_add(own), 0.0);
    for round in 0..ROUNDS {
        let overlap = run.product(basis, Op::Adjoint, x, Op::Plain)?;
        left = run.ops.norm2(&overlap)?;
        if round > 0 && left <= limit * limit * columns as f64 {
            return Ok(());
        }
        let before = run.ops.column_norms(x)?;
        run.ops.multiply(-1.0, basis, Op::Plain, &overlap, Op::Plain, 1.0, x)?;
        let after = run.ops.column_norms(x)?;
        for (j, (before, after)) in before.iter().zip(&after).enumerate() {
            // The rest of a column that lies in the basis's span is rounding error, which may lie in that span as well. It
            // is replaced by a random column: the basis spans an invariant space, so no other direction is better.
            if *after <= 100.0 * run.roundoff() * before {
                run.ops.fill(&mut fresh, &sketch, 0, drawn)?;
                run.ops.copy_columns(&fresh, 0, 1, x, j)?;
                drawn = drawn.wrapping_add(1);
            }
        }
        run.orthonormalize(x)?;
    }
    // Long columns have more rounding error than the limit. Only a larger overlap would make the values too large.
    if left <= run.roundoff() * columns as f64 {
        return Ok(());
    }
    Err(Error::Numerical("columns of a Krylov basis do not become orthogonal".into()))
}
