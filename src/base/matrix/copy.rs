//! Copies between dense matrices of one size and type, on the host or a device.

use super::matrix::Matrix;
use crate::context::Context;
use crate::error::Result;
use crate::stream::{self, Stream};
use crate::tensor;

/// Copies a dense matrix into another of the same size and type, in any direction between host and device.
///
/// # Errors
/// As [`tensor::copy`]; [`NotSupported`](crate::error::Error::NotSupported) for other storage than dense.
pub fn copy(context: &Context, queue: Option<&Stream>, source: &Matrix, destination: &mut Matrix) -> Result<()> {
    source.expect_context("source", context)?;
    destination.expect_context("destination", context)?;
    destination.expect_size("destination", source.rows(), source.cols())?;
    destination.expect_dtype("destination", source.dtype())?;
    let from = source.dense("source")?;
    let to = destination.dense_mut("destination")?;
    let queue = stream::select(context, queue)?;
    tensor::copy_memory(context, queue, source.dtype(), (from.memory, from.layout), (to.memory, to.layout))
}
