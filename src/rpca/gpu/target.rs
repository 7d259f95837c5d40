//! The caller's matrix on the first device that a part is written to.

use crate::backend::gpu::{DeviceMemory, View};
use crate::error::Result;
use crate::scalar::DType;

/// A dense matrix in device memory, as large as the one that is split.
pub(super) struct Target<'a> {
    whole: View<'a>,
    /// Whether columns are contiguous. Else rows are, and the view is the transpose.
    pub(super) by_columns: bool,
    /// Factor that the part is multiplied with.
    pub(super) unit: f64,
}

impl<'a> Target<'a> {
    /// An m-by-n matrix whose entry (i, j) is element `i * row_stride + j * column_stride`. One stride is 1.
    pub(super) fn new(
        memory: &'a DeviceMemory,
        (m, n): (usize, usize),
        (row_stride, column_stride): (usize, usize),
        unit: f64,
    ) -> Self {
        let by_columns = row_stride == 1;
        let whole = match by_columns {
            true => View { memory: memory.whole(), rows: m, cols: n, ld: column_stride.max(m) },
            false => View { memory: memory.whole(), rows: n, cols: m, ld: row_stride.max(n) },
        };
        Self { whole, by_columns, unit }
    }

    /// The rows from `first` on; of a transposed view the corresponding columns.
    pub(super) fn rows(&self, dtype: DType, first: usize, rows: usize) -> Result<View<'a>> {
        if self.by_columns { self.whole.rows(dtype, first, rows) } else { self.whole.columns(dtype, first, rows) }
    }
}
