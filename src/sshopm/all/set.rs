//! The set of pairs found for one tensor.

use std::sync::Arc;

use super::approach::Ending;
use super::end_check::EndCheck;
use crate::alloc::{self, Charged};
use crate::backend::memory::Budget;
use crate::error::Result;
use crate::scalar::Real;
use crate::sshopm::cpu::load::power_of_two_times;
use crate::sshopm::options::{NO_PAIR, PairClass, Results, TensorStatus};
use crate::sshopm::plan::{RowBuffers, RowSizes, SignRule};
use crate::sshopm::product::is_isolated;
use crate::sshopm::resolve::chord2;
use crate::tensor::{Symmetric, Tensor};

/// A set of pairs, stored as one array for each quantity.
pub struct PairSet<T> {
    shape: Symmetric,
    sign: SignRule,
    /// The exponent of the power of two that multiplies lambdas, residuals and Hessians on output.
    exponent: i32,
    lambda: Charged<T>,
    residual: Charged<T>,
    class: Charged<PairClass>,
    basin: Charged<i32>,
    /// Whether the pair represents a continuum.
    continuum: Charged<bool>,
    /// Whether the tensor's entries determine the pair, so that it is not a point of a continuum even if it is degenerate.
    certain: Charged<bool>,
    /// n components for each pair.
    x: Charged<T>,
    /// n - 1 eigenvalues for each pair.
    hessian: Charged<T>,
}

/// Pairs found by one chunk of starts: packed rows.
pub struct FoundPairs<'a, T> {
    values: &'a [T],
    vectors: &'a [T],
    classes: &'a [i32],
    basins: &'a [i32],
}

impl<'a, T> FoundPairs<'a, T> {
    /// The rows of chunk `t`.
    pub fn of(buffers: &'a RowBuffers<T>, sizes: &RowSizes, t: usize) -> Self {
        let found = usize::try_from(buffers.count[t]).unwrap_or(0);
        let part = |size: usize| t * size..t * size + found * (size / sizes.pairs.max(1));
        Self {
            values: &buffers.values[part(sizes.pairs)],
            vectors: &buffers.vectors[part(sizes.pair_vectors)],
            classes: &buffers.classes[part(sizes.pairs)],
            basins: &buffers.basins[part(sizes.pairs)],
        }
    }
}

fn class_of(code: i32) -> PairClass {
    PairClass::from_code("class", code).unwrap_or(PairClass::Unclassified)
}

impl<T: Real> PairSet<T> {
    /// An empty set that charges its memory to `budget`.
    pub fn new(shape: Symmetric, sign: SignRule, budget: &Arc<Budget>) -> Self {
        Self {
            shape,
            sign,
            exponent: 0,
            lambda: Charged::new("pairs", budget),
            residual: Charged::new("pairs", budget),
            class: Charged::new("pairs", budget),
            basin: Charged::new("pairs", budget),
            continuum: Charged::new("pairs", budget),
            certain: Charged::new("pairs", budget),
            x: Charged::new("pairs", budget),
            hessian: Charged::new("pairs", budget),
        }
    }

    /// Sets the exponent of the power of two, 2^`exponent`, that the tensor was divided by.
    pub fn set_exponent(&mut self, exponent: i32) {
        self.exponent = exponent;
    }

    /// Distinct pairs so far; (lambda, x) and its mirror image count once.
    pub fn len(&self) -> usize {
        self.lambda.len()
    }

    /// Appends a pair given in f64.
    pub fn push(
        &mut self,
        lambda: f64,
        residual: f64,
        class: PairClass,
        basin: i32,
        x: impl Iterator<Item = f64>,
        hessian: impl Iterator<Item = f64>,
    ) -> Result<()> {
        let start = self.x.len();
        self.lambda.push(T::from_f64(lambda))?;
        self.residual.push(T::from_f64(residual))?;
        self.class.push(class)?;
        self.basin.push(basin)?;
        self.continuum.push(false)?;
        self.certain.push(false)?;
        for c in x {
            self.x.push(T::from_f64(c))?;
        }
        for e in hessian {
            self.hessian.push(T::from_f64(e))?;
        }
        // For odd order the sign of lambda decides.
        if self.is_even() && self.sign != SignRule::Raw && leading_is_negative(&self.x[start..]) {
            self.x[start..].iter_mut().for_each(|c| *c = T::ZERO - *c);
        }
        Ok(())
    }

