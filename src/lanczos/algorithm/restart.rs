//! Thick-restart Lanczos: the space is reduced to its best Ritz vectors and extended again.

use super::super::cycles::Cycles;
use super::super::ops::{Poll, Projection, Space, Wide};
use super::super::options::{Orthogonalization, Settings, Which};
use super::complete::{Bounds, is_complete};
use super::partial::{Loss, straighten};
use super::{Small, finite};
use crate::alloc;
use crate::error::Result;
use crate::scalar::{Scalar, power_of_two};

const WHAT: &str = "Lanczos iteration";

/// Steps between two reports, on a backend that does not wait for each step.
pub(super) const STRETCH: usize = 64;

/// Counters that several runs increase.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Products with the operator, one a vector.
    pub products: usize,
    /// Times that the space was reduced to its best vectors.
    pub restarts: usize,
    /// How often the space was invariant.
    pub breakdowns: usize,
    /// Random vectors drawn so far: the number of the next in its stream.
    pub drawn: u32,
    /// Largest norm of A v so far, at least
    /// [`LanczosOps::terms_norm`](crate::lanczos::ops::LanczosOps::terms_norm). Rounding errors are relative to it.
    pub norm: f64,
}

impl Counts {
    /// The counters before the first product.
    pub fn begin<K: Cycles + ?Sized>(krylov: &K, drawn: u32) -> Self {
        Self { drawn, norm: krylov.terms_norm(), ..Self::default() }
    }
}

/// The task of a run.
pub struct Search<'a> {
    /// Number of known columns, which the space is kept orthogonal to; they are the first columns.
    pub locked: usize,
    /// Number of pairs that are wanted.
    pub count: usize,
    /// Which end of the spectrum, or which point, is wanted.
    pub which: Which,
    /// Vectors of the Krylov space.
    pub basis: usize,
    /// Ends the run when the best value, with its residual, is clearly not beyond this one.
    pub stop: Option<f64>,
    /// Whether column `locked` holds a start vector.
    pub started: bool,
    /// Whether to test that no wanted value is missing, once all have converged.
    pub tested: bool,
    /// The other settings of the solve.
    pub settings: &'a Settings,
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Found {
    /// The values, most wanted first; column `locked + i` holds the vector of the i-th.
    pub values: Vec<f64>,
    /// How many of them have converged.
    pub converged: usize,
    /// Whether the space is the whole complement of the locked columns.
    pub exhausted: bool,
    /// Whether the run ended because no value beyond [`Search::stop`] can come.
    pub stopped: bool,
    /// Whether a test has shown that no wanted value is missing.
    pub complete: bool,
}

/// Called after every cycle with the number of converged pairs and the largest residual of the wanted ones, infinite
/// before the first cycle ends.
pub type Report<'a> = dyn FnMut(usize, f64) -> Result<()> + 'a;

/// A run in progress, with single vectors.
struct Run<'a, K: Cycles + ?Sized> {
    krylov: &'a mut K,
    search: &'a Search<'a>,
    counts: &'a mut Counts,
    /// The projected matrix, m-by-m, column-major.
    t: Vec<Wide<K>>,
    m: usize,
    /// Estimates of the loss of orthogonality, if it is not kept in full.
    loss: Option<Loss>,
}

