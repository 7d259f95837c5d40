//! A whole solve: the search, and the check for copies of multiple eigenvalues.
//!
//! A Krylov space of one start vector holds one vector of each eigenspace; copies enter it through rounding errors
//! only, if at all. When all pairs have converged, a test shows whether a copy may be missing (`complete`). If one may
//! be, or the caller asks for the search in any case, the pairs are locked. A search then looks for one more pair on
//! their orthogonal complement. If its value is more wanted than the last of those found, it replaces that one, and the
//! search is repeated.

use super::super::cycles::Cycles;
use super::super::info::Reason;
use super::super::ops::Wide;
use super::super::options::{Settings, Verify, Which};
use super::block;
use super::complete::COLUMNS;
use super::restart::{Counts, Report, Search, beats, modulus, projected, run};
use super::{Small, finite};
use crate::alloc;
use crate::error::Result;
use crate::scalar::Scalar;

/// The result of a solve. Column `known + i` holds the vector of value i.
pub struct Solved {
    /// Values in the order of the result.
    pub values: Vec<f64>,
    /// How many pairs have converged.
    pub converged: usize,
    /// Why the search for the pairs ended.
    pub reason: Reason,
    /// Number of values that the search for copies found.
    pub recovered: usize,
    /// Whether a test or search has shown that no wanted value is missing.
    pub verified: bool,
    /// Counts of all runs, searches for copies included.
    pub counts: Counts,
}

/// Smallest space of a search for copies, in vectors. The search looks for one pair, whatever the space of the solve.
pub(super) const CHECK: usize = 30;

/// The component of a vector along the pairs found before it may be this part of the residual's limit.
const COUPLED: f64 = 0.25;

const WHAT: &str = "search for copies";

/// Columns that a solve needs, including `known` deflated vectors.
pub fn columns(settings: &Settings, known: usize) -> usize {
    // The search for copies has a space of its own behind the vectors found. The test of completeness keeps the whole
    // space of the solve.
    known + (settings.count + settings.basis.max(CHECK)).max(settings.basis + COLUMNS) + settings.block
}

/// Largest order of a projected problem of a solve on a space of `dimension` vectors, the search for copies included.
pub fn largest_order(settings: &Settings, dimension: usize) -> usize {
    let left = dimension.saturating_sub(settings.count);
    let copies = if settings.verify == Verify::Off { 0 } else { left.min(settings.basis.max(CHECK)) };
    settings.basis.max(copies)
}

/// Finds the pairs that `settings` ask for, orthogonal to the first `known` columns. With `started`, column `known`
/// holds a start vector.
///
/// # Errors
/// As [`run`].
pub fn solve<K: Cycles + ?Sized>(
    krylov: &mut K,
    settings: &Settings,
    known: usize,
    started: bool,
    small: &mut Small<'_, Wide<K>>,
    report: &mut Report<'_>,
) -> Result<Solved> {
    let mut counts = Counts::begin(krylov, settings.drawn);
    counts.norm = counts.norm.max(settings.norm);
    let search = Search {
        locked: known,
        count: settings.count,
        which: settings.which,
        basis: settings.basis,
        stop: None,
        started,
        tested: settings.verify == Verify::Auto,
        settings,
    };
    let found = match settings.block {
        1 => run(krylov, &search, &mut counts, small, report)?,
        _ => block::run(krylov, &search, &mut counts, small, report)?,
    };
    let mut values = found.values;
    let complete = found.converged == values.len() && values.len() == settings.count;
    let mut recovered = 0;
    let mut verified = found.complete;
    if complete && !verified && settings.verify != Verify::Off {
        let within = &settings.of_check();
        let mut check = Check { krylov, settings, within, known, counts: &mut counts, is_sure: true };
        recovered = check.all(&mut values, small, report)?;
        verified = check.is_sure;
    }
    let order = settings.which.arrange(&values);
    if !order.is_sorted() {
        permute(krylov, known, &order)?;
    }
    let reason = match (complete, found.exhausted) {
        (_, true) => Reason::Exhausted,
        (true, _) => Reason::Converged,
        (false, _) => Reason::Restarts,
    };
    let values = order.iter().map(|&i| values[i]).collect();
    Ok(Solved { values, converged: found.converged, reason, recovered, verified, counts })
}

/// Reorders the columns from `first` on.
fn permute<K: Cycles + ?Sized>(krylov: &mut K, first: usize, order: &[usize]) -> Result<()> {
    let k = order.len();
    let mut y = alloc::filled("order of eigenvectors", k * k, Wide::<K>::default())?;
    for (to, &from) in order.iter().enumerate() {
        y[to * k + from] = Wide::<K>::from_parts(1.0, 0.0);
    }
    krylov.rotate(first, k, &y, k)
}

