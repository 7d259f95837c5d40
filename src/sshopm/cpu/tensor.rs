//! One tensor from its entries to its rows of results.

use super::engine::{Engine, Vectors};
use super::flight::{Flight, Rule, Step, state, status_of};
use super::load::{self, Loaded};
use super::reduce::{self, Ends, Merge, Pairs};
use crate::alloc;
use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::{Kernel, Lanes, Mask, Simd, Vectorised, dispatch};
use crate::error::Result;
use crate::rng;
use crate::scalar::Real;
use crate::sshopm::options::{Goal, PairClass, StartKind, StartStatus, TensorStatus};
use crate::sshopm::plan::{ConstantShift, Counts, Iteration, Plan, Rows, Starts, is_skipped};

/// Steps between two looks at which starts have ended: few where starts end soon, as they do by Newton's method.
fn block_of(step: Step, first: bool, max_iterations: u32) -> usize {
    match (step, first) {
        // A short run needs no look in between: the last evaluation is one more than the steps.
        (Step::Power | Step::Adaptive, true) if max_iterations < 32 => max_iterations as usize + 1,
        (Step::Power | Step::Adaptive, _) => 16,
        (_, true) => 6,
        (_, false) => 4,
    }
}

/// Memory of one thread.
pub struct Scratch<T> {
    input: Vec<T>,
    a: Vec<T>,
    /// Start vectors of this tensor, component i of start v at `[i * stride + v]`.
    starts: Vec<T>,
    values: Vec<T>,
    flight: Flight<T>,
    ends: Ends<T>,
    pairs: Pairs<T>,
    /// A bit a start in flight, see [`Settle`].
    ended: Vec<u64>,
    stride: usize,
}

impl<T: Real> Scratch<T> {
    /// Room for the tensors of `plan`, for vectors of up to `width` lanes.
    pub fn new(plan: &Plan<T>, width: usize) -> Result<Self> {
        let n = plan.shape.dimension;
        let stride = plan.start_count.next_multiple_of(width);
        let mut scratch = Self {
            input: alloc::filled("packed entries", plan.shape.count(), T::ZERO)?,
            a: alloc::filled("packed entries", plan.shape.count(), T::ZERO)?,
            starts: alloc::filled("start vectors", n * stride, T::ZERO)?,
            values: alloc::filled("start vectors", stride, T::ZERO)?,
            flight: Flight::new(n, stride)?,
            ends: Ends::new(n, stride)?,
            pairs: Pairs::new(n, stride)?,
            ended: alloc::filled("start vectors", stride.div_ceil(64), 0)?,
            stride,
        };
        if let Starts::Shared(vectors) = &plan.starts {
            for (v, x) in vectors.chunks_exact(n).enumerate() {
                for (i, c) in x.iter().enumerate() {
                    scratch.starts[i * stride + v] = *c;
                }
            }
        }
        // Padding of the last vector: any unit vector.
        for v in plan.start_count..stride {
            scratch.starts[v] = T::ONE;
        }
        Ok(scratch)
    }

    fn draw_starts(&mut self, plan: &Plan<T>, index: usize) {
        if let Starts::Drawn { kind, seed, first, chunks } = plan.starts {
            let n = plan.shape.dimension;
            let (row, first) = (index / chunks, first + index % chunks * plan.start_count);
            for v in 0..plan.start_count {
                draw(kind, seed, row, first + v, n, |i, c| self.starts[i * self.stride + v] = T::from_f64(c));
            }
        }
    }
}

/// Draws start `v` of tensor `index`: calls `put` with each component of a unit vector.
pub fn draw(kind: StartKind, seed: u64, index: usize, v: usize, n: usize, mut put: impl FnMut(usize, f64)) {
    let number = |i: usize| {
        // Columns are 32-bit: beyond that the numbers repeat, which no start count reaches.
        let column = ((v * n + i) & 0xffff_ffff) as u32;
        let row = crate::shape::to_u64(index);
        match kind {
            StartKind::RandomCube => rng::uniform(seed, rng::stream::STARTS, row, column),
            _ => rng::normal(seed, rng::stream::STARTS, row, column),
        }
    };
    let norm = (0..n).map(|i| number(i) * number(i)).sum::<f64>().sqrt();
    for i in 0..n {
        let unit = if norm > 0.0 { number(i) / norm } else { f64::from(u8::from(i == 0)) };
        put(i, unit);
    }
}

