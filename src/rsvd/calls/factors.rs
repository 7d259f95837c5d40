//! The error of factors, and the factors of a matrix of zeros.

use super::super::algorithm::{ErrorFigures, Factors, Run, estimate};
use super::super::options::ErrorKind;
use crate::error::Result;

/// The error of factors, found as the task asks for it.
pub(in crate::rsvd) fn error_of(run: &mut Run<'_>, factors: &Factors) -> Result<ErrorFigures> {
    if run.task.error == ErrorKind::None {
        return Ok(ErrorFigures::none());
    }
    if (run.task.error.is_probed() || run.statistics()?.is_estimate)
        && let (Some(u), Some(v)) = (&factors.u, &factors.v)
    {
        return estimate::probe(run, estimate::Relation::of(run.task.method), u, &factors.s, v);
    }
    // The identity holds for the singular values of Q^H A.
    let is_zero = run.statistics()?.norm2 == 0.0;
    let has_identity = is_zero || run.task.method.is_projection();
    let known = if has_identity { estimate::identity(run, &factors.s)? } else { None };
    match known {
        None if run.confirmed.is_some() => Ok(run.confirmed.unwrap_or_else(ErrorFigures::none)),
        Some(frobenius) => Ok(ErrorFigures { kind: ErrorKind::Identity, frobenius, spectral: f64::NAN }),
        None => {
            if run.statistics()?.is_estimate {
                run.remarks.push("the norm of an operator is known from probes alone, which need both factors".into());
            } else if has_identity {
                run.remarks.push("the error is too small to be measured without probes".into());
            }
            Ok(ErrorFigures::none())
        }
    }
}

/// Factors of a matrix of zeros: columns of the identity.
pub(super) fn zero_factors(run: &mut Run<'_>, found: Factors) -> Result<Factors> {
    let k = found.s.len();
    let n = run.ops.columns();
    let u = found.u.map(|_| run.tall_identity(k)).transpose()?;
    let v = found.v.map(|_| run.identity(n, k)).transpose()?;
    Ok(Factors { u, s: crate::alloc::filled("singular values", k, 0.0)?, v })
}
