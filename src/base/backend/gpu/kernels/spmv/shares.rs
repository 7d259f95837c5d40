//! Shares of the work, and rows in pieces.

use super::super::mirrors::SpmvPieces;
use crate::backend::gpu::Region;
use crate::error::Result;
use crate::scalar::DType;

/// Rows that are in pieces, and memory to sum them in.
#[derive(Clone, Copy)]
pub struct Pieces<'a> {
    /// The rows and the end, a 64-bit word each.
    pub longs: Region<'a>,
    /// How many rows there are.
    pub rows: usize,
    /// I32: the row of each piece, counted among these.
    pub owners: Region<'a>,
    /// How many pieces there are.
    pub count: usize,
    /// Numbers of the kernel's type, one a piece.
    pub partials: Region<'a>,
    /// U32, one a row: 0 before and after.
    pub arrivals: Region<'a>,
}

impl Pieces<'_> {
    pub(super) fn params(&self, dtype: DType) -> Result<SpmvPieces> {
        // A plan without rows in pieces need have no list of them.
        let words = if self.rows > 0 { self.rows + 1 } else { 0 };
        Ok(SpmvPieces {
            partials: self.partials.array("partials", self.count, dtype.size())?,
            longs: self.longs.array("long rows", words, 8)?,
            owners: self.owners.array("owners", self.count, 4)?,
            arrivals: self.arrivals.array("arrivals", self.rows, 4)?,
        })
    }
}

/// Shares of the work on the device.
#[derive(Clone, Copy)]
pub struct Shares<'a> {
    /// As the kernel has them.
    pub list: Region<'a>,
    /// Number of shares in `list`.
    pub count: usize,
    /// For bins: the rows, I32.
    pub order: Option<Region<'a>>,
    /// Rows in pieces; for the merge path only memory for one number a share.
    pub pieces: Pieces<'a>,
}
