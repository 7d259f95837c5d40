//! The operations of the solver on the threads of a context.

use std::sync::{Arc, Mutex, PoisonError};

use super::chain::Chain;
use super::engine::{Engine, WIDEST, with_engine};
use super::feed::{Feed, Leaf};
use super::general::WorkArrays;
use super::tensor::{Scratch, SingleTensor};
use crate::alloc;
use crate::backend::cpu::simd::Vectorized;
use crate::backend::cpu::{Isa, parallel};
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::sshopm::ops::SshopmOps;
use crate::sshopm::plan::{Counts, Plan, RowSizes, Rows, Tile};

/// Limit of the tensors in a leaf, the unit of work of a thread.
const GRAIN: usize = 256;

/// The CPU backend of the solver.
pub struct CpuOps<'a, T> {
    context: &'a Context,
    chain: Arc<Chain>,
    memory: Mutex<Vec<Memory<T>>>,
    /// Tensors that are solved at the same time, one for each [`Memory`].
    threads: usize,
    charges: Vec<Charge>,
}

/// Buffers of a thread, kept for all its tensors.
struct Memory<T> {
    scratch: Scratch<T>,
    schedule: TensorSchedule<T>,
    general: WorkArrays<T>,
}

/// Method of solving tensors, with its memory: many through a pool of lanes, or one at a time.
#[expect(clippy::large_enum_variant, reason = "one for each thread")]
enum TensorSchedule<T> {
    Pooled(Feed<T>),
    OneAtATime(SingleTensor<T>),
}

/// Whether a shape has generated kernels.
pub fn is_nested(order: usize, dimension: usize) -> bool {
    dimension == 3 && matches!(order, 2 | 3 | 4 | 6 | 8)
}

impl<'a, T: Vectorized> CpuOps<'a, T> {
    /// Allocates memory for every thread of the context.
    ///
    /// # Errors
    /// As [`CpuOps::for_tiles`].
    pub fn new(context: &'a Context, plan: &Plan<T>) -> Result<Self> {
        Self::for_tiles(context, plan, usize::MAX)
    }

    /// Allocates memory for tiles of at most `count` tensors, with at most one thread for each tensor. Uses fewer threads if
    /// the context's limit is too small for all.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if not even one thread's memory fits the limit.
    pub fn for_tiles(context: &'a Context, plan: &Plan<T>, count: usize) -> Result<Self> {
        let chain = Chain::of(plan.shape)?;
        let threads = context.pool().threads().min(count);
        let mut memory = alloc::with_capacity("thread memory", threads)?;
        let mut charges = alloc::with_capacity("thread memory", threads)?;
        let budget = context.host_budget();
        for _ in 0..threads {
            let before = budget.available();
            let one = alloc::limited(budget, || Memory::new(context, &chain, plan));
            let (one, charge) = match one {
                Err(Error::OutOfMemory { limit: Some(_), .. }) if !memory.is_empty() => break,
                other => other?,
            };
            memory.push(one);
            charges.push(charge);
            // Leave half of the remaining memory for the tile.
            if budget.available() / 2 < before.saturating_sub(budget.available()) {
                break;
            }
        }
        let threads = memory.len();
        Ok(Self { context, chain, memory: Mutex::new(memory), threads, charges })
    }

    /// Bytes of the threads' memory.
    pub fn bytes(&self) -> u64 {
        self.charges.iter().map(Charge::bytes).sum()
    }
}

impl<T: Vectorized> Memory<T> {
    fn new(context: &Context, chain: &Chain, plan: &Plan<T>) -> Result<Self> {
        let scratch = Scratch::new(plan, WIDEST)?;
        let mut general = WorkArrays::new(chain, WIDEST)?;
        let schedule = match with_engine(context.isa(), chain, &mut general, |engine| engine.pool_width()) {
            Some(width) => TensorSchedule::Pooled(Feed::new(plan, width, scratch.stride)?),
            None => TensorSchedule::OneAtATime(SingleTensor::new(plan, scratch.stride)?),
        };
        Ok(Self { scratch, schedule, general })
    }
}

impl<T: Vectorized> SshopmOps<T> for CpuOps<'_, T> {
    fn solve_tile(
        &mut self,
        plan: &Plan<T>,
        tile: Tile<'_, T>,
        rows: Rows<'_, T>,
        trace: &mut [T],
        sizes: &RowSizes,
        cancel: &CancelFlag,
    ) -> Result<Counts> {
        let count = tile.input.len() / plan.shape.count();
        // Threads without a memory of their own leave the leaves to the others.
        let most = Some(self.threads).filter(|threads| *threads < self.context.pool().threads());
        let job = TileJob { plan, tile, sizes, cancel, chain: &self.chain, memory: &self.memory };
        let isa = self.context.isa();
        self.context.pool().run(|| job.run(isa, (0, count), most, rows, trace))
    }
}

