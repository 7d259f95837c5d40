//! Solves with polynomials of the operator, for crowded eigenvalues: their distances are much smaller than the width of
//! the spectrum. A Krylov space of the operator would have to be large, and orthogonalization would take most of the
//! time. A polynomial that is large at the wanted eigenvalues takes as many products and needs a small space.

use std::cell::{Cell, RefCell};

use super::super::info::Reason;

use super::super::cycles::Columns;
use super::super::ops::Affine;
use super::super::options::{MOST_DEGREE, Orthogonalization, Settings, Verify, Which};
use super::super::tridiagonal::ends;
use super::cullum::recurrence;
use super::polynomials::{clearance, delta_filter, end_filter, squared_distance, window};
use super::restart::{Counts, Report, Search, run};
use super::transform::{Transform, Transformed};
use super::verify::{self, Solved};
use super::{PROBES, Small, finite};
use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::Scalar;

const WHAT: &str = "filtered Lanczos iteration";

/// Steps of the recurrence that estimates the ends of the spectrum.
const PROBE: usize = 40;
/// Steps of the recurrence that estimates the density of the spectrum.
const DENSITY: usize = 80;
/// Restarts after which a filter for the interior counts as too narrow.
const PATIENCE: usize = 40;
/// A bound of the values of an interior filter at its side lobes, with a margin.
const LOW: f64 = 0.25;
/// Largest number of further stages of a solve.
const TURNS: usize = 8;
/// In units of the last value's distance from sigma: values whose distances differ by less count as equally near.
const NEARLY: f64 = 1e-3;
/// Largest order for which the whole space is searched, if a filter cannot separate values within the spectrum.
const WHOLE: usize = 512;
/// Products that a filter may take, for each row of the matrix. In the interior, spectra of even density take 7 to 35.
/// A solve that takes more uses the whole space where it may; otherwise it may take [`LEAST_EFFORT`] more. After that a
/// solve for an end of the spectrum goes on without the filter.
const EFFORT: usize = 200;
const LEAST_EFFORT: usize = 400_000;
/// Nodes of a density nearer to each other than this part of the spectrum's width count as copies of one value.
const COPIES: f64 = 1e-6;

/// The task of a filtered solve.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The solve's settings; block and orthogonality are ignored.
    pub settings: &'a Settings,
    /// The point of [`Which::Nearest`]; else unused.
    pub sigma: f64,
    /// Degree; 0 means one that is chosen from the spectrum.
    pub degree: usize,
    /// Whether the caller chose neither the size of the space nor the degree.
    pub is_automatic: bool,
    /// Number of known columns, which the space is kept orthogonal to.
    pub known: usize,
    /// Whether column `known` holds a start vector.
    pub started: bool,
}

/// The result of a filtered solve.
pub struct Filtered {
    /// Values and counts, as of any solve.
    pub solved: Solved,
    /// Degree of the last polynomial.
    pub degree: usize,
}

impl Task<'_> {
    /// Settings of the inner runs: more pairs than are wanted, in a space that is as small as possible.
    pub fn within(&self, n: usize) -> Settings {
        let dimension = n - self.known;
        let extra = match self.settings.which {
            Which::Nearest => (self.settings.count / 4).max(2),
            _ => (self.settings.count / 2).max(4),
        };
        let count = (self.settings.count + extra).min(dimension);
        let exact = dimension <= (3 * count).max(64);
        let basis = if exact { dimension } else { self.settings.basis.clamp(count + 3, dimension) };
        let count = if exact { dimension } else { count };
        Settings { count, basis, block: 1, orthogonalization: Orthogonalization::Full, ..*self.settings }
    }

    /// Whether the whole space may be searched where a filter fails.
    fn may_be_whole(&self, n: usize) -> bool {
        self.is_automatic && self.settings.which == Which::Nearest && n - self.known <= WHOLE
    }

    /// Products that filters may take, if their degree is chosen here.
    fn effort(&self, n: usize) -> usize {
        let effort = n.saturating_mul(EFFORT);
        if self.may_be_whole(n) { effort } else { effort.saturating_add(LEAST_EFFORT) }
    }

    /// Columns that a solve needs: three more than its runs.
    pub fn columns(&self, n: usize) -> usize {
        let columns = verify::columns(&self.within(n), self.known) + 3;
        if self.may_be_whole(n) { columns.max(n + 1) } else { columns }
    }

    /// Largest order of a projected problem.
    pub fn projected(&self, n: usize) -> usize {
        let dimension = n - self.known;
        let whole = if self.may_be_whole(n) { dimension } else { 0 };
        verify::largest_order(&self.within(n), dimension).max(whole)
    }
}

