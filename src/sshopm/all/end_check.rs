//! Checks of a start's end against the tensor's entries: the pair near the end, whether the entries determine that pair, and
//! whether two ends are one pair.

use super::approach::{Approach, Ending};
use crate::error::Result;
use crate::scalar::Real;
use crate::sshopm::cpu::load::frobenius;
use crate::sshopm::cpu::top::uncertainty;
use crate::sshopm::plan::{Plan, Reduction};
use crate::tensor::Symmetric;

/// Largest angle in radians by which refinement may move an end that is a pair within the accuracy of the entries.
const FARTHEST_ANGLE: f64 = std::f64::consts::PI / 18.0;
/// Largest residual of a pair, in units of the entries' rounding times the norm. Rounding of the entries changes A
/// x^(m-1) by at most half a unit; more units allow for entries that were computed by a few operations.
const FEW_ROUNDINGS: f64 = 8.0;
/// Largest residual of a pair relative to the norm, for the rounding of the evaluation in f64.
const EVALUATION: f64 = 100.0 * f64::EPSILON;
/// Residual, in the same units, up to which refinement may move an end by at most `FARTHEST_ANGLE`.
const MANY_ROUNDINGS: f64 = 100.0;
/// Points at which the residual on the arc between two ends is evaluated.
const BETWEEN: usize = 5;
/// Factor of the residual on that arc. Between two ends near one degenerate pair the residual is at most theirs, apart from
/// other terms.
const LARGER: f64 = 4.0;

/// Halvings of the arc between two ends that are taken for points of one curve: seven points.
const HALVINGS: u32 = 3;
/// Largest length of either half of an arc, relative to the arc: a midpoint that is moved onto a curve stays between
/// the ends, but a step that arrives at one of the ends does not.
const HALF: f64 = 0.9;

/// Check of the ends for one tensor.
pub(super) struct EndCheck<'a> {
    pub(super) shape: Symmetric,
    pub(super) rule: Reduction,
    pub(super) approach: &'a Approach,
    /// Frobenius norm of the tensor.
    pub(super) norm: f64,
    /// Frobenius norm without the nearest multiple of the identity: along great circles a multiple of |x|^m is constant.
    pub(super) varying: f64,
    /// Rounding of the entries' type.
    pub(super) epsilon: f64,
    /// Default tolerance of the residual, relative to the norm. An end with more than twice this is not refined further.
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
    /// Whether the entries, within their rounding, determine the pair near an end: its Hessian is farther from 0 than their
    /// rounding and the residual can move it.
    pub(super) fn is_certain(&self, end: &Ending) -> bool {
        let rounding = self.epsilon * self.norm;
        let moved = (uncertainty(self.shape.order) * self.varying * end.residual.max(rounding)).sqrt();
        least(end.hessian.iter().copied()) > moved.max(32.0 * self.shape.order as f64 * rounding)
    }

    /// The magnitude up to which an eigenvalue of the projected Hessian at an end counts as 0. An eigenvalue that may
    /// be 0 at the pair near the end does.
    pub(super) fn flat(&self, end: &Ending, certain: bool) -> f64 {
        let doubtful = if certain { 0.0 } else { (uncertainty(self.shape.order) * self.norm * end.residual).sqrt() };
        doubtful.max(self.rule.degeneracy * self.norm)
    }

    /// Largest distance in radians between an end and its pair, if the pair is certain.
    pub(super) fn doubt_of(&self, residual: f64, hessian: impl Iterator<Item = f64>) -> f64 {
        2.0 * residual.max(self.epsilon * self.norm) / least(hessian)
    }

    /// The same for an end.
    pub(super) fn doubt(&self, end: &Ending) -> f64 {
        self.doubt_of(end.residual, end.hessian.iter().copied())
    }

    /// Refines an end by Newton's steps in f64 from x. The end stays at x if the steps do not reduce the residual, or
    /// if they lead far away from an x that is a pair within the accuracy of the entries. Beside two pairs that a small
    /// change of the entries merges and removes, the gradient of the form is small without vanishing. So if the end is
    /// no pair within that accuracy, further steps search for one at any distance. Returns `None` if the end is a pair
    /// only to a loose tolerance, or if the further steps find none.
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

    /// Whether an end is a pair within the rounding of the entries.
    fn is_pair(&self, end: &Ending) -> bool {
        end.residual <= (FEW_ROUNDINGS * self.epsilon).max(EVALUATION) * self.norm
    }

    /// Evaluates the tensor at x.
    pub(super) fn end<T: Real>(&self, x: &[T]) -> Result<Ending> {
        self.approach.ending(x)
    }

    /// Whether the residual of an end exceeds twice the default tolerance.
    pub(super) fn is_loose(&self, end: &Ending) -> bool {
        // Starts end when the residual, with the rounding of its type, is at most the tolerance.
        end.residual > 2.0 * self.accepted * self.norm
    }

    /// Whether two ends with one lambda at degenerate pairs are one pair: then the points between them are pairs as
    /// well. Near a pair with a Hessian of 0 the residual falls with a power of the distance, so the distance cannot
    /// decide. With `turned`, the arc goes to the opposite of y.
    pub(super) fn are_joined(&self, (x, p): (&[f64], f64), (y, q): (&[f64], f64), turned: bool) -> Result<bool> {
        Ok(self.approach.most_between(x, y, turned, BETWEEN)? <= self.limit_between(p, q))
    }

    fn limit_between(&self, p: f64, q: f64) -> f64 {
        LARGER * p.max(q).max(32.0 * self.epsilon * self.norm)
    }

    /// Whether two ends at degenerate pairs with one lambda are points of one curve of pairs, which need not be the arc
    /// between them: where the entries have an error, the points of a circle lie beside their plane by about that
    /// error. So the points that halve the arc repeatedly are moved by steps across the curve, and each must arrive at
    /// a degenerate pair with that lambda between its neighbours.
    pub(super) fn are_on_one_curve(&self, x: &Ending, (y, q): (&[f64], f64), turned: bool) -> Result<bool> {
        let mut to = crate::alloc::copied("start vectors", y)?;
        if turned {
            to.iter_mut().for_each(|c| *c = -*c);
        }
        self.is_curve_between(&x.x, &to, (x.lambda, self.limit_between(x.residual, q)), HALVINGS)
    }

    fn is_curve_between(&self, x: &[f64], y: &[f64], (lambda, limit): (f64, f64), halvings: u32) -> Result<bool> {
        if halvings == 0 {
            return Ok(true);
        }
        let chord2 = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
        let apart = chord2(x, y);
        let mut middle = crate::alloc::copied("start vectors", x)?;
        middle.iter_mut().zip(y).for_each(|(m, y)| *m += y);
        // Opposite points have no arc between them.
        let size = middle.iter().map(|m| m * m).sum::<f64>().sqrt();
        if size < 1e-3 {
            return Ok(false);
        }
        let still = crate::alloc::filled("start vectors", x.len(), 0.0)?;
        self.approach.run(&mut middle, (&still, 0.0), 4.0 * f64::EPSILON * self.norm)?;
        let end = self.approach.ending(&middle)?;
        let is_point = end.residual <= limit
            && (end.lambda - lambda).abs() <= self.rule.level * self.norm
            && least(end.hessian.iter().copied()) <= self.flat(&end, false)
            && chord2(x, &end.x).max(chord2(&end.x, y)) <= HALF * HALF * apart;
        Ok(is_point
            && self.is_curve_between(x, &end.x, (lambda, limit), halvings - 1)?
            && self.is_curve_between(&end.x, y, (lambda, limit), halvings - 1)?)
    }
}
