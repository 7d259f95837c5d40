//! The methods, for every backend.

pub mod cullum;
pub mod restart;
pub mod verify;

use crate::error::{Error, Result};

/// Eigenvalues of a dense symmetric matrix of which the lower triangle is read, and its eigenvectors, column-major.
pub type Small<'a> = dyn FnMut(usize, &[f64]) -> Result<(Vec<f64>, Vec<f64>)> + 'a;

/// Refuses what is not finite.
pub(super) fn finite(x: f64, what: &str) -> Result<f64> {
    if x.is_finite() {
        return Ok(x);
    }
    Err(Error::Numerical(format!("{what} is {x}: the matrix has a number that is not finite, or products overflow")))
}
