//! Solves one tensor, from its entries to its rows of results.

use super::engine::{Engine, Vectors};
use super::flight::{Flight, Rule, Step, state};
use super::load::{self, Loaded};
use super::reduce::{self, Ends, Merge, Pairs};
use super::write::{Iterates, wants_starts, write_end, write_pairs, write_special, write_starts};
use crate::alloc;
use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::{Kernel, Lanes, Mask, Simd, Vectorized, dispatch};
use crate::dense::sketch::{Distribution, Sketch};
use crate::error::Result;
use crate::rng;
use crate::scalar::Real;
use crate::shape::to_u64;
use crate::sshopm::options::{Goal, StartKind, TensorStatus};
use crate::sshopm::plan::{ConstantShift, Counts, Iteration, Plan, Rows, Starts};

/// Steps between two searches for ended starts: few for Newton's method, whose starts end soon.
fn block_of(step: Step, first: bool, max_iterations: u32) -> usize {
    match (step, first) {
        // A short run needs no search before its end; it has one more evaluation than steps.
        (Step::Power | Step::Adaptive, true) if max_iterations < 32 => max_iterations as usize + 1,
        (Step::Power | Step::Adaptive, _) => 16,
        (_, true) => 6,
        (_, false) => 4,
    }
}

/// Buffers of one thread for the tensor that it solves.
pub struct Scratch<T> {
    /// Entries of the current tensor, padded to a whole number of vectors.
    input: Vec<T>,
    /// Number of entries without padding.
    packed: usize,
    /// Columns of the plan's transform, padded in the same way; empty without a transform.
    columns: Vec<T>,
    /// Its start vectors, component i of start v at `[i * stride + v]`.
    pub starts: Vec<T>,
    /// Random numbers for the starts, if each tensor has its own.
    drawn: Vec<f64>,
    /// One number for each start, as scratch memory.
    pub values: Vec<T>,
    /// Elements from one component to the next.
    pub stride: usize,
    /// Pairs of the tensor that was reduced last.
    pub pairs: Pairs<T>,
}

impl<T: Real> Scratch<T> {
    /// Allocates memory for the tensors of `plan` and vectors of up to `width` lanes.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn new(plan: &Plan<T>, width: usize) -> Result<Self> {
        let n = plan.shape.dimension;
        let stride = plan.start_count.next_multiple_of(width);
        let packed = plan.shape.count();
        let padded = packed.next_multiple_of(width);
        let mut columns =
            alloc::filled("packed entries", plan.transform.as_ref().map_or(0, |_| packed * padded), T::ZERO)?;
        for (to, from) in
            columns.chunks_exact_mut(padded).zip(plan.transform.iter().flat_map(|t| t.chunks_exact(packed)))
        {
            to[..packed].copy_from_slice(from);
        }
        let drawn = if matches!(plan.starts, Starts::Drawn { .. }) { n * plan.start_count } else { 0 };
        let mut scratch = Self {
            input: alloc::filled("packed entries", padded, T::ZERO)?,
            packed,
            columns,
            starts: alloc::filled("start vectors", n * stride, T::ZERO)?,
            drawn: alloc::filled("start vectors", drawn, 0.0)?,
            values: alloc::filled("start vectors", stride, T::ZERO)?,
            stride,
            pairs: Pairs::new(plan.shape, stride)?,
        };
        if let Starts::Shared(vectors) = &plan.starts {
            for (v, x) in vectors.chunks_exact(n).enumerate() {
                for (i, c) in x.iter().enumerate() {
                    scratch.starts[i * stride + v] = *c;
                }
            }
        }
        // Pad the last vector with a unit vector.
        for v in plan.start_count..stride {
            scratch.starts[v] = T::ONE;
        }
        Ok(scratch)
    }

    /// The V start vectors, one component of all before the next, `stride` numbers apart.
    pub fn start_vectors(&self, plan: &Plan<T>) -> Vectors<'_, T> {
        Vectors { data: &self.starts, stride: self.stride, count: plan.start_count }
    }

    /// Entries of the current tensor.
    pub fn entries(&self) -> &[T] {
        &self.input[..self.packed]
    }

    /// Copies or transforms the entries of a tensor into `input`.
    pub fn take_in(&mut self, isa: Isa, input: &[T])
    where
        T: Vectorized,
    {
        load::entries(isa, &self.columns, input, &mut self.input);
    }

    /// Draws the starts of the tensor with the given index, if each tensor has its own.
    pub fn draw_starts(&mut self, plan: &Plan<T>, index: usize) {
        if let Starts::Drawn { kind, seed, first, chunks } = plan.starts {
            let n = plan.shape.dimension;
            let (row, first) = (index / chunks, first + index % chunks * plan.start_count);
            draw(kind, seed, row, first, n, &mut self.drawn);
            for (v, x) in self.drawn.chunks_exact(n).enumerate() {
                for (i, c) in x.iter().enumerate() {
                    self.starts[i * self.stride + v] = T::from_f64(*c);
                }
            }
        }
    }
}

