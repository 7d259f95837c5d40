//! A test that a converged Krylov space misses no copy of a wanted eigenvalue.
//!
//! A Krylov space of one start vector holds one vector of each eigenspace, so copies of a multiple eigenvalue lie in
//! its orthogonal complement. Let V have some of the Ritz vectors of the space, all wanted ones among them, and A V = V
//! Theta + R. Let B be A on the complement of V, and let every eigenvalue of B be below some mu < x. By Sylvester's law
//! of inertia, A has no more eigenvalues above x than Theta + R^H R / (x - mu) has. With residuals s_i of the Ritz
//! values theta_i, these are no more than Theta has as long as
//!
//!   sum over theta_i < x of s_i^2 / (x - theta_i) <= x - mu.
//!
//! Each Ritz vector in V removes its value from B, so the spectrum of B ends further from x. But its residual makes the
//! bound mu smaller. Vectors are added in the order in which their values are wanted, as long as the sum stays below
//! [`SHARE`] of the distance from x to the values left out.
//!
//! The bound mu comes from Lanczos' recurrence on the complement with a random unit vector w. Let the p_j be the
//! orthonormal polynomials of the recurrence. If B had an eigenvector u whose eigenvalue is mu or more, then |u . w|^2
//! would be at most 1 / sum p_j(mu)^2 (Szego, Orthogonal Polynomials, 1939, section 3.4). The recurrence continues
//! until a random vector has so small a component with probability [`MISS`] only. No residual has to converge for that,
//! and no value beyond the bound has to be found.
//!
//! `complete.rs` and `restart.rs` import each other: the test runs after a run of restarts, and draws its vectors as
//! that run does.

use super::super::cycles::Cycles;
use super::super::ops::Space;
use super::super::options::{Settings, Which};
use super::finite;
use super::restart::{Counts, fresh};
use crate::error::Result;

/// Probability that a copy is missed because the random vector of the test is orthogonal to it.
const MISS: f64 = 1e-6;

/// Largest part of the distance from a bound to the Ritz values left in the complement that the residuals of the others
/// may use up.
const SHARE: f64 = 0.05;

/// Columns that the recurrence of the test needs.
pub(super) const COLUMNS: usize = 8;

/// Largest number of rounds of a test, in units of the basis; after that a search looks for the copies. The first round
/// has [`COLUMNS`] - 1 steps, later ones have up to [`COLUMNS`] - 2.
const MOST: usize = 8;

/// The intervals in which a further eigenvalue would be more wanted than those found: above one value, below another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    above: Option<f64>,
    below: Option<f64>,
}

impl Bounds {
    /// Bounds for `values`, which are ordered as by [`Which::order`], the most wanted first. They are a margin beyond
    /// the last value, for an operator of norm `norm`.
    pub(super) fn new(which: Which, values: &[f64], settings: &Settings, norm: f64) -> Self {
        let last = values.last().copied().unwrap_or(0.0);
        let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let above = |value: f64| value + settings.margin(value, norm);
        let below = |value: f64| value - settings.margin(value, norm);
        match which {
            Which::Largest => Self { above: Some(above(last)), below: None },
            Which::Smallest => Self { above: None, below: Some(below(last)) },
            Which::LargestMagnitude | Which::Nearest => {
                Self { above: Some(above(last.abs())), below: Some(below(-last.abs())) }
            }
            Which::BothEnds => {
                // Values with even indices are those of the upper end.
                let top = values.iter().step_by(2).fold(most, |a, v| a.min(*v));
                let bottom = values.iter().skip(1).step_by(2).fold(least, |a, v| a.max(*v));
                Self { above: Some(above(top)), below: (values.len() > 1).then_some(below(bottom)) }
            }
        }
    }

    /// How many Ritz vectors to lock for the recurrence, at least `wanted`, and the bounds for eigenvalues on the
    /// complement of these vectors. `ritz` has values with their residuals, the most wanted first.
    pub(super) fn on_complement(self, ritz: &[(f64, f64)], wanted: usize) -> (usize, Self) {
        let sum = |of: &[(f64, f64)], distance: &dyn Fn(f64) -> f64| -> f64 {
            of.iter().filter(|(v, _)| distance(*v) > 0.0).map(|(v, s)| s * s / distance(*v)).sum()
        };
        let taken = |count: usize| {
            let above = self.above.map(|x| sum(&ritz[..count], &|v| x - v));
            (above, self.below.map(|x| sum(&ritz[..count], &|v| v - x)))
        };
        let is_small = |count: usize| {
            let (above, below) = taken(count);
            let ends = ritz[count..].iter();
            let (least, most) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (v, _)| (a.min(*v), b.max(*v)));
            let fits = |taken: Option<f64>, distance: f64| taken.is_none_or(|taken| taken <= SHARE * distance);
            fits(above, self.above.map_or(0.0, |x| x - most)) && fits(below, self.below.map_or(0.0, |x| least - x))
        };
        let more = (wanted + 1..ritz.len()).take_while(|&count| is_small(count)).count();
        let count = wanted + more;
        let (above, below) = taken(count);
        let bounds = Self {
            above: self.above.zip(above).map(|(x, taken)| x - taken),
            below: self.below.zip(below).map(|(x, taken)| x + taken),
        };
        (count, bounds)
    }
}

