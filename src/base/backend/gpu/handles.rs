//! Handles of cuBLAS and cuSOLVER on a device.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use super::exit;
use crate::backend::foreign::{self, Calls};
use crate::backend::signals::start_blocked;
use crate::error::Result;

/// A handle of a library, which serves one thread at a time.
pub(super) type Handle = *mut c_void;

/// Idle handles of one library on one device, cached because the creation of a handle takes longer than most calls.
#[derive(Default)]
pub(super) struct Handles {
    idle: Mutex<Vec<Handle>>,
}

impl Handles {
    /// An idle handle, or else a new one that `create` writes by the library's function `call`. The device's context must be
    /// current. The first new one registers the handler of the process's end behind the library's (`stage`).
    ///
    /// # Errors
    /// [`crate::error::Error::Cuda`] if the library makes no handle.
    pub(super) fn take_or_create(
        &self,
        calls: &Calls,
        call: &'static str,
        stage: exit::Stage,
        create: impl FnOnce(&mut Handle) -> i32,
    ) -> Result<Handle> {
        if let Some(handle) = self.take() {
            return Ok(handle);
        }
        let mut handle = std::ptr::null_mut();
        // Threads of the library block the host's signals.
        start_blocked(|| calls.run(call, || create(&mut handle)))?;
        exit::watch(stage);
        Ok(handle)
    }

    /// Caches a handle that refers to no stream and no workspace any more.
    pub(super) fn put(&self, handle: Handle) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    }

    /// Calls `destroy` for each idle handle. The device's context must be current.
    pub(super) fn destroy(&self, destroy: impl Fn(Handle) -> i32) {
        while let Some(handle) = self.take() {
            // The call may throw; the handle is gone in any case.
            let _ = foreign::call(|| destroy(handle));
        }
    }

    fn take(&self) -> Option<Handle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}
