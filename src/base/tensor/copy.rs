//! Copies between tensors, in any direction between host and device.

use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Rows, View};
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelWatch;
use crate::scalar::DType;
use crate::shape::{Layout, Order, merged_axes};
use crate::stream::{self, Stream};
use crate::tensor::Tensor;

/// Copies `source` into `destination`: same dimensions and element type, any strides on the host.
///
/// Host destinations are complete on return, device destinations in stream order. Device memory must be packed; a
/// strided host tensor is packed into a temporary copy. Between device memories a kernel copies matrices with
/// contiguous rows or columns of elements of 4, 8 and 16 bytes, packed or not. Other tensors in different orders go
/// through a temporary copy on the host, for which the call waits.
///
/// # Errors
/// [`Error::InvalidArgument`] for other dimensions or types, [`Error::NotSupported`] for strided device memory,
/// [`Error::Cancelled`] while the host copies, which leaves some elements written.
pub fn copy(context: &Context, queue: Option<&Stream>, source: &Tensor, destination: &mut Tensor) -> Result<()> {
    source.expect_context("source", context)?;
    destination.expect_context("destination", context)?;
    destination.expect_dims("destination", source.dims())?;
    destination.expect_dtype("destination", source.dtype())?;
    destination.check_writable("destination")?;
    let queue = stream::select(context, queue)?;
    let layout = destination.layout().clone();
    copy_memory(
        context,
        queue,
        source.dtype(),
        (source.memory(), source.layout()),
        (destination.memory_mut("destination")?, &layout),
    )
}

/// [`copy()`] of checked memory; `from` and `to` have the same dimensions.
///
/// # Errors
/// [`Error::NotSupported`] for strided device memory; [`Error::Cancelled`] while the host copies; out of memory; errors
/// of the device.
pub fn copy_memory(
    context: &Context,
    queue: Option<&GpuStream>,
    dtype: DType,
    from: (&Memory, &Layout),
    to: (&mut Memory, &Layout),
) -> Result<()> {
    copy_parts(context, queue, dtype, (from.0, 0, from.1), (to.0, 0, to.1))
}

/// [`copy_memory`] between arrays that begin at the given elements of their memories.
///
/// # Errors
/// As [`copy_memory`].
pub fn copy_parts(
    context: &Context,
    queue: Option<&GpuStream>,
    dtype: DType,
    (source, first, from): (&Memory, usize, &Layout),
    (destination, place, to): (&mut Memory, usize, &Layout),
) -> Result<()> {
    let (bytes, cancel) = (from.elements() * dtype.size(), context.cancel_watch());
    if bytes == 0 {
        return Ok(());
    }
    let (first, place) = (first * dtype.size(), place * dtype.size());
    let no_queue = || Error::Internal("device memory in a context without a device".into());
    match (source, destination) {
        (Memory::Host(a), Memory::Host(b)) => {
            let (a, b) = (&a.as_slice()?[first..], &mut b.as_mut_slice()?[place..]);
            copy_watched((dtype.size(), (a, from.strides()), (b, to.strides()), to.dims()), cancel)
        }
        (Memory::Host(a), Memory::Device(b)) => {
            let order = packed_order("destination", to)?;
            let queue = queue.ok_or_else(no_queue)?;
            let gpu = context.gpu("destination")?;
            if from.is_packed(order) {
                return gpu.upload(queue, &a.as_slice::<u8>()?[first..first + bytes], b, place);
            }
            let packed = Layout::packed(to.dims(), order, dtype)?;
            let mut staged = HostMemory::allocate("packed copy of a strided tensor", bytes, context.host_budget())?;
            let (strides, out) = (packed.strides(), staged.as_mut_slice()?);
            let from = (&a.as_slice()?[first..], from.strides());
            copy_watched((dtype.size(), from, (out, strides), to.dims()), cancel)?;
            gpu.upload(queue, staged.as_slice()?, b, place)
        }
        (Memory::Device(a), Memory::Host(b)) => {
            let order = packed_order("source", from)?;
            let queue = queue.ok_or_else(no_queue)?;
            let gpu = context.gpu("source")?;
            if to.is_packed(order) {
                return gpu.download(queue, a, first, &mut b.as_mut_slice::<u8>()?[place..place + bytes]);
            }
            let packed = Layout::packed(to.dims(), order, dtype)?;
            let mut staged = HostMemory::allocate("packed copy of a strided tensor", bytes, context.host_budget())?;
            gpu.download(queue, a, first, staged.as_mut_slice()?)?;
            let out = &mut b.as_mut_slice()?[place..];
            let from = (staged.as_slice()?, packed.strides());
            copy_watched((dtype.size(), from, (out, to.strides()), to.dims()), cancel)
        }
        (Memory::Device(a), Memory::Device(b)) => {
            let (gpu, queue) = (context.gpu("source")?, queue.ok_or_else(no_queue)?);
            let order = packed_order("destination", to).ok();
            if order.is_none_or(|order| !from.is_packed(order)) {
                if copy_matrix(gpu, queue, dtype, (a, first, from), (b, place, to))? {
                    return Ok(());
                }
                let (order, source_order) = (packed_order("destination", to)?, packed_order("source", from)?);
                stream::expect_not_captured(Some(queue))?;
                let packed = Layout::packed(to.dims(), source_order, dtype)?;
                let what = "copy of a device tensor in another order";
                let mut given = HostMemory::allocate(what, bytes, context.host_budget())?;
                let mut turned = HostMemory::allocate(what, bytes, context.host_budget())?;
                gpu.download(queue, a, first, given.as_mut_slice()?)?;
                let turned_layout = Layout::packed(to.dims(), order, dtype)?;
                let (strides, out) = (turned_layout.strides(), turned.as_mut_slice()?);
                let from = (given.as_slice()?, packed.strides());
                copy_watched((dtype.size(), from, (out, strides), to.dims()), cancel)?;
                return gpu.upload(queue, turned.as_slice()?, b, place);
            }
            if (first, place) == (0, 0) {
                return gpu.copy(queue, a, b, bytes);
            }
            gpu.copy_rows(queue, a, Rows { offset: first, pitch: bytes, width: bytes, count: 1 }, b, place)
        }
    }
}

