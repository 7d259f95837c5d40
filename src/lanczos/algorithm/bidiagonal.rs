//! Golub-Kahan-Lanczos with thick restart (Baglama and Reichel, SIAM J. Sci. Comput. 27, 2005): A V = U B and A^H U = V
//! B^H + beta v e^T with orthonormal U and V. No singular value is squared, so each is accurate to eps ||A||.

use std::ops::Range;

use super::super::info::Reason;
use super::super::options::{Settings, Verify, Which};
use super::super::sides::{Side, Sides, Swapped};
use super::restart::{Counts, Found, Report, Search, beats, fresh, pick};
use super::triplets::{allowed, unit};
use super::verify::{CHECK, Solved};
use crate::alloc;
use crate::error::Result;
use crate::scalar::{Scalar, power_of_two};

const WHAT: &str = "bidiagonalization";

/// Smallest residual that the iteration aims at, in units of roundoff times the norm. For small values it replaces the
/// relative tolerance.
const FLOOR: f64 = 4.0;

/// Restarts after which a value of 0 counts as converged, because its right vector has converged.
const PATIENCE: usize = 3;

/// Fewest vectors of a space that can restart.
const LEAST: usize = 5;

/// Computes P, s and Q of B = P diag(s) Q^T for a real matrix of some order, column-major.
pub type SmallSvd<'a> = dyn FnMut(usize, &[f64]) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>)> + 'a;

/// Columns that a solve needs on each side.
pub fn columns(settings: &Settings) -> usize {
    // The check has a space of its own behind the vectors found.
    settings.count + settings.basis.max(CHECK) + 1
}

/// Largest order of a projected problem where the short side has `n` numbers, the searches behind the triplets included.
pub fn largest_order(settings: &Settings, n: usize) -> usize {
    settings.basis.max(CHECK.min(n.saturating_sub(settings.count)))
}

/// A run in progress, on both sides of the matrix.
struct Run<'a, T: Scalar> {
    sides: &'a mut dyn Sides<T>,
    search: &'a Search<'a>,
    counts: &'a mut Counts,
    /// B, m-by-m, column-major. It is upper bidiagonal; after a restart it has values on the diagonal and one full
    /// column.
    b: Vec<f64>,
    m: usize,
}

/// The end of a cycle.
struct Cycle {
    /// Vectors of the space on each side.
    size: usize,
    /// Coupling to the next vector; 0 if there is none.
    beta: f64,
    /// Whether there is no next vector.
    is_whole: bool,
}

impl<T: Scalar> Run<'_, T> {
    /// Runs steps `from .. m` of the bidiagonalization.
    fn cycle(&mut self, from: usize, report: &mut dyn FnMut() -> Result<()>) -> Result<Cycle> {
        let (o, m) = (self.search.locked, self.m);
        let order = self.sides.side(Side::Short).order();
        for j in from..m {
            report()?;
            self.counts.products += 1;
            self.sides.cross(Side::Short, o + j, o + j)?;
            let Some(alpha) = unit(self.sides.side(Side::Long), o + j, self.search.settings, self.counts)? else {
                return Ok(Cycle { size: j, beta: 0.0, is_whole: true });
            };
            self.b[j * m + j] = alpha;
            if o + j + 1 >= order {
                return Ok(Cycle { size: j + 1, beta: 0.0, is_whole: true });
            }
            self.sides.cross(Side::Long, o + j, o + j + 1)?;
            let next = unit(self.sides.side(Side::Short), o + j + 1, self.search.settings, self.counts)?;
            let Some(beta) = next else { return Ok(Cycle { size: j + 1, beta: 0.0, is_whole: true }) };
            if j + 1 == m {
                return Ok(Cycle { size: m, beta, is_whole: false });
            }
            self.b[(j + 1) * m + j] = beta;
        }
        Ok(Cycle { size: m, beta: 0.0, is_whole: false })
    }

    /// P, s and Q of the leading `size` rows and columns of B.
    fn decomposed(&self, size: usize, svd: &mut SmallSvd<'_>) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>)> {
        let mut leading = alloc::with_capacity(WHAT, size * size)?;
        for column in self.b.chunks_exact(self.m).take(size) {
            leading.extend_from_slice(&column[..size]);
        }
        if leading.iter().all(|v| *v == 0.0) {
            (0..size).for_each(|i| leading[i * size + i] = 1.0);
            let again = alloc::copied(WHAT, &leading)?;
            return Ok((leading, alloc::filled(WHAT, size, 0.0)?, again));
        }
        let scale = power_of_two(leading.iter().fold(0.0f64, |most, v| most.max(v.abs())));
        leading.iter_mut().for_each(|v| *v /= scale);
        let (left, mut values, right) = svd(size, &leading)?;
        values.iter_mut().for_each(|v| *v *= scale);
        Ok((left, values, right))
    }

    /// Replaces the columns of both spaces by the triplets with the indices `order`.
    fn rotate(&mut self, order: &[usize], size: usize, left: &[f64], right: &[f64]) -> Result<()> {
        for (side, turn) in [(Side::Short, right), (Side::Long, left)] {
            let picked = pick_wide::<T>(order, turn, size)?;
            self.sides.side(side).rotate(self.search.locked, size, &picked, order.len())?;
        }
        Ok(())
    }
}

