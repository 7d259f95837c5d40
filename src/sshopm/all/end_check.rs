//! Checks of the end of a start against the tensor's entries: which pair it is near, whether the entries determine that pair,
//! and whether two ends are one pair.

use super::approach::{Approach, Ending};
use crate::error::Result;
use crate::scalar::Real;
use crate::sshopm::cpu::load::frobenius;
use crate::sshopm::cpu::top::uncertainty;
use crate::sshopm::plan::{Plan, Reduction};
use crate::tensor::Symmetric;

/// An end that is a pair as far as the entries can tell is not given up for a pair farther away than this, in radians.
const FARTHEST_ANGLE: f64 = std::f64::consts::PI / 18.0;
/// Rounding of the entries changes A x^(m-1) by at most half of it times the norm. A residual of this many roundings is that of
/// entries which a few operations were spent on.
const FEW_ROUNDINGS: f64 = 8.0;
/// The same of what is computed here, in f64.
const EVALUATION: f64 = 100.0 * f64::EPSILON;
/// An end with a residual of so many roundings is not given up for a pair far away.
const MANY_ROUNDINGS: f64 = 100.0;
/// Points at which the arc between two ends is looked at.
const BETWEEN: usize = 5;
/// Between two ends near one degenerate pair the residual is at most theirs, but for what other terms add.
const LARGER: f64 = 4.0;

/// One tensor.
pub(super) struct EndCheck<'a> {
    pub(super) shape: Symmetric,
    pub(super) rule: Reduction,
    pub(super) approach: &'a Approach,
    /// Frobenius norm.
    pub(super) norm: f64,
    /// That of the part that no multiple of the identity contributes to: along great circles a multiple of |x|^m does not vary.
    pub(super) varying: f64,
    /// Rounding of the entries' type.
    pub(super) epsilon: f64,
    /// Residual, relative to the norm, with which an end is a pair though steps in f64 lead to none nearby.
    pub(super) accepted: f64,
}

/// The Frobenius norm of the tensor without the nearest multiple of the identity.
pub(super) fn varying<T: Real>(plan: &Plan<T>, a: &[T], norm: f64) -> f64 {
    if !plan.shape.order.is_multiple_of(2) || plan.identity.is_empty() {
        return norm;
    }
    let whole = frobenius(&plan.identity, &plan.multinomials);
    let (mut inner, mut square) = (0.0, 0.0);
    for ((a, e), w) in a.iter().zip(&plan.identity).zip(&plan.multinomials) {
        inner += a.to_f64() * e.to_f64() * w.to_f64();
    }
    let share = inner / (whole * whole);
    for ((a, e), w) in a.iter().zip(&plan.identity).zip(&plan.multinomials) {
        square += (a.to_f64() - share * e.to_f64()).powi(2) * w.to_f64();
    }
    square.sqrt()
}

fn least(hessian: impl Iterator<Item = f64>) -> f64 {
    hessian.fold(f64::INFINITY, |m, e| m.min(e.abs()))
}

impl EndCheck<'_> {
    /// Whether the entries, which are known to their rounding, determine the pair near an end: its Hessian is further from 0 than
    /// that and the residual can move it.
    pub(super) fn is_certain(&self, end: &Ending) -> bool {
        let rounding = self.epsilon * self.norm;
        let moved = (uncertainty(self.shape.order) * self.varying * end.residual.max(rounding)).sqrt();
        least(end.hessian.iter().copied()) > moved.max(32.0 * self.shape.order as f64 * rounding)
    }

    /// How far off a pair that is certain may be, in radians.
    pub(super) fn doubt_of(&self, residual: f64, hessian: impl Iterator<Item = f64>) -> f64 {
        2.0 * residual.max(self.epsilon * self.norm) / least(hessian)
    }

    /// The same of an end.
    pub(super) fn doubt(&self, end: &Ending) -> f64 {
        self.doubt_of(end.residual, end.hessian.iter().copied())
    }

    /// The pair that Newton's steps in f64 lead to from x, or x itself where they lead nowhere, or away from what is a pair as
    /// far as the entries can tell. Where the gradient of the form is small without vanishing, as beside two pairs that a small
    /// change of the entries makes meet and disappear, it is the pair that further steps find, whose distance does not matter.
    /// None if x then is a pair to a loose tolerance only.
    pub(super) fn refined<T: Real>(&self, x: &[T]) -> Result<Option<Ending>> {
        let mut to = crate::alloc::copied("start vectors", x)?;
        let still = crate::alloc::filled("start vectors", x.len(), 0.0)?;
        self.approach.run(&mut to, (&still, 0.0), 4.0 * f64::EPSILON * self.norm)?;
        let (here, there) = (self.approach.ending(x)?, self.approach.ending(&to)?);
        let cosine = here.x.iter().zip(&there.x).map(|(a, b)| a * b).sum::<f64>();
        let is_near_pair = here.residual <= MANY_ROUNDINGS * self.epsilon * self.norm;
        let is_far = is_near_pair && cosine < FARTHEST_ANGLE.cos();
        let end = if there.residual < here.residual && !is_far { there } else { here };
        if self.is_pair(&end) {
            return Ok(Some(end));
        }
        if self.is_loose(&end) {
            return Ok(None);
        }
        let mut beyond = crate::alloc::copied("start vectors", &end.x)?;
        self.approach.run_along_all(&mut beyond, (&still, 0.0), 4.0 * f64::EPSILON * self.norm)?;
        let end = self.approach.ending(&beyond)?;
        Ok(self.is_pair(&end).then_some(end))
    }

    /// Whether an end is a pair as far as the entries, which are known to their rounding, can tell.
    fn is_pair(&self, end: &Ending) -> bool {
        end.residual <= (FEW_ROUNDINGS * self.epsilon).max(EVALUATION) * self.norm
    }

    /// What is at x.
    pub(super) fn end<T: Real>(&self, x: &[T]) -> Result<Ending> {
        self.approach.ending(x)
    }

    /// Whether an end is no pair to the default tolerance.
    pub(super) fn is_loose(&self, end: &Ending) -> bool {
        // Starts end where the residual, with the rounding of its type, is at most the tolerance.
        end.residual > 2.0 * self.accepted * self.norm
    }

    /// Whether two ends with one lambda at degenerate pairs are one: the points between are pairs as well. Towards a pair with a
    /// Hessian of 0 the residual falls with a power of the distance, which then says nothing of it. The opposite of y is meant
    /// where it is `turned`.
    pub(super) fn are_joined(&self, (x, p): (&[f64], f64), (y, q): (&[f64], f64), turned: bool) -> Result<bool> {
        let limit = LARGER * p.max(q).max(32.0 * self.epsilon * self.norm);
        Ok(self.approach.most_between(x, y, turned, BETWEEN)? <= limit)
    }
}
