//! Sizes of results, states and sums.

use super::super::{constants as c, size};

/// Size of `purlin_tt_state` in bytes; its first 16 hold the factor of the next library product.
pub const STATE_BYTES: usize = size(c::TT_STATE_BYTES);
/// Words of 64 bits of a result: real and imaginary part, exponent, and whether there is doubt.
pub const RESULT_WORDS: usize = size(c::TT_RESULT_BYTES) / 8;
/// Threads per block of the kernels that sum lists.
pub const SUM_THREADS: usize = size(c::TT_SUM_THREADS);
/// Shared memory of these kernels in bytes: two numbers a warp.
pub(super) const SUM_SHARED: usize = SUM_THREADS / 32 * 16;
/// Most blocks of these kernels.
const SUM_BLOCKS: usize = 512;

/// Blocks that sum `count` numbers, and so partial results.
pub fn sum_blocks(count: usize) -> usize {
    count.div_ceil(4 * SUM_THREADS).clamp(1, SUM_BLOCKS)
}

/// Blocks that go over a list.
pub(super) fn over(count: usize) -> [u32; 3] {
    [u32::try_from(sum_blocks(count)).unwrap_or(1), 1, 1]
}

const _: () = assert!(STATE_BYTES.is_multiple_of(16) && size(c::TT_SITE_BYTES) == 40);
