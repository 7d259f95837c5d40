//! Keeps threads out of the driver while the process ends.
//!
//! `exit` runs handlers while other threads go on. The driver, cuBLAS and cuSOLVER take themselves apart in handlers of
//! their own, and where a thread is inside them then, or comes in later, the process crashes. The handler here is
//! registered after each of theirs, so it runs before. It refuses the driver to all threads but the one that ends the
//! process, and waits until those inside have left. A library that is being loaded counts as a call inside.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The longest wait for calls that are inside the driver.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Number of calls inside the driver.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The thread that ends the process, 0 before one does.
static ENDS: AtomicI32 = AtomicI32::new(0);
/// The process that opened a GPU. A child of a fork has none of the threads that are counted.
static PROCESS: AtomicI32 = AtomicI32::new(0);

thread_local! {
    // Without a destructor, so that it can be used while the thread ends.
    /// Those of `INSIDE` that are this thread's.
    static OWN: Cell<usize> = const { Cell::new(0) };
}

fn this_thread() -> i32 {
    // SAFETY: it has no preconditions.
    unsafe { libc::gettid() }
}

/// The permission to be inside the driver.
pub(super) struct Inside(PhantomData<*const ()>);

impl Inside {
    /// Enters the driver.
    ///
    /// # Errors
    /// [`Error::NoDevice`] while another thread ends the process.
    pub(super) fn new() -> Result<Self> {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        OWN.set(OWN.get() + 1);
        let inside = Self(PhantomData);
        match ENDS.load(Ordering::SeqCst) {
            0 => Ok(inside),
            ends if ends == this_thread() => Ok(inside),
            _ => Err(Error::NoDevice("the process is ending".into())),
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        OWN.set(OWN.get() - 1);
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

fn this_process() -> i32 {
    // SAFETY: it has no preconditions.
    unsafe { libc::getpid() }
}

extern "C" fn end() {
    if PROCESS.load(Ordering::SeqCst) != this_process() {
        return;
    }
    // Only the first of the handlers waits: nobody has entered since.
    if ENDS.swap(this_thread(), Ordering::SeqCst) != 0 {
        return;
    }
    let start = Instant::now();
    while INSIDE.load(Ordering::SeqCst) > OWN.get() && start.elapsed() < LONGEST_WAIT {
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Registers the handler behind those of the driver or of a library, which was just loaded, initialized or used for the
/// first time. Handlers run in the reverse order. `registered` belongs to that event: one handler is enough for each.
pub(super) fn watch(registered: &'static Once) {
    PROCESS.store(this_process(), Ordering::SeqCst);
    registered.call_once(|| {
        // SAFETY: the library is never unloaded, so the handler stays. A refusal leaves things as they were.
        let _ = unsafe { libc::atexit(end) };
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_for_the_process_and_the_thread() {
        let before = OWN.get();
        let first = Inside::new().unwrap();
        let second = Inside::new().unwrap();
        assert_eq!(OWN.get(), before + 2);
        assert!(INSIDE.load(Ordering::SeqCst) >= 2);
        drop(first);
        drop(second);
        assert_eq!(OWN.get(), before);
    }
}
