//! Rounds of starts for one tensor: first from maxima and minima, then random starts. Starts that ended at a singular point or
//! ran out of steps are repeated from points nearby.

use super::approach::Ending;
use super::end_check::EndCheck;
use super::search::{CHUNK, Search, Site};
use super::set::{FoundPairs, PairSet};
use crate::alloc::{self, Charged};
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::cpu::simd::Vectorized;
use crate::context::Context;
use crate::error::Result;
use crate::progress::Progress;
use crate::shape::{to_i64, to_u64};
use crate::sshopm::algorithm::row_sizes;
use crate::sshopm::cpu::CpuOps;
use crate::sshopm::cpu::tensor::draw;
use crate::sshopm::ops::SshopmOps as _;
use crate::sshopm::options::{Goal, StartKind, StartStatus};
use crate::sshopm::plan::{Counts, Iteration, RowBuffers, SignRule, Starts, Tile};
use crate::sshopm::resolve::chord2;
use crate::sshopm::site::ops;

/// Distances, relative to the radius, by which a start that ended without a pair is moved before each trial. Near a
/// continuum of eigenvectors, steps of minimum norm continue from where the Newton steps stopped.
const MOVES: [f64; 4] = [0.0, 0.02, 0.1, 0.5];

/// Distance of the first moves of a start whose Newton steps cycled. Its end contains no information about the pairs, so it
/// restarts far away.
const FAR: f64 = 1.0;
/// Number of such moves before the steps of minimum norm.
const FAR_TRIALS: u64 = 3;
/// Sign of a continuum nearby: an eigenvalue of the projected Hessian below this, relative to the largest magnitude, or a
/// residual below this times the Frobenius norm.
const NEAR: f64 = 1e-3;

/// Index with which starts are drawn: the same for every tensor, so that its place in a batch changes no bit.
const TENSOR: usize = 0;

/// Endings that are stored at the same time; an even number.
const ENDINGS: usize = 256;

/// Vectors of starts that ended without a pair.
struct Unfinished<T> {
    /// n components of each, one start after another.
    x: Charged<T>,
    /// Whether one of them ended at a singular Hessian or at numbers that are not finite.
    is_singular: bool,
}

impl<T: Copy> Unfinished<T> {
    fn new(context: &Context) -> Self {
        Self { x: start_vectors(context), is_singular: false }
    }

    /// Returns the vectors and leaves none.
    fn take(&mut self) -> Charged<T> {
        self.is_singular = false;
        self.x.take()
    }
}

fn start_vectors<T: Copy>(context: &Context) -> Charged<T> {
    Charged::new("start vectors", context.host_budget())
}

/// The search of one tensor, with its results.
pub(super) struct OneTensor<'a, T> {
    pub(super) site: Site<'a>,
    /// Its index in the batch, for progress.
    pub(super) index: usize,
    /// Packed entries of the tensor, U of them.
    pub(super) a: &'a [T],
    /// Frobenius norm of the tensor.
    pub(super) norm: f64,
    pub(super) set: &'a mut PairSet<T>,
    /// Decides which pair an end is.
    pub(super) check: EndCheck<'a>,
    /// Starts that ended at a pair only to a loose tolerance.
    pub(super) lost: usize,
    pub(super) progress: &'a Progress<'a>,
    /// Tensors T of the batch, for progress.
    pub(super) count: usize,
}

/// Result of the starts of a round.
#[derive(Default)]
pub(super) struct Ended {
    pub(super) counts: Counts,
    /// Starts that ended without a pair in every trial.
    pub(super) lost: usize,
}

impl Ended {
    /// Adds the result of another round.
    pub(super) fn add(&mut self, other: Self) {
        self.counts = self.counts.plus(other.counts);
        self.lost += other.lost;
    }
}

/// Moves the unit vector x by `length` times `direction` and back to the sphere; `direction` is overwritten.
fn move_by<T: Vectorized>(x: &mut [T], direction: &mut [f64], length: f64) {
    direction.iter_mut().zip(&*x).for_each(|(d, x)| *d = length * *d + x.to_f64());
    let norm = direction.iter().map(|d| d * d).sum::<f64>().sqrt();
    // Near the origin the direction is undefined; leave x unchanged.
    if norm > 1e-3 {
        x.iter_mut().zip(direction).for_each(|(x, d)| *x = T::from_f64(*d / norm));
    }
}

