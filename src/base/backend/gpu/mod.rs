//! The GPU backend: the only user of the CUDA driver.
//!
//! The driver library is loaded on first use, so purlin runs on machines without one. A [`Gpu`] holds the device's
//! primary context. The CUDA runtime code of the host program shares this context, so purlin can use its pointers and
//! streams. Each call makes the context current, and restores the caller's context at its end.
//!
//! | file | subject |
//! |---|---|
//! | `driver` | the library, its functions, its errors |
//! | `device`, `open` | the list of devices; an open device and its operations |
//! | `memory`, `copy`, `staging`, `slots` | device and page-locked memory; copies between them |
//! | `stream`, `recording`, `graph` | queues and events; work that is recorded once and launched as a whole |
//! | `images` | compiled kernels as the build embeds them |
//! | `loaded`, `module`, `launch`, `kernels` | loaded kernels, launches, and a safe function for each kernel |
//! | `dynamic` | libraries that are loaded at run time |
//! | `library`, `handles` | optional libraries: the version that fits the driver, their functions; their idle handles |
//! | `cublas`, `cusolver` | products and factorizations of dense matrices |
//! | `view` | a matrix in device memory |
//! | `exit`, `faults` | the end of the process; failures that a test injects |
//!
//! # Errors
//! Every function that uses an open device also returns the error of [`Gpu::check_alive`], and
//! [`Error::NoDevice`](crate::error::Error::NoDevice) while another thread ends the process. The functions' own lists
//! do not repeat these.

mod copy;
mod cublas;
mod cusolver;
mod device;
mod driver;
mod dynamic;
mod exit;
mod faults;
mod graph;
mod handles;
mod images;
pub mod kernels;
mod launch;
mod library;
mod loaded;
mod memory;
mod module;
mod open;
mod recording;
mod slots;
mod staging;
mod stream;
mod view;

pub use copy::{Rows, ScopedTransfers, Transfers};
pub use cublas::{Blas, Precision, Scalars, Series};
pub use cusolver::{Solver, Work};
pub use device::DeviceInfo;
pub use graph::Graph;
pub use library::Library;
pub use memory::{DeviceMemory, PinnedMemory, Region};
pub use module::{Kernel, build_archs, build_cuda};
pub use open::{Gpu, SideStream};
pub use slots::PendingDownload;
pub use staging::{Staging, StagingRing};
pub use stream::{Event, GpuStream};
pub use view::{Transpose, View};

#[cfg(test)]
mod device_tests;
#[cfg(test)]
mod tests;
