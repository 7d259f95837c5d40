//! Copies between tensors, in any direction between host and device.

use crate::backend::gpu::GpuStream;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{Layout, Order};
use crate::stream::{self, Stream};
use crate::tensor::Tensor;

/// Copies `source` into `destination`: same dimensions and element type, any strides on the host.
///
/// Host destinations are complete on return, device destinations in stream order. Device memory must be packed;
/// a strided host tensor is packed on the way.
///
/// # Errors
/// [`Error::InvalidArgument`] for other dimensions or types, [`Error::NotSupported`] for strided device memory.
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
pub(crate) fn copy_memory(
    context: &Context,
    queue: Option<&GpuStream>,
    dtype: DType,
    from: (&Memory, &Layout),
    to: (&mut Memory, &Layout),
) -> Result<()> {
    let bytes = from.1.elements() * dtype.size();
    if bytes == 0 {
        return Ok(());
    }
    let no_queue = || Error::Internal("device memory in a context without a device".into());
    match (from.0, to.0) {
        (Memory::Host(a), Memory::Host(b)) => {
            copy_strided(dtype.size(), a.as_slice()?, from.1.strides(), b.as_mut_slice()?, to.1.strides(), to.1.dims());
            Ok(())
        }
        (Memory::Host(a), Memory::Device(b)) => {
            let order = packed_order("destination", to.1)?;
            let queue = queue.ok_or_else(no_queue)?;
            let gpu = context.gpu("destination")?;
            if from.1.is_packed(order) {
                return gpu.upload(queue, &a.as_slice::<u8>()?[..bytes], b, 0);
            }
            let packed = Layout::packed(to.1.dims(), order, dtype)?;
            let mut staged = HostMemory::allocate("packed copy of a strided tensor", bytes, context.host_budget())?;
            let (strides, out) = (packed.strides(), staged.as_mut_slice()?);
            copy_strided(dtype.size(), a.as_slice()?, from.1.strides(), out, strides, to.1.dims());
            gpu.upload(queue, staged.as_slice()?, b, 0)
        }
        (Memory::Device(a), Memory::Host(b)) => {
            let order = packed_order("source", from.1)?;
            let queue = queue.ok_or_else(no_queue)?;
            let gpu = context.gpu("source")?;
            if to.1.is_packed(order) {
                return gpu.download(queue, a, 0, &mut b.as_mut_slice::<u8>()?[..bytes]);
            }
            let packed = Layout::packed(to.1.dims(), order, dtype)?;
            let mut staged = HostMemory::allocate("packed copy of a strided tensor", bytes, context.host_budget())?;
            gpu.download(queue, a, 0, staged.as_mut_slice()?)?;
            copy_strided(
                dtype.size(),
                staged.as_slice()?,
                packed.strides(),
                b.as_mut_slice()?,
                to.1.strides(),
                to.1.dims(),
            );
            Ok(())
        }
        (Memory::Device(a), Memory::Device(b)) => {
            let order = packed_order("destination", to.1)?;
            if !from.1.is_packed(order) {
                return Err(Error::NotSupported(
                    "source: device memory in another order than the destination's".into(),
                ));
            }
            context.gpu("source")?.copy(queue.ok_or_else(no_queue)?, a, b, bytes)
        }
    }
}

fn packed_order(argument: &str, layout: &Layout) -> Result<Order> {
    [Order::ColumnMajor, Order::RowMajor]
        .into_iter()
        .find(|o| layout.is_packed(*o))
        .ok_or_else(|| Error::NotSupported(format!("{argument}: is strided device memory, packed is needed")))
}

/// Copies elements of `size` bytes between strided arrays of the same dimensions, along the destination's smallest
/// stride first so that writes run forward.
pub(crate) fn copy_strided(
    size: usize,
    from: &[u8],
    from_strides: &[usize],
    to: &mut [u8],
    to_strides: &[usize],
    dims: &[usize],
) {
    let mut axes: Vec<(usize, usize, usize)> = dims
        .iter()
        .zip(from_strides)
        .zip(to_strides)
        .filter(|((d, _), _)| **d != 1)
        .map(|((d, f), t)| (*t * size, *f * size, *d))
        .collect();
    axes.sort_unstable();
    if axes.iter().any(|a| a.2 == 0) {
        return;
    }
    // Axes that run on from one another in both arrays are one axis.
    let mut merged: Vec<(usize, usize, usize)> = vec![(size, size, 1)];
    for axis in axes {
        match merged.last_mut() {
            Some(last) if axis.0 == last.0 * last.2 && axis.1 == last.1 * last.2 => last.2 *= axis.2,
            _ => merged.push(axis),
        }
    }
    let (to_step, from_step, mut count) = merged[0];
    let mut run = size;
    if to_step == size && from_step == size {
        run = size * count;
        count = 1;
    }
    let outer = &merged[1..];
    let mut index = vec![0usize; outer.len()];
    loop {
        let f: usize = index.iter().zip(outer).map(|(i, a)| i * a.1).sum();
        let t: usize = index.iter().zip(outer).map(|(i, a)| i * a.0).sum();
        for k in 0..count {
            let (f, t) = (f + k * from_step, t + k * to_step);
            to[t..t + run].copy_from_slice(&from[f..f + run]);
        }
        let mut axis = 0;
        loop {
            match index.get_mut(axis) {
                None => return,
                Some(i) if *i + 1 < outer[axis].2 => {
                    *i += 1;
                    break;
                }
                Some(i) => *i = 0,
            }
            axis += 1;
        }
    }
}
