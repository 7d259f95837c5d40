//! Eigenpairs by the plain recurrence: what passes the test of Cullum and Willoughby, and a second run of the recurrence for
//! the vectors.

use super::super::krylov::Krylov;
use super::super::options::{Settings, Which};
use super::super::tridiagonal::{first_orders, vector};
use super::cullum::{filter_of, recurrence};
use super::finite;
use super::restart::Report;
use crate::alloc;
use crate::error::{Error, Result};

const WHAT: &str = "plain Lanczos iteration";

/// Eigenvalues of T nearer than this to each other, relative to the largest, are one of A: rounding of T's own.
fn cluster(epsilon: f64) -> f64 {
    if epsilon > 1e-10 { 1e-6 } else { 1e-12 }
}

/// What a run found: column i holds the vector of value i.
pub struct Found {
    /// Values, as they are returned; fewer than wanted where fewer passed.
    pub values: Vec<f64>,
    /// Products, those of the second run included.
    pub products: usize,
    /// Largest norm of A v met, or modulus of an accepted value; at least [`Krylov::terms_norm`].
    pub norm: f64,
    /// Whether the space was invariant.
    pub exhausted: bool,
}

/// Columns that a run needs: of the pairs, of the recurrence, and for a start vector.
pub fn columns(settings: &Settings) -> usize {
    start_column(settings) + 1
}

/// The column that a start vector of the caller's is in.
pub fn start_column(settings: &Settings) -> usize {
    settings.count + 3
}

/// Puts the start vector into column `to`, of norm 1; the caller's is in the last column.
fn start<K: Krylov + ?Sized>(krylov: &mut K, settings: &Settings, started: bool, to: usize) -> Result<()> {
    if started {
        krylov.copy(start_column(settings), to)?
    } else {
        krylov.random(settings.seed, 0, to)?
    }
    let mut none = [];
    let norm = krylov.project(0, 0, to, 1, &mut none)?[0];
    if finite(norm, "the norm of the start vector")? == 0.0 {
        return Err(Error::invalid("start", "is 0"));
    }
    krylov.scale(to, 1.0 / norm)
}

/// Finds pairs by `settings.basis` steps; with `started` [`start_column`] holds a start vector. `sigma` is where those of
/// [`Which::Nearest`] are looked for.
///
/// # Errors
/// [`Error::Numerical`] for products that are not finite; what the backend reports.
pub fn solve<K: Krylov + ?Sized>(
    krylov: &mut K,
    settings: &Settings,
    sigma: f64,
    started: bool,
    report: &mut Report<'_>,
) -> Result<Found> {
    let work = settings.count;
    start(krylov, settings, started, work)?;
    let of = recurrence(krylov, work, settings.basis, settings.epsilon, None, &mut |_| report(0, f64::INFINITY))?;
    let m = of.alpha.len();
    let tolerances = (cluster(settings.epsilon), settings.tolerance);
    let accepted = filter_of(&of, tolerances, krylov.terms_norm(), &mut || report(0, f64::INFINITY))?;
    let mut all = alloc::with_capacity(WHAT, accepted.len())?;
    all.extend(accepted.iter().map(|a| a.value));
    let order = if settings.which == Which::Nearest {
        let mut near = alloc::with_capacity(WHAT, all.len())?;
        near.extend(all.iter().map(|v: &f64| 1.0 / (v - sigma)));
        settings.which.order(&near)
    } else {
        settings.which.order(&all)
    };
    let mut values = alloc::with_capacity(WHAT, settings.count)?;
    values.extend(order.iter().take(settings.count).map(|&i| all[i]));
    if settings.which == Which::BothEnds {
        values.sort_by(|a: &f64, b: &f64| b.total_cmp(a));
    }
    let near = all.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    // ||A v_j||, which the coefficients make up.
    let product = |j: usize| of.alpha[j].hypot(of.beta[j]).hypot(if j > 0 { of.beta[j - 1] } else { 0.0 });
    let norm = (0..m).map(product).fold(near.max(krylov.terms_norm()), f64::max);
    let off = &of.beta[..m - 1];
    // Later parts of T hold copies, whose vectors may cancel: those of the least part that is sure to have it do not.
    let mut coordinates = alloc::with_capacity(WHAT, values.len())?;
    for &theta in &values {
        report(0, f64::INFINITY)?;
        let (first, last) = match first_orders(&of.alpha, off, theta, cluster(settings.epsilon) * near) {
            (once, twice) if once > 0 && twice > 0 => (once, twice),
            _ => (m, m),
        };
        // The smallest residual beta_{j+1} |s_j| of some orders between the two.
        let mut best: Option<(f64, Vec<f64>)> = None;
        for part in 2..=6 {
            let order = (first * (8 - part) + last * part) / 8;
            let s = vector(&of.alpha[..order], &off[..order - 1], theta)?;
            let residual = of.beta[order - 1] * s[order - 1].abs();
            if best.as_ref().is_none_or(|(least, _)| residual < *least) {
                best = Some((residual, s));
            }
            if first == last {
                break;
            }
        }
        coordinates.extend(best.map(|(_, s)| s));
    }
    let longest = coordinates.iter().map(Vec::len).max().unwrap_or(0);
    if longest > 0 {
        start(krylov, settings, started, work)?;
        let combined = Some(coordinates.as_slice());
        recurrence(krylov, work, longest, settings.epsilon, combined, &mut |_| report(0, f64::INFINITY))?;
    }
    for i in 0..values.len() {
        let norm = krylov.project(0, 0, i, 1, &mut [])?[0];
        krylov.scale(i, 1.0 / finite(norm, "the norm of an eigenvector")?)?;
    }
    let exhausted = m < settings.basis;
    Ok(Found { values, products: m + longest, norm, exhausted })
}
