//! Runs many tensors through one pool of lanes. An idle lane takes the next start. A tensor is reduced to its pairs when its
//! last start has ended.

use super::engine::{Engine, Vectors};
use super::flight::{Rule, state};
use super::load::{self, Loaded};
use super::pool::{JOB, LANES, Launch, Pool, row, write_job};
use super::reduce::{self, Ends, Merge};
use super::tensor::{Scratch, rule_of, verified};
use super::write::{self, Iterates, wants_starts, write_starts};
use crate::alloc;
use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::{Kernel, Lanes, Mask, Simd, Vectorized, dispatch};
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::scalar::Real;
use crate::shape::to_u64;
use crate::sshopm::options::{Goal, TensorStatus};
use crate::sshopm::plan::{Counts, Plan, RowSizes, Rows, Tile};

/// Most steps between two checks for cancellation.
const STEPS: usize = 64;
/// Approximate limit of starts whose ends a thread stores.
const CAPACITY: usize = 4096;

/// A tensor whose starts are running.
struct OpenTensor<T> {
    /// Its index in the leaf.
    place: usize,
    /// Whether this pass finds minima.
    minima: bool,
    /// Whether the next pass must begin.
    again: bool,
    /// Starts that were assigned to lanes so far, in this pass.
    fed: usize,
    /// Starts that have not ended.
    left: usize,
    /// Starts that converged, in both passes.
    converged: usize,
    /// Starts that did not converge, in both passes.
    missed: usize,
    /// Pairs listed by the previous pass.
    listed: usize,
    /// Pairs found by the previous pass.
    found: usize,
    status: TensorStatus,
    /// Largest magnitude of the entries.
    largest: T,
    loaded: Loaded<T>,
    /// Numbers of the job in the order of [`write_job`], then the entries.
    numbers: Vec<T>,
    serial: u64,
    ends: Ends<T>,
}

impl<T> OpenTensor<T> {
    /// Counts the end of `count` starts, and reports the tensor's slot if they were its last.
    #[inline(always)]
    fn end(&mut self, count: usize, converged: usize, slot: usize, finished: &mut Vec<usize>) {
        self.converged += converged;
        self.missed += count - converged;
        self.left -= count;
        if self.left == 0 {
            finished.push(slot);
        }
    }
}

/// A thread's pool of lanes, and the tensors whose starts are in it.
pub struct Feed<T> {
    pool: Pool<T>,
    open: Vec<OpenTensor<T>>,
    /// Indices in `open` without a tensor.
    free: Vec<usize>,
    /// Indices in `open` whose last start has ended.
    finished: Vec<usize>,
    /// Passes begun so far. A pass gives it to its tensor, and the pool compares it to see whether lanes are current.
    serial: u64,
}

impl<T: Real> Feed<T> {
    /// Allocates memory for the tensors of `plan` and vectors of `width` lanes; `stride` as in [`Scratch`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(plan: &Plan<T>, width: usize, stride: usize) -> Result<Self> {
        let starts = plan.start_count;
        // Enough tensors to keep all lanes busy, and some more while the slowest starts finish.
        let tensors = (2 * LANES / starts + 24).min((CAPACITY / starts).max(2));
        let mut open = alloc::with_capacity("thread memory", tensors)?;
        let mut free = alloc::with_capacity("thread memory", tensors)?;
        for slot in 0..tensors {
            let mut ends = Ends::new(plan.shape.dimension, stride)?;
            ends.arrays(plan.shape.dimension).open.fill(T::ZERO - T::from_f64(f64::INFINITY));
            open.push(OpenTensor {
                place: 0,
                minima: false,
                again: false,
                fed: 0,
                left: 0,
                converged: 0,
                missed: 0,
                listed: 0,
                found: 0,
                status: TensorStatus::NoPair,
                largest: T::ZERO,
                loaded: Loaded::none(),
                numbers: alloc::filled("packed entries", JOB + plan.shape.count(), T::ZERO)?,
                serial: 0,
                ends,
            });
            free.push(slot);
        }
        let finished = alloc::with_capacity("thread memory", tensors)?;
        Ok(Self { pool: Pool::new(plan.shape.order, width)?, open, free, finished, serial: 0 })
    }

    /// Clears the state that a cancelled call left.
    fn reset(&mut self) {
        self.pool.reset();
        self.free.clear();
        self.finished.clear();
        for (slot, open) in self.open.iter_mut().enumerate() {
            open.again = false;
            self.free.push(slot);
        }
    }
}

