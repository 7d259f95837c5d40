//! The layout of filtered views and of slices in memory.

/// Zero samples before and after each column of a transposed view, so that back-projection reads past the panel's rows
/// without a bounds check. At least the widest vector and the largest step of rows within one.
pub const PAD: usize = 48;

/// Samples from one column of a transposed view to the next.
pub fn column_stride(rows: usize) -> usize {
    (rows + 2 * PAD).next_multiple_of(16)
}

/// Slices of a group: the widest vector, so that the cut of the volume changes no bit.
pub const SLICE_GROUP: usize = 16;