fn pick_wide<T: Scalar>(order: &[usize], y: &[f64], size: usize) -> Result<Vec<T::Wide>> {
    let picked = pick(order, y, size)?;
    let mut wide = alloc::with_capacity(WHAT, picked.len())?;
    wide.extend(picked.iter().map(|v| T::Wide::from_parts(*v, 0.0)));
    Ok(wide)
}

/// Finds triplets of the matrix on the complement of the locked columns of both sides, which stay unchanged.
///
/// # Errors
/// [`crate::error::Error::Numerical`] if products are not finite; errors of the backend.
pub fn run<T: Scalar>(
    sides: &mut dyn Sides<T>,
    search: &Search<'_>,
    counts: &mut Counts,
    svd: &mut SmallSvd<'_>,
    report: &mut Report<'_>,
) -> Result<Found> {
    let (m, o, settings) = (search.basis, search.locked, search.settings);
    let b = alloc::filled(WHAT, m * m, 0.0)?;
    if !search.started && !fresh(sides.side(Side::Short), settings.seed, counts, o)? {
        return Ok(Found { values: Vec::new(), converged: 0, exhausted: true, stopped: false, complete: true });
    }
    let mut run = Run { sides, search, counts, b, m };
    let (mut kept, mut restart) = (0, 0);
    // The restart since which the number of wanted values that are 0 is the same, and that number.
    let (mut since, mut zeros) = (0, 0);
    let mut known = (0, f64::INFINITY);
    loop {
        let Cycle { size, beta, is_whole } = run.cycle(kept, &mut || report(known.0, known.1))?;
        let (left, values, right) = run.decomposed(size, svd)?;
        let order = search.which.order(&values);
        let residual = |i: usize| if is_whole { 0.0 } else { beta * left[i * size + size - 1].abs() };
        let floor = FLOOR * settings.epsilon * run.counts.norm;
        let wanted = search.count.min(size);
        // A V = U B holds for every B, so the right vector of a value of 0 is in the null space. Its left vector may
        // never converge: the images of a Krylov space contain no vector of the adjoint's null space. `pair_zeros`
        // looks for it.
        let held = order[..wanted].iter().filter(|&&i| values[i] <= floor).count();
        (since, zeros) = if held == zeros { (since, zeros) } else { (restart, held) };
        let is_stable = restart - since >= PATIENCE;
        let near = |i: usize| match residual(i) {
            0.0 => 0.0,
            _ if is_stable && values[i] <= floor => 0.0,
            rest => rest / (settings.tolerance * values[i]).max(floor),
        };
        let converged = order[..wanted].iter().take_while(|&&i| near(i) <= 1.0).count();
        let worst = order[..wanted].iter().map(|&i| residual(i)).fold(0.0, f64::max);
        report(converged, worst)?;
        known = (converged, worst);
        let stopped = search.stop.is_some_and(|limit| {
            let Some(&best) = order.first() else { return true };
            let reach = match search.which {
                Which::Smallest => values[best] - residual(best),
                _ => values[best] + residual(best),
            };
            // A value whose residual is below a hundredth of its distance from the limit will not cross the limit.
            residual(best) < 1e-2 / 1.01 * (reach - limit).abs() && !beats(search.which, reach, limit)
        });
        let done = converged == wanted || is_whole || stopped;
        if done || restart >= settings.restarts {
            run.rotate(&order[..wanted], size, &left, &right)?;
            let values = order[..wanted].iter().map(|&i| values[i]).collect();
            return Ok(Found { values, converged, exhausted: is_whole, stopped, complete: is_whole });
        }
        run.counts.restarts += 1;
        restart += 1;
        // Keep more than the wanted triplets: this takes clearly fewer products than to keep those alone.
        let keep = (search.count + 1).max(converged + (m - converged) / 2).min(m.saturating_sub(3)).max(1);
        run.rotate(&order[..keep], size, &left, &right)?;
        let short = run.sides.side(Side::Short);
        short.copy(o + size, o + keep)?;
        let rest = short.orthogonalize(o + keep, o + keep)?;
        short.scale(o + keep, 1.0 / super::finite(rest.after, "a norm")?)?;
        run.b.fill(0.0);
        for (at, &i) in order[..keep].iter().enumerate() {
            run.b[at * m + at] = values[i];
            run.b[keep * m + at] = beta * left[i * size + size - 1];
        }
        kept = keep;
    }
}

