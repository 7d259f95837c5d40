//! Sizes of chunks, and the layout of their scratch memory.

use super::batch::Plan;
use crate::backend::gpu::Region;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Number of streams for a batch in host memory: one copies in, one computes, one copies out.
pub(super) const LANES: usize = 3;

/// Largest number of items of a chunk of a batch in host memory: enough to fill a large device a few times.
pub(super) const MOST_ITEMS: usize = 65_536;

/// Smallest number of items of a chunk that is cut only for overlap. In smaller chunks launches would dominate.
pub(super) const FEW_ITEMS: usize = 4096;

/// Bytes of `count` items of each of `sizes`, each part aligned.
pub(super) fn slab_bytes(count: usize, sizes: &[usize]) -> usize {
    sizes.iter().map(|s| aligned(s * count)).sum()
}

/// The scratch regions of a slab, from `offset` on.
pub(super) fn scratch_regions<'a>(
    slab: &'a crate::backend::gpu::DeviceMemory,
    sizes: &[usize],
    capacity: usize,
    mut offset: usize,
) -> Result<Vec<Region<'a>>> {
    sizes
        .iter()
        .map(|s| {
            let region = slab.region(offset, s * capacity)?;
            offset += aligned(s * capacity);
            Ok(region)
        })
        .collect()
}

/// Alignment in bytes for the widest loads and for the allocator of the device.
const ALIGNMENT: usize = 256;

pub(super) fn aligned(bytes: usize) -> usize {
    bytes.next_multiple_of(ALIGNMENT)
}

/// Largest number of items of a chunk that fits into memory. `lanes` chunks are in memory at a time, and each item needs
/// `device` and `host` bytes.
pub(super) fn fitting(plan: &Plan<'_>, device: usize, host: usize, lanes: usize, wanted: usize) -> Result<usize> {
    let lanes_u = to_u64(lanes);
    // A tenth stays free for other programs, and for allocations of the kernels.
    let available = plan.gpu.memory_available()?;
    let available = available - available / 10;
    let parts = 32 * to_u64(ALIGNMENT);
    let items = |available: u64, each: usize| match each {
        0 => u64::MAX,
        each => (available / lanes_u).saturating_sub(parts) / to_u64(each),
    };
    let on_device = items(available, device);
    let on_host = items(plan.context.host_budget().available(), host);
    if on_device == 0 {
        let limit = plan.context.device_budget().limit();
        return Err(Error::OutOfDeviceMemory { what: "chunk of a batch", bytes: to_u64(device * lanes), limit });
    }
    if on_host == 0 {
        let limit = plan.context.host_budget().limit();
        return Err(Error::OutOfMemory { what: "chunk of a batch", bytes: to_u64(host * lanes), limit });
    }
    let most = usize::try_from(on_device.min(on_host)).unwrap_or(usize::MAX).min(wanted).max(1);
    // Chunks of equal size: a small last one would leave the device idle.
    Ok(plan.items.div_ceil(plan.items.div_ceil(most)))
}
