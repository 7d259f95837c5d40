//! Detection of `fork()`: the child process has no pool threads and no CUDA.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// The handler that runs in the child. It only adds to an atomic, because nothing else is safe there.
extern "C" fn mark() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Number of forks that led to this process, counted from the first call of this function on. Pass it to
/// [`happened_since`] later.
pub fn generation() -> u64 {
    static WATCH: Once = Once::new();
    // SAFETY: the handler may run in a forked child, and the library is never unloaded (-z nodelete). Registering fails
    // only for want of memory, and then forks go unnoticed.
    WATCH.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(mark));
    });
    GENERATION.load(Ordering::Relaxed)
}

/// Whether a fork happened since [`generation`] returned `remembered`.
pub fn happened_since(remembered: u64) -> bool {
    generation() != remembered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_child_knows_and_the_parent_does_not() {
        let before = generation();
        // SAFETY: the child only compares two numbers and leaves at once, without destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code = if happened_since(before) { 7 } else { 1 };
            // SAFETY: ends the child.
            unsafe { libc::_exit(code) };
        }
        assert!(child > 0);
        let mut status = 0;
        // SAFETY: waits for the child made above; writes one integer.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(libc::WEXITSTATUS(status), 7);
        assert!(!happened_since(before));
    }
}
