//! Trains whose numbers are so far apart, or so far from 1, that a contraction on a device may lose some that count.
//!
//! A processor reports whether arithmetic rounded a number below the range of its type, a device does not. A device is
//! therefore given only trains of which products of two numbers with an environment cannot vanish; others are contracted in
//! double precision or on the host.

use std::sync::Arc;

use super::powers::ends;
use crate::context::Context;
use crate::error::Result;
use crate::scalar::DType;
use crate::tensor::train::TensorTrain;
use crate::tt::scaled::exponent_of;

/// Largest a and a + |b| of a core whose largest number is 2^b and whose least number that is not 0 is 2^-a of it.
/// Environments are kept within 2^60 (single precision) or 2^500 of 1, the least numbers are 2^-149 and 2^-1074. Where all
/// numbers of a core are large or small, products are scaled.
pub(super) fn most(dtype: DType) -> (i64, i64) {
    if dtype.is_single() { (44, 100) } else { (280, 700) }
}

/// Whether a core of a train on the host is beyond [`most`].
///
/// # Errors
/// For a train that is not on the host.
pub(in crate::tt) fn is_wide(context: &Arc<Context>, train: &TensorTrain) -> Result<bool> {
    is_any_beyond(context, train, most(train.dtype()))
}

/// Whether the numbers of a core of a train on the host are further apart than [`most`], however large they are.
pub(super) fn is_far_apart(context: &Arc<Context>, train: &TensorTrain) -> Result<bool> {
    is_any_beyond(context, train, (most(train.dtype()).0, i64::MAX))
}

fn is_any_beyond(context: &Arc<Context>, train: &TensorTrain, (apart, away): (i64, i64)) -> Result<bool> {
    let cores = if train.is_uniform() { 1 } else { train.shape().len() };
    for k in 0..cores {
        let (low, high) = ends(train, k, context.isa())?;
        if is_beyond(low, high, (apart, away)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a core with this least and this largest number is beyond these limits.
pub(super) fn is_beyond(low: f64, high: f64, (apart, away): (i64, i64)) -> bool {
    if low == 0.0 || !high.is_finite() {
        return false;
    }
    let (low, high) = (exponent_of(low), exponent_of(high));
    high - low > apart || high - low + high.abs() > away
}