/// A matrix whose columns, or whose rows if `by_rows`, are contiguous, as one by columns.
#[derive(Clone, Copy)]
struct Lines {
    rows: usize,
    cols: usize,
    ld: usize,
    by_rows: bool,
}

impl Lines {
    /// The lines of a layout with at most two axes longer than 1, one of them contiguous if there are two;
    /// else `None`.
    fn of(layout: &Layout) -> Option<Self> {
        let mut axes = layout.dims().iter().copied().zip(layout.strides().iter().copied()).filter(|axis| axis.0 != 1);
        let lines = |rows, cols, ld, by_rows| (ld >= rows).then_some(Self { rows, cols, ld, by_rows });
        match (axes.next(), axes.next(), axes.next()) {
            (Some((m, 1)), Some((n, ld)), None) => lines(m, n, ld, false),
            (Some((m, ld)), Some((n, 1)), None) => lines(n, m, ld, true),
            // A line with gaps is one element of each of many.
            (Some((n, ld)), None, None) => lines(1, n, ld, false),
            _ => None,
        }
    }

    fn view<'m>(&self, memory: &'m DeviceMemory, first: usize, size: usize) -> Result<View<'m>> {
        let elements = (self.cols - 1) * self.ld + self.rows;
        let memory = memory.region(first, elements * size)?;
        Ok(View { memory, rows: self.rows, cols: self.cols, ld: self.ld })
    }
}

/// Enqueues the copy of a matrix by a kernel, each array from a byte of its memory on. Returns `false` for arrays without
/// contiguous rows or columns, and for elements that no kernel moves.
fn copy_matrix(
    gpu: &Gpu,
    queue: &GpuStream,
    dtype: DType,
    (source, first, from): (&DeviceMemory, usize, &Layout),
    (destination, place, to): (&DeviceMemory, usize, &Layout),
) -> Result<bool> {
    let (Some(from), Some(to)) = (Lines::of(from), Lines::of(to)) else { return Ok(false) };
    // The copy moves bits, so numbers of one size are all alike.
    let moved = match dtype.size() {
        4 => DType::F32,
        8 => DType::F64,
        16 => DType::CF64,
        _ => return Ok(false),
    };
    let (input, output) = (from.view(source, first, dtype.size())?, to.view(destination, place, dtype.size())?);
    dense::place(moved, gpu, queue, input, output, from.by_rows != to.by_rows, false)?;
    Ok(true)
}