    /// Appends the one pair of a tensor for which every direction has the eigenvalue `value`.
    pub fn push_special(&mut self, value: T) -> Result<()> {
        let n = self.shape.dimension;
        let unit = (0..n).map(|i| f64::from(u8::from(i == 0)));
        self.push(value.to_f64(), 0.0, PairClass::Degenerate, 0, unit, (1..n).map(|_| 0.0))
    }

    /// Merges the pairs of a chunk into the set. A pair near a known one is counted there. A degenerate pair with the
    /// lambda of a continuum belongs to the continuum. Other ends are refined in f64 and appended if they are new.
    /// Returns the number of starts whose ends are pairs only to the tolerance, without a pair nearby.
    pub fn merge(&mut self, found: &FoundPairs<'_, T>, check: &EndCheck<'_>) -> Result<usize> {
        let n = self.shape.dimension;
        let agree = check.rule.merge_norm * check.norm;
        let same = check.rule.level * check.norm;
        let mut lost = 0;
        for (k, lambda) in found.values.iter().enumerate() {
            let x = &found.vectors[k * n..(k + 1) * n];
            let (lambda, basin) = (lambda.to_f64(), found.basins[k]);
            let turned = if self.is_even() { lambda } else { -lambda };
            let is_flat = class_of(found.classes[k]) == PairClass::Degenerate;
            let known = (0..self.len()).find(|p| {
                let value = self.lambda[*p].to_f64();
                let (plus, minus) = distances2(x, &self.x[p * n..(p + 1) * n]);
                let is_one = |apart: T, lambda: f64| {
                    apart.to_f64() <= check.rule.merge_chord2 && (lambda - value).abs() <= agree
                };
                let is_level = (lambda - value).abs() <= same || (turned - value).abs() <= same;
                (is_flat && self.continuum[*p] && is_level) || is_one(minus, lambda) || is_one(plus, turned)
            });
            if let Some(p) = known {
                self.basin[p] = self.basin[p].saturating_add(basin);
                continue;
            }
            if is_flat && let Some(p) = self.joined(&check.end(x)?, check)? {
                self.basin[p] = self.basin[p].saturating_add(basin);
                continue;
            }
            match check.refined(x)? {
                Some(end) => self.take(end, basin, check)?,
                None => lost += usize::try_from(basin).unwrap_or(1),
            }
        }
        Ok(lost)
    }

    /// The degenerate pair near an end. Many starts end near one, each at another point; they need no more steps.
    fn joined(&self, end: &Ending, check: &EndCheck<'_>) -> Result<Option<usize>> {
        let n = self.shape.dimension;
        if check.is_loose(end) {
            return Ok(None);
        }
        let mut y = alloc::filled("pairs", n, 0.0)?;
        for p in (0..self.len()).filter(|p| self.class[*p] == PairClass::Degenerate && !self.certain[*p]) {
            y.iter_mut().zip(&self.x[p * n..(p + 1) * n]).for_each(|(y, c)| *y = c.to_f64());
            let (plus, minus) = distances2(&end.x, &y);
            let lambda = if plus < minus && !self.is_even() { -end.lambda } else { end.lambda };
            let is_level = (lambda - self.lambda[p].to_f64()).abs() <= check.rule.level * check.norm;
            let residual = self.residual[p].to_f64();
            if is_level && check.are_joined((&end.x, end.residual), (&y, residual), plus < minus)? {
                return Ok(Some(p));
            }
        }
        Ok(None)
    }

    /// The degenerate pair that is a point of one curve of pairs with an end at a degenerate pair.
    fn on_curve_of(&self, end: &Ending, check: &EndCheck<'_>) -> Result<Option<usize>> {
        let n = self.shape.dimension;
        let mut y = alloc::filled("pairs", n, 0.0)?;
        for p in (0..self.len()).filter(|p| self.class[*p] == PairClass::Degenerate && !self.certain[*p]) {
            y.iter_mut().zip(&self.x[p * n..(p + 1) * n]).for_each(|(y, c)| *y = c.to_f64());
            let (plus, minus) = distances2(&end.x, &y);
            let turned = plus < minus;
            let lambda = if turned && !self.is_even() { -end.lambda } else { end.lambda };
            let is_level = (lambda - self.lambda[p].to_f64()).abs() <= check.rule.level * check.norm;
            if is_level && check.are_on_one_curve(end, (&y, self.residual[p].to_f64()), turned)? {
                return Ok(Some(p));
            }
        }
        Ok(None)
    }

