//! The trait that a backend implements for contractions of trains. Its functions are whole sweeps, so that a device
//! gets enough work for each call.
//!
//! Everything is computed as S = sum over i of x(i) cj(y(i)), where cj conjugates if [`Plan::conjugate`] is set. Site
//! `i` of a sweep is core `plan.core(i)`: a ring begins behind the cut and may be repeated several times.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::peaks::Sizes;
use super::plan::Plan;
use crate::backend::cpu::Isa;
use crate::backend::gpu::{DeviceMemory, Region};
use crate::error::Result;
use crate::progress::CancelFlag;
use crate::stream::Stream;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::info::Kernel;
use crate::trains::options::Options;
use crate::trains::scaled::Scaled;

/// Properties of a backend that the planner uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Rows (pairs of a block times rank s) of a product that keep the backend busy.
    pub fill_rows: usize,
    /// Bytes of cache that the environments of a block should stay in.
    pub cache: u64,
    /// Default workspace limit in bytes.
    pub workspace: u64,
    /// Blocks of boundary pairs that are contracted at the same time.
    pub workers: usize,
    /// Largest rank of open trains for [`crate::trains::info::Kernel::Chain`]; 0 without that kernel.
    pub chain_rank: usize,
    /// Largest rank of rings for that kernel. The many pairs of a ring keep matrix products busy, so it is smaller than
    /// `chain_rank`.
    pub ring_rank: usize,
    /// Largest rank of open trains that the whole device contracts by [`crate::trains::info::Kernel::Chain`] if a single
    /// block cannot; 0 without such a kernel.
    pub grid_rank: usize,
    /// Least number of blocks of pairs for each context, which its threads share.
    pub shares: usize,
    /// Vector instructions of the CPU's chain kernel, which computes its own workspace; `None` on a GPU.
    pub vectors: Option<Isa>,
    /// Largest rank at which open trains are contracted from both ends.
    pub meet_rank: usize,
    /// Whether dense halves are chosen if they need far fewer operations. Otherwise only the caller can choose them.
    pub dense_halves: bool,
    /// Contractions of a batch that are planned and distributed at a time. Progress is reported after each such chunk.
    pub batch: usize,
}

/// One contraction: plan, trains and progress.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// How the contraction is computed.
    pub plan: &'a Plan,
    /// The train that is not conjugated; the real one if the types differ.
    pub x: &'a TensorTrain,
    /// The other train, conjugated if the plan says so.
    pub y: &'a TensorTrain,
    /// Stream of the call; `None` for the context's own.
    pub stream: Option<&'a Stream>,
    /// Cancels the call between steps.
    pub cancel: &'a CancelFlag,
    /// Steps done so far, of [`Plan::steps`]. One step is one site of one block.
    pub done: &'a AtomicU64,
    /// Bounds from the largest entries of the cores, if `peaks::matter` says that the plan needs them.
    pub sizes: Sizes,
    /// Work that the host does when it would otherwise wait for the device.
    pub host_work: Option<HostWork<'a>>,
}

/// Work of the host that does not depend on the contraction. Only the first call does it.
pub type HostWork<'a> = &'a (dyn Fn() + Sync);

/// Result of an enqueued call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// S, conjugated at the end if the plan asks for it.
    Product,
    /// The square root of the real part of S.
    Root,
    /// The norm of x by QR factors.
    Norm,
    /// The norm of x - y by QR factors.
    Distance,
}

/// Report of an enqueued contraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enqueued {
    /// Bytes of workspace that the launches use.
    pub bytes: usize,
    /// How the arithmetic is carried out.
    pub kernel: Kernel,
}

/// One of many contractions that are computed at the same time.
#[derive(Clone)]
pub struct Item<'a> {
    /// How the contraction is computed.
    pub plan: Arc<Plan>,
    /// As [`Work::x`].
    pub x: &'a TensorTrain,
    /// As [`Work::y`].
    pub y: &'a TensorTrain,
}

impl Work<'_> {
    /// Counts one step.
    ///
    /// # Errors
    /// [`crate::error::Error::Cancelled`] if the call has been cancelled.
    pub fn step(&self) -> Result<()> {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.cancel.check()
    }

    /// Does the host's other work. Call it before a wait, after enough work has been enqueued for the device.
    pub fn run_host_work(&self) {
        if let Some(work) = self.host_work {
            work();
        }
    }
}