fn packed_order(argument: &str, layout: &Layout) -> Result<Order> {
    [Order::ColumnMajor, Order::RowMajor]
        .into_iter()
        .find(|o| layout.is_packed(*o))
        .ok_or_else(|| Error::NotSupported(format!("{argument}: is strided device memory, packed is needed")))
}

/// Arrays of elements of `size` bytes with the same dimensions: the bytes of each, its strides, and the dimensions.
type Strided<'a> = (usize, (&'a [u8], &'a [usize]), (&'a mut [u8], &'a [usize]), &'a [usize]);

/// Copies elements of `size` bytes between strided arrays of the same dimensions, along the destination's smallest
/// stride first so that writes run forward.
pub fn copy_strided(
    size: usize,
    from: &[u8],
    from_strides: &[usize],
    to: &mut [u8],
    to_strides: &[usize],
    dims: &[usize],
) {
    let copied = copy_pieces((size, (from, from_strides), (to, to_strides), dims), |_| Ok(()));
    debug_assert!(copied.is_ok(), "nothing ends the copy");
}

/// [`copy_strided`] that `cancel` ends.
fn copy_watched(arrays: Strided<'_>, cancel: CancelWatch<'_>) -> Result<()> {
    let mut paced = cancel.paced();
    copy_pieces(arrays, |steps| paced.step(steps))
}

/// Most bytes that are copied at a time.
const PIECE: usize = 1 << 20;

/// Bytes next to each other that take about as long as an element elsewhere.
const RUN: usize = 16;

/// Copies pieces: bytes next to each other, or a line of elements with gaps. Calls `before` with the steps of each piece,
/// elements of a line or [`RUN`] bytes each.
fn copy_pieces(
    (size, (from, from_strides), (to, to_strides), dims): Strided<'_>,
    mut before: impl FnMut(usize) -> Result<()>,
) -> Result<()> {
    let Some(axes) = merged_axes(dims, [to_strides, from_strides]) else { return Ok(()) };
    let (run, mut outer) = (size * axes[0].count, &axes[1..]);
    let mut line = None;
    if let ([first, rest @ ..], 1) = (outer, axes[0].count) {
        (line, outer) = (Some((first.count, first.steps.map(|step| step * size))), rest);
    }
    let mut index = vec![0usize; outer.len()];
    loop {
        let place = |array: usize| size * index.iter().zip(outer).map(|(i, axis)| i * axis.steps[array]).sum::<usize>();
        let (t, f) = (place(0), place(1));
        if let Some((count, steps)) = line {
            let most = PIECE / size.max(1);
            for first in (0..count).step_by(most.max(1)) {
                let count = most.min(count - first);
                before(count)?;
                copy_line(size, &mut to[t + first * steps[0]..], &from[f + first * steps[1]..], count, steps);
            }
        } else {
            for (to, from) in to[t..t + run].chunks_mut(PIECE).zip(from[f..f + run].chunks(PIECE)) {
                before(to.len() / RUN)?;
                to.copy_from_slice(from);
            }
        }
        let mut axis = 0;
        loop {
            match index.get_mut(axis) {
                None => return Ok(()),
                Some(i) if *i + 1 < outer[axis].count => {
                    *i += 1;
                    break;
                }
                Some(i) => *i = 0,
            }
            axis += 1;
        }
    }
}

/// Copies `count` elements of `size` bytes, whose distances in bytes are `steps`.
fn copy_line(size: usize, to: &mut [u8], from: &[u8], count: usize, steps: [usize; 2]) {
    match size {
        1 => copy_elements::<1>(to, from, count, steps),
        2 => copy_elements::<2>(to, from, count, steps),
        4 => copy_elements::<4>(to, from, count, steps),
        8 => copy_elements::<8>(to, from, count, steps),
        16 => copy_elements::<16>(to, from, count, steps),
        _ => {
            for i in 0..count {
                to[i * steps[0]..][..size].copy_from_slice(&from[i * steps[1]..][..size]);
            }
        }
    }
}

/// [`copy_line`] of elements of N bytes. A size that the compiler knows saves a call for each of them.
fn copy_elements<const N: usize>(to: &mut [u8], from: &[u8], count: usize, steps: [usize; 2]) {
    for i in 0..count {
        to[i * steps[0]..][..N].copy_from_slice(&from[i * steps[1]..][..N]);
    }
}