/// The tensors of a leaf, which run through a pool.
pub struct Leaf<'a, 'r, T> {
    /// Vector instructions of the context.
    pub isa: Isa,
    /// Kernels of the tensors' shape.
    pub engine: &'a mut dyn Engine<T>,
    /// The plan of the call, the same for all leaves.
    pub plan: &'a Plan<T>,
    /// The tile that contains the leaf.
    pub tile: Tile<'a, T>,
    /// Numbers that a tensor has in each output.
    pub sizes: &'a RowSizes,
    /// First tensor of the leaf in the tile.
    pub first: usize,
    /// Tensors of the leaf, from `first` on.
    pub count: usize,
    /// Outputs of the leaf's tensors.
    pub rows: Rows<'r, T>,
    /// The thread's buffers for one tensor.
    pub scratch: &'a mut Scratch<T>,
    /// The thread's pool and the tensors in it.
    pub feed: &'a mut Feed<T>,
}

/// State of the loop over a leaf.
struct Position<T> {
    rule: Rule<T>,
    per_start: bool,
    /// The next tensor to begin.
    next: usize,
    /// The index in `open` whose starts are being assigned to lanes.
    feeding: Option<usize>,
    counts: Counts,
}

impl<T: Vectorized> Leaf<'_, '_, T> {
    /// Solves all tensors. If `trace` is not empty, there is one tensor with one start.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; [`Error::Internal`] for an engine without a kernel of pools.
    pub fn run(mut self, cancel: &CancelFlag, trace: &mut [T]) -> Result<Counts> {
        let mut at = Position {
            rule: rule_of(self.plan, &self.rows),
            per_start: wants_starts(&self.rows),
            next: 0,
            feeding: None,
            counts: Counts::default(),
        };
        let steps = if trace.is_empty() { STEPS } else { 1 };
        let mut trace = trace.iter_mut();
        self.feed.reset();
        loop {
            cancel.check()?;
            self.refill(&mut at);
            if self.feed.pool.busy.iter().all(|b| *b == 0) {
                return Ok(at.counts);
            }
            // Half was the fastest of the fractions tried, from a quarter to four fifths: assigning new starts has a
            // cost, too.
            let keep = if self.source(&mut at).is_some() { LANES / 2 } else { 0 };
            if !self.engine.advance_pool(&at.rule, &mut self.feed.pool, keep, steps) {
                return Err(Error::Internal("a pool without its kernel".into()));
            }
            if let Some(t) = trace.next() {
                let pool = &self.feed.pool;
                let lambda = pool.lane(0, 0)[row::LAMBDA * pool.width];
                *t = self.feed.open[pool.owner[0] as usize].loaded.value(lambda);
            }
            self.collect_ended(&mut at);
        }
    }

    /// Assigns starts to idle lanes.
    fn refill(&mut self, at: &mut Position<T>) {
        for vector in 0..self.feed.pool.vectors() {
            loop {
                let idle = self.feed.pool.full() & !self.feed.pool.busy[vector];
                if idle == 0 {
                    break;
                }
                let Some(slot) = self.source(at) else { return };
                let open = &mut self.feed.open[slot];
                let count = (self.plan.start_count - open.fed).min(idle.count_ones() as usize);
                let launch = Launch {
                    pool: &mut self.feed.pool,
                    vector,
                    lanes: lowest(idle, count),
                    starts: &self.scratch.starts,
                    stride: self.scratch.stride,
                    first: open.fed,
                    numbers: &open.numbers,
                    owner: slot as u32,
                    serial: open.serial,
                };
                dispatch(self.isa, launch);
                open.fed += count;
            }
        }
    }

    /// A tensor with unassigned starts; `None` if all tensors have begun, or if tensors whose last starts still run
    /// occupy all slots.
    fn source(&mut self, at: &mut Position<T>) -> Option<usize> {
        loop {
            if let Some(slot) = at.feeding {
                if self.feed.open[slot].fed < self.plan.start_count {
                    return Some(slot);
                }
                at.feeding = None;
            }
            if self.plan.goal == Goal::Both
                && let Some(slot) = self.feed.open.iter().position(|o| o.again)
            {
                let open = &mut self.feed.open[slot];
                (open.again, open.minima) = (false, true);
                let place = open.place;
                self.take_in(place);
                self.begin_pass(slot);
                at.feeding = Some(slot);
                continue;
            }
            if at.next == self.count {
                return None;
            }
            let slot = *self.feed.free.last()?;
            let place = at.next;
            at.next += 1;
            if self.begin(slot, place, at) {
                self.feed.free.pop();
                at.feeding = Some(slot);
            }
        }
    }

