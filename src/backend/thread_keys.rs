//! Keys of `pthread_key_create`, of which a process has 1024.

use std::sync::atomic::{AtomicBool, Ordering};

/// The library's own key (see the module `thread_ends`), one of Rust's standard library, and one that the latter may make and
/// delete.
const NEEDED: usize = 3;

/// Makes the key of Rust's standard library, which ends the process where it gets none, once a process. `false` if there are too
/// few keys.
pub fn has_keys() -> bool {
    static IS_MADE: AtomicBool = AtomicBool::new(false);
    if IS_MADE.load(Ordering::Acquire) {
        return true;
    }
    let mut probes = [None; NEEDED];
    for probe in &mut probes {
        let mut key = 0;
        // SAFETY: writes a key to a local.
        *probe = (unsafe { libc::pthread_key_create(&raw mut key, None) } == 0).then_some(key);
    }
    for key in probes.into_iter().flatten() {
        // SAFETY: a key of above, which nobody else knows.
        unsafe { libc::pthread_key_delete(key) };
    }
    if probes.contains(&None) {
        return false;
    }
    // The key is made when a thread is first named.
    drop(std::thread::current());
    IS_MADE.store(true, Ordering::Release);
    true
}
