//! Contractions on a GPU. For small ranks, a kernel keeps the environment in shared memory for the whole train. For
//! middle ranks, one kernel uses all multiprocessors. Large ranks use cuBLAS, and so do the dense tensors of short
//! trains and the powers of uniform trains. Norms by QR factors use cuSOLVER. Without cuBLAS, the CPU computes dense
//! tensors, powers and QR factors.
//!
//! | file | subject |
//! |---|---|
//! | `load` | cores in device memory |
//! | `chain` | sweeps by purlin's own kernels |
//! | `batch` | many contractions in one launch |
//! | `blocks` | blocks of pairs by cuBLAS |
//! | `careful` | scaling that keeps environments within range |
//! | `ends` | open trains from both ends by cuBLAS |
//! | `halves`, `power` | by dense tensors, by squaring |
//! | `qr` | norms by QR factors |
//! | `enqueue` | products that are enqueued without waiting |
//! | `products` | products by cuBLAS, and by digits |
//! | `pieces` | pieces of workspace, owned or the caller's |
//! | `scale` | scaling by powers of two, counted on the device |
//! | `host` | copies for the CPU fallback without cuBLAS |
//!
//! `mod.rs`, `batch.rs`, `blocks.rs`, `chain.rs`, `ends.rs`, `halves.rs` and `power.rs` import each other: the methods
//! take the call that `mod.rs` prepares and passes to the chosen one.

mod batch;
mod blocks;
mod careful;
mod chain;
mod ends;
mod enqueue;
mod halves;
mod host;
mod load;
mod pieces;
mod power;
mod products;
mod qr;
mod scale;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use super::cpu::CpuContraction;
use super::info::Kernel;
use super::ops::{ContractOps, Enqueued, Item, Machine, Wanted, Work};
use super::options::{Math, Method, Options};
use super::plan::{Plan, expect_within};
use super::scaled::Scaled;
use crate::alloc;
use crate::backend::gpu::kernels::tt::{self, RESULT_WORDS, Site};
use crate::backend::gpu::{Blas, DeviceMemory, Gpu, GpuStream, Precision, Region, Solver, Work as SolverWork};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::shape::{product, to_u64};
use crate::stream::Stream;
use crate::tensor::train::{Shape, TensorTrain};
use load::Loaded;
use scale::Exponents;

/// Largest rank of the chain kernels.
const CHAIN_RANK: usize = 64;
/// Largest rank of rings for the chain kernels. Beyond, library products of many pairs are faster.
const RING_RANK: usize = 32;
/// Largest rank of open trains for which one kernel on all multiprocessors is faster than a library call for each
/// product.
const GRID_RANK: usize = 256;
/// Largest rank at which open trains are contracted from both ends.
const MEET_RANK: usize = 2048;

/// The contractions of a context on its GPU.
pub struct GpuContraction {
    context: Arc<Context>,
    gpu: Gpu,
    math: Math,
    /// The stream of the right end of a train. `libraries` has cuBLAS on both streams. Created when first needed.
    side: Option<GpuStream>,
    libraries: Vec<(u64, Blas)>,
    /// cuBLAS for enqueued calls: on the stream of the call and on the stream of the right end.
    enqueued: Option<[Blas; 2]>,
    /// cuSOLVER for QR norms; `work` is its workspace.
    solver: Option<Solver>,
    work: SolverWork,
    host: CpuContraction,
}

impl GpuContraction {
    /// The contractions of a context on a GPU.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a context on the CPU.
    pub fn new(context: &Arc<Context>, math: Math) -> Result<Self> {
        Ok(Self {
            context: Arc::clone(context),
            gpu: context.gpu("context")?.clone(),
            math,
            side: None,
            libraries: Vec::new(),
            enqueued: None,
            solver: None,
            work: SolverWork::default(),
            host: CpuContraction::new(context),
        })
    }

    /// The stream of a call: the caller's if it belongs to this context, otherwise the default.
    fn stream(&self, stream: Option<&Stream>) -> GpuStream {
        let given = stream.filter(|s| Arc::ptr_eq(s.context(), &self.context));
        given.and_then(|s| s.gpu()).unwrap_or_else(|| self.gpu.default_stream()).clone()
    }

    fn precision(&self) -> Precision {
        match self.math {
            Math::Tf32 => Precision::Reduced,
            // [`Math::Tf32x3`]: `Products` itself chooses the products that use reduced precision.
            Math::Default | Math::Tf32x3 | Math::Gemm3m | Math::Int8x6 => Precision::Full,
        }
    }

