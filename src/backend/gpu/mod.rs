//! The GPU backend: the only user of the CUDA driver.
//!
//! The driver library is loaded on first use, so purlin runs on machines without one. A [`Gpu`] holds the device's
//! primary context, which the CUDA runtime code of the program around shares: its pointers and streams can be lent to
//! purlin. Each call makes that context current for its own duration and restores the caller's.
//!
//! | file | subject |
//! |---|---|
//! | `driver` | the library, its functions, its errors |
//! | `device` | what devices there are; one of them opened |
//! | `memory`, `copy`, `staging` | device and page-locked memory; copies between them |
//! | `stream`, `graph` | queues and events; work that is recorded once and launched as a whole |
//! | `module`, `launch`, `kernels` | embedded kernels, launches, and a safe function for each kernel |
//! | `library` | optional libraries: found and their functions looked up |
//! | `cublas`, `cusolver` | products and factorisations of dense matrices |
//! | `view` | a matrix in device memory |

mod copy;
mod cublas;
mod cusolver;
mod device;
mod driver;
mod graph;
pub mod kernels;
mod launch;
mod library;
mod memory;
mod module;
mod staging;
mod stream;
mod view;

use std::sync::Arc;

use crate::backend::memory::{Budget, Release};
use crate::error::{Error, Result};
use device::Device;

pub use copy::{Lender, Rows, Transfers};
pub use cublas::{Blas, Precision, Scalars, Series};
pub use cusolver::{Solver, Work};
pub use device::DeviceInfo;
pub use graph::Graph;
pub use library::Library;
pub use memory::{DeviceMemory, PinnedMemory, Region};
pub use module::Kernel;
pub use staging::{Staging, StagingRing};
pub use stream::{Event, GpuStream};
pub use view::{Transpose, View};

/// Version of the nvcc that compiled the kernels of this build, `none` if there are none.
pub fn build_cuda() -> &'static str {
    env!("PURLIN_BUILD_CUDA")
}

/// Architectures for which this build has kernels, `none` if for none.
pub fn build_archs() -> &'static str {
    env!("PURLIN_BUILD_ARCHS")
}

/// One GPU, through its primary context. Cheap to clone.
#[derive(Clone)]
pub struct Gpu {
    // Before the device: a stream must go while its device is open.
    default: Arc<GpuStream>,
    device: Arc<Device>,
}

impl Gpu {
    /// Number of GPUs that this build can use: 0 without a driver or without kernels.
    pub fn device_count() -> Result<i32> {
        if cfg!(purlin_cuda) { device::count() } else { Ok(0) }
    }

    /// Properties of a GPU.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there is no such GPU, naming libcuda where that is what is missing.
    pub fn device_info(ordinal: i32) -> Result<DeviceInfo> {
        device::info(ordinal)
    }

    /// Opens GPU `ordinal`; device memory is charged to `budget`.
    ///
    /// # Errors
    /// [`Error::NoDevice`] as above, or if this build has no kernels.
    pub fn open(ordinal: i32, budget: &Arc<Budget>) -> Result<Self> {
        if !cfg!(purlin_cuda) {
            return Err(Error::NoDevice("this build of purlin has no GPU kernels".into()));
        }
        let device = Device::open(ordinal, budget)?;
        Ok(Self { default: Arc::new(GpuStream::create(&device)?), device })
    }

    /// What the device is; the free memory in it is 0.
    pub fn info(&self) -> &DeviceInfo {
        &self.device.info
    }

    /// The device's ordinal.
    pub fn ordinal(&self) -> i32 {
        self.device.info.ordinal
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.device.info.name
    }

    /// Bytes of device memory that are free now, whoever's they might be.
    pub fn memory_free(&self) -> Result<u64> {
        self.device.memory_free()
    }

    /// Bytes of device memory that purlin may still allocate: what is free, within the budget.
    pub fn memory_available(&self) -> Result<u64> {
        Ok(self.memory_free()?.min(self.device.budget.available()))
    }

    /// The error that killed the device's context, if there was one; [`Error::Forked`] in the child of a `fork()`.
    pub fn check_alive(&self) -> Result<()> {
        self.device.check_alive()
    }

