//! The contractions of a context: methods, blocks of pairs, and the threads that share them.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::ops::{ContractOps, Enqueued, Item, Machine, Wanted, Work};
use super::super::peaks::Sizes;
use super::products::{Bra, Threads};
use super::sweep::{Care, Pair, Suspicious, Sweep, Workspace};
use super::{chain, ends, halves, power, qr};
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::cpu::{Isa, flags};
use crate::backend::gpu::{DeviceMemory, Region};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::scalar::{Complex, Scalar, with_scalar};
use crate::shape::to_u64;
use crate::stream::Stream;
use crate::tensor::train::TensorTrain;
use crate::trains::info::Kernel;
use crate::trains::options::Method;
use crate::trains::scaled::Scaled;

/// The contractions of a context on the CPU. Holds the workspace of the last call for the next.
pub struct CpuContraction {
    context: Arc<Context>,
    workspaces: Vec<Workspace>,
    chains: chain::workspaces::Workspaces,
}

impl CpuContraction {
    /// The contractions of a context.
    pub fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context), workspaces: Vec::new(), chains: chain::workspaces::Workspaces::default() }
    }

    /// Frees the workspace of the last call.
    fn free_workspace(&mut self) {
        self.workspaces.clear();
        self.chains.clear();
    }

    /// Allocates `count` workspaces for `block` pairs, unless those of the last call have the right number and size.
    fn allocate_workspace<T: Scalar>(&mut self, count: usize, block: usize, largest: (usize, usize)) -> Result<()> {
        let fits = self.workspaces.len() == count && self.workspaces.iter().all(|r| r.holds::<T>(block, largest));
        if fits {
            return Ok(());
        }
        self.workspaces.clear();
        for _ in 0..count {
            let workspace = Workspace::new::<T>(block, largest, self.context.host_budget())?;
            alloc::push("workspace of a contraction", &mut self.workspaces, workspace)?;
        }
        Ok(())
    }

    fn squared<T: Scalar>(&mut self, work: &Work<'_>) -> Result<Scaled> {
        let (x, y) = (Bra::<T>::new(work.x)?, work.y.cores::<T>("y")?);
        let pair = Pair { work, x: &x, y: &y, threads: Threads::All };
        self.allocate_workspace::<T>(1, work.plan.block, work.plan.largest)?;
        let workspace = &mut self.workspaces[0];
        self.context.pool().run(|| power::power(&pair, workspace))
    }

    fn run<T: Scalar>(&mut self, work: &Work<'_>, blocks: Range<usize>, partials: &mut [Scaled]) -> Result<()> {
        let plan = work.plan;
        let x = Bra::<T>::new(work.x)?;
        let y = work.y.cores::<T>("y")?;
        let parallel = plan.workers > 1 || plan.method == Method::Blocked && plan.blocks() > 1;
        let threads = if parallel { Threads::One } else { Threads::All };
        let pair = Pair { work, x: &x, y: &y, threads };
        let workspaces = if plan.meet < plan.cores { 2 } else { plan.workers };
        self.allocate_workspace::<T>(workspaces, plan.block, plan.largest)?;
        let workspaces = &mut self.workspaces[..];
        self.context.pool().run(|| {
            let next = AtomicUsize::new(blocks.start);
            let out = Mutex::new(partials);
            let pull = |workspaces: &mut [Workspace]| -> Result<()> {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= blocks.end {
                        return Ok(());
                    }
                    let sum = trusted(plan, work.sizes, |care| {
                        block(&pair, workspaces, care, plan.pairs.block(index, plan.block))
                    })?;
                    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
                    out[index - blocks.start] = sum;
                }
            };
            if parallel { workspaces.par_chunks_mut(1).try_for_each(pull) } else { pull(workspaces) }
        })
    }
}

/// Computes a sum with the least [`Care`] that loses no digits.
fn trusted(
    plan: &super::super::plan::Plan,
    sizes: Sizes,
    mut sum: impl FnMut(Care) -> Result<std::result::Result<Scaled, Suspicious>>,
) -> Result<Scaled> {
    // An overflow on the way makes the sum infinite, but an underflow leaves no trace in the sum. So a bound decides:
    // no environment was smaller than the sum divided by the growth of the cores behind it.
    let (bound, least) = if plan.dtype.is_single() { (96, -100) } else { (768, -900) };
    let is_safe = |sum: Scaled| {
        let inside = sum.is_finite() && !sum.is_zero() && sum.exponent.abs() < bound;
        inside && sum.exponent.saturating_sub(sizes.growth) > least
    };
    let may_be_safe = sizes.growth < -least;
    // Digits that one attempt lost do not concern the next attempt.
    let mut attempt = |care: Care| flags::watch(|| sum(care));
    if !plan.scaled && (!plan.rescue || (!sizes.far && may_be_safe)) {
        let (found, lost) = attempt(Care::None);
        if let Ok(sum) = found?
            && (!plan.rescue || (!lost && is_safe(sum)))
        {
            return Ok(sum);
        }
    }
    if !sizes.far {
        let (found, lost) = attempt(Care::Sites);
        if let Ok(sum) = found?
            && (plan.scaled || !sum.is_zero())
            && !(lost && plan.rescue)
        {
            return Ok(sum);
        }
    }
    match sum(Care::Products)? {
        Ok(sum) => Ok(sum),
        Err(Suspicious) => Err(Error::Internal("a careful contraction that is not trusted".into())),
    }
}