    fn is_even(&self) -> bool {
        self.shape.order.is_multiple_of(2)
    }

    /// Merges the end of `basin` starts, found in f64, into the set.
    pub fn take(&mut self, mut end: Ending, basin: i32, check: &EndCheck<'_>) -> Result<()> {
        let (n, even) = (self.shape.dimension, self.is_even());
        if !even && self.sign != SignRule::Raw {
            let is_zero = end.lambda.abs() <= 32.0 * T::EPSILON.to_f64() * check.norm;
            if if is_zero { leading_is_negative(&end.x) } else { end.lambda < 0.0 } {
                end.lambda = -end.lambda;
                end.x.iter_mut().for_each(|c| *c = -*c);
                end.hessian.reverse();
                end.hessian.iter_mut().for_each(|e| *e = -*e);
            }
        }
        let certain = check.is_certain(&end);
        // As for the starts of a chunk.
        let flat = check.flat(&end, certain);
        let class = match () {
            () if end.hessian.iter().any(|e| e.abs() <= flat) => PairClass::Degenerate,
            () if end.hessian.iter().all(|e| *e < 0.0) => PairClass::NegativeStable,
            () if end.hessian.iter().all(|e| *e > 0.0) => PairClass::PositiveStable,
            () => PairClass::Unstable,
        };
        let agree = check.rule.merge_norm * check.norm;
        let same = check.rule.level * check.norm;
        let turned = if even { end.lambda } else { -end.lambda };
        let mut y = alloc::filled("pairs", n, 0.0)?;
        let mut known = None;
        for p in 0..self.len() {
            y.iter_mut().zip(&self.x[p * n..(p + 1) * n]).for_each(|(y, c)| *y = c.to_f64());
            let (plus, minus) = distances2(&end.x, &y);
            let value = self.lambda[p].to_f64();
            let residual = self.residual[p].to_f64();
            let both_flat = class == PairClass::Degenerate && self.class[p] == class && !certain && !self.certain[p];
            let is_level = (end.lambda - value).abs() <= same || (turned - value).abs() <= same;
            if both_flat && self.continuum[p] && is_level {
                known = Some(p);
                break;
            }
            let hessian = self.hessian[p * (n - 1)..(p + 1) * (n - 1)].iter().map(|e| e.to_f64());
            let reach = match certain && self.certain[p] {
                true => chord2(check.doubt(&end) + check.doubt_of(residual, hessian)),
                false => 0.0,
            };
            let within = check.rule.merge_chord2.max(reach);
            let (apart, lambda) = if plus < minus { (plus, turned) } else { (minus, end.lambda) };
            let is_one = apart <= within && (lambda - value).abs() <= agree;
            let is_joined = both_flat
                && (lambda - value).abs() <= same
                && check.are_joined((&end.x, end.residual), (&y, residual), plus < minus)?;
            if is_one || is_joined {
                known = Some(p);
                break;
            }
        }
        let is_apart = known.is_none() && class == PairClass::Degenerate && !certain;
        if is_apart {
            known = self.on_curve_of(&end, check)?;
            // At least three degenerate pairs with this lambda are known now.
            known.iter().for_each(|p| self.continuum[*p] = true);
        }
        let Some(p) = known else {
            self.push(end.lambda, end.residual, class, basin, end.x.into_iter(), end.hessian.into_iter())?;
            let last = self.len() - 1;
            self.certain[last] = certain;
            // Collapse now, so that the points of a continuum do not fill the set.
            return if class == PairClass::Degenerate && !certain { self.collapse(same, 3) } else { Ok(()) };
        };
        self.basin[p] = self.basin[p].saturating_add(basin);
        if end.residual < self.residual[p].to_f64() && certain >= self.certain[p] {
            self.lambda[p] = T::from_f64(end.lambda);
            self.residual[p] = T::from_f64(end.residual);
            self.class[p] = class;
            self.certain[p] = certain;
            let flip = even && self.sign != SignRule::Raw && leading_is_negative(&end.x);
            let sign = if flip { -1.0 } else { 1.0 };
            self.x[p * n..(p + 1) * n].iter_mut().zip(&end.x).for_each(|(x, c)| *x = T::from_f64(sign * c));
            let hessian = &mut self.hessian[p * (n - 1)..(p + 1) * (n - 1)];
            hessian.iter_mut().zip(&end.hessian).for_each(|(h, e)| *h = T::from_f64(*e));
        }
        // Other entries with this lambda are points of the continuum too.
        if is_apart { self.collapse(same, 3) } else { Ok(()) }
    }

