//! Host access to tensors: a tensor on a device is replaced by host memory of the same layout.

use std::ops::Deref;

use super::Tensor;
use crate::backend::gpu::{Gpu, GpuStream};
use crate::backend::memory::{HostMemory, Memory};
use crate::error::{Error, Result};

/// A tensor to read on the host: the caller's, or a copy of a tensor on a device.
pub enum HostInput<'a> {
    /// The caller's tensor, in host memory.
    There(&'a Tensor),
    /// A copy of a tensor on a device, in host memory.
    Copied(Tensor),
}

impl<'a> HostInput<'a> {
    /// The elements of `tensor`, complete after the work that has been enqueued on `queue` so far.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], and errors of the device.
    pub fn new(queue: Option<&GpuStream>, argument: &str, tensor: &'a Tensor) -> Result<Self> {
        let Memory::Device(source) = tensor.memory() else { return Ok(Self::There(tensor)) };
        let (gpu, queue) = device_of(queue, argument, tensor)?;
        // Copies the gaps between strided elements, too, so the layout is the same.
        let mut copy = replacement(tensor)?;
        gpu.download(queue, source, 0, copy.memory.host_mut(argument)?.as_mut_slice()?)?;
        Ok(Self::Copied(copy))
    }

    /// [`HostInput::new`] for an optional argument.
    ///
    /// # Errors
    /// As [`HostInput::new`].
    pub fn optional(queue: Option<&GpuStream>, argument: &str, tensor: Option<&'a Tensor>) -> Result<Option<Self>> {
        tensor.map(|t| Self::new(queue, argument, t)).transpose()
    }
}

impl Deref for HostInput<'_> {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        match self {
            Self::There(tensor) => tensor,
            Self::Copied(tensor) => tensor,
        }
    }
}

/// A tensor to write on the host: the caller's, or memory that is copied to a device at the end.
pub struct HostOutput<'a> {
    argument: &'static str,
    target: &'a mut Tensor,
    copy: Option<Tensor>,
}

impl<'a> HostOutput<'a> {
    /// Memory for the elements of `target`. The caller must write all of them.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for device memory with gaps between the elements, which a copy would overwrite;
    /// [`Error::InvalidArgument`] for a tensor that may not be written to; [`Error::OutOfMemory`].
    pub fn new(argument: &'static str, target: &'a mut Tensor) -> Result<Self> {
        target.check_writable(argument)?;
        if !target.is_device() {
            return Ok(Self { argument, target, copy: None });
        }
        if target.layout.extent() != target.layout.elements() {
            return Err(Error::NotSupported(format!("{argument}: is strided device memory, packed is needed")));
        }
        let copy = Some(replacement(target)?);
        Ok(Self { argument, target, copy })
    }

    /// [`HostOutput::new`] for an optional argument.
    ///
    /// # Errors
    /// As [`HostOutput::new`].
    pub fn optional(argument: &'static str, target: Option<&'a mut Tensor>) -> Result<Option<Self>> {
        target.map(|t| Self::new(argument, t)).transpose()
    }

    /// The tensor to write to.
    pub fn tensor(&mut self) -> &mut Tensor {
        self.copy.as_mut().unwrap_or(self.target)
    }

    /// Copies the written elements to a device target, in the order of `queue`.
    ///
    /// # Errors
    /// [`Error::Internal`] for a device target without a queue; errors of the device.
    pub fn finish(self, queue: Option<&GpuStream>) -> Result<()> {
        let Self { argument, target, copy: Some(copy) } = self else { return Ok(()) };
        let context = std::sync::Arc::clone(&target.context);
        let queue = queue.ok_or_else(no_queue)?;
        let Memory::Device(destination) = &mut target.memory else {
            return Err(Error::Internal(format!("{argument}: has left its device")));
        };
        context.gpu(argument)?.upload(queue, copy.memory.host(argument)?.as_slice()?, destination, 0)
    }
}

/// Zeroed host memory in the layout of a device tensor.
fn replacement(tensor: &Tensor) -> Result<Tensor> {
    let bytes = tensor.layout.extent() * tensor.dtype.size();
    let memory = HostMemory::allocate("host copy of a device tensor", bytes, tensor.context.host_budget())?;
    let layout = tensor.layout.clone();
    Tensor::from_memory(&tensor.context, tensor.dtype, layout, Memory::Host(memory), false, tensor.symmetric)
}

fn device_of<'a>(queue: Option<&'a GpuStream>, argument: &str, tensor: &'a Tensor) -> Result<(&'a Gpu, &'a GpuStream)> {
    Ok((tensor.context.gpu(argument)?, queue.ok_or_else(no_queue)?))
}

fn no_queue() -> Error {
    Error::Internal("device memory in a context without a device".into())
}