/// Memory of a thread that solves one tensor at a time.
pub struct SingleTensor<T> {
    a: Vec<T>,
    flight: Flight<T>,
    ends: Ends<T>,
    /// A bit for each start in flight, see [`FindEnded`].
    ended: Vec<u64>,
}

impl<T: Real> SingleTensor<T> {
    /// Allocates memory for the tensors of `plan`; `stride` as in [`Scratch`].
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn new(plan: &Plan<T>, stride: usize) -> Result<Self> {
        let n = plan.shape.dimension;
        Ok(Self {
            a: alloc::filled("packed entries", plan.shape.count(), T::ZERO)?,
            flight: Flight::new(n, stride)?,
            ends: Ends::new(n, stride)?,
            ended: alloc::filled("start vectors", stride.div_ceil(64), 0)?,
        })
    }
}

/// Draws starts of tensor `index` from the `first` on: unit vectors of `n` components, one after the other.
pub fn draw(kind: StartKind, seed: u64, index: usize, first: usize, n: usize, vectors: &mut [f64]) {
    let distribution = if kind == StartKind::RandomCube { Distribution::Uniform } else { Distribution::Gaussian };
    // Columns have 32 bits. Beyond that the numbers repeat, but no start count is that large.
    let column = to_u64(first).wrapping_mul(to_u64(n)) & 0xffff_ffff;
    Sketch { distribution, seed, stream: rng::stream::STARTS }.fill_row(to_u64(index), column, vectors);
    for x in vectors.chunks_exact_mut(n.max(1)) {
        let norm = x.iter().map(|c| c * c).sum::<f64>().sqrt();
        for (i, c) in x.iter_mut().enumerate() {
            *c = if norm > 0.0 { *c / norm } else { f64::from(u8::from(i == 0)) };
        }
    }
}

/// The plan's parameters of a step.
pub fn rule_of<T: Real>(plan: &Plan<T>, rows: &Rows<'_, T>) -> Rule<T> {
    Rule {
        step: match plan.iteration {
            Iteration::Hybrid => Step::Hybrid,
            Iteration::HybridConstant(_) => Step::HybridConstant,
            Iteration::Adaptive => Step::Adaptive,
            Iteration::Power(ConstantShift::Value(_) | ConstantShift::Guaranteed) => Step::Power,
            Iteration::Newton => Step::Newton,
        },
        test: plan.test,
        tolerance: T::from_f64(plan.tolerance),
        absolute: plan.absolute,
        max_iterations: T::from_f64(f64::from(plan.max_iterations)),
        warmup: T::from_f64(f64::from(plan.warmup)),
        violations: !rows.start_violations.is_empty(),
    }
}

/// The status of a tensor with `missed` starts that did not converge: some pairs may be missing.
pub fn verified(status: TensorStatus, missed: u64) -> TensorStatus {
    if status == TensorStatus::Ok && missed > 0 { TensorStatus::Partial } else { status }
}

