//! The checks of an operator that need no entries of its matrix: a plan makes them, and a run makes them first.

use std::sync::Arc;

use super::Kind;
use crate::choice::word;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::sparse::Ordering;
use crate::matrix::{Matrix, Storage};
use crate::range;
use crate::scalar::Scalar;

/// Refuses a matrix, a kind, a shift and an ordering that no Hermitian operator is made of.
///
/// # Errors
/// As [`super::hermitian::Symmetric::in_order`], but for those that depend on the entries.
pub(in crate::lanczos) fn check<T: Scalar>(
    context: &Arc<Context>,
    a: &Matrix,
    kind: Kind,
    shift: f64,
    ordering: Option<Ordering>,
) -> Result<()> {
    a.expect_context("a", context)?;
    a.expect_dtype("a", T::DTYPE)?;
    let shape @ (rows, cols) = (a.rows(), a.cols());
    if kind.is_of_square() && rows != cols {
        return Err(Error::invalid("a", format!("is {rows} x {cols}, a square matrix is needed")));
    }
    if ordering.is_some() && !kind.is_of_square() {
        return Err(Error::invalid("ordering", format!("is set, {} has no order of its own", word(kind))));
    }
    match a.storage() {
        Storage::Operator(_) if ordering.is_some() => {
            return Err(Error::NotSupported("ordering: is set, a sparse matrix is needed, not an operator".into()));
        }
        Storage::Operator(_) | Storage::Csr(_) => {}
        other => return Err(Error::NotSupported(format!("a: is {}, a sparse matrix is needed", other.name()))),
    }
    check_terms(kind, shape, shift)?;
    if kind.is_of_graph() && T::DTYPE.is_complex() {
        return Err(Error::invalid(
            "a",
            format!("is {}, {} is of a graph with real weights", T::DTYPE.name(), word(kind)),
        ));
    }
    if let Storage::Operator(own) = a.storage()
        && kind.is_of_graph()
        && !own.lock::<T>("a")?.view()?.has_row_sums()
    {
        return Err(no_row_sums(kind));
    }
    Ok(())
}

/// Refuses a kind that is not Hermitian, a shift that is not finite, and a matrix without rows.
pub(super) fn check_terms(kind: Kind, shape: (usize, usize), shift: f64) -> Result<()> {
    if kind == Kind::RandomWalkLaplacian {
        let problem = "is RANDOM_WALK_LAPLACIAN, which is not symmetric: NORMALIZED_LAPLACIAN has its eigenvalues, and its \
                       eigenvectors are those of it over the roots of the degrees";
        return Err(Error::invalid("kind", problem));
    }
    range::finite("shift", shift)?;
    if kind.order(shape) == 0 {
        return Err(Error::invalid(
            "a",
            format!("is {} x {}, an operator of order 1 or more is needed", shape.0, shape.1),
        ));
    }
    Ok(())
}

/// The error of an operator of the caller's whose row sums are not known.
pub(super) fn no_row_sums(kind: Kind) -> Error {
    Error::NotSupported(format!("a: is an operator, a sparse matrix is needed for {}", word(kind)))
}
