//! Tests for operators that are so small that squares of residuals underflow. No result for them could be trusted,
//! least of all a residual of 0.

use super::super::cycles::Cycles;
use super::super::sides::{Side, Sides};
use super::PROBES;
use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::{Real, Scalar, power_of_two};

const WHAT: &str = "product with a random vector";

/// The least norm of an operator whose residuals can be computed: squares of its rounding errors are normal numbers. In
/// single precision, its products are normal numbers.
fn least<T: Scalar>() -> f64 {
    if T::Part::EPSILON.to_f64() > 1e-10 { 1e-36 } else { 1e-130 }
}

/// The largest modulus of a real or imaginary part.
fn largest<T: Scalar>(y: &[T]) -> f64 {
    y.iter().fold(0.0f64, |most, v| most.max(v.re().abs()).max(v.im().abs()))
}

/// Writes a caller's vector to a column. It is multiplied by a power of two if squares of its numbers could leave the
/// range of the type.
///
/// # Errors
/// Errors of the backend.
pub fn put<K: Cycles + ?Sized>(krylov: &mut K, v: &[K::Number], column: usize) -> Result<()> {
    let size = largest(v);
    if size == 0.0 || (1e-15..1e15).contains(&size) {
        return krylov.write(v, column);
    }
    let factor = 1.0 / power_of_two(size);
    let mut scaled = alloc::with_capacity("a scaled vector", v.len())?;
    scaled.extend(v.iter().map(|x| K::Number::from_parts(factor * x.re(), factor * x.im())));
    krylov.write(&scaled, column)
}

/// The error of an operator that is so small that squares of residuals underflow; `size` is a clause about its products.
pub fn underflow(size: &str) -> Error {
    Error::Numerical(format!("a: {size}: squares of residuals underflow"))
}

/// Refuses a product of a vector of norm 1 that is not 0, but so small that squares of residuals underflow; after a
/// solve that `has_failed`, also one whose rounding errors are so small.
///
/// # Errors
/// [`Error::Numerical`].
pub fn refuse<T: Scalar>(y: &[T], has_failed: bool) -> Result<()> {
    let least = least::<T>() / if has_failed { T::Part::EPSILON.to_f64() } else { 1.0 };
    let size = largest(y);
    // A product of 0 or of normal size is fine: with known vectors locked, the remaining operator may be 0.
    if size == 0.0 || size >= least {
        return Ok(());
    }
    Err(underflow(&format!("products with vectors of norm 1 are as small as {size:e}, at least {least:.1e} is needed")))
}

/// How many times the norm of an operator may be its estimate by a step of the power method.
const MARGIN: f64 = 100.0;

/// Refuses A^H A before it is used if its norm is too small. `size` is an estimate of ||A||, not 0, that may be a hundred
/// times too small; near the limit the solve's own estimate decides.
///
/// # Errors
/// [`Error::Numerical`].
pub fn expect_square_of<T: Scalar>(size: f64) -> Result<()> {
    // Compare roots: the square itself may underflow to 0.
    let least = least::<T>().sqrt();
    if size < least / MARGIN {
        let size = format!("its norm is about {size:.1e}, at least {least:.1e} is needed for A^H A");
        return Err(underflow(&size));
    }
    Ok(())
}

/// Refuses an operator whose norm, as estimated by the solve, is too small, unless the operator is 0. Overwrites
/// columns `work` and `work + 1`.
///
/// # Errors
/// [`Error::Numerical`]; errors of the backend.
pub fn expect_scale<K: Cycles + ?Sized>(krylov: &mut K, norm: f64, work: usize) -> Result<()> {
    if norm.is_nan() || norm >= least::<K::Number>() {
        return Ok(());
    }
    krylov.random(0, PROBES, work)?;
    krylov.apply(work, work + 1)?;
    let mut y = alloc::filled(WHAT, krylov.order(), K::Number::default())?;
    krylov.read(work + 1, &mut y)?;
    refuse(&y, false)
}

/// As [`expect_scale`] for a matrix between two sides. Overwrites column `work` of both sides.
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
    refuse(&y, false)
}
