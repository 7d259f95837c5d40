//! SS-HOPM on the CPU: tensors in parallel over the context's threads, the starts of a tensor over the lanes of its
//! vectors.
//!
//! | module | what it does |
//! |---|---|
//! | [`nested`], [`chain`] | products with a tensor: generated for dimension 3, by contraction for any shape |
//! | [`three`], [`general`] | the iterations on them, with [`steps`], [`flight`], [`linear`] |
//! | [`load`], [`reduce`] | one tensor in; its pairs out |
//! | [`tensor`] | from entries to results |
//! | [`batch`] | products and classification |
//!
//! Every tensor is worked on by one thread, and a lane's numbers do not depend on its neighbours: results are bitwise the
//! same for any number of threads.

pub mod batch;
pub mod chain;
pub mod engine;
pub mod flight;
pub mod general;
pub mod linear;
pub mod load;
pub mod nested;
pub mod reduce;
pub mod steps;
pub mod tensor;
pub mod three;

use std::sync::{Arc, Mutex, PoisonError};

use self::chain::Chain;
use self::engine::{Engine, with_engine};
use self::general::General;
use self::tensor::Scratch;
use super::algorithm::SshopmOps;
use super::plan::{Counts, Plan, RowSizes, Rows, Tile};
use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::Vectorised;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;

/// Most lanes of a vector times the vectors worked on at once.
pub const WIDEST: usize = 32;
/// Tensors that a thread takes at once.
const GRAIN: usize = 64;

/// The CPU's side of the solver.
pub struct CpuOps<'a, T> {
    context: &'a Context,
    chain: Arc<Chain>,
    scratch: Mutex<Vec<(Scratch<T>, General<T>)>>,
}

/// Whether a shape has generated kernels.
pub fn is_nested(order: usize, dimension: usize) -> bool {
    dimension == 3 && matches!(order, 2 | 3 | 4 | 6 | 8)
}

impl<'a, T: Vectorised> CpuOps<'a, T> {
    /// Memory for every thread.
    pub fn new(context: &'a Context, plan: &Plan<T>) -> Result<Self> {
        let chain = Chain::of(plan.shape)?;
        let threads = context.pool().threads();
        let mut scratch = crate::alloc::with_capacity("thread memory", threads)?;
        for _ in 0..threads {
            scratch.push((Scratch::new(plan, WIDEST)?, General::new(&chain, WIDEST)?));
        }
        Ok(Self { context, chain, scratch: Mutex::new(scratch) })
    }
}

impl<T: Vectorised> SshopmOps<T> for CpuOps<'_, T> {
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
        let job = TileJob { plan, tile, sizes, cancel, chain: &self.chain, scratch: &self.scratch };
        let isa = self.context.isa();
        self.context.pool().run(|| job.run(isa, 0, count, rows, trace))
    }
}

struct TileJob<'a, T> {
    plan: &'a Plan<T>,
    tile: Tile<'a, T>,
    sizes: &'a RowSizes,
    cancel: &'a CancelFlag,
    chain: &'a Chain,
    scratch: &'a Mutex<Vec<(Scratch<T>, General<T>)>>,
}

impl<T: Vectorised> TileJob<'_, T> {
    /// Works on `count` tensors from `first` on, halves of them in parallel.
    fn run(&self, isa: Isa, first: usize, count: usize, rows: Rows<'_, T>, trace: &mut [T]) -> Result<Counts> {
        if count > GRAIN.min(self.grain()) {
            let half = count / 2;
            let (left, right) = rows.split(half, self.sizes);
            let (a, b) = rayon::join(
                || self.run(isa, first, half, left, &mut []),
                || self.run(isa, first + half, count - half, right, &mut []),
            );
            return Ok(a?.plus(b?));
        }
        let taken = self.scratch.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(mut memory) = taken else {
            return Err(Error::Internal("more leaves than threads".into()));
        };
        let (scratch, work) = &mut memory;
        let counts =
            with_engine(isa, self.chain, work, |engine| self.leaf(isa, engine, scratch, first, count, rows, trace));
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
        counts
    }

    /// Tensors a leaf: fewer where one takes long.
    fn grain(&self) -> usize {
        let work = self.plan.shape.count().saturating_mul(self.plan.start_count);
        (200_000 / work.max(1)).max(1)
    }

    /// Works on consecutive tensors in this thread.
    #[expect(clippy::too_many_arguments, reason = "a thread's memory and results")]
    fn leaf(
        &self,
        isa: Isa,
        engine: &mut dyn Engine<T>,
        scratch: &mut Scratch<T>,
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
                tensor::solve_masked(self.plan, &mut rows)
            } else {
                let input = &self.tile.input[t * packed..(t + 1) * packed];
                let index = self.tile.first + t;
                tensor::solve(isa, engine, self.plan, index, input, scratch, &mut rows, trace)
            });
        }
        Ok(counts)
    }
}