impl<T: Vectorized> Search<T> {
    /// Newton's method from the maxima and minima that the hybrid finds.
    pub(super) fn extrema(&mut self, search: &mut OneTensor<'_, T>) -> Result<Ended> {
        let n = self.plan.shape.dimension;
        let mut plan = self.plan.clone();
        let odd = !plan.shape.order.is_multiple_of(2);
        // For odd order the minima are (-lambda, -x) of the maxima.
        plan.goal = if odd { Goal::Maxima } else { Goal::Both };
        plan.iteration = Iteration::Hybrid;
        plan.max_iterations = 500;
        plan.remove_isotropic = n != 3;
        plan.sign = SignRule::Raw;
        plan.start_count = if n <= 3 { 64 } else { 20 * n };
        plan.starts = Starts::Drawn { kind: StartKind::Random, seed: self.seed, first: 0, chunks: 1 };
        plan.reduction.pairs = 2 * plan.start_count;
        plan.reduction.merge_chord2 = chord2(1f64.to_radians());
        plan.reduction.merge_norm = 0.0;
        plan.reduction.merge_value = 0.0;
        plan.reduction.saddles = false;
        let sizes = row_sizes(&plan, None);
        let (mut buffers, _charge) = alloc::limited(search.site.context.host_budget(), || {
            Ok(RowBuffers::<T> {
                count: alloc::filled("pairs", 1, 0)?,
                vectors: alloc::filled("pairs", sizes.pair_vectors, T::ZERO)?,
                ..RowBuffers::default()
            })
        })?;
        let tile = Tile { first: TENSOR, input: search.a, mask: &[] };
        let mut ops = CpuOps::for_tiles(search.site.context, &plan, 1)?;
        let rows = buffers.rows(1, &sizes);
        let counts = ops.solve_tile(&plan, tile, rows, &mut [], &sizes, &search.progress.flag())?;
        drop(ops);
        let listed = usize::try_from(buffers.count[0]).unwrap_or(0).min(plan.reduction.pairs);
        buffers.vectors.truncate(listed * n);
        let mut total = Ended { counts, lost: 0 };
        total.add(self.given(search, &buffers.vectors)?);
        Ok(total)
    }

    /// Newton's method from `round` random starts, after the first `drawn` ones.
    pub(super) fn random(&mut self, search: &mut OneTensor<'_, T>, drawn: usize, round: usize) -> Result<Ended> {
        let mut unfinished = Unfinished::new(search.site.context);
        let mut total = Ended::default();
        let mut first = drawn;
        // Whole chunks together, then the remaining starts.
        for (chunks, size) in [(round / CHUNK, CHUNK), (1, round % CHUNK)] {
            if chunks * size == 0 {
                continue;
            }
            let starts = Starts::Drawn { kind: StartKind::Random, seed: self.seed, first, chunks };
            total.counts = total.counts.plus(self.chunks(search, starts, chunks, size, &mut unfinished)?);
            first += chunks * size;
        }
        total.add(self.again(search, unfinished)?);
        Ok(total)
    }

    /// Newton's method from given vectors, n components each.
    fn given(&mut self, search: &mut OneTensor<'_, T>, vectors: &[T]) -> Result<Ended> {
        let mut unfinished = Unfinished::new(search.site.context);
        let mut total = Ended { counts: self.newton(search, vectors, &mut unfinished)?, lost: 0 };
        total.add(self.again(search, unfinished)?);
        Ok(total)
    }

    /// Whether a start that ended at x without a pair may be near a continuum of eigenvectors.
    fn is_near_continuum(&self, search: &OneTensor<'_, T>, x: &[T]) -> Result<bool> {
        let end = search.check.approach.ending(x)?;
        let size = |most: f64, e: &f64| most.max(e.abs());
        let most = end.hessian.iter().fold(0.0, size);
        let is_flat = end.hessian.iter().any(|e| e.abs() <= NEAR * most);
        Ok(is_flat || end.residual <= NEAR * search.norm)
    }