struct TileJob<'a, T> {
    plan: &'a Plan<T>,
    tile: Tile<'a, T>,
    sizes: &'a RowSizes,
    cancel: &'a CancelFlag,
    chain: &'a Chain,
    memory: &'a Mutex<Vec<Memory<T>>>,
}

/// Tensors of the first of two parts of `count`, and how many leaves each part may have if both may have `most`.
fn halves(count: usize, most: Option<usize>) -> (usize, Option<usize>, Option<usize>) {
    match most {
        None => (count / 2, None, None),
        Some(most) => ((count / most * (most / 2)).max(1), Some(most / 2), Some(most - most / 2)),
    }
}

impl<T: Vectorized> TileJob<'_, T> {
    /// Solves `count` tensors from `first` on. Splits them into parts that run in parallel, into `most` leaves at most.
    fn run(
        &self,
        isa: Isa,
        (first, count): (usize, usize),
        most: Option<usize>,
        rows: Rows<'_, T>,
        trace: &mut [T],
    ) -> Result<Counts> {
        if count > GRAIN.min(self.grain()) && most != Some(1) {
            let (part, of_left, of_right) = halves(count, most);
            let (left, right) = rows.split(part, self.sizes);
            let (a, b) = parallel::join(
                || self.run(isa, (first, part), of_left, left, &mut []),
                || self.run(isa, (first + part, count - part), of_right, right, &mut []),
            );
            return Ok(a?.plus(b?));
        }
        let taken = self.memory.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(mut memory) = taken else {
            return Err(Error::Internal("more leaves than threads".into()));
        };
        let Memory { scratch, schedule, general } = &mut memory;
        let counts = with_engine(isa, self.chain, general, |engine| match schedule {
            TensorSchedule::Pooled(feed) => {
                let (plan, tile, sizes) = (self.plan, self.tile, self.sizes);
                Leaf { isa, engine, plan, tile, sizes, first, count, rows, scratch, feed }.run(self.cancel, trace)
            }
            TensorSchedule::OneAtATime(alone) => self.leaf(isa, engine, (scratch, alone), first, count, rows, trace),
        });
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
        counts
    }

    /// Tensors in a leaf: fewer if a tensor takes long.
    fn grain(&self) -> usize {
        let work = self.plan.shape.count().saturating_mul(self.plan.start_count);
        (1_000_000 / work.max(1)).max(1)
    }

    /// Solves consecutive tensors on this thread, one at a time.
    #[expect(clippy::too_many_arguments, reason = "a thread's memory and results")]
    fn leaf(
        &self,
        isa: Isa,
        engine: &mut dyn Engine<T>,
        (scratch, alone): (&mut Scratch<T>, &mut SingleTensor<T>),
        first: usize,
        count: usize,
        rows: Rows<'_, T>,
        trace: &mut [T],
    ) -> Result<Counts> {
        let packed = self.plan.shape.count();
        let mut counts = Counts::default();
        let mut rest = rows;
        for t in first..first + count {
            self.cancel.check()?;
            let (mut rows, others) = rest.split(1, self.sizes);
            rest = others;
            counts = counts.plus(if self.tile.mask.get(t) == Some(&0) {
                super::write::write_masked(self.plan, &mut rows)
            } else {
                let input = &self.tile.input[t * packed..(t + 1) * packed];
                let index = self.tile.first + t;
                super::tensor::solve(isa, engine, self.plan, index, input, scratch, alone, &mut rows, trace)
            });
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(count: usize, most: Option<usize>, grain: usize) -> Vec<usize> {
        if count <= grain || most == Some(1) {
            return vec![count];
        }
        let (part, left, right) = halves(count, most);
        let mut all = leaves(part, left, grain);
        all.extend(leaves(count - part, right, grain));
        all
    }

    /// By halves alone, memory for 3 of 4 threads met 4 leaves that ran at the same time.
    #[test]
    fn there_are_as_many_leaves_as_memories_at_most() {
        for count in [1, 2, 3, 7, 100, 1001, 4096] {
            for most in 1..20 {
                let all = leaves(count, Some(most), 5);
                assert!(all.len() <= most && all.iter().sum::<usize>() == count && !all.contains(&0), "{count} {most}");
                let largest = *all.iter().max().unwrap();
                assert!(largest <= (count / most + most).max(5), "{count} tensors, {most} leaves: {all:?}");
            }
            assert_eq!(leaves(count, None, 5).iter().sum::<usize>(), count);
        }
    }
}
