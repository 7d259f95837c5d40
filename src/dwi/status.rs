//! What became of one voxel.

/// Outcome for one voxel. The numbers are those of the C interface, shared with the eigenpair solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum VoxelStatus {
    /// Nothing to say.
    Ok = 0,
    /// A signal or weight is not finite, or a weight is negative.
    NonFinite = 1,
    /// Outside the mask.
    Masked = 4,
    /// The mean signal without diffusion weighting is not positive, or too few signals are usable.
    Signal = 6,
    /// A signal was not positive; it was clamped or left out, and the result stands.
    Clamped = 7,
}