/// A solve in progress, which may take several stages with different filters.
struct Solve<'a, 'r, T: Scalar> {
    krylov: &'a mut Columns<'a, T>,
    task: Task<'a>,
    within: Settings,
    /// The first of three free columns.
    work: usize,
    products: usize,
    /// Number of products after which no further stage is run.
    budget: usize,
    counts: Counts,
    small: &'a mut Small<'r, T::Wide>,
    report: &'a mut Report<'r>,
}

/// Finds the pairs that the settings ask for. A pair has converged when its residual is at most the tolerance times the
/// operator's norm. Column `known + i` holds the vector of value i.
///
/// # Errors
/// [`Error::Numerical`] if products are not finite; errors of the backend.
pub fn solve<'r, T: Scalar>(
    krylov: &mut Columns<'_, T>,
    task: Task<'_>,
    small: &mut Small<'r, T::Wide>,
    report: &mut Report<'r>,
) -> Result<Filtered> {
    let n = krylov.order();
    let within = task.within(n);
    let work = verify::columns(&within, task.known);
    let counts = Counts::begin(krylov, 0);
    let mut solve = Solve { krylov, task, within, work, products: 0, budget: usize::MAX, counts, small, report };
    if within.basis == n - task.known {
        return solve.whole(task.started);
    }
    match task.settings.which {
        Which::Nearest => solve.interior(),
        _ => solve.end(),
    }
}

impl<T: Scalar> Solve<'_, '_, T> {
    /// Computes all pairs of a small operator and returns the wanted ones.
    fn whole(&mut self, started: bool) -> Result<Filtered> {
        let dimension = self.krylov.order() - self.task.known;
        let settings =
            Settings { which: Which::Largest, verify: Verify::Off, count: dimension, basis: dimension, ..self.within };
        let found = verify::solve(self.krylov, &settings, self.task.known, started, self.small, self.report)?;
        let order = self.order(&found.values);
        let Counts { restarts, breakdowns, .. } = self.counts;
        self.counts = found.counts;
        self.counts.restarts += restarts;
        self.counts.breakdowns += breakdowns;
        self.products += found.counts.products;
        self.arrange(&order)?;
        let values = order.iter().map(|&i| found.values[i]).collect();
        let count = self.task.settings.count;
        Ok(self.done(values, count, found.recovered, true, Reason::Exhausted, 0))
    }

    /// Whether the spectrum is one value within rounding errors: no polynomial can separate its vectors.
    fn is_point(&self, [low, high]: [f64; 2]) -> bool {
        high - low <= 1e3 * self.within.epsilon * self.norm_of([low, high])
    }

    /// The norm of an operator whose spectrum has these ends; at least the norm of its terms beside the matrix.
    fn norm_of(&self, [low, high]: [f64; 2]) -> f64 {
        low.abs().max(high.abs()).max(self.krylov.terms_norm())
    }

