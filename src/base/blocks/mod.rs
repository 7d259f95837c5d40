//! Batches that need not fit the device. They are cut into chunks within the memory limits. Chunks are copied in, processed
//! and copied out on several streams, so that both directions of the link and the arithmetic run at the same time.
//!
//! Every array has its items along the last axis. An array on the device is used in place. An array in page-locked, packed
//! host memory is copied directly. Any other host array goes through page-locked buffers: the context's threads pack and
//! unpack them while the device works on other chunks.
//!
//! `mod.rs`, `field.rs` and `stream.rs` import each other: a plan has the fields of its chunks, and its run by streams
//! is a method of it.

pub mod array;
#[cfg(test)]
mod device_tests;
mod failure;
mod field;
#[cfg(test)]
mod file_tests;
pub mod metaimage;
pub mod npy;
pub mod number;
pub mod pipeline;
pub mod provisional;
mod read_ahead;
pub mod regular;
pub mod sink;
pub mod source;
mod stream;
pub mod tensor;
#[cfg(test)]
mod tests;
pub mod tiff;

use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};
use crate::tensor::Tensor;
use field::{Slot, Transport};

/// Number of streams for a batch in host memory: one copies in, one computes, one copies out.
const LANES: usize = 3;

/// Largest number of items of a chunk of a batch in host memory: enough to fill a large device a few times.
const MOST_ITEMS: usize = 65_536;

/// Smallest number of items of a chunk that is cut only for overlap. In smaller chunks launches would dominate.
const FEW_ITEMS: usize = 4096;

/// The context, queue and memory of a batch.
pub struct Plan<'a> {
    /// The context, whose budgets bound the chunks.
    pub context: &'a Context,
    /// The GPU of `context`.
    pub gpu: &'a Gpu,
    /// The queue of the call.
    pub queue: &'a GpuStream,
    /// Progress and cancellation, checked between chunks.
    pub progress: &'a Progress<'a>,
    /// Number of items of the batch.
    pub items: usize,
    /// Bytes of scratch device memory for each item of a chunk, one number for each region.
    pub scratch: &'a [usize],
}

/// An array to read, with its items along the last axis.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    name: &'a str,
    tensor: &'a Tensor,
    packed: bool,
}

impl<'a> Input<'a> {
    /// An array that the work reads with any strides.
    pub fn any(name: &'a str, tensor: &'a Tensor) -> Self {
        Self { name, tensor, packed: false }
    }

    /// An array that the work reads packed, the items last.
    pub fn packed(name: &'a str, tensor: &'a Tensor) -> Self {
        Self { name, tensor, packed: true }
    }
}

/// Part of an array on the device.
pub struct Field<'a> {
    /// The elements, beginning with the chunk's first item.
    pub region: Region<'a>,
    /// Elements from one index to the next along each axis; the last is the stride of the items.
    pub strides: Vec<usize>,
}

/// Some items of a batch, on the device.
pub struct Chunk<'a> {
    /// The stream for the work on this chunk.
    pub stream: &'a GpuStream,
    /// Number of the first item in the batch.
    pub first: usize,
    /// Number of items, from `first` on.
    pub count: usize,
    /// The inputs in the order given.
    pub inputs: Vec<Field<'a>>,
    /// The outputs in the order given; packed, with the items last.
    pub outputs: Vec<Field<'a>>,
    /// A region for each size in [`Plan::scratch`], in that order.
    pub scratch: Vec<Region<'a>>,
}

