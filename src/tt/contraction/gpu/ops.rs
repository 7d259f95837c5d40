//! The operations that contractions ask for, on a GPU: each is passed to the file of its method.

use std::ops::Range;

use super::call::{Call, Sums, read};
use super::load::Loaded;
use super::planned::{is_two_ended, length, middle, sites};
use super::scale::Exponents;
use super::state::GpuContraction;
use super::{batch, blocks, chain, ends, halves, power, qr};
use crate::alloc;
use crate::backend::gpu::kernels::tt;
use crate::backend::gpu::{Blas, DeviceMemory, Gpu, Region};
use crate::contraction::cpu::CpuContraction;
use crate::contraction::ops::{ContractOps, Enqueued, Item, Machine, Wanted, Work};
use crate::contraction::plan::{Plan, expect_within};
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::scalar::Complex;
use crate::shape::{product, to_u64};
use crate::stream::Stream;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::info::Kernel;
use crate::trains::options::{Math, Method, Options};
use crate::trains::scaled::Scaled;

/// Largest rank of the chain kernels.
const CHAIN_RANK: usize = 64;
/// Largest rank of rings for the chain kernels. Beyond, library products of many pairs are faster.
const RING_RANK: usize = 32;
/// Largest rank of open trains for which one kernel on all multiprocessors is faster than a library call for each
/// product.
const GRID_RANK: usize = 256;
/// Largest rank at which open trains are contracted from both ends.
const MEET_RANK: usize = 2048;

