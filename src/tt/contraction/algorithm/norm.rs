//! Norms and distances by QR factors from site to site.

use crate::contraction::ops::{ContractOps, Work};
use crate::error::{Error, Result};
use crate::tensor::train::TensorTrain;
use crate::trains::scaled::Scaled;

/// The norm of the sum of `trains`, each times a factor: real, and not negative.
pub fn by_qr(machines: &mut [Box<dyn ContractOps>], work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled> {
    let first = machines.first_mut().ok_or_else(|| Error::Internal("a norm without a context".into()))?;
    first.qr_norm(work, trains)
}