fn rule_of<T: Real>(plan: &Plan<T>, rows: &Rows<'_, T>) -> Rule<T> {
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

/// Works on the tensor with the given index. `rows` are its own; `trace` is wanted where it is not empty.
#[expect(clippy::too_many_arguments, reason = "one tensor, its memory and its results")]
pub fn solve<T: Vectorised>(
    isa: Isa,
    engine: &mut dyn Engine<T>,
    plan: &Plan<T>,
    index: usize,
    input: &[T],
    scratch: &mut Scratch<T>,
    rows: &mut Rows<'_, T>,
    trace: &mut [T],
) -> Counts {
    let mut counts = Counts::default();
    let mut input_entries = std::mem::take(&mut scratch.input);
    load::entries(plan, input, &mut input_entries);
    scratch.draw_starts(plan, index);
    let mut status = TensorStatus::NoPair;
    let mut listed = 0;
    match load::inspect(plan, &input_entries) {
        Err((special, value)) => {
            counts.skipped = 1;
            status = special;
            listed = write_special(plan, scratch, special, value, rows);
        }
        Ok(largest) => {
            for minima in [false, true] {
                if (minima && plan.goal == Goal::Maxima) || (!minima && plan.goal == Goal::Minima) {
                    continue;
                }
                scratch.a.copy_from_slice(&input_entries);
                let starts = Vectors { data: &scratch.starts, stride: scratch.stride, count: plan.start_count };
                let (a, values) = (&mut scratch.a, &mut scratch.values);
                let loaded = load::prepare(engine, plan, minima, largest, a, starts, values);
                counts = counts.plus(iterate(isa, engine, plan, &loaded, scratch, rows, trace));
                if plan.reduction.pairs == 0 {
                    continue;
                }
                let (ends, pairs) = (&mut scratch.ends, &mut scratch.pairs);
                dispatch(isa, Merge { plan, loaded: &loaded, ends, pairs });
                let said = reduce::select(engine, plan, &loaded, &scratch.a, &mut scratch.pairs);
                listed = write_pairs(plan, &loaded, &scratch.pairs, rows, listed);
                // A pass that found nothing does not undo what the other found.
                if said != TensorStatus::NoPair && status != TensorStatus::Degenerate {
                    status = said;
                }
            }
            if plan.reduction.pairs == 0 && counts.converged > 0 {
                status = TensorStatus::Ok;
            }
        }
    }
    scratch.input = input_entries;
    write_missing(plan, rows, listed);
    set(rows.count, 0, count_of(listed));
    set(rows.status, 0, status as i32);
    counts
}

/// Fills the rows of a tensor that the mask leaves out.
pub fn solve_masked<T: Real>(plan: &Plan<T>, rows: &mut Rows<'_, T>) -> Counts {
    let nan = T::from_f64(f64::NAN);
    write_missing(plan, rows, 0);
    set(rows.count, 0, 0);
    set(rows.status, 0, TensorStatus::Masked as i32);
    for array in
        [&mut *rows.start_values, &mut *rows.start_vectors, &mut *rows.start_residuals, &mut *rows.start_shifts]
    {
        array.fill(nan);
    }
    rows.start_iterations.fill(0);
    rows.start_violations.fill(0);
    rows.start_status.fill(StartStatus::Nonfinite as i32);
    debug_assert!(is_skipped(TensorStatus::Masked));
    Counts { skipped: 1, ..Counts::default() }
}

/// Runs all starts; leaves their ends in `scratch.ends` and in the rows.
fn iterate<T: Vectorised>(
    isa: Isa,
    engine: &mut dyn Engine<T>,
    plan: &Plan<T>,
    loaded: &Loaded<T>,
    scratch: &mut Scratch<T>,
    rows: &mut Rows<'_, T>,
    trace: &mut [T],
) -> Counts {
    let n = plan.shape.dimension;
    let (stride, starts) = (scratch.stride, plan.start_count);
    let rule = rule_of(plan, rows);
    let mut counts = Counts::default();
    let none = T::ZERO - T::from_f64(f64::INFINITY);
    let flight = &mut scratch.flight;
    flight.launch(&scratch.starts, starts);
    scratch.ends.open[starts..].fill(none);
    let per_start = wants_starts(rows);
    let mut running = starts;
    let mut first = true;
    let mut traced = 0;
    while running > 0 {
        let block = if trace.is_empty() { block_of(rule.step, first, plan.max_iterations) } else { 1 };
        engine.advance(&scratch.a, &rule, &loaded.job, flight, running, block);
        if !trace.is_empty() {
            if let Some(t) = trace.get_mut(traced) {
                *t = loaded.value(flight.lambda[0]);
            }
            traced += 1;
        }
        let ends = &mut scratch.ends;
        if first {
            // Every start is still in its place: whole arrays at once, those that go on are written again later.
            ends.x.copy_from_slice(&flight.x);
            ends.lambda.copy_from_slice(&flight.lambda);
            ends.residual2.copy_from_slice(&flight.residual2);
        }
        let open = if first { Some(&mut ends.open[..]) } else { None };
        let ended = &mut scratch.ended;
        counts = counts.plus(dispatch(isa, Settle { flight, running, open, ended }));
        if first {
            ends.open[starts..].fill(none);
            if per_start {
                write_all_starts(plan, loaded, flight, rows);
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
                if per_start {
                    write_start(plan, loaded, flight, p, v, rows);
                }
            }
        }
        running = compact(flight, ended, running, n);
        first = false;
    }
    counts
}

/// Whether any result of single starts is wanted.
fn wants_starts<T>(rows: &Rows<'_, T>) -> bool {
    !(rows.start_values.is_empty()
        && rows.start_vectors.is_empty()
        && rows.start_residuals.is_empty()
        && rows.start_iterations.is_empty()
        && rows.start_shifts.is_empty()
        && rows.start_status.is_empty()
        && rows.start_violations.is_empty())
}

fn set<T>(row: &mut [T], place: usize, value: T) {
    if let Some(r) = row.get_mut(place) {
        *r = value;
    }
}

/// A count as the results hold it; far below 2^31 by construction.
fn count_of(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Finds the starts that have ended, without branching on each, and counts what they did.
struct Settle<'a, T> {
    flight: &'a Flight<T>,
    running: usize,
    /// Takes the lambda of each start that converged, -inf of the others, by position.
    open: Option<&'a mut [T]>,
    /// A bit for each position whose start has ended.
    ended: &'a mut [u64],
}

impl<T: Real> Kernel<T> for Settle<'_, T> {
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
            // Positions beyond the last are parked: neither good nor with steps of their own.
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
        Counts { converged, iterations, skipped: 0 }
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

/// Moves the starts that go on to the front; returns how many there are.
fn compact<T: Real>(flight: &mut Flight<T>, ended: &mut [u64], running: usize, n: usize) -> usize {
    // The bits of those that go on.
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

/// Writes start v, which is at position p.
fn write_start<T: Real>(
    plan: &Plan<T>,
    loaded: &Loaded<T>,
    flight: &Flight<T>,
    p: usize,
    v: usize,
    rows: &mut Rows<'_, T>,
) {
    let n = plan.shape.dimension;
    set(rows.start_values, v, loaded.value(flight.lambda[p]));
    set(rows.start_residuals, v, loaded.length(flight.residual2[p].sqrt()));
    set(rows.start_iterations, v, flight.iterations[p].to_f64() as i32);
    set(rows.start_shifts, v, loaded.direction * loaded.length(flight.shift[p]));
    set(rows.start_status, v, status_of(flight.state[p].to_f64()) as i32);
    set(rows.start_violations, v, flight.violations[p].to_f64() as i32);
    if !rows.start_vectors.is_empty() {
        for i in 0..n {
            set(rows.start_vectors, v * n + i, flight.x[i * flight.capacity() + p]);
        }
    }
}

/// Writes all starts, each being at its own position: an array at a time.
fn write_all_starts<T: Real>(plan: &Plan<T>, loaded: &Loaded<T>, flight: &Flight<T>, rows: &mut Rows<'_, T>) {
    let n = plan.shape.dimension;
    for (o, x) in rows.start_values.iter_mut().zip(&flight.lambda) {
        *o = loaded.value(*x);
    }
    for (o, x) in rows.start_residuals.iter_mut().zip(&flight.residual2) {
        *o = loaded.length(x.sqrt());
    }
    for (o, x) in rows.start_iterations.iter_mut().zip(&flight.iterations) {
        *o = x.to_f64() as i32;
    }
    for (o, x) in rows.start_shifts.iter_mut().zip(&flight.shift) {
        *o = loaded.direction * loaded.length(*x);
    }
    for (o, x) in rows.start_status.iter_mut().zip(&flight.state) {
        *o = status_of(x.to_f64()) as i32;
    }
    for (o, x) in rows.start_violations.iter_mut().zip(&flight.violations) {
        *o = x.to_f64() as i32;
    }
    for (v, o) in rows.start_vectors.chunks_exact_mut(n).enumerate() {
        for (i, o) in o.iter_mut().enumerate() {
            *o = flight.x[i * flight.capacity() + v];
        }
    }
}

/// Writes the listed pairs after the first `before` rows; returns how many rows are then written.
fn write_pairs<T: Real>(
    plan: &Plan<T>,
    loaded: &Loaded<T>,
    pairs: &Pairs<T>,
    rows: &mut Rows<'_, T>,
    before: usize,
) -> usize {
    let n = plan.shape.dimension;
    let odd = plan.shape.order % 2 == 1;
    let room = plan.reduction.pairs - before.min(plan.reduction.pairs);
    let mut row = before;
    for &k in pairs.order.iter().take(room) {
        let value = pairs.value(loaded, odd, k);
        set(rows.values, row, value);
        set(rows.residuals, row, loaded.length(pairs.residual2[k].sqrt()));
        set(rows.classes, row, pairs.class[k] as i32);
        set(rows.basins, row, pairs.basin[k]);
        write_vector(rows, row, n, plan.reduction.pairs, value, |i| pairs.component(i, k));
        let turned = pairs.is_turned(loaded, odd, k);
        for j in 0..n - 1 {
            let from = if turned { n - 2 - j } else { j };
            let e = loaded.length(pairs.hessian_at(from, k));
            set(rows.hessian, row * (n - 1) + j, if turned { T::ZERO - e } else { e });
        }
        row += 1;
    }
    row
}

/// Writes the vector of row `row`, and its peak.
fn write_vector<T: Real>(
    rows: &mut Rows<'_, T>,
    row: usize,
    n: usize,
    pairs: usize,
    value: T,
    component: impl Fn(usize) -> T,
) {
    for i in 0..n {
        set(rows.vectors, row * n + i, component(i));
    }
    if rows.peaks.len() == (n + 1) * pairs {
        for i in 0..n {
            set(rows.peaks, row * (n + 1) + i, component(i));
        }
        set(rows.peaks, row * (n + 1) + n, value);
    } else {
        for i in 0..n {
            set(rows.peaks, row * n + i, component(i) * value);
        }
    }
}

/// Fills the rows from `listed` on.
fn write_missing<T: Real>(plan: &Plan<T>, rows: &mut Rows<'_, T>, listed: usize) {
    let (n, pairs) = (plan.shape.dimension, plan.reduction.pairs);
    let from = |row: &mut [T], size: usize| {
        let start = (listed * size).min(row.len());
        row[start..].fill(plan.missing);
    };
    from(rows.values, 1);
    from(rows.vectors, n);
    from(rows.residuals, 1);
    from(rows.hessian, n - 1);
    let peak = rows.peaks.len().checked_div(pairs).unwrap_or(0);
    from(rows.peaks, peak);
    for row in [&mut *rows.classes, &mut *rows.basins] {
        let start = listed.min(row.len());
        row[start..].fill(0);
    }
}

/// Rows of a tensor that is not iterated on. Returns how many pairs are listed.
fn write_special<T: Real>(
    plan: &Plan<T>,
    scratch: &Scratch<T>,
    status: TensorStatus,
    value: T,
    rows: &mut Rows<'_, T>,
) -> usize {
    let n = plan.shape.dimension;
    let nan = T::from_f64(f64::NAN);
    let finite = status != TensorStatus::Nonfinite;
    let start = if finite { StartStatus::Converged } else { StartStatus::Nonfinite };
    for v in 0..plan.start_count {
        set(rows.start_values, v, value);
        set(rows.start_residuals, v, if finite { T::ZERO } else { nan });
        set(rows.start_iterations, v, 0);
        set(rows.start_shifts, v, T::ZERO);
        set(rows.start_status, v, start as i32);
        set(rows.start_violations, v, 0);
        for i in 0..n {
            set(rows.start_vectors, v * n + i, scratch.starts[i * scratch.stride + v]);
        }
    }
    if !finite || !plan.reduction.special_pair || plan.reduction.pairs == 0 {
        return 0;
    }
    // Every direction belongs to the one lambda: the first start stands for all.
    let first = |i: usize| scratch.starts[i * scratch.stride];
    let largest = (0..n).fold(T::ZERO, |m, i| if first(i).abs() > m { first(i).abs() } else { m });
    let bound = largest * T::from_f64(1.0 - 1e-6);
    let turn = (0..n).map(first).find(|c| c.abs() >= bound).is_some_and(|c| c < T::ZERO);
    set(rows.values, 0, value);
    set(rows.residuals, 0, T::ZERO);
    set(rows.classes, 0, PairClass::Degenerate as i32);
    set(rows.basins, 0, count_of(plan.start_count));
    write_vector(rows, 0, n, plan.reduction.pairs, value, |i| if turn { T::ZERO - first(i) } else { first(i) });
    for j in 0..n - 1 {
        set(rows.hessian, j, T::ZERO);
    }
    1
}