    /// Whether a pair is degenerate. The Morse sum then has no expected value.
    pub fn has_degenerate(&self) -> bool {
        self.class.contains(&PairClass::Degenerate)
    }

    /// The numbers of negative eigenvalues of the isolated pairs' Hessians.
    fn indices(&self) -> impl Iterator<Item = usize> {
        let n = self.shape.dimension;
        let index = move |p| self.hessian[p * (n - 1)..(p + 1) * (n - 1)].iter().filter(|e| **e < T::ZERO).count();
        (0..self.len()).filter(|p| is_isolated(self.class[*p])).map(index)
    }

    /// Sum of (-1)^k over the isolated pairs; k is the number of negative eigenvalues of each.
    pub fn morse_sum(&self) -> i32 {
        self.indices().map(|k| if k.is_multiple_of(2) { 1 } else { -1 }).sum()
    }

    /// The number of isolated pairs with k negative eigenvalues, for k = 0 .. n-1.
    pub fn counts_by_index(&self) -> Result<Vec<usize>> {
        let mut counts = alloc::filled("pairs", self.shape.dimension, 0)?;
        self.indices().for_each(|k| counts[k] += 1);
        Ok(counts)
    }

    /// Starts that ended at the pair that fewest reached; 0 without a pair.
    pub fn least_basin(&self) -> i32 {
        self.basin.iter().copied().min().unwrap_or(0)
    }

    /// Order and dimension of the tensor.
    pub fn shape(&self) -> Symmetric {
        self.shape
    }

    /// Merges a continuum: `least` or more degenerate pairs whose lambdas differ by at most `same` become one.
    pub fn collapse(&mut self, same: f64, least: usize) -> Result<()> {
        let n = self.shape.dimension;
        if !self.has_degenerate() {
            return Ok(());
        }
        let belongs = |s: &Self, gone: &[bool], leader: usize, p: usize| {
            let near = (s.lambda[p] - s.lambda[leader]).abs().to_f64() <= same;
            !gone[p] && s.class[p] == PairClass::Degenerate && !s.certain[p] && near
        };
        let mut gone = alloc::filled("pairs", self.len(), false)?;
        for p in 0..self.len() {
            if !belongs(self, &gone, p, p) {
                continue;
            }
            let members = (p..self.len()).filter(|q| belongs(self, &gone, p, *q));
            if members.clone().count() < least && !members.clone().any(|q| self.continuum[q]) {
                continue;
            }
            self.continuum[p] = true;
            let mut best = p;
            for q in p + 1..self.len() {
                if belongs(self, &gone, p, q) {
                    gone[q] = true;
                    self.basin[p] = self.basin[p].saturating_add(self.basin[q]);
                    if self.residual[q] < self.residual[best] {
                        best = q;
                    }
                }
            }
            if best != p {
                self.lambda[p] = self.lambda[best];
                self.residual[p] = self.residual[best];
                self.x.copy_within(best * n..(best + 1) * n, p * n);
                self.hessian.copy_within(best * (n - 1)..(best + 1) * (n - 1), p * (n - 1));
            }
        }
        let mut keep = alloc::with_capacity("pairs", self.len())?;
        keep.extend((0..self.len()).filter(|p| !gone[*p]));
        if keep.len() == self.len() {
            return Ok(());
        }
        for (to, from) in keep.iter().enumerate() {
            self.lambda.swap(to, *from);
            self.residual.swap(to, *from);
            self.class.swap(to, *from);
            self.basin.swap(to, *from);
            self.continuum.swap(to, *from);
            self.certain.swap(to, *from);
            self.x.copy_within(from * n..(from + 1) * n, to * n);
            self.hessian.copy_within(from * (n - 1)..(from + 1) * (n - 1), to * (n - 1));
        }
        let len = keep.len();
        self.lambda.truncate(len);
        self.residual.truncate(len);
        self.class.truncate(len);
        self.basin.truncate(len);
        self.continuum.truncate(len);
        self.certain.truncate(len);
        self.x.truncate(len * n);
        self.hessian.truncate(len * (n - 1));
        Ok(())
    }

