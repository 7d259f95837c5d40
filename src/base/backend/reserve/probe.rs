//! Tests for memory that no allocator of the library can refuse.

use std::alloc::{GlobalAlloc as _, Layout};

use super::system::System;

/// Bytes that must be available before a thread starts or makes its first call.
pub const PROBE: u64 = 64 * 1024;

/// Whether the C library has memory for its own allocations for a thread, and for those that Rust's standard library makes
/// through it without the program's allocator. A refusal of either would end the process.
pub fn has_small_memory() -> bool {
    [32, 48, 1024, PROBE as usize].into_iter().all(|bytes| {
        let Ok(layout) = Layout::from_size_align(bytes, 16) else { return false };
        // SAFETY: the size is not 0; freed at once with the same layout.
        unsafe {
            let start = System.alloc(layout);
            if !start.is_null() {
                System.dealloc(start, layout);
            }
            !start.is_null()
        }
    })
}

/// Address space beside its stack that must be left before a thread starts. A thread allocates its thread-local data at
/// their first use, where the library was loaded by the program, and its first arena. Other threads may be about to do
/// the same.
const THREAD_SPACE: usize = 1 << 20;

/// As [`has_small_memory`] for a new thread with a stack of `stack` bytes: its allocations come after the stack's, and
/// a refusal of its thread-local data would end the process.
#[cfg(unix)]
pub fn has_memory_for_thread(stack: usize) -> bool {
    let bytes = stack.saturating_add(THREAD_SPACE);
    // SAFETY: a new mapping without access, which is removed at once.
    let has_space = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let start = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0);
        start != libc::MAP_FAILED && libc::munmap(start, bytes) == 0
    };
    has_space && has_small_memory()
}

#[cfg(not(unix))]
pub fn has_memory_for_thread(_: usize) -> bool {
    has_small_memory()
}
