//! The density of a spectrum, by Lanczos recurrences from random vectors (Lin, Saad and Yang, SIAM Review 58, 2016).

use std::sync::Arc;

use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::lanczos::operator::Symmetric;
use crate::lanczos::solve::tridiagonalize_within;
use crate::lanczos::tridiagonal::ends;
use crate::progress::Progress;
use crate::range;
use crate::scalar::Scalar;

/// Points and weights: the sum of f(point) * weight is about the mean of f over the spectrum, trace(f(A)) / n.
#[derive(Debug, Clone, PartialEq)]
pub struct Density {
    /// Points, ascending for each random vector, vector by vector.
    pub points: Vec<f64>,
    /// Weights, which sum to 1.
    pub weights: Vec<f64>,
}

impl Density {
    /// trace(f(A)) of an operator of order `n`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for points or weights that are not finite; [`Error::Numerical`] for a trace that is not.
    pub fn trace(&self, n: usize, f: impl Fn(f64) -> f64) -> Result<f64> {
        trace(&self.points, &self.weights, n, f)
    }

    /// Shares of the spectrum in `bins` equal parts of `from .. to`. Points outside count in the first or the last bin.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no bins, an empty interval, and points or weights that are not finite;
    /// [`Error::OutOfMemory`].
    pub fn histogram(&self, from: f64, to: f64, bins: usize) -> Result<Vec<f64>> {
        histogram(&self.points, &self.weights, (from, to), bins)
    }
}

/// As [`Density::trace`].
///
/// # Errors
/// As [`Density::trace`].
pub fn trace(points: &[f64], weights: &[f64], n: usize, f: impl Fn(f64) -> f64) -> Result<f64> {
    expect_finite(points, weights)?;
    let found = n as f64 * points.iter().zip(weights).map(|(p, w)| f(*p) * w).sum::<f64>();
    if !found.is_finite() {
        return Err(Error::Numerical(format!("trace: is {found}, a finite sum is needed")));
    }
    Ok(found)
}

/// As [`Density::histogram`].
///
/// # Errors
/// As [`Density::histogram`].
pub fn histogram(points: &[f64], weights: &[f64], (from, to): (f64, f64), bins: usize) -> Result<Vec<f64>> {
    if bins == 0 {
        return Err(Error::invalid("bins", "is 0, at least 1 is needed"));
    }
    range::finite("from", from)?;
    range::finite("to", to)?;
    if to <= from {
        return Err(Error::invalid("to", format!("is {}, more than from = {} is needed", real(to), real(from))));
    }
    if (to - from).is_infinite() {
        return Err(Error::invalid("to", format!("is {}, too far from from = {}", real(to), real(from))));
    }
    expect_finite(points, weights)?;
    let mut shares = alloc::filled("histogram", bins, 0.0)?;
    for (p, w) in points.iter().zip(weights) {
        let at = ((p - from) / (to - from) * bins as f64).max(0.0) as usize;
        shares[at.min(bins - 1)] += w;
    }
    Ok(shares)
}

fn expect_finite(points: &[f64], weights: &[f64]) -> Result<()> {
    for (argument, list) in [("points", points), ("weights", weights)] {
        if let Some(k) = list.iter().position(|x| !x.is_finite()) {
            return Err(Error::invalid(argument, format!("element {k} is {}, not finite", list[k])));
        }
    }
    Ok(())
}

/// Gauss quadrature of the spectral measures of `vector_count` random vectors, with `steps` points each. The error of a
/// trace decreases with the square root of `vector_count`. For each vector, polynomials of degree up to 2 `steps` - 1
/// are integrated exactly.
///
/// # Errors
/// [`Error::InvalidArgument`] for no vectors or steps; else as [`tridiagonalize`](crate::lanczos::solve::tridiagonalize).
pub fn density<T: Scalar>(
    context: &Arc<Context>,
    operator: &mut Symmetric<'_, T>,
    steps: usize,
    vector_count: u32,
    seed: u64,
    progress: &Progress<'_>,
) -> Result<Density> {
    if vector_count == 0 {
        return Err(Error::invalid("vector_count", "is 0, at least 1 is needed"));
    }
    let (mut points, mut weights) = (Vec::new(), Vec::new());
    for vector in 0..vector_count {
        let given = (seed.wrapping_add(u64::from(vector)), None);
        let at = (vector as usize, vector_count as usize);
        let of = tridiagonalize_within(context, operator, steps, given, at, progress)?;
        let m = of.alpha.len();
        let found = ends(&of.alpha, &of.beta[..m - 1], &mut || progress.check())?;
        for (value, first) in found.values.into_iter().zip(found.first) {
            alloc::push("density of a spectrum", &mut points, value)?;
            alloc::push("density of a spectrum", &mut weights, first * first / f64::from(vector_count))?;
        }
    }
    Ok(Density { points, weights })
}
