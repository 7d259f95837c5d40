//! GPUs of this machine, as the driver numbers them.

use std::ffi::c_char;

use super::options::{self, fill_text, versioned};
use super::{guard, purlin_status};
use crate::backend::gpu::Gpu;
use crate::error::Error;

/// Properties of a GPU, as the driver reports them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_device_info {
    /// Size of the caller's struct; set by purlin_device_info_init.
    pub struct_size: usize,
    /// Ordinal of the device, as the driver counts.
    pub ordinal: i32,
    /// Major part of the compute capability.
    pub compute_capability_major: i32,
    /// Minor part of the compute capability.
    pub compute_capability_minor: i32,
    /// Version of the driver's CUDA interface, 13000 for 13.0.
    pub driver_version: i32,
    /// Multiprocessors; each runs several blocks of threads at a time.
    pub multiprocessors: i64,
    /// Bytes of device memory, free or not.
    pub memory_total: i64,
    /// Bytes of device memory that are free now.
    pub memory_free: i64,
    /// Bytes of the L2 cache.
    pub l2_bytes: i64,
    /// Most bytes of shared memory that a block can have.
    pub shared_memory_per_block: i64,
    /// Peak clock of the multiprocessors in kHz.
    pub clock_khz: i64,
    /// The driver's name of the device, terminated.
    pub name: [c_char; 128],
}

versioned!(purlin_device_info, first = size_of::<Self>());

/// Number of GPUs. Without a driver the answer is 0 and the call succeeds.
///
/// @param[out] count  number of GPUs.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer), `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `count` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_device_count(count: *mut i32) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or a valid pointer.
        let count = unsafe { super::pointer::output("count", count) }?;
        *count = Gpu::device_count()?;
        Ok(())
    })
}

/// Sets `struct_size` and zeroes the rest.
///
/// @param[out] info  the struct.
/// @param      size  `sizeof *info`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `info` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_device_info_init(info: *mut purlin_device_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// Properties of a GPU.
///
/// @param      ordinal  0 to the number of GPUs less 1.
/// @param[out] info     filled in; initialize it with purlin_device_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size),
/// `PURLIN_ERROR_NO_DEVICE` (no driver, no such GPU), `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_device_properties(ordinal: i32, info: *mut purlin_device_info) -> purlin_status {
    guard::run(|| {
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises a true `struct_size`.
        unsafe { options::check("info", info) }?;
        let d = Gpu::device_info(ordinal)?;
        let bytes = |b: u64| i64::try_from(b).unwrap_or(i64::MAX);
        let value = purlin_device_info {
            struct_size: 0,
            ordinal: d.ordinal,
            compute_capability_major: d.compute_capability.0,
            compute_capability_minor: d.compute_capability.1,
            driver_version: d.driver_version,
            multiprocessors: i64::from(d.multiprocessors),
            memory_total: bytes(d.memory_total),
            memory_free: bytes(d.memory_free),
            l2_bytes: bytes(d.l2_bytes),
            shared_memory_per_block: bytes(d.shared_memory_per_block),
            clock_khz: i64::from(d.clock_khz),
            name: fill_text(&d.name),
        };
        // SAFETY: as above, and the struct is writable.
        unsafe { options::write("info", info, value) }
    })
}
