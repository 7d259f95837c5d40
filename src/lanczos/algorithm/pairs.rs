//! A whole call: writes the caller's vectors to columns, runs a method, and computes residuals from the vectors found.

use std::time::Instant;

use super::super::cycles::Columns;
use super::super::gpu::Passing;
use super::super::info::{Choice, Info, Pairs, Reason, Shares};
use super::super::options::{Filter, Method, Options, Orthogonalization, Settings, Which};
use super::super::tridiagonal::ends;
use super::cullum::recurrence;
use super::filter::{self, Task};
use super::given;
use super::restart::{Counts, Report};
use super::scale::{expect_scale, put};
use super::symmetry::{asymmetry, explain};
use super::transform::{Transform, Transformed};
use super::verify::{Solved, columns, largest_order, solve};
use super::{PROBES, Small, finite, plain};
use crate::alloc;
use crate::choice::word;
use crate::error::{Error, Result};
use crate::matrix::DenseMut;
use crate::scalar::Scalar;

/// Steps of the recurrence that estimates the norm of a matrix, after an iteration with its inverse.
const NORM_STEPS: usize = 8;

/// Largest residual, as a fraction of ||A||, that rounding can explain. Above it, the caller's solve is not an inverse
/// of A - sigma I.
const FAR: f64 = 0.1;

/// Refinements of a solve with an inverse that may follow each other without a smaller residual.
const STALE: usize = 4;

/// The destination of eigenvectors.
pub enum Vectors<'a> {
    /// They are returned in host memory, with the values.
    Returned,
    /// They are written to a matrix on the context's device, column-major, n-by-k.
    Device(DenseMut<'a>),
    /// They are not returned: only values are.
    Left,
}

/// A call with its options and vectors, checked.
pub struct Job<'a, T> {
    options: &'a Options,
    settings: Settings,
    n: usize,
    start: Option<&'a [T]>,
    deflate: &'a [T],
    /// Number of known vectors, which pairs are kept orthogonal to.
    known: usize,
    inverse: bool,
}

impl<'a, T: Scalar> Job<'a, T> {
    /// Checks options and vectors for an operator of order `n`; `inverse` says that the caller has a solve.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming an argument that is out of range, or that excludes another.
    pub fn new(
        options: &'a Options,
        n: usize,
        start: Option<&'a [T]>,
        deflate: &'a [T],
        inverse: bool,
    ) -> Result<Self> {
        if !deflate.len().is_multiple_of(n) {
            let problem = format!("has {} elements, a multiple of {n} is needed", deflate.len());
            return Err(Error::invalid("deflate", problem));
        }
        let planned = Self::planned(options, n, deflate.len() / n, inverse)?;
        for (name, v) in [("deflate", deflate), ("start", start.unwrap_or_default())] {
            if let Some(i) = v.iter().position(|x| !(x.re().is_finite() && x.im().is_finite())) {
                return Err(Error::invalid(name, format!("element {i} is not finite")));
            }
        }
        if let Some(start) = start.filter(|s| s.len() != n) {
            return Err(Error::invalid("start", format!("has {} elements, {n} are needed", start.len())));
        }
        Ok(Self { start, deflate, ..planned })
    }

    /// Checks the options of a call with `known` known vectors, without the vectors: for the plan of a call.
    ///
    /// # Errors
    /// As [`Job::new`], but for those of the vectors.
    pub fn planned(options: &'a Options, n: usize, known: usize, inverse: bool) -> Result<Self> {
        let settings = options.resolve(n, known, T::DTYPE)?;
        if inverse {
            let problem = match options {
                Options { which, .. } if *which != Which::Nearest => {
                    format!("is given, but which = {}: NEAREST is needed", word(*which))
                }
                Options { method: Method::Plain, .. } => "is given, the plain recurrence has none".into(),
                Options { filter: Filter::Chebyshev, .. } => "is given, and a filter too".into(),
                Options { degree, .. } if *degree != 0 => {
                    return Err(Error::invalid("degree", format!("is {degree}, with a solve there is no filter")));
                }
                _ => String::new(),
            };
            if !problem.is_empty() {
                return Err(Error::invalid("solve", problem));
            }
        }
        if options.method == Method::Plain && known > 0 {
            return Err(Error::invalid("deflate", "is given, the plain recurrence keeps nothing out"));
        }
        if options.orthogonalization == Orthogonalization::Partial && known > 0 {
            let problem = "is partial, a space orthogonal to known vectors is orthogonalized in full";
            return Err(Error::invalid("orthogonalization", problem));
        }
        let is_implied = options.which == Which::Nearest && !inverse && options.method != Method::Plain;
        if is_implied && options.block > 1 {
            return Err(Error::invalid(
                "block",
                "is set, NEAREST without a solve takes a filter, which has single vectors",
            ));
        }
        Ok(Self { options, settings, n, start: None, deflate: &[], known, inverse })
    }

