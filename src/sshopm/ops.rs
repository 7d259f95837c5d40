//! The operations that the method requires of a backend.

use super::plan::{Counts, Plan, RowSizes, Rows, Tile};
use crate::error::Result;
use crate::progress::CancelFlag;
use crate::scalar::Real;

/// Operations that the method requires of a backend: solving one tile of tensors, from packed entries to packed rows of
/// results.
pub trait SshopmOps<T: Real> {
    /// Solves all tensors of a tile. If `trace` is not empty, the tile has one tensor with one start.
    ///
    /// # Errors
    /// [`crate::error::Error::Cancelled`] within one tensor's time after cancellation, and the errors of the backend.
    fn solve_tile(
        &mut self,
        plan: &Plan<T>,
        tile: Tile<'_, T>,
        rows: Rows<'_, T>,
        trace: &mut [T],
        sizes: &RowSizes,
        cancel: &CancelFlag,
    ) -> Result<Counts>;
}
