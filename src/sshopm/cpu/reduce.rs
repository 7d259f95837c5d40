//! Reduces the ends of one tensor's starts to distinct pairs: merge, classify, collapse, threshold, separate, sort.

use super::engine::{Engine, Vectors};
use super::load::Loaded;
use super::top::{Probe, uncertainty};
use crate::alloc;
use crate::backend::cpu::simd::{Kernel, Lanes, Mask, Simd};
use crate::error::Result;
use crate::scalar::Real;
use crate::sshopm::options::{PairClass, TensorStatus};
use crate::sshopm::plan::{Iteration, Plan, Reduction, SignRule};
use crate::tensor::Symmetric;

/// Ends of the starts. Arrays are padded to whole vectors; component i of start v is at `[i * stride + v]`.
pub struct Ends<T> {
    /// Elements from one component to the next.
    pub stride: usize,
    /// One array after the other, see [`Ends::arrays`].
    pub data: Vec<T>,
}

/// The arrays of [`Ends`], one element a start but for `x`.
pub struct EndArrays<'a, T> {
    /// Unit vectors, component i of start p at `[i * stride + p]`.
    pub x: &'a mut [T],
    /// lambda in working units.
    pub lambda: &'a mut [T],
    /// `lambda` of a start that converged and has not joined a pair yet, else -inf.
    pub open: &'a mut [T],
    /// Squared residual in working units.
    pub residual2: &'a mut [T],
    /// Scratch array of the merge.
    joined: &'a mut [T],
}

/// Distinct pairs of a tensor, arrays as in [`Ends`].
pub struct Pairs<T> {
    stride: usize,
    /// Distinct pairs so far, listed or not.
    pub found: usize,
    /// Unit vectors, laid out as those of the starts.
    pub x: Vec<T>,
    /// lambda in working units.
    pub lambda: Vec<T>,
    /// Squared residual in working units.
    pub residual2: Vec<T>,
    /// Working eigenvalues of the projected Hessian, ascending; n - 1 of each.
    pub hessian: Vec<T>,
    /// Starts that ended at each pair.
    pub basin: Vec<i32>,
    /// Class of the representative that is written.
    pub class: Vec<PairClass>,
    /// Whether the written representative has the opposite sign: -x, and -lambda for odd order.
    flip: Vec<bool>,
    /// Whether the pair has not been removed.
    alive: Vec<bool>,
    /// Indices of the listed pairs in output order, at most K.
    pub order: Vec<usize>,
    /// Number of listed pairs before the limit K.
    pub selected: usize,
    probe: Probe<T>,
}

impl<T: Real> Ends<T> {
    /// Allocates arrays for `stride` starts.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn new(n: usize, stride: usize) -> Result<Self> {
        Ok(Self { stride, data: alloc::filled("ends of the starts", (n + 4) * stride, T::ZERO)? })
    }

    /// The arrays, in the order of their members.
    #[inline(always)]
    pub fn arrays(&mut self, n: usize) -> EndArrays<'_, T> {
        let (x, rest) = self.data.split_at_mut(n * self.stride);
        let (lambda, rest) = rest.split_at_mut(self.stride);
        let (open, rest) = rest.split_at_mut(self.stride);
        let (residual2, joined) = rest.split_at_mut(self.stride);
        EndArrays { x, lambda, open, residual2, joined }
    }
}

impl<T: Real> Pairs<T> {
    /// Allocates arrays for `stride` pairs.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn new(shape: Symmetric, stride: usize) -> Result<Self> {
        let n = shape.dimension;
        let array = |k: usize| alloc::filled("pairs", k * stride, T::ZERO);
        Ok(Self {
            stride,
            found: 0,
            x: array(n)?,
            lambda: array(1)?,
            residual2: array(1)?,
            hessian: array(n - 1)?,
            basin: alloc::filled("pairs", stride, 0)?,
            class: alloc::filled("pairs", stride, PairClass::Unclassified)?,
            flip: alloc::filled("pairs", stride, false)?,
            alive: alloc::filled("pairs", stride, false)?,
            order: alloc::with_capacity("pairs", stride)?,
            selected: 0,
            probe: Probe::new(shape)?,
        })
    }

    /// Component i of pair k with the sign of the output.
    #[inline]
    pub fn component(&self, i: usize, k: usize) -> T {
        let x = self.x[i * self.stride + k];
        if self.flip[k] { T::ZERO - x } else { x }
    }

    /// Lambda of pair k with the sign of the output, in the tensor's units.
    #[inline]
    pub fn value(&self, loaded: &Loaded<T>, odd: bool, k: usize) -> T {
        let value = loaded.value(self.lambda[k]);
        if odd && self.flip[k] { T::ZERO - value } else { value }
    }

    /// Eigenvalue j of the working Hessian of pair k.
    #[inline]
    pub fn hessian_at(&self, j: usize, k: usize) -> T {
        self.hessian[j * self.stride + k]
    }

    /// Whether the output's Hessian of pair k has the opposite sign of the working one.
    #[inline]
    pub fn is_turned(&self, loaded: &Loaded<T>, odd: bool, k: usize) -> bool {
        (loaded.direction < T::ZERO) != (odd && self.flip[k])
    }
}

