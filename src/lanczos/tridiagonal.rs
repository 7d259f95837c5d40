//! Eigenvalues of symmetric tridiagonal matrices with the first and last components of the eigenvectors, in O(m^2). The
//! residuals of a Lanczos recurrence need nothing more. Single eigenvectors by inverse iteration, in O(m).

use super::ops::Poll;
use crate::alloc;
use crate::error::{Error, Result};

/// Eigenvalues in ascending order, and the first and last components of the eigenvectors, which have 2-norm 1.
#[derive(Debug, Clone, PartialEq)]
pub struct EndComponents {
    /// Eigenvalues in ascending order, one for each row.
    pub values: Vec<f64>,
    /// First component of each eigenvector.
    pub first: Vec<f64>,
    /// Last component of each eigenvector.
    pub last: Vec<f64>,
}

/// Number of eigenvalues between two calls of `poll`.
const POLLED: usize = 16;

/// Largest number of QL sweeps for one eigenvalue.
const SWEEPS: usize = 60;

/// Implicit QL with Wilkinson's shift (Bowdler, Martin, Reinsch, Wilkinson, Numer. Math. 11, 1968). Rotations are
/// applied to the first and last rows of the eigenvectors only. `diagonal` has m elements, `off` has the m - 1
/// off-diagonal ones. `poll` is called every few eigenvalues.
///
/// # Errors
/// [`Error::InvalidArgument`] for another length of `off` or numbers that are not finite; [`Error::Numerical`] if an
/// eigenvalue does not converge; [`Error::OutOfMemory`]; errors of `poll`.
pub fn ends(diagonal: &[f64], off: &[f64], poll: &mut Poll<'_>) -> Result<EndComponents> {
    const WHAT: &str = "eigenvalues of a tridiagonal matrix";
    let m = diagonal.len();
    if off.len() + 1 != m.max(1) {
        return Err(Error::invalid("off", format!("has {} elements, {} are needed", off.len(), m.saturating_sub(1))));
    }
    if let Some(x) = diagonal.iter().chain(off).find(|x| !x.is_finite()) {
        return Err(Error::invalid("diagonal", format!("or off-diagonal has {x}")));
    }
    let mut d = alloc::copied(WHAT, diagonal)?;
    let mut e = alloc::with_capacity(WHAT, m)?;
    e.extend_from_slice(off);
    e.resize(m, 0.0);
    let (mut first, mut last) = (alloc::filled(WHAT, m, 0.0)?, alloc::filled(WHAT, m, 0.0)?);
    if m > 0 {
        (first[0], last[m - 1]) = (1.0, 1.0);
    }
    let norm = diagonal.iter().chain(off).fold(0.0f64, |most, x| most.max(x.abs()));
    for l in 0..m {
        if l % POLLED == POLLED - 1 {
            poll()?;
        }
        let mut sweep = 0;
        loop {
            // The first index from l on where the matrix splits into two. Beside entries near 0, rounding errors of
            // large entries may never get smaller. After half of the sweeps, an off-diagonal entry as small as a
            // rounding error of the norm splits the matrix.
            let noise = if sweep > SWEEPS / 2 { norm } else { 0.0 };
            let split = |k: usize| e[k].abs() <= f64::EPSILON * (d[k].abs() + d[k + 1].abs()).max(noise);
            let end = (l..m - 1).find(|&k| split(k)).unwrap_or(m - 1);
            if end == l {
                break;
            }
            sweep += 1;
            if sweep > SWEEPS {
                return Err(Error::Numerical(format!("eigenvalue {l} of a tridiagonal matrix does not converge")));
            }
            let g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let r = g.hypot(1.0);
            let mut g = d[end] - d[l] + e[l] / (g + r.copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut whole = true;
            for i in (l..end).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[end] = 0.0;
                    whole = false;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = d[i + 1] - p;
                let r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                for z in [&mut first, &mut last] {
                    let f = z[i + 1];
                    z[i + 1] = s * z[i] + c * f;
                    z[i] = c * z[i] - s * f;
                }
            }
            if whole {
                d[l] -= p;
                e[l] = g;
                e[end] = 0.0;
            }
        }
    }
    let mut order = alloc::with_capacity(WHAT, m)?;
    order.extend(0..m);
    order.sort_by(|&i: &usize, &j: &usize| d[i].total_cmp(&d[j]));
    let sorted = |from: &[f64]| -> Result<Vec<f64>> {
        let mut to = alloc::with_capacity(WHAT, m)?;
        to.extend(order.iter().map(|&i| from[i]));
        Ok(to)
    };
    Ok(EndComponents { values: sorted(&d)?, first: sorted(&first)?, last: sorted(&last)? })
}

