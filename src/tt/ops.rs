//! What the contraction of trains needs of a backend: whole sweeps, so that a device gets work of its own size.
//!
//! Everything is computed as S = sum over i of x(i) cj(y(i)), where cj conjugates if [`Plan::conjugate`] says so. Site `i` of a
//! sweep is core `plan.core(i)`: the ring begins behind the cut, and may go round several times.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::info::Kernel;
use super::options::Options;
use super::peaks::Sizes;
use super::plan::Plan;
use super::scaled::Scaled;
use crate::backend::cpu::Isa;
use crate::backend::gpu::{DeviceMemory, Region};
use crate::error::Result;
use crate::progress::CancelFlag;
use crate::stream::Stream;
use crate::tensor::train::{Shape, TensorTrain};

/// What the planner has to know of a backend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Rows of a product, B s, that keep it busy.
    pub fill_rows: usize,
    /// Bytes of cache that the environments of a block should stay in.
    pub cache: u64,
    /// Workspace where the options say nothing, in bytes.
    pub workspace: u64,
    /// Blocks at work at the same time.
    pub workers: usize,
    /// Largest rank that [`super::info::Kernel::Chain`] takes; 0 without one.
    pub chain_rank: usize,
    /// The same for rings, whose many pairs keep products busy that a single one does not.
    pub ring_rank: usize,
    /// Largest rank of open trains that the whole device contracts by [`super::info::Kernel::Chain`], where one block does
    /// not; 0 without such a kernel.
    pub grid_rank: usize,
    /// Blocks of pairs, at least, for each context: those that its threads share.
    pub shares: usize,
    /// Vectors of the CPU's chain, which says itself what workspace it needs.
    pub vectors: Option<Isa>,
    /// Largest rank at which open trains are contracted from both ends.
    pub meet_rank: usize,
    /// Whether dense halves are taken where they need far fewer operations: else they are to be asked for.
    pub dense_halves: bool,
    /// Contractions of a batch that are planned and dealt out at a time; progress is reported in between.
    pub batch: usize,
}

/// One contraction.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// How.
    pub plan: &'a Plan,
    /// The train that is not conjugated; the real one if the types differ.
    pub x: &'a TensorTrain,
    /// The other.
    pub y: &'a TensorTrain,
    /// Where the call is enqueued.
    pub stream: Option<&'a Stream>,
    /// Cancels it.
    pub cancel: &'a CancelFlag,
    /// Steps done, of [`Plan::steps`]; a step is a site of a block.
    pub done: &'a AtomicU64,
    /// What the largest numbers of the cores say, where they matter: `peaks::matter`.
    pub sizes: Sizes,
}

/// What is enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// S, with the conjugation that the plan asks for last.
    Product,
    /// The square root of its real part.
    Root,
    /// The norm of x by QR factors.
    Norm,
    /// That of x - y.
    Distance,
}

/// What is known of a contraction that was enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enqueued {
    /// Bytes of workspace.
    pub bytes: usize,
    /// How the arithmetic is carried out.
    pub kernel: Kernel,
}

/// One of many contractions that are computed at the same time.
#[derive(Clone)]
pub struct Item<'a> {
    /// How.
    pub plan: Arc<Plan>,
    /// As in [`Work`].
    pub x: &'a TensorTrain,
    /// As in [`Work`].
    pub y: &'a TensorTrain,
}

impl Work<'_> {
    /// After a step: counts it, and ends a call that was cancelled.
    pub fn step(&self) -> Result<()> {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.cancel.check()
    }
}

/// The contractions of a backend. Partial results come in the order of the blocks, whoever computes them; no function
/// uses more workspace than the plan says.
pub trait ContractOps: Send {
    /// What the planner has to know.
    fn machine(&self) -> Machine;

    /// Fills in what only the backend knows of a plan before it runs: the kernel that takes it, and its workspace. `x` and
    /// `y` are the shapes of the trains.
    ///
    /// # Errors
    /// [`crate::error::Error::InvalidArgument`] naming `workspace_limit`, where a kernel that was asked for needs more.
    fn settle(&self, _plan: &mut Plan, _x: &Shape, _y: &Shape, _options: &Options) -> Result<()> {
        Ok(())
    }

    /// Waits for what is enqueued to `stream` now, or where the trains of this context are read without one: before another
    /// context reads them.
    fn await_caller(&self, _stream: Option<&Stream>) -> Result<()> {
        Ok(())
    }

    /// The sum over the pairs of each of these blocks ([`Plan::block`]), each term times [`super::pairs::Pairs::weight`].
    /// An open product is one pair; for it [`Plan::meet`] and [`Plan::grow`] hold.
    fn pairs(&mut self, work: &Work<'_>, blocks: Range<usize>, partials: &mut [Scaled]) -> Result<()>;

    /// Enqueues what is wanted to four numbers of device memory, as [`super::Contraction::enqueue_inner`] has them; without a
    /// place for them nothing. Works in `workspace` if there is one.
    fn enqueue(
        &mut self,
        work: &Work<'_>,
        wanted: Wanted,
        workspace: Option<&DeviceMemory>,
        to: Option<Region<'_>>,
    ) -> Result<Enqueued>;

    /// Whether a contraction is small enough to be one of many.
    fn takes(&self, plan: &Plan) -> bool;

    /// Bytes of workspace that [`ContractOps::many`] takes for these.
    fn many_bytes(&self, items: &[Item<'_>]) -> u64 {
        items.iter().map(|item| item.plan.workspace).max().unwrap_or(0)
    }

    /// S of each of many contractions that [`ContractOps::takes`] admits: on the CPU to the same bits as one by one, on a
    /// GPU, which has other kernels for many, to the same bits whenever the same list is given.
    fn many(
        &mut self,
        stream: Option<&Stream>,
        items: &[Item<'_>],
        cancel: &CancelFlag,
        sums: &mut [Scaled],
    ) -> Result<()>;

    /// S by way of the dense tensors of both trains, each from the dense tensors of its sites before and from
    /// [`Plan::split`] on.
    fn halves(&mut self, work: &Work<'_>) -> Result<Scaled>;

    /// S as the trace of a power of the transfer matrix of [`Plan::sites`] sites, [`Plan::repeat`] times.
    fn power(&mut self, work: &Work<'_>) -> Result<Scaled>;

    /// S for an open train x = y with conjugation, of each environment one triangle alone.
    fn triangle(&mut self, work: &Work<'_>) -> Result<Scaled>;

    /// The norm of the sum of `trains` (as many as given, of equal modes, dtype of the first), each times a real factor,
    /// by QR factors from site to site: nothing is squared but the last row.
    fn qr_norm(&mut self, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled>;
}
