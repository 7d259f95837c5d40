//! Sizes and cores of trains as C gives them.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::pointer::list;
use crate::alloc;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};
use crate::tensor::train::Shape;

/// Largest number of sizes or addresses that can be an array.
const MOST: i64 = i64::MAX / 64;

/// A caller's number of cores.
fn length_of(length: i64) -> Result<usize> {
    let found = usize::try_from(length).ok().filter(|_| (1..=MOST).contains(&length));
    found.ok_or_else(|| Error::invalid("length", format!("is {length}, outside 1 to {MOST}")))
}

/// `length + more` sizes of a caller's array.
///
/// # Safety
/// `values` is NULL or valid for so many elements.
pub(super) unsafe fn read_sizes(argument: &str, length: i64, more: usize, values: *const i64) -> Result<Vec<usize>> {
    let count = length_of(length)? + more;
    // SAFETY: as promised by the caller.
    let given = unsafe { list(argument, count, values) }?;
    let mut sizes = alloc::with_capacity("sizes of a tensor train", count)?;
    for (k, &n) in given.iter().enumerate() {
        let size = usize::try_from(n).ok().filter(|n| *n > 0);
        sizes.push(size.ok_or_else(|| Error::invalid(argument, format!("number {k} is {n}, less than 1")))?);
    }
    Ok(sizes)
}

/// Writes sizes into those of the caller's arrays that there are.
///
/// # Safety
/// Each array is NULL or valid for `capacity` elements, and for as many more as there are more sizes than cores.
pub(super) unsafe fn put_sizes(capacity: i64, length: usize, arrays: &[(*mut i64, &[usize])]) -> Result<()> {
    if usize::try_from(capacity).map_or(true, |c| c < length) {
        return Err(Error::invalid("capacity", format!("is {capacity}, less than the {length} cores")));
    }
    for (target, sizes) in arrays.iter().filter(|(target, _)| !target.is_null()) {
        for (k, &n) in sizes.iter().enumerate() {
            // SAFETY: not null; the caller promises memory for all sizes of `capacity` cores.
            unsafe { target.add(k).write_unaligned(to_i64(n)) };
        }
    }
    Ok(())
}

fn aligned(k: usize, address: u64, dtype: DType) -> Result<()> {
    if address == 0 {
        return Err(Error::invalid("cores", format!("core {k} is NULL")));
    }
    if address.is_multiple_of(to_u64(dtype.align())) {
        return Ok(());
    }
    let (a, name) = (dtype.align(), dtype.name());
    Err(Error::invalid("cores", format!("core {k} is not aligned to {a} bytes, as {name} needs")))
}

/// The caller's cores on the host.
///
/// # Safety
/// `cores` is NULL or has an address for each core, valid for its elements while the result lives.
pub(super) unsafe fn host_cores(shape: &Shape, dtype: DType, cores: *const *mut c_void) -> Result<Vec<Memory>> {
    // SAFETY: as promised by the caller.
    let cores = unsafe { list("cores", shape.len(), cores) }?;
    let mut memory = alloc::with_capacity("cores of a tensor train", cores.len())?;
    for (k, &core) in cores.iter().enumerate() {
        aligned(k, core.addr() as u64, dtype)?;
        let start = NonNull::new(core.cast::<u8>()).ok_or_else(|| Error::Internal("a core went away".into()))?;
        // SAFETY: as promised by the caller; the shape keeps every core under 2^63 bytes.
        memory.push(Memory::Host(unsafe { HostMemory::borrow(start, shape.core_len(k) * dtype.size()) }));
    }
    Ok(memory)
}

/// The caller's cores on the device.
///
/// # Safety
/// `cores` is NULL or has an address for each core.
pub(super) unsafe fn device_cores(
    context: &Context,
    shape: &Shape,
    dtype: DType,
    cores: *const u64,
) -> Result<Vec<Memory>> {
    let gpu = context.gpu("cores")?;
    // SAFETY: as promised by the caller.
    let cores = unsafe { list("cores", shape.len(), cores) }?;
    let mut memory = alloc::with_capacity("cores of a tensor train", cores.len())?;
    for (k, &core) in cores.iter().enumerate() {
        aligned(k, core, dtype)?;
        memory.push(Memory::Device(gpu.borrow("cores", core, shape.core_len(k) * dtype.size(), None)?));
    }
    Ok(memory)
}