    /// Writes the pairs of tensor `t`, descending in lambda, at most `capacity` of them. Returns whether any pair was
    /// omitted.
    pub fn write(&self, results: &mut Results<'_>, t: usize, capacity: usize, status: TensorStatus) -> Result<bool> {
        let n = self.shape.dimension;
        let mut order = alloc::with_capacity("pairs", self.len())?;
        order.extend(0..self.len());
        // Break ties by the index, because a stable sort would allocate memory.
        order.sort_unstable_by(|p: &usize, q: &usize| {
            self.lambda[*q].to_f64().total_cmp(&self.lambda[*p].to_f64()).then(p.cmp(q))
        });
        let any_pairs = [
            results.values.is_some(),
            results.vectors.is_some(),
            results.residuals.is_some(),
            results.classes.is_some(),
            results.hessian.is_some(),
            results.basins.is_some(),
        ]
        .contains(&true);
        // If only the count is requested, count all pairs.
        let listed = if any_pairs { self.len().min(capacity) } else { self.len() };
        let nan = T::from_f64(f64::NAN);
        let up = |x: T| power_of_two_times(x, self.exponent);
        for k in 0..capacity {
            let p = order.get(k).copied();
            real(&mut results.values, "values", &[k, t], p.map_or(nan, |p| up(self.lambda[p])))?;
            real(&mut results.residuals, "residuals", &[k, t], p.map_or(nan, |p| up(self.residual[p])))?;
            integer(&mut results.classes, "classes", &[k, t], p.map_or(NO_PAIR, |p| self.class[p] as i32))?;
            integer(&mut results.basins, "basins", &[k, t], p.map_or(0, |p| self.basin[p]))?;
            for i in 0..n {
                real(&mut results.vectors, "vectors", &[i, k, t], p.map_or(nan, |p| self.x[p * n + i]))?;
            }
            for j in 0..n - 1 {
                real(
                    &mut results.hessian,
                    "hessian",
                    &[j, k, t],
                    p.map_or(nan, |p| up(self.hessian[p * (n - 1) + j])),
                )?;
            }
        }
        integer(&mut results.count, "count", &[t], i32::try_from(listed).unwrap_or(i32::MAX))?;
        integer(&mut results.found, "found", &[t], i32::try_from(self.len()).unwrap_or(i32::MAX))?;
        integer(&mut results.status, "status", &[t], status as i32)?;
        Ok(listed < self.len())
    }
}

fn real<T: Real>(to: &mut Option<&mut Tensor>, name: &str, place: &[usize], value: T) -> Result<()> {
    if let Some(tensor) = to {
        tensor.view_mut::<T>(name)?.set(place, value);
    }
    Ok(())
}

fn integer(to: &mut Option<&mut Tensor>, name: &str, place: &[usize], value: i32) -> Result<()> {
    if let Some(tensor) = to {
        tensor.view_mut::<i32>(name)?.set(place, value);
    }
    Ok(())
}

/// |x + y|^2 and |x - y|^2.
fn distances2<T: Real>(x: &[T], y: &[T]) -> (T, T) {
    let plus = x.iter().zip(y).map(|(x, y)| (*x + *y) * (*x + *y)).sum();
    let minus = x.iter().zip(y).map(|(x, y)| (*x - *y) * (*x - *y)).sum();
    (plus, minus)
}

/// The canonical sign for even order: whether the component of largest magnitude, the first on ties, is negative.
fn leading_is_negative<T: Real>(x: &[T]) -> bool {
    let largest = x.iter().fold(T::ZERO, |m, c| if c.abs() > m { c.abs() } else { m });
    let bound = largest * T::from_f64(1.0 - 1e-6);
    x.iter().find(|c| c.abs() >= bound).is_some_and(|c| *c < T::ZERO)
}