    /// A solve without a polynomial, where a polynomial does not help; `started` as for [`verify::solve`].
    fn unfiltered(&mut self, started: bool) -> Result<Filtered> {
        let which = if self.task.settings.which == Which::Smallest { Which::Smallest } else { Which::Largest };
        let restarts = self.task.settings.restarts.saturating_sub(self.counts.restarts);
        let settings = Settings { which, count: self.task.settings.count, restarts, ..self.within };
        let found = verify::solve(self.krylov, &settings, self.task.known, started, self.small, self.report)?;
        let Counts { restarts, breakdowns, .. } = self.counts;
        self.counts = found.counts;
        self.counts.restarts += restarts;
        self.counts.breakdowns += breakdowns;
        self.products += found.counts.products;
        Ok(self.done(found.values, found.converged, found.recovered, found.verified, found.reason, 0))
    }

    /// Indices of the values, the most wanted first.
    fn order(&self, values: &[f64]) -> Vec<usize> {
        match self.task.settings.which {
            Which::Nearest => {
                let mut order: Vec<usize> = (0..values.len()).collect();
                let far = |i: usize| (values[i] - self.task.sigma).abs();
                order.sort_by(|&i, &j| far(i).total_cmp(&far(j)));
                order
            }
            which => which.order(values),
        }
    }

    fn arrange(&mut self, order: &[usize]) -> Result<()> {
        let k = order.len();
        let mut y = alloc::filled(WHAT, k * k, T::Wide::default())?;
        for (to, &from) in order.iter().enumerate() {
            y[to * k + from] = T::Wide::from_parts(1.0, 0.0);
        }
        self.krylov.rotate(self.task.known, k, &y, k)
    }

    fn done(
        &mut self,
        mut values: Vec<f64>,
        converged: usize,
        recovered: usize,
        verified: bool,
        reason: Reason,
        degree: usize,
    ) -> Filtered {
        values.truncate(self.task.settings.count);
        let counts = Counts { products: self.products, ..self.counts };
        Filtered { solved: Solved { values, converged, reason, recovered, verified, counts }, degree }
    }

    /// Runs `steps` steps from random vector `vector`. Returns nodes and weights of the spectral measure, and bounds of
    /// the spectrum.
    fn probe(&mut self, steps: usize, vector: u32) -> Result<(Vec<f64>, Vec<f64>, [f64; 2])> {
        let (work, epsilon) = (self.work, self.within.epsilon);
        self.krylov.random(self.within.seed, PROBES + vector, work)?;
        let norm = self.krylov.project(0, 0, work, 1, &mut [])?[0];
        self.krylov.scale(work, 1.0 / finite(norm, "the norm of a random vector")?)?;
        let report = &mut *self.report;
        let of = recurrence(self.krylov, work, steps, epsilon, None, &mut |_| report(0, f64::INFINITY))?;
        let m = of.alpha.len();
        self.products += m;
        let found = ends(&of.alpha, &of.beta[..m - 1], &mut || report(0, f64::INFINITY))?;
        let rest = |i: usize| of.beta[m - 1] * found.last[i].abs();
        // An end of the spectrum is beyond the outermost value by about its residual (Zhou and Li, Linear Algebra Appl.
        // 435, 2011).
        let margin = if m < steps { 0.0 } else { 0.03 * (found.values[m - 1] - found.values[0]) };
        let bounds = [found.values[0] - rest(0) - margin, found.values[m - 1] + rest(m - 1) + margin];
        let weights = found.first.iter().map(|s| s * s).collect();
        Ok((found.values, weights, bounds))
    }

    /// Replaces the columns found by Ritz vectors of the operator itself, the most wanted first. Returns values and
    /// residuals.
    fn rayleigh(&mut self, count: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let (known, work) = (self.task.known, self.work);
        let mut h = alloc::filled(WHAT, count * count, T::Wide::default())?;
        for (i, h) in h.chunks_exact_mut(count).enumerate() {
            self.krylov.apply(known + i, work)?;
            self.krylov.project(known, count, work, 1, h)?;
            h.iter().flat_map(|v| [v.re(), v.im()]).try_for_each(|v| finite(v, "a coefficient").map(drop))?;
        }
        let (values, y) = (self.small)(count, &h)?;
        let order = self.order(&values);
        let turned = super::restart::pick(&order, &y, count)?;
        self.krylov.rotate(known, count, &turned, count)?;
        let mut residuals = alloc::with_capacity(WHAT, count)?;
        for (i, &at) in order.iter().enumerate() {
            self.krylov.apply(known + i, work)?;
            residuals.push(finite(self.krylov.distance(work, values[at], known + i)?, "a residual")?);
        }
        self.products += 2 * count;
        Ok((order.iter().map(|&i| values[i]).collect(), residuals))
    }

