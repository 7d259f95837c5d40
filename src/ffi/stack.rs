//! The stack that the calling thread has left.

use std::cell::Cell;

/// Bytes of stack that a call needs: without optimisation several times as many.
const NEEDED: usize = if cfg!(debug_assertions) { 1536 << 10 } else { 384 << 10 };

/// Stack of the threads that calls run on instead.
pub(super) const AMPLE: usize = 4 << 20;

/// Lowest address of a thread's stack that may be used; 0: not known yet; 1: the system does not say.
pub(super) struct Lowest(Cell<usize>);

impl Lowest {
    pub(super) const fn unknown() -> Self {
        Self(Cell::new(0))
    }

    /// Whether this is the thread's first call.
    #[inline]
    pub(super) fn is_first_call(&self) -> bool {
        self.0.get() == 0
    }

    /// Whether the calling thread, whose value this is, has less stack than a call needs. A coroutine's stack, which lies
    /// elsewhere, is not known to be short.
    #[inline]
    pub(super) fn is_short(&self) -> bool {
        let here = 0u8;
        let at = (&raw const here).addr();
        at.wrapping_sub(self.0.get()) < NEEDED || (self.is_first_call() && is_short_at_first(&self.0, at))
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[cold]
#[inline(never)]
fn is_short_at_first(lowest: &Cell<usize>, at: usize) -> bool {
    let (mut start, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are written by the first call before the others read them, and freed by the last.
    let is_known = unsafe {
        let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
        libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) == 0 && {
            libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut bytes);
            libc::pthread_attr_destroy(&raw mut attributes);
            true
        }
    };
    if !is_known {
        lowest.set(1);
        return false;
    }
    // SAFETY: asks for two numbers.
    if at.wrapping_sub(start.addr()) >= 2 * NEEDED && unsafe { libc::getpid() == libc::gettid() } && !grow() {
        // Memory is short; it may come back before the next call.
        return true;
    }
    lowest.set(start.addr().max(1));
    at.wrapping_sub(start.addr()) < NEEDED
}

/// Uses as much of the first thread's stack as a call needs: the system enlarges it page by page, and ends the process when it has
/// no memory to do so. `false` if there is as little; a mapping finds out.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn grow() -> bool {
    #[inline(never)]
    fn touch(pages: usize) -> u8 {
        let page = std::hint::black_box([1u8; 4096]);
        if pages > 0 { touch(pages - 1) ^ page[pages % 4096] } else { page[0] }
    }
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping of the system's choice, removed at once.
    unsafe {
        let probe = libc::mmap(std::ptr::null_mut(), 2 * NEEDED, protection, flags, -1, 0);
        if probe == libc::MAP_FAILED {
            return false;
        }
        libc::munmap(probe, 2 * NEEDED);
    }
    std::hint::black_box(touch(NEEDED / 4096));
    true
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn is_short_at_first(lowest: &Cell<usize>, _: usize) -> bool {
    lowest.set(1);
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_small_stack_is_noticed() {
        let measured = |bytes| {
            let work = || Lowest::unknown().is_short();
            std::thread::Builder::new().stack_size(bytes).spawn(work).unwrap().join().unwrap()
        };
        // The C library may give a thread the stack of one that ended, up to four times as large as asked for.
        assert!(measured(NEEDED / 8));
        assert!(!measured(NEEDED * 2));
    }
}
