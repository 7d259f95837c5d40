//! Filtered rows on the device.

use crate::error::{Error, Result};

/// How filtered rows lie on the device: each view an image of `height` lines of `pitch` samples, the panel's rows that are
/// stored in the middle of zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Columns of a filtered row.
    pub columns: usize,
    /// First stored row of the panel.
    pub first_row: usize,
    /// Rows of the panel that are stored, from `first_row` on.
    pub rows: usize,
    /// Zeros on the left of each row.
    pub left: usize,
    /// Lines of zeros above the first row.
    pub top: usize,
    /// Samples from one line to the next.
    pub pitch: usize,
    /// Lines of an image, at least `top + rows`.
    pub height: usize,
}

impl Layout {
    /// Rows one after the other with nothing around, for callers.
    pub fn packed(columns: usize, first_row: usize, rows: usize) -> Self {
        Self { columns, first_row, rows, left: 0, top: 0, pitch: columns, height: rows }
    }

    /// Samples from one view's image to the next.
    pub fn samples(&self) -> usize {
        self.pitch * self.height
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.left + self.columns > self.pitch || self.top + self.rows > self.height {
            return Err(Error::Internal(format!("an image that its rows do not fit into: {self:?}")));
        }
        Ok(())
    }
}
