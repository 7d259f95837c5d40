//! Workspaces of threads that ended without a product.

use std::alloc::{GlobalAlloc as _, Layout};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::system::System;

/// Blocks of threads that ended without a product. The next threads use them; their pages were never used.
pub(super) struct Unused {
    places: [AtomicPtr<u8>; 16],
}

/// All are of the measured size.
pub(super) static UNUSED: Unused = Unused::new();
/// Most bytes of all these blocks together.
const UNUSED_MOST: usize = 64 << 20;

impl Unused {
    const fn new() -> Self {
        Self { places: [const { AtomicPtr::new(std::ptr::null_mut()) }; 16] }
    }

    pub(super) fn take(&self) -> Option<NonNull<u8>> {
        self.places.iter().find_map(|place| NonNull::new(place.swap(std::ptr::null_mut(), Ordering::Acquire)))
    }

    /// Keeps a block of `bytes`, at least 1; `false` if there is no place for it.
    pub(super) fn keep(&self, start: *mut u8, bytes: usize) -> bool {
        let nothing = std::ptr::null_mut();
        let mut places = self.places.iter().take(UNUSED_MOST / bytes);
        places.any(|place| place.compare_exchange(nothing, start, Ordering::Release, Ordering::Relaxed).is_ok())
    }

    /// Frees the blocks, all of this layout; whether there was one.
    ///
    /// # Safety
    /// The system's allocator gave all that were kept, with this layout.
    pub(super) unsafe fn free(&self, layout: Layout) -> bool {
        let mut freed = false;
        while let Some(start) = self.take() {
            // SAFETY: as promised above, and the place no longer has it.
            unsafe { System.dealloc(start.as_ptr(), layout) };
            freed = true;
        }
        freed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::reserve::workspace::workspace_layout;

    #[test]
    fn unused_workspaces_serve_later_threads_within_a_bound() {
        let unused = Unused::new();
        let layout = workspace_layout(UNUSED_MOST / 2).unwrap();
        // SAFETY: the size is not 0.
        let blocks = [0; 3].map(|_| unsafe { System.alloc(layout) });
        assert_eq!(blocks.map(|b| unused.keep(b, layout.size())), [true, true, false]);
        let taken = unused.take().map(NonNull::as_ptr);
        assert!(taken == Some(blocks[0]) && unused.keep(blocks[2], layout.size()));
        // SAFETY: all blocks are of this layout; the one that was taken is freed by the last call.
        unsafe {
            assert!(unused.free(layout) && !unused.free(layout));
            System.dealloc(blocks[0], layout);
        }
        assert!(unused.take().is_none());
    }
}
