//! Matrices that a pass multiplies panels by.

use crate::dense::gpu::DeviceMatrix;

/// The factor of a product, and the sum of those that are not formed in double precision.
pub(super) type Prepared = (Option<DeviceMatrix>, Option<DeviceMatrix>);

/// Matrices of a pass in the type of the arithmetic.
pub(super) struct Factors {
    pub(super) first: Option<DeviceMatrix>,
    pub(super) second: Option<DeviceMatrix>,
}
