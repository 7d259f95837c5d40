//! The kernels that were loaded on a device. `module.rs` loads them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{CUfunction, CUmodule};

use super::driver::Api;

/// The modules and functions loaded so far.
#[derive(Default)]
pub(super) struct Modules {
    loaded: Mutex<Loaded>,
}

/// By the names of files in `cuda/` and of kernels.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) modules: HashMap<&'static str, CUmodule>,
    pub(super) functions: HashMap<(&'static str, String), Function>,
}

/// A kernel, and its limits.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) raw: CUfunction,
    pub(super) most_threads: u32,
    pub(super) most_shared: usize,
    pub(super) registers: i32,
    pub(super) local_bytes: i32,
}

impl Modules {
    /// Locks the lists. A panic of another thread that held the lock is ignored.
    pub(super) fn lock(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Unloads everything; the device's context is current and idle.
    pub(super) fn unload(&self, api: &Api) {
        let mut loaded = self.lock();
        loaded.functions.clear();
        for (_, module) in loaded.modules.drain() {
            // SAFETY: loaded in `load`; no kernel of it is left, since each holds the device.
            let _ = unsafe { (api.cuModuleUnload)(module) };
        }
    }
}
