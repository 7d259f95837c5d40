//! A matrix in compressed rows on the device.

use crate::backend::gpu::Region;
use crate::error::Result;

/// A matrix in compressed rows on the device, its indices from 0: offsets ascend from 0 to `entries`, columns are below
/// `cols`.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// I32 (`narrow`) or I64, `rows + 1` of them.
    pub row_ptr: Region<'a>,
    /// Whether offsets are I32; I64 else.
    pub narrow: bool,
    /// I32 below `cols`, one an entry.
    pub columns: Region<'a>,
    /// The values; all are 1 if there are none.
    pub values: Option<Region<'a>>,
    /// Stored entries: the last offset of `row_ptr`.
    pub entries: usize,
    /// Rows of A: numbers of y.
    pub rows: usize,
    /// Columns of A: numbers of x.
    pub cols: usize,
}

impl Rows<'_> {
    pub(super) fn row_ptr(&self) -> Result<u64> {
        self.row_ptr.array("row_ptr", self.rows + 1, if self.narrow { 4 } else { 8 })
    }
}
