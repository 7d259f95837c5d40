//! The context, stream, memory and cancellation of a call of the algebra, and host copies of trains.

use std::ops::Deref;
use std::sync::Arc;

use crate::alloc;
use crate::backend::gpu::{GpuStream, Rows};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelWatch;
use crate::scalar::{DType, Scalar, with_scalar};
use crate::stream::{self, Stream};
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::balance;
use crate::trains::largest;

/// Where a call runs: context, stream, cancellation, and the memory of its result.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The context of all operands.
    pub context: &'a Arc<Context>,
    /// The stream of device work; `None` for the context's own.
    pub stream: Option<&'a Stream>,
    /// Memory that the result is allocated in.
    pub location: Location,
    /// Cancellation of the context since this object was made. The call checks it at each core.
    pub cancel: CancelWatch<'a>,
}

impl<'a> Place<'a> {
    /// A call that begins now.
    pub fn new(context: &'a Arc<Context>, stream: Option<&'a Stream>, location: Location) -> Self {
        Self { context, stream, location, cancel: context.cancel_watch() }
    }

    /// Results in host memory, work on the context's own stream.
    pub fn host(context: &'a Arc<Context>) -> Self {
        Self::new(context, None, Location::Host)
    }

    /// Returns an error for a context that cannot be used, and for a memory location that the context does not have.
    pub(super) fn check(&self) -> Result<()> {
        self.context.check_alive()?;
        if self.location == Location::Device {
            self.context.gpu("location")?;
        }
        Ok(())
    }

    /// The stream on the device.
    pub(super) fn queue(&self) -> Result<&GpuStream> {
        stream::select(self.context, self.stream)?
            .ok_or_else(|| Error::Internal("device memory in a context without a device".into()))
    }
}

/// A train that the host can read: the caller's train, or a copy from a device or of another type.
pub(super) enum HostTrain<'a> {
    There(&'a TensorTrain),
    Copied(TensorTrain),
}

impl Deref for HostTrain<'_> {
    type Target = TensorTrain;

    fn deref(&self) -> &TensorTrain {
        match self {
            Self::There(train) => train,
            Self::Copied(train) => train,
        }
    }
}

/// Returns an error for a train of another context, or with cores that have not been set.
pub(super) fn check(at: &Place<'_>, argument: &str, x: &TensorTrain) -> Result<()> {
    x.expect_context(argument, at.context)?;
    x.expect_set(argument)
}

/// Returns an error for a train with a number that is not finite. With `from_end` it names the last such core, because
/// decompositions read the cores from the end. They skip cores that are only multiplied by zeros, so this check comes
/// first. Waits if the train is on the device.
pub(super) fn expect_finite(at: &Place<'_>, argument: &str, x: &TensorTrain, from_end: bool) -> Result<()> {
    let cores = if x.is_uniform() { 1 } else { x.shape().len() };
    let mut largest = alloc::filled("largest numbers of cores", cores, 0.0f64)?;
    if x.is_device() {
        largest::largest_there(at.context, at.stream, x, &mut largest)?;
    } else {
        for (k, most) in largest.iter_mut().enumerate() {
            at.cancel.check()?;
            *most = balance::peak(x, k, at.context.isa())?;
        }
    }
    let mut bad = (0..cores).filter(|k| !largest[*k].is_finite());
    match if from_end { bad.next_back() } else { bad.next() } {
        None => Ok(()),
        Some(k) => {
            Err(Error::invalid(argument, format!("core {k} has the norm {}, finite numbers are needed", largest[k])))
        }
    }
}

/// The train on the host. A copy from a device includes all work that has been enqueued so far.
pub(super) fn read<'a>(at: &Place<'_>, argument: &str, x: &'a TensorTrain) -> Result<HostTrain<'a>> {
    check(at, argument, x)?;
    if !x.is_device() {
        return Ok(HostTrain::There(x));
    }
    let (gpu, queue) = (at.context.gpu(argument)?, at.queue()?);
    let mut copy = TensorTrain::zeros(at.context, x.dtype(), Location::Host, x.shape().clone())?;
    for k in 0..x.shape().len() {
        at.cancel.check()?;
        let (memory, offset) = x.memory(k);
        let size = x.dtype().size();
        gpu.download(queue, memory.device(argument)?, offset * size, bytes_mut(&mut copy, k)?)?;
    }
    Ok(HostTrain::Copied(copy))
}

