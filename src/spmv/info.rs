//! What a plan found.

use super::options::Algorithm;

/// Lengths of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Statistics {
    /// Number of rows.
    pub rows: usize,
    /// Number of entries.
    pub nnz: usize,
    /// Mean length.
    pub mean: f64,
    /// Standard deviation of the lengths.
    pub deviation: f64,
    /// Longest row.
    pub longest: usize,
    /// Rows without entries.
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
    /// The algorithm in force.
    pub algorithm: Algorithm,
    /// Why.
    pub reason: &'static str,
    /// Lanes of a group, for [`Algorithm::RowGroup`].
    pub group: usize,
    /// Lengths of the rows.
    pub statistics: Statistics,
    /// Shares that the work is cut into.
    pub tiles: usize,
    /// Bytes that the plan holds.
    pub bytes: usize,
    /// Seconds that it took.
    pub seconds: f64,
}