/// Orthonormal polynomials of a recurrence at one bound, scaled by exp(`log`).
struct Growth {
    bound: f64,
    /// 1 for a bound that eigenvalues lie below, -1 for one that they lie above.
    side: f64,
    before: f64,
    last: f64,
    sum: f64,
    log: f64,
}

impl Growth {
    fn new(bound: f64, side: f64) -> Self {
        Self { bound, side, before: 0.0, last: 1.0, sum: 1.0, log: 0.0 }
    }

    /// Advances by a step with diagonal `along`, and off-diagonals `coupling` before and `rest` after it. False if an
    /// eigenvalue of the projected matrix is beyond the bound (a Sturm sequence).
    fn advance(&mut self, along: f64, coupling: f64, rest: f64) -> bool {
        let next = self.side * (self.bound - along) * self.last - coupling * self.before;
        if next.is_nan() || next <= 0.0 {
            return false;
        }
        (self.before, self.last) = (self.last, next / rest);
        self.sum += self.last * self.last;
        if self.last > 1e100 {
            self.before *= 1e-100;
            self.last *= 1e-100;
            self.sum *= 1e-200;
            self.log += 100.0 * std::f64::consts::LN_10;
        }
        true
    }

    /// Logarithm of the inverse of the largest component that an eigenvector beyond the bound may have.
    fn certainty(&self) -> f64 {
        self.log + 0.5 * self.sum.ln()
    }
}

/// Whether no eigenvalue on the complement of the first `locked` columns, which are orthonormal, is beyond `bounds`.
/// Also false if this is not known after [`MOST`] times `settings.basis` rounds. Overwrites [`COLUMNS`] columns from
/// `locked` on.
///
/// # Errors
/// [`crate::error::Error::Numerical`] if products are not finite; errors of the backend and of `report`.
pub(super) fn is_complete<K: Cycles + ?Sized>(
    krylov: &mut K,
    locked: usize,
    bounds: Bounds,
    settings: &Settings,
    counts: &mut Counts,
    report: &mut dyn FnMut() -> Result<()>,
) -> Result<bool> {
    if !fresh(krylov, settings.seed, counts, locked)? {
        // There is no complement.
        return Ok(true);
    }
    let outside = (krylov.order() - locked) as f64;
    let least = (MISS * (0.5 * std::f64::consts::PI / outside).sqrt()).max(settings.epsilon);
    let needed = -least.ln();
    let mut growths = [bounds.above.map(|x| Growth::new(x, 1.0)), bounds.below.map(|x| Growth::new(x, -1.0))];
    let (mut from, mut to, mut coupling) = (0, COLUMNS - 1, 0.0);
    let mut known = 0.0;
    for _ in 0..MOST * settings.basis {
        report()?;
        let space = Space { locked, norm: counts.norm, epsilon: settings.epsilon };
        let steps = krylov.extend(space, (from, to), report)?;
        let made = steps.len();
        for step in steps {
            counts.products += 1;
            counts.norm = counts.norm.max(finite(step.before, "the norm of a product")?);
            let along = finite(step.along, "a coefficient")?;
            let rest = finite(step.after, "a coefficient")?.max(settings.epsilon * counts.norm);
            for growth in growths.iter_mut().flatten() {
                if !growth.advance(along, coupling, rest) {
                    return Ok(false);
                }
            }
            coupling = rest;
        }
        let certainty = growths.iter().flatten().map(Growth::certainty).fold(f64::INFINITY, f64::min);
        if certainty >= needed || made < to - from {
            return Ok(certainty >= needed);
        }
        // The next vectors are made orthogonal to the locked columns and to the last two vectors, which the recurrence
        // needs.
        krylov.copy(locked + to - 1, locked)?;
        krylov.copy(locked + to, locked + 1)?;
        // Estimate the number of further steps from the rate of the last ones.
        let rate = (certainty - known) / made as f64;
        known = certainty;
        let left = ((needed - certainty) / rate).ceil().clamp(1.0, (COLUMNS - 2) as f64);
        (from, to) = (1, 1 + left as usize);
    }
    Ok(false)
}