    /// Creates cuBLAS on a stream if there is none; returns `false` if the library is not installed.
    fn allocate_workspace(&mut self, stream: &GpuStream) -> Result<bool> {
        self.libraries.retain(|l| !l.1.is_broken());
        if self.libraries.iter().any(|l| l.0 == stream.raw()) {
            return Ok(true);
        }
        // Free cuBLAS of streams that only earlier calls used.
        let side = self.side.as_ref().map(GpuStream::raw);
        self.libraries.retain(|l| Some(l.0) == side);
        match Blas::new(&self.gpu, stream) {
            Ok(blas) => {
                blas.set_precision(self.precision())?;
                alloc::push("libraries", &mut self.libraries, (stream.raw(), blas))?;
                Ok(true)
            }
            Err(Error::NoDevice(_)) => Ok(false),
            Err(other) => Err(other),
        }
    }

    fn blas(&self, stream: &GpuStream) -> Result<&Blas> {
        let found = self.libraries.iter().find(|l| l.0 == stream.raw());
        found.map(|l| &l.1).ok_or_else(|| Error::Internal("a queue without cuBLAS".into()))
    }

    /// Calls `run` with cuBLAS. If the library is not installed, calls `host` with trains in host memory instead.
    fn by_library<T: Scalar>(
        &mut self,
        work: &Work<'_>,
        run: impl FnOnce(&Call<'_>, &Blas, Math) -> Result<Scaled>,
        host: impl FnOnce(&mut CpuContraction, &Work<'_>) -> Result<Scaled>,
    ) -> Result<Scaled> {
        let stream = self.stream(work.stream);
        if !self.allocate_workspace(&stream)? {
            return self.by_host(work, host);
        }
        let gpu = self.gpu.clone();
        let x = Loaded::new::<T>(&self.context, &gpu, &stream, "x", work.x)?;
        let same = work.x.is_same(work.y);
        let y = if same { None } else { Some(Loaded::new::<T>(&self.context, &gpu, &stream, "y", work.y)?) };
        let call = Call::new(work, &gpu, &stream, &x, y.as_ref().unwrap_or(&x))?;
        run(&call, self.blas(&stream)?, self.math)
    }

    /// Creates cuSOLVER if there is none and moves it to `stream`; returns `false` if the library is not installed.
    fn allocate_solver(&mut self, stream: &GpuStream) -> Result<bool> {
        match &mut self.solver {
            Some(solver) if !solver.is_broken() => solver.move_to(stream)?,
            none => match Solver::new(&self.gpu, stream) {
                Ok(solver) => *none = Some(solver),
                Err(Error::NoDevice(_)) => return Ok(false),
                Err(other) => return Err(other),
            },
        }
        Ok(true)
    }

    /// The trains of a sum in the memory of this device.
    fn loaded<'t, T: Scalar>(&self, stream: &GpuStream, trains: &[(&'t TensorTrain, f64)]) -> Result<Vec<Loaded<'t>>> {
        let mut loaded = alloc::with_capacity("trains of a norm", trains.len())?;
        for &(train, _) in trains {
            loaded.push(Loaded::new::<T>(&self.context, &self.gpu, stream, "x", train)?);
        }
        Ok(loaded)
    }

    /// The norm of a sum of trains by QR factors.
    fn factored<T: Scalar>(&mut self, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled> {
        let (gpu, stream) = (self.gpu.clone(), self.stream(work.stream));
        if !self.allocate_workspace(&stream)? || !self.allocate_solver(&stream)? {
            return self.norm_by_host(work, trains);
        }
        let loaded = self.loaded::<T>(&stream, trains)?;
        let terms = qr::terms_of(&loaded, trains)?;
        if qr::is_graded::<T>(&gpu, &stream, work, &terms)? {
            return self.norm_by_host(work, trains);
        }
        let exponents = Exponents::new(&gpu, &stream, 2)?;
        let numbers = gpu.allocate_uninitialised_on(&stream, "numbers of a norm", qr::NUMBERS)?;
        let bytes = qr::results(qr::terms(work, &terms)?)?;
        let results = gpu.allocate_uninitialised_on(&stream, "terms of a norm", bytes)?;
        // Move the workspace out of `self`, because the libraries are borrowed from `self` at the same time.
        let mut own = std::mem::take(&mut self.work);
        let solver = self.solver.as_ref().ok_or_else(|| Error::Internal("norms without cuSOLVER".into()))?;
        let count = self.blas(&stream).and_then(|blas| {
            let space = qr::Space::Own(&mut own);
            let numbers = numbers.whole();
            let mut norms = qr::Norms { gpu: &gpu, stream: &stream, blas, solver, numbers, exponents, space };
            norms.enqueue::<T>(work, &terms, results.whole())
        });
        self.work = own;
        let count = count?;
        work.run_beside();
        let sum = read(&gpu, &stream, &results, count)?.iter().fold(Scaled::ZERO, |sum, term| sum.plus(term.value));
        Ok(if sum.is_finite() { sum.re().sqrt() } else { Scaled::new(Complex::new(f64::NAN, 0.0), 0) })
    }

    fn run<T: Scalar>(&mut self, work: &Work<'_>, blocks: Range<usize>, partials: &mut [Scaled]) -> Result<()> {
        let stream = self.stream(work.stream);
        let gpu = self.gpu.clone();
        let x = Loaded::new::<T>(&self.context, &gpu, &stream, "x", work.x)?;
        let same = work.x.is_same(work.y);
        let y = if same { None } else { Some(Loaded::new::<T>(&self.context, &gpu, &stream, "y", work.y)?) };
        let call = Call::new(work, &gpu, &stream, &x, y.as_ref().unwrap_or(&x))?;
        let plan = work.plan;
        let terms = plan.pairs.block(blocks.start, plan.block).start..plan.pairs.block(blocks.end - 1, plan.block).end;
        let own = plan.kernel == Kernel::Chain;
        let mut sums = Sums::new(plan, blocks.clone(), partials);
        if work.sizes.far {
            return chain::careful::<T>(&call, terms, &mut sums);
        }
        if own
            && !plan.grid
            && let Some(form) = chain::form_of::<T>(&gpu, &call.sites, call.length, terms.len())?
        {
            let careful = if plan.two_ended {
                chain::two_ended::<T>(&call, form, &mut sums)?
            } else {
                chain::pairs::<T>(&call, form, terms.clone(), &mut sums)?
            };
            return if careful { chain::careful::<T>(&call, terms, &mut sums) } else { Ok(()) };
        }
        if own || !self.allocate_workspace(&stream)? {
            let doubt = chain::one_by_one::<T>(&call, terms.clone(), false, &mut sums)?;
            return if doubt { chain::careful::<T>(&call, terms, &mut sums) } else { Ok(()) };
        }
        let ends = plan.pairs.len() == 1 && plan.repeat == 1 && (plan.meet < plan.cores || plan.grow[0] > 0);
        let doubt = if ends {
            let side = match &self.side {
                Some(side) => side.clone(),
                None => self.side.insert(gpu.create_independent_stream()?).clone(),
            };
            if !self.allocate_workspace(&side)? || !self.allocate_workspace(&stream)? {
                return Err(Error::Internal("cuBLAS on one queue and not on the other".into()));
            }
            ends::contract::<T>(&call, self.blas(&stream)?, self.blas(&side)?, self.math, &mut sums)?
        } else {
            blocks::contract::<T>(&call, self.blas(&stream)?, self.math, blocks, &mut sums)?
        };
        if doubt { chain::careful::<T>(&call, terms, &mut sums) } else { Ok(()) }
    }
}