    /// Order n of the operator.
    pub fn order(&self) -> usize {
        self.n
    }

    /// Number of pairs that the caller asks for.
    pub fn count(&self) -> usize {
        self.options.count
    }

    fn is_filtered(&self) -> bool {
        let nearest = self.options.which == Which::Nearest && !self.inverse;
        self.options.method != Method::Plain && (nearest || self.options.filter == Filter::Chebyshev)
    }

    fn task(&self) -> Task<'_> {
        Task {
            settings: &self.settings,
            sigma: self.options.sigma,
            degree: self.options.degree,
            is_automatic: self.options.basis == 0 && self.options.degree == 0,
            known: self.known,
            started: self.start.is_some(),
        }
    }

    /// Why this method and this space are used.
    pub fn choice(&self) -> Choice {
        match self.options {
            Options { method: Method::Plain, .. } => Choice::Plain,
            Options { filter: Filter::Chebyshev, .. } => Choice::Filter,
            Options { which: Which::Nearest, .. } => Choice::Nearest,
            _ if self.settings.basis + self.known == self.n => Choice::Whole,
            _ => Choice::Restarts,
        }
    }

    /// Largest order of a projected problem; 0 if there is none.
    pub fn projected(&self) -> usize {
        match self.options.method {
            Method::Plain => 0,
            Method::ThickRestart if self.is_filtered() => self.task().projected(self.n),
            Method::ThickRestart => largest_order(&self.settings, self.n - self.known),
        }
    }

    /// Vectors m of the Krylov space.
    pub fn basis(&self) -> usize {
        self.settings.basis
    }

    /// Number of columns that the backend must have.
    pub fn columns(&self) -> usize {
        match self.options.method {
            Method::Plain => plain::columns(&self.settings),
            Method::ThickRestart if self.is_filtered() => self.task().columns(self.n),
            Method::ThickRestart => columns(&self.settings, self.known),
        }
    }

    /// Vectors that the operator is applied to at once.
    pub fn width(&self) -> usize {
        if self.is_filtered() || self.options.method == Method::Plain { 1 } else { self.settings.block }
    }

    /// The sizes of the operations on columns, but for those that the operator decides.
    pub fn passing(&self) -> Passing {
        let (order, count) = (self.projected(), self.count());
        let is_partial = self.settings.orthogonalization == Orthogonalization::Partial && !self.is_filtered();
        let watched = if is_partial { order } else { 0 };
        Passing { rotated: order, multiplied: count.max(watched), count, watched, ..Passing::default() }
    }

    /// Runs the method that the options name.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for vectors that are zero or linearly dependent, for known vectors whose products
    /// leave their span, if not all pairs converge, and for a solve that is not the inverse; [`Error::Numerical`] if
    /// products are not finite; errors of the backend.
    pub fn run<'r>(
        &self,
        krylov: &mut Columns<'_, T>,
        vectors: Vectors<'_>,
        small: &mut Small<'r, T::Wide>,
        report: &mut Report<'r>,
    ) -> Result<Pairs<T>> {
        let found = self.pairs(krylov, vectors, small, report);
        if self.inverse && matches!(found, Err(Error::Numerical(_))) {
            // Of a solve that gives zeros the values are infinite, and no residual is finite.
            given::expect_inverse(krylov, self.options.sigma, 0)?;
        }
        found
    }

    fn pairs<'r>(
        &self,
        krylov: &mut Columns<'_, T>,
        vectors: Vectors<'_>,
        small: &mut Small<'r, T::Wide>,
        report: &mut Report<'r>,
    ) -> Result<Pairs<T>> {
        let begin = Instant::now();
        let (known, started) = (self.known, self.start.is_some());
        let mut degree = 0;
        let mut solved = if self.options.method == Method::Plain {
            self.plain(krylov, report)?
        } else {
            for (j, column) in self.deflate.chunks_exact(self.n).enumerate() {
                lock(krylov, "deflate", column, j)?;
            }
            if let Some(start) = self.start {
                lock(krylov, "start", start, known)?;
            }
            if self.is_filtered() {
                let found = filter::solve(krylov, self.task(), small, report)?;
                degree = found.degree;
                found.solved
            } else if self.inverse {
                self.inverted(krylov, known, started, &self.settings, small, report)?
            } else {
                // Rounding errors along the known vectors are relative to their eigenvalues.
                let norm = self.norm_of_known(krylov)?;
                let mut found = solve(krylov, &Settings { norm, ..self.settings }, known, started, small, report)?;
                found.counts.products += known;
                found
            }
        };
        let claimed = solved.converged;
        let (mut residuals, mut norm, mut orthogonality) = self.examine(krylov, &mut solved)?;
        let is_partial = self.settings.orthogonalization == Orthogonalization::Partial;
        if solved.converged < claimed && is_partial && !self.inverse {
            let settings =
                Settings { orthogonalization: Orthogonalization::Full, drawn: solved.counts.drawn, ..self.settings };
            let before = solved.counts;
            solved = solve(krylov, &settings, known, false, small, report)?;
            solved.counts.products += before.products;
            solved.counts.restarts += before.restarts;
            solved.counts.breakdowns += before.breakdowns;
            (residuals, norm, orthogonality) = self.examine(krylov, &mut solved)?;
        }
        let worst = |residuals: &[f64]| residuals.iter().copied().fold(0.0, f64::max);
        let (mut best, mut stale) = (worst(&residuals), 0);
        let may_be_inverse = |solved: &Solved, residuals: &[f64], norm: f64| {
            residuals.get(solved.converged).is_none_or(|residual| *residual <= FAR * norm)
        };
        while self.inverse
            && solved.reason == Reason::Contradicted
            && stale < STALE
            && may_be_inverse(&solved, &residuals, norm)
        {
            let accurate = self.accurate(&solved, &residuals, norm);
            self.refine(krylov, &mut solved, accurate, small, report)?;
            (residuals, norm, orthogonality) = self.examine(krylov, &mut solved)?;
            let is_better = worst(&residuals) < 0.5 * best || self.accurate(&solved, &residuals, norm) > accurate;
            stale = if is_better { 0 } else { stale + 1 };
            best = best.min(worst(&residuals));
        }
        let count = solved.values.len();
        let is_incomplete = solved.converged < self.settings.count;
        // Known vectors come first: residuals that they cause are not the solve's.
        let mut coupling = 0.0;
        if is_incomplete && known > 0 {
            coupling = given::expect_invariant(krylov, known, norm, known + count)?;
            solved.counts.products += known;
        }
        if self.inverse {
            expect_inverse(&solved, &residuals, norm)?;
            if is_incomplete {
                given::expect_inverse(krylov, self.options.sigma, known + count)?;
                solved.counts.products += given::INVERSE_PRODUCTS;
            }
        }
        // Two more products show whether more restarts could help.
        let is_short = solved.reason == Reason::Restarts;
        let asymmetry = if is_short { asymmetry(krylov, known + count)? } else { 0.0 };
        let residual = residuals.iter().take(solved.converged).fold(0.0f64, |most, r| most.max(*r));
        let length = if matches!(vectors, Vectors::Returned) { self.n * count } else { 0 };
        let mut returned = alloc::filled("eigenvectors", length, T::default())?;
        match vectors {
            Vectors::Returned => krylov.oriented(known, &mut returned)?,
            Vectors::Device(mut to) => krylov.deliver(known, count, &mut to)?,
            Vectors::Left => {}
        }
        let info = Info {
            stop_reason: solved.reason,
            count,
            converged: solved.converged,
            products: solved.counts.products,
            restarts: solved.counts.restarts,
            breakdowns: solved.counts.breakdowns,
            recovered: solved.recovered,
            verified: solved.verified,
            residual,
            orthogonality,
            asymmetry,
            coupling: if coupling > self.settings.tolerance { coupling } else { 0.0 },
            basis: self.settings.basis,
            degree,
            norm,
            seconds: begin.elapsed().as_secs_f64(),
            method: self.options.method,
            reason: self.choice(),
            host_bytes: 0,
            device_bytes: 0,
            shares: Shares::default(),
        };
        Ok(Pairs { values: solved.values, vectors: returned, residuals, info })
    }

    /// A solve with the inverse, orthogonal to the first `known` columns.
    fn inverted<'r>(
        &self,
        krylov: &mut Columns<'_, T>,
        known: usize,
        started: bool,
        settings: &Settings,
        small: &mut Small<'r, T::Wide>,
        report: &mut Report<'r>,
    ) -> Result<Solved> {
        let mut inverted =
            Transformed { inner: &mut *krylov, transform: Transform::Inverse, work: 0, poll: &|| Ok(()) };
        let inverted: &mut Columns<'_, T> = &mut inverted;
        let mut found = solve(inverted, settings, known, started, small, report)?;
        found.values.iter_mut().for_each(|v| *v = self.options.sigma + 1.0 / *v);
        Ok(found)
    }

    /// How many of the first pairs have residuals that are rounding errors only.
    fn accurate(&self, solved: &Solved, residuals: &[f64], norm: f64) -> usize {
        let norm = norm + self.options.sigma.abs();
        let limit = self.settings.rounding(norm, solved.counts.restarts);
        residuals.iter().take(solved.converged).take_while(|r| **r <= limit).count()
    }

    /// Repeats a solve with the inverse for all pairs after the first `accurate`, which the new space is kept orthogonal
    /// to. It begins with the sum of the vectors found so far.
    ///
    /// The inverse has an eigenvalue of 1 / gap for a sigma at this distance from an eigenvalue. A space that begins with a
    /// random vector has its vector as a large component, and rounding errors of its products are as large as that of the
    /// 1 / gap, in all directions. For an eigenvalue 1 / (lambda - sigma) that is much smaller they are far from rounding
    /// errors. The same holds for vectors of large eigenvalues of the matrix. In a space that begins with the vectors found,
    /// or is orthogonal to the largest, such components are small from the beginning.
    fn refine<'r>(
        &self,
        krylov: &mut Columns<'_, T>,
        solved: &mut Solved,
        accurate: usize,
        small: &mut Small<'r, T::Wide>,
        report: &mut Report<'r>,
    ) -> Result<()> {
        let count = solved.values.len();
        let accurate = accurate.min(count - 1);
        let (first, before) = (self.known + accurate, solved.counts);
        for j in 1..count - accurate {
            krylov.spread(first + j, &[1.0], first, true)?;
        }
        for _ in 0..2 {
            let length = krylov.orthogonalize(first, first)?.after;
            krylov.scale(first, 1.0 / finite(length, "the norm of a vector")?)?;
        }
        let settings = Settings {
            count: count - accurate,
            basis: self.settings.basis - accurate,
            drawn: before.drawn,
            // A space orthogonal to the first pairs is orthogonalized in full and begins with one vector.
            orthogonalization: Orthogonalization::Full,
            block: 1,
            ..self.settings
        };
        let mut after = |converged: usize, worst: f64| report(accurate + converged, worst);
        let found = self.inverted(krylov, first, true, &settings, small, &mut after)?;
        solved.values.truncate(accurate);
        solved.values.extend(&found.values);
        (solved.converged, solved.reason) = (accurate + found.converged, found.reason);
        (solved.verified, solved.counts) = (found.verified, found.counts);
        solved.recovered += found.recovered;
        solved.counts.products += before.products;
        solved.counts.restarts += before.restarts;
        solved.counts.breakdowns += before.breakdowns;
        Ok(())
    }

    /// Computes the residuals of a solve's vectors, an estimate of the operator's norm, and the largest deviation of
    /// inner products. Pairs that contradict the method count as not converged.
    fn examine(&self, krylov: &mut Columns<'_, T>, solved: &mut Solved) -> Result<(Vec<f64>, f64, f64)> {
        let (residuals, norm) = self.residuals(krylov, solved)?;
        let count = solved.values.len();
        expect_scale(krylov, norm, self.known + count)?;
        let products = if count == 0 { Vec::new() } else { krylov.gram(self.known, count)? };
        let orthogonality = self.check(krylov, solved, (&residuals, &products), norm)?;
        Ok((residuals, norm, orthogonality))
    }

    /// The largest norm of a product of the operator with a known vector.
    fn norm_of_known(&self, krylov: &mut Columns<'_, T>) -> Result<f64> {
        let work = self.columns() - 1;
        let mut norm = 0.0f64;
        for j in 0..self.known {
            krylov.apply(j, work)?;
            norm = norm.max(finite(krylov.distance(work, 0.0, work)?, "the norm of a product")?);
        }
        Ok(norm)
    }

    fn plain(&self, krylov: &mut Columns<'_, T>, report: &mut Report<'_>) -> Result<Solved> {
        if let Some(start) = self.start {
            put(krylov, start, plain::start_column(&self.settings))?;
        }
        let found = plain::solve(krylov, &self.settings, self.options.sigma, self.start.is_some(), report)?;
        let complete = found.values.len() == self.settings.count;
        let reason = match (found.exhausted, complete) {
            (true, _) => Reason::Exhausted,
            (false, true) => Reason::Converged,
            (false, false) => Reason::Restarts,
        };
        let counts = Counts { products: found.products, norm: found.norm, ..Counts::default() };
        Ok(Solved {
            converged: found.values.len(),
            values: found.values,
            reason,
            recovered: 0,
            verified: false,
            counts,
        })
    }

    /// ||A x - lambda x|| of every pair, and an estimate of ||A||.
    fn residuals(&self, krylov: &mut Columns<'_, T>, solved: &mut Solved) -> Result<(Vec<f64>, f64)> {
        let (known, count) = (self.known, solved.values.len());
        let work = known + count;
        let residuals = krylov.residuals(known, &solved.values, work)?;
        residuals.iter().try_for_each(|r| finite(*r, "a residual").map(drop))?;
        if !self.inverse {
            let norm = self.confirmed_norm(krylov, solved, &residuals)?;
            return Ok((residuals, norm));
        }
        // The norms in the counts are those of the inverse. A few steps with the matrix estimate its own norm.
        krylov.random(self.settings.seed, PROBES, work)?;
        let length = krylov.distance(work, 0.0, work)?;
        krylov.scale(work, 1.0 / length)?;
        let of = recurrence(krylov, work, NORM_STEPS, self.settings.epsilon, None, &mut |_| Ok(()))?;
        let found = ends(&of.alpha, &of.beta[..of.alpha.len() - 1], &mut || Ok(()))?.values;
        let least = krylov.terms_norm();
        let norm = found.iter().chain(&solved.values).fold(least, |most, v| most.max(v.abs()));
        Ok((residuals, norm))
    }

    /// The largest norm of a product, the scale of the residual test. Where it far exceeds the values and a residual passes
    /// only by that, products with two random vectors confirm it: one wrong product of a caller's operator sets it too.
    /// A unit vector z of n random numbers has ||A z|| < ||A|| / (1e4 root n) in one case of ten thousand.
    fn confirmed_norm(&self, krylov: &mut Columns<'_, T>, solved: &mut Solved, residuals: &[f64]) -> Result<f64> {
        let norm = solved.counts.norm;
        let most = solved.values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        let relies = |r: &f64| *r > self.settings.tolerance * most;
        if norm <= 1e3 * most || !residuals.iter().take(solved.converged).any(relies) {
            return Ok(norm);
        }
        let mut least = krylov.terms_norm();
        let work = self.known + solved.values.len();
        for probe in [PROBES, PROBES + 1] {
            krylov.random(self.settings.seed, probe, work)?;
            let length = krylov.distance(work, 0.0, work)?;
            krylov.apply(work, work + 1)?;
            least = least.max(finite(krylov.distance(work + 1, 0.0, work)?, "the norm of a product")? / length);
        }
        solved.counts.products += 2;
        Ok(norm.min(1e4 * (self.n as f64).sqrt() * least))
    }

    /// The largest residual that a converged pair may have: the method's own criterion plus rounding errors.
    fn limit(&self, value: f64, norm: f64, restarts: usize) -> f64 {
        let s = &self.settings;
        if self.inverse {
            // (A - lambda) x = -(A - sigma) ((A - sigma)^-1 x - nu x) / nu, for the residual of the inverse on the right.
            let norm = norm + self.options.sigma.abs();
            return s.tolerance * norm + s.rounding(norm, restarts);
        }
        if self.is_filtered() || self.options.method == Method::Plain {
            return s.tolerance * norm + s.rounding(norm, restarts);
        }
        s.limit(value, norm) + s.rounding(norm, restarts)
    }

    /// Compares residuals and inner products (`gram`, column-major) of the vectors returned with the method's
    /// criterion. If a pair contradicts it, that pair and all later ones count as not converged. Returns the largest
    /// deviation of the inner products from those of orthonormal vectors.
    fn check(
        &self,
        krylov: &mut Columns<'_, T>,
        solved: &mut Solved,
        (residuals, gram): (&[f64], &[T::Wide]),
        norm: f64,
    ) -> Result<f64> {
        let count = solved.values.len();
        let deviation = |i: usize, j: usize| {
            let dot = gram[i * count + j];
            (dot.re() - if i == j { 1.0 } else { 0.0 }).hypot(dot.im())
        };
        let root = self.settings.epsilon.sqrt();
        // The inner product of vectors of two different eigenvalues is bounded by their residuals over the gap.
        let apart = |i: usize, j: usize| {
            let gap = (solved.values[i] - solved.values[j]).abs();
            (root + 2.0 * (residuals[i] + residuals[j]) / gap).min(0.5)
        };
        let is_orthogonal = |i: usize| deviation(i, i) <= root && (0..i).all(|j| deviation(i, j) <= apart(i, j));
        let good =
            |i: usize| residuals[i] <= self.limit(solved.values[i], norm, solved.counts.restarts) && is_orthogonal(i);
        let converged = (0..solved.converged).take_while(|&i| good(i)).count();
        let largest = (0..count).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let orthogonality = largest.fold(0.0f64, |most, (i, j)| most.max(deviation(i, j)));
        if converged < solved.converged {
            explain(krylov, self.known + count)?;
            (solved.converged, solved.verified) = (converged, false);
            // An iteration that ran out of restarts has not said that it converged, so nothing contradicts it. Pairs of the
            // caller's solve may still show that it is not the inverse.
            if self.inverse || solved.reason != Reason::Restarts {
                solved.reason = Reason::Contradicted;
            }
        }
        finite(orthogonality, "an inner product of eigenvectors")
    }
}

