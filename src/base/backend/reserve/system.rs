//! The system's allocator below the reserve. In builds with fault injection it refuses large blocks on request.

#[cfg(not(feature = "fault-injection"))]
pub(super) use std::alloc::System;

#[cfg(feature = "fault-injection")]
pub(super) use self::refusing::System;

#[cfg(feature = "fault-injection")]
mod refusing {
    use std::alloc::{self, GlobalAlloc, Layout};

    use crate::fault::refuses_block;

    pub struct System;

    // SAFETY: every block is the system allocator's; a refused one is NULL, which is an allocator's right.
    unsafe impl GlobalAlloc for System {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller promises.
            if refuses_block(layout.size()) { std::ptr::null_mut() } else { unsafe { alloc::System.alloc(layout) } }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            if refuses_block(layout.size()) {
                return std::ptr::null_mut();
            }
            // SAFETY: as the caller promises.
            unsafe { alloc::System.alloc_zeroed(layout) }
        }

        unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            if size > layout.size() && refuses_block(size) {
                return std::ptr::null_mut();
            }
            // SAFETY: as the caller promises.
            unsafe { alloc::System.realloc(start, layout, size) }
        }

        unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
            // SAFETY: as the caller promises.
            unsafe { alloc::System.dealloc(start, layout) }
        }
    }
}
