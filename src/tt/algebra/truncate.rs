//! The number of singular values that a truncation keeps.

use crate::alloc;
use crate::dense::Delta;
use crate::error::{Error, Result};
use crate::range;
use crate::trains::scaled::{Scaled, scale};

/// Options of a truncation. The default drops only rounding noise.
#[derive(Debug, Clone, Copy, Default)]
pub struct Truncation<'a> {
    /// Allowed error in the Frobenius norm: ||A - TT|| <= epsilon ||A||, or <= epsilon if `absolute`. With 0 only
    /// rounding noise is dropped: singular values that together are below 32 units of roundoff of the norm. For a dense
    /// tensor in double precision the bound is sqrt(number of elements) units, if that is larger.
    pub epsilon: f64,
    /// Whether `epsilon` is the error itself, not relative to the norm. Refused where `epsilon` is 0.
    pub absolute: bool,
    /// Largest rank; 0 for any. The error may then exceed `epsilon`.
    pub max_rank: usize,
    /// Additional largest rank for each of the d - 1 inner bonds, 0 for any; empty for no such limits.
    pub max_ranks: &'a [usize],
}

impl Truncation<'_> {
    /// ||A - TT|| <= epsilon ||A||.
    pub fn relative(epsilon: f64) -> Self {
        Self { epsilon, ..Self::default() }
    }

    /// Returns an error for an `epsilon` that is not a finite number of at least 0, `absolute` without it, and a list whose
    /// length is not the number of inner bonds of d cores.
    pub(super) fn check(&self, d: usize) -> Result<()> {
        range::not_negative("epsilon", self.epsilon)?;
        if self.absolute && self.epsilon == 0.0 {
            return Err(Error::invalid("absolute", "is set without epsilon: rounding noise is relative to the norm"));
        }
        if !self.max_ranks.is_empty() && self.max_ranks.len() != d - 1 {
            let problem = format!("has {} ranks, the train has {} inner bonds", self.max_ranks.len(), d - 1);
            return Err(Error::invalid("max_ranks", problem));
        }
        Ok(())
    }

    /// The allowed error at each bond of a train of d cores, for numbers that are 2^-exponent times the train's.
    /// `noise` is the part of the norm that factorizations compute where exact arithmetic gives 0.
    pub(super) fn delta(&self, d: usize, noise: f64, exponent: i64) -> Delta {
        let share = ((d - 1).max(1) as f64).sqrt();
        if self.epsilon == 0.0 {
            return Delta::Relative(noise);
        }
        if self.absolute {
            return Delta::Absolute(scale(self.epsilon / share, exponent.saturating_neg()));
        }
        Delta::Relative(self.epsilon / share)
    }

    /// Largest rank of the bond behind core k.
    pub(super) fn cap(&self, k: usize) -> usize {
        let each = self.max_ranks.get(k).copied().filter(|r| *r > 0).unwrap_or(usize::MAX);
        each.min(if self.max_rank == 0 { usize::MAX } else { self.max_rank })
    }
}

/// Report of a truncation, of one train or tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Truncated {
    /// Frobenius norm of the train or tensor before the truncation.
    pub norm: Scaled,
    /// For each of the d - 1 inner bonds, the root of the sum of the squares of the dropped singular values, divided by
    /// the norm.
    pub discarded: Vec<f64>,
    /// Bound of the error divided by the norm: the root of the sum of the squares of `discarded`.
    pub error: f64,
}

impl Truncated {
    /// An empty record of a train of d cores.
    pub(super) fn new(d: usize) -> Result<Self> {
        Ok(Self { norm: Scaled::ZERO, discarded: alloc::with_capacity("discarded weights", d)?, error: 0.0 })
    }

    /// Records that singular values with the norm `tail`, of all with the norm `norm`, were dropped.
    pub(super) fn drop(&mut self, tail: f64, norm: f64) {
        let part = if norm > 0.0 { tail / norm } else { 0.0 };
        self.discarded.push(part);
        self.error = self.error.hypot(part);
    }

    /// The record of a zero tensor.
    pub(super) fn zero(d: usize) -> Result<Self> {
        let discarded = alloc::filled("discarded weights", d - 1, 0.0)?;
        Ok(Self { norm: Scaled::ZERO, discarded, error: 0.0 })
    }
}

/// The smallest rank from 1 to `cap` for which the dropped singular values together are at most `delta`; also the root
/// of the sum of their squares. `s` is in decreasing order.
pub(super) fn rank(s: &[f64], delta: f64, cap: usize) -> (usize, f64) {
    let largest = s.first().copied().unwrap_or(0.0);
    if largest <= 0.0 {
        return (1, 0.0);
    }
    // Relative to the largest value, so that squares neither overflow nor underflow.
    let square = |k: usize| (s[k] / largest) * (s[k] / largest);
    let limit = (delta / largest) * (delta / largest);
    let (mut rank, mut tail) = (s.len(), 0.0);
    while rank > 1 && (rank > cap || tail + square(rank - 1) <= limit) {
        rank -= 1;
        tail += square(rank);
    }
    (rank, tail.sqrt() * largest)
}

/// Root of the sum of squares, without intermediate overflow.
pub(super) fn norm(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0f64, |most, x| if *x <= most { most } else { *x });
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    values.iter().map(|x| (x / largest) * (x / largest)).sum::<f64>().sqrt() * largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_rank_within_the_error_is_kept() {
        let s = [4.0, 3.0, 0.4, 0.3, 0.0];
        assert_eq!(rank(&s, 0.0, usize::MAX), (4, 0.0));
        assert_eq!(rank(&s, 0.2, usize::MAX).0, 4);
        assert_eq!(rank(&s, 0.3001, usize::MAX), (3, 0.3));
        let (r, tail) = rank(&s, 0.501, usize::MAX);
        assert!(r == 2 && (tail - 0.5).abs() < 1e-15);
        assert_eq!(rank(&s, 100.0, usize::MAX).0, 1);
        assert_eq!(rank(&s, 0.0, 2).0, 2);
        assert_eq!(rank(&[0.0, 0.0], 0.0, 9), (1, 0.0));
        assert_eq!(rank(&[1e300, 1e299], 2e299, 9), (1, 1e299));
    }

    #[test]
    fn limits_are_those_of_the_bond_and_of_all() {
        let t = Truncation { max_rank: 7, max_ranks: &[0, 3, 9], ..Truncation::default() };
        assert_eq!([t.cap(0), t.cap(1), t.cap(2)], [7, 3, 7]);
        assert_eq!(Truncation::default().cap(5), usize::MAX);
        assert!(t.check(4).is_ok() && t.check(3).is_err());
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Truncation::relative(bad).check(2).is_err());
        }
    }
}
