//! Work that is recorded once and then launched as a whole. Its kernels follow each other without the host.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::sys::{CUDA_KERNEL_NODE_PARAMS_st, CUgraph, CUgraphExec, CUgraphNode, CUstream};

use super::Gpu;
use super::device::{Device, Entered};
use super::driver::{SUCCESS, symbol};
use super::stream::GpuStream;
use crate::error::Result;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`: captures by other threads do not make calls of this thread fail.
const RELAXED: c_uint = 2;

/// The driver's functions that build graphs of launches. If a driver lacks one, no graphs are built, and all else works.
struct Nodes {
    create: unsafe extern "C" fn(*mut CUgraph, c_uint) -> u32,
    add: AddKernel,
    set_attribute: unsafe extern "C" fn(CUgraphNode, c_uint, *const c_void) -> u32,
}

/// `cuGraphAddKernelNode` of CUDA 10, which later drivers keep in addition to the version with a module's kernel.
type AddKernel = unsafe extern "C" fn(
    *mut CUgraphNode,
    CUgraph,
    *const CUgraphNode,
    usize,
    *const CUDA_KERNEL_NODE_PARAMS_st,
) -> u32;

impl Nodes {
    fn get() -> Option<&'static Self> {
        static NODES: OnceLock<Option<Nodes>> = OnceLock::new();
        let find = || {
            Some(Self {
                create: symbol("cuGraphCreate").ok()?,
                add: symbol("cuGraphAddKernelNode").ok()?,
                set_attribute: symbol("cuGraphKernelNodeSetAttribute").ok()?,
            })
        };
        NODES.get_or_init(find).as_ref()
    }
}

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`.
const COOPERATIVE: c_uint = 2;

/// Recorded work. It reads and writes the arrays of the recording, which must stay allocated as long as it is launched.
pub struct Graph {
    device: Arc<Device>,
    graph: CUgraphExec,
}

// SAFETY: the driver's handles may be used from any thread, one at a time, which `&mut` in `launch` makes sure of.
unsafe impl Send for Graph {}

/// A sequence of launches, before it becomes a graph. Launches are added one by one instead of captured from a stream, because
/// calls of other threads for the device were seen to invalidate a capture.
pub(super) struct Recording {
    device: Arc<Device>,
    nodes: &'static Nodes,
    graph: CUgraph,
    chain: Mutex<Chain>,
}

/// The last launch, and whether one could not be added.
struct Chain {
    last: Option<CUgraphNode>,
    is_broken: bool,
}

impl Recording {
    /// An empty recording; `None` if the driver cannot build graphs.
    fn new(device: &Arc<Device>) -> Result<Option<Self>> {
        let _entered = device.enter()?;
        let Some(nodes) = Nodes::get() else { return Ok(None) };
        let mut graph = std::ptr::null_mut();
        // SAFETY: writes one handle.
        let code = unsafe { (nodes.create)(&mut graph, 0) };
        let chain = Mutex::new(Chain { last: None, is_broken: false });
        Ok((code == SUCCESS).then(|| Self { device: Arc::clone(device), nodes, graph, chain }))
    }

    fn chain(&self) -> MutexGuard<'_, Chain> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a launch; `together` means that its blocks wait for each other. If the driver refuses it, the recording is
    /// marked as broken, without an error.
    ///
    /// # Safety
    /// As for a launch with these parameters, whenever the graph is launched; the device's context is current.
    pub(super) unsafe fn add(&self, launch: &CUDA_KERNEL_NODE_PARAMS_st, together: bool) {
        let mut chain = self.chain();
        let before: &[CUgraphNode] = chain.last.as_slice();
        let mut node = std::ptr::null_mut();
        // SAFETY: a graph of this device and a node of it; the driver copies the arguments; writes one handle.
        let mut code = unsafe { (self.nodes.add)(&mut node, self.graph, before.as_ptr(), before.len(), launch) };
        if code == SUCCESS && together {
            // The driver's union has 64 bytes, of which this attribute is the first number.
            let mut value = [0u64; 8];
            value[0] = 1;
            // SAFETY: a node that was just made; reads 64 bytes.
            code = unsafe { (self.nodes.set_attribute)(node, COOPERATIVE, value.as_ptr().cast()) };
        }
        chain.is_broken |= code != SUCCESS;
        chain.last = Some(node).filter(|_| code == SUCCESS);
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let Ok(entered) = self.device.enter() else { return };
        // SAFETY: made in `new`, destroyed once.
        let _ = unsafe { (entered.api().cuGraphDestroy)(self.graph) };
    }
}

impl Graph {
    /// Records the kernels that `work` launches on its stream, in order, without running them. `work` must do nothing else on
    /// that stream. `None` if the driver cannot build the graph.
    ///
    /// # Errors
    /// Errors of `work`; [`crate::error::Error::Cuda`].
    pub fn record(gpu: &Gpu, work: impl FnOnce(&GpuStream) -> Result<()>) -> Result<Option<Self>> {
        let Some(recording) = Recording::new(&gpu.device)? else { return Ok(None) };
        let stream = GpuStream::create_recorder(&gpu.device, recording)?;
        work(&stream)?;
        let Some(recording) = stream.queue().recording().filter(|r| !r.chain().is_broken) else { return Ok(None) };
        let entered = gpu.device.enter()?;
        let mut graph = std::ptr::null_mut();
        // SAFETY: a graph of this device; writes one handle.
        let code = unsafe { (entered.api().cuGraphInstantiateWithFlags)(&mut graph, recording.graph, 0) };
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
    /// Runs `work`, which may allocate, while this or another thread may be capturing a graph. The driver does not refuse the
    /// calls of `work` because of such a capture.
    ///
    /// # Errors
    /// Errors of `work`; [`crate::error::Error::Cuda`].
    pub fn beside_graphs<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        self.device.enter()?.beside_graphs(work)?
    }
}

impl Entered<'_> {
    /// As [`Gpu::beside_graphs`], for work whose result, for example a new handle, must not be lost.
    ///
    /// # Errors
    /// [`crate::error::Error::Cuda`].
    pub(super) fn beside_graphs<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        /// Restores the thread's capture mode, also while a panic unwinds. An error is ignored, so that the result of `work` is
        /// not lost: a driver that refuses this has failed, and the next call reports it.
        struct Back<'e, 'a>(&'e Entered<'a>, c_uint);
        impl Drop for Back<'_, '_> {
            fn drop(&mut self) {
                let _ = self.0.exchange_capture_mode(&mut self.1);
            }
        }
        let mut mode = RELAXED;
        self.exchange_capture_mode(&mut mode)?;
        let _back = Back(self, mode);
        Ok(work())
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
        // The query fails for the legacy stream while a stream that waits for it is captured.
        code != SUCCESS || status != 0
    }
}

/// Fault point: a test can make a launch fail here.
#[cfg(feature = "fault-injection")]
fn fault() -> Result<()> {
    super::injected(crate::fault::Kind::Launch, "cuGraphLaunch")
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
fn fault() -> Result<()> {
    Ok(())
}
