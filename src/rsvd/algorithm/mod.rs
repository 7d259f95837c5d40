//! The methods, written once for every backend that offers [`RsvdOps`](super::ops::RsvdOps). The problem is m-by-n with
//! its rows cut; W stands for n-by-l matrices, P for m-by-l ones.
//!
//! | file | subject |
//! |---|---|
//! | `task` | the problem, its factors and figures |
//! | [`run`] | steps that the methods share: start, orthonormal bases, checkpoints |
//! | `rescale` | the unit of data whose squares leave the range of the type |
//! | [`finish`] | from a basis to the factors |
//! | `power`, `range`, `fused`, `gram`, `blocks`, `krylov`, `once`, `direct` | the methods |
//! | `adaptive` | the rank for a tolerance |
//! | `symmetric`, [`find`] | Hermitian matrices; bases without factors |
//! | [`estimate`] | errors of factors |

mod adaptive;
mod blocks;
mod direct;
pub mod estimate;
pub mod find;
pub mod finish;
mod fused;
mod gram;
mod krylov;
mod once;
mod power;
mod range;
mod rescale;
pub mod run;
mod symmetric;
mod task;

use super::options::Method;
pub use super::passes::passes;
use crate::error::{Error, Result};
pub use adaptive::rehearse as rehearse_adaptive;
pub use run::Run;
pub use symmetric::symmetric;
use task::check_finite;
pub use task::{ErrorFigures, Factors, Outcome, Phase, Task};

/// Computes the factors with the task's method.
///
/// # Errors
/// Errors of the passes; [`Error::Numerical`] if the result is not finite.
pub fn decompose(run: &mut Run<'_>) -> Result<Factors> {
    let outcome = by_method(run);
    if matches!(outcome, Err(Error::Numerical(_))) {
        run.diagnose();
    }
    outcome
}

fn by_method(run: &mut Run<'_>) -> Result<Factors> {
    if run.task.tolerance > 0.0 {
        return adaptive::adaptive(run);
    }
    let factors = match run.task.method {
        Method::Basic | Method::Fifo => power::basic(run),
        Method::RowFused => power::row_fused(run),
        Method::Gram => gram::gram(run),
        Method::Brsvd => blocks::block_sum(run),
        Method::Merge => blocks::merge(run),
        Method::Range => range::range(run),
        Method::Fused => fused::fused(run),
        Method::Krylov => krylov::krylov(run),
        Method::OnePass => once::one_pass(run),
        Method::Direct => direct::direct(run),
        Method::Auto | Method::Nystrom | Method::Rayleigh => {
            Err(Error::Internal(format!("method {:?} of a rectangular matrix", run.task.method)))
        }
    }?;
    check_finite(&factors.s)?;
    Ok(factors)
}