/// The sum over a block of pairs.
fn block<T: Scalar>(
    pair: &Pair<'_, T>,
    workspaces: &mut [Workspace],
    care: Care,
    pairs: Range<usize>,
) -> Result<std::result::Result<Scaled, Suspicious>> {
    let plan = pair.work.plan;
    let sites = plan.sites();
    if sites == 1 {
        return Ok(Ok(traces(pair, pairs)));
    }
    if plan.meet < plan.cores || plan.grow[0] > 0 {
        return ends::open(pair, workspaces, care);
    }
    let Some(workspace) = workspaces.first_mut() else { return Ok(Ok(Scaled::ZERO)) };
    let count = pairs.len();
    let mut sweep = Sweep::new(workspace, care);
    for i in 0..sites - 1 {
        let k = plan.core(i);
        match i {
            0 => sweep.first(pair, k, pairs.clone())?,
            _ if plan.block == 1 => sweep.right(pair, k)?,
            _ => sweep.right_block(pair, k, count)?,
        }
        let [_, _, r, _, s] = pair.sizes(k);
        if sweep.scale::<T>(r * s * count)?.is_err() {
            return Ok(Err(Suspicious));
        }
        pair.work.step()?;
        if sweep.is_zero() {
            return Ok(Ok(Scaled::ZERO));
        }
    }
    let sum = sweep.last(pair, plan.core(sites - 1), pairs)?;
    pair.work.step()?;
    Ok(Ok(sum))
}

/// The terms of a train of one core: sums over the mode index of products of diagonal entries.
fn traces<T: Scalar>(pair: &Pair<'_, T>, pairs: Range<usize>) -> Scaled {
    let plan = pair.work.plan;
    let [n, r, _, s, _] = pair.sizes(0);
    let mut sum = Scaled::ZERO;
    for q in pairs {
        let (px, py) = plan.pairs.get(q);
        for i in 0..n {
            let (x, y) = (pair.x.at(0, px + r * (i + n * px)), pair.y.core(0)[py + s * (i + n * py)]);
            let y = if plan.conjugate { y.conjugate() } else { y };
            let exact = |v: T| Scaled::new(Complex::new(v.re(), v.im()), 0);
            let term = exact(x).times(exact(y));
            let term = if plan.pairs.halved { term.re() } else { term };
            sum = sum.plus(term.times(Scaled::real(plan.pairs.weight((px, py)))));
        }
    }
    sum
}

impl ContractOps for CpuContraction {
    fn machine(&self) -> Machine {
        Machine {
            fill_rows: 256,
            cache: 512 << 10,
            workspace: self.context.host_budget().limit().unwrap_or(u64::MAX).min(64 << 20),
            workers: self.context.pool().threads(),
            // For larger ranks the library is faster, although it packs operands: they no longer fit into the first
            // caches.
            chain_rank: if self.context.isa() == Isa::Avx512 { 64 } else { 32 },
            ring_rank: usize::MAX,
            grid_rank: 0,
            shares: 64,
            vectors: Some(self.context.isa()),
            meet_rank: usize::MAX,
            dense_halves: true,
            batch: 1 << 12,
        }
    }

    fn pairs(&mut self, work: &Work<'_>, blocks: Range<usize>, partials: &mut [Scaled]) -> Result<()> {
        // Free the workspace of the other kernel, so that never more than one call's workspace is held.
        match work.plan.kernel {
            Kernel::Products => {
                self.chains.clear();
                with_scalar!(work.plan.dtype, "x", T => self.run::<T>(work, blocks, partials))
            }
            Kernel::Chain => {
                self.workspaces.clear();
                self.chains.pairs(&self.context, work, blocks, partials)
            }
        }
    }

    fn enqueue(
        &mut self,
        _: &Work<'_>,
        _: Wanted,
        _: Option<&DeviceMemory>,
        _: Option<Region<'_>>,
    ) -> Result<Enqueued> {
        Err(Error::NotSupported("context: is on the CPU, where nothing is enqueued".into()))
    }

    fn takes(&self, plan: &super::super::plan::Plan) -> bool {
        // A longer contraction keeps all threads busy.
        plan.chain.is_some() && plan.flops < 1e8
    }

    fn many_bytes(&self, items: &[Item<'_>]) -> u64 {
        let (count, bytes) = chain::workspaces::share(&self.context, items);
        to_u64(count).saturating_mul(to_u64(bytes))
    }

    fn many(&mut self, _: Option<&Stream>, items: &[Item<'_>], cancel: &CancelFlag, sums: &mut [Scaled]) -> Result<()> {
        self.workspaces.clear();
        self.chains.many(&self.context, items, cancel, sums)
    }

    fn halves(&mut self, work: &Work<'_>) -> Result<Scaled> {
        self.free_workspace();
        if work.sizes.far {
            // A dense tensor has one exponent, so small entries may underflow. The sum by pairs scales every product.
            let mut partials = alloc::filled("partial sums of a contraction", work.plan.blocks(), Scaled::ZERO)?;
            with_scalar!(work.plan.dtype, "x", T => self.run::<T>(work, 0..work.plan.blocks(), &mut partials))?;
            return Ok(partials.into_iter().fold(Scaled::ZERO, Scaled::plus));
        }
        with_scalar!(work.plan.dtype, "x", T => halves::halves::<T>(&self.context, work))
    }

    fn power(&mut self, work: &Work<'_>) -> Result<Scaled> {
        self.chains.clear();
        with_scalar!(work.plan.dtype, "x", T => self.squared::<T>(work))
    }

    fn triangle(&mut self, work: &Work<'_>) -> Result<Scaled> {
        let mut sum = [Scaled::ZERO];
        self.pairs(work, 0..1, &mut sum)?;
        Ok(sum[0].re())
    }

    fn qr_norm(&mut self, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled> {
        self.free_workspace();
        let context = &self.context;
        with_scalar!(work.plan.dtype, "x", T => context.pool().run(|| qr::norm::<T>(context, work, trains)))
    }
}
