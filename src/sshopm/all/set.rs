//! The pairs of one tensor found so far.

use std::sync::Arc;

use super::approach::Ending;
use crate::alloc::{self, Charged};
use crate::backend::memory::Budget;
use crate::error::Result;
use crate::scalar::Real;
use crate::sshopm::cpu::load::power_of_two_times;
use crate::sshopm::cpu::top::uncertainty;
use crate::sshopm::options::{NO_PAIR, PairClass, Results, TensorStatus};
use crate::sshopm::plan::{Reduction, RowBuffers, RowSizes, SignRule};
use crate::sshopm::product::is_isolated;
use crate::sshopm::resolve::chord2;
use crate::tensor::{Symmetric, Tensor};

/// Degenerate pairs of one lambda are one where their residuals and Hessians say that each may be as far off as the other is
/// away, but not beyond 10 degrees, in radians.
const FARTHEST_ANGLE: f64 = std::f64::consts::PI / 18.0;

/// Pairs, arrays over them.
pub struct PairSet<T> {
    shape: Symmetric,
    sign: SignRule,
    budget: Arc<Budget>,
    /// The power of two by which the lambdas, residuals and Hessians here are multiplied where they are written.
    exponent: i32,
    lambda: Charged<T>,
    residual: Charged<T>,
    class: Charged<PairClass>,
    basin: Charged<i32>,
    /// Whether the pair stands for a continuum.
    continuum: Charged<bool>,
    /// n a pair.
    x: Charged<T>,
    /// n - 1 a pair.
    hessian: Charged<T>,
}

/// What one chunk of starts found: packed rows.
pub struct Found<'a, T> {
    values: &'a [T],
    residuals: &'a [T],
    vectors: &'a [T],
    hessian: &'a [T],
    classes: &'a [i32],
    basins: &'a [i32],
}

impl<'a, T> Found<'a, T> {
    /// The rows of chunk `t`.
    pub fn of(buffers: &'a RowBuffers<T>, sizes: &RowSizes, t: usize) -> Self {
        let found = usize::try_from(buffers.count[t]).unwrap_or(0);
        let part = |size: usize| t * size..t * size + found * (size / sizes.pairs.max(1));
        Self {
            values: &buffers.values[part(sizes.pairs)],
            residuals: &buffers.residuals[part(sizes.pairs)],
            vectors: &buffers.vectors[part(sizes.pair_vectors)],
            hessian: &buffers.hessian[part(sizes.pair_hessians)],
            classes: &buffers.classes[part(sizes.pairs)],
            basins: &buffers.basins[part(sizes.pairs)],
        }
    }
}

fn class_of(code: i32) -> PairClass {
    PairClass::from_code("class", code).unwrap_or(PairClass::Unclassified)
}

impl<T: Real> PairSet<T> {
    /// No pairs; they are charged to `budget`.
    pub fn new(shape: Symmetric, sign: SignRule, budget: &Arc<Budget>) -> Self {
        Self {
            shape,
            budget: Arc::clone(budget),
            sign,
            exponent: 0,
            lambda: Charged::new("pairs", budget),
            residual: Charged::new("pairs", budget),
            class: Charged::new("pairs", budget),
            basin: Charged::new("pairs", budget),
            continuum: Charged::new("pairs", budget),
            x: Charged::new("pairs", budget),
            hessian: Charged::new("pairs", budget),
        }
    }

    /// States that the pairs are those of the tensor divided by 2^`exponent`.
    pub fn set_exponent(&mut self, exponent: i32) {
        self.exponent = exponent;
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.lambda.len()
    }

