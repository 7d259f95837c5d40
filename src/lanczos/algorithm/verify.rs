//! A whole solve: the search, and the check for copies of multiple eigenvalues.
//!
//! A Krylov space of one vector holds one vector of each eigenspace; copies come by rounding alone, if at all. So once
//! pairs have converged, they are locked, and one more is looked for in what is orthogonal to them: if it is wanted more
//! than the last of those found, it takes that one's place, and the next is looked for.

use std::sync::Arc;

use super::super::info::Reason;
use super::super::krylov::{Krylov, Wide};
use super::super::options::{Settings, Verify, Which};
use super::Small;
use super::block;
use super::restart::{Counts, Report, Search, beats, run};
use crate::error::Result;
use crate::matrix::sparse::{Pieces, pieces};
use crate::matrix::{Matrix, Storage};
use crate::scalar::Scalar;

/// What a solve found: column `known + i` holds the vector of value i.
pub struct Solved {
    /// Values, in the order that they are returned in.
    pub values: Vec<f64>,
    /// How many pairs have converged.
    pub converged: usize,
    /// Why the search ended.
    pub reason: Reason,
    /// Values that the check found.
    pub recovered: usize,
    /// Counts of all runs.
    pub counts: Counts,
}

/// Least vectors of a check's space: it looks for one pair, whatever the space of the search.
pub(super) const CHECK: usize = 30;

/// Columns that a solve needs, `known` vectors that are deflated included.
pub fn columns(settings: &Settings, known: usize) -> usize {
    // The vectors found stay while the check has a space of its own.
    known + settings.count + settings.basis.max(CHECK) + settings.block
}

/// Finds the pairs that `settings` ask for, orthogonal to the first `known` columns; with `started` column `known` holds a
/// start vector. `web` is the graph of the operator, if it is known.
///
/// # Errors
/// As [`run`].
pub fn solve<K: Krylov + ?Sized>(
    krylov: &mut K,
    settings: &Settings,
    known: usize,
    started: bool,
    web: Option<Web<'_>>,
    small: &mut Small<'_, Wide<K>>,
    report: &mut Report<'_>,
) -> Result<Solved> {
    let mut counts = Counts { drawn: settings.drawn, ..Counts::default() };
    let search = Search {
        locked: known,
        count: settings.count,
        which: settings.which,
        basis: settings.basis,
        stop: None,
        started,
        settings,
    };
    let found = match settings.block {
        1 => run(krylov, &search, &mut counts, small, report)?,
        _ => block::run(krylov, &search, &mut counts, small, report)?,
    };
    let mut values = found.values;
    let complete = found.converged == values.len() && values.len() == settings.count;
    let mut recovered = 0;
    if complete && !found.exhausted && wanted(settings, &values, &counts, web)? {
        let mut check = Check { krylov, settings, known, counts: &mut counts };
        recovered = check.all(&mut values, small, report)?;
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
    Ok(Solved { values, converged: found.converged, reason, recovered, counts })
}

/// The graph of an operator's matrix: what its components have in common comes once for each.
#[derive(Clone, Copy)]
pub struct Web<'a> {
    /// Symmetric.
    pub matrix: &'a Matrix,
    /// The eigenvalue of vertices without edges, if that is known of what is iterated with.
    pub isolated: Option<f64>,
    /// How far from that eigenvalues of other components may lie, in units of the largest sum of moduli of their rows.
    pub reach: f64,
}

impl Web<'_> {
    /// Whether there is another component that may have one of the values, or a vertex without edges.
    fn may_hide_copies(&self, which: Which, values: &[f64]) -> Result<bool> {
        let pieces = pieces_kept(self.matrix)?;
        if pieces.joined < 2 && pieces.isolated == 0 {
            return Ok(false);
        }
        // What every value beats is not among them.
        let Some(middle) = self.isolated else { return Ok(true) };
        let far = if pieces.joined > 1 { self.reach * pieces.beyond(self.matrix)? } else { 0.0 };
        let limit = match which {
            Which::Largest => middle + far,
            Which::Smallest => middle - far,
            Which::LargestMagnitude => middle.abs() + far,
            Which::BothEnds | Which::Nearest => return Ok(true),
        };
        Ok(!values.iter().all(|v| beats(which, *v, limit)))
    }
}

/// The components of a matrix's graph, which are found once: no call changes where its entries are.
fn pieces_kept(a: &Matrix) -> Result<Arc<Pieces>> {
    let Storage::Csr(csr) = a.storage() else { return pieces(a).map(Arc::new) };
    let any = |_: &Pieces| true;
    if let Some((_, found)) = csr.kept().find(any) {
        return Ok(found);
    }
    let found = Arc::new(pieces(a)?);
    csr.kept().put(csr.version(), &found, any)?;
    Ok(found)
}

/// Whether the check is to be made.
fn wanted(settings: &Settings, values: &[f64], counts: &Counts, web: Option<Web<'_>>) -> Result<bool> {
    let alike = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs().max(b.abs());
    match settings.verify {
        Verify::On => Ok(true),
        Verify::Off => Ok(false),
        Verify::Auto => {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            if counts.breakdowns > 0 || sorted.windows(2).any(|pair| alike(pair[0], pair[1])) {
                return Ok(true);
            }
            web.map_or(Ok(false), |web| web.may_hide_copies(settings.which, values))
        }
    }
}

/// Columns `first ..` in another order.
fn permute<K: Krylov + ?Sized>(krylov: &mut K, first: usize, order: &[usize]) -> Result<()> {
    let k = order.len();
    let mut y = crate::alloc::filled("order of eigenvectors", k * k, Wide::<K>::default())?;
    for (to, &from) in order.iter().enumerate() {
        y[to * k + from] = Wide::<K>::from_parts(1.0, 0.0);
    }
    krylov.rotate(first, k, &y, k)
}

struct Check<'a, K: ?Sized> {
    krylov: &'a mut K,
    settings: &'a Settings,
    known: usize,
    counts: &'a mut Counts,
}

impl<K: Krylov + ?Sized> Check<'_, K> {
    /// Looks at the ends where values are wanted; how many were found.
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

    /// Looks for values that are wanted more than the last of `group`.
    fn end(
        &mut self,
        which: Which,
        group: Vec<usize>,
        values: &mut [f64],
        small: &mut Small<'_, Wide<K>>,
        report: &mut Report<'_>,
    ) -> Result<usize> {
        let locked = self.known + values.len();
        let room = self.krylov.order() - locked;
        let basis = room.min(self.settings.basis.max(CHECK));
        let mut found = 0;
        if basis == 0 {
            return Ok(0);
        }
        loop {
            let held: Vec<f64> = group.iter().map(|&i| values[i]).collect();
            let Some(last) = which.order(&held).last().map(|&at| group[at]) else { break };
            let margin = 10.0 * self.settings.tolerance * self.counts.norm;
            let limit = match which {
                Which::Smallest => values[last] - margin,
                Which::LargestMagnitude | Which::Nearest => values[last].abs() + margin,
                Which::Largest | Which::BothEnds => values[last] + margin,
            };
            let search =
                Search { locked, count: 1, which, basis, stop: Some(limit), started: false, settings: self.settings };
            let one = run(self.krylov, &search, self.counts, small, report)?;
            match one.values.first() {
                Some(&value) if one.converged == 1 && beats(which, value, limit) => {
                    self.krylov.copy(locked, self.known + last)?;
                    values[last] = value;
                    found += 1;
                }
                _ => break,
            }
        }
        Ok(found)
    }
}