    /// Copies the entries and the starts of a tensor to the scratch.
    fn take_in(&mut self, place: usize) {
        let packed = self.scratch.entries().len();
        let t = self.first + place;
        self.scratch.take_in(self.isa, &self.tile.input[t * packed..(t + 1) * packed]);
        self.scratch.draw_starts(self.plan, self.tile.first + t);
    }

    /// Begins a tensor. Returns false if it needs no iterations; its rows are then written.
    fn begin(&mut self, slot: usize, place: usize, at: &mut Position<T>) -> bool {
        if self.tile.mask.get(self.first + place) == Some(&0) {
            let mut rows = self.rows.nth(place, self.sizes);
            at.counts = at.counts.plus(write::write_masked(self.plan, &mut rows));
            return false;
        }
        self.take_in(place);
        match load::inspect(self.plan, self.scratch.entries()) {
            Err((special, value)) => {
                let mut rows = self.rows.nth(place, self.sizes);
                let starts = self.scratch.start_vectors(self.plan);
                let listed = write::write_special(self.plan, starts, special, value, &mut rows);
                write::write_end(self.plan, listed, listed, special, &mut rows);
                at.counts.skipped += 1;
                false
            }
            Ok(largest) => {
                let open = &mut self.feed.open[slot];
                open.place = place;
                open.minima = self.plan.goal == Goal::Minima;
                (open.converged, open.missed) = (0, 0);
                (open.listed, open.found) = (0, 0);
                open.status = TensorStatus::NoPair;
                open.largest = largest;
                self.begin_pass(slot);
                true
            }
        }
    }

    /// Prepares the tensor in the scratch for maxima or minima.
    fn begin_pass(&mut self, slot: usize) {
        let open = &mut self.feed.open[slot];
        self.feed.serial += 1;
        open.serial = self.feed.serial;
        (open.fed, open.left) = (0, self.plan.start_count);
        let (job, entries) = open.numbers.split_at_mut(JOB);
        entries.copy_from_slice(self.scratch.entries());
        let Scratch { starts, values, stride, .. } = &mut *self.scratch;
        let starts = Vectors { data: starts, stride: *stride, count: self.plan.start_count };
        open.loaded = load::prepare(self.engine, self.plan, open.minima, open.largest, entries, starts, values);
        write_job(&open.loaded.job, job);
    }

    /// Collects the starts that have ended, and reduces the tensors without running starts.
    fn collect_ended(&mut self, at: &mut Position<T>) {
        if at.per_start {
            self.write_ended();
        }
        let Feed { pool, open, finished, .. } = &mut *self.feed;
        at.counts = at.counts.plus(dispatch(self.isa, Collect { pool, open, finished }));
        while let Some(slot) = self.feed.finished.pop() {
            at.counts = at.counts.plus(self.reduce(slot));
        }
    }

    /// Writes the results of the starts that have ended.
    fn write_ended(&mut self) {
        let pool = &self.feed.pool;
        for vector in 0..pool.vectors() {
            let mut ended = pool.ended(vector);
            while ended != 0 {
                let lane = ended.trailing_zeros() as usize;
                let count = if pool.ends_whole(vector) { pool.width } else { 1 };
                ended &= if count == 1 { ended - 1 } else { 0 };
                let numbers = pool.lane(vector, lane);
                let from = |r: usize| &numbers[r * pool.width..];
                let iterates = Iterates {
                    x: numbers,
                    stride: pool.width,
                    lambda: from(row::LAMBDA),
                    residual2: from(row::RESIDUAL2),
                    iterations: from(row::ITERATIONS),
                    shift: from(row::SHIFT),
                    violations: from(row::VIOLATIONS),
                    state: from(row::STATE),
                };
                if self.plan.unfinished_only && iterates.has_converged(count) {
                    continue;
                }
                let place = vector * pool.width + lane;
                let open = &self.feed.open[pool.owner[place] as usize];
                let first = open.place * self.plan.start_count + pool.start[place] as usize;
                write_starts(self.plan, &open.loaded, &iterates, first, count, &mut self.rows);
            }
        }
    }

