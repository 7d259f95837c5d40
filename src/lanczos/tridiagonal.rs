//! Eigenvalues of symmetric tridiagonal matrices, with the first and last components of the eigenvectors: all that the
//! residuals of a Lanczos recurrence need, in O(m^2).

use crate::alloc;
use crate::error::{Error, Result};

/// Eigenvalues in ascending order, and the ends of the eigenvectors, which have 2-norm 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Ends {
    /// Eigenvalues.
    pub values: Vec<f64>,
    /// First component of each eigenvector.
    pub first: Vec<f64>,
    /// Last component of each.
    pub last: Vec<f64>,
}

/// Sweeps that an eigenvalue may take.
const SWEEPS: usize = 60;

/// Implicit QL with Wilkinson's shift (Bowdler, Martin, Reinsch, Wilkinson, Numer. Math. 11, 1968), on two rows of the
/// eigenvectors. `diagonal` has m elements, `off` the m - 1 beside it.
///
/// # Errors
/// [`Error::InvalidArgument`] for another length of `off` or numbers that are not finite; [`Error::Numerical`] if an
/// eigenvalue does not converge; [`Error::OutOfMemory`].
pub fn ends(diagonal: &[f64], off: &[f64]) -> Result<Ends> {
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
    for l in 0..m {
        let mut sweep = 0;
        loop {
            // The first place from l on where the matrix falls apart.
            let split = |k: usize| e[k].abs() <= f64::EPSILON * (d[k].abs() + d[k + 1].abs());
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
    Ok(Ends { values: sorted(&d)?, first: sorted(&first)?, last: sorted(&last)? })
}