/// Greedy merge in descending order of lambda. The remaining end with the largest lambda starts a pair. Every remaining end
/// within the merge angle (and the merge value) joins it. The one with the smallest residual represents the pair.
pub struct Merge<'a, T> {
    /// Order, dimension, number of starts, and the thresholds of the merge.
    pub plan: &'a Plan<T>,
    /// Numbers of the scaled tensor.
    pub loaded: &'a Loaded<T>,
    /// Ends of the starts; the merge overwrites `open`.
    pub ends: &'a mut Ends<T>,
    /// Receives the pairs; those of the previous tensor are replaced.
    pub pairs: &'a mut Pairs<T>,
}

impl<T: Real> Kernel<T> for Merge<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        merge(simd, self.plan, self.loaded, self.ends, self.pairs);
    }
}

#[inline(always)]
fn merge<T: Real, S: Simd<T>>(simd: S, plan: &Plan<T>, loaded: &Loaded<T>, ends: &mut Ends<T>, pairs: &mut Pairs<T>) {
    let n = plan.shape.dimension;
    let even = plan.shape.order.is_multiple_of(2);
    let starts = plan.start_count;
    let lanes = S::V::LEN;
    let stride = ends.stride;
    let ends = ends.arrays(n);
    let none = T::ZERO - T::from_f64(f64::INFINITY);
    let rule = &plan.reduction;
    let (none_v, zero) = (simd.splat(none), simd.splat(T::ZERO));
    let within = simd.splat(T::from_f64(rule.merge_chord2));
    pairs.found = 0;
    while pairs.found < pairs.stride {
        let mut best = none_v;
        for at in (0..starts).step_by(lanes) {
            best = best.max(simd.load(&ends.open[at..]));
        }
        let top = best.largest();
        if top == none {
            return;
        }
        let top_v = simd.splat(top);
        let Some(seed) = first_place(simd, starts, ends.open, top_v) else { return };
        let whole = (top + loaded.job.isotropic).to_f64().abs();
        let agree = (rule.merge_value * whole).max(rule.merge_norm * loaded.norm.to_f64());
        let agree_v = simd.splat(T::from_f64(agree));
        // The negated residuals of the ends that join: the largest is the representative's.
        let (mut closest, mut basin) = (none_v, 0);
        for at in (0..starts).step_by(lanes) {
            let lambda = simd.load(&ends.open[at..]);
            let mut cosine = zero;
            for i in 0..n {
                let s = simd.splat(ends.x[i * stride + seed]);
                cosine = simd.load(&ends.x[i * stride + at..]).mul_add(s, cosine);
            }
            let mut chord2 = zero;
            for i in 0..n {
                let s = simd.splat(ends.x[i * stride + seed]);
                let s = if even { S::V::select(cosine.lt(zero), zero.sub(s), s) } else { s };
                let d = simd.load(&ends.x[i * stride + at..]).sub(s);
                chord2 = d.mul_add(d, chord2);
            }
            let mut joins = chord2.le(within).and(none_v.lt(lambda));
            if agree > 0.0 {
                joins = joins.and(top_v.sub(lambda).le(agree_v));
            }
            S::V::select(joins, none_v, lambda).store(&mut ends.open[at..]);
            basin += joins.bits().count_ones();
            let residual2 = zero.sub(simd.load(&ends.residual2[at..]));
            let residual2 = S::V::select(joins, residual2, none_v);
            closest = closest.max(residual2);
            residual2.store(&mut ends.joined[at..]);
        }
        let closest = simd.splat(closest.largest());
        let representative = first_place(simd, starts, ends.joined, closest).unwrap_or(seed);
        // The seed joins its own pair. Remove it even if rounding excluded it, so that the loop ends.
        ends.open[seed] = none;
        let k = pairs.found;
        for i in 0..n {
            pairs.x[i * pairs.stride + k] = ends.x[i * stride + representative];
        }
        pairs.lambda[k] = ends.lambda[representative];
        pairs.residual2[k] = ends.residual2[representative];
        pairs.basin[k] = i32::try_from(basin.max(1)).unwrap_or(i32::MAX);
        pairs.found += 1;
    }
}