/// One call: the trains in the order of the sweep, the device and the stream.
struct Call<'a> {
    work: &'a Work<'a>,
    gpu: &'a Gpu,
    stream: &'a GpuStream,
    /// Shapes of the cores, from the cut on.
    sites: Vec<Site>,
    x: Vec<Region<'a>>,
    y: Vec<Region<'a>>,
    /// Number of sites of the sweep, a multiple of the number of cores.
    length: usize,
    /// Whether nothing is scaled, so that a result may be infinite. The caller has chosen that.
    unscaled: bool,
}

impl<'a> Call<'a> {
    fn new(
        work: &'a Work<'a>,
        gpu: &'a Gpu,
        stream: &'a GpuStream,
        x: &'a Loaded<'_>,
        y: &'a Loaded<'_>,
    ) -> Result<Self> {
        let plan = work.plan;
        // [`Method::Power`] contracts the cell once, for any `repeat`.
        let length = if plan.method == Method::Power { plan.cores } else { length(plan)? };
        let (own_x, own_y) = (x.cores()?, y.cores()?);
        let what = "sites of a contraction";
        let sites = sites(plan, work.x.shape(), work.y.shape())?;
        let (mut in_x, mut in_y) = (alloc::with_capacity(what, plan.cores)?, alloc::with_capacity(what, plan.cores)?);
        for i in 0..plan.cores {
            let k = plan.core(to_u64(i));
            in_x.push(own_x[k]);
            in_y.push(own_y[k]);
        }
        let unscaled = is_unscaled(plan);
        Ok(Self { work, gpu, stream, sites, x: in_x, y: in_y, length, unscaled })
    }