/// The train on the host with elements of `dtype`, its own type or the complex type of the same precision.
pub(super) fn read_as<'a>(at: &Place<'_>, argument: &str, x: &'a TensorTrain, dtype: DType) -> Result<HostTrain<'a>> {
    let here = read(at, argument, x)?;
    if here.dtype() == dtype {
        return Ok(here);
    }
    let mut copy = TensorTrain::zeros(at.context, dtype, Location::Host, x.shape().clone())?;
    convert(at, &here, &mut copy)?;
    Ok(HostTrain::Copied(copy))
}

/// Rounds the entries of a host train to the type of `to`.
pub(super) fn convert(at: &Place<'_>, from: &TensorTrain, to: &mut TensorTrain) -> Result<()> {
    with_scalar!(from.dtype(), "x", S => with_scalar!(to.dtype(), "dtype", T => convert_cores::<S, T>(at, from, to)))
}

fn convert_cores<S: Scalar, T: Scalar>(at: &Place<'_>, from: &TensorTrain, to: &mut TensorTrain) -> Result<()> {
    let (source, mut target) = (from.cores::<S>("x")?, to.cores_mut::<T>("result")?);
    at.context.pool().run(|| {
        for k in 0..source.shape().len() {
            at.cancel.check()?;
            for (y, x) in target.core(k).iter_mut().zip(source.core(k)) {
                *y = T::from_parts(x.re(), x.im());
            }
        }
        Ok(())
    })
}

/// The common type of trains of types x and y: complex if either is.
///
/// # Errors
/// [`Error::InvalidArgument`] for types of different precision.
pub(super) fn common_type(argument: &str, x: DType, y: DType) -> Result<DType> {
    match (x, y) {
        _ if x == y => Ok(x),
        (DType::F32, DType::CF32) | (DType::CF32, DType::F32) => Ok(DType::CF32),
        (DType::F64, DType::CF64) | (DType::CF64, DType::F64) => Ok(DType::CF64),
        _ => Err(Error::invalid(argument, format!("is {}, the other operand is {}", y.name(), x.name()))),
    }
}

/// A zero train in host memory, for [`finish`].
pub(super) fn begin(at: &Place<'_>, dtype: DType, shape: Shape) -> Result<TensorTrain> {
    let location = if at.location == Location::Device { Location::Host } else { at.location };
    TensorTrain::zeros(at.context, dtype, location, shape)
}

/// Moves a train from [`begin`] to `at.location`.
pub(super) fn finish(at: &Place<'_>, train: TensorTrain) -> Result<TensorTrain> {
    if at.location != Location::Device {
        return Ok(train);
    }
    let (gpu, queue) = (at.context.gpu("location")?, at.queue()?);
    let mut result = TensorTrain::zeros(at.context, train.dtype(), Location::Device, train.shape().clone())?;
    let size = train.dtype().size();
    for k in 0..train.shape().len() {
        at.cancel.check()?;
        let (memory, offset) = result.memory_mut("result", k)?;
        if let Memory::Device(memory) = memory {
            gpu.upload(queue, bytes(&train, k)?, memory, offset * size)?;
        }
    }
    Ok(result)
}

/// Copies core `from` of one device train to core `to` of another.
pub(super) fn copy_on_device(
    at: &Place<'_>,
    (source, from): (&TensorTrain, usize),
    (target, to): (&mut TensorTrain, usize),
) -> Result<()> {
    let size = source.dtype().size();
    let width = source.shape().core_len(from) * size;
    let (memory, offset) = source.memory(from);
    let rows = Rows { offset: offset * size, pitch: width, width, count: 1 };
    let (result, place) = target.memory_mut("result", to)?;
    let Memory::Device(result) = result else {
        return Err(Error::Internal("a device train without device memory".into()));
    };
    at.context.gpu("x")?.copy_rows(at.queue()?, memory.device("x")?, rows, result, place * size)
}

/// The bytes of core k of a host train.
pub(super) fn bytes(train: &TensorTrain, k: usize) -> Result<&[u8]> {
    let (size, len) = (train.dtype().size(), train.shape().core_len(k));
    let (memory, offset) = train.memory(k);
    Ok(&memory.host("x")?.as_slice::<u8>()?[offset * size..(offset + len) * size])
}

/// The bytes of core k of a host train, to write to.
pub(super) fn bytes_mut(train: &mut TensorTrain, k: usize) -> Result<&mut [u8]> {
    let (size, len) = (train.dtype().size(), train.shape().core_len(k));
    let (memory, offset) = train.memory_mut("result", k)?;
    Ok(&mut memory.host_mut("result")?.as_mut_slice::<u8>()?[offset * size..(offset + len) * size])
}