struct Check<'a, K: ?Sized> {
    krylov: &'a mut K,
    settings: &'a Settings,
    /// Settings of the searches, each for one pair.
    within: &'a Settings,
    known: usize,
    counts: &'a mut Counts,
    /// Whether every search has ended by its own criterion.
    is_sure: bool,
}

impl<K: Cycles + ?Sized> Check<'_, K> {
    /// Searches the ends of the spectrum where values are wanted; returns the number of values found.
    fn all(&mut self, values: &mut [f64], small: &mut Small<'_, Wide<K>>, report: &mut Report<'_>) -> Result<usize> {
        match self.settings.which {
            Which::BothEnds => {
                let top = self.settings.which.order(values).into_iter().step_by(2).collect();
                let found = self.end(Which::Largest, top, values, small, report)?;
                let bottom = self.settings.which.order(values).into_iter().skip(1).step_by(2).collect();
                Ok(found + self.end(Which::Smallest, bottom, values, small, report)?)
            }
            which => self.end(which, (0..values.len()).collect(), values, small, report),
        }
    }

    /// Replaces the pairs of `values` and the one found after them, of eigenvalue `value`, by the Ritz pairs of the
    /// space that all of them span, without the least wanted one of `group`. A search on the complement of vectors with
    /// residuals finds a vector x with A x = value x + V c. Here c can be as large as these residuals. A vector of a
    /// large eigenvalue may have a larger residual than a small eigenvalue allows. False, and nothing is changed, if c
    /// is close to rounding error.
    fn decouple(
        &mut self,
        which: Which,
        group: &[usize],
        values: &mut [f64],
        value: f64,
        small: &mut Small<'_, Wide<K>>,
    ) -> Result<bool> {
        let (first, k) = (self.known, values.len());
        let zero = Wide::<K>::default();
        let mut coupling = alloc::filled(WHAT, k, zero)?;
        self.krylov.apply(first + k, first + k + 1)?;
        self.counts.products += 1;
        self.krylov.project(first, k, first + k + 1, 1, &mut coupling)?;
        let size = coupling.iter().fold(0.0f64, |sum, c| sum.hypot(modulus(*c)));
        if finite(size, "a coefficient")? <= COUPLED * self.within.limit(value, self.counts.norm) {
            return Ok(false);
        }
        let order = k + 1;
        let mut t = alloc::filled(WHAT, order * order, zero)?;
        for (i, (v, c)) in values.iter().zip(&coupling).enumerate() {
            t[i * order + i] = Wide::<K>::from_parts(*v, 0.0);
            t[k * order + i] = *c;
            t[i * order + k] = c.conjugate();
        }
        t[k * order + k] = Wide::<K>::from_parts(value, 0.0);
        let (theta, y) = projected::<K>(&t, order, order, small)?;
        // The group's values come first, then the dropped one, then those of the other end.
        let ranks = which.order(&theta);
        let others = (0..k).filter(|i| !group.contains(i));
        let mut picked = alloc::filled(WHAT, k * order, zero)?;
        let from = ranks[..group.len()].iter().chain(&ranks[group.len() + 1..]);
        for (to, &at) in group.iter().copied().chain(others).zip(from) {
            picked[to * order..(to + 1) * order].copy_from_slice(&y[at * order..(at + 1) * order]);
            values[to] = theta[at];
        }
        self.krylov.rotate(first, order, &picked, k)?;
        Ok(true)
    }

    /// Searches for values that are more wanted than the last of `group`; returns the number found.
    fn end(
        &mut self,
        which: Which,
        group: Vec<usize>,
        values: &mut [f64],
        small: &mut Small<'_, Wide<K>>,
        report: &mut Report<'_>,
    ) -> Result<usize> {
        let locked = self.known + values.len();
        let dimension = self.krylov.order() - locked;
        let basis = dimension.min(self.settings.basis.max(CHECK));
        let mut found = 0;
        if basis == 0 {
            return Ok(0);
        }
        loop {
            let held: Vec<f64> = group.iter().map(|&i| values[i]).collect();
            let Some(last) = which.order(&held).last().map(|&at| group[at]) else { break };
            let margin = self.settings.margin(values[last], self.counts.norm);
            let limit = which.beyond(values[last], margin);
            let search = Search {
                locked,
                count: 1,
                which,
                basis,
                stop: Some(limit),
                started: false,
                tested: false,
                settings: self.within,
            };
            let one = run(self.krylov, &search, self.counts, small, report)?;
            match one.values.first() {
                Some(&value) if one.converged == 1 && beats(which, value, limit) => {
                    if !self.decouple(which, &group, values, value, small)? {
                        self.krylov.copy(locked, self.known + last)?;
                        values[last] = value;
                    }
                    found += 1;
                }
                _ => {
                    self.is_sure &= one.converged == 1 || one.stopped || one.exhausted;
                    break;
                }
            }
        }
        Ok(found)
    }
}