    /// One solve with a polynomial, then the pairs of the operator in the space found: the solve's result, values and
    /// residuals.
    fn stage(
        &mut self,
        transform: &Transform,
        settings: &Settings,
        started: bool,
    ) -> Result<(Solved, Vec<f64>, Vec<f64>)> {
        let (known, work) = (self.task.known, self.work);
        // While it multiplies, the polynomial reports the last figures of the search.
        let (report, last) = (RefCell::new(&mut *self.report), Cell::new((0, f64::INFINITY)));
        let report_now = |converged: usize, worst: f64| match report.try_borrow_mut() {
            Ok(mut report) => report(converged, worst),
            Err(_) => Ok(()),
        };
        let poll = || report_now(last.get().0, last.get().1);
        let mut outer = |converged: usize, worst: f64| {
            last.set((converged, worst));
            report_now(converged, worst)
        };
        let copy = transform.clone();
        let mut krylov = Transformed { inner: &mut *self.krylov, transform: copy, work, poll: &poll };
        let krylov: &mut Columns<'_, T> = &mut krylov;
        let found = verify::solve(krylov, settings, known, started, self.small, &mut outer)?;
        self.products += found.counts.products * transform.degree();
        self.within.drawn = found.counts.drawn;
        self.counts.restarts += found.counts.restarts;
        self.counts.breakdowns += found.counts.breakdowns;
        let mut count = found.values.len();
        if let Some(sigma) = transform.fold() {
            count = self.add_images(count, sigma)?;
        }
        let (values, residuals) = self.rayleigh(count)?;
        Ok((found, values, residuals))
    }

    /// Extends the columns found, which are eigenvectors of (A - sigma I)^2, by their products with A - sigma I. A
    /// leaves the space of all these columns invariant, and its Ritz vectors are eigenvectors of A, even if two
    /// eigenvalues of A have the same distance from sigma on either side. Returns the new number of columns.
    fn add_images(&mut self, count: usize, sigma: f64) -> Result<usize> {
        let (known, mut made) = (self.task.known, count);
        for i in known..known + count {
            let to = known + made;
            if to >= self.krylov.order() {
                break;
            }
            self.krylov.affine(Affine { center: sigma, ..Affine::PLAIN }, i, to)?;
            self.products += 1;
            let p = self.krylov.orthogonalize(to, to)?;
            if p.after > 1e-3 * p.before && p.after > 1e3 * self.within.epsilon * self.counts.norm {
                self.krylov.scale(to, 1.0 / finite(p.after, "a norm")?)?;
                let again = self.krylov.orthogonalize(to, to)?;
                self.krylov.scale(to, 1.0 / finite(again.after, "a norm")?)?;
                made += 1;
            }
        }
        Ok(made)
    }

    /// Writes the sum of the columns found to the first of them. The next run starts from it.
    fn merge(&mut self, count: usize) -> Result<()> {
        let ones = alloc::filled(WHAT, count, T::Wide::from_parts(1.0, 0.0))?;
        self.krylov.rotate(self.task.known, count, &ones, 1)
    }

