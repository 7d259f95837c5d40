//! The stack that the calling thread has left.

use std::cell::Cell;

/// Bytes of stack that a call needs: without optimisation several times as many.
const NEEDED: usize = if cfg!(debug_assertions) { 1536 << 10 } else { 384 << 10 };

/// Stack of the threads that calls run on instead.
pub(super) const AMPLE: usize = 4 << 20;

thread_local! {
    /// Lowest address of this thread's stack; 0: not known yet; 1: it grows as needed, or the system does not say.
    static LOWEST: Cell<usize> = const { Cell::new(0) };
}

/// Whether this is the thread's first call.
#[inline]
pub(super) fn is_first_call() -> bool {
    LOWEST.get() == 0
}

/// Whether the calling thread has less stack than a call needs. A coroutine's stack, which lies elsewhere, is not known to be
/// short.
#[inline]
pub(super) fn is_short() -> bool {
    let here = 0u8;
    if is_first_call() {
        LOWEST.set(lowest());
    }
    (&raw const here).addr().wrapping_sub(LOWEST.get()) < NEEDED
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[cold]
fn lowest() -> usize {
    // SAFETY: asks for two numbers. The first thread's stack grows up to a limit that hosts leave at 8 MiB.
    if unsafe { libc::getpid() == libc::gettid() } {
        return 1;
    }
    let (mut start, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are written by the first call before the others read them, and freed by the last.
    unsafe {
        let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return 1;
        }
        libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut bytes);
        libc::pthread_attr_destroy(&raw mut attributes);
    }
    start.addr().max(1)
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn lowest() -> usize {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_small_stack_is_noticed() {
        let measured = |bytes| std::thread::Builder::new().stack_size(bytes).spawn(is_short).unwrap().join().unwrap();
        assert!(measured(NEEDED / 2));
        assert!(!measured(NEEDED * 2));
    }
}
