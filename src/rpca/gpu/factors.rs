//! Matrices that a pass multiplies panels by.

use crate::dense::gpu::GpuMatrix;

/// The factor of a product, and the sum of those that are not formed in double precision.
pub(super) type Prepared<T> = (Option<GpuMatrix<T>>, Option<GpuMatrix<T>>);

/// Matrices of a pass in the type of the arithmetic.
pub(super) struct Factors<T> {
    pub(super) first: Option<GpuMatrix<T>>,
    pub(super) second: Option<GpuMatrix<T>>,
}
