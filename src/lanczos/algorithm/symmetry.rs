//! Tests whether an operator without known entries is symmetric.

use super::super::cycles::Columns;
use super::super::operator::UNSYMMETRIC;
use super::{PROBES, finite};
use crate::error::{Error, Result, real};
use crate::scalar::{Real, Scalar};

/// Roundings of the terms by which products of a symmetric operator may differ.
const ROUNDINGS: f64 = 100.0;

/// Differences of at most this in parts of the size may be rounding errors of products in half or single precision.
const LOWER_PRECISION: f64 = 1e-3;

/// The problem text of errors about an operator whose products contradict its symmetry.
fn problem(far: f64, size: f64) -> String {
    let hint = if far <= LOWER_PRECISION * size {
        "; products in a lower precision differ as little, which a larger tolerance allows for"
    } else {
        ""
    };
    let (far, size) = (real(far), real(size));
    format!("{UNSYMMETRIC}: |u.(A v) - v.(A u)| = {far} for random u and v, with |u| |A v| + |v| |A u| = {size}{hint}")
}

/// Refuses an operator if |u . (A v) - v . (A u)|, which is `far`, is more than 100 roundings of |u| |A v| + |v| |A u|,
/// which is `size`.
///
/// # Errors
/// [`Error::InvalidArgument`]; [`Error::Numerical`] for numbers that are not finite.
pub fn expect_symmetric(far: f64, size: f64, epsilon: f64) -> Result<()> {
    finite(far + size, "a product with a random vector")?;
    if far > ROUNDINGS * epsilon * size {
        return Err(Error::invalid("a", problem(far, size)));
    }
    Ok(())
}

/// Tests by products with random vectors u and v whether v . A u and u . A v are each other's conjugates. Overwrites
/// columns 0 to 2.
///
/// # Errors
/// [`Error::InvalidArgument`] if they are not, to 100 roundings of |u| |A v| and |v| |A u|; [`Error::Numerical`] if
/// products are not finite; errors of the backend.
pub fn sample<T: Scalar>(krylov: &mut Columns<'_, T>) -> Result<()> {
    let (far, size) = deviation(krylov, 0)?;
    expect_symmetric(far, size, T::Part::EPSILON.to_f64())
}

/// As [`sample`] in the three columns from `first` on, for an operator whose computed residuals contradict the method.
///
/// # Errors
/// [`Error::Numerical`] if the operator is not symmetric, or products are not finite; errors of the backend.
pub(super) fn explain<T: Scalar>(krylov: &mut Columns<'_, T>, first: usize) -> Result<()> {
    let (far, size) = deviation(krylov, first)?;
    expect_symmetric(far, size, T::Part::EPSILON.to_f64()).map_err(|error| match error {
        Error::InvalidArgument { problem, .. } => Error::Numerical(format!("the operator {problem}")),
        other => other,
    })
}

/// |u . (A v) - v . (A u)| in parts of |u| |A v| + |v| |A u| if products with random u and v show that the operator is not
/// symmetric; 0 if they do not. Overwrites the three columns from `first` on.
///
/// # Errors
/// Errors of the backend.
pub(super) fn asymmetry<T: Scalar>(krylov: &mut Columns<'_, T>, first: usize) -> Result<f64> {
    let (far, size) = deviation(krylov, first)?;
    Ok(if far > ROUNDINGS * T::Part::EPSILON.to_f64() * size { far / size } else { 0.0 })
}

/// |u . (A v) - v . (A u)| and |u| |A v| + |v| |A u|, where |A v| is at least the norm of the terms of A times |v|.
fn deviation<T: Scalar>(krylov: &mut Columns<'_, T>, first: usize) -> Result<(f64, f64)> {
    let column = |j: usize| first + j;
    krylov.random(0, PROBES, column(0))?;
    krylov.random(0, PROBES + 1, column(1))?;
    let mut along = [T::Wide::from_parts(0.0, 0.0); 2];
    let mut size = 0.0;
    for j in 0..2 {
        krylov.apply(column(j), column(2))?;
        let [product, own, other] = [2, j, 1 - j].map(|c| krylov.distance(column(c), 0.0, column(j)));
        // Rounding errors of A u are at least those of its terms.
        size += product?.max(krylov.terms_norm() * own?) * other?;
        krylov.project(column(1 - j), 1, column(2), 1, &mut along[j..=j])?;
    }
    let far = (along[0].re() - along[1].re()).hypot(along[0].im() + along[1].im());
    Ok((far, size))
}