    fn plan(&self) -> &'a Plan {
        self.work.plan
    }

    fn sweep(&self, middle: Option<usize>) -> tt::Sweep {
        tt::Sweep { middle, ..sweep(self.plan(), self.length) }
    }

    /// The bond at which both ends meet, as the number of sites from the left. Both ends then take about the same time.
    fn middle(&self) -> usize {
        middle(&self.sites)
    }

    /// Whether a result that may have lost digits is computed again with more care.
    fn rescues(&self) -> bool {
        self.plan().scaled || self.plan().rescue
    }

    /// Adds to the counter of steps. Returns an error if the call has been cancelled.
    fn steps(&self, count: usize) -> Result<()> {
        self.work.done.fetch_add(to_u64(count), std::sync::atomic::Ordering::Relaxed);
        self.work.cancel.check()
    }

    fn results(&self, count: usize) -> Result<DeviceMemory> {
        let bytes = product("pairs", count, RESULT_WORDS * 8)?;
        self.gpu.allocate_uninitialised_on(self.stream, "terms of a contraction", bytes)
    }

    /// Waits for terms and reads them. Before it waits, the host does its other work.
    fn read(&self, memory: &DeviceMemory, count: usize) -> Result<Vec<Term>> {
        self.work.run_beside();
        read(self.gpu, self.stream, memory, count)
    }
}

/// Waits for `count` terms and reads them.
fn read(gpu: &Gpu, stream: &GpuStream, memory: &DeviceMemory, count: usize) -> Result<Vec<Term>> {
    let mut words = alloc::filled("terms of a contraction", count * RESULT_WORDS, 0i64)?;
    gpu.load_numbers(stream, memory, 0, &mut words)?;
    let mut terms = alloc::with_capacity("terms of a contraction", count)?;
    for word in words.chunks_exact(RESULT_WORDS) {
        let number = |j: usize| f64::from_bits(u64::from_ne_bytes(word[j].to_ne_bytes()));
        let value = Scaled::new(Complex::new(number(0), number(1)), word[2]);
        let own = if value.is_zero() { 0 } else { value.exponent.saturating_sub(word[2]) };
        terms.push(Term { value, own, doubt: word[3] != 0 || !value.is_finite() });
    }
    Ok(terms)
}

/// Number of sites of a sweep. Returns an error beyond 2^31 - 1.
fn length(plan: &Plan) -> Result<usize> {
    usize::try_from(plan.sites())
        .ok()
        .filter(|&n| n <= i32::MAX.unsigned_abs() as usize)
        .ok_or_else(|| Error::NotSupported(format!("repeat: {} sites on a GPU", plan.sites())))
}

/// Shapes of the cores of both trains, from the cut on.
fn sites(plan: &Plan, x: &Shape, y: &Shape) -> Result<Vec<Site>> {
    let mut sites = alloc::with_capacity("sites of a contraction", plan.cores)?;
    for i in 0..plan.cores {
        let k = plan.core(to_u64(i));
        let ([r, n, r2], [s, _, s2]) = (x.core(k), y.core(k));
        sites.push(Site { r: [r, r2], s: [s, s2], n });
    }
    Ok(sites)
}

/// The bond at which both ends meet, as the number of sites from the left. Both ends then take about the same time.
fn middle(sites: &[Site]) -> usize {
    let cost = |site: &Site| {
        let ([r, r2], [s, s2]) = (site.r.map(|v| v as f64), site.s.map(|v| v as f64));
        // The constant stands for the latency, which counts even for rank 1.
        site.n as f64 * (s * r2 * (r + s2) + 1e4)
    };
    let all: f64 = sites.iter().map(cost).sum();
    let mut left = 0.0;
    let reached = sites.iter().position(|site| {
        left += cost(site);
        2.0 * left >= all
    });
    reached.map_or(1, |k| k + 1).clamp(1, sites.len().saturating_sub(1).max(1))
}

/// Whether purlin's own kernels contract this product from both ends.
fn is_two_ended(plan: &Plan, sites: &[Site], length: usize) -> bool {
    plan.pairs.len() == 1 && length == sites.len() && length >= 2
}