/// The first index whose number is at least `bound`.
#[inline(always)]
fn first_place<T: Real, S: Simd<T>>(simd: S, count: usize, numbers: &[T], bound: S::V) -> Option<usize> {
    // One branch for 64 indices, because which vector has the number is unpredictable.
    for base in (0..count).step_by(64) {
        let mut bits = 0;
        for at in (base..count.min(base + 64)).step_by(S::V::LEN) {
            bits |= bound.le(simd.load(&numbers[at..])).bits() << (at - base);
        }
        if bits != 0 {
            return Some(base + bits.trailing_zeros() as usize);
        }
    }
    None
}

/// Classifies the found pairs, drops those that the goal excludes, and lists the others in output order: descending in
/// working lambda. Returns the status of the tensor.
pub fn select<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan<T>,
    loaded: &Loaded<T>,
    a: &[T],
    pairs: &mut Pairs<T>,
) -> TensorStatus {
    // Clear the list of the previous tensor.
    pairs.order.clear();
    pairs.selected = 0;
    if pairs.found == 0 {
        return TensorStatus::NoPair;
    }
    // Lanes beyond the last pair compute on old values, which are finite.
    let x = Vectors { data: &pairs.x, stride: pairs.stride, count: pairs.found };
    engine.hessians(a, x, &pairs.lambda, &mut pairs.hessian);
    let n = plan.shape.dimension;
    let odd = plan.shape.order % 2 == 1;
    let rule = &plan.reduction;
    let flat = T::from_f64(rule.degeneracy) * loaded.norm;
    let uncertainty = T::from_f64(uncertainty(plan.shape.order)) * loaded.norm;
    let is_newton = plan.iteration == Iteration::Newton;
    for k in 0..pairs.found {
        let (mut low, mut high) = (T::ZERO, T::ZERO);
        let mut degenerate = false;
        // Below this bound an eigenvalue may be 0 at the exact pair near the end.
        let residual = pairs.residual2[k].sqrt();
        let doubtful = (uncertainty * residual).sqrt();
        // Newton's ends are as exact as rounding allows, so eigenvalues that may be 0 count as 0.
        let flat = if is_newton && doubtful > flat { doubtful } else { flat };
        for j in 0..n - 1 {
            let e = pairs.hessian[j * pairs.stride + k];
            degenerate |= e.abs() <= flat;
            if j == 0 || e < low {
                low = e;
            }
            if j == 0 || e > high {
                high = e;
            }
        }
        pairs.flip[k] = flips(plan, loaded, pairs, k);
        let (mut maximum, mut minimum) = (high < T::ZERO, low > T::ZERO);
        if n == 1 {
            // In dimension 1 the direction is both a maximum and a minimum; report the kind of the goal.
            maximum = true;
        }
        if pairs.is_turned(loaded, odd, k) {
            (maximum, minimum) = (minimum, maximum);
        }
        pairs.class[k] = match () {
            () if degenerate => PairClass::Degenerate,
            () if maximum => PairClass::NegativeStable,
            () if minimum => PairClass::PositiveStable,
            () => PairClass::Unstable,
        };
        pairs.alive[k] = rule.saddles || high <= flat;
        let doubtful = if doubtful > flat { doubtful } else { flat };
        if pairs.alive[k] && !rule.saddles && n > 1 && high >= T::ZERO - doubtful {
            let x = (0..n).map(|i| pairs.x[i * pairs.stride + k]);
            let numbers = [residual, loaded.norm, doubtful].map(Real::to_f64);
            pairs.alive[k] = pairs.probe.is_top(engine, a, x, numbers);
        }
    }
    if odd {
        join_turned(plan, loaded, pairs);
    }
    let status = collapse(rule, loaded, pairs);
    list(plan, loaded, pairs, odd);
    pairs.selected = pairs.order.len();
    pairs.order.truncate(plan.reduction.pairs);
    status
}

/// Merges the pairs (0, x) and (0, -x) for odd order: they are one pair, which starts reach from both sides.
fn join_turned<T: Real>(plan: &Plan<T>, loaded: &Loaded<T>, pairs: &mut Pairs<T>) {
    let rule = &plan.reduction;
    let zero = T::from_f64((32.0 * T::EPSILON.to_f64()).max(plan.tolerance)) * loaded.norm;
    let within = T::from_f64(rule.merge_chord2);
    let is_zero = |pairs: &Pairs<T>, k: usize| pairs.alive[k] && (pairs.lambda[k] + loaded.job.isotropic).abs() <= zero;
    for p in 0..pairs.found {
        for q in p + 1..pairs.found {
            if is_zero(pairs, p) && is_zero(pairs, q) && chord2(pairs, plan.shape.dimension, true, p, q) <= within {
                pairs.alive[q] = false;
                pairs.basin[p] += pairs.basin[q];
            }
        }
    }
}