/// The contractions of a backend. Partial results are in the order of the blocks, on any number of threads. No function
/// uses more workspace than the plan states.
pub trait ContractOps: Send {
    /// Properties of the backend that the planner needs.
    fn machine(&self) -> Machine;

    /// Completes a plan before it runs: the backend chooses the kernel and sets the workspace. `x` and `y` are the
    /// shapes of the trains.
    ///
    /// # Errors
    /// [`crate::error::Error::InvalidArgument`] naming `workspace_limit`, where a kernel that was asked for needs more.
    fn finalize_plan(&self, _plan: &mut Plan, _x: &Shape, _y: &Shape, _options: &Options) -> Result<()> {
        Ok(())
    }

    /// Waits for the work on `stream`; with `None`, on the stream on which this context reads the trains. Called before
    /// another context reads them.
    ///
    /// # Errors
    /// Errors of the device, also of earlier work.
    fn await_caller(&self, _stream: Option<&Stream>) -> Result<()> {
        Ok(())
    }

    /// The sum over the pairs of each of these blocks ([`Plan::block`]), each term times [`super::pairs::Pairs::weight`].
    /// An open product is one pair; for it [`Plan::meet`] and [`Plan::grow`] hold.
    ///
    /// # Errors
    /// [`crate::error::Error::Cancelled`]; [`crate::error::Error::NotSupported`] on a GPU for ranks whose products need
    /// cuBLAS, if that is not there; out of memory; errors of the backend.
    fn pairs(&mut self, work: &Work<'_>, blocks: Range<usize>, partials: &mut [Scaled]) -> Result<()>;

    /// Enqueues the wanted result, which goes to four numbers of device memory in the format of
    /// [`super::Contraction::enqueue_inner`]. Enqueues nothing if `to` is `None`. Uses `workspace` if there is one.
    ///
    /// # Errors
    /// [`crate::error::Error::NotSupported`] on the CPU, for trains that cannot be used in place, and where a library
    /// is not there; [`crate::error::Error::InvalidArgument`] for a `workspace` that is too small; out of memory;
    /// errors of the device.
    fn enqueue(
        &mut self,
        work: &Work<'_>,
        wanted: Wanted,
        workspace: Option<&DeviceMemory>,
        to: Option<Region<'_>>,
    ) -> Result<Enqueued>;

    /// Whether a contraction is small enough for [`ContractOps::many`].
    fn takes(&self, plan: &Plan) -> bool;

    /// Bytes of workspace of [`ContractOps::many`] for these contractions.
    fn many_bytes(&self, items: &[Item<'_>]) -> u64 {
        items.iter().map(|item| item.plan.workspace).max().unwrap_or(0)
    }

    /// S of each of many contractions that [`ContractOps::takes`] accepts. On the CPU each result has the same bits as
    /// from a single call. A GPU has other kernels for many; the same list always gives the same bits.
    ///
    /// # Errors
    /// [`crate::error::Error::Cancelled`]; out of memory; errors of the backend.
    fn many(
        &mut self,
        stream: Option<&Stream>,
        items: &[Item<'_>],
        cancel: &CancelFlag,
        sums: &mut [Scaled],
    ) -> Result<()>;

    /// S by the dense tensors of both trains. Each tensor is computed as the product of two dense tensors: of the sites
    /// before [`Plan::split`], and of the others.
    ///
    /// # Errors
    /// As [`ContractOps::pairs`].
    fn halves(&mut self, work: &Work<'_>) -> Result<Scaled>;

    /// S as the trace of a power of the transfer matrix of [`Plan::sites`] sites, [`Plan::repeat`] times.
    ///
    /// # Errors
    /// [`crate::error::Error::Cancelled`]; out of memory; errors of the backend.
    fn power(&mut self, work: &Work<'_>) -> Result<Scaled>;

    /// S for an open train x = y with conjugation, by one triangle of each environment.
    ///
    /// # Errors
    /// As [`ContractOps::pairs`].
    fn triangle(&mut self, work: &Work<'_>) -> Result<Scaled>;

    /// The norm of the sum of `trains`, each times a real factor, by QR factors from site to site. Only the last factor
    /// is squared. All trains have the same modes; the arithmetic is in the type of the first.
    ///
    /// # Errors
    /// [`crate::error::Error::Cancelled`]; out of memory; errors of the backend.
    fn qr_norm(&mut self, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled>;
}
