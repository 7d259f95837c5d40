//! Thick-restart Lanczos.

use super::super::krylov::Krylov;
use super::super::options::{Settings, Which};
use super::{Small, finite};
use crate::alloc;
use crate::error::Result;

const WHAT: &str = "Lanczos iteration";

/// Counts that several runs add to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Products with the matrix.
    pub products: usize,
    /// Restarts.
    pub restarts: usize,
    /// Invariant spaces met.
    pub breakdowns: usize,
    /// Random vectors drawn.
    pub drawn: u32,
    /// Largest norm of A v met.
    pub norm: f64,
}

/// What is asked of a run.
pub struct Search<'a> {
    /// Columns that are known and kept out of the space; they come first.
    pub locked: usize,
    /// Pairs wanted.
    pub count: usize,
    /// Which.
    pub which: Which,
    /// Vectors of the Krylov space.
    pub basis: usize,
    /// Ends the run when the best value, with its residual, is clearly not wanted more than this.
    pub stop: Option<f64>,
    /// Whether column `locked` holds a start vector.
    pub started: bool,
    /// The rest.
    pub settings: &'a Settings,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Found {
    /// The values, most wanted first; column `locked + i` holds the vector of the i-th.
    pub values: Vec<f64>,
    /// How many of them have converged.
    pub converged: usize,
    /// Whether the space is the whole of what is not locked.
    pub exhausted: bool,
    /// Whether the run was stopped since nothing better can come.
    pub stopped: bool,
}

/// Told after every cycle: converged pairs, and the largest residual of those wanted, in units of the tolerance.
pub type Report<'a> = dyn FnMut(usize, f64) -> Result<()> + 'a;

/// A run in progress.
struct Run<'a, K> {
    krylov: &'a mut K,
    search: &'a Search<'a>,
    counts: &'a mut Counts,
    /// The projected matrix, m-by-m.
    t: Vec<f64>,
    m: usize,
}

/// Finds pairs of the operator on the complement of the locked columns, which are left as they are.
///
/// # Errors
/// [`crate::error::Error::Numerical`] for products that are not finite; what the backend reports.
pub fn run<K: Krylov>(
    krylov: &mut K,
    search: &Search<'_>,
    counts: &mut Counts,
    small: &mut Small<'_>,
    report: &mut Report<'_>,
) -> Result<Found> {
    let m = search.basis;
    let t = alloc::filled(WHAT, m * m, 0.0)?;
    let mut run = Run { krylov, search, counts, t, m };
    let mut kept = 0;
    let o = search.locked;
    if search.started {
        run.krylov.orthogonalise(o, o).and_then(|p| run.normalise(o, p.after))?;
    } else if !run.fresh(o)? {
        return Ok(Found { values: Vec::new(), converged: 0, exhausted: true, stopped: false });
    }
    let mut restart = 0;
    loop {
        let (size, beta) = run.cycle(kept)?;
        let exhausted = size < m || beta == 0.0;
        let (theta, y) = run.projected(size, small)?;
        let order = search.which.order(&theta);
        let residual = |i: usize| if exhausted { 0.0 } else { beta * y[i * size + size - 1].abs() };
        let floor = search.settings.epsilon.powf(2.0 / 3.0) * run.counts.norm;
        let near = |i: usize| residual(i) / (search.settings.tolerance * theta[i].abs().max(floor));
        let wanted = search.count.min(size);
        let converged = order[..wanted].iter().take_while(|&&i| exhausted || near(i) <= 1.0).count();
        let worst = order[..wanted].iter().map(|&i| if exhausted { 0.0 } else { near(i) }).fold(0.0, f64::max);
        report(converged, worst)?;
        let stopped = search.stop.is_some_and(|limit| {
            let best = order[0];
            let reach = match search.which {
                Which::Smallest => theta[best] - residual(best),
                Which::LargestMagnitude | Which::Nearest => theta[best].abs() + residual(best),
                Which::Largest | Which::BothEnds => theta[best] + residual(best),
            };
            // Only a value whose residual is small has an eigenvalue of its own nearby.
            residual(best) < 1e-2 * theta[best].abs().max(floor) && !beats(search.which, reach, limit)
        });
        let done = converged == wanted || exhausted || stopped;
        if done || restart >= search.settings.restarts {
            let picked = run.pick(&order[..wanted], &y, size)?;
            run.krylov.rotate(o, size, &picked, wanted)?;
            let values = order[..wanted].iter().map(|&i| theta[i]).collect();
            return Ok(Found { values, converged, exhausted, stopped });
        }
        run.counts.restarts += 1;
        // More than are wanted: markedly fewer products than to keep those alone.
        let keep = (search.count + 1).max(converged + (m - converged) / 2).min(m.saturating_sub(3)).max(1);
        let picked = run.pick(&order[..keep], &y, size)?;
        run.krylov.rotate(o, size, &picked, keep)?;
        run.krylov.copy(o + size, o + keep)?;
        run.t.fill(0.0);
        for (at, &i) in order[..keep].iter().enumerate() {
            run.t[at * m + at] = theta[i];
            let arrow = beta * y[i * size + size - 1];
            run.t[at * m + keep] = arrow;
            run.t[keep * m + at] = arrow;
        }
        kept = keep;
        restart += 1;
    }
}