/// Finds pairs of the operator on the complement of the locked columns, which stay unchanged.
///
/// # Errors
/// [`crate::error::Error::Numerical`] if products are not finite; errors of the backend.
pub fn run<K: Cycles + ?Sized>(
    krylov: &mut K,
    search: &Search<'_>,
    counts: &mut Counts,
    small: &mut Small<'_, Wide<K>>,
    report: &mut Report<'_>,
) -> Result<Found> {
    let m = search.basis;
    let t = alloc::filled(WHAT, m * m, Wide::<K>::default())?;
    // The estimate does not cover locked columns: it would not show that the space has got components along them.
    let partial = search.settings.orthogonalization == Orthogonalization::Partial && search.locked == 0;
    let loss = if partial { Some(Loss::new(m, search.settings.epsilon)?) } else { None };
    let mut run = Run { krylov, search, counts, t, m, loss };
    let mut kept = 0;
    let o = search.locked;
    if search.started {
        run.krylov.orthogonalize(o, o).and_then(|p| run.normalize(o, p.after))?;
    } else if !run.fresh(o)? {
        return Ok(Found { values: Vec::new(), converged: 0, exhausted: true, stopped: false, complete: true });
    }
    let mut restart = 0;
    let mut known = (0, f64::INFINITY);
    loop {
        let (size, beta) = run.cycle(kept, &mut || report(known.0, known.1))?;
        let exhausted = size < m || beta == 0.0;
        let (theta, y) = projected::<K>(&run.t, m, size, small)?;
        let order = search.which.order(&theta);
        let residual = |i: usize| if exhausted { 0.0 } else { beta * modulus(y[i * size + size - 1]) };
        // Ritz values bound the norm from below too.
        let norm = theta.iter().fold(run.counts.norm, |most, v| most.max(v.abs()));
        run.counts.norm = norm;
        let near = |i: usize| residual(i) / search.settings.limit(theta[i], norm);
        let wanted = search.count.min(size);
        let converged = order[..wanted].iter().take_while(|&&i| exhausted || near(i) <= 1.0).count();
        let worst = order[..wanted].iter().map(|&i| residual(i)).fold(0.0, f64::max);
        report(converged, worst)?;
        known = (converged, worst);
        let stopped = search.stop.is_some_and(|limit| {
            let best = order[0];
            let reach = match search.which {
                Which::Smallest => theta[best] - residual(best),
                Which::LargestMagnitude | Which::Nearest => theta[best].abs() + residual(best),
                Which::Largest | Which::BothEnds => theta[best] + residual(best),
            };
            // A value whose residual is below a hundredth of its distance from the limit will not cross the limit.
            let is_decided = residual(best) < 1e-2 / 1.01 * (reach - limit).abs();
            is_decided && !beats(search.which, reach, limit)
        });
        let done = converged == wanted || exhausted || stopped;
        if done || restart >= search.settings.restarts {
            let values: Vec<f64> = order[..wanted].iter().map(|&i| theta[i]).collect();
            let is_tested = search.tested && converged == wanted && !exhausted;
            let bounds = Bounds::new(search.which, &values, search.settings, run.counts.norm);
            let mut ritz = alloc::with_capacity(WHAT, size)?;
            ritz.extend(order.iter().map(|&i| (theta[i], residual(i))));
            let (held, bounds) = if is_tested { bounds.on_complement(&ritz, wanted) } else { (wanted, bounds) };
            let mut picked = pick(&order[..held], &y, size)?;
            if !run.straighten(size, &mut picked)? {
                return in_full(krylov, search, counts, small, report);
            }
            run.krylov.rotate(o, size, &picked, held)?;
            let report = &mut || report(converged, worst);
            let complete = exhausted
                || (is_tested && is_complete(run.krylov, o + held, bounds, search.settings, run.counts, report)?);
            return Ok(Found { values, converged, exhausted, stopped, complete });
        }
        run.counts.restarts += 1;
        // Keep more than the wanted pairs: this takes clearly fewer products than to keep those alone.
        let keep = (search.count + 1).max(converged + (m - converged) / 2).min(m.saturating_sub(3)).max(1);
        let mut picked = pick(&order[..keep], &y, size)?;
        if !run.straighten(size, &mut picked)? {
            return in_full(krylov, search, counts, small, report);
        }
        run.krylov.rotate(o, size, &picked, keep)?;
        run.krylov.copy(o + size, o + keep)?;
        if run.loss.is_some() {
            run.renew(o + keep)?;
        }
        run.t.fill(Wide::<K>::default());
        for (at, &i) in order[..keep].iter().enumerate() {
            run.t[at * m + at] = real::<Wide<K>>(theta[i]);
            let arrow = real::<Wide<K>>(beta) * y[i * size + size - 1];
            run.t[at * m + keep] = arrow;
            run.t[keep * m + at] = arrow.conjugate();
        }
        kept = keep;
        restart += 1;
    }
}

/// Repeats the run with full orthogonality from a random vector, after partial orthogonality was lost.
fn in_full<K: Cycles + ?Sized>(
    krylov: &mut K,
    search: &Search<'_>,
    counts: &mut Counts,
    small: &mut Small<'_, Wide<K>>,
    report: &mut Report<'_>,
) -> Result<Found> {
    let settings = Settings { orthogonalization: Orthogonalization::Full, ..*search.settings };
    let search = Search { started: false, settings: &settings, ..*search };
    run(krylov, &search, counts, small, report)
}

