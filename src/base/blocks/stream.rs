//! Batches in host memory: chunks are copied and processed on several streams.

use super::field::{Slot, Transport};
use super::memory::{FEW_ITEMS, LANES, MOST_ITEMS, aligned, fitting, scratch_regions, slab_bytes};
use super::{Chunk, Field, Input, Plan};
use crate::backend::gpu::{DeviceMemory, GpuStream, Staging};
use crate::error::Result;
use crate::shape::to_i64;
use crate::tensor::Tensor;

/// Device and host buffers of one stream; one chunk at a time uses them.
struct Lane {
    slab: DeviceMemory,
    inputs: Option<Staging>,
    outputs: Option<Staging>,
    /// The chunk whose staged outputs are still being copied.
    pending: Option<(usize, usize)>,
}

/// Host memory of the arrays.
enum Host<'a> {
    Resident,
    /// Inputs, or outputs that go through a buffer.
    Input(&'a [u8]),
    Staged(&'a mut [u8]),
    /// The part of a directly copied output that was not passed to copies yet.
    Direct(&'a mut [u8]),
}

/// Computes the offsets of the arrays in a lane's memory for chunks of `capacity` items. Returns the bytes of device memory
/// and of host memory.
fn lay_out(slots: &mut [Slot], capacity: usize, mut device: usize) -> (usize, usize) {
    let mut host = 0;
    for slot in slots.iter_mut().filter(|s| s.transport != Transport::Resident) {
        slot.device_offset = device;
        device += aligned(slot.item_bytes() * capacity);
        if slot.transport == Transport::Staged {
            slot.host_offset = host;
            host += aligned(slot.item_bytes() * capacity);
        }
    }
    (device, host)
}

fn bytes_of(slots: &[Slot], counts: impl Fn(Transport) -> bool) -> usize {
    slots.iter().filter(|s| counts(s.transport)).map(Slot::item_bytes).sum()
}

pub(super) fn streamed(
    plan: &Plan<'_>,
    inputs: &[Input<'_>],
    mut input_slots: Vec<Slot>,
    outputs: &mut [(&str, &mut Tensor)],
    mut output_slots: Vec<Slot>,
    work: &mut dyn FnMut(&Chunk<'_>) -> Result<()>,
) -> Result<i64> {
    let items = plan.items;
    let wanted = items.div_ceil(4 * LANES).clamp(FEW_ITEMS.min(items), MOST_ITEMS);
    let copied = |p: Transport| p != Transport::Resident;
    let staged = |p: Transport| p == Transport::Staged;
    let device = bytes_of(&input_slots, copied) + bytes_of(&output_slots, copied) + plan.scratch.iter().sum::<usize>();
    let host = bytes_of(&input_slots, staged) + bytes_of(&output_slots, staged);
    let capacity = fitting(plan, device, host, LANES, wanted)?;
    let lanes = LANES.min(items.div_ceil(capacity));

    let (used, host_in) = lay_out(&mut input_slots, capacity, 0);
    let (used, host_out) = lay_out(&mut output_slots, capacity, used);
    let slab = used + slab_bytes(capacity, plan.scratch);
    let streams: Vec<GpuStream> = (0..lanes).map(|_| plan.gpu.create_independent_stream()).collect::<Result<_>>()?;
    let streams: Vec<&GpuStream> = streams.iter().collect();
    let mut buffers = Vec::with_capacity(lanes);
    for stream in &streams {
        stream.wait_for(plan.queue)?;
        let staging = |bytes| {
            let budget = plan.context.host_budget();
            if bytes == 0 { Ok(None) } else { Staging::new(plan.gpu, "page-locked buffer", bytes, budget).map(Some) }
        };
        buffers.push(Lane {
            slab: plan.gpu.allocate_on(stream, "chunk of a batch", slab)?,
            inputs: staging(host_in)?,
            outputs: staging(host_out)?,
            pending: None,
        });
    }

    // Host memory and device memory of the outputs are separate, because copies borrow the one and kernels the other.
    let from: Vec<Host<'_>> = inputs
        .iter()
        .zip(&input_slots)
        .map(|(i, slot)| match slot.transport {
            Transport::Resident => Ok(Host::Resident),
            _ => Ok(Host::Input(i.tensor.memory().host(i.name)?.as_slice()?)),
        })
        .collect::<Result<_>>()?;
    let mut to = Vec::with_capacity(outputs.len());
    let mut on_device: Vec<Option<(&str, &Tensor)>> = Vec::with_capacity(outputs.len());
    for ((name, tensor), slot) in outputs.iter_mut().zip(&output_slots) {
        if slot.transport == Transport::Resident {
            on_device.push(Some((name, tensor)));
            to.push(Host::Resident);
            continue;
        }
        on_device.push(None);
        let memory = tensor.memory_mut(name)?.host_mut(name)?.as_mut_slice()?;
        to.push(if slot.transport == Transport::Direct { Host::Direct(memory) } else { Host::Staged(memory) });
    }

    let pool = plan.context.pool();
    let mut chunks = 0;
    plan.gpu.overlapped(&streams, |transfers| {
        let drain = |lane: &mut Lane, to: &mut Vec<Host<'_>>| -> Result<()> {
            let Some((first, count)) = lane.pending.take() else { return Ok(()) };
            if let Some(buffer) = &mut lane.outputs {
                let contents: &[u8] = buffer.contents()?;
                for (host, slot) in to.iter_mut().zip(&output_slots) {
                    if let Host::Staged(memory) = host {
                        let part = &contents[slot.host_offset..slot.host_offset + count * slot.item_bytes()];
                        pool.run(|| slot.unpack(part, first, count, memory));
                    }
                }
            }
            plan.progress.report(to_i64(first + count), to_i64(items), 0.0)
        };
        let mut to = to;
        for (number, first) in (0..items).step_by(capacity).enumerate() {
            let count = capacity.min(items - first);
            let at = number % lanes;
            let (lane, stream) = (&mut buffers[at], streams[at]);
            drain(lane, &mut to)?;
            plan.progress.check()?;
            for (host, slot) in from.iter().zip(&input_slots) {
                let Host::Input(memory) = host else { continue };
                let memory: &[u8] = memory;
                let bytes = count * slot.item_bytes();
                if slot.transport == Transport::Direct {
                    let begin = first * slot.item_bytes();
                    transfers.upload(at, &memory[begin..begin + bytes], &mut lane.slab, slot.device_offset)?;
                } else if let Some(buffer) = &mut lane.inputs {
                    let part = slot.host_offset;
                    let contents = &mut buffer.contents()?[part..part + bytes];
                    pool.run(|| slot.pack(memory, first, count, contents));
                    buffer.upload(stream, part, bytes, &mut lane.slab, slot.device_offset)?;
                }
            }
            let chunk = Chunk {
                stream,
                first,
                count,
                inputs: fields(
                    inputs
                        .iter()
                        .zip(&input_slots)
                        .map(|(i, s)| (s, i.tensor.is_device().then_some((i.name, i.tensor)))),
                    &lane.slab,
                    first,
                    count,
                )?,
                outputs: fields(on_device.iter().zip(&output_slots).map(|(t, s)| (s, *t)), &lane.slab, first, count)?,
                scratch: scratch_regions(&lane.slab, plan.scratch, capacity, used)?,
            };
            work(&chunk)?;
            drop(chunk);
            for (host, slot) in to.iter_mut().zip(&output_slots) {
                let bytes = count * slot.item_bytes();
                match host {
                    Host::Direct(rest) => {
                        let (head, tail) = std::mem::take(rest).split_at_mut(bytes);
                        *rest = tail;
                        transfers.download(at, &lane.slab, slot.device_offset, head)?;
                    }
                    Host::Staged(_) => {
                        if let Some(buffer) = &mut lane.outputs {
                            buffer.download(stream, &lane.slab, slot.device_offset, slot.host_offset, bytes)?;
                        }
                    }
                    Host::Resident | Host::Input(_) => {}
                }
            }
            lane.pending = Some((first, count));
            chunks += 1;
        }
        // In the order of the chunks, oldest first.
        for k in 0..lanes {
            drain(&mut buffers[(to_usize(chunks) + k) % lanes], &mut to)?;
        }
        Ok(())
    })?;
    plan.progress.report(to_i64(items), to_i64(items), 0.0)?;
    Ok(chunks)
}

fn to_usize(count: i64) -> usize {
    usize::try_from(count).unwrap_or(0)
}

fn fields<'a, 's>(
    arrays: impl Iterator<Item = (&'s Slot, Option<(&'a str, &'a Tensor)>)>,
    slab: &'a DeviceMemory,
    first: usize,
    count: usize,
) -> Result<Vec<Field<'a>>> {
    arrays
        .map(|(slot, tensor)| match tensor {
            Some((name, tensor)) => slot.resident(name, tensor, first, count),
            None => slot.copied(slab, count),
        })
        .collect()
}
