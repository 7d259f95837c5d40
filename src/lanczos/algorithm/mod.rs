//! The methods, for every backend.
//!
//! | file | subject |
//! |---|---|
//! | `pairs` | a whole call |
//! | `restart`, `partial` | thick-restart Lanczos, with full and with partial orthogonality |
//! | `block` | the same with blocks |
//! | `complete` | the test that no copy of a wanted eigenvalue is missing |
//! | `verify` | the search and the check for copies of multiple eigenvalues |
//! | `transform`, `filter` | inverses and polynomials that replace the operator; solves with polynomials |
//! | `polynomials` | the choice of these polynomials |
//! | `bidiagonal`, `triplets` | Golub-Kahan-Lanczos for singular triplets; triplets of a pair of spaces |
//! | `jacobi` | singular values of small matrices, each accurate to its own size |
//! | `symmetry`, `scale` | tests of operators without entries: symmetry, and norms whose squares underflow |
//! | `given` | tests of a caller's known vectors and solve, after a run that failed |
//! | `cullum`, `plain` | the plain recurrence with its test; eigenpairs from it |

pub mod bidiagonal;
pub mod block;
mod complete;
pub mod cullum;
pub mod filter;
mod given;
pub mod jacobi;
pub mod pairs;
mod partial;
pub mod plain;
mod polynomials;
pub mod restart;
pub mod scale;
pub mod symmetry;
pub mod transform;
pub mod triplets;
pub mod verify;

use crate::error::{Error, Result};

/// Number of the first random vector that measures an operator; far from the numbers of start vectors.
pub const PROBES: u32 = 1 << 31;

/// Computes the eigenvalues of a dense Hermitian matrix, whose lower triangle is read, and its eigenvectors,
/// column-major.
pub type Small<'a, W> = dyn FnMut(usize, &[W]) -> Result<(Vec<f64>, Vec<W>)> + 'a;

/// Refuses a number that is not finite; `what` is its name in the error. It is a sum of squares of products, in double
/// precision, or comes from one: these overflow for norms above the root of the largest number.
pub(super) fn finite(x: f64, what: &str) -> Result<f64> {
    if x.is_finite() {
        return Ok(x);
    }
    Err(Error::Numerical(format!(
        "{what} is {x}: the matrix has a number that is not finite, or the operator's norm is above 1.3e154, in single \
         precision 3.4e38"
    )))
}
