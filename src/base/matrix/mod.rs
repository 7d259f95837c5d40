//! Matrices: dense with a leading dimension, compressed sparse rows, read in blocks, or known only by their products.

pub mod adjoint;
mod cache;
mod copy;
mod csr;
mod dense;
mod enqueued;
mod flattened;
#[allow(clippy::module_inception, reason = "the file has the type that the folder is named after")]
mod matrix;
pub mod not_finite;
mod operator;
pub mod sparse;
mod storage;
mod streamed;
#[cfg(test)]
mod tests;

pub use cache::Cache;
pub use copy::copy;
pub use csr::{Csr, CsrParts, DeviceArrays, DeviceIndices, IndexType};
pub use dense::{Dense, DenseMut};
pub use enqueued::{Enqueue, Enqueued};
pub use matrix::Matrix;
pub use operator::{OnDevice, Operator, OperatorGuard, SharedOperator};
pub use storage::Storage;
pub use streamed::{SharedSource, Streamed};
