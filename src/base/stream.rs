//! An ordered queue of work. On a CPU context calls are complete on return and a stream only keeps them in order.

use std::sync::Arc;

use crate::backend::Backend;
use crate::backend::gpu::GpuStream;
use crate::context::Context;
use crate::error::{Error, Result};

/// A queue that belongs to a context.
pub struct Stream {
    // Declared before the context, because a stream must be dropped while its device is open.
    gpu: Option<GpuStream>,
    context: Arc<Context>,
}

impl Stream {
    /// A new queue of the context's device; on the CPU calls run at once.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(context: &Arc<Context>) -> Result<Self> {
        let gpu = match context.backend() {
            Backend::Cpu => None,
            Backend::Gpu(gpu) => Some(gpu.create_stream()?),
        };
        Ok(Self { gpu, context: Arc::clone(context) })
    }

    /// A caller's `CUstream`, which stays the caller's and must outlive this value.
    ///
    /// # Errors
    /// As [`Context::gpu`]; [`Error::InvalidArgument`] for the per-thread default stream, and for a stream of another
    /// device or GPU context; errors of the device.
    pub fn wrap(context: &Arc<Context>, raw: u64) -> Result<Self> {
        let gpu = context.gpu("cuda_stream")?.wrap_stream(raw)?;
        Ok(Self { gpu: Some(gpu), context: Arc::clone(context) })
    }

    /// The context this queue belongs to.
    #[inline]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The device's queue, on a GPU context.
    #[inline]
    pub fn gpu(&self) -> Option<&GpuStream> {
        self.gpu.as_ref()
    }

    /// Waits until all work of this queue is done.
    ///
    /// # Errors
    /// An error of work that occurred since the last call.
    pub fn synchronize(&self) -> Result<()> {
        self.gpu.as_ref().map_or(Ok(()), GpuStream::synchronize)
    }
}

/// The device queue a call runs on: that of `stream`, else the context's own. `stream` must belong to `context`.
///
/// # Errors
/// As [`Context::expect_own`].
pub fn select<'a>(context: &'a Context, stream: Option<&'a Stream>) -> Result<Option<&'a GpuStream>> {
    if let Some(s) = stream {
        context.expect_own("stream", &s.context)?;
    }
    Ok(match context.backend() {
        Backend::Cpu => None,
        Backend::Gpu(gpu) => Some(stream.and_then(Stream::gpu).unwrap_or_else(|| gpu.default_stream())),
    })
}

/// Makes the context's own queue wait for the work that is enqueued on `stream` now. For calls that run on the own queue and
/// are complete on return.
///
/// # Errors
/// [`Error::InvalidArgument`] for a stream of another context; [`Error::NotSupported`] for one that is being captured.
pub fn begin_after(context: &Context, stream: Option<&Stream>) -> Result<()> {
    let queue = select(context, stream)?;
    expect_not_captured(queue)?;
    match (context.backend(), queue) {
        (Backend::Gpu(gpu), Some(queue)) => gpu.default_stream().wait_for(queue),
        _ => Ok(()),
    }
}

/// Refuses a queue that is being captured to a graph. For calls that wait for their results, which would break the capture.
///
/// # Errors
/// [`Error::NotSupported`]; errors of the device.
pub fn expect_not_captured(queue: Option<&GpuStream>) -> Result<()> {
    match queue.map(GpuStream::is_captured) {
        Some(Ok(true)) => {
            let problem =
                "stream: is being captured, and this call waits for its result; one that is enqueued does not";
            Err(Error::NotSupported(problem.into()))
        }
        Some(Err(e)) => Err(e),
        _ => Ok(()),
    }
}
