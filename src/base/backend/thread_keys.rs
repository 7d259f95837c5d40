//! Keys of `pthread_key_create`. A process has 1024.

use std::sync::atomic::{AtomicBool, Ordering};

/// The library's own key (see the module `thread_ends`), one of Rust's standard library, and one that the latter may create
/// and delete.
const NEEDED: usize = 3;

/// Creates the key of Rust's standard library, once a process. Without a key that library would end the process. `false` if
/// there are too few keys.
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
    // The standard library creates its key when the handle of a thread is first used.
    drop(std::thread::current());
    IS_MADE.store(true, Ordering::Release);
    true
}