/// Chooses among purlin's own kernels, and sets the workspace of the plan.
fn finalize_plan<T: Scalar>(gpu: &Gpu, plan: &mut Plan, shapes: (&Shape, &Shape), options: &Options) -> Result<()> {
    let length = length(plan)?;
    if length == 1 {
        plan.kernel = Kernel::Chain;
    }
    if plan.kernel != Kernel::Chain {
        return Ok(());
    }
    let sites = sites(plan, shapes.0, shapes.1)?;
    let is_strict = options.workspace_limit > 0;
    let ends = is_two_ended(plan, &sites, length);
    if !plan.grid && chain::form_of::<T>(gpu, &sites, length, plan.pairs.len())?.is_some() {
        let meets = &sites[if ends { middle(&sites) } else { 0 }];
        let elements = if ends { product("rank", meets.r[0], meets.s[0])? } else { 0 };
        let both = to_u64(product("rank", elements, 2 * size_of::<T>())?);
        // A sweep from one end keeps the environment in the block's shared memory and needs no workspace.
        plan.two_ended = ends && (!is_strict || both <= plan.limit);
        plan.workspace = if plan.two_ended { both } else { 0 };
        return Ok(());
    }
    let (environment, products) = tt::grid_strides(&sites)?;
    let needed = product("work space", 2 * environment + products, 2 * size_of::<T>())?;
    let problem = if is_strict { expect_within(plan.limit, needed as f64).err() } else { None };
    match problem {
        Some(problem) if options.kernel == Some(Kernel::Chain) => return Err(problem),
        // No single block supports these small ranks, and there are many pairs, or the workspace is too small for the
        // kernel on the whole device.
        _ if options.kernel.is_none() && plan.pairs.len() > 1 => plan.kernel = Kernel::Products,
        Some(_) => plan.kernel = Kernel::Products,
        None => (plan.grid, plan.two_ended, plan.workspace) = (true, ends, to_u64(needed)),
    }
    // The planner does not check the workspace of library products, because the kernel was not chosen then.
    let is_library = is_strict && plan.kernel == Kernel::Products;
    if is_library { expect_within(plan.limit, plan.workspace as f64) } else { Ok(()) }
}

/// Whether the plan forbids scaling.
fn is_unscaled(plan: &Plan) -> bool {
    !plan.scaled && !plan.rescue
}

/// A sweep over all sites from the left.
fn sweep(plan: &Plan, length: usize) -> tt::Sweep {
    tt::Sweep {
        length,
        middle: None,
        pairs_x: plan.pairs.r,
        halved: plan.pairs.halved,
        conjugate: plan.conjugate,
        unscaled: is_unscaled(plan),
    }
}

/// One term as a kernel writes it.
#[derive(Clone, Copy)]
struct Term {
    value: Scaled,
    /// Exponent of the mantissa itself, which the kernel does not normalise.
    own: i64,
    doubt: bool,
}

impl Term {
    /// The sum of the partial sums of one term. It is doubtful if it is 0 or far from 1, which shows that something
    /// overflowed or underflowed where nothing was measured.
    fn of_parts(parts: &[Self], dtype: DType) -> Self {
        let value = parts.iter().fold(Scaled::ZERO, |sum, p| sum.plus(p.value));
        let far = if dtype.is_single() { 60 } else { 400 };
        let own = parts.iter().map(|p| p.own.abs()).max().unwrap_or(0);
        Self { value, own, doubt: value.is_zero() || own > far || parts.iter().any(|p| p.doubt) }
    }
}

/// Adds up the terms of pairs, block by block in the order of the pairs.
struct Sums<'a> {
    plan: &'a Plan,
    first: usize,
    partials: &'a mut [Scaled],
}

impl<'a> Sums<'a> {
    fn new(plan: &'a Plan, blocks: Range<usize>, partials: &'a mut [Scaled]) -> Self {
        Self { plan, first: blocks.start, partials }
    }

    /// Resets the sums to 0.
    fn clear(&mut self) {
        self.partials.fill(Scaled::ZERO);
    }

