//! Limits of the kernels, the numbers of `cuda/sshopm_launch.h`.

use super::super::{constants as c, size};

/// Largest dimension that the general kernels take.
pub const MAX_DIMENSION: usize = size(c::MAX_DIMENSION);
/// Largest order that the general kernels take.
pub const MAX_ORDER: usize = size(c::MAX_ORDER);
/// Most starts of a fused selection.
pub const FUSED_MAX_STARTS: usize = size(c::FUSED_MAX_STARTS);
/// Most pairs of a fused selection.
pub const FUSED_MAX_PAIRS: usize = size(c::FUSED_MAX_PAIRS);
/// Most pairs that the selection from start results distinguishes.
pub const SELECT_MAX_PAIRS: usize = size(c::SELECT_MAX_PAIRS);
/// Most starts that the selection from start results takes.
pub const SELECT_MAX_STARTS: usize = size(c::SELECT_MAX_STARTS);
/// Number of counters, 64 bits each: converged starts, iterations, skipped, truncated and unconverged tensors.
pub const COUNTERS: usize = size(c::COUNTERS);

/// Whether there is a fused kernel for tensors of this order and dimension.
pub fn has_fused(order: usize, dimension: usize) -> bool {
    dimension == 3 && matches!(order, 3 | 4 | 6 | 8)
}
