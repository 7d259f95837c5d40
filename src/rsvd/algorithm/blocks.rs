//! Methods that iterate within each block while it is in memory: the published sum of block ranges, and the merge of the
//! blocks' own decompositions (Iwen and Ong, SIMAX 37, 2016), which is more accurate for the same number of passes.

use super::run::SIGN_ROWS;
use super::{Factors, Phase, Run, finish, power};
use crate::dense::sketch::Sketch;
use crate::dense::{Op, Svd};
use crate::error::Result;
use crate::rsvd::erased::Dense;
use crate::rsvd::ops::BlockParameters;

/// Numbers of the sketches of blocks, which are as long as a block's rows: continuous where these are few, as signs may
/// depend on each other.
fn numbers(run: &Run<'_>) -> Sketch {
    let sketch = run.task.sketch;
    if run.ops.rows() <= SIGN_ROWS { sketch.never_singular() } else { sketch }
}

/// Published block method: W = orth of the sum of A_J^H (A_J A_J^H)^q Omega_J; two passes. A block of larger norm
/// dominates the sum, so more iterations can make the result worse.
pub fn block_sum(run: &mut Run<'_>) -> Result<Factors> {
    let w = match run.resume()? {
        Some((_, w)) => w,
        None => {
            let (width, iterations) = (run.task.columns, run.task.iterations);
            let mut w = run.ops.zeros("sum of block ranges", run.ops.columns(), width)?;
            run.ops.pass_block_sum(&BlockParameters { width, iterations, sketch: numbers(run) }, &mut w)?;
            run.check_range()?;
            run.orthonormalize(&mut w)?;
            run.pass_done(Some((1, &w)))?;
            w
        }
    };
    power::last_product(run, &w)
}

/// Block merge: W from the merged blocks, then A W. With `one_pass` the result is the merged values and V alone.
pub fn merge(run: &mut Run<'_>) -> Result<Factors> {
    let w = match run.resume()? {
        Some((_, w)) => w,
        None => {
            let local =
                BlockParameters { width: run.task.merge_width, iterations: run.task.iterations, sketch: numbers(run) };
            let mut merged = run.ops.zeros("merged blocks", run.ops.columns(), local.width)?;
            run.ops.pass_merge(&local, &mut merged)?;
            run.check_range()?;
            if run.task.one_pass {
                run.pass_done(None)?;
                return merged_alone(run, merged);
            }
            let mut w = run.head(&merged, run.task.columns.min(local.width))?;
            drop(merged);
            run.orthonormalize(&mut w)?;
            run.pass_done(Some((1, &w)))?;
            w
        }
    };
    power::last_product(run, &w)
}

/// Values and right vectors of R^H where R R^H is close to A^H A.
fn merged_alone(run: &mut Run<'_>, mut merged: Dense) -> Result<Factors> {
    let r = run.orthonormalize(&mut merged)?;
    let Svd { u, mut s, .. } = run.ops.svd(&r)?;
    let k = run.task.rank.min(s.len());
    s.truncate(k);
    let small = run.head(&u, k)?;
    let mut v = run.product(&merged, Op::Plain, &small, Op::Plain)?;
    if run.task.phase == Phase::Right {
        let turns = finish::turns(&run.ops.column_peaks(&v)?)?;
        finish::turn(run, &mut v, &turns)?;
    }
    Ok(Factors { u: None, s, v: Some(v).filter(|_| run.task.right) })
}
