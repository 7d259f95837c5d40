//! A whole call: what is known beforehand goes into columns, a method finds vectors, and residuals come from these.

use std::time::Instant;

use super::super::info::{Info, Pairs, Reason};
use super::super::krylov::Columns;
use super::super::options::{Filter, Method, Options, Settings, Which};
use super::super::shared::Shares;
use super::filter::{self, Task};
use super::restart::{Counts, Report};
use super::transform::{Transform, Transformed};
use super::verify::{Solved, Web, columns, solve};
use super::{PROBES, Small, finite, plain};
use crate::alloc;
use crate::error::{Error, Result};
use crate::matrix::DenseMut;
use crate::scalar::Scalar;

/// Where eigenvectors go.
pub enum Vectors<'a> {
    /// To the host, with the values.
    Returned,
    /// To a matrix on the context's device, column-major, n-by-k.
    Device(DenseMut<'a>),
    /// Nowhere.
    Left,
}

/// What a call asks for.
pub struct Job<'a, T> {
    options: &'a Options,
    settings: Settings,
    n: usize,
    start: Option<&'a [T]>,
    deflate: &'a [T],
    inverse: bool,
    web: Option<Web<'a>>,
}

impl<'a, T: Scalar> Job<'a, T> {
    /// Checks options and vectors for an operator of order `n`; `inverse` says that the caller has a solve.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming what is out of range, or excludes something else.
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
        let settings = options.settle(n, deflate.len() / n, T::DTYPE)?;
        if inverse {
            let problem = match options {
                Options { which, .. } if *which != Which::Nearest => {
                    format!("is given, which is {which:?}, not Nearest")
                }
                Options { method: Method::Plain, .. } => "is given, the plain recurrence has none".into(),
                Options { filter: Filter::Chebyshev, .. } => "is given, and a filter too".into(),
                _ => String::new(),
            };
            if !problem.is_empty() {
                return Err(Error::invalid("solve", problem));
            }
        }
        if options.method == Method::Plain && !deflate.is_empty() {
            return Err(Error::invalid("deflate", "is given, the plain recurrence keeps nothing out"));
        }
        for (name, v) in [("deflate", deflate), ("start", start.unwrap_or_default())] {
            if let Some(i) = v.iter().position(|x| !(x.re().is_finite() && x.im().is_finite())) {
                return Err(Error::invalid(name, format!("element {i} is not finite")));
            }
        }
        if let Some(start) = start.filter(|s| s.len() != n) {
            return Err(Error::invalid("start", format!("has {} elements, {n} are needed", start.len())));
        }
        Ok(Self { options, settings, n, start, deflate, inverse, web: None })
    }

    /// Lets the job look at the operator's graph.
    pub fn with_web(self, web: Option<Web<'a>>) -> Self {
        Self { web, ..self }
    }

    /// Pairs that are asked for.
    pub fn count(&self) -> usize {
        self.options.count
    }

    fn known(&self) -> usize {
        self.deflate.len() / self.n
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
            known: self.known(),
            started: self.start.is_some(),
            // A polynomial's values are others.
            web: self.web.map(|web| Web { isolated: None, ..web }),
        }
    }

    /// Columns that the backend has to have.
    pub fn columns(&self) -> usize {
        match self.options.method {
            Method::Plain => plain::columns(&self.settings),
            Method::ThickRestart if self.is_filtered() => self.task().columns(self.n),
            Method::ThickRestart => columns(&self.settings, self.known()),
        }
    }

    /// Runs the method that the options name.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for vectors that are zero or dependent, and a solve that is none; [`Error::Numerical`] for
    /// products that are not finite; what the backend reports.
    pub fn run<'r>(
        &self,
        krylov: &mut Columns<'_, T>,
        vectors: Vectors<'_>,
        small: &mut Small<'r, T::Wide>,
        report: &mut Report<'r>,
    ) -> Result<Pairs<T>> {
        let begin = Instant::now();
        let (known, started) = (self.known(), self.start.is_some());
        let mut degree = 0;
        let solved = if self.options.method == Method::Plain {
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
                let mut inverted = Transformed { inner: &mut *krylov, transform: Transform::Inverse, work: 0 };
                let inverted: &mut Columns<'_, T> = &mut inverted;
                let mut found = solve(inverted, &self.settings, known, started, self.web, small, report)?;
                found.values.iter_mut().for_each(|v| *v = self.options.sigma + 1.0 / *v);
                found
            } else {
                solve(krylov, &self.settings, known, started, self.web, small, report)?
            }
        };
        let (residuals, norm) = self.residuals(krylov, &solved)?;
        let count = solved.values.len();
        let length = if matches!(vectors, Vectors::Returned) { self.n * count } else { 0 };
        let mut returned = alloc::filled("eigenvectors", length, T::default())?;
        match vectors {
            Vectors::Returned => krylov.oriented(known, &mut returned)?,
            Vectors::Device(mut to) => krylov.deliver(known, count, &mut to)?,
            Vectors::Left => {}
        }
        let info = Info {
            reason: solved.reason,
            converged: solved.converged,
            products: solved.counts.products,
            restarts: solved.counts.restarts,
            breakdowns: solved.counts.breakdowns,
            recovered: solved.recovered,
            basis: self.settings.basis,
            degree,
            norm,
            seconds: begin.elapsed().as_secs_f64(),
            shares: Shares::default(),
        };
        Ok(Pairs { values: solved.values, vectors: returned, residuals, info })
    }

    fn plain(&self, krylov: &mut Columns<'_, T>, report: &mut Report<'_>) -> Result<Solved> {
        if let Some(start) = self.start {
            krylov.write(start, plain::start_column(&self.settings))?;
        }
        let found = plain::solve(krylov, &self.settings, self.options.sigma, self.start.is_some(), report)?;
        let complete = found.values.len() == self.settings.count;
        let reason = match (found.exhausted, complete) {
            (true, _) => Reason::Exhausted,
            (false, true) => Reason::Converged,
            (false, false) => Reason::Restarts,
        };
        let counts = Counts { products: found.products, norm: found.norm, ..Counts::default() };
        Ok(Solved { converged: found.values.len(), values: found.values, reason, recovered: 0, counts })
    }

    /// ||A x - lambda x|| of every pair, and an estimate of ||A||.
    fn residuals(&self, krylov: &mut Columns<'_, T>, solved: &Solved) -> Result<(Vec<f64>, f64)> {
        let (known, count) = (self.known(), solved.values.len());
        let work = known + count;
        let residuals = krylov.residuals(known, &solved.values, work)?;
        residuals.iter().try_for_each(|r| finite(*r, "a residual").map(drop))?;
        if !self.inverse {
            return Ok((residuals, solved.counts.norm));
        }
        // Norms met were those of the inverse. A random vector tells how large the matrix is on the whole.
        krylov.random(self.settings.seed, PROBES, work)?;
        let length = krylov.distance(work, 0.0, work)?;
        krylov.apply(work, work + 1)?;
        let typical = finite(krylov.distance(work + 1, 0.0, work)?, "the norm of a product")? / length;
        let norm = solved.values.iter().fold(typical, |most, v| most.max(v.abs()));
        if let Some(i) = residuals.iter().take(solved.converged).position(|r| *r > 1e-3 * norm) {
            let problem = format!(
                "is not the inverse of A - sigma I: vector {i} it gave has residual {} for a matrix of size {norm}",
                residuals[i]
            );
            return Err(Error::invalid("solve", problem));
        }
        Ok((residuals, norm))
    }
}

/// Puts a vector into column `j`, orthogonal to those before it and of norm 1.
fn lock<T: Scalar>(krylov: &mut Columns<'_, T>, argument: &str, v: &[T], j: usize) -> Result<()> {
    krylov.write(v, j)?;
    let p = krylov.orthogonalise(j, j)?;
    // Rounding alone leaves this much of a vector that depends on the others.
    if p.after <= 1e-6 * p.before || p.before == 0.0 {
        let problem = if p.before == 0.0 { "is 0" } else { "depends on the vectors before it" };
        return Err(Error::invalid(argument, format!("vector {j} {problem}")));
    }
    krylov.scale(j, 1.0 / p.after)?;
    let again = krylov.orthogonalise(j, j)?;
    krylov.scale(j, 1.0 / again.after)
}
