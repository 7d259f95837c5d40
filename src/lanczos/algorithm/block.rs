//! Thick-restart Lanczos with blocks. Products are with b vectors at once, and the space holds up to b copies of a
//! multiple eigenvalue (Golub and Underwood 1977; Zhou and Saad, Numer. Algorithms 47, 2008, for restarts).
//!
//! Every block is made orthogonal to all before it. The coefficients are stored and give T = V^H A V, whatever its
//! shape after a restart. A column that depends on others is replaced by a random one, with zero coupling.

use super::super::cycles::Cycles;
use super::super::ops::{BlockStep, Wide};
use super::complete::{Bounds, is_complete};
use super::restart::{Counts, Found, Report, STRETCH, Search, fresh, modulus, pick, projected};
use super::{Small, finite};
use crate::alloc;
use crate::error::Result;
use crate::scalar::Scalar;

const WHAT: &str = "block Lanczos iteration";

/// Norm that a pass of orthogonalization leaves of a unit vector which had only rounding errors along the space. If
/// less is left, the remainder still has components as large as rounding errors over its norm, and later steps magnify
/// them. Another pass then follows.
const ORTHOGONAL: f64 = 0.9;

/// Largest number of passes after the first. Usually the pass after one is enough, except for columns that are rounding
/// error only.
const MOST_PASSES: usize = 4;

/// A run in progress, with blocks of `b` vectors.
struct Run<'a, K: Cycles + ?Sized> {
    krylov: &'a mut K,
    search: &'a Search<'a>,
    counts: &'a mut Counts,
    /// The projected matrix, m-by-m, column-major.
    t: Vec<Wide<K>>,
    m: usize,
    b: usize,
    /// The last block's triangle, b-by-b: the coupling to the next block, outside the space.
    out: Vec<Wide<K>>,
}

/// Finds pairs of the operator on the complement of the locked columns, as [`super::restart::run`] does, in blocks of
/// the settings' size. The basis must be a multiple of it. `search.stop` is ignored.
///
/// # Errors
/// As [`super::restart::run`].
pub fn run<K: Cycles + ?Sized>(
    krylov: &mut K,
    search: &Search<'_>,
    counts: &mut Counts,
    small: &mut Small<'_, Wide<K>>,
    report: &mut Report<'_>,
) -> Result<Found> {
    let (m, b, o) = (search.basis, search.settings.block, search.locked);
    let t = alloc::filled(WHAT, m * m, Wide::<K>::default())?;
    let out = alloc::filled(WHAT, b * b, Wide::<K>::default())?;
    let mut run = Run { krylov, search, counts, t, m, b, out };
    for c in 0..b {
        if c == 0 && search.started {
            let p = run.krylov.orthogonalize(o, o)?;
            run.krylov.scale(o, 1.0 / finite(p.after, "the norm of the start vector")?)?;
        } else if !run.fresh(o + c)? {
            return Ok(Found { values: Vec::new(), converged: 0, exhausted: true, stopped: false, complete: true });
        }
    }
    let mut kept = 0;
    let mut restart = 0;
    let mut known = (0, f64::INFINITY);
    loop {
        let exhausted = run.cycle(kept, &mut || report(known.0, known.1))?;
        let (theta, y) = projected::<K>(&run.t, m, m, small)?;
        let order = search.which.order(&theta);
        // Ritz values bound the norm from below too.
        let norm = theta.iter().fold(run.counts.norm, |most, v| most.max(v.abs()));
        run.counts.norm = norm;
        let mut residuals = alloc::with_capacity(WHAT, m)?;
        residuals.extend((0..m).map(|i| run.residual(&y[i * m..(i + 1) * m])));
        let residual = |i: usize| residuals[i];
        let near = |i: usize| residual(i) / search.settings.limit(theta[i], norm);
        let wanted = search.count.min(m);
        let converged = order[..wanted].iter().take_while(|&&i| exhausted || near(i) <= 1.0).count();
        let worst = order[..wanted].iter().map(|&i| if exhausted { 0.0 } else { residual(i) }).fold(0.0, f64::max);
        report(converged, worst)?;
        known = (converged, worst);
        if converged == wanted || exhausted || restart >= search.settings.restarts {
            let values: Vec<f64> = order[..wanted].iter().map(|&i| theta[i]).collect();
            let is_tested = search.tested && converged == wanted && !exhausted;
            let bounds = Bounds::new(search.which, &values, search.settings, run.counts.norm);
            let mut ritz = alloc::with_capacity(WHAT, m)?;
            ritz.extend(order.iter().map(|&i| (theta[i], residual(i))));
            let (held, bounds) = if is_tested { bounds.on_complement(&ritz, wanted) } else { (wanted, bounds) };
            let picked = pick(&order[..held], &y, m)?;
            run.krylov.rotate(o, m, &picked, held)?;
            let report = &mut || report(converged, worst);
            let complete = exhausted
                || (is_tested && is_complete(run.krylov, o + held, bounds, search.settings, run.counts, report)?);
            return Ok(Found { values, converged, exhausted, stopped: false, complete });
        }
        run.counts.restarts += 1;
        // Keep so many vectors that whole blocks are left to replace: at least one, and two if possible.
        let keep = (search.count + b).max(converged + (m - converged) / 2).min(m.saturating_sub(2 * b)).max(1);
        let keep = m - (m - keep) / b * b;
        let picked = pick(&order[..keep], &y, m)?;
        run.krylov.rotate(o, m, &picked, keep)?;
        for c in 0..b {
            run.krylov.copy(o + m + c, o + keep + c)?;
        }
        run.t.fill(Wide::<K>::default());
        for (at, &i) in order[..keep].iter().enumerate() {
            run.t[at * m + at] = Wide::<K>::from_parts(theta[i], 0.0);
        }
        kept = keep;
        restart += 1;
    }
}