    /// The last stages. A stage is repeated with a smaller tolerance while the residuals of the operator are too large.
    /// If a run does not end, or its polynomial may hide a value, `again` makes another polynomial from a degree and a
    /// place.
    fn finish(
        &mut self,
        mut transform: Transform,
        norm: f64,
        count: usize,
        mut started: bool,
        again: Option<&dyn Fn(usize, f64) -> Result<Transform>>,
    ) -> Result<Filtered> {
        let wanted = self.task.settings.count;
        let (mut place, mut moves) = (self.task.sigma, 0);
        let mut settings = Settings { which: Which::Largest, count, ..self.within };
        let (most, dimension) = (settings.restarts, self.krylov.order() - self.task.known);
        let mut recovered = 0;
        for turn in 0.. {
            let cycle = transform.degree().saturating_mul(settings.basis).max(1);
            let affordable = self.budget.saturating_sub(self.products) / cycle;
            let left = most.saturating_sub(self.counts.restarts).min(affordable);
            settings.drawn = self.within.drawn;
            settings.restarts = if again.is_some() { left.min(PATIENCE) } else { left };
            let (found, values, residuals) = self.stage(&transform, &settings, started)?;
            recovered += found.recovered;
            let limit = self.task.settings.tolerance * norm;
            let converged = residuals.iter().take(wanted).take_while(|r| **r <= limit).count();
            // A run that did not end may have missed values. So may a polynomial that is as small at wanted values as
            // at some of the others.
            let least = found.values.get(wanted - 1).or(found.values.last());
            let low = match transform.fold() {
                Some(_) => !least.is_some_and(|p| transform.is_lifted(*p)),
                None => transform.is_series() && least.is_some_and(|p| *p < LOW),
            };
            // A value nearer to sigma than those found would be missed if the polynomial is smaller there than at all
            // of them.
            let floor = found.values.last().copied().unwrap_or(0.0);
            let last = values.get(wanted - 1).copied();
            let reach = last.map_or(0.0, |v| (v - self.task.sigma).abs());
            let is_part = transform.is_interior() && found.values.len() < dimension;
            let hides = is_part && transform.dips(self.task.sigma, reach, floor);
            // The search separates values of the polynomial that differ by more than a margin, and so eigenvalues that
            // differ by `open`. Where an eigenvalue is nearer to sigma than the last one by more than that, the
            // polynomial must be larger than at all values left out.
            let open = self.task.settings.margin(reach, norm).max(NEARLY * reach);
            let rise = if is_part && reach > open {
                transform.least(self.task.sigma, reach - open) - floor
            } else {
                f64::INFINITY
            };
            let is_sure = self.within.verify == Verify::Off || found.verified;
            let blurred = rise <= settings.margin(floor, 1.0) || (is_part && !is_sure);
            let ended = found.reason != Reason::Restarts && !low && !hides;
            let good = ended && !blurred && converged >= wanted.min(values.len());
            // Of an end of the spectrum, a run that did not end has had all restarts that are left or affordable.
            let is_spent = self.counts.restarts >= most
                || self.products >= self.budget
                || (!transform.is_interior() && found.reason == Reason::Restarts);
            if good || is_spent || turn == TURNS {
                self.counts.norm = norm;
                let reason = if good { Reason::Converged } else { Reason::Restarts };
                // Pairs in the interior of the spectrum may not be the nearest ones.
                let converged = if transform.is_interior() && !good { 0 } else { converged };
                return Ok(self.done(values, converged, recovered, good && found.verified, reason, transform.degree()));
            }
            let hopeless = blurred && settings.tolerance <= 10.0 * settings.epsilon;
            if (again.is_none() && (low || hides)) || hopeless {
                self.counts.norm = norm;
                return Ok(self.done(values, 0, recovered, false, Reason::Restarts, transform.degree()));
            }
            match again {
                Some(again) if hides && !low && found.reason != Reason::Restarts && moves % 2 == 0 => {
                    // Move the polynomial so that it is equally small at both ends of the interval.
                    place = transform.balanced(self.task.sigma, reach, last.is_some_and(|v| v > self.task.sigma));
                    moves += 1;
                    transform = again(transform.degree(), place)?;
                }
                Some(again) if !ended => {
                    moves += 1;
                    transform = again((transform.degree() * 3 / 5).max(4), place)?;
                }
                _ => {
                    let finer = if rise.is_finite() { 0.05 * rise } else { f64::INFINITY };
                    settings.tolerance = (0.1 * settings.tolerance).min(finer).max(10.0 * settings.epsilon);
                }
            }
            self.merge(values.len())?;
            started = true;
        }
        Err(Error::Internal("a filter without an end".into()))
    }