/// Runs `work` on every chunk of a batch; returns the number of chunks.
///
/// Host outputs are complete on return, device outputs in the order of the plan's queue.
///
/// # Errors
/// [`Error::NotSupported`] for device arrays that have to be packed and are not; [`Error::OutOfDeviceMemory`] and
/// [`Error::OutOfMemory`] if even one item does not fit the limits; [`Error::Cancelled`]; errors of `work`.
pub fn for_chunks(
    plan: &Plan<'_>,
    inputs: &[Input<'_>],
    outputs: &mut [(&str, &mut Tensor)],
    mut work: impl FnMut(&Chunk<'_>) -> Result<()>,
) -> Result<i64> {
    let inputs_slots: Vec<Slot> = inputs.iter().map(|i| Slot::input(plan.gpu, i, plan.items)).collect::<Result<_>>()?;
    let outputs_slots: Vec<Slot> =
        outputs.iter().map(|(name, t)| Slot::output(plan.gpu, name, t, plan.items)).collect::<Result<_>>()?;
    if plan.items == 0 {
        plan.progress.report(0, 0, 0.0)?;
        return Ok(0);
    }
    if inputs_slots.iter().chain(&outputs_slots).all(|s| s.transport == Transport::Resident) {
        return resident(plan, inputs, &inputs_slots, outputs, &outputs_slots, &mut work);
    }
    stream::streamed(plan, inputs, inputs_slots, outputs, outputs_slots, &mut work)
}

/// Processes a batch on the device, on the plan's queue. It is only cut into chunks to bound the scratch memory.
fn resident(
    plan: &Plan<'_>,
    inputs: &[Input<'_>],
    input_slots: &[Slot],
    outputs: &[(&str, &mut Tensor)],
    output_slots: &[Slot],
    work: &mut impl FnMut(&Chunk<'_>) -> Result<()>,
) -> Result<i64> {
    let each: usize = plan.scratch.iter().sum();
    let capacity = if each == 0 { plan.items } else { fitting(plan, each, 0, 1, plan.items)? };
    let slab = plan.gpu.allocate_on(plan.queue, "scratch of a batch", slab_bytes(capacity, plan.scratch))?;
    let mut chunks = 0;
    for first in (0..plan.items).step_by(capacity) {
        plan.progress.check()?;
        let count = capacity.min(plan.items - first);
        let chunk = Chunk {
            stream: plan.queue,
            first,
            count,
            inputs: resident_fields(inputs.iter().map(|i| (i.name, i.tensor)), input_slots, first, count)?,
            outputs: resident_fields(outputs.iter().map(|(n, t)| (*n, &**t)), output_slots, first, count)?,
            scratch: scratch_regions(&slab, plan.scratch, capacity, 0)?,
        };
        work(&chunk)?;
        chunks += 1;
        plan.progress.report(to_i64(first + count), to_i64(plan.items), 0.0)?;
    }
    Ok(chunks)
}

fn resident_fields<'a>(
    tensors: impl Iterator<Item = (&'a str, &'a Tensor)>,
    slots: &[Slot],
    first: usize,
    count: usize,
) -> Result<Vec<Field<'a>>> {
    tensors.zip(slots).map(|((name, t), slot)| slot.resident(name, t, first, count)).collect()
}

/// Bytes of `count` items of each of `sizes`, each part aligned.
fn slab_bytes(count: usize, sizes: &[usize]) -> usize {
    sizes.iter().map(|s| aligned(s * count)).sum()
}

/// The scratch regions of a slab, from `offset` on.
fn scratch_regions<'a>(
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

fn aligned(bytes: usize) -> usize {
    bytes.next_multiple_of(ALIGNMENT)
}

/// Largest number of items of a chunk that fits into memory. `lanes` chunks are in memory at a time, and each item needs
/// `device` and `host` bytes.
fn fitting(plan: &Plan<'_>, device: usize, host: usize, lanes: usize, wanted: usize) -> Result<usize> {
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

/// The type of a field, as a name for messages.
fn expect_items(argument: &str, dims: &[usize], items: usize, dtype: DType) -> Result<()> {
    if dims.last() == Some(&items) {
        return Ok(());
    }
    let name = dtype.name();
    Err(Error::Internal(format!("{argument}: a batch of {items} items of {name} with dimensions {dims:?}")))
}
