//! NVIDIA's numerical libraries, which are optional: found when a family needs one, named when it is missing.

use std::ffi::{CStr, CString};

use crate::error::{Error, Result};

/// A library of the CUDA toolkit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// Dense linear algebra.
    Cublas,
    /// Dense factorisations.
    Cusolver,
    /// Sparse linear algebra.
    Cusparse,
    /// Fourier transforms.
    Cufft,
}

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
    /// [`Error::NoDevice`] naming the library, with the loader's words, if it is not to be had.
    pub fn find(self) -> Result<String> {
        let (base, versions) = self.names();
        let mut problem = String::new();
        for version in versions {
            let name = format!("{base}.{version}");
            match open(&name) {
                Ok(()) => return Ok(name),
                // The newest one's message is the one to show.
                Err(text) if problem.is_empty() => problem = text,
                Err(_) => {}
            }
        }
        let newest = versions.first().copied().unwrap_or_default();
        Err(Error::NoDevice(format!("{base}.{newest} of the CUDA toolkit is not to be had: {problem}")))
    }
}

/// Loads a library, which then stays loaded: unloading CUDA libraries at run time is not safe.
fn open(name: &str) -> std::result::Result<(), String> {
    let name = CString::new(name).map_err(|e| e.to_string())?;
    // SAFETY: a text that ends with a zero; the library's initialisers are NVIDIA's.
    if !unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) }.is_null() {
        return Ok(());
    }
    // SAFETY: null or text that is valid until this thread's next call of the loader.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return Err("the loader gives no reason".into());
    }
    // SAFETY: not null.
    Err(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
