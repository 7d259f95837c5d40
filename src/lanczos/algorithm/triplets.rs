//! Singular triplets of a pair of spaces: the Rayleigh-Ritz step on both sides, and residuals of both equations.

use super::super::options::{Settings, Which};
use super::super::sides::{Side, Sides};
use super::finite;
use super::jacobi::decompose;
use super::restart::{Counts, fresh, pick};
use crate::alloc;
use crate::error::Result;
use crate::lanczos::cycles::Columns;
use crate::scalar::Scalar;

const WHAT: &str = "singular triplets";

/// Rounding errors in a residual, in units of roundoff times the norm times the square root of the number of vectors.
const RESIDUAL: f64 = 16.0;

/// A smaller space counts as this many vectors in that bound.
const LEAST: usize = 16;

/// The largest residual of a triplet that has converged.
pub fn allowed(settings: &Settings, value: f64, norm: f64) -> f64 {
    let rounding = RESIDUAL * (settings.basis.max(LEAST) as f64).sqrt() * settings.epsilon;
    // Twice the tolerance: once for the estimate that ends the iteration, once for the errors that the rotation adds.
    (2.0 * settings.tolerance * value).max(rounding * norm)
}

/// Makes a column orthogonal to all before it, scales it to norm 1, and returns the norm of the remainder. If the
/// remainder is rounding error only, the column becomes a random unit vector and the result is 0; `None` if there is no
/// such vector.
///
/// # Errors
/// As [`complete`].
pub fn unit<T: Scalar>(
    krylov: &mut Columns<'_, T>,
    column: usize,
    settings: &Settings,
    counts: &mut Counts,
) -> Result<Option<f64>> {
    let p = krylov.orthogonalize(column, column)?;
    counts.norm = counts.norm.max(finite(p.before, "the norm of a product")?);
    let rest = finite(p.after, "a coefficient")?;
    let rounding = settings.epsilon * counts.norm;
    if rest > rounding {
        krylov.scale(column, 1.0 / rest)?;
        if rest > 1e3 * rounding {
            return Ok(Some(rest));
        }
        // A short remainder is orthogonal only to its own size.
        let again = krylov.orthogonalize(column, column)?;
        if again.after > 0.5 {
            krylov.scale(column, 1.0 / again.after)?;
            return Ok(Some(rest * again.after));
        }
    }
    counts.breakdowns += 1;
    Ok(fresh(krylov, settings.seed, counts, column)?.then_some(0.0))
}

/// Makes the first `count` columns of the short side orthonormal, and the first `count` columns of the long side an
/// orthonormal basis that contains their images.
///
/// # Errors
/// [`crate::error::Error::Numerical`] if products are not finite; errors of the backend.
pub fn complete<T: Scalar>(
    sides: &mut dyn Sides<T>,
    count: usize,
    settings: &Settings,
    counts: &mut Counts,
) -> Result<()> {
    let mut bases = Counts { norm: 1.0, drawn: counts.drawn, ..Counts::default() };
    for j in 0..count {
        unit(sides.side(Side::Short), j, settings, &mut bases)?;
    }
    counts.drawn = bases.drawn;
    for j in 0..count {
        sides.cross(Side::Short, j, j)?;
        unit(sides.side(Side::Long), j, settings, counts)?;
    }
    Ok(())
}

/// Makes the first `count` columns of both sides orthonormal to a few roundings. Each restart of a bidiagonalization
/// multiplies them by a matrix that is orthonormal to a few roundings only, and their norms drift by about as much each
/// time.
///
/// # Errors
/// As [`complete`].
pub fn orthonormalize<T: Scalar>(sides: &mut dyn Sides<T>, count: usize) -> Result<()> {
    for side in Side::BOTH {
        let krylov = sides.side(side);
        for j in 0..count {
            let rest = finite(krylov.orthogonalize(j, j)?.after, "the norm of a singular vector")?;
            // Columns that depend on each other stay unchanged; `deviations` finds them.
            if rest > 0.5 {
                krylov.scale(j, 1.0 / rest)?;
            }
        }
    }
    Ok(())
}

/// For each of the first `count` columns, the largest |x_i . x_j - delta_ij| over j <= i and both sides.
///
/// # Errors
/// As [`complete`].
pub fn deviations<T: Scalar>(sides: &mut dyn Sides<T>, count: usize) -> Result<Vec<f64>> {
    let mut most = alloc::filled(WHAT, count, 0.0f64)?;
    for side in Side::BOTH.into_iter().filter(|_| count > 0) {
        let gram = sides.side(side).gram(0, count)?;
        for (i, row) in gram.chunks_exact(count).enumerate() {
            for (j, dot) in row[..=i].iter().enumerate() {
                let far = (dot.re() - if i == j { 1.0 } else { 0.0 }).hypot(dot.im());
                most[i] = most[i].max(finite(far, "an inner product of singular vectors")?);
            }
        }
    }
    Ok(most)
}

/// Rotates the first `count` columns of both sides, which are orthonormal, so that U^H A V is diagonal and not
/// negative, in the order of `which`. Returns the diagonal. Overwrites column `work` of the long side.
///
/// # Errors
/// As [`complete`].
pub fn rotate<T: Scalar>(sides: &mut dyn Sides<T>, count: usize, which: Which, work: usize) -> Result<Vec<f64>> {
    let mut projected = alloc::filled(WHAT, count * count, T::Wide::default())?;
    for (j, h) in projected.chunks_exact_mut(count.max(1)).enumerate() {
        sides.cross(Side::Short, j, work)?;
        sides.side(Side::Long).project(0, count, work, 1, h)?;
    }
    let found = decompose(count, projected)?;
    let order = which.arrange(&found.values);
    for (side, turn) in [(Side::Short, &found.right), (Side::Long, &found.left)] {
        sides.side(side).rotate(0, count, &pick(&order, turn, count)?, count)?;
    }
    let mut values = alloc::with_capacity(WHAT, count)?;
    values.extend(order.iter().map(|&i| found.values[i]));
    Ok(values)
}

/// The larger of ||A v - s u|| and ||A^H u - s v|| for each of the first columns. Overwrites column `work` of both
/// sides.
///
/// # Errors
/// As [`complete`].
pub fn residuals<T: Scalar>(sides: &mut dyn Sides<T>, values: &[f64], work: usize) -> Result<Vec<f64>> {
    let mut residuals = alloc::with_capacity(WHAT, values.len())?;
    for (j, &value) in values.iter().enumerate() {
        let mut worst = 0.0f64;
        for (from, to) in [(Side::Short, Side::Long), (Side::Long, Side::Short)] {
            sides.cross(from, j, work)?;
            worst = worst.max(finite(sides.side(to).distance(work, value, j)?, "a residual")?);
        }
        residuals.push(worst);
    }
    Ok(residuals)
}
