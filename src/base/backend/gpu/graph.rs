//! Work that is recorded once and then launched as a whole. Its kernels follow each other without the host.

use std::sync::Arc;

use cudarc::driver::sys::CUgraphExec;

use super::device::Device;
use super::driver::SUCCESS;
use super::open::Gpu;
use super::recording::Recording;
use super::stream::GpuStream;
use crate::error::Result;

/// Recorded work. It reads and writes the arrays of the recording, which must stay allocated as long as it is launched.
pub struct Graph {
    device: Arc<Device>,
    graph: CUgraphExec,
}

// SAFETY: the driver's handles may be used from any thread, one at a time, which `&mut` in `launch` makes sure of.
unsafe impl Send for Graph {}

impl Graph {
    /// Records the kernels that `work` launches on its stream, in order, without running them. `work` must do nothing
    /// else on that stream. `None` if the driver cannot build the graph.
    ///
    /// # Errors
    /// Errors of `work`; [`crate::error::Error::Cuda`].
    pub fn record(gpu: &Gpu, work: impl FnOnce(&GpuStream) -> Result<()>) -> Result<Option<Self>> {
        let Some(recording) = Recording::new(&gpu.device)? else { return Ok(None) };
        let stream = GpuStream::create_recorder(&gpu.device, recording)?;
        work(&stream)?;
        let Some(recording) = stream.queue().recording().filter(|r| !r.is_broken()) else { return Ok(None) };
        let entered = gpu.device.enter()?;
        let mut graph = std::ptr::null_mut();
        // SAFETY: a graph of this device; writes one handle.
        let code = unsafe { (entered.api().cuGraphInstantiateWithFlags)(&mut graph, recording.graph(), 0) };
        Ok((code == SUCCESS).then(|| Self { device: Arc::clone(&gpu.device), graph }))
    }

    /// Enqueues the recorded work on `stream`.
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
    /// Runs `work`, which may allocate, while this or another thread may be capturing a graph. The driver does not
    /// refuse the calls of `work` because of such a capture.
    ///
    /// # Errors
    /// Errors of `work`; [`crate::error::Error::Cuda`].
    pub fn beside_graphs<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        self.device.enter()?.beside_graphs(work)?
    }
}

/// Fault point: a test can make a launch fail here.
#[cfg(feature = "fault-injection")]
fn fault() -> Result<()> {
    super::faults::injected(crate::fault::Kind::Launch, "cuGraphLaunch")
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
fn fault() -> Result<()> {
    Ok(())
}
