//! Handles of cuBLAS and cuSOLVER on a device.

use std::ffi::c_void;
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use super::exit;
use crate::backend::foreign::{self, Calls};
use crate::backend::signals::start_blocked;
use crate::error::Result;

/// A handle of a library, which serves one thread at a time.
pub(super) type Handle = *mut c_void;

/// A library's function that destroys a handle, whose device's context must be current.
pub(super) type Destroy = unsafe extern "C-unwind" fn(Handle) -> i32;

/// Idle handles of one library on one device, cached because the creation of a handle takes longer than most calls.
#[derive(Default)]
pub(super) struct Handles {
    idle: Mutex<Vec<Handle>>,
    /// The library's function, from the first handle on. A device does not know which libraries its handles are of.
    destroy: OnceLock<Destroy>,
}

impl Handles {
    /// An idle handle, or else a new one that `create` writes by the library's function `call`. The device's context must be
    /// current. The first new one registers the handler of the process's end behind the library's (`exit`).
    ///
    /// # Errors
    /// [`crate::error::Error::Cuda`] if the library makes no handle.
    pub(super) fn take_or_create(
        &self,
        calls: &Calls,
        call: &'static str,
        exit: &'static Once,
        create: impl FnOnce(&mut Handle) -> i32,
        destroy: Destroy,
    ) -> Result<Handle> {
        if let Some(handle) = self.take() {
            return Ok(handle);
        }
        let mut handle = std::ptr::null_mut();
        // Threads of the library block the host's signals.
        start_blocked(|| calls.run(call, || create(&mut handle)))?;
        exit::watch(exit);
        let _ = self.destroy.set(destroy);
        Ok(handle)
    }

    /// Caches the handle of an owner that is dropped. First `detach`, the library's function `call`, makes the handle forget its
    /// stream, which may be destroyed, and its workspace, which is freed. The device's context must be current.
    ///
    /// A handle in an unknown state is never used again, not even to be destroyed.
    pub(super) fn give_back(&self, handle: Handle, calls: &Calls, call: &'static str, detach: impl FnOnce() -> i32) {
        let _ = calls.run(call, detach);
        if !calls.is_broken() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
        }
    }

    /// Destroys the idle handles. The device's context must be current.
    pub(super) fn destroy_idle(&self) {
        let Some(destroy) = self.destroy.get() else { return };
        while let Some(handle) = self.take() {
            // The call may throw; the handle is gone in any case.
            // SAFETY: the function of the library that made the handle, which nobody uses.
            let _ = foreign::call(|| unsafe { destroy(handle) });
        }
    }

    fn take(&self) -> Option<Handle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}
