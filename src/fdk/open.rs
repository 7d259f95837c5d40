//! Opens the projections and the volume of a run, and decides whether a device copies them directly or through buffers.

use super::arrays::{SharedSink, SharedSource};
use super::cut::{Access, Flow};
use super::frame::FramedSink;
use super::inputs::{Device, Projections, Volume};
use super::plan::Plan;
use crate::backend::gpu::DeviceMemory;
use crate::blocks::number::Number;
use crate::blocks::sink::Sink;
use crate::blocks::tensor::{TensorSink, TensorSource};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::Order;
use crate::tensor::Tensor;

/// A run's projections, opened as [`Access`] says.
pub(super) enum OpenedInput<'s> {
    Read(SharedSource<'s>),
    Borrowed(&'s [u8]),
    Device(&'s DeviceMemory),
}

/// A run's volume, opened as [`Access`] says.
pub(super) enum OpenedOutput<'s> {
    Write(SharedSink<'s>),
    Borrowed(&'s mut [u8]),
    Device(&'s DeviceMemory),
}

/// Access to a tensor: direct if it is packed and lies on the device or in pinned memory, else through buffers.
fn access(device: &Device<'_>, argument: &str, tensor: &Tensor) -> Result<Access> {
    let is_packed = tensor.layout().is_packed(Order::ColumnMajor);
    match device {
        Device::Gpu(_) if tensor.is_device() && !is_packed => {
            Err(Error::NotSupported(format!("{argument}: is strided device memory, packed is needed")))
        }
        Device::Gpu(_) if tensor.is_device() => Ok(Access::Resident),
        Device::Gpu(gpu) => {
            let is_direct = is_packed && gpu.is_pinned(tensor.memory().host(argument)?.as_slice()?)?;
            Ok(if is_direct { Access::Direct } else { Access::Buffered })
        }
        Device::Cpu | Device::Double => {
            tensor.memory().host(argument)?;
            Ok(if is_packed { Access::Direct } else { Access::Buffered })
        }
    }
}

/// Opens the projections and chooses the access to them.
pub(super) fn open_input<'i: 's, 's>(
    device: &Device<'_>,
    input: Projections<'i>,
    context: &'s Context,
) -> Result<(Flow, OpenedInput<'s>)> {
    let tensor = match input {
        Projections::Source(source) => {
            let flow = Flow { number: source.info().number, access: Access::Buffered };
            return Ok((flow, OpenedInput::Read(SharedSource::new(Box::new(source)))));
        }
        Projections::Tensor(tensor) => tensor,
    };
    let name = "projections";
    let flow = Flow { number: Number::of(name, tensor.dtype())?, access: access(device, name, tensor)? };
    let opened = match flow.access {
        Access::Buffered => {
            OpenedInput::Read(SharedSource::new(Box::new(TensorSource::new(name, tensor, context.pool())?)))
        }
        Access::Direct => OpenedInput::Borrowed(tensor.memory().host(name)?.as_slice()?),
        Access::Resident => OpenedInput::Device(tensor.memory().device(name)?),
    };
    Ok((flow, opened))
}

/// Access to a volume's tensor. A volume with a frame is always written through buffers, because the sink completes
/// each slice.
pub(super) fn output_access(plan: &Plan, device: &Device<'_>, tensor: &Tensor) -> Result<Access> {
    if plan.frame.is_none() {
        return access(device, "volume", tensor);
    }
    tensor.memory().host("volume").map(|_| Access::Buffered)
}

/// Wraps `sink`, which takes slices of the volume. With a frame, the result takes slices of the box and completes them.
pub(super) fn shared_sink<'s>(plan: &Plan, sink: Box<dyn Sink + 's>, context: &Context) -> Result<SharedSink<'s>> {
    Ok(SharedSink::new(match plan.frame {
        None => sink,
        Some(frame) => Box::new(FramedSink::new(sink, frame, plan.grid.size, plan.options.output_offset, context)?),
    }))
}

/// Opens the volume and chooses the access to it.
pub(super) fn open_output<'o: 's, 's>(
    plan: &Plan,
    device: &Device<'_>,
    output: Volume<'o>,
    context: &'s Context,
) -> Result<(Flow, OpenedOutput<'s>)> {
    let tensor = match output {
        Volume::Sink(sink) => {
            let flow = Flow { number: sink.info().number, access: Access::Buffered };
            return Ok((flow, OpenedOutput::Write(shared_sink(plan, Box::new(sink), context)?)));
        }
        Volume::Tensor(tensor) => tensor,
    };
    let name = "volume";
    let flow = Flow { number: Number::of(name, tensor.dtype())?, access: output_access(plan, device, tensor)? };
    let opened = match flow.access {
        Access::Buffered => {
            let sink = TensorSink::new(name, tensor, context.pool())?;
            OpenedOutput::Write(shared_sink(plan, Box::new(sink), context)?)
        }
        Access::Direct => {
            let bytes = tensor.layout().elements() * tensor.dtype().size();
            let memory: &mut [u8] = tensor.memory_mut(name)?.host_mut(name)?.as_mut_slice()?;
            OpenedOutput::Borrowed(&mut memory[..bytes])
        }
        Access::Resident => OpenedOutput::Device(tensor.memory().device(name)?),
    };
    Ok((flow, opened))
}
