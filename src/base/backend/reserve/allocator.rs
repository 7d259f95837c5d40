//! The global allocator: the system's, and where it refuses a request, the spare workspace of products or the reserve.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::Ordering;

use super::memory::{RESERVE, is_reserved, take};
use super::system::System;
use super::workspace::{
    IS_MEASURING, SPARE, SPARE_FREE, free_unused, give_packed, is_workspace, measured, packed, parked, workspace_bytes,
};
use crate::refusal;

/// The system's allocator, with the reserve behind it.
pub struct Reserving;

// SAFETY: every block is the system allocator's, a block of the reserve or the spare workspace. The last two are
// aligned to their size and belong to one request at a time. Nothing here unwinds or allocates.
unsafe impl GlobalAlloc for Reserving {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_workspace(layout) {
            if IS_MEASURING.get() {
                return measured(layout);
            }
            let start = parked(layout);
            if !start.is_null() {
                return start;
            }
        }
        // SAFETY: as the caller promises.
        let mut start = unsafe { System.alloc(layout) };
        if start.is_null() && free_unused() {
            // SAFETY: as above.
            start = unsafe { System.alloc(layout) };
        }
        if !start.is_null() {
            return start;
        }
        if is_workspace(layout) && !refusal::is_refusable() {
            if layout.size() == workspace_bytes() {
                return SPARE_FREE.swap(std::ptr::null_mut(), Ordering::Acquire);
            }
            let start = packed(layout);
            if !start.is_null() {
                return start;
            }
        }
        take(layout)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let mut start = unsafe { System.alloc_zeroed(layout) };
        if start.is_null() && free_unused() {
            // SAFETY: as above.
            start = unsafe { System.alloc_zeroed(layout) };
        }
        if start.is_null() {
            start = take(layout);
            if !start.is_null() {
                // SAFETY: as many bytes were taken for this request.
                unsafe { start.write_bytes(0, layout.size()) };
            }
        }
        start
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if is_reserved(start) {
            let _ = RESERVE.small.give(start, layout.size()) || RESERVE.large.give(start, layout.size());
        } else if is_workspace(layout) && start == SPARE.load(Ordering::Relaxed) {
            SPARE_FREE.store(start, Ordering::Release);
        } else if !(is_workspace(layout) && give_packed(start, layout)) {
            // SAFETY: as the caller promises; a parked block of the system may be longer than asked for, which its `free`
            // does not mind.
            unsafe { System.dealloc(start, layout) }
        }
    }

    #[inline]
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let is_own = is_reserved(start) || is_workspace(layout);
        if !is_own {
            // SAFETY: as the caller promises.
            let mut moved = unsafe { System.realloc(start, layout, size) };
            if moved.is_null() && free_unused() {
                // SAFETY: as above; a refusal has left the block as it was.
                moved = unsafe { System.realloc(start, layout, size) };
            }
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller promises that the size does not overflow with this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the caller promises that the size is not 0.
        let moved = if is_own { unsafe { self.alloc(wanted) } } else { take(wanted) };
        if !moved.is_null() {
            // SAFETY: both blocks have as many bytes, and they are two; then the old one is freed with its layout.
            unsafe {
                std::ptr::copy_nonoverlapping(start, moved, layout.size().min(size));
                self.dealloc(start, layout);
            }
        }
        moved
    }
}

/// Not in builds for tests of the crate, which have allocators of their own that refuse.
#[cfg(all(feature = "reserve", not(feature = "fault-injection")))]
#[global_allocator]
static ALLOCATOR: Reserving = Reserving;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::reserve::memory::{MOST, SMALL_BLOCK};
    use std::ptr::NonNull;

    #[test]
    fn blocks_of_the_reserve_are_aligned_to_their_size() {
        for (bytes, alignment) in [(1, 256), (100, 128), (2304, 128), (5000, 4096), (MOST, 4096)] {
            let layout = Layout::from_size_align(bytes, alignment).unwrap();
            let start = take(layout);
            assert!(
                !start.is_null() && start.addr().is_multiple_of(alignment) && is_reserved(start),
                "{bytes} {alignment}"
            );
            // SAFETY: a block of the reserve, taken for as many bytes.
            unsafe { Reserving.dealloc(start, layout) };
        }
        // Each of the small ones.
        let taken: Vec<NonNull<u8>> = (0..40).map_while(|_| RESERVE.small.take(SMALL_BLOCK)).collect();
        for start in taken {
            assert_eq!(start.addr().get() % SMALL_BLOCK, 0);
            assert!(RESERVE.small.give(start.as_ptr(), SMALL_BLOCK));
        }
    }
}
