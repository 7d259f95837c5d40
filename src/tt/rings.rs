//! Products of rings whose numbers hide others that count.
//!
//! Where powers of two at the bonds do not bring all numbers that count near the others, products take environments whose
//! numbers have exponents of their own. These are much slower.

use std::sync::Arc;

use super::operator::{Environments, Trains};
use super::options::{Conjugate, Options, Scaling};
use super::scaled::Scaled;
use crate::context::Context;
use crate::error::Result;
use crate::progress::CancelFlag;
use crate::stream::Stream;

/// How often a contraction with these options goes through the cores; `None` if rings are not examined for numbers that they
/// hide.
pub(super) fn turns(options: &Options) -> Option<usize> {
    (options.scaling != Scaling::Never).then(|| usize::try_from(options.repeat).unwrap_or(usize::MAX))
}

/// <y|H|x> or <y|x>.
///
/// # Errors
/// As [`Environments::value`].
pub(super) fn value(
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
