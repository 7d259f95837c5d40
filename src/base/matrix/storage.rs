//! The kinds of storage of a matrix.

use super::csr::Csr;
use super::operator::SharedOperator;
use super::streamed::Streamed;
use crate::backend::memory::Memory;
use crate::shape::{Layout, Order};

/// How the entries of a matrix are stored.
pub enum Storage {
    /// Every entry, column- or row-major with a leading dimension.
    Dense {
        /// Host or device memory that holds the entries.
        memory: Memory,
        /// Rows and columns with their strides.
        layout: Layout,
        /// Whether the entries of a column or of a row are contiguous.
        order: Order,
    },
    /// Compressed sparse rows, on host or device.
    Csr(Csr),
    /// Read in blocks from a source, once or several times a call.
    Streamed(Streamed),
    /// Known only by its products.
    Operator(SharedOperator),
}

impl Storage {
    /// Name of the storage, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Dense { .. } => "dense",
            Self::Csr(_) => "sparse",
            Self::Streamed(_) => "streamed",
            Self::Operator(_) => "an operator",
        }
    }
}