/// The order of the smallest leading submatrix that has the eigenvalue `theta` to within `near`, and of the smallest
/// that has it twice; 0 if there is none. By Sturm sequences, O(m).
pub fn first_orders(diagonal: &[f64], off: &[f64], theta: f64, near: f64) -> (usize, usize) {
    let mut orders = (0, 0);
    let (mut low, mut high) = (1.0f64, 1.0f64);
    let mut inside = 0i64;
    for (j, d) in diagonal.iter().enumerate() {
        let coupling = if j == 0 { 0.0 } else { off[j - 1] * off[j - 1] };
        let next = |x: f64, pivot: f64| {
            let q = d - x - if j == 0 { 0.0 } else { coupling / pivot };
            // Replace a zero pivot by a tiny one; its sign does not matter.
            if q == 0.0 { -f64::MIN_POSITIVE } else { q }
        };
        (low, high) = (next(theta - near, low), next(theta + near, high));
        inside += i64::from(high < 0.0) - i64::from(low < 0.0);
        if inside >= 1 && orders.0 == 0 {
            orders.0 = j + 1;
        }
        if inside >= 2 {
            orders.1 = j + 1;
            break;
        }
    }
    orders
}

/// The eigenvector of norm 1 of the eigenvalue `theta`, which must be accurate to rounding. Inverse iteration, with
/// Gaussian elimination and row exchanges.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn vector(diagonal: &[f64], off: &[f64], theta: f64) -> Result<Vec<f64>> {
    const WHAT: &str = "eigenvector of a tridiagonal matrix";
    let m = diagonal.len();
    if m == 1 {
        return alloc::filled(WHAT, 1, 1.0);
    }
    let norm = diagonal.iter().chain(off).fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
    let tiny = f64::EPSILON * norm;
    // `bands`: the upper triangle, with two bands above the diagonal. `steps`: each row's elimination factor, and
    // whether it was exchanged.
    let mut bands = alloc::filled(WHAT, m, [0.0f64; 3])?;
    let mut steps = alloc::filled(WHAT, m, (0.0f64, false))?;
    let beside = |j: usize| off.get(j).copied().unwrap_or(0.0);
    let mut row = [diagonal.first().map_or(0.0, |d| d - theta), beside(0), 0.0];
    for j in 0..m {
        if j + 1 == m {
            bands[j] = row;
            break;
        }
        let below = [off[j], diagonal[j + 1] - theta, if j + 2 < m { off[j + 1] } else { 0.0 }];
        let exchanged = below[0].abs() > row[0].abs();
        let (top, other) = if exchanged { (below, row) } else { (row, below) };
        let pivot = if top[0] == 0.0 { tiny } else { top[0] };
        let factor = other[0] / pivot;
        bands[j] = [pivot, top[1], top[2]];
        steps[j] = (factor, exchanged);
        row = [other[1] - factor * top[1], other[2] - factor * top[2], 0.0];
    }
    let mut x = alloc::with_capacity(WHAT, m)?;
    // An unsymmetric start vector, so that it has a component along every eigenvector.
    x.extend((0..m).map(|j| 1.0 + 0.5 * ((j as f64) * 0.7548776662466927).fract()));
    for turn in 0..3 {
        // The first pass skips the elimination: it takes the start vector as an eliminated right-hand side.
        for j in 0..m.saturating_sub(1) {
            if turn > 0 {
                let (factor, exchanged) = steps[j];
                if exchanged {
                    x.swap(j, j + 1);
                }
                x[j + 1] -= factor * x[j];
            }
        }
        for j in (0..m).rev() {
            let after =
                bands[j][1] * x.get(j + 1).copied().unwrap_or(0.0) + bands[j][2] * x.get(j + 2).copied().unwrap_or(0.0);
            let pivot = if bands[j][0].abs() < tiny { tiny.copysign(bands[j][0]) } else { bands[j][0] };
            x[j] = (x[j] - after) / pivot;
        }
        let length = x.iter().fold(0.0f64, |s, v| s.hypot(*v)).max(f64::MIN_POSITIVE);
        x.iter_mut().for_each(|v| *v /= length);
    }
    Ok(x)
}