fn real<W: Scalar>(x: f64) -> W {
    W::from_parts(x, 0.0)
}

pub(super) fn modulus<W: Scalar>(x: W) -> f64 {
    x.re().hypot(x.im())
}

/// The columns of `y` with the indices `order`.
pub(super) fn pick<W: Scalar>(order: &[usize], y: &[W], size: usize) -> Result<Vec<W>> {
    let mut picked = alloc::with_capacity(WHAT, order.len() * size)?;
    for &i in order {
        picked.extend_from_slice(&y[i * size..(i + 1) * size]);
    }
    Ok(picked)
}

/// Eigenvalues and eigenvectors of the leading `size` rows and columns of T, which is m-by-m.
pub(super) fn projected<K: Cycles + ?Sized>(
    t: &[Wide<K>],
    m: usize,
    size: usize,
    small: &mut Small<'_, Wide<K>>,
) -> Result<(Vec<f64>, Vec<Wide<K>>)> {
    let zero = Wide::<K>::default();
    let mut leading = alloc::with_capacity(WHAT, size * size)?;
    for column in t.chunks_exact(m).take(size) {
        leading.extend_from_slice(&column[..size]);
    }
    if leading.iter().all(|v| *v == zero) {
        // Return exact zeros; dense solvers may return the smallest number of the type.
        (0..size).for_each(|i| leading[i * size + i] = real::<Wide<K>>(1.0));
        return Ok((alloc::filled(WHAT, size, 0.0)?, leading));
    }
    let scale = power_of_two(leading.iter().map(|v| modulus(*v)).fold(0.0, f64::max));
    leading.iter_mut().for_each(|v| *v = real::<Wide<K>>(1.0 / scale) * *v);
    let (mut values, vectors) = small(size, &leading)?;
    values.iter_mut().for_each(|v| *v *= scale);
    Ok((values, vectors))
}

