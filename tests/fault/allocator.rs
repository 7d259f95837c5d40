//! The library's allocator, whose system refuses blocks of 4 KiB and more on request.
//!
//! A request whose caller reports a refusal gets NULL. One whose caller cannot is served from the reserve, as in the
//! shared library, which ends the process where the reserve is too small.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicI64, Ordering};

use purlin::backend::reserve::Reserving;
use purlin::fault;

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Requests that got NULL.
static UNSERVED: AtomicI64 = AtomicI64::new(0);

/// Grants `n` large blocks and refuses all later ones.
pub fn refuse_after(n: i64) {
    UNSERVED.store(0, Ordering::SeqCst);
    fault::refuse_blocks_after(n);
}

/// Grants all blocks again. Gives the number of requests of the system since [`refuse_after`], and of those that got NULL.
pub fn refuse_none() -> (i64, i64) {
    (fault::grant_blocks(), UNSERVED.load(Ordering::SeqCst))
}

fn counted(start: *mut u8) -> *mut u8 {
    if start.is_null() {
        UNSERVED.fetch_add(1, Ordering::SeqCst);
    }
    start
}

// SAFETY: every block is the library's allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        counted(unsafe { Reserving.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        counted(unsafe { Reserving.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        counted(unsafe { Reserving.realloc(start, layout, size) })
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { Reserving.dealloc(start, layout) }
    }
}
