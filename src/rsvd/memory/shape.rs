//! Sizes and decisions of a run that determine its memory.

/// Outcomes of the decisions that depend on the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataAssumption {
    /// Columns stay independent, entries can be squared.
    Regular,
    /// Every orthonormalization meets dependent columns, and entries have to be scaled.
    Deficient,
    /// As `Deficient`, and all singular values but the first are small.
    Decaying,
    /// As `Decaying`, and they are 0: all but one column of a basis are random.
    Single,
}

/// Where the entries are, as far as memory depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entries {
    Memory,
    Source,
    /// Compressed rows with this number of stored entries.
    Sparse(usize),
    Operator,
}

/// Sizes of a problem and of its blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Bytes of an element of the type of computation.
    pub(super) element: usize,
    pub(super) entries: Entries,
    /// Whether products use the entries in place.
    pub(super) is_direct: bool,
    /// Whether entries are centred or scaled.
    pub(super) is_centered: bool,
    /// Whether columns are divided by their deviations.
    pub(super) is_scaled: bool,
    /// Bytes of the means and deviations of columns.
    pub(super) moments: usize,
    pub(super) block_rows: usize,
    pub(super) panel_rows: usize,
}
