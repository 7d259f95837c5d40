//! Signals of the host program.

/// Starts a thread that blocks the host's signals. Otherwise a handler of the host could run on a thread that the host
/// does not know, and interrupt its work. Signals for faults of the thread itself and for aborts are not blocked.
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

/// Writes to a file or sets its size, without SIGXFSZ. Beyond the process' limit on file sizes (`ulimit -f`) the system
/// sends this signal, which ends a process without a handler for it. It is discarded, because the operation also
/// returns an error.
pub fn without_size_signal<R>(write: impl FnOnce() -> R) -> R {
    // SAFETY: all-zero sets are values of this plain type; the functions below fill both.
    let (mut size, mut before) =
        unsafe { (std::mem::zeroed::<libc::sigset_t>(), std::mem::zeroed::<libc::sigset_t>()) };
    // SAFETY: sets of this function's, and a signal that exists.
    let is_blocked = unsafe {
        libc::sigemptyset(&raw mut size);
        libc::sigaddset(&raw mut size, libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const size, &raw mut before);
        libc::sigismember(&raw const before, libc::SIGXFSZ) == 1
    };
    let outcome = write();
    // If the host has blocked the signal, it stays pending, as after a write by the host itself.
    if !is_blocked {
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: sets and a time of this function's; the second call restores the thread's own set.
        unsafe {
            while libc::sigtimedwait(&raw const size, std::ptr::null_mut(), &raw const now) == libc::SIGXFSZ {}
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        }
    }
    outcome
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

    #[test]
    fn a_write_beyond_the_limit_of_file_sizes_leaves_no_signal() {
        let raise = || {
            // SAFETY: sends this thread a signal; it is blocked meanwhile.
            assert_eq!(unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGXFSZ) }, 0);
            7
        };
        assert_eq!(without_size_signal(raise), 7, "the process goes on");
        assert!(!is_blocked(libc::SIGXFSZ));
        // A thread that blocks it finds it pending.
        let pending = || {
            // SAFETY: fills a local set and reads it.
            unsafe {
                let mut set = std::mem::zeroed();
                libc::sigpending(&raw mut set);
                libc::sigismember(&raw const set, libc::SIGXFSZ) == 1
            }
        };
        let thread = start_blocked(|| std::thread::spawn(move || (without_size_signal(raise), pending())));
        assert_eq!(thread.join().unwrap(), (7, true));
    }
}
