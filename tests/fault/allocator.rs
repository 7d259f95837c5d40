//! An allocator that refuses large blocks on request.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

/// Blocks of this size follow the data; the library's small fixed ones lie well below.
const LARGE: usize = 32 * 1024;

/// The matrix-product crate's workspace of a thread, which it cannot be refused. The shared library's own allocator, which is not
/// part of this build, hands it over; tests/c/memory_refused.c refuses it there.
const WORKSPACE: usize = 4 << 20;

struct Refusing;

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Large blocks still granted; negative: all are.
static GRANTED: AtomicI64 = AtomicI64::new(i64::MIN);
static REFUSED: AtomicI64 = AtomicI64::new(0);

/// Grants `n` large blocks and refuses all later ones.
pub fn refuse_after(n: i64) {
    REFUSED.store(0, Ordering::SeqCst);
    GRANTED.store(n, Ordering::SeqCst);
}

/// Grants all blocks again, and says how many were refused.
pub fn refuse_none() -> i64 {
    GRANTED.store(i64::MIN, Ordering::SeqCst);
    REFUSED.load(Ordering::SeqCst)
}

fn refused(size: usize) -> bool {
    if size < LARGE || size == WORKSPACE || GRANTED.load(Ordering::SeqCst) == i64::MIN {
        return false;
    }
    let none_left = GRANTED.fetch_sub(1, Ordering::SeqCst) <= 0;
    if none_left {
        REFUSED.fetch_add(1, Ordering::SeqCst);
    }
    none_left
}

// SAFETY: every block is the system allocator's; a refused one is NULL, which is an allocator's right.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        if refused(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        if refused(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc_zeroed(layout) } }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() && refused(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.realloc(start, layout, size) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(start, layout) }
    }
}
