//! Cancellation of the calling thread during a call.
//!
//! `pthread_cancel` unwinds the thread from the next function that waits, reads or writes. Rust code does not support this
//! unwinding: the process would abort. A call therefore delays it until the host's own next cancellation point.

use std::ffi::c_int;

#[cfg(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")))]
mod system {
    use super::c_int;

    pub(super) const DISABLE: c_int = 1;

    // The crate libc has no declaration of it for Linux.
    unsafe extern "C" {
        fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
    }

    pub(super) fn exchange(state: c_int) -> c_int {
        let mut before = state;
        // SAFETY: a constant of the C library or a value that it gave; it writes to a local.
        unsafe { pthread_setcancelstate(state, &raw mut before) };
        before
    }
}

#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
mod system {
    use super::c_int;

    pub(super) const DISABLE: c_int = 1;

    pub(super) fn exchange(_: c_int) -> c_int {
        DISABLE
    }
}

/// Delays the cancellation of this thread, as long as this value lives.
pub struct Blocked {
    before: c_int,
}

impl Blocked {
    /// Delays it until the value is dropped. Values may be nested.
    pub fn enter() -> Self {
        Self { before: system::exchange(system::DISABLE) }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if self.before != system::DISABLE {
            system::exchange(self.before);
        }
    }
}
