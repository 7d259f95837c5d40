//! Inner products whose results stay on the device: nothing waits, and a graph may capture the calls.

use super::info::{Info, Kernel};
use super::ops::Work;
use super::session::{Call, Contraction, Goal};
use crate::backend::gpu::DeviceMemory;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{Order, to_i64};
use crate::stream::{self, Stream};
use crate::tensor::Tensor;
use crate::tensor::train::TensorTrain;

/// Elements of a result: real and imaginary part of the mantissa, exponent, outcome.
pub const RESULT: usize = 4;

impl Contraction {
    /// Lends device memory of the first context to later calls of [`Contraction::enqueue_inner`], or takes it back.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a context on the CPU.
    pub fn set_workspace(&mut self, memory: Option<DeviceMemory>) -> Result<()> {
        self.contexts[0].gpu("workspace")?;
        self.workspace = memory;
        Ok(())
    }

    /// Enqueues the inner product of `x` and `y`, trains in the memory of the first context's device, and returns. In
    /// stream order `result` gets four numbers of F64: real and imaginary part of the mantissa, of which the larger lies in
    /// [0.5, 1) or both are 0; the exponent; the outcome, [`super::info::Outcome`] as a number. Nothing waits for the host
    /// and nothing is copied from it, so that the queue may be captured to a graph; whoever replays it keeps the trains, the
    /// result and the workspace alive.
    ///
    /// Without `result` nothing is enqueued; the info says how much workspace the call needs.
    ///
    /// # Errors
    /// As [`Contraction::inner_scaled`]; [`Error::NotSupported`] for trains on the host or of different types, for a context
    /// on the CPU, and for ranks that only a library's products take; [`Error::InvalidArgument`] for a workspace that is
    /// too small, with the bytes that are needed.
    pub fn enqueue_inner(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        result: Option<&mut Tensor>,
    ) -> Result<Info> {
        let context = &self.contexts[0];
        stream::select(context, stream)?;
        context.gpu("result")?;
        if let Some(result) = &result {
            result.expect_context("result", context)?;
            result.expect_dtype("result", DType::F64)?;
            result.expect_dims("result", &[RESULT])?;
            result.check_writable("result")?;
        }
        let Call { plan, swapped } = self.prepare(x, y, Goal::Inner)?;
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        let progress = self.cancel.progress(&self.contexts, None, self.cancel.epoch());
        let (cancel, done) = (progress.flag(), std::sync::atomic::AtomicU64::new(0));
        let work = Work { plan: &plan, x, y, stream, cancel: &cancel, done: &done };
        let to = match result {
            Some(result) if !result.layout().is_packed(Order::ColumnMajor) => {
                return Err(Error::NotSupported("result: has strides".into()));
            }
            Some(result) => Some(result.memory_mut("result")?.device("result")?.whole()),
            None => None,
        };
        let bytes = self.machines[0].enqueue(&work, self.workspace.as_ref(), to)?;
        // No library is called.
        Ok(Info { workspace_bytes: to_i64(bytes), kernel: Kernel::Chain, ..plan.info(1) })
    }
}
