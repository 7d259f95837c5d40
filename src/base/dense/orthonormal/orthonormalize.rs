//! The entry to the ladder for matrices of any type.

use super::columns::{Columns, Small};
use super::method::{BasisMethod, Counts};
use super::{erased, ladder};
use crate::error::Result;
use crate::scalar::Scalar;

/// Replaces X by an orthonormal basis Q of its columns' span, and returns the upper triangular R of X = Q R. X has at least
/// as many rows as columns. If X is rank-deficient, Q also has random directions, for which the rows of R are zeros or
/// roundoff.
///
/// # Errors
/// [`crate::error::Error::Numerical`] if X holds numbers that are not finite.
pub fn orthonormalize<T: Scalar, C: Columns<T>>(
    columns: &mut C,
    x: &mut C::X,
    method: BasisMethod,
    counts: &mut Counts,
) -> Result<Small<T, C>> {
    ladder::climb(&mut erased::Typed::new(columns), x, method, counts)?.into_inner()
}
