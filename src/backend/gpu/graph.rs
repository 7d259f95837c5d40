//! Work that is recorded once and then launched as a whole, so that its kernels follow one another without the host.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use cudarc::driver::sys::{CUgraph, CUgraphExec, CUstream};

use super::Gpu;
use super::device::{Device, Entered};
use super::driver::SUCCESS;
use super::stream::GpuStream;
use crate::error::Result;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`: what other threads do is none of the recording's business, nor the other way round.
const RELAXED: c_uint = 2;

/// Recorded work. Arrays that it reads and writes are those of the recording: they stay as long as it is launched.
pub struct Graph {
    device: Arc<Device>,
    graph: CUgraphExec,
}

// SAFETY: the driver's handles may be used from any thread, one at a time, which `&mut` in `launch` makes sure of.
unsafe impl Send for Graph {}

/// A recording that has not been made into a graph.
struct Recording {
    device: Arc<Device>,
    graph: CUgraph,
}

impl Drop for Recording {
    fn drop(&mut self) {
        let Ok(entered) = self.device.enter() else { return };
        if !self.graph.is_null() {
            // SAFETY: made in `Graph::record`, destroyed once.
            let _ = unsafe { (entered.api().cuGraphDestroy)(self.graph) };
        }
    }
}

impl Graph {
    /// Records what `work` enqueues on the stream that it is given; nothing of it runs. `work` must not wait for that stream.
    /// `None` where the driver makes no graph of it.
    ///
    /// # Errors
    /// What `work` reports; [`crate::error::Error::Cuda`].
    pub fn record(gpu: &Gpu, work: impl FnOnce(&GpuStream) -> Result<()>) -> Result<Option<Self>> {
        let stream = GpuStream::create_recorder(&gpu.device)?;
        let mut recording = Recording { device: Arc::clone(&gpu.device), graph: std::ptr::null_mut() };
        let raw = stream.queue().raw();
        {
            let entered = gpu.device.enter()?;
            // SAFETY: a handle of this device.
            if unsafe { (entered.api().cuStreamBeginCapture_v2)(raw, RELAXED) } != SUCCESS {
                return Ok(None);
            }
        }
        // The recording is ended whatever `work` did: the stream could not be destroyed otherwise.
        let done = work(&stream);
        let entered = gpu.device.enter()?;
        // SAFETY: a stream that is captured; writes one handle.
        let code = unsafe { (entered.api().cuStreamEndCapture)(raw, &mut recording.graph) };
        done?;
        if code != SUCCESS || recording.graph.is_null() {
            return Ok(None);
        }
        let mut graph = std::ptr::null_mut();
        // SAFETY: a graph of this device; writes one handle.
        let code = unsafe { (entered.api().cuGraphInstantiateWithFlags)(&mut graph, recording.graph, 0) };
        Ok((code == SUCCESS).then(|| Self { device: Arc::clone(&gpu.device), graph }))
    }

    /// Enqueues the work, behind what `stream` has.
    ///
    /// # Errors
    /// [`crate::error::Error::Cuda`].
    pub fn launch(&mut self, stream: &GpuStream) -> Result<()> {
        fault()?;
        let entered = self.device.enter()?;
        // SAFETY: handles of this device.
        let code = unsafe { (entered.api().cuGraphLaunch)(self.graph, stream.queue().raw()) };
        entered.check("cuGraphLaunch", code)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let Ok(entered) = self.device.enter() else { return };
        // SAFETY: made in `record`, destroyed once.
        let _ = unsafe { (entered.api().cuGraphExecDestroy)(self.graph) };
    }
}

impl Gpu {
    /// Runs `work`, which may allocate, where this thread or another may be capturing a graph: the driver refuses nothing of
    /// it for that.
    ///
    /// # Errors
    /// What `work` reports; [`crate::error::Error::Cuda`].
    pub fn beside_graphs<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        self.device.enter()?.beside_graphs(work)?
    }
}

impl Entered<'_> {
    /// As [`Gpu::beside_graphs`], for work that makes what it returns.
    ///
    /// # Errors
    /// [`crate::error::Error::Cuda`].
    pub(super) fn beside_graphs<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        let mut mode = RELAXED;
        self.exchange_capture_mode(&mut mode)?;
        let done = work();
        self.exchange_capture_mode(&mut mode)?;
        Ok(done)
    }

    fn exchange_capture_mode(&self, mode: &mut c_uint) -> Result<()> {
        // SAFETY: reads and writes one number.
        let code = unsafe { (self.api().cuThreadExchangeStreamCaptureMode)(mode) };
        self.check("cuThreadExchangeStreamCaptureMode", code)
    }

    /// Whether work on `stream` goes to a graph instead of the device.
    pub(super) fn is_captured(&self, stream: CUstream) -> bool {
        let mut status: c_int = 0;
        // SAFETY: a handle of this device; writes one number.
        let code = unsafe { (self.api().cuStreamIsCapturing)(stream, &mut status) };
        // The legacy stream must not even be asked while one that waits for it is captured.
        code != SUCCESS || status != 0
    }
}

/// Where a launch can be made to fail by a test.
#[cfg(feature = "fault-injection")]
fn fault() -> Result<()> {
    super::injected(crate::fault::Kind::Launch, "cuGraphLaunch")
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
fn fault() -> Result<()> {
    Ok(())
}