/// Finds the triplets that `settings` ask for, writes them to the first columns of both sides, and searches for copies
/// of multiple values. With `started`, column 0 of the short side holds a start vector of norm 1.
///
/// # Errors
/// As [`run`].
pub fn solve<T: Scalar>(
    sides: &mut dyn Sides<T>,
    settings: &Settings,
    started: bool,
    svd: &mut SmallSvd<'_>,
    report: &mut Report<'_>,
) -> Result<Solved> {
    let mut counts = Counts { drawn: settings.drawn, ..Counts::default() };
    let (count, which) = (settings.count, settings.which);
    let search =
        Search { locked: 0, count, which, basis: settings.basis, stop: None, started, tested: false, settings };
    let Found { mut values, converged, exhausted, .. } = run(sides, &search, &mut counts, svd, report)?;
    let complete = converged == count && values.len() == count;
    let (mut recovered, mut verified) = (0, exhausted);
    let places = if exhausted || !complete { 0..0 } else { 0..values.len() };
    let is_paired = pair_zeros(sides, settings, &values, places, &mut counts, svd, report)?;
    if complete && is_paired && !exhausted && settings.verify != Verify::Off {
        (recovered, verified) = check(sides, settings, &mut values, &mut counts, svd, report)?;
    }
    let reason = match (complete, exhausted) {
        (_, true) => Reason::Exhausted,
        (true, _) => Reason::Converged,
        (false, _) => Reason::Restarts,
    };
    Ok(Solved { values, converged, reason, recovered, verified, counts })
}

/// Replaces the left vectors of triplets at `places` whose value is 0, if the vector is not in the null space of the
/// adjoint, by vectors of that null space. False if one is not found; that triplet then has a random left vector. Must
/// come before a search on the complement: locking a wrong left vector would add a value of 0 there that the matrix
/// does not have.
fn pair_zeros<T: Scalar>(
    sides: &mut dyn Sides<T>,
    settings: &Settings,
    values: &[f64],
    places: Range<usize>,
    counts: &mut Counts,
    svd: &mut SmallSvd<'_>,
    report: &mut Report<'_>,
) -> Result<bool> {
    let (locked, zero) = (values.len(), FLOOR * settings.epsilon * counts.norm);
    let basis = (sides.side(Side::Short).order() - locked).min(settings.basis.max(CHECK));
    if basis < LEAST {
        return Ok(true);
    }
    let mut unpaired = alloc::with_capacity(WHAT, places.len())?;
    for at in places.filter(|&at| values[at] <= zero) {
        counts.products += 1;
        sides.cross(Side::Long, at, locked)?;
        let rest = sides.side(Side::Short).distance(locked, 0.0, locked)?;
        if super::finite(rest, "a residual")? > allowed(settings, 0.0, counts.norm) {
            unpaired.push(at);
        }
    }
    // A step that divides by almost 0 turns rounding errors into components of these vectors, also along the null
    // space. On the complement of such vectors the null space would be missing, so the search must not be orthogonal to
    // them.
    for &at in &unpaired {
        sides.side(Side::Long).scale(at, 0.0)?;
    }
    let mut is_found = true;
    for &at in &unpaired {
        if is_found {
            let search = Search {
                locked,
                count: 1,
                which: Which::Smallest,
                basis,
                stop: None,
                started: false,
                tested: false,
                settings,
            };
            let one = run(&mut Swapped(sides), &search, counts, svd, report)?;
            is_found = one.converged == 1 && one.values.first().is_some_and(|v| *v <= zero);
        }
        if !is_found {
            fresh(sides.side(Side::Long), settings.seed, counts, locked)?;
        }
        sides.side(Side::Long).copy(locked, at)?;
    }
    Ok(is_found)
}

/// Searches the orthogonal complement of the triplets found for values that are more wanted than the last of them.
/// Returns how many were found, and whether the last search ended by its own criterion.
fn check<T: Scalar>(
    sides: &mut dyn Sides<T>,
    settings: &Settings,
    values: &mut [f64],
    counts: &mut Counts,
    svd: &mut SmallSvd<'_>,
    report: &mut Report<'_>,
) -> Result<(usize, bool)> {
    let (locked, which) = (values.len(), settings.which);
    let within = settings.of_check();
    let basis = (sides.side(Side::Short).order() - locked).min(settings.basis.max(CHECK));
    let (mut found, mut is_sure) = (0, true);
    while let Some(&last) = which.order(values).last().filter(|_| basis > 0) {
        let margin = settings.relative_margin() * values[last];
        let margin = margin.max(10.0 * settings.epsilon * counts.norm);
        let limit = which.beyond(values[last], margin);
        let search = Search {
            locked,
            count: 1,
            which,
            basis,
            stop: Some(limit),
            started: false,
            tested: false,
            settings: &within,
        };
        let one = run(sides, &search, counts, svd, report)?;
        match one.values.first() {
            Some(&value) if one.converged == 1 && beats(which, value, limit) => {
                for side in Side::BOTH {
                    sides.side(side).copy(locked, last)?;
                }
                values[last] = value;
                found += 1;
                if !pair_zeros(sides, settings, values, last..last + 1, counts, svd, report)? {
                    is_sure = false;
                    break;
                }
            }
            _ => {
                is_sure = one.converged == 1 || one.stopped || one.exhausted;
                break;
            }
        }
    }
    Ok((found, is_sure))
}