    /// Repeats Newton's method for starts that ended without a pair: after steps of minimum norm from their ends, then from
    /// points nearby. An end that remains counts as a pair if its residual is within the tolerance. If there is no sign of a
    /// continuum, the starts first restart elsewhere, because most of them then find a pair at a small fraction of the cost.
    fn again(&mut self, search: &mut OneTensor<'_, T>, mut unfinished: Unfinished<T>) -> Result<Ended> {
        let n = self.plan.shape.dimension;
        let mut total = Ended::default();
        if unfinished.x.is_empty() {
            return Ok(total);
        }
        let context = search.site.context;
        let approach = search.check.approach;
        let (mut noise, _charge) =
            alloc::limited(context.host_budget(), || alloc::filled("start vectors", unfinished.x.len(), 0.0))?;
        let mut near = start_vectors(context);
        let trials = to_u64(MOVES.len());
        for trial in trials..trials + FAR_TRIALS {
            if unfinished.x.is_empty() || unfinished.is_singular || search.set.has_degenerate() {
                break;
            }
            let noise = &mut noise[..unfinished.x.len()];
            draw(StartKind::Random, self.seed.wrapping_add(1 + trial), TENSOR, 0, n, noise);
            let ends = unfinished.take();
            let mut starts = start_vectors(context);
            for (x, e) in ends.chunks_exact(n).zip(noise.chunks_exact_mut(n)) {
                search.progress.check()?;
                if self.is_near_continuum(search, x)? {
                    near.extend(x)?;
                } else {
                    starts.extend(x)?;
                    let last = starts.len() - n;
                    move_by(&mut starts[last..], e, FAR);
                }
            }
            let counts = self.newton(search, &starts, &mut unfinished)?;
            total.counts = total.counts.plus(counts);
        }
        near.extend(&unfinished.x)?;
        unfinished.x = near;
        // One call of the pool for all starts: a call for each start would cost more than its steps.
        let (pool, flag) = (context.pool(), search.progress.flag());
        let floor = 0.1 * self.plan.tolerance * search.norm;
        for (trial, length) in MOVES.into_iter().enumerate() {
            if unfinished.x.is_empty() {
                break;
            }
            let noise = &mut noise[..unfinished.x.len()];
            let seed = self.seed.wrapping_add(1 + to_u64(trial));
            draw(StartKind::Random, seed, TENSOR, 0, n, noise);
            pool.run(|| {
                unfinished.x.par_chunks_mut(n).zip(noise.par_chunks(n)).try_for_each(|(x, e)| {
                    flag.check()?;
                    approach.run(x, (e, length), floor)
                })
            })?;
            let starts = unfinished.take();
            let counts = self.newton(search, &starts, &mut unfinished)?;
            total.counts = total.counts.plus(counts);
        }
        let limit = self.plan.tolerance.max(32.0 * T::EPSILON.to_f64()) * search.norm;
        let still = alloc::filled("start vectors", n, 0.0)?;
        let ending = |(i, x): (usize, &mut [T])| {
            flag.check()?;
            let end = approach.ending(x)?;
            if end.residual <= limit {
                return Ok(end);
            }
            // Newton's steps cycled. Go to a maximum for even i, to a minimum for odd i.
            approach.climb(x, i % 2 == 1)?;
            approach.run(x, (&still, 0.0), floor)?;
            approach.ending(x)
        };
        for part in unfinished.x.chunks_mut(ENDINGS * n) {
            let ends: Vec<Result<Ending>> = pool.run(|| part.par_chunks_mut(n).enumerate().map(ending).collect());
            for end in ends {
                let end = end?;
                if end.residual <= limit {
                    search.set.take(end, 1, &search.check)?;
                } else {
                    total.lost += 1;
                }
            }
        }
        Ok(total)
    }