    /// Reduces the ends of a tensor's starts to its rows. Counts a truncated list and starts that did not converge.
    fn reduce(&mut self, slot: usize) -> Counts {
        let plan = self.plan;
        let open = &mut self.feed.open[slot];
        let mut rows = self.rows.nth(open.place, self.sizes);
        if plan.reduction.pairs > 0 {
            let pairs = &mut self.scratch.pairs;
            dispatch(self.isa, Merge { plan, loaded: &open.loaded, ends: &mut open.ends, pairs });
            let said = reduce::select(self.engine, plan, &open.loaded, &open.numbers[JOB..], pairs);
            open.listed = write::write_pairs(plan, &open.loaded, pairs, &mut rows, open.listed);
            open.found += pairs.selected;
            // A pass without pairs does not change the status of the other pass.
            if said != TensorStatus::NoPair && open.status != TensorStatus::Degenerate {
                open.status = said;
            }
        } else if open.converged > 0 {
            open.status = TensorStatus::Ok;
        }
        if plan.goal == Goal::Both && !open.minima {
            open.again = true;
            return Counts::default();
        }
        let status = verified(open.status, to_u64(open.missed));
        write::write_end(plan, open.listed, open.found, status, &mut rows);
        let counts = Counts {
            truncated: u64::from(open.found > open.listed && plan.reduction.pairs > 0),
            unconverged: u64::from(open.missed > 0),
            ..Counts::default()
        };
        self.feed.free.push(slot);
        counts
    }
}

/// The lowest `count` bits of those set.
fn lowest(bits: u64, count: usize) -> u64 {
    if count >= bits.count_ones() as usize {
        return bits;
    }
    let mut rest = bits;
    for _ in 0..count {
        rest &= rest.wrapping_sub(1);
    }
    bits & !rest
}

/// Removes ended starts from their lanes and stores their ends.
struct Collect<'a, T> {
    pool: &'a mut Pool<T>,
    open: &'a mut [OpenTensor<T>],
    /// Receives the indices in `open` whose last start has ended.
    finished: &'a mut Vec<usize>,
}

impl<T: Real> Kernel<T> for Collect<'_, T> {
    type Output = Counts;

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) -> Counts {
        let Self { pool, open, finished } = self;
        let width = S::V::LEN;
        let none = simd.splat(T::ZERO - T::from_f64(f64::INFINITY));
        let (zero, mut steps, mut converged) = (simd.splat(T::ZERO), simd.splat(T::ZERO), 0u64);
        let mut found = [T::ZERO; 64];
        for vector in 0..pool.vectors() {
            let ended = pool.ended(vector);
            if ended == 0 {
                continue;
            }
            let whole = pool.ends_whole(vector);
            pool.busy[vector] &= !ended;
            let Some((block, owner, start)) = pool.ends::<S::V>(vector) else { continue };
            // Among the states of ended starts that of convergence is the lowest.
            let good = simd.load(&block[row::STATE * width..]).le(simd.splat(T::from_f64(state::CONVERGED)));
            S::V::select(good, simd.load(&block[row::LAMBDA * width..]), none).store(&mut found);
            let good = good.bits() & ended;
            converged += u64::from(good.count_ones());
            let taken = simd.load(&block[row::ITERATIONS * width..]);
            steps = S::V::select(simd.mask(ended), taken, zero).add(steps);
            if whole {
                let (slot, s) = (owner[0] as usize, start[0] as usize);
                let tensor = &mut open[slot];
                let stride = tensor.ends.stride;
                let ends = tensor.ends.arrays(3);
                for i in 0..3 {
                    let x = &block[(row::X + i) * width..][..width];
                    ends.x[i * stride + s..][..width].copy_from_slice(x);
                }
                ends.lambda[s..][..width].copy_from_slice(&block[row::LAMBDA * width..][..width]);
                ends.residual2[s..][..width].copy_from_slice(&block[row::RESIDUAL2 * width..][..width]);
                ends.open[s..][..width].copy_from_slice(&found[..width]);
                tensor.end(width, good.count_ones() as usize, slot, finished);
                continue;
            }
            let mut bits = ended;
            while bits != 0 {
                // The remainder lets the compiler see that the index is in range.
                let l = bits.trailing_zeros() as usize % width;
                bits &= bits - 1;
                let (slot, s) = (owner[l] as usize, start[l] as usize);
                let tensor = &mut open[slot];
                let stride = tensor.ends.stride;
                let ends = tensor.ends.arrays(3);
                for i in 0..3 {
                    ends.x[i * stride + s] = block[(row::X + i) * width + l];
                }
                ends.lambda[s] = block[row::LAMBDA * width + l];
                ends.residual2[s] = block[row::RESIDUAL2 * width + l];
                ends.open[s] = found[l];
                tensor.end(1, (good >> l & 1) as usize, slot, finished);
            }
        }
        steps.store(&mut found);
        let iterations = found[..width].iter().map(|n| n.to_f64()).sum::<f64>() as u64;
        Counts { converged, iterations, ..Counts::default() }
    }
}
