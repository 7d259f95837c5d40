//! Signals of the host program.

/// Starts a thread that handles none of the host's signals: a handler of the host's would otherwise run on a thread that the host
/// does not know, and interrupt its work. Signals that report a fault of the thread itself, and aborts, stay as they are.
pub fn start_blocked<R>(start: impl FnOnce() -> R) -> R {
    struct Restore(libc::sigset_t);
    impl Drop for Restore {
        fn drop(&mut self) {
            // SAFETY: the thread's own set of before.
            unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
        }
    }
    // SAFETY: an all-zero set is a value of this plain type; the functions below fill both.
    let (mut all, mut before) = unsafe { (std::mem::zeroed::<libc::sigset_t>(), std::mem::zeroed::<libc::sigset_t>()) };
    // SAFETY: sets of this function's, and signals that exist. A new thread inherits the mask of the one that starts it.
    unsafe {
        libc::sigfillset(&raw mut all);
        for fault in
            [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS, libc::SIGABRT]
        {
            libc::sigdelset(&raw mut all, fault);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
    }
    let _restore = Restore(before);
    start()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_blocked(signal: i32) -> bool {
        // SAFETY: reads this thread's mask into a local.
        unsafe {
            let mut mask = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut mask);
            libc::sigismember(&raw const mask, signal) == 1
        }
    }

    #[test]
    fn a_thread_starts_with_signals_blocked_and_its_starter_keeps_its_own() {
        let blocked = || [libc::SIGINT, libc::SIGTERM, libc::SIGALRM, libc::SIGUSR1, libc::SIGSEGV].map(is_blocked);
        let before = blocked();
        let thread = start_blocked(|| std::thread::spawn(blocked));
        assert_eq!(thread.join().unwrap(), [true, true, true, true, before[4]]);
        assert_eq!(blocked(), before);
    }
}
