//! The CPU backend: a thread pool of the context's own and the widest vector unit the machine has.

pub mod flags;
pub mod parallel;
mod pool;
pub mod simd;
pub mod small;
mod workspace;

pub use pool::Pool;

use crate::backend::fork;
use crate::error::Result;

/// Initialises the state that all contexts of the process share. A fork in another thread waits until it is complete.
///
/// # Errors
/// As [`Pool::new`].
pub fn prepare_process() -> Result<()> {
    fork::undisturbed(|| {
        // Each is behind a `Once`. If a fork interrupted it, the child would wait for it for ever.
        let _ = prefers_loads();
        simd::detect();
        crossbeam_epoch::default_collector();
        workspace::measure()
    })
}

/// Whether single loads are faster than gathers, and data that are read once need explicit prefetches. True for AMD
/// processors, which split a gather into single loads.
pub fn prefers_loads() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        static ANSWER: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        *ANSWER.get_or_init(|| {
            let vendor = std::arch::x86_64::__cpuid(0);
            // "AuthenticAMD", and "HygonGenuine" of the same make.
            let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat();
            name == b"AuthenticAMD" || name == b"HygonGenuine"
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Vector instruction set. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum Isa {
    /// No instructions beyond the compilation target's.
    Portable = 1,
    /// AVX2 with FMA.
    Avx2 = 2,
    /// AVX-512 F, DQ, VL and BW, with FMA.
    Avx512 = 3,
}

impl Isa {
    /// The best instruction set of this machine.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
            if avx2
                && std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512bw")
            {
                return Self::Avx512;
            }
            if avx2 {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// The set whose number is `code`; `None` for 0 or a number that is none.
    pub fn from_code(code: i32) -> Option<Self> {
        [Self::Portable, Self::Avx2, Self::Avx512].into_iter().find(|i| *i as i32 == code)
    }
}
