//! Rows of a block and of a panel, and bytes of means and deviations: the sizes that a plan and a run share.

use super::entries::RowSums;
use crate::rsvd::data::{Center, Setting};
use crate::rsvd::statistics::Moments;

/// Bytes of a block of rows: of one read from a source, and of one that a block method works on.
const BLOCK_BYTES: usize = 64 << 20;

/// Bytes of a panel: it is read twice, the second time from the third-level cache.
const PANEL_BYTES: usize = 12 << 20;

/// Limits of the rows of a panel: the lower one keeps products efficient, the upper one keeps A W of a panel small where
/// rows are short.
const PANEL_ROWS: std::ops::RangeInclusive<usize> = 64..=4096;

/// Rows of a block and of a panel without a limit of memory. `size` is the larger of an entry's two sizes: in the data, and
/// in the type of computation.
pub fn cut_of(rows: usize, columns: usize, size: usize, is_source: bool, setting: &Setting) -> (usize, usize) {
    let row = columns.saturating_mul(size).max(1);
    let block = if setting.block_rows > 0 { setting.block_rows } else { (BLOCK_BYTES / row).max(1) };
    let block = block.min(rows).max(1);
    let panel = if setting.panel_rows > 0 { setting.panel_rows } else { panel_rows(columns, size) };
    (block, panel.min(if is_source { block } else { rows.max(1) }))
}

/// Rows of a panel of a matrix with `columns` columns and entries of `size` bytes.
pub fn panel_rows(columns: usize, size: usize) -> usize {
    (PANEL_BYTES / columns.saturating_mul(size).max(1)).clamp(*PANEL_ROWS.start(), *PANEL_ROWS.end())
}

/// Bytes of the means and deviations of columns, including the sums that give them.
pub fn moments_bytes(setting: &Setting, columns: usize) -> usize {
    let is_needed = setting.center == Center::Columns || setting.scale;
    // Two arrays of moments; a complex mean, a deviation and a factor; mean and deviation as statistics.
    if is_needed { columns.saturating_mul(2 * size_of::<Moments>() + 32 + 24) } else { 0 }
}

/// As [`moments_bytes`] for a sparse matrix or an operator, with the means of rows.
pub fn implicit_moments_bytes(setting: &Setting, (rows, columns): (usize, usize), is_sparse: bool) -> usize {
    let of_rows = if setting.center == Center::Rows { rows.saturating_mul(16) } else { 0 };
    if is_sparse {
        // Sums of the rows, and which of them are constant. Moments of columns are allocated in any case.
        let own = moments_bytes(setting, columns).max(columns.saturating_mul(2 * size_of::<Moments>()));
        let sums = if of_rows > 0 { rows.saturating_mul(size_of::<RowSums>() + size_of::<bool>()) } else { 0 };
        return of_rows.saturating_add(sums).saturating_add(own);
    }
    if setting.center == Center::Columns { columns.saturating_mul(16 + 16) } else { of_rows }
}
