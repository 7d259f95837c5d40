//! Refusal of numbers that are not finite.

use crate::error::{Error, Result};

/// Refuses a number that is not finite; `what` is its name in the error. It is a sum of squares of products, in double
/// precision, or comes from one: these overflow for norms above the root of the largest number.
pub(in crate::lanczos) fn finite(x: f64, what: &str) -> Result<f64> {
    if x.is_finite() {
        return Ok(x);
    }
    Err(Error::Numerical(format!(
        "{what} is {x}: the matrix has a number that is not finite, or the operator's norm is above 1.3e154, in single \
         precision 3.4e38"
    )))
}
