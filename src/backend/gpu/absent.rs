//! Shape of the GPU backend's face, without a device behind it.

use std::ptr::NonNull;
use std::sync::Arc;

use super::DeviceInfo;
use crate::backend::memory::{Budget, Release};
use crate::error::{Error, Result};

fn none<T>() -> Result<T> {
    Err(Error::NoDevice("this build has no GPU backend".into()))
}

/// One GPU, through its primary context. Cheap to clone.
#[derive(Clone)]
pub struct Gpu {
    never: Never,
}

#[derive(Clone, Copy)]
enum Never {}

impl Gpu {
    /// Number of GPUs; 0 without a driver.
    pub fn device_count() -> Result<i32> {
        Ok(0)
    }

    /// Properties of a GPU.
    pub fn device_info(_ordinal: i32) -> Result<DeviceInfo> {
        none()
    }

    /// Opens GPU `ordinal`; allocations are charged to `budget`.
    pub fn open(_ordinal: i32, _budget: &Arc<Budget>) -> Result<Self> {
        none()
    }

    /// The device's ordinal.
    pub fn ordinal(&self) -> i32 {
        match self.never {}
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        match self.never {}
    }

    /// Zeroed device memory.
    pub fn allocate(&self, _what: &'static str, _bytes: usize) -> Result<DeviceMemory> {
        match self.never {}
    }

    /// Page-locked host memory, zeroed.
    pub fn allocate_pinned(&self, _what: &'static str, _bytes: usize) -> Result<PinnedMemory> {
        match self.never {}
    }

    /// Caller's device memory: checked with the driver to be memory of this device.
    pub fn borrow(
        &self,
        _argument: &str,
        _address: u64,
        _bytes: usize,
        _release: Option<Release>,
    ) -> Result<DeviceMemory> {
        match self.never {}
    }

    /// A new stream.
    pub fn create_stream(&self) -> Result<GpuStream> {
        match self.never {}
    }

    /// A caller's `CUstream`, which stays the caller's.
    pub fn wrap_stream(&self, _raw: u64) -> Result<GpuStream> {
        match self.never {}
    }

    /// The context's own stream.
    pub fn default_stream(&self) -> &GpuStream {
        match self.never {}
    }

    /// Copies host to device in stream order; the host memory may be reused on return.
    pub fn upload(&self, _stream: &GpuStream, _source: &[u8], _destination: &mut DeviceMemory) -> Result<()> {
        match self.never {}
    }

    /// Copies device to host; complete on return.
    pub fn download(&self, _stream: &GpuStream, _source: &DeviceMemory, _destination: &mut [u8]) -> Result<()> {
        match self.never {}
    }

    /// Copies device to device in stream order.
    pub fn copy(&self, _stream: &GpuStream, _source: &DeviceMemory, _destination: &mut DeviceMemory) -> Result<()> {
        match self.never {}
    }
}

/// A queue of a GPU.
pub struct GpuStream {
    never: Never,
}

impl GpuStream {
    /// Waits until everything enqueued is done, and reports what failed.
    pub fn synchronize(&self) -> Result<()> {
        match self.never {}
    }
}

/// Memory of a GPU.
pub struct DeviceMemory {
    never: Never,
}

impl DeviceMemory {
    /// Address of the first byte.
    pub fn address(&self) -> u64 {
        match self.never {}
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        match self.never {}
    }

    /// Whether purlin allocated it.
    pub fn is_owned(&self) -> bool {
        match self.never {}
    }
}

/// Page-locked host memory.
pub struct PinnedMemory {
    never: Never,
}

impl PinnedMemory {
    /// First byte.
    pub fn start(&self) -> NonNull<u8> {
        match self.never {}
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        match self.never {}
    }
}
