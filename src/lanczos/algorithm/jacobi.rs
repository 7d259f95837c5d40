//! Singular values of small square matrices by one-sided Jacobi rotations (Hestenes, J. SIAM 6, 1958). If the columns
//! differ in size, each value is accurate relative to itself, not to the largest (Demmel and Veselic, SIAM J. Matrix
//! Anal. Appl. 13, 1992).

use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::Scalar;

const WHAT: &str = "singular values of a projected matrix";

/// Largest number of sweeps over all pairs of columns; nearly diagonal matrices take two or three.
const SWEEPS: usize = 60;

/// Columns of smaller norm, in a matrix of size 1, count as 0: their numbers would be subnormal and have no accurate
/// direction.
const NOTHING: f64 = 1e-290;

/// A = P diag(s) Q^H of order k, column-major; the values are not sorted.
pub struct Decomposition<W> {
    /// P, unitary, k-by-k.
    pub left: Vec<W>,
    /// s, k numbers that are not negative.
    pub values: Vec<f64>,
    /// Q, unitary, k-by-k.
    pub right: Vec<W>,
}

/// Decomposes a k-by-k matrix, column-major.
///
/// # Errors
/// [`Error::Numerical`] for numbers that are not finite; [`Error::OutOfMemory`].
pub fn decompose<W: Scalar>(k: usize, mut a: Vec<W>) -> Result<Decomposition<W>> {
    let one = W::from_parts(1.0, 0.0);
    let size = largest(&a);
    if a.iter().any(|v| !(v.re().is_finite() && v.im().is_finite())) {
        return Err(Error::Numerical("a projected matrix has a number that is not finite".into()));
    }
    let mut right = alloc::filled(WHAT, k * k, W::default())?;
    (0..k).for_each(|i| right[i * k + i] = one);
    if size > 0.0 {
        // Sums of the largest numbers of the type would overflow.
        a.iter_mut().for_each(|v| *v = W::from_parts(v.re() / size, v.im() / size));
    }
    let limit = f64::EPSILON * (k as f64).sqrt();
    for sweep in 0.. {
        let mut is_turned = false;
        for q in 1..k {
            for p in 0..q {
                is_turned |= turn(k, (p, q), limit, &mut a, &mut right);
            }
        }
        if !is_turned {
            break;
        }
        if sweep == SWEEPS {
            return Err(Error::Numerical(format!("singular values of order {k} do not converge")));
        }
    }
    let mut values = alloc::with_capacity(WHAT, k)?;
    values.extend(a.chunks_exact(k.max(1)).map(norm));
    for j in 0..k {
        if values[j] > 0.0 {
            let inverse = W::from_parts(1.0 / values[j], 0.0);
            a[j * k..(j + 1) * k].iter_mut().for_each(|v| *v = inverse * *v);
        }
    }
    complete(k, &mut a, &values)?;
    values.iter_mut().for_each(|v| *v *= size);
    Ok(Decomposition { left: a, values, right })
}

/// The largest of the real and imaginary parts.
fn largest<W: Scalar>(x: &[W]) -> f64 {
    x.iter().fold(0.0f64, |most, v| most.max(v.re().abs()).max(v.im().abs()))
}

/// The 2-norm, without squares that underflow.
fn norm<W: Scalar>(x: &[W]) -> f64 {
    let most = largest(x);
    if most == 0.0 {
        return 0.0;
    }
    let square = |x: &W| (x.re() / most).powi(2) + (x.im() / most).powi(2);
    most * x.iter().map(square).sum::<f64>().sqrt()
}

/// (x / a)^H (y / b).
fn dot<W: Scalar>((x, a): (&[W], f64), (y, b): (&[W], f64)) -> W {
    let scaled = |v: &W, size: f64| W::from_parts(v.re() / size, v.im() / size);
    x.iter().zip(y).fold(W::default(), |sum, (x, y)| sum + scaled(x, a).conjugate() * scaled(y, b))
}

/// Columns p < q of a matrix with k rows.
fn pair<W>(k: usize, (p, q): (usize, usize), a: &mut [W]) -> (&mut [W], &mut [W]) {
    let (low, high) = a.split_at_mut(q * k);
    (&mut low[p * k..(p + 1) * k], &mut high[..k])
}

/// Rotates two columns of `a` so that they are orthogonal, and the same columns of `right` likewise. False if they are
/// orthogonal to `limit` already.
fn turn<W: Scalar>(k: usize, columns: (usize, usize), limit: f64, a: &mut [W], right: &mut [W]) -> bool {
    let (x, y) = pair(k, columns, a);
    for column in [&mut *x, &mut *y] {
        if norm(column) < NOTHING {
            column.fill(W::default());
        }
    }
    let (long, short) = (norm(x), norm(y));
    if long == 0.0 || short == 0.0 {
        return false;
    }
    let along = dot((x, long), (y, short));
    let size = along.re().hypot(along.im());
    if size <= limit {
        return false;
    }
    let phase = W::from_parts(along.re() / size, -along.im() / size);
    let zeta = (short / long - long / short) / (2.0 * size);
    let tangent = zeta.signum() / (zeta.abs() + 1.0f64.hypot(zeta));
    if tangent == 0.0 {
        return false;
    }
    let cosine = 1.0 / 1.0f64.hypot(tangent);
    let (c, s) = (W::from_parts(cosine, 0.0), W::from_parts(cosine * tangent, 0.0));
    let (u, v) = pair(k, columns, right);
    for (x, y) in [(x, y), (u, v)] {
        for (x, y) in x.iter_mut().zip(y) {
            let (old, turned) = (*x, phase * *y);
            *x = c * old - s * turned;
            *y = s * old + c * turned;
        }
    }
    true
}

/// Replaces columns that are 0 by unit vectors that are orthogonal to the other columns.
fn complete<W: Scalar>(k: usize, a: &mut [W], values: &[f64]) -> Result<()> {
    let mut is_made = alloc::with_capacity(WHAT, k)?;
    is_made.extend(values.iter().map(|v| *v > 0.0));
    let mut unit = alloc::filled(WHAT, k, W::default())?;
    let mut next = 0;
    for j in 0..k {
        while !is_made[j] && next < k {
            unit.fill(W::default());
            unit[next] = W::from_parts(1.0, 0.0);
            next += 1;
            for _ in 0..2 {
                for (column, _) in a.chunks_exact(k).zip(&is_made).filter(|(_, made)| **made) {
                    let along = dot((column, 1.0), (&unit, 1.0));
                    unit.iter_mut().zip(column).for_each(|(u, c)| *u -= along * *c);
                }
            }
            let left = norm(&unit);
            // While a column is missing, at least one of the unit vectors keeps this norm.
            if left * left * 2.0 * k as f64 >= 1.0 {
                let inverse = W::from_parts(1.0 / left, 0.0);
                a[j * k..(j + 1) * k].iter_mut().zip(&unit).for_each(|(to, u)| *to = inverse * *u);
                is_made[j] = true;
            }
        }
    }
    Ok(())
}
