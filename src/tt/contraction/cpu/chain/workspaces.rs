//! Chain contractions on the threads of a context.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Chain;
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::cpu::simd::Vectorized;
use crate::backend::memory::HostMemory;
use crate::context::Context;
use crate::contraction::ops::{Item, Work};
use crate::contraction::plan::Plan;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::scalar::{Scalar, with_scalar};
use crate::shape::to_u64;
use crate::tensor::train::Cores;
use crate::trains::scaled::Scaled;

/// Bytes of a batch's cores from which on the kernel prefetches: the size of a CPU core's own cache.
const CACHE: f64 = 1_048_576.0;

/// Workspaces of the threads, reused by later calls.
#[derive(Default)]
pub struct Workspaces {
    memory: Vec<HostMemory>,
}

/// Evaluates `$body` with the typed trains as `$trains`. x may be real and y complex.
macro_rules! with_trains {
    ($chain:expr, $x:expr, $y:expr, $trains:ident => $body:expr) => {
        with_scalar!($y.dtype(), "y", Y => {
            let y = $y.cores::<Y>("y")?;
            if $x.dtype() == $y.dtype() {
                let $trains = Trains { chain: $chain, x: $x.cores::<Y>("x")?, y };
                $body
            } else {
                let $trains = Trains { chain: $chain, x: $x.cores::<<Y as Scalar>::Part>("x")?, y };
                $body
            }
        })
    };
}

/// The trains of a call with their element types.
struct Trains<'a, X, Y> {
    chain: Chain,
    x: Cores<'a, X>,
    y: Cores<'a, Y>,
}

impl Workspaces {
    /// Allocates `count` workspaces of `bytes` bytes, unless they are large enough already.
    pub fn allocate_workspace(&mut self, context: &Context, count: usize, bytes: usize) -> Result<&mut [HostMemory]> {
        if self.memory.len() < count || self.memory.iter().any(|m| m.bytes() < bytes) {
            self.memory.clear();
            for _ in 0..count {
                let memory = HostMemory::allocate("workspace of a contraction", bytes, context.host_budget())?;
                alloc::push("workspace of a contraction", &mut self.memory, memory)?;
            }
        }
        Ok(&mut self.memory[..count])
    }

    /// Frees all workspaces. Their bytes are no longer charged to the budget.
    pub fn clear(&mut self) {
        self.memory.clear();
    }

    /// [`crate::contraction::ops::ContractOps::pairs`] for a plan with the chain kernel.
    pub fn pairs(
        &mut self,
        context: &Context,
        work: &Work<'_>,
        blocks: Range<usize>,
        partials: &mut [Scaled],
    ) -> Result<()> {
        let Some(chain) = work.plan.chain else {
            return Err(Error::Internal("a plan without its chain".into()));
        };
        with_trains!(chain, work.x, work.y, trains => self.run(context, work, &trains, blocks, partials))
    }

    /// [`crate::contraction::ops::ContractOps::many`]. The threads share the items; one thread computes all blocks of an
    /// item.
    pub fn many(
        &mut self,
        context: &Context,
        items: &[Item<'_>],
        cancel: &CancelFlag,
        sums: &mut [Scaled],
    ) -> Result<()> {
        let cold = items.iter().map(|item| item.plan.bytes).sum::<f64>() > CACHE;
        let (count, bytes) = share(context, items);
        let workspaces = self.allocate_workspace(context, count, bytes)?;
        let next = AtomicUsize::new(0);
        let out = Mutex::new(sums);
        let pull = |workspace: &mut HostMemory| -> Result<()> {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { return Ok(()) };
                cancel.check()?;
                let sum = whole(item, cold, workspace)?;
                out.lock().unwrap_or_else(PoisonError::into_inner)[index] = sum;
            }
        };
        match workspaces {
            [one] => context.pool().run_short(|| pull(one)),
            many => context.pool().run(|| many.par_iter_mut().try_for_each(pull)),
        }
    }

    fn run<X, Y>(
        &mut self,
        context: &Context,
        work: &Work<'_>,
        trains: &Trains<'_, X, Y>,
        blocks: Range<usize>,
        partials: &mut [Scaled],
    ) -> Result<()>
    where
        X: Scalar<Part: Vectorized>,
        Y: Scalar<Part = X::Part>,
    {
        let plan = work.plan;
        let bytes = trains.chain.workspace(plan.block) * size_of::<X::Part>();
        let workspaces = self.allocate_workspace(context, plan.workers, bytes)?;
        let next = AtomicUsize::new(blocks.start);
        let out = Mutex::new(partials);
        let pull = |workspace: &mut HostMemory| -> Result<()> {
            let workspace = workspace.as_mut_slice::<X::Part>()?;
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= blocks.end {
                    return Ok(());
                }
                let sum = block(plan, trains, plan.pairs.block(index, plan.block), workspace)?;
                out.lock().unwrap_or_else(PoisonError::into_inner)[index - blocks.start] = sum;
                work.done.fetch_add(plan.sites(), Ordering::Relaxed);
                work.cancel.check()?;
            }
        };
        match workspaces {
            [one] => context.pool().run_short(|| pull(one)),
            many => context.pool().run(|| many.par_iter_mut().try_for_each(pull)),
        }
    }
}

/// Number and bytes of the workspaces for these items.
pub fn share(context: &Context, items: &[Item<'_>]) -> (usize, usize) {
    let (mut bytes, mut limit) = (0, u64::MAX);
    for plan in items.iter().map(|item| &item.plan) {
        let part = if plan.dtype.is_single() { 4 } else { 8 };
        bytes = bytes.max(plan.chain.map_or(0, |c| c.workspace(plan.block)) * part);
        limit = limit.min(plan.limit);
    }
    let fitting = (limit / to_u64(bytes.max(1))).min(to_u64(context.pool().threads())) as usize;
    (fitting.min(items.len()).max(1), bytes)
}

/// S of one item. `cold` says that its cores are probably in no cache.
fn whole(item: &Item<'_>, cold: bool, workspace: &mut HostMemory) -> Result<Scaled> {
    let plan = &item.plan;
    let Some(chain) = plan.chain else {
        return Err(Error::Internal("a plan without its chain".into()));
    };
    let chain = if cold { chain.from_memory() } else { chain };
    with_trains!(chain, item.x, item.y, trains => {
        let mut sum = Scaled::ZERO;
        for index in 0..plan.blocks() {
            sum = sum.plus(block(plan, &trains, plan.pairs.block(index, plan.block), workspace.as_mut_slice()?)?);
        }
        Ok(sum)
    })
}

/// The sum over a block of pairs, added in their order.
fn block<X, Y>(plan: &Plan, trains: &Trains<'_, X, Y>, pairs: Range<usize>, workspace: &mut [X::Part]) -> Result<Scaled>
where
    X: Scalar<Part: Vectorized>,
    Y: Scalar<Part = X::Part>,
{
    let all = plan.pairs;
    let mut sum = Scaled::ZERO;
    let mut terms = [Scaled::ZERO; super::TOGETHER];
    let mut first = pairs.start;
    while first < pairs.end {
        let count = (pairs.end - first).min(terms.len());
        trains.chain.run(&trains.x, &trains.y, &|q| all.get(first + q), workspace, &mut terms[..count])?;
        for (q, term) in terms[..count].iter().enumerate() {
            let term = if all.halved { term.re() } else { *term };
            sum = sum.plus(term.times(Scaled::real(all.weight(all.get(first + q)))));
        }
        first += count;
    }
    Ok(sum)
}