/// Whether a value is wanted more than `limit`.
pub fn beats(which: Which, value: f64, limit: f64) -> bool {
    match which {
        Which::Smallest => value < limit,
        Which::LargestMagnitude | Which::Nearest => value.abs() > limit.abs(),
        Which::Largest | Which::BothEnds => value > limit,
    }
}

impl<K: Krylov> Run<'_, K> {
    /// Columns of `y` in a given order.
    fn pick(&self, order: &[usize], y: &[f64], size: usize) -> Result<Vec<f64>> {
        let mut picked = alloc::with_capacity(WHAT, order.len() * size)?;
        for &i in order {
            picked.extend_from_slice(&y[i * size..(i + 1) * size]);
        }
        Ok(picked)
    }

    fn normalise(&mut self, column: usize, norm: f64) -> Result<()> {
        self.krylov.scale(column, 1.0 / finite(norm, "a norm")?)
    }

    /// A random unit vector in column `column`, orthogonal to all before it; false if there is none.
    fn fresh(&mut self, column: usize) -> Result<bool> {
        if column >= self.krylov.order() {
            return Ok(false);
        }
        for _ in 0..3 {
            self.krylov.random(self.search.settings.seed, self.counts.drawn, column)?;
            self.counts.drawn += 1;
            let p = self.krylov.orthogonalise(column, column)?;
            if p.after > 1e-6 * finite(p.before, "the norm of a random vector")? {
                self.normalise(column, p.after)?;
                // What was left of a short remainder is orthogonal only to its own size.
                let again = self.krylov.orthogonalise(column, column)?;
                self.normalise(column, again.after)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Steps `from .. m`: the size of the space, and the norm of what leads out of it, 0 where nothing does.
    fn cycle(&mut self, from: usize) -> Result<(usize, f64)> {
        let (o, m) = (self.search.locked, self.m);
        for j in from..m {
            self.krylov.apply(o + j, o + j + 1)?;
            self.counts.products += 1;
            let p = self.krylov.orthogonalise(o + j + 1, o + j + 1)?;
            self.counts.norm = self.counts.norm.max(finite(p.before, "the norm of a product")?);
            self.t[j * m + j] = finite(p.along, "a coefficient")?;
            if j + 1 == m && o + m >= self.krylov.order() {
                // The space is the whole: what is left is rounding.
                return Ok((m, 0.0));
            }
            if p.after > 10.0 * self.search.settings.epsilon * self.counts.norm {
                self.normalise(o + j + 1, p.after)?;
                if j + 1 == m {
                    return Ok((m, p.after));
                }
                self.t[j * m + j + 1] = p.after;
                self.t[(j + 1) * m + j] = p.after;
                continue;
            }
            self.counts.breakdowns += 1;
            if !self.fresh(o + j + 1)? {
                return Ok((j + 1, 0.0));
            }
            if j + 1 == m {
                // The space is invariant, but there is more outside of it: its own pairs are exact, and the random
                // vector leads on with a coupling of nothing.
                return Ok((m, f64::MIN_POSITIVE));
            }
        }
        Ok((m, 0.0))
    }

    /// Eigenvalues and eigenvectors of the leading `size` rows and columns of T.
    fn projected(&self, size: usize, small: &mut Small<'_>) -> Result<(Vec<f64>, Vec<f64>)> {
        let mut t = alloc::with_capacity(WHAT, size * size)?;
        for column in self.t.chunks_exact(self.m).take(size) {
            t.extend_from_slice(&column[..size]);
        }
        if t.iter().all(|v| *v == 0.0) {
            // Exactly so; solvers give it the least of their numbers.
            (0..size).for_each(|i| t[i * size + i] = 1.0);
            return Ok((alloc::filled(WHAT, size, 0.0)?, t));
        }
        small(size, &t)
    }
}
