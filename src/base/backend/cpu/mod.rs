//! The CPU backend: a thread pool of the context's own and the widest vector unit the machine has.

pub mod flags;
mod isa;
pub mod parallel;
mod pool;
pub mod simd;
pub mod small;
mod workspace;

pub use isa::Isa;
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
