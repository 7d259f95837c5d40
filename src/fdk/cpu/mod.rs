//! FDK on the CPU.

pub mod backproject;
pub mod filter;
pub mod slab;

/// Zero samples below and above each column of a transposed view: back-projection reads past the panel's rows without
/// asking. At least the widest vector and the widest step of rows within one.
pub const PAD: usize = 48;

/// Samples from one column of a transposed view to the next.
pub fn column_stride(rows: usize) -> usize {
    (rows + 2 * PAD).next_multiple_of(16)
}
