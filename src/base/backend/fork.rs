//! Detects `fork()`: the child process has no pool threads and no CUDA. Also delays a fork while another thread initializes
//! something once for the process: the child does not have that thread, and would wait for it for ever.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};

static GENERATION: AtomicU64 = AtomicU64::new(0);
/// The thread in [`undisturbed`], or that forks; 0 for none.
static OWNER: AtomicUsize = AtomicUsize::new(0);
/// Whether the owner is a thread that forks, not one that initializes.
static IS_FORKS: AtomicBool = AtomicBool::new(false);

/// Attempts of a fork to become the owner, 0.1 ms apart. Attempts are counted and not time: a virtual machine may stand
/// still for seconds.
const PATIENCE: usize = 50_000;

/// Registers the handlers when the library is loaded: a first call would be in a race with the forks of other threads.
/// Registering fails only for want of memory, and then forks go unnoticed.
extern "C" fn watch() {
    // SAFETY: the handlers only use atomics and sleep, and the library is never unloaded (-z nodelete).
    unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after_in_child)) };
}

// SAFETY: the loader calls the functions of this section, which need no argument.
#[used]
#[unsafe(link_section = ".init_array")]
static WATCH: extern "C" fn() = watch;

/// A number for the calling thread, never 0. The only thread of a child of `fork()` has the number that it had in the
/// parent.
pub fn this_thread() -> usize {
    // SAFETY: only asks for the id of the calling thread.
    unsafe { libc::pthread_self() as usize }
}

fn try_own(me: usize) -> bool {
    OWNER.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

extern "C" fn before() {
    let me = this_thread();
    for _ in 0..PATIENCE {
        if try_own(me) {
            IS_FORKS.store(true, Ordering::Relaxed);
            return;
        }
        // A signal handler may fork in the middle of this thread's own initialization, which goes on in both processes.
        if OWNER.load(Ordering::Relaxed) == me {
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

extern "C" fn after() {
    if OWNER.load(Ordering::Relaxed) == this_thread() && IS_FORKS.swap(false, Ordering::Relaxed) {
        OWNER.store(0, Ordering::Release);
    }
}

/// The handler that runs in the child. It only uses atomics, because nothing else is safe there.
extern "C" fn after_in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    after();
    // Another thread that is still the owner exists in the parent alone.
    let owner = OWNER.load(Ordering::Relaxed);
    if owner != 0 && owner != this_thread() {
        OWNER.store(0, Ordering::Relaxed);
    }
}

/// Runs `initialize`, which initializes data of the whole process, while no other thread forks. It must not call the
/// host.
pub fn undisturbed<R>(initialize: impl FnOnce() -> R) -> R {
    struct Owned;
    impl Drop for Owned {
        fn drop(&mut self) {
            OWNER.store(0, Ordering::Release);
        }
    }
    let me = this_thread();
    let _owned = loop {
        if try_own(me) {
            break Some(Owned);
        }
        if OWNER.load(Ordering::Relaxed) == me {
            break None;
        }
        std::thread::sleep(Duration::from_micros(50));
    };
    initialize()
}

/// Number of forks that led to this process. Pass it to [`happened_since`] later.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Whether a fork happened since [`generation`] returned `remembered`.
pub fn happened_since(remembered: u64) -> bool {
    generation() != remembered
}

/// Calls a function of the host. The child of a fork within it has none of the other threads of the call, and would wait
/// for them.
///
/// # Errors
/// [`Error::Forked`] if the function returns in a child of the process that called it.
pub fn call_host<R>(function: impl FnOnce() -> R) -> Result<R> {
    let before = generation();
    let returned = function();
    if happened_since(before) { Err(Error::Forked("context")) } else { Ok(returned) }
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

    #[test]
    fn a_fork_waits_for_initializations() {
        use std::sync::Once;
        static FIRST: Once = Once::new();
        static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
        let slow = || {
            HAS_BEGUN.store(true, Ordering::Release);
            std::thread::sleep(Duration::from_millis(200));
        };
        let thread = std::thread::spawn(move || undisturbed(|| FIRST.call_once(slow)));
        while !HAS_BEGUN.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        // SAFETY: the child only uses atomics and leaves at once, without destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends the child by a signal if it waits, else at once.
            unsafe {
                libc::alarm(20);
                undisturbed(|| FIRST.call_once(|| ()));
                libc::_exit(7);
            }
        }
        let mut status = 0;
        // SAFETY: waits for the child made above; writes one integer.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7, "{status}");
        thread.join().unwrap();
        assert!(undisturbed(|| undisturbed(|| true)));
    }
}
