//! NVIDIA's numerical libraries, which are optional. A library is loaded when a family first needs it. The error for a
//! missing library names it.

use std::sync::Once;

use super::dynamic::{Loaded, expect_memory};
use super::{driver, exit};
use crate::backend::signals::start_blocked;
use crate::error::{Error, Result};

/// A library of the CUDA toolkit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// cuBLAS: dense linear algebra.
    Cublas,
    /// cuSOLVER: dense factorizations.
    Cusolver,
    /// cuSPARSE: sparse linear algebra.
    Cusparse,
    /// cuFFT: Fourier transforms.
    Cufft,
}

/// For each library the handler of the process's end behind its own.
static EXITS: [Once; 4] = [const { Once::new() }; 4];

impl Library {
    /// Base name, and the versions of its binary interface that purlin can use, newest first, each with the first major
    /// version of CUDA that has it.
    const fn names(self) -> (&'static str, &'static [(&'static str, i32)]) {
        match self {
            Self::Cublas => ("libcublas.so", &[("13", 13), ("12", 12), ("11", 11)]),
            Self::Cusolver => ("libcusolver.so", &[("12", 13), ("11", 11)]),
            Self::Cusparse => ("libcusparse.so", &[("12", 12), ("11", 11)]),
            Self::Cufft => ("libcufft.so", &[("12", 13), ("11", 12), ("10", 11)]),
        }
    }

    /// The file names to try, newest first. A library of a newer CUDA than the driver's loads, and its first call fails:
    /// it is left out. `driver` is the version of CUDA that the driver is for, as it states it: 1000 times the major
    /// version plus 10 times the minor one; `None` if there is no driver.
    pub(super) fn candidates(self, driver: Option<i32>) -> impl Iterator<Item = String> {
        let (base, versions) = self.names();
        let major = driver.map_or(i32::MAX, |version| version / 1000);
        versions.iter().filter(move |(_, first)| *first <= major).map(move |(version, _)| format!("{base}.{version}"))
    }

    /// The name under which the system's loader finds the library.
    ///
    /// # Errors
    /// [`Error::NoDevice`] naming the library, with the loader's message, if it cannot be loaded.
    pub fn find(self) -> Result<String> {
        self.load().map(|found| found.name().into())
    }

    /// The library, loaded.
    ///
    /// # Errors
    /// As for [`Library::find`].
    pub(super) fn load(self) -> Result<Loaded> {
        expect_memory()?;
        let _inside = exit::Inside::new()?;
        let driver = driver::cuda_version();
        // The newest one's message is the one to show.
        let mut problem = None;
        for name in self.candidates(driver) {
            match start_blocked(|| Loaded::of(&name)) {
                Ok(found) => {
                    exit::watch(&EXITS[self as usize]);
                    return Ok(found);
                }
                Err(text) => problem = problem.or(Some((name, text))),
            }
        }
        let fitting = driver.map_or_else(String::new, |v| format!(", for the driver's CUDA {},", driver::dotted(v)));
        Err(Error::NoDevice(match problem {
            Some((name, text)) => format!("{name} of the CUDA toolkit{fitting} is not to be had: {text}"),
            None => format!("{} of the CUDA toolkit{fitting} is not to be had: the driver is too old", self.names().0),
        }))
    }
}

/// Declares a table of functions of an optional library, which return plain numbers. With a Rust enum, an unknown
/// number of a newer library would be undefined behaviour.
macro_rules! functions {
    ($table:ident of $library:expr; $($name:ident($($argument:ty),* $(,)?);)*) => {
        #[allow(non_snake_case, reason = "the library's own names")]
        pub(super) struct $table {
            $(pub(super) $name: unsafe extern "C-unwind" fn($($argument),*) -> i32,)*
        }

        impl $table {
            /// The library's functions, looked up on first use.
            pub(super) fn get() -> $crate::error::Result<&'static Self> {
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
