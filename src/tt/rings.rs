//! Products of rings whose numbers hide others that count.
//!
//! Where powers of two at the bonds do not bring all numbers that count near the others, products take environments whose
//! numbers have exponents of their own. These are much slower.

use std::sync::Arc;

use super::balance::{is_hiding, is_hiding_repeated};
use super::operator::{Environments, Trains};
use super::options::{Conjugate, Options, Scaling};
use super::scaled::Scaled;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::session::CancelHandle;
use crate::stream::Stream;
use crate::tensor::train::TensorTrain;

/// Whether a contraction of these trains, which are balanced, loses numbers that count. Trains on a device are not examined.
///
/// # Errors
/// Out of memory.
pub(super) fn loses(context: &Arc<Context>, options: &Options, trains: &Trains<'_>) -> Result<bool> {
    let Trains { bra, operator, ket } = *trains;
    if options.scaling == Scaling::Never {
        return Ok(false);
    }
    let list = [Some(bra), if bra.is_same(ket) { None } else { Some(ket) }, operator.map(|h| h.train())];
    list.into_iter().flatten().try_fold(false, |found, train| Ok(found || is_hiding(context, train)?))
}

/// Returns an error for a ring whose cores are repeated where products of it would lose numbers that count.
///
/// # Errors
/// [`Error::Numerical`]; out of memory.
pub(super) fn expect_repeatable(context: &Arc<Context>, options: &Options, trains: [&TensorTrain; 2]) -> Result<()> {
    let repeat = usize::try_from(options.repeat).unwrap_or(usize::MAX);
    for train in trains {
        if options.scaling != Scaling::Never && is_hiding_repeated(context, train, repeat)? {
            let problem = "x: numbers of this ring hide others that count; `repeat` takes none such";
            return Err(Error::Numerical(problem.into()));
        }
    }
    Ok(())
}

/// <y|H|x> or <y|x>.
///
/// # Errors
/// As [`Environments::value`].
pub(super) fn value(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    conjugate: Conjugate,
    cancel: &CancelHandle,
    trains: &Trains<'_>,
) -> Result<Scaled> {
    let options = Options { conjugate, ..Options::default() };
    let mut kept = Environments::exact(context, &options, trains)?.cancelled_by(cancel.clone());
    kept.value(stream, trains, trains.len() / 2)
}
