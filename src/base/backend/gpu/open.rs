//! An open GPU, as the rest of the library uses it.

use std::sync::{Arc, Mutex, PoisonError};

use super::device::{self, Device, DeviceInfo};
use super::memory::{DeviceMemory, PinnedMemory, Region};
use super::module::{self, Kernel};
use super::slots::Slots;
use super::stream::GpuStream;
use crate::alloc;
use crate::backend::budget::{Budget, Release};
use crate::error::{Error, Result};

/// One GPU, through its primary context. Cheap to clone.
#[derive(Clone)]
pub struct Gpu {
    // Declared before the device, because a stream must be dropped while its device is open.
    default: Arc<GpuStream>,
    /// Streams of [`SideStream`] that no call uses.
    idle: Arc<Mutex<Vec<GpuStream>>>,
    pub(super) slots: Arc<Slots>,
    pub(super) device: Arc<Device>,
}

/// A stream that one call uses at a time. On drop it waits for its work, which may read the caller's memory, and returns
/// the stream to the idle list.
pub struct SideStream {
    gpu: Gpu,
    stream: GpuStream,
}

impl std::ops::Deref for SideStream {
    type Target = GpuStream;

    fn deref(&self) -> &GpuStream {
        &self.stream
    }
}

impl Drop for SideStream {
    fn drop(&mut self) {
        if self.gpu.beside_graphs(|| self.stream.synchronize()).is_ok() {
            let mut idle = self.gpu.idle.lock().unwrap_or_else(PoisonError::into_inner);
            // If the list cannot grow, the stream is destroyed.
            let _ = alloc::push("streams", &mut idle, self.stream.clone());
        }
    }
}

impl Gpu {
    /// Number of GPUs that this build can use: 0 without a driver or without kernels.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the driver has too little host memory; [`Error::Cuda`].
    pub fn device_count() -> Result<i32> {
        if cfg!(purlin_cuda) { device::count() } else { Ok(0) }
    }

    /// Properties of a GPU.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if there is no such GPU; the message names libcuda if that library is missing.
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
        let (default, slots) = (Arc::new(GpuStream::create(&device)?), Arc::new(Slots::new(&device)));
        Ok(Self { default, idle: Arc::default(), slots, device })
    }

    /// Properties of the device; `memory_free` is 0 here.
    pub fn info(&self) -> &DeviceInfo {
        &self.device.info
    }

    /// The device's ordinal, from 0, as the driver counts.
    pub fn ordinal(&self) -> i32 {
        self.device.info.ordinal
    }

    /// The driver's name of the device.
    pub fn name(&self) -> &str {
        &self.device.info.name
    }

    /// Bytes of device memory that are free now, for all processes.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn memory_free(&self) -> Result<u64> {
        self.device.memory_free()
    }

    /// Bytes of device memory that purlin may still allocate: the free memory, within the budget.
    ///
    /// # Errors
    /// As [`Gpu::memory_free`].
    pub fn memory_available(&self) -> Result<u64> {
        Ok(self.memory_free()?.min(self.device.budget.available()))
    }

    /// Checks that the device's context can be used.
    ///
    /// # Errors
    /// The error that killed the context; [`Error::Forked`] in the child of a `fork()`.
    pub fn check_alive(&self) -> Result<()> {
        self.device.check_alive()
    }

    /// Zeroed device memory for any stream. When the value is dropped, the memory is freed after the work that is enqueued on
    /// any stream by then.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], also beyond the budget; [`Error::Cuda`].
    pub fn allocate(&self, what: &'static str, bytes: usize) -> Result<DeviceMemory> {
        DeviceMemory::allocate(&self.device, None, what, bytes)
    }

    /// Zeroed device memory for work on `stream` alone. It is allocated and freed in the order of this stream, without waiting.
    ///
    /// # Errors
    /// As [`Gpu::allocate`].
    pub fn allocate_on(&self, stream: &GpuStream, what: &'static str, bytes: usize) -> Result<DeviceMemory> {
        DeviceMemory::allocate(&self.device, Some(Arc::clone(stream.queue())), what, bytes)
    }

    /// As [`Gpu::allocate`], with undefined contents, which must be written before they are read.
    ///
    /// # Errors
    /// As [`Gpu::allocate`].
    pub fn allocate_uninitialized(&self, what: &'static str, bytes: usize) -> Result<DeviceMemory> {
        DeviceMemory::allocate_uninitialized(&self.device, None, what, bytes)
    }

    /// As [`Gpu::allocate_on`], with undefined contents, which must be written before they are read.
    ///
    /// # Errors
    /// As [`Gpu::allocate`].
    pub fn allocate_uninitialized_on(
        &self,
        stream: &GpuStream,
        what: &'static str,
        bytes: usize,
    ) -> Result<DeviceMemory> {
        DeviceMemory::allocate_uninitialized(&self.device, Some(Arc::clone(stream.queue())), what, bytes)
    }

    /// Page-locked host memory of `bytes` bytes, zeroed and usable with every device.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Cuda`].
    pub fn allocate_pinned(&self, what: &'static str, bytes: usize) -> Result<PinnedMemory> {
        PinnedMemory::allocate(&self.device, what, bytes)
    }

    /// The caller's device memory. The driver confirms that it is memory of this device and, if it knows the size, that it has
    /// `bytes` bytes. `release` is called exactly once: when the value is dropped, or now if the memory is refused.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument` for memory that is not this device's, is managed, or is shorter;
    /// [`Error::Cuda`].
    pub fn borrow(&self, argument: &str, address: u64, bytes: usize, release: Option<Release>) -> Result<DeviceMemory> {
        DeviceMemory::borrow(&self.device, argument, address, bytes, release)
    }

    /// A new stream, destroyed with its last clone.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn create_stream(&self) -> Result<GpuStream> {
        GpuStream::create(&self.device)
    }

    /// A new stream that waits for no other, not even for the legacy default stream. For work within one call.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn create_independent_stream(&self) -> Result<GpuStream> {
        GpuStream::create_independent(&self.device)
    }

    /// A stream for work that runs after the work that is enqueued on `stream` now, and beside its later work.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn side_of(&self, stream: &GpuStream) -> Result<SideStream> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let made = idle.map_or_else(|| self.create_independent_stream(), Ok)?;
        made.wait_for(stream)?;
        Ok(SideStream { gpu: self.clone(), stream: made })
    }

    /// A caller's `CUstream`, which stays the caller's.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for the per-thread default stream, for a number that is not a stream, and for a
    /// stream of another context; [`Error::Cuda`].
    pub fn wrap_stream(&self, raw: u64) -> Result<GpuStream> {
        GpuStream::wrap(&self.device, raw)
    }

    /// The context's own stream, which calls without a stream use.
    pub fn default_stream(&self) -> &GpuStream {
        &self.default
    }

    /// Calls `work` with the addresses of `bytes[0]` bytes of `x` and `bytes[1]` of `y`, and with the driver's handle of
    /// `stream`. The device's context is current. For code outside of purlin that enqueues work on that stream.
    ///
    /// # Errors
    /// Errors of `work`; [`Error::Cuda`]; [`Error::Internal`] for regions that are too short.
    pub fn with_addresses<R>(
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
        module::kernel(&self.device, family, name)
    }
}
