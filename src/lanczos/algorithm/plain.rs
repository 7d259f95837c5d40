//! Eigenpairs by the plain recurrence: eigenvalues that pass the test of Cullum and Willoughby. A second run of the
//! recurrence computes the vectors.

use super::super::cycles::Cycles;
use super::super::options::{Settings, Which};
use super::super::tridiagonal::{first_orders, vector};
use super::cullum::{candidates, recurrence};
use super::finite;
use super::restart::Report;
use crate::alloc;
use crate::error::{Error, Result};

const WHAT: &str = "plain Lanczos iteration";

/// Eigenvalues of T nearer to each other than this, relative to the largest, are copies of one eigenvalue of A: they
/// differ by rounding errors.
fn cluster(epsilon: f64) -> f64 {
    if epsilon > 1e-10 { 1e-6 } else { 1e-12 }
}

/// The result of a run. Column i holds the vector of value i.
pub struct Found {
    /// Eigenvalues in the order of the result; fewer than wanted if fewer passed the test.
    pub values: Vec<f64>,
    /// Products with the matrix, including those of the second run.
    pub products: usize,
    /// The largest norm of A v or modulus of an accepted value; at least
    /// [`LanczosOps::terms_norm`](crate::lanczos::ops::LanczosOps::terms_norm).
    pub norm: f64,
    /// Whether the recurrence ended early, because the space is invariant.
    pub exhausted: bool,
}

/// Columns that a run needs: for the pairs, for the recurrence, and for a start vector.
pub fn columns(settings: &Settings) -> usize {
    start_column(settings) + 1
}

/// The column of the caller's start vector.
pub fn start_column(settings: &Settings) -> usize {
    settings.count + 3
}

/// Writes the start vector, scaled to norm 1, to column `to`; the caller's is read from [`start_column`].
fn start<K: Cycles + ?Sized>(krylov: &mut K, settings: &Settings, started: bool, to: usize) -> Result<()> {
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

/// Finds pairs by `settings.basis` steps. With `started`, [`start_column`] holds a start vector. `sigma` is the point
/// of [`Which::Nearest`].
///
/// # Errors
/// [`Error::Numerical`] if products are not finite; errors of the backend.
pub fn solve<K: Cycles + ?Sized>(
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
    let (found, most) = candidates(&of, tolerances, krylov.terms_norm(), &mut || report(0, f64::INFINITY))?;
    let mut all = alloc::with_capacity(WHAT, found.len())?;
    all.extend(found.iter().map(|a| a.value));
    let order = if settings.which == Which::Nearest {
        let mut near = alloc::with_capacity(WHAT, all.len())?;
        near.extend(all.iter().map(|v: &f64| 1.0 / (v - sigma)));
        settings.which.order(&near)
    } else {
        settings.which.order(&all)
    };
    // A value that has not converged stands for an eigenvalue that is wanted more than those behind it.
    let mut values = alloc::with_capacity(WHAT, settings.count)?;
    values.extend(order.iter().take(settings.count).take_while(|&&i| found[i].residual <= most).map(|&i| all[i]));
    if settings.which == Which::BothEnds {
        values.sort_by(|a: &f64, b: &f64| b.total_cmp(a));
    }
    let near = found.iter().filter(|a| a.residual <= most).fold(0.0f64, |most, a| most.max(a.value.abs()));
    // ||A v_j|| from the coefficients.
    let product = |j: usize| of.alpha[j].hypot(of.beta[j]).hypot(if j > 0 { of.beta[j - 1] } else { 0.0 });
    let norm = (0..m).map(product).fold(near.max(krylov.terms_norm()), f64::max);
    let off = &of.beta[..m - 1];
    // Longer leading parts of T have copies of an eigenvalue, whose vectors may cancel. Use a part that is just long
    // enough to have the eigenvalue.
    let mut coordinates = alloc::with_capacity(WHAT, values.len())?;
    let mut worst = 0.0f64;
    for &theta in &values {
        report(0, f64::INFINITY)?;
        let (first, last) = match first_orders(&of.alpha, off, theta, cluster(settings.epsilon) * near) {
            (once, twice) if once > 0 && twice > 0 => (once, twice),
            _ => (m, m),
        };
        // Take the order with the smallest residual beta_{j+1} |s_j| among a few between the two.
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
        if let Some((residual, s)) = best {
            worst = worst.max(residual);
            coordinates.push(s);
        }
    }
    // Values that were not accepted have no residual.
    let known = (values.len(), if values.len() < settings.count { f64::INFINITY } else { worst });
    let longest = coordinates.iter().map(Vec::len).max().unwrap_or(0);
    if longest > 0 {
        start(krylov, settings, started, work)?;
        let combined = Some(coordinates.as_slice());
        // The second run is half of the work, so nothing is reported as done before its end.
        recurrence(krylov, work, longest, settings.epsilon, combined, &mut |_| report(0, known.1))?;
    }
    for i in 0..values.len() {
        let norm = krylov.project(0, 0, i, 1, &mut [])?[0];
        krylov.scale(i, 1.0 / finite(norm, "the norm of an eigenvector")?)?;
    }
    report(known.0, known.1)?;
    let exhausted = m < settings.basis;
    Ok(Found { values, products: m + longest, norm, exhausted })
}