    /// Eigenvalues at an end of the spectrum.
    fn end(&mut self) -> Result<Filtered> {
        let (known, which, many) = (self.task.known, self.task.settings.which, self.within.count);
        let [low, high] = self.probe(PROBE, 0)?.2;
        if self.is_point([low, high]) {
            return self.unfiltered(self.task.started);
        }
        let mut counts = Counts::begin(self.krylov, 0);
        let brief = Settings { restarts: 2, verify: Verify::Off, ..self.within };
        let search = Search {
            locked: known,
            count: many,
            which,
            basis: brief.basis,
            stop: None,
            started: self.task.started,
            tested: false,
            settings: &brief,
        };
        let first = run(self.krylov, &search, &mut counts, self.small, self.report)?;
        self.products += counts.products;
        self.within.drawn = counts.drawn;
        let is_chosen = self.task.degree == 0;
        if is_chosen && (counts.breakdowns > 0 || first.exhausted || first.converged == first.values.len()) {
            // A space that is invariant after so few steps holds all eigenvectors that a polynomial could enlarge.
            self.merge(first.values.len())?;
            return self.unfiltered(true);
        }
        let far = if which == Which::Largest { low } else { high };
        let norm = counts.norm.max(self.norm_of([low, high]));
        let wanted = self.task.settings.count;
        let (degree, epsilon) = (self.task.degree, self.within.epsilon);
        let filter =
            |values: &[f64]| end_filter(values, wanted, (far, clearance(values, norm, epsilon)), degree, epsilon);
        let mut transform = filter(&first.values);
        self.merge(first.values.len())?;
        if self.task.degree == 0 {
            // One cycle gives a much better estimate of the last wanted value.
            let brief = Settings { which: Which::Largest, restarts: 0, verify: Verify::Off, ..self.within };
            let (_, values, _) = self.stage(&transform, &brief, true)?;
            transform = filter(&values);
            self.merge(values.len())?;
        }
        if is_chosen {
            self.budget = self.products.saturating_add(self.task.effort(self.krylov.order()));
        }
        let found = self.within_half(|solve| solve.finish(transform, norm, wanted, true, None))?;
        if found.solved.reason != Reason::Restarts || !is_chosen {
            return Ok(found);
        }
        // Rounding errors of a polynomial of a high degree may exceed the tolerance.
        self.merge(found.solved.values.len())?;
        self.unfiltered(true)
    }

    /// Runs `work` with half of the restarts if the degree is chosen here. The other half is left for a fallback.
    fn within_half(&mut self, work: impl FnOnce(&mut Self) -> Result<Filtered>) -> Result<Filtered> {
        let restarts = self.within.restarts;
        if self.task.degree == 0 {
            self.within.restarts = restarts.div_ceil(2);
        }
        let found = work(self);
        self.within.restarts = restarts;
        found
    }