/// Refuses a solve if the first pair that contradicts it is no pair of the matrix, of norm `norm`.
fn expect_inverse(solved: &Solved, residuals: &[f64], norm: f64) -> Result<()> {
    let first = residuals.get(solved.converged).filter(|r| solved.reason == Reason::Contradicted && **r > 1e-3 * norm);
    let Some(residual) = first else { return Ok(()) };
    let problem = format!(
        "is not the inverse of A - sigma I: vector {} it gave has residual {residual} for a matrix of size {norm}",
        solved.converged
    );
    Err(Error::invalid("solve", problem))
}

/// Writes a vector to column `j`, made orthogonal to the columns before it and of norm 1.
fn lock<T: Scalar>(krylov: &mut Columns<'_, T>, argument: &str, v: &[T], j: usize) -> Result<()> {
    put(krylov, v, j)?;
    let p = krylov.orthogonalize(j, j)?;
    // Of a vector that depends on the others, rounding errors leave less than this.
    if p.after <= 1e-6 * p.before || p.before == 0.0 {
        let problem = if p.before == 0.0 { "is 0" } else { "depends on the vectors before it" };
        return Err(Error::invalid(argument, format!("vector {j} {problem}")));
    }
    krylov.scale(j, 1.0 / p.after)?;
    let again = krylov.orthogonalize(j, j)?;
    krylov.scale(j, 1.0 / again.after)
}