/// Solves the tensor with the given index. `rows` are its own; a `trace` that is not empty is filled.
#[expect(clippy::too_many_arguments, reason = "one tensor, its memory and its results")]
pub fn solve<T: Vectorized>(
    isa: Isa,
    engine: &mut dyn Engine<T>,
    plan: &Plan<T>,
    index: usize,
    input: &[T],
    scratch: &mut Scratch<T>,
    alone: &mut SingleTensor<T>,
    rows: &mut Rows<'_, T>,
    trace: &mut [T],
) -> Counts {
    let mut counts = Counts::default();
    scratch.take_in(isa, input);
    scratch.draw_starts(plan, index);
    let mut status = TensorStatus::NoPair;
    let (mut listed, mut found, mut started) = (0, 0, 0u64);
    match load::inspect(plan, scratch.entries()) {
        Err((special, value)) => {
            counts.skipped = 1;
            status = special;
            listed = write_special(plan, scratch.start_vectors(plan), special, value, rows);
            found = listed;
        }
        Ok(largest) => {
            for minima in [false, true] {
                if (minima && plan.goal == Goal::Maxima) || (!minima && plan.goal == Goal::Minima) {
                    continue;
                }
                alone.a.copy_from_slice(scratch.entries());
                let starts = Vectors { data: &scratch.starts, stride: scratch.stride, count: plan.start_count };
                let loaded = load::prepare(engine, plan, minima, largest, &mut alone.a, starts, &mut scratch.values);
                counts = counts.plus(iterate(isa, engine, plan, &loaded, scratch, alone, rows, trace));
                started += to_u64(plan.start_count);
                if plan.reduction.pairs == 0 {
                    continue;
                }
                let (ends, pairs) = (&mut alone.ends, &mut scratch.pairs);
                dispatch(isa, Merge { plan, loaded: &loaded, ends, pairs });
                let said = reduce::select(engine, plan, &loaded, &alone.a, &mut scratch.pairs);
                listed = write_pairs(plan, &loaded, &scratch.pairs, rows, listed);
                found += scratch.pairs.selected;
                // A pass without pairs does not change the status of the other pass.
                if said != TensorStatus::NoPair && status != TensorStatus::Degenerate {
                    status = said;
                }
            }
            if plan.reduction.pairs == 0 && counts.converged > 0 {
                status = TensorStatus::Ok;
            }
            status = verified(status, started - counts.converged);
            counts.unconverged = u64::from(started > counts.converged);
        }
    }
    counts.truncated = u64::from(found > listed && plan.reduction.pairs > 0);
    write_end(plan, listed, found, status, rows);
    counts
}

/// Runs all starts; stores their ends in `alone.ends` and in the rows.
#[expect(clippy::too_many_arguments, reason = "one tensor, its memory and its results")]
fn iterate<T: Vectorized>(
    isa: Isa,
    engine: &mut dyn Engine<T>,
    plan: &Plan<T>,
    loaded: &Loaded<T>,
    scratch: &Scratch<T>,
    alone: &mut SingleTensor<T>,
    rows: &mut Rows<'_, T>,
    trace: &mut [T],
) -> Counts {
    let n = plan.shape.dimension;
    let (stride, starts) = (scratch.stride, plan.start_count);
    let rule = rule_of(plan, rows);
    let mut counts = Counts::default();
    let none = T::ZERO - T::from_f64(f64::INFINITY);
    let SingleTensor { a, flight, ends, ended } = alone;
    let ends = ends.arrays(n);
    flight.launch(&scratch.starts, starts);
    ends.open[starts..].fill(none);
    let per_start = wants_starts(rows);
    let mut running = starts;
    let mut first = true;
    let mut traced = 0;
    while running > 0 {
        let block = if trace.is_empty() { block_of(rule.step, first, plan.max_iterations) } else { 1 };
        engine.advance(a, &rule, &loaded.job, flight, running, block);
        if !trace.is_empty() {
            if let Some(t) = trace.get_mut(traced) {
                *t = loaded.value(flight.lambda[0]);
            }
            traced += 1;
        }
        if first {
            // Every start is still at its own index, so copy whole arrays. Starts that continue are copied again later.
            ends.x.copy_from_slice(&flight.x);
            ends.lambda.copy_from_slice(&flight.lambda);
            ends.residual2.copy_from_slice(&flight.residual2);
        }
        let open = if first { Some(&mut ends.open[..]) } else { None };
        counts = counts.plus(dispatch(isa, FindEnded { flight, running, open, ended }));
        if first {
            ends.open[starts..].fill(none);
            if per_start && !plan.unfinished_only {
                write_starts(plan, loaded, &iterates(flight, 0), 0, starts, rows);
            } else if per_start {
                for p in ended_places(ended, running) {
                    let end = iterates(flight, p);
                    if !end.has_converged(1) {
                        write_starts(plan, loaded, &end, p, 1, rows);
                    }
                }
            }
        } else {
            for p in ended_places(ended, running) {
                let v = flight.slot[p];
                for i in 0..n {
                    ends.x[i * stride + v] = flight.x[i * stride + p];
                }
                ends.lambda[v] = flight.lambda[p];
                ends.open[v] = if flight.state[p].to_f64() == state::CONVERGED { flight.lambda[p] } else { none };
                ends.residual2[v] = flight.residual2[p];
                let end = iterates(flight, p);
                if per_start && !(plan.unfinished_only && end.has_converged(1)) {
                    write_starts(plan, loaded, &end, v, 1, rows);
                }
            }
        }
        running = compact(flight, ended, running, n);
        first = false;
    }
    counts
}

