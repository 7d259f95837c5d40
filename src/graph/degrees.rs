//! Row sums of graphs, with or without a stored matrix.

use crate::alloc;
use crate::error::{Error, Result};
use crate::matrix::sparse::row_sums;
use crate::matrix::{Matrix, Storage};
use crate::spmv::terms::expect_finite_sums;

/// The row sums of a graph: those of a sparse matrix, or those that an F64 operator knows.
///
/// # Errors
/// [`Error::NotSupported`] for another storage, and for an operator that does not know them; [`Error::Busy`] for an
/// operator in use; as [`expect_finite_sums`].
pub(super) fn degrees(graph: &Matrix) -> Result<Vec<f64>> {
    if let Storage::Operator(own) = graph.storage() {
        let found = own.lock::<f64>("graph")?.operator()?.row_sums()?;
        return found.ok_or_else(|| Error::NotSupported("graph: is an operator, a sparse matrix is needed".into()));
    }
    let sums = row_sums(graph)?;
    let mut degrees = alloc::with_capacity("degrees of a graph", sums.len())?;
    degrees.extend(sums.iter().map(|d| d.re));
    expect_finite_sums("graph", &degrees, Some(graph), |row| row)?;
    Ok(degrees)
}