impl<K: Cycles + ?Sized> Run<'_, K> {
    fn fresh(&mut self, column: usize) -> Result<bool> {
        fresh(self.krylov, self.search.settings.seed, self.counts, column)
    }

    /// The residual ||R y_last|| of a Ritz vector; y_last is the last block of its coordinates `y`.
    fn residual(&self, y: &[Wide<K>]) -> f64 {
        let (b, last) = (self.b, &y[self.m - self.b..]);
        let row = |i: usize| {
            let sum = (i..b).fold(Wide::<K>::default(), |sum, j| sum + self.out[j * b + i] * last[j]);
            modulus(sum)
        };
        (0..b).map(row).fold(0.0, f64::hypot)
    }

    /// Fills the space from column `from` on. True if it is invariant and no vector is outside of it.
    fn cycle(&mut self, from: usize, report: &mut dyn FnMut() -> Result<()>) -> Result<bool> {
        let (o, m, b) = (self.search.locked, self.m, self.b);
        let mut next = from;
        'all: while next < m {
            report()?;
            // Cancellation takes effect between stretches.
            let steps = self.krylov.extend_block(o, (next, m.min(next + STRETCH / b * b)), b, report)?;
            if steps.is_empty() {
                break;
            }
            for step in steps {
                if !self.take(next, &step)? {
                    break 'all;
                }
                next += b;
            }
        }
        // The backend leaves the remaining blocks to the method, or one has a column that must be replaced.
        let mut exhausted = false;
        for j in (next..m).step_by(b) {
            report()?;
            exhausted = self.step(j)?;
        }
        Ok(exhausted)
    }

    /// Adds a step that the backend has made to T; false if one of its columns must be replaced or needs another pass.
    fn take(&mut self, j: usize, step: &BlockStep<Wide<K>>) -> Result<bool> {
        let (b, floor) = (self.b, 10.0 * self.search.settings.epsilon);
        let norm = self.norm_of(self.counts.norm, &step.along, &step.rest)?;
        let lives = |r: &[Wide<K>], unit: f64| (0..b).all(|c| r[c * b + c].re() > floor * unit);
        if !lives(&step.first, norm) || !lives(&step.second, 1.0) || !step.left.iter().all(|l| *l > ORTHOGONAL) {
            return Ok(false);
        }
        self.counts.products += b;
        self.counts.norm = norm;
        let mut parts = Parts { along: alloc::copied(WHAT, &step.along)?, r: alloc::copied(WHAT, &step.first)? };
        parts.add(b, &step.again, &step.second)?;
        self.fill(j, &parts);
        Ok(true)
    }

    /// The largest of `norm` and the norms ||A v|| of the block, which are computed from coefficients and remainders.
    fn norm_of(&self, norm: f64, along: &[Wide<K>], rest: &[f64]) -> Result<f64> {
        let mut norm = norm;
        for (taken, rest) in along.chunks_exact(along.len() / self.b).zip(rest) {
            let before = taken.iter().fold(*rest, |s, x| s.hypot(modulus(*x)));
            norm = norm.max(finite(before, "the norm of a product")?);
        }
        Ok(norm)
    }

    /// Writes columns j to j + b of the projected matrix, and the triangle of the next block.
    fn fill(&mut self, j: usize, parts: &Parts<Wide<K>>) {
        let (o, m, b) = (self.search.locked, self.m, self.b);
        let count = j + b;
        for c in 0..b {
            for i in 0..count {
                let entry = parts.along[c * (o + count) + o + i];
                self.t[(j + c) * m + i] = entry;
                self.t[i * m + j + c] = entry.conjugate();
            }
        }
        self.out.copy_from_slice(&parts.r);
    }

    /// The step of the block at column `j`, with columns replaced where they must be. True if one could not be
    /// replaced.
    fn step(&mut self, j: usize) -> Result<bool> {
        let (o, b) = (self.search.locked, self.b);
        let count = j + b;
        self.krylov.apply_block(o + j, o + count, b)?;
        self.counts.products += b;
        let mut h = alloc::filled(WHAT, (o + count) * b, Wide::<K>::default())?;
        let rest = self.krylov.project(0, o + count, o + count, b, &mut h)?;
        self.counts.norm = self.norm_of(self.counts.norm, &h, &rest)?;
        // Make the block orthonormal before the further passes. Otherwise short columns would keep their rounding
        // errors.
        let mut dead = alloc::filled(WHAT, b, false)?;
        let (r, _) = self.triangle(o + count, true, &mut dead)?;
        let mut parts = Parts { along: h, r };
        let mut broken = false;
        for _ in 0..MOST_PASSES {
            let mut again = alloc::filled(WHAT, (o + count) * b, Wide::<K>::default())?;
            let left = self.krylov.project(0, o + count, o + count, b, &mut again)?;
            let is_orthogonal = left.iter().zip(&dead).all(|(left, dead)| *dead || *left > ORTHOGONAL);
            let (next, is_broken) = self.triangle(o + count, false, &mut dead)?;
            broken |= is_broken;
            parts.add(b, &again, &next)?;
            if is_orthogonal {
                break;
            }
        }
        self.fill(j, &parts);
        Ok(broken)
    }

    /// Makes the block at `column` orthonormal in itself. Returns its triangle R, b-by-b, and whether a column could
    /// not be replaced. Columns that are rounding error only get a 0 on the diagonal. The first time they are marked as
    /// `dead` and set to 0. Later, these and any new ones are replaced by random vectors, and the mark is removed.
    fn triangle(&mut self, column: usize, is_first: bool, dead: &mut [bool]) -> Result<(Vec<Wide<K>>, bool)> {
        let b = self.b;
        let mut r = alloc::filled(WHAT, b * b, Wide::<K>::default())?;
        let mut broken = false;
        let mut h = alloc::filled(WHAT, b, Wide::<K>::default())?;
        for c in 0..b {
            let mut norm = 0.0;
            for _ in 0..if c == 0 { 1 } else { 2 } {
                let rest = self.krylov.project(column, c, column + c, 1, &mut h[..c])?;
                norm = finite(rest[0], "a coefficient")?;
                (0..c).for_each(|i| r[c * b + i] += h[i]);
            }
            // The first time the columns are products A v, later unit vectors.
            let unit = if is_first { self.counts.norm } else { 1.0 };
            if !dead[c] && norm > 10.0 * self.search.settings.epsilon * unit {
                r[c * b + c] = Wide::<K>::from_parts(norm, 0.0);
                self.krylov.scale(column + c, 1.0 / norm)?;
            } else if is_first {
                dead[c] = true;
                self.krylov.scale(column + c, 0.0)?;
            } else {
                dead[c] = false;
                self.counts.breakdowns += 1;
                // A random column has no coupling.
                (0..=c).for_each(|i| r[c * b + i] = Wide::<K>::default());
                broken |= !self.fresh(column + c)?;
            }
        }
        Ok((r, broken))
    }
}

/// The columns of a block before they were made orthonormal: their coefficients along the columns before the block, and
/// their triangle.
struct Parts<W> {
    along: Vec<W>,
    r: Vec<W>,
}

impl<W: Scalar> Parts<W> {
    /// Adds a pass of orthogonalization with coefficients `again` and triangle `next`, both of the block that the
    /// earlier passes left: along += again R, R = next R.
    fn add(&mut self, b: usize, again: &[W], next: &[W]) -> Result<()> {
        let rows = again.len() / b;
        let mut r = alloc::filled(WHAT, b * b, W::default())?;
        for c in 0..b {
            for l in 0..=c {
                let factor = self.r[c * b + l];
                let own = self.along[c * rows..(c + 1) * rows].iter_mut();
                own.zip(&again[l * rows..(l + 1) * rows]).for_each(|(sum, more)| *sum += *more * factor);
                (0..=l).for_each(|i| r[c * b + i] += next[l * b + i] * factor);
            }
        }
        self.r = r;
        Ok(())
    }
}
