//! Operators so small that squares of residuals underflow: nothing computed of them could be trusted, their zero norms least.

use super::super::krylov::Krylov;
use super::super::sides::{Side, Sides};
use super::PROBES;
use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::{Real, Scalar};

const WHAT: &str = "product with a random vector";

/// The least norm of an operator whose residuals can be computed: squares of roundings of it are normal numbers, or its products
/// are where the numbers are of single precision.
fn least<T: Scalar>() -> f64 {
    if T::Part::EPSILON.to_f64() > 1e-10 { 1e-36 } else { 1e-130 }
}

fn refuse<T: Scalar>(y: &[T]) -> Result<()> {
    let size = y.iter().fold(0.0f64, |most, v| most.max(v.re().abs()).max(v.im().abs()));
    if size == 0.0 {
        return Ok(());
    }
    let problem = "squares of residuals underflow. Multiply the matrix by a power of two";
    Err(Error::Numerical(format!("products with vectors of norm 1 are as small as {size:e}: {problem}")))
}

/// Refuses an operator whose norm, as far as it was met, is too small, unless it is 0. Columns `work` and `work + 1` are written
/// to.
///
/// # Errors
/// [`Error::Numerical`]; what the backend reports.
pub fn expect_scale<K: Krylov + ?Sized>(krylov: &mut K, norm: f64, work: usize) -> Result<()> {
    if norm.is_nan() || norm >= least::<K::Number>() {
        return Ok(());
    }
    krylov.random(0, PROBES, work)?;
    krylov.apply(work, work + 1)?;
    let mut y = alloc::filled(WHAT, krylov.order(), K::Number::default())?;
    krylov.read(work + 1, &mut y)?;
    refuse(&y)
}

/// As [`expect_scale`] for a matrix between two sides, whose columns `work` are written to.
///
/// # Errors
/// As [`expect_scale`].
pub fn expect_scale_between<T: Scalar>(sides: &mut dyn Sides<T>, norm: f64, work: usize) -> Result<()> {
    if norm.is_nan() || norm >= least::<T>() {
        return Ok(());
    }
    sides.side(Side::Short).random(0, PROBES, work)?;
    sides.cross(Side::Short, work, work)?;
    let long = sides.side(Side::Long);
    let mut y = alloc::filled(WHAT, long.order(), T::default())?;
    long.read(work, &mut y)?;
    refuse(&y)
}
