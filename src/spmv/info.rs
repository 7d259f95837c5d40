//! The report of a plan: its choice, row statistics and sizes.

use super::options::Method;

/// Statistics of the row lengths, in entries.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Statistics {
    /// Rows of the matrix, empty ones included.
    pub rows: usize,
    /// Stored entries, explicit zeros included.
    pub nnz: usize,
    /// Mean length of a row; 0 without rows.
    pub mean: f64,
    /// Standard deviation of the lengths.
    pub deviation: f64,
    /// Length of the longest row.
    pub longest: usize,
    /// Number of rows without entries.
    pub empty: usize,
    /// Rows of up to 32 entries, as a share of all.
    pub short: f64,
    /// Entries in rows longer than 32, as a share of all.
    pub beyond_32: f64,
    /// Entries in rows longer than 1024, as a share of all.
    pub beyond_1024: f64,
}

/// A plan's choice and figures. The fields are those of the C interface.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// The method that the plan uses.
    pub method: Method,
    /// Why that method was chosen.
    pub reason: &'static str,
    /// Lanes that share a row, for [`Method::RowGroup`].
    pub row_lanes: usize,
    /// Statistics of the row lengths, in entries.
    pub statistics: Statistics,
    /// Number of shares that the work is split into.
    pub tiles: usize,
    /// Bytes that the plan owns, on the host and the device.
    pub bytes: usize,
    /// Seconds that the planning took.
    pub seconds: f64,
}