/// The starts from position p on.
fn iterates<T: Real>(flight: &Flight<T>, p: usize) -> Iterates<'_, T> {
    Iterates {
        x: &flight.x[p..],
        stride: flight.capacity(),
        lambda: &flight.lambda[p..],
        residual2: &flight.residual2[p..],
        iterations: &flight.iterations[p..],
        shift: &flight.shift[p..],
        violations: &flight.violations[p..],
        state: &flight.state[p..],
    }
}

/// Finds the starts that have ended, without a branch for each, and counts their steps.
struct FindEnded<'a, T> {
    flight: &'a Flight<T>,
    running: usize,
    /// By position, receives the lambda of each start that converged and -inf for the others.
    open: Option<&'a mut [T]>,
    /// A bit for each position whose start has ended.
    ended: &'a mut [u64],
}

impl<T: Real> Kernel<T> for FindEnded<'_, T> {
    type Output = Counts;

    #[inline(always)]
    fn run<S: Simd<T>>(mut self, simd: S) -> Counts {
        let lanes = S::V::LEN;
        let (zero, one) = (simd.splat(T::ZERO), simd.splat(T::from_f64(state::CONVERGED)));
        let none = simd.splat(T::ZERO - T::from_f64(f64::INFINITY));
        self.ended.fill(0);
        let (mut converged, mut steps) = (0u64, zero);
        for at in (0..self.running).step_by(lanes) {
            let state = simd.load(&self.flight.state[at..]);
            let stopped = zero.lt(state);
            let good = stopped.and(state.le(one));
            // Positions beyond the last are parked: they neither converged nor have steps to count.
            let place = at % 64;
            self.ended[at / 64] |= stopped.bits() << place;
            converged += u64::from(good.bits().count_ones());
            let n = simd.load(&self.flight.iterations[at..]);
            steps = S::V::select(stopped, n, zero).add(steps);
            if let Some(open) = &mut self.open {
                S::V::select(good, simd.load(&self.flight.lambda[at..]), none).store(&mut open[at..]);
            }
        }
        let mut sums = [T::ZERO; 64];
        steps.store(&mut sums);
        let iterations = sums[..lanes].iter().map(|s| s.to_f64()).sum::<f64>() as u64;
        Counts { converged, iterations, ..Counts::default() }
    }
}

/// The positions of the bits that are set.
fn ended_places(ended: &[u64], running: usize) -> impl Iterator<Item = usize> {
    ended.iter().enumerate().take(running.div_ceil(64)).flat_map(move |(word, bits)| {
        let mut bits = *bits;
        std::iter::from_fn(move || {
            let place = word * 64 + bits.trailing_zeros() as usize;
            let more = bits != 0 && place < running;
            bits &= bits.wrapping_sub(1);
            more.then_some(place)
        })
    })
}

/// Moves the starts that continue to the front; returns their number.
fn compact<T: Real>(flight: &mut Flight<T>, ended: &mut [u64], running: usize, n: usize) -> usize {
    // The bits of those that continue.
    for word in ended.iter_mut() {
        *word = !*word;
    }
    let mut kept = 0;
    for p in ended_places(ended, running) {
        if kept != p {
            flight.shift_down(p, kept, n);
        }
        kept += 1;
    }
    flight.park(kept, running);
    kept
}
