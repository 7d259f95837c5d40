//! The factors by the method of a task.

use super::super::options::Method;
use super::run::Run;
use super::task::{Factors, check_finite};
use super::{adaptive, blocks, direct, fused, gram, krylov, once, power, range};
use crate::error::{Error, Result};

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