    /// Zeroed device memory for any stream. It is given back when the value goes, after the work that is enqueued
    /// anywhere by then.
    pub fn allocate(&self, what: &'static str, bytes: usize) -> Result<DeviceMemory> {
        DeviceMemory::allocate(&self.device, None, what, bytes)
    }

    /// Zeroed device memory for work on `stream` alone, in whose order it comes and goes: nothing waits for it.
    pub fn allocate_on(&self, stream: &GpuStream, what: &'static str, bytes: usize) -> Result<DeviceMemory> {
        DeviceMemory::allocate(&self.device, Some(Arc::clone(stream.queue())), what, bytes)
    }

    /// As [`Gpu::allocate`], with whatever is in the memory: for what is written before it is read.
    pub fn allocate_uninitialised(&self, what: &'static str, bytes: usize) -> Result<DeviceMemory> {
        DeviceMemory::allocate_uninitialised(&self.device, None, what, bytes)
    }

    /// As [`Gpu::allocate_on`], with whatever is in the memory.
    pub fn allocate_uninitialised_on(
        &self,
        stream: &GpuStream,
        what: &'static str,
        bytes: usize,
    ) -> Result<DeviceMemory> {
        DeviceMemory::allocate_uninitialised(&self.device, Some(Arc::clone(stream.queue())), what, bytes)
    }

    /// Page-locked host memory, zeroed.
    pub fn allocate_pinned(&self, what: &'static str, bytes: usize) -> Result<PinnedMemory> {
        PinnedMemory::allocate(&self.device, what, bytes)
    }

    /// Caller's device memory: checked with the driver to be memory of this device, and `bytes` long where the driver
    /// can tell. `release` is called exactly once: when the memory goes, or now if it is refused.
    pub fn borrow(&self, argument: &str, address: u64, bytes: usize, release: Option<Release>) -> Result<DeviceMemory> {
        DeviceMemory::borrow(&self.device, argument, address, bytes, release)
    }

    /// A new stream.
    pub fn create_stream(&self) -> Result<GpuStream> {
        GpuStream::create(&self.device)
    }

    /// A new stream that waits for no other, not even for the legacy default one: for work inside one call.
    pub fn create_independent_stream(&self) -> Result<GpuStream> {
        GpuStream::create_independent(&self.device)
    }

    /// A caller's `CUstream`, which stays the caller's.
    pub fn wrap_stream(&self, raw: u64) -> Result<GpuStream> {
        GpuStream::wrap(&self.device, raw)
    }

    /// The context's own stream.
    pub fn default_stream(&self) -> &GpuStream {
        &self.default
    }

    /// Runs `work` with the addresses of `bytes[0]` bytes of `x` and `bytes[1]` of `y` and the driver's handle of `stream`, the
    /// device's context being the thread's: what is not purlin's enqueues on that stream.
    ///
    /// # Errors
    /// What `work` reports; [`Error::Cuda`]; [`Error::Internal`] for regions that are too short.
    pub fn lend<R>(
        &self,
        stream: &GpuStream,
        (x, y): (Region<'_>, Region<'_>),
        bytes: [usize; 2],
        work: impl FnOnce(u64, u64, u64) -> Result<R>,
    ) -> Result<R> {
        let (x, y) = (x.array("x", bytes[0], 1)?, y.array("y", bytes[1], 1)?);
        let _entered = self.device.enter()?;
        work(x, y, stream.raw())
    }

    /// The kernel `name` of `cuda/<family>.cu`, loaded on first use.
    pub(in crate::backend::gpu) fn kernel(&self, family: &'static str, name: &str) -> Result<Kernel> {
        module::Modules::kernel(&self.device, family, name)
    }
}

/// An error if the fault counter says that the operation at hand is to fail.
#[cfg(feature = "fault-injection")]
#[track_caller]
fn injected(kind: crate::fault::Kind, call: &'static str) -> Result<()> {
    if crate::fault::fails(kind, call) {
        Err(Error::Cuda { call, name: "an injected fault".into(), code: -1 })
    } else {
        Ok(())
    }
}

/// Where a call of a library can be made to fail by a test.
#[cfg(feature = "fault-injection")]
#[track_caller]
fn library_fault(call: &'static str) -> Result<()> {
    injected(crate::fault::Kind::Library, call)
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
fn library_fault(_: &'static str) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod device_tests;
#[cfg(test)]
mod tests;
