//! Libraries of NVIDIA that are loaded at run time: the driver, and those of the CUDA toolkit.

use std::ffi::{CStr, CString, c_void};

use crate::alloc;
use crate::error::{Error, Result};

/// A library that was found. It stays loaded: unloading CUDA libraries at run time is not safe.
pub(super) struct Loaded {
    name: String,
    handle: *mut c_void,
}

// SAFETY: the loader's handle may be used from any thread, and the library stays loaded.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// The library that the system's loader finds under this name; else the loader's message.
    pub(super) fn of(name: &str) -> std::result::Result<Self, String> {
        open(name).map(|handle| Self { name: name.into(), handle })
    }

    /// The name under which the loader found it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The address of the function `name`.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if the library has no such function.
    pub(super) fn symbol(&self, name: &str) -> Result<*mut c_void> {
        let text = CString::new(name).map_err(|_| Error::Internal(format!("function name {name:?}")))?;
        // SAFETY: a handle of the loader that is never closed, and a text that ends with a zero.
        let found = unsafe { libc::dlsym(self.handle, text.as_ptr()) };
        if found.is_null() {
            return Err(Error::NoDevice(format!("{} has no {name}: it is too old", self.name)));
        }
        Ok(found)
    }
}

/// Refuses a call of NVIDIA's libraries where there is no host memory for their own allocations. The driver writes to
/// memory that it was refused, and cuBLAS throws from initializers that the loader runs: both end the process. A
/// request that is refused here instead is an error.
pub(super) fn expect_memory() -> Result<()> {
    const PROBE: usize = 8 << 20;
    let probe = alloc::with_capacity::<u8>("memory of the CUDA libraries", PROBE)?;
    // A request whose memory is not used may be left out.
    std::hint::black_box(probe.as_ptr());
    Ok(())
}

/// Loads the library of this file name by `dlopen`, its symbols local; the error is the loader's text.
fn open(name: &str) -> std::result::Result<*mut c_void, String> {
    let name = CString::new(name).map_err(|e| e.to_string())?;
    // SAFETY: a text that ends with a zero; the library's initializers are NVIDIA's.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: null or text that is valid until this thread's next call of the loader.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return Err("the loader gives no reason".into());
    }
    // SAFETY: not null.
    Err(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
