//! Launches that are recorded instead of run.

use std::ffi::{c_uint, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::sys::{CUDA_KERNEL_NODE_PARAMS_st, CUgraph, CUgraphNode};

use super::device::Device;
use super::driver::{SUCCESS, symbol};
use crate::error::Result;

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

/// A sequence of launches, before it becomes a graph. Launches are added one by one instead of captured from a stream,
/// because calls of other threads for the device were seen to invalidate a capture.
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
    pub(super) fn new(device: &Arc<Device>) -> Result<Option<Self>> {
        let _entered = device.enter()?;
        let Some(nodes) = Nodes::get() else { return Ok(None) };
        let mut graph = std::ptr::null_mut();
        // SAFETY: writes one handle.
        let code = unsafe { (nodes.create)(&mut graph, 0) };
        let chain = Mutex::new(Chain { last: None, is_broken: false });
        Ok((code == SUCCESS).then(|| Self { device: Arc::clone(device), nodes, graph, chain }))
    }

    /// The graph with the launches so far, which is destroyed with this recording.
    pub(super) fn graph(&self) -> CUgraph {
        self.graph
    }

    /// Whether a launch could not be added.
    pub(super) fn is_broken(&self) -> bool {
        self.chain().is_broken
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
            // The driver's union has 64 bytes. This attribute is its first number.
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
