//! Tests of the vectors and the solve that a caller gives, after a run that has not found all pairs. A run that succeeds
//! makes none of their products.

use super::super::cycles::Columns;
use super::super::ops::Affine;
use super::PROBES;
use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::{Real, Scalar};

/// Known vectors are refused if a product with one of them leaves their span by more than this part of the operator's norm.
const SPAN: f64 = 1e-3;

/// A solve is refused if it leaves more than this part of a right-hand side, beside its rounding errors.
const LEFT: f64 = 0.5;

/// Products of [`expect_inverse`]: one with the solve and two with the matrix.
pub const INVERSE_PRODUCTS: usize = 3;

/// Tests whether the first `known` columns, which are orthonormal, span an invariant space of the operator, of norm `norm`.
/// Returns the largest part of `norm` by which a product leaves the span: no residual of a pair that is kept orthogonal
/// to the span can be expected to be less. Overwrites column `work`.
///
/// # Errors
/// [`Error::InvalidArgument`] if it is more than [`SPAN`]; errors of the backend.
pub fn expect_invariant<T: Scalar>(krylov: &mut Columns<'_, T>, known: usize, norm: f64, work: usize) -> Result<f64> {
    let mut along = alloc::filled("known vectors", known, T::Wide::default())?;
    let mut most = 0.0f64;
    for j in 0..known {
        krylov.apply(j, work)?;
        krylov.project(0, known, work, 1, &mut along)?;
        let far = krylov.distance(work, 0.0, work)?;
        if far > SPAN * norm {
            let problem = format!(
                "vector {j} is no eigenvector: the product with it has {far:.2e} outside the span of the known vectors, for an \
                 operator of norm {norm:.2e}"
            );
            return Err(Error::invalid("deflate", problem));
        }
        most = most.max(far / norm);
    }
    Ok(most)
}

/// Tests by one random b whether the caller's solve inverts A - `sigma` I. Overwrites the three columns from `first` on.
///
/// A solve that is stable leaves a residual of a few roundings of ||A|| ||x||, which may be more than ||b|| next to an
/// eigenvalue; the root of the roundoff stands for them. ||A b|| / ||b|| stands for ||A||.
///
/// # Errors
/// [`Error::InvalidArgument`] if it does not; errors of the backend.
pub fn expect_inverse<T: Scalar>(krylov: &mut Columns<'_, T>, sigma: f64, first: usize) -> Result<()> {
    let [b, x, y] = [0, 1, 2].map(|j| first + j);
    krylov.random(0, PROBES, b)?;
    krylov.apply(b, y)?;
    let length = krylov.distance(b, 0.0, b)?;
    let norm = krylov.distance(y, 0.0, y)? / length + sigma.abs();
    // Of a matrix with numbers that are not finite, or whose squares leave the range, nothing is shown.
    if !norm.is_finite() || norm == 0.0 {
        return Ok(());
    }
    krylov.invert(b, x)?;
    let solution = krylov.distance(x, 0.0, x)?;
    krylov.affine(Affine { center: sigma, ..Affine::PLAIN }, x, y)?;
    krylov.spread(b, &[-1.0], y, true)?;
    let left = krylov.distance(y, 0.0, y)?;
    let rounding = T::Part::EPSILON.to_f64().sqrt() * norm * solution;
    if left <= LEFT * length + rounding {
        return Ok(());
    }
    let problem = format!(
        "is not the inverse of A - sigma I: ||(A - sigma I) x - b|| is {left:.2e} for a random b of norm {length:.2e} and its x \
         of norm {solution:.2e}"
    );
    Err(Error::invalid("solve", problem))
}