    fn newton(
        &mut self,
        search: &mut OneTensor<'_, T>,
        vectors: &[T],
        unfinished: &mut Unfinished<T>,
    ) -> Result<Counts> {
        let n = self.plan.shape.dimension;
        let mut counts = Counts::default();
        for part in vectors.chunks(CHUNK * n) {
            let mut starts = alloc::with_capacity("start vectors", part.len())?;
            starts.extend_from_slice(part);
            counts = counts.plus(self.chunks(search, Starts::Shared(starts), 1, part.len() / n, unfinished)?);
        }
        Ok(counts)
    }

    /// Newton's method from `chunks` chunks of `size` starts each, in parallel. Appends the vectors of starts that ended
    /// without a pair to `unfinished`.
    fn chunks(
        &mut self,
        search: &mut OneTensor<'_, T>,
        starts: Starts<T>,
        chunks: usize,
        size: usize,
        unfinished: &mut Unfinished<T>,
    ) -> Result<Counts> {
        let plan = &mut self.plan;
        let n = plan.shape.dimension;
        plan.start_count = size;
        plan.reduction.pairs = size;
        plan.starts = starts;
        let sizes = row_sizes(plan, None);
        // For a few starts of one tensor the transfers to a device and back take longer than the work.
        let queue = if matches!(plan.starts, Starts::Shared(_)) && size < CHUNK { None } else { search.site.queue };
        let context = search.site.context;
        let budget = context.host_budget();
        let mut ops = ops(context, queue, plan, chunks)?;
        // Process a few chunks for each thread at a time, to bound the memory.
        let reals = sizes.pairs * 2 + sizes.pair_vectors + sizes.pair_hessians + sizes.start_vectors + search.a.len();
        let each = reals * size_of::<T>() + (3 * size + 1) * size_of::<i32>();
        let most = usize::try_from(budget.available()).unwrap_or(usize::MAX) / each;
        let group = (8 * context.pool().threads()).min(chunks).min(most.max(1));
        let ((mut buffers, input), _charge) = alloc::limited(budget, || {
            let reals = |k: usize| alloc::filled("pairs", group * k, T::ZERO);
            let integers = |k: usize| alloc::filled("pairs", group * k, 0);
            let buffers = RowBuffers::<T> {
                count: integers(1)?,
                classes: integers(size)?,
                basins: integers(size)?,
                start_status: integers(size)?,
                values: reals(sizes.pairs)?,
                residuals: reals(sizes.pairs)?,
                vectors: reals(sizes.pair_vectors)?,
                hessian: reals(sizes.pair_hessians)?,
                start_vectors: reals(sizes.start_vectors)?,
                ..RowBuffers::default()
            };
            let mut input = alloc::with_capacity("packed entries", group * search.a.len())?;
            (0..group).for_each(|_| input.extend_from_slice(search.a));
            Ok((buffers, input))
        })?;
        let mut counts = Counts::default();
        for at in (0..chunks).step_by(group) {
            let here = group.min(chunks - at);
            let first = TENSOR * chunks + at;
            let tile = Tile { first, input: &input[..here * search.a.len()], mask: &[] };
            buffers.start_status.fill(StartStatus::Converged as i32);
            let rows = buffers.rows(here, &sizes);
            let flag = search.progress.flag();
            counts = counts.plus(ops.solve_tile(plan, tile, rows, &mut [], &sizes, &flag)?);
            for chunk in 0..here {
                search.lost += search.set.merge(&FoundPairs::of(&buffers, &sizes, chunk), &search.check)?;
                // One tensor may take minutes, so the caller can cancel here, too.
                search.progress.report(to_i64(search.index), to_i64(search.count), 0.0)?;
            }
            for (v, status) in buffers.start_status[..here * size].iter().enumerate() {
                if *status == StartStatus::Converged as i32 {
                    continue;
                }
                let x = &buffers.start_vectors[v * n..(v + 1) * n];
                // A start with components that are not finite restarts from a fixed vector instead of being dropped.
                let is_lost = x.iter().any(|c| !c.is_finite());
                unfinished.is_singular |= is_lost || *status != StartStatus::MaxIterations as i32;
                if is_lost {
                    (0..n).try_for_each(|i| unfinished.x.push(T::from_f64(f64::from(u8::from(i == 0)))))?;
                } else {
                    unfinished.x.extend(x)?;
                }
            }
        }
        Ok(counts)
    }
}
