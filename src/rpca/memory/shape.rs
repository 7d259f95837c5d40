//! Sizes that determine the memory of a run, besides its options.

use crate::rpca::cpu::cut::CutInput;

/// An eigenvalue of X^H X that no threshold cuts off.
pub(in crate::rpca) const LARGE: f64 = 1e200;

/// Sizes of a run's inputs and outputs.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The input of the cut.
    pub sheet: CutInput,
    /// Bytes of an entry of the matrix plus that of the mask, where they are read from sources; 0 for data in memory.
    pub read: usize,
    /// Whether there is a mask.
    pub is_masked: bool,
    /// Bytes of an entry of the larger of the parts that sinks take; 0 without sinks.
    pub sink: usize,
}