/// Merges a continuum: three or more degenerate pairs with one lambda become one.
fn collapse<T: Real>(rule: &Reduction, loaded: &Loaded<T>, pairs: &mut Pairs<T>) -> TensorStatus {
    let is_flat = |pairs: &Pairs<T>, k: usize| pairs.alive[k] && pairs.class[k] == PairClass::Degenerate;
    let mut status = TensorStatus::Ok;
    for leader in 0..pairs.found {
        if !is_flat(pairs, leader) {
            continue;
        }
        let value = pairs.lambda[leader];
        let whole = (value + loaded.job.isotropic).to_f64().abs();
        let same = T::from_f64((rule.level * loaded.norm.to_f64()).max(rule.merge_value * whole));
        let members = |pairs: &Pairs<T>, k: usize| is_flat(pairs, k) && (pairs.lambda[k] - value).abs() <= same;
        let count = (leader..pairs.found).filter(|k| members(pairs, *k)).count();
        if count < 3 {
            continue;
        }
        for k in leader + 1..pairs.found {
            if members(pairs, k) {
                pairs.alive[k] = false;
                pairs.basin[leader] += pairs.basin[k];
            }
        }
        status = TensorStatus::Degenerate;
    }
    status
}

/// Sorts the pairs, applies the thresholds and the separation.
fn list<T: Real>(plan: &Plan<T>, loaded: &Loaded<T>, pairs: &mut Pairs<T>, odd: bool) {
    let rule = &plan.reduction;
    let n = plan.shape.dimension;
    // Descending for maxima, ascending for minima, by the lambda of the end. For odd order and the canonical sign the maxima
    // with lambda < 0 are written as minima; they come last, in ascending order.
    let rank = |pairs: &Pairs<T>, k: usize| loaded.direction * loaded.value(pairs.lambda[k]);
    pairs.order.clear();
    for k in 0..pairs.found {
        if !pairs.alive[k] {
            continue;
        }
        let mine = rank(pairs, k);
        let place = pairs.order.iter().rposition(|o| rank(pairs, *o) >= mine).map_or(0, |p| p + 1);
        pairs.order.insert(place, k);
    }
    if let Some(absolute) = rule.absolute_threshold {
        let top = pairs.order.first().map_or(0.0, |k| rank(pairs, *k).to_f64());
        let least = absolute.max(rule.relative_threshold * top);
        let mut order = std::mem::take(&mut pairs.order);
        // A peak with the value 0 is dropped even if the threshold is 0.
        order.retain(|k| {
            let value = pairs.value(loaded, odd, *k).to_f64();
            value > least || (value == least && least != 0.0)
        });
        pairs.order = order;
    }
    if rule.separation_chord2 > 0.0 {
        let apart = T::from_f64(rule.separation_chord2);
        let mut order = std::mem::take(&mut pairs.order);
        let mut kept = 0;
        for p in 0..order.len() {
            let k = order[p];
            if order[..kept].iter().all(|o| chord2(pairs, n, !odd, *o, k) >= apart) {
                order[kept] = k;
                kept += 1;
            }
        }
        order.truncate(kept);
        pairs.order = order;
    }
}

fn chord2<T: Real>(pairs: &Pairs<T>, n: usize, even: bool, p: usize, q: usize) -> T {
    let (mut plus, mut minus) = (T::ZERO, T::ZERO);
    for i in 0..n {
        let (x, y) = (pairs.component(i, p), pairs.component(i, q));
        minus += (x - y) * (x - y);
        plus += (x + y) * (x + y);
    }
    if even && plus < minus { plus } else { minus }
}

/// Whether the sign rule flips pair k.
fn flips<T: Real>(plan: &Plan<T>, loaded: &Loaded<T>, pairs: &Pairs<T>, k: usize) -> bool {
    let (n, stride) = (plan.shape.dimension, pairs.stride);
    let x = |i: usize| pairs.x[i * stride + k];
    if plan.sign == SignRule::Raw {
        return false;
    }
    if plan.shape.order % 2 == 1 {
        let value = loaded.direction * (pairs.lambda[k] + loaded.job.isotropic);
        if value.abs() > T::from_f64(32.0 * T::EPSILON.to_f64()) * loaded.norm {
            return value < T::ZERO;
        }
    }
    if plan.sign == SignRule::UpperHalf {
        return (0..n).rev().map(x).find(|c| *c != T::ZERO).is_some_and(|c| c < T::ZERO);
    }
    let largest = (0..n).fold(T::ZERO, |m, i| if x(i).abs() > m { x(i).abs() } else { m });
    let bound = largest * T::from_f64(1.0 - 1e-6);
    (0..n).map(x).find(|c| c.abs() >= bound).is_some_and(|c| c < T::ZERO)
}
