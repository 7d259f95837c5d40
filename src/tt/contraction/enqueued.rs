//! Inner products that are enqueued to a stream and whose results stay on the device. No call waits, so a graph may
//! capture the calls.

use std::sync::Arc;

use super::ops::{Wanted, Work};
use super::peaks::Sizes;
use super::session::{Call, Contraction, Goal};
use crate::backend::gpu::{DeviceMemory, Region};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::operator::{self, Trains};
use crate::scalar::DType;
use crate::shape::{Order, to_i64};
use crate::stream::{self, Stream};
use crate::tensor::Tensor;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::info::Info;
use crate::trains::options::{Conjugate, NormMethod};
use crate::trains::watch::Watch;

/// Elements of a result: real part and imaginary part of the mantissa, exponent, outcome.
pub const RESULT: usize = 4;

impl Contraction {
    /// Address and bytes of the caller's workspace.
    pub fn workspace(&self) -> Option<(u64, usize)> {
        self.workspace.as_ref().map(|memory| (memory.address(), memory.bytes()))
    }

    /// Sets device memory of the first context as the workspace of later calls of [`Contraction::enqueue_inner`];
    /// `None` removes it.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a context on the CPU.
    pub fn set_workspace(&mut self, memory: Option<DeviceMemory>) -> Result<()> {
        self.contexts[0].gpu("workspace")?;
        self.workspace = memory;
        Ok(())
    }

    /// Enqueues the inner product of `x` and `y`, trains in the memory of the first context's device, and returns. In
    /// stream order `result` gets four numbers of F64: real and imaginary part of the mantissa, the larger in
    /// [0.5, 1) or both 0; the exponent; the outcome, [`crate::trains::info::Outcome`] as a number. The call
    /// neither waits for the host nor copies from it, so the stream may be captured to a graph. Whoever replays the
    /// graph keeps the trains, the result and the workspace alive.
    ///
    /// If `result` is `None`, nothing is enqueued; the info reports the workspace that the call needs.
    ///
    /// # Errors
    /// As [`Contraction::inner_scaled`]; [`Error::NotSupported`] for trains on the host or of different types, for a
    /// context on the CPU, and if a required library is not installed, or has not been created before the stream is
    /// captured; [`Error::InvalidArgument`] for a workspace that is too small, with the bytes that are needed.
    pub fn enqueue_inner(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        result: Option<&mut Tensor>,
    ) -> Result<Info> {
        self.enqueue(stream, (x, y), Wanted::Product, result)
    }

    /// Enqueues the norm of `x`, the square root of its inner product with itself, as [`Contraction::enqueue_inner`].
    ///
    /// # Errors
    /// As [`Contraction::enqueue_inner`]; [`Error::NotSupported`] for norms by QR factors where cuSOLVER is not there, or not
    /// yet while the queue is captured.
    pub fn enqueue_norm(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        result: Option<&mut Tensor>,
    ) -> Result<Info> {
        let wanted = if self.options().norm_method == NormMethod::Qr { Wanted::Norm } else { Wanted::Root };
        self.enqueue(stream, (x, x), wanted, result)
    }

    /// Enqueues the norm of `x` - `y` by QR factors, as [`Contraction::enqueue_norm`].
    ///
    /// # Errors
    /// As [`Contraction::enqueue_norm`].
    pub fn enqueue_distance(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        result: Option<&mut Tensor>,
    ) -> Result<Info> {
        self.enqueue(stream, (x, y), Wanted::Distance, result)
    }

    /// Enqueues <y|H|x> for trains on the device and an operator on the host, as [`Contraction::enqueue_inner`]. The
    /// operator's numbers are launch parameters: a graph keeps the ones that it captured.
    ///
    /// # Errors
    /// As [`crate::operator::sandwich`] and [`Contraction::enqueue_inner`].
    pub fn enqueue_sandwich(
        &mut self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        result: Option<&mut Tensor>,
    ) -> Result<Info> {
        self.enqueue_between(stream, trains, false, result)
    }

    /// Enqueues <x|H|x> / <x|x>, as [`Contraction::enqueue_sandwich`]. If <x|x> is 0, the result is NaN, and its
    /// outcome says so.
    ///
    /// # Errors
    /// As [`Contraction::enqueue_sandwich`].
    pub fn enqueue_rayleigh(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        operator: &TrainMatrix,
        result: Option<&mut Tensor>,
    ) -> Result<Info> {
        self.enqueue_between(stream, &Trains::new(x, Some(operator), x), true, result)
    }

    fn enqueue_between(
        &mut self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        ratio: bool,
        result: Option<&mut Tensor>,
    ) -> Result<Info> {
        let context = Arc::clone(&self.contexts[0]);
        let queue = stream::select(&context, stream)?;
        let result = place(&context, result)?;
        let stream = match queue {
            Some(queue) => queue,
            None => context.gpu("result")?.default_stream(),
        };
        let progress = self.cancel.progress(&self.contexts, None, self.cancel.epoch());
        let mut options = self.options().clone();
        if ratio {
            options.conjugate = Conjugate::Bra;
        }
        let call = operator::enqueued::Call {
            context: &context,
            stream,
            options: &options,
            library: &mut self.library,
            workspace: self.workspace.as_ref(),
            result,
            watch: Watch::new(progress.flag()),
        };
        operator::enqueued::enqueue(call, trains, ratio)
    }

    fn enqueue(
        &mut self,
        stream: Option<&Stream>,
        (x, y): (&TensorTrain, &TensorTrain),
        wanted: Wanted,
        result: Option<&mut Tensor>,
    ) -> Result<Info> {
        stream::select(&self.contexts[0], stream)?;
        let to = place(&self.contexts[0], result)?;
        let goal = match wanted {
            Wanted::Product => Goal::Inner,
            Wanted::Root => Goal::Square,
            Wanted::Norm => Goal::Norm,
            Wanted::Distance => Goal::Distance,
        };
        let Call { plan, swapped } = self.prepare(x, y, goal)?;
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        let progress = self.cancel.progress(&self.contexts, None, self.cancel.epoch());
        let (cancel, done) = (progress.flag(), std::sync::atomic::AtomicU64::new(0));
        let work =
            Work { plan: &plan, x, y, stream, cancel: &cancel, done: &done, sizes: Sizes::default(), host_work: None };
        let enqueued = self.machines[0].enqueue(&work, wanted, self.workspace.as_ref(), to)?;
        Ok(Info { workspace_bytes: to_i64(enqueued.bytes), kernel: enqueued.kernel, ..plan.info(1) })
    }
}

/// Device memory of a result, [`RESULT`] numbers of F64 on the device of `context`.
fn place<'r>(context: &Arc<Context>, result: Option<&'r mut Tensor>) -> Result<Option<Region<'r>>> {
    context.gpu("result")?;
    let Some(result) = result else { return Ok(None) };
    result.expect_context("result", context)?;
    result.expect_dtype("result", DType::F64)?;
    result.expect_dims("result", &[RESULT])?;
    result.check_writable("result")?;
    if !result.layout().is_packed(Order::ColumnMajor) {
        return Err(Error::NotSupported("result: has strides, packed memory is needed".into()));
    }
    Ok(Some(result.memory_mut("result")?.device("result")?.whole()))
}