    /// Appends a pair in f64.
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
        for c in x {
            self.x.push(T::from_f64(c))?;
        }
        for e in hessian {
            self.hessian.push(T::from_f64(e))?;
        }
        if self.sign != SignRule::Raw && leading_is_negative(&self.x[start..]) {
            self.x[start..].iter_mut().for_each(|c| *c = T::ZERO - *c);
        }
        Ok(())
    }

    /// The one entry of a tensor for which every direction belongs to `value`.
    pub fn push_special(&mut self, value: T) -> Result<()> {
        let n = self.shape.dimension;
        let unit = (0..n).map(|i| f64::from(u8::from(i == 0)));
        self.push(value.to_f64(), 0.0, PairClass::Degenerate, 0, unit, (1..n).map(|_| 0.0))
    }

    /// Takes in what a chunk found: new pairs are appended, known ones keep the representative of smaller residual, and a
    /// degenerate pair with the lambda of a continuum belongs to that.
    pub fn merge(&mut self, found: &Found<'_, T>, rule: &Reduction, norm: f64) -> Result<()> {
        let n = self.shape.dimension;
        let even = self.shape.order.is_multiple_of(2);
        let agree = T::from_f64(rule.merge_norm * norm);
        let same = T::from_f64(rule.level * norm);
        let within = T::from_f64(rule.merge_chord2);
        // Towards a degenerate pair the Hessian falls with the distance and the residual with half its square. Along a
        // continuum the Hessian is 0 as far as lambda is known and gives no distance.
        let rounding = rule.level * norm;
        let doubt = |residual: T, hessian: &[T]| {
            let least = hessian.iter().fold(f64::INFINITY, |m, e| m.min(e.to_f64().abs()));
            if least > rounding { 2.0 * residual.to_f64() / least } else { 0.0 }
        };
        for (k, lambda) in found.values.iter().enumerate() {
            let x = &found.vectors[k * n..(k + 1) * n];
            let hessian = &found.hessian[k * (n - 1)..(k + 1) * (n - 1)];
            let class = class_of(found.classes[k]);
            let turned = if even { *lambda } else { T::ZERO - *lambda };
            let continuum = (0..self.len()).find(|p| {
                let value = self.lambda[*p];
                let is_level = (*lambda - value).abs() <= same || (turned - value).abs() <= same;
                class == PairClass::Degenerate && self.continuum[*p] && is_level
            });
            // Both members of a pair are the same: (lambda, x) and (+-lambda, -x).
            let known = continuum.or_else(|| {
                (0..self.len()).find(|p| {
                    let y = &self.x[p * n..(p + 1) * n];
                    let (plus, minus) = distances2(x, y);
                    let is_flat = class == PairClass::Degenerate && self.class[*p] == class;
                    let value = self.lambda[*p];
                    let own = doubt(self.residual[*p], &self.hessian[p * (n - 1)..(p + 1) * (n - 1)]);
                    let doubt = 1.25 * (own + doubt(found.residuals[k], hessian));
                    let wide = rule.merge_chord2.max(chord2(doubt.min(FARTHEST_ANGLE)));
                    let wide = T::from_f64(wide);
                    let is_one = |apart: T, lambda: T| {
                        (apart <= within && (lambda - value).abs() <= agree)
                            || (is_flat && apart <= wide && (lambda - value).abs() <= same)
                    };
                    is_one(minus, *lambda) || is_one(plus, turned)
                })
            });
            match known {
                Some(p) => {
                    self.basin[p] = self.basin[p].saturating_add(found.basins[k]);
                    if found.residuals[k] < self.residual[p] {
                        self.lambda[p] = *lambda;
                        self.residual[p] = found.residuals[k];
                        self.class[p] = class;
                        self.x[p * n..(p + 1) * n].copy_from_slice(x);
                        self.hessian[p * (n - 1)..(p + 1) * (n - 1)].copy_from_slice(hessian);
                    }
                }
                None => {
                    self.lambda.push(*lambda)?;
                    self.residual.push(found.residuals[k])?;
                    self.class.push(class)?;
                    self.basin.push(found.basins[k])?;
                    self.continuum.push(false)?;
                    self.x.extend(x)?;
                    self.hessian.extend(hessian)?;
                }
            }
        }
        Ok(())
    }

    /// Takes in the end of one start, which was found in f64.
    pub fn take(&mut self, mut end: Ending, rule: &Reduction, norm: f64) -> Result<()> {
        let odd = !self.shape.order.is_multiple_of(2);
        if odd && self.sign != SignRule::Raw && end.lambda < 0.0 {
            end.lambda = -end.lambda;
            end.x.iter_mut().for_each(|c| *c = -*c);
            end.hessian.reverse();
            end.hessian.iter_mut().for_each(|e| *e = -*e);
        }
        // As for the starts of a chunk: what may be 0 at the pair that the end is near is taken for 0.
        let doubtful = (uncertainty(self.shape.order) * norm * end.residual).sqrt();
        let flat = doubtful.max(rule.degeneracy * norm);
        let class = match () {
            () if end.hessian.iter().any(|e| e.abs() <= flat) => PairClass::Degenerate,
            () if end.hessian.iter().all(|e| *e < 0.0) => PairClass::NegativeStable,
            () if end.hessian.iter().all(|e| *e > 0.0) => PairClass::PositiveStable,
            () => PairClass::Unstable,
        };
        // As a set of its own, which has its sign rule.
        let mut one = Self::new(self.shape, if odd { SignRule::Raw } else { self.sign }, &self.budget);
        one.push(end.lambda, end.residual, class, 1, end.x.into_iter(), end.hessian.into_iter())?;
        let found = Found {
            values: &one.lambda,
            residuals: &one.residual,
            vectors: &one.x,
            hessian: &one.hessian,
            classes: &[class as i32],
            basins: &one.basin,
        };
        self.merge(&found, rule, norm)
    }

    /// Whether a pair is degenerate: the Morse sum then says nothing.
    pub fn has_degenerate(&self) -> bool {
        self.class.contains(&PairClass::Degenerate)
    }

    /// Sum of (-1)^k over the isolated pairs, k negative eigenvalues each.
    pub fn morse_sum(&self) -> i32 {
        let n = self.shape.dimension;
        (0..self.len())
            .filter(|p| is_isolated(self.class[*p]))
            .map(|p| {
                let negative = self.hessian[p * (n - 1)..(p + 1) * (n - 1)].iter().filter(|e| **e < T::ZERO).count();
                if negative.is_multiple_of(2) { 1 } else { -1 }
            })
            .sum()
    }

    /// Continuum: `least` or more degenerate pairs whose lambdas agree to `same` become one.
    pub fn collapse(&mut self, same: f64, least: usize) -> Result<()> {
        let n = self.shape.dimension;
        if !self.has_degenerate() {
            return Ok(());
        }
        let belongs = |s: &Self, gone: &[bool], leader: usize, p: usize| {
            let near = (s.lambda[p] - s.lambda[leader]).abs().to_f64() <= same;
            !gone[p] && s.class[p] == PairClass::Degenerate && near
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
            self.x.copy_within(from * n..(from + 1) * n, to * n);
            self.hessian.copy_within(from * (n - 1)..(from + 1) * (n - 1), to * (n - 1));
        }
        let len = keep.len();
        self.lambda.truncate(len);
        self.residual.truncate(len);
        self.class.truncate(len);
        self.basin.truncate(len);
        self.continuum.truncate(len);
        self.x.truncate(len * n);
        self.hessian.truncate(len * (n - 1));
        Ok(())
    }

    /// Writes the pairs of tensor `t`, descending in lambda, at most `room` of them. Whether that left out any.
    pub fn write(&self, results: &mut Results<'_>, t: usize, room: usize, status: TensorStatus) -> Result<bool> {
        let n = self.shape.dimension;
        let mut order = alloc::with_capacity("pairs", self.len())?;
        order.extend(0..self.len());
        // The number settles ties: a sort that keeps their order by itself would ask for memory.
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
        // A count alone is that of all pairs.
        let listed = if any_pairs { self.len().min(room) } else { self.len() };
        let nan = T::from_f64(f64::NAN);
        let up = |x: T| power_of_two_times(x, self.exponent);
        for k in 0..room {
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

/// The even rule of the canonical sign: whether the component of largest magnitude, the first on ties, is negative.
fn leading_is_negative<T: Real>(x: &[T]) -> bool {
    let largest = x.iter().fold(T::ZERO, |m, c| if c.abs() > m { c.abs() } else { m });
    let bound = largest * T::from_f64(1.0 - 1e-6);
    x.iter().find(|c| c.abs() >= bound).is_some_and(|c| *c < T::ZERO)
}