/// A random unit vector in column `column`, orthogonal to all before it; false if there is none.
pub(super) fn fresh<K: Cycles + ?Sized>(krylov: &mut K, seed: u64, counts: &mut Counts, column: usize) -> Result<bool> {
    if column >= krylov.order() {
        return Ok(false);
    }
    for _ in 0..3 {
        krylov.random(seed, counts.drawn, column)?;
        counts.drawn += 1;
        let p = krylov.orthogonalize(column, column)?;
        if p.after > 1e-6 * finite(p.before, "the norm of a random vector")? {
            krylov.scale(column, 1.0 / p.after)?;
            // A short remainder is orthogonal only relative to its size.
            let again = krylov.orthogonalize(column, column)?;
            krylov.scale(column, 1.0 / again.after)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a value is beyond `limit` in the direction of `which`.
pub fn beats(which: Which, value: f64, limit: f64) -> bool {
    match which {
        Which::Smallest => value < limit,
        Which::LargestMagnitude | Which::Nearest => value.abs() > limit.abs(),
        Which::Largest | Which::BothEnds => value > limit,
    }
}

impl<K: Cycles + ?Sized> Run<'_, K> {
    fn normalize(&mut self, column: usize, norm: f64) -> Result<()> {
        self.krylov.scale(column, 1.0 / finite(norm, "a norm")?)
    }

    /// Makes a column orthogonal to all before it, and scales it to norm 1. On a backend that defers, the next step
    /// reports a column that is not finite.
    fn renew(&mut self, column: usize) -> Result<()> {
        if self.krylov.defers() {
            return self.krylov.defer(column, 0);
        }
        let rest = self.krylov.orthogonalize(column, column)?;
        self.normalize(column, rest.after)
    }

    /// A random unit vector in column `column`, orthogonal to all before it; false if there is none.
    fn fresh(&mut self, column: usize) -> Result<bool> {
        fresh(self.krylov, self.search.settings.seed, self.counts, column)
    }

    /// Changes the coordinates `y` so that Ritz vectors of a space that is only nearly orthogonal are orthonormal;
    /// false if the space has lost its rank.
    fn straighten(&mut self, size: usize, y: &mut [Wide<K>]) -> Result<bool> {
        if self.loss.is_some() { straighten(self.krylov, self.search.locked, size, y) } else { Ok(true) }
    }

    fn space(&self) -> Space {
        Space { locked: self.search.locked, norm: self.counts.norm, epsilon: self.search.settings.epsilon }
    }

    /// Steps `from .. m`. Returns the size of the space and its coupling to the next vector, which is 0 if there is
    /// none.
    fn cycle(&mut self, from: usize, report: &mut dyn FnMut() -> Result<()>) -> Result<(usize, f64)> {
        let (o, m) = (self.search.locked, self.m);
        let mut next = from;
        if let Some(loss) = &mut self.loss {
            loss.begin(from);
        }
        while next < m {
            report()?;
            let steps = match self.loss {
                None => {
                    // Cancellation takes effect between stretches.
                    let stretch = if self.krylov.defers() { STRETCH } else { 1 };
                    self.krylov.extend(self.space(), (next, m.min(next + stretch)), report)?
                }
                Some(_) => match self.krylov.extend_watched(self.space(), (next, m), &self.t, report)? {
                    Some(steps) => steps,
                    None => self.step(next, from, report)?,
                },
            };
            for (j, p) in (next..).zip(steps) {
                next = j + 1;
                self.counts.products += 1;
                self.counts.norm = self.counts.norm.max(finite(p.before, "the norm of a product")?);
                let rest = finite(p.after, "a coefficient")?;
                self.t[j * m + j] = real::<Wide<K>>(finite(p.along, "a coefficient")?);
                if next == m && o + m >= self.krylov.order() {
                    // The space is the whole complement: the remainder is rounding error.
                    return Ok((m, 0.0));
                }
                if !self.space().is_rounding(rest) {
                    if next == m {
                        return Ok((m, rest));
                    }
                    self.t[j * m + next] = real::<Wide<K>>(rest);
                    self.t[next * m + j] = real::<Wide<K>>(rest);
                    continue;
                }
                self.counts.breakdowns += 1;
                if !self.fresh(o + next)? {
                    return Ok((next, 0.0));
                }
                if let Some(loss) = &mut self.loss {
                    loss.begin(next);
                }
                if next == m {
                    // The space is invariant, but not the whole complement. Its own pairs are exact. The next vector is
                    // random, with a coupling that counts as 0.
                    return Ok((m, f64::MIN_POSITIVE));
                }
                break;
            }
        }
        Ok((m, 0.0))
    }

    /// Step `j` of a space with partial orthogonality. Uses the three-term recurrence where that is enough.
    fn step(&mut self, j: usize, from: usize, report: &mut Poll<'_>) -> Result<Vec<Projection>> {
        let (space, m) = (self.space(), self.m);
        // After a restart the next vector has components along all retained vectors.
        let (Some(loss), true) = (&mut self.loss, j > from) else {
            let steps = self.krylov.extend(space, (j, j + 1), report)?;
            if let Some(loss) = &mut self.loss {
                loss.restored(j);
            }
            return Ok(steps);
        };
        let (v, w) = (j + space.locked, j + space.locked + 1);
        let coupling = self.t[(j - 1) * m + j].re();
        let (along, rest) = self.krylov.three_term(Some((v - 1, coupling)), v, w)?;
        // ||A v|| from the three coefficients.
        let before = along.hypot(rest).hypot(coupling);
        let mut step = Projection { along, before, after: rest };
        let norm = space.norm.max(before);
        if rest.is_nan() || (Space { norm, ..space }).is_rounding(rest) {
            return one(step);
        }
        if loss.advance(&self.t, m, j, along, rest, norm) {
            let p = self.krylov.orthogonalize(w, w)?;
            (step.along, step.after) = (along + p.along, p.after);
            loss.renewed(j);
            if p.after.is_nan() || (Space { norm, ..space }).is_rounding(p.after) {
                return one(step);
            }
        }
        self.krylov.scale(w, 1.0 / step.after)?;
        one(step)
    }
}

fn one(step: Projection) -> Result<Vec<Projection>> {
    let mut steps = alloc::with_capacity(WHAT, 1)?;
    steps.push(step);
    Ok(steps)
}
