//! Runs the work of a batch chunk by chunk.

use super::batch::{Chunk, Field, Input, Plan};
use super::field::{Slot, Transport};
use super::memory::{fitting, scratch_regions, slab_bytes};
use super::stream;
use crate::error::Result;
use crate::shape::to_i64;
use crate::tensor::Tensor;

/// Runs `work` on every chunk of a batch; returns the number of chunks.
///
/// Host outputs are complete on return, device outputs in the order of the plan's queue.
///
/// # Errors
/// [`NotSupported`](crate::error::Error::NotSupported) for device arrays that have to be packed and are not;
/// [`OutOfDeviceMemory`](crate::error::Error::OutOfDeviceMemory) and [`OutOfMemory`](crate::error::Error::OutOfMemory) if even
/// one item does not fit the limits; [`Cancelled`](crate::error::Error::Cancelled); errors of `work`.
pub fn for_chunks(
    plan: &Plan<'_>,
    inputs: &[Input<'_>],
    outputs: &mut [(&str, &mut Tensor)],
    work: &mut dyn FnMut(&Chunk<'_>) -> Result<()>,
) -> Result<i64> {
    let inputs_slots: Vec<Slot> = inputs.iter().map(|i| Slot::input(plan.gpu, i, plan.items)).collect::<Result<_>>()?;
    let outputs_slots: Vec<Slot> =
        outputs.iter().map(|(name, t)| Slot::output(plan.gpu, name, t, plan.items)).collect::<Result<_>>()?;
    if plan.items == 0 {
        plan.progress.report(0, 0, 0.0)?;
        return Ok(0);
    }
    if inputs_slots.iter().chain(&outputs_slots).all(|s| s.transport == Transport::Resident) {
        return resident(plan, inputs, &inputs_slots, outputs, &outputs_slots, work);
    }
    stream::streamed(plan, inputs, inputs_slots, outputs, outputs_slots, work)
}

/// Processes a batch on the device, on the plan's queue. It is only cut into chunks to bound the scratch memory.
fn resident(
    plan: &Plan<'_>,
    inputs: &[Input<'_>],
    input_slots: &[Slot],
    outputs: &[(&str, &mut Tensor)],
    output_slots: &[Slot],
    work: &mut dyn FnMut(&Chunk<'_>) -> Result<()>,
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
