//! NVIDIA's numerical libraries, which are optional. A library is loaded when a family first needs it. The error for a
//! missing library names it.

use std::ffi::{CStr, CString, c_void};
use std::sync::Once;

use super::exit;
use crate::alloc;
use crate::backend::signals::start_blocked;
use crate::error::{Error, Result};

/// A library of the CUDA toolkit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// cuBLAS: dense linear algebra.
    Cublas,
    /// cuSOLVER: dense factorisations.
    Cusolver,
    /// cuSPARSE: sparse linear algebra.
    Cusparse,
    /// cuFFT: Fourier transforms.
    Cufft,
}

/// For each library the handler of the process's end behind its own.
static EXITS: [Once; 4] = [const { Once::new() }; 4];

impl Library {
    /// Base name and the versions of its binary interface that purlin can use, newest first.
    const fn names(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Cublas => ("libcublas.so", &["13", "12", "11"]),
            Self::Cusolver => ("libcusolver.so", &["12", "11"]),
            Self::Cusparse => ("libcusparse.so", &["12", "11"]),
            Self::Cufft => ("libcufft.so", &["12", "11", "10"]),
        }
    }

    /// The name under which the system's loader finds the library.
    ///
    /// # Errors
    /// [`Error::NoDevice`] naming the library, with the loader's message, if it cannot be loaded.
    pub fn find(self) -> Result<String> {
        self.load().map(|found| found.name)
    }

    /// The library, loaded.
    ///
    /// # Errors
    /// As for [`Library::find`].
    pub(super) fn load(self) -> Result<Loaded> {
        let (base, versions) = self.names();
        expect_memory()?;
        let _inside = exit::Inside::new()?;
        let mut problem = String::new();
        for version in versions {
            let name = format!("{base}.{version}");
            match start_blocked(|| open(&name)) {
                Ok(handle) => {
                    exit::watch(&EXITS[self as usize]);
                    return Ok(Loaded { name, handle });
                }
                // The newest one's message is the one to show.
                Err(text) if problem.is_empty() => problem = text,
                Err(_) => {}
            }
        }
        let newest = versions.first().copied().unwrap_or_default();
        Err(Error::NoDevice(format!("{base}.{newest} of the CUDA toolkit is not to be had: {problem}")))
    }
}

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
/// memory that it was refused, and cuBLAS throws from initialisers that the loader runs: both end the process. A
/// request that is refused here instead is an error.
pub(super) fn expect_memory() -> Result<()> {
    const PROBE: usize = 8 << 20;
    let probe = alloc::with_capacity::<u8>("memory of the CUDA libraries", PROBE)?;
    // A request whose memory is not used may be left out.
    std::hint::black_box(probe.as_ptr());
    Ok(())
}

/// Declares a table of functions of an optional library, which return plain numbers. With a Rust enum, an unknown
/// number of a newer library would be undefined behaviour.
macro_rules! functions {
    ($table:ident of $library:expr; $($name:ident($($argument:ty),* $(,)?);)*) => {
        #[allow(non_snake_case, reason = "the library's own names")]
        struct $table {
            $($name: unsafe extern "C-unwind" fn($($argument),*) -> i32,)*
        }

        impl $table {
            /// The library's functions, looked up on first use.
            fn get() -> $crate::error::Result<&'static Self> {
                static TABLE: std::sync::OnceLock<$table> = std::sync::OnceLock::new();
                if let Some(table) = TABLE.get() {
                    return Ok(table);
                }
                let library = $library.load()?;
                let table = Self {
                    $($name: {
                        let found = library.symbol(stringify!($name))?;
                        // SAFETY: not null, and the type is that of the library's header for this name.
                        unsafe {
                            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C-unwind" fn($($argument),*) -> i32>(
                                found,
                            )
                        }
                    },)*
                };
                Ok(TABLE.get_or_init(|| table))
            }
        }
    };
}
pub(super) use functions;

/// Loads the library of this file name by `dlopen`, its symbols local; the error is the loader's text.
fn open(name: &str) -> std::result::Result<*mut c_void, String> {
    let name = CString::new(name).map_err(|e| e.to_string())?;
    // SAFETY: a text that ends with a zero; the library's initialisers are NVIDIA's.
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