    /// Eigenvalues nearest to sigma, within the spectrum.
    fn interior(&mut self) -> Result<Filtered> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut points, mut weights): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut is_whole = false;
        for vector in 0..2 {
            let (nodes, shares, bounds) = self.probe(DENSITY, vector)?;
            is_whole |= nodes.len() < DENSITY;
            (low, high) = (low.min(bounds[0]), high.max(bounds[1]));
            points.extend(nodes);
            weights.extend(shares.iter().map(|w| 0.5 * w));
        }
        if self.is_point([low, high]) {
            return self.unfiltered(self.task.started);
        }
        let (many, n) = (self.within.count, self.krylov.order());
        let share = 1.5 * many as f64 / n as f64;
        let width = window(&points, &weights, self.task.sigma, share, COPIES * (high - low));
        let Task { sigma, degree, started, .. } = self.task;
        let norm = self.norm_of([low, high]);
        self.counts.norm = norm;
        if is_whole && degree == 0 {
            // There are so few distinct eigenvalues that a Krylov space holds them all.
            self.budget = self.products.saturating_add(self.task.effort(n));
            let found = self.folded([low, high], started)?;
            return self.or_whole(found);
        }
        let mut again: Option<&dyn Fn(usize, f64) -> Result<Transform>> = None;
        // With too high a degree the polynomial is hardly larger at the wanted values than at the others.
        let other = |degree: usize, place: f64| delta_filter([low, high], place, width, (degree, MOST_DEGREE));
        let mut most = MOST_DEGREE;
        if degree == 0 {
            let effort = self.task.effort(n);
            // A folded solve may take as many products again.
            most = self.affordable(effort);
            self.budget = self.products.saturating_add(effort);
            again = Some(&other);
        }
        let transform = delta_filter([low, high], sigma, width, (degree, most))?;
        let found = self.within_half(|solve| solve.finish(transform, norm, many, started, again))?;
        if found.solved.reason != Reason::Restarts || degree > 0 {
            return Ok(found);
        }
        if self.task.may_be_whole(n) {
            return self.or_whole(found);
        }
        self.budget = self.products.saturating_add(self.task.effort(n));
        self.folded([low, high], false)
    }

    /// The largest degree for which `effort` products pay for at least four cycles.
    fn affordable(&self, effort: usize) -> usize {
        (effort / (4 * self.within.basis)).clamp(8, MOST_DEGREE)
    }

    /// Returns `found`; if it is incomplete and the matrix is small, computes all pairs and returns the nearest.
    fn or_whole(&mut self, found: Filtered) -> Result<Filtered> {
        let is_done = found.solved.reason != Reason::Restarts && found.solved.converged == found.solved.values.len();
        if is_done || !self.task.may_be_whole(self.krylov.order()) { Ok(found) } else { self.whole(false) }
    }

    /// Eigenvalues nearest to sigma, as the smallest of (A - sigma I)^2. A polynomial of that matrix decreases with the
    /// distance from sigma only, however many copies the neighbouring eigenvalues have.
    fn folded(&mut self, [low, high]: [f64; 2], started: bool) -> Result<Filtered> {
        let (many, sigma) = (self.within.count, self.task.sigma);
        let norm = self.norm_of([low, high]);
        let far = squared_distance(sigma, [low, high], self.within.epsilon)?;
        let whole = Transform::End { center: 0.5 * far, half: 0.5 * far, top: 0.0, degree: 1, fold: Some(sigma) };
        let settings = Settings { which: Which::Largest, verify: Verify::Off, restarts: 2, ..self.within };
        let breakdowns = self.counts.breakdowns;
        let (found, values, _) = self.stage(&whole, &settings, started)?;
        self.merge(values.len())?;
        if self.counts.breakdowns > breakdowns || found.converged == found.values.len() {
            return self.finish(whole, norm, many, true, None);
        }
        let places =
            |by: &Transform, found: &Solved| -> Vec<f64> { found.values.iter().map(|p| by.place(*p)).collect() };
        let wanted = self.task.settings.count;
        // A product of the square is as inexact as one of A - sigma I, times the largest distance from sigma.
        let epsilon = self.within.epsilon;
        let rounding = epsilon * (norm / far.sqrt()).max(1.0);
        let most = self.affordable(self.task.effort(self.krylov.order())) / 2;
        let filter = |values: &[f64]| {
            let of = |degree| end_filter(values, wanted, (far, clearance(values, far, rounding)), degree, epsilon);
            let chosen = of(0);
            if chosen.degree() > most { of(most).folded(sigma) } else { chosen.folded(sigma) }
        };
        let first = filter(&places(&whole, &found));
        let settings = Settings { restarts: 0, drawn: self.within.drawn, ..settings };
        let (found, values, _) = self.stage(&first, &settings, true)?;
        self.merge(values.len())?;
        let transform = filter(&places(&first, &found));
        self.finish(transform, norm, many, true, None)
    }
}
