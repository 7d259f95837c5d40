//! The GPU backend: the only user of the CUDA driver.

mod absent;

pub use absent::{DeviceMemory, Gpu, GpuStream, PinnedMemory};

/// What a device is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Ordinal of the device, as the driver counts.
    pub ordinal: i32,
    /// The driver's name of it.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (i32, i32),
    /// Number of multiprocessors.
    pub multiprocessors: i32,
    /// Bytes of device memory.
    pub memory_total: u64,
    /// Bytes of device memory that are free now.
    pub memory_free: u64,
    /// Bytes of L2 cache.
    pub l2_bytes: u64,
    /// Most bytes of shared memory that a block can have.
    pub shared_memory_per_block: u64,
    /// Peak clock of the multiprocessors, kHz.
    pub clock_khz: i32,
    /// Version of the driver's CUDA interface, e.g. 13000.
    pub driver_version: i32,
}
