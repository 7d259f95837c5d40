//! Finds trains with entries so far apart in exponent, or so far from 1, that a contraction on a device may lose digits
//! of the result.
//!
//! The CPU reports when arithmetic rounds a number below the range of its type; a device does not. A device therefore
//! gets only trains for which no product of two entries and an environment underflows. Other trains are contracted in
//! double precision or on the host.

use std::sync::Arc;

use super::powers::ends;
use crate::context::Context;
use crate::error::Result;
use crate::scalar::DType;
use crate::tensor::train::TensorTrain;
use crate::trains::scaled::exponent_of;

/// Limits (most a, most a + |b|) for a core whose largest entry is 2^b and whose smallest nonzero entry is 2^(b - a).
/// Environments are held within 2^60 (single precision) or 2^500 (double) of 1, and the smallest numbers are 2^-149 and
/// 2^-1074. If all entries of a core are large, or all are small, products are scaled.
pub(super) fn most(dtype: DType) -> (i64, i64) {
    if dtype.is_single() { (44, 100) } else { (280, 700) }
}

/// Whether products of a core of a host train may leave the range: its largest entry is 2^b, its smallest nonzero one
/// 2^(b - a), and a is above 44 (single precision) or 280 (double), or a + |b| above 100 or 700.
///
/// # Errors
/// For a train that is not on the host.
pub fn is_wide(context: &Arc<Context>, train: &TensorTrain) -> Result<bool> {
    is_any_beyond(context, train, most(train.dtype()))
}

/// Whether the exponents of the entries of a host train's core differ by more than the first limit of [`most`],
/// whatever their magnitude.
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

/// Whether a core with this smallest nonzero and this largest magnitude exceeds the limits (most a, most a + |b|).
pub(super) fn is_beyond(low: f64, high: f64, (apart, away): (i64, i64)) -> bool {
    if low == 0.0 || !high.is_finite() {
        return false;
    }
    let (low, high) = (exponent_of(low), exponent_of(high));
    high - low > apart || high - low + high.abs() > away
}