/// Chooses among purlin's own kernels, and sets the workspace of the plan.
fn finalize_plan(gpu: &Gpu, plan: &mut Plan, shapes: (&Shape, &Shape), options: &Options) -> Result<()> {
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
    if !plan.grid && chain::form_of(plan.dtype, gpu, &sites, length, plan.pairs.len())?.is_some() {
        let meets = &sites[if ends { middle(&sites) } else { 0 }];
        let elements = if ends { product("rank", meets.r[0], meets.s[0])? } else { 0 };
        let both = to_u64(product("rank", elements, 2 * plan.dtype.size())?);
        // A sweep from one end keeps the environment in the block's shared memory and needs no workspace.
        plan.two_ended = ends && (!is_strict || both <= plan.limit);
        plan.workspace = if plan.two_ended { both } else { 0 };
        return Ok(());
    }
    let (environment, products) = tt::grid_strides(&sites)?;
    let needed = product("work space", 2 * environment + products, 2 * plan.dtype.size())?;
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

impl GpuContraction {
    /// Calls `run` with cuBLAS. If the library is not installed, calls `host` with trains in host memory instead.
    fn by_library(
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
        let x = Loaded::new(work.plan.dtype, &self.context, &gpu, &stream, "x", work.x)?;
        let same = work.x.is_same(work.y);
        let y =
            if same { None } else { Some(Loaded::new(work.plan.dtype, &self.context, &gpu, &stream, "y", work.y)?) };
        let call = Call::new(work, &gpu, &stream, &x, y.as_ref().unwrap_or(&x))?;
        run(&call, self.blas(&stream)?, self.math)
    }

    /// The norm of a sum of trains by QR factors.
    fn factored(&mut self, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled> {
        let (gpu, stream) = (self.gpu.clone(), self.stream(work.stream));
        if !self.allocate_workspace(&stream)? || !self.allocate_solver(&stream)? {
            return self.norm_by_host(work, trains);
        }
        let loaded = self.loaded(work.plan.dtype, &stream, trains)?;
        let terms = qr::terms_of(&loaded, trains)?;
        if qr::is_graded(&gpu, &stream, work, &terms)? {
            return self.norm_by_host(work, trains);
        }
        let exponents = Exponents::new(work.plan.dtype, &gpu, &stream, 2)?;
        let numbers = gpu.allocate_uninitialized_on(&stream, "numbers of a norm", qr::NUMBERS)?;
        let bytes = qr::results(qr::terms(work, &terms)?)?;
        let results = gpu.allocate_uninitialized_on(&stream, "terms of a norm", bytes)?;
        // Move the workspace out of `self`, because the libraries are borrowed from `self` at the same time.
        let mut own = std::mem::take(&mut self.work);
        let solver = self.solver.as_ref().ok_or_else(|| Error::Internal("norms without cuSOLVER".into()))?;
        let count = self.blas(&stream).and_then(|blas| {
            let space = qr::Space::Own(&mut own);
            let numbers = numbers.whole();
            let mut norms = qr::Norms {
                dtype: work.plan.dtype,
                gpu: &gpu,
                stream: &stream,
                blas,
                solver,
                numbers,
                exponents,
                space,
            };
            norms.enqueue(work, &terms, results.whole())
        });
        self.work = own;
        let count = count?;
        work.run_host_work();
        let sum = read(&gpu, &stream, &results, count)?.iter().fold(Scaled::ZERO, |sum, term| sum.plus(term.value));
        Ok(if sum.is_finite() { sum.re().sqrt() } else { Scaled::new(Complex::new(f64::NAN, 0.0), 0) })
    }

    fn run(&mut self, work: &Work<'_>, blocks: Range<usize>, partials: &mut [Scaled]) -> Result<()> {
        let stream = self.stream(work.stream);
        let gpu = self.gpu.clone();
        let x = Loaded::new(work.plan.dtype, &self.context, &gpu, &stream, "x", work.x)?;
        let same = work.x.is_same(work.y);
        let y =
            if same { None } else { Some(Loaded::new(work.plan.dtype, &self.context, &gpu, &stream, "y", work.y)?) };
        let call = Call::new(work, &gpu, &stream, &x, y.as_ref().unwrap_or(&x))?;
        let plan = work.plan;
        let terms = plan.pairs.block(blocks.start, plan.block).start..plan.pairs.block(blocks.end - 1, plan.block).end;
        let own = plan.kernel == Kernel::Chain;
        let mut sums = Sums::new(plan, blocks.clone(), partials);
        if work.sizes.far {
            return chain::careful(&call, terms, &mut sums);
        }
        if own
            && !plan.grid
            && let Some(form) = chain::form_of(plan.dtype, &gpu, &call.sites, call.length, terms.len())?
        {
            let careful = if plan.two_ended {
                chain::two_ended(&call, form, &mut sums)?
            } else {
                chain::pairs(&call, form, terms.clone(), &mut sums)?
            };
            return if careful { chain::careful(&call, terms, &mut sums) } else { Ok(()) };
        }
        if own || !self.allocate_workspace(&stream)? {
            let doubt = chain::one_by_one(&call, terms.clone(), false, &mut sums)?;
            return if doubt { chain::careful(&call, terms, &mut sums) } else { Ok(()) };
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
            ends::contract(&call, self.blas(&stream)?, self.blas(&side)?, self.math, &mut sums)?
        } else {
            blocks::contract(&call, self.blas(&stream)?, self.math, blocks, &mut sums)?
        };
        if doubt { chain::careful(&call, terms, &mut sums) } else { Ok(()) }
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
        finalize_plan(&self.gpu, plan, (x, y), options)
    }

    fn await_caller(&self, stream: Option<&Stream>) -> Result<()> {
        self.stream(stream).synchronize()
    }

    fn pairs(&mut self, work: &Work<'_>, blocks: Range<usize>, partials: &mut [Scaled]) -> Result<()> {
        if blocks.is_empty() {
            return Ok(());
        }
        self.run(work, blocks, partials)
    }

    fn enqueue(
        &mut self,
        work: &Work<'_>,
        wanted: Wanted,
        workspace: Option<&DeviceMemory>,
        to: Option<Region<'_>>,
    ) -> Result<Enqueued> {
        match wanted {
            Wanted::Product => self.enqueued(work, false, workspace, to),
            Wanted::Root => self.enqueued(work, true, workspace, to),
            Wanted::Norm => self.enqueued_norm(work, &[(work.x, 1.0)], workspace, to),
            Wanted::Distance => self.enqueued_norm(work, &[(work.x, 1.0), (work.y, -1.0)], workspace, to),
        }
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
        self.by_library(work, halves::contract, host)
    }

    fn power(&mut self, work: &Work<'_>) -> Result<Scaled> {
        let host = |host: &mut CpuContraction, work: &Work<'_>| host.power(work);
        self.by_library(work, power::contract, host)
    }

    fn triangle(&mut self, work: &Work<'_>) -> Result<Scaled> {
        let mut sum = [Scaled::ZERO];
        self.pairs(work, 0..1, &mut sum)?;
        Ok(sum[0].re())
    }

    fn qr_norm(&mut self, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled> {
        self.factored(work, trains)
    }
}
