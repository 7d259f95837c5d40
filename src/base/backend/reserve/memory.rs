//! The memory of the reserve, and the count of its bytes in use.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::blocks::{BLOCKS, Blocks};
use crate::refusal;

/// Bytes of a small block, of all of them, and of a large block and of all of those.
pub(super) const SMALL_BLOCK: usize = 256;
const SMALL: usize = 64 * BLOCKS * SMALL_BLOCK;
const LARGE_BLOCK: usize = 4096;
const LARGE: usize = 12 * BLOCKS * LARGE_BLOCK;
/// Largest size of one request in bytes.
pub(super) const MOST: usize = BLOCKS * LARGE_BLOCK;

#[repr(C)]
pub(super) struct Reserve {
    pub(super) large: Blocks<LARGE, LARGE_BLOCK, { LARGE / LARGE_BLOCK / BLOCKS }>,
    pub(super) small: Blocks<SMALL, SMALL_BLOCK, { SMALL / SMALL_BLOCK / BLOCKS }>,
}

// SAFETY: a block belongs to whoever set its bits, until they are cleared.
unsafe impl Sync for Reserve {}

pub(super) static RESERVE: Reserve = Reserve { large: Blocks::new(), small: Blocks::new() };
/// Bytes of blocks in use.
static USED: AtomicUsize = AtomicUsize::new(0);

pub(super) fn note_used(bytes: usize, taken: bool) {
    let used = if taken {
        USED.fetch_add(bytes, Ordering::Relaxed) + bytes
    } else {
        USED.fetch_sub(bytes, Ordering::Relaxed).saturating_sub(bytes)
    };
    refusal::note_reserve(used > (SMALL + LARGE) / 2);
}

pub(super) fn is_reserved(start: *mut u8) -> bool {
    start.addr().wrapping_sub((&raw const RESERVE).addr()) < size_of::<Reserve>()
}

/// Memory of the reserve for a request that the system refused; NULL if its caller can report the refusal.
#[cold]
pub(super) fn take(layout: Layout) -> *mut u8 {
    if refusal::is_refusable() || layout.size() > MOST || layout.align() > LARGE_BLOCK {
        return std::ptr::null_mut();
    }
    let small = if layout.size() <= SMALL_BLOCK * BLOCKS / 4 && layout.align() <= SMALL_BLOCK {
        RESERVE.small.take(layout.size())
    } else {
        None
    };
    small.or_else(|| RESERVE.large.take(layout.size())).map_or(std::ptr::null_mut(), NonNull::as_ptr)
}
