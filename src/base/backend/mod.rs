//! The backends: [`cpu`], threads and vector units, or [`gpu`], an NVIDIA device.
//!
//! Both run the same algorithms. A family writes its method once for a small trait of its own, and implements that trait for
//! each backend. It chooses by one `match` on [`Backend`] at its entry.

pub mod budget;
pub mod cancellation;
pub mod cpu;
pub(crate) mod foreign;
pub mod fork;
pub mod free;
pub mod gpu;
mod kind;
pub mod memory;
pub mod reserve;
pub mod signals;
#[cfg(any(
    test,
    all(
        feature = "reserve",
        not(feature = "fault-injection"),
        target_os = "linux",
        target_env = "gnu",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )
))]
mod thread_ends;
pub mod thread_keys;

pub use kind::{Backend, BackendChoice, DeviceName};
