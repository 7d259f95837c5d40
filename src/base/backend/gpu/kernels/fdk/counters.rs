//! Numbers that the device counts.

use super::super::{constants as c, size};

/// Numbers that the device counts, U64: pixels that are not finite, clamped counts, counts above those without an
/// object, pixels that are too large, voxels beyond the range of the output.
pub const COUNTERS: usize = size(c::FDK_COUNTERS);

/// Index of the voxels beyond the range of the output among the counters.
pub const OVERFLOWN: usize = size(c::FDK_OVERFLOWN);