    /// Adds the terms of the pairs from `first` on. Returns whether one of them is doubtful.
    fn add(&mut self, first: usize, terms: &[Term]) -> Result<bool> {
        let mut doubt = false;
        for (q, term) in (first..).zip(terms) {
            let pair = self.plan.pairs.get(q);
            let value = if self.plan.pairs.halved { term.value.re() } else { term.value };
            let weight = self.plan.pairs.weight(pair);
            let value = if weight == 1.0 { value } else { value.times(Scaled::real(weight)) };
            let block = (q / self.plan.block.max(1)).checked_sub(self.first);
            let slot = block.and_then(|b| self.partials.get_mut(b));
            let slot = slot.ok_or_else(|| Error::Internal(format!("a term of pair {q} in no block")))?;
            *slot = slot.plus(value);
            doubt |= term.doubt;
        }
        Ok(doubt)
    }
}

impl ContractOps for GpuContraction {
    fn machine(&self) -> Machine {
        Machine {
            // A launch takes microseconds; a product of fewer rows takes less.
            fill_rows: 1 << 17,
            cache: 40 << 20,
            workspace: self.context.device_budget().limit().unwrap_or(u64::MAX).min(256 << 20),
            workers: 1,
            chain_rank: CHAIN_RANK,
            ring_rank: RING_RANK,
            grid_rank: GRID_RANK,
            shares: 2,
            vectors: None,
            meet_rank: MEET_RANK,
            dense_halves: false,
            // Larger chunks leave the device idle less often: it is idle between launches.
            batch: 1 << 15,
        }
    }

    fn finalize_plan(&self, plan: &mut Plan, x: &Shape, y: &Shape, options: &Options) -> Result<()> {
        if matches!(plan.method, Method::Halves | Method::Power) {
            // These methods have a single kernel, and the planned workspace is right.
            return Ok(());
        }
        with_scalar!(plan.dtype, "x", T => finalize_plan::<T>(&self.gpu, plan, (x, y), options))
    }

    fn await_caller(&self, stream: Option<&Stream>) -> Result<()> {
        self.stream(stream).synchronize()
    }

    fn pairs(&mut self, work: &Work<'_>, blocks: Range<usize>, partials: &mut [Scaled]) -> Result<()> {
        if blocks.is_empty() {
            return Ok(());
        }
        with_scalar!(work.plan.dtype, "x", T => self.run::<T>(work, blocks, partials))
    }

    fn enqueue(
        &mut self,
        work: &Work<'_>,
        wanted: Wanted,
        workspace: Option<&DeviceMemory>,
        to: Option<Region<'_>>,
    ) -> Result<Enqueued> {
        with_scalar!(work.plan.dtype, "x", T => match wanted {
            Wanted::Product => self.enqueued::<T>(work, false, workspace, to),
            Wanted::Root => self.enqueued::<T>(work, true, workspace, to),
            Wanted::Norm => self.enqueued_norm::<T>(work, &[(work.x, 1.0)], workspace, to),
            Wanted::Distance => self.enqueued_norm::<T>(work, &[(work.x, 1.0), (work.y, -1.0)], workspace, to),
        })
    }

    fn takes(&self, plan: &Plan) -> bool {
        batch::takes(plan)
    }

    fn many(
        &mut self,
        stream: Option<&Stream>,
        items: &[Item<'_>],
        cancel: &CancelFlag,
        sums: &mut [Scaled],
    ) -> Result<()> {
        self.batch(stream, items, cancel, sums)
    }

    fn halves(&mut self, work: &Work<'_>) -> Result<Scaled> {
        if work.sizes.far {
            // A dense tensor has one exponent, so small entries may underflow. The sum by pairs scales every product.
            let mut partials = alloc::filled("partial sums of a contraction", work.plan.blocks(), Scaled::ZERO)?;
            self.pairs(work, 0..work.plan.blocks(), &mut partials)?;
            return Ok(partials.into_iter().fold(Scaled::ZERO, Scaled::plus));
        }
        let host = |host: &mut CpuContraction, work: &Work<'_>| host.halves(work);
        with_scalar!(work.plan.dtype, "x", T => self.by_library::<T>(work, halves::contract::<T>, host))
    }

    fn power(&mut self, work: &Work<'_>) -> Result<Scaled> {
        let host = |host: &mut CpuContraction, work: &Work<'_>| host.power(work);
        with_scalar!(work.plan.dtype, "x", T => self.by_library::<T>(work, power::contract::<T>, host))
    }

    fn triangle(&mut self, work: &Work<'_>) -> Result<Scaled> {
        let mut sum = [Scaled::ZERO];
        self.pairs(work, 0..1, &mut sum)?;
        Ok(sum[0].re())
    }

    fn qr_norm(&mut self, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled> {
        with_scalar!(work.plan.dtype, "x", T => self.factored::<T>(work, trains))
    }
}
