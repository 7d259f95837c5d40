//! Products of rings in which entries that contribute to the result underflow with one exponent for each environment.
//!
//! If powers of two at the bonds do not bring all contributing entries near the largest ones, environments are used in
//! which each entry has an exponent of its own. These are much slower.

use std::sync::Arc;

use super::environments::Environments;
use super::trains::Trains;
use crate::context::Context;
use crate::error::Result;
use crate::progress::CancelFlag;
use crate::stream::Stream;
use crate::trains::options::{Conjugate, Options, Scaling};
use crate::trains::scaled::Scaled;

/// Number of passes of a contraction through the cores, for the examination of rings; `None` if rings are not examined,
/// because scaling is off.
pub fn turns(options: &Options) -> Option<usize> {
    (options.scaling != Scaling::Never).then(|| usize::try_from(options.repeat).unwrap_or(usize::MAX))
}

/// <y|H|x>, or <y|x> without an operator, from environments in which each entry has an exponent.
///
/// # Errors
/// As [`Environments::value`].
pub fn value(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    conjugate: Conjugate,
    cancel: CancelFlag,
    trains: &Trains<'_>,
) -> Result<Scaled> {
    let options = Options { conjugate, ..Options::default() };
    let mut kept = Environments::exact(context, &options, trains)?.stopped_by(cancel);
    kept.value(stream, trains, trains.len() / 2)
}
