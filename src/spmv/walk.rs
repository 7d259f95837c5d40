//! Weights near the ends of the range, for the random-walk Laplacian.
//!
//! I - D^-1 W does not change when a row of W is multiplied by a number, because its row sum is multiplied too. Powers of
//! two for the rows therefore change no digit, and products of the rows with a vector neither overflow nor underflow
//! where the result does not.

use std::sync::Arc;

use super::kind::Kind;
use super::tiles::csr;
use crate::alloc;
use crate::context::Context;
use crate::error::Result;
use crate::matrix::sparse::{Rows, scale, values};
use crate::matrix::{Matrix, Storage};
use crate::scalar::{Real, Scalar, with_scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

const WHAT: &str = "factors of the rows of a sparse matrix";

/// Exponents of the largest factors, and of the largest moduli of rows that are multiplied as they are.
fn limits<P: Real>() -> (f64, f64) {
    if P::EPSILON.to_f64() > 1e-10 { (126.0, 32.0) } else { (1022.0, 256.0) }
}

/// The matrix with rows multiplied by powers of two, so that the largest modulus in each is of size 1. `None` for another
/// kind, and for a matrix whose rows all have a size that is far from both ends of its type. Rows with a sum below 0 or
/// with numbers that are not finite are left as they are, for the errors that name them.
pub(super) fn balanced(context: &Arc<Context>, a: &Matrix, kind: Kind) -> Result<Option<Matrix>> {
    if kind != Kind::RandomWalkLaplacian || !matches!(a.storage(), Storage::Csr(_)) {
        return Ok(None);
    }
    let Some(factors) = with_scalar!(a.dtype(), "a", T => factors::<T>(context, a))? else { return Ok(None) };
    scale(context, a, Some(&factors), None).map(Some)
}

fn factors<T: Scalar>(context: &Arc<Context>, a: &Matrix) -> Result<Option<Tensor>> {
    let from = csr(a)?;
    let Some(held) = values("a", a)? else { return Ok(None) };
    let (held, rows) = (held.as_slice::<T>()?, Rows::new(from)?);
    let (most, end) = limits::<T::Part>();
    let mut list = alloc::with_capacity(WHAT, rows.len())?;
    let mut is_near_an_end = false;
    for i in 0..rows.len() {
        let (mut sum, mut size) = (0.0f64, 0.0f64);
        for k in rows.row(i) {
            sum += held[k].re();
            size = size.max(held[k].re().abs()).max(held[k].im().abs());
        }
        let is_left = size == 0.0 || !size.is_finite() || sum.is_nan() || sum < 0.0;
        let exponent = if is_left { 0.0 } else { size.log2().floor() };
        is_near_an_end |= exponent.abs() > end;
        list.push(T::from_parts((-exponent).clamp(-most, most).exp2(), 0.0));
    }
    if !is_near_an_end {
        return Ok(None);
    }
    let mut factors = Tensor::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, &[list.len()])?;
    factors.view_mut::<T>("rows")?.data()[..list.len()].copy_from_slice(&list);
    Ok(Some(factors))
}
