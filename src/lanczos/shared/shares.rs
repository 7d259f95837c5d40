//! The partition of a matrix, in figures.

use super::super::info::Shares;
use super::expect::expect_rows;
use super::partition::Partition;
use crate::error::Result;
use crate::group::Group;
use crate::matrix::Matrix;

/// The partition that [`super::eigenpairs_over`] would use for a square sparse matrix, in figures. The matrix keeps the
/// parts if its values are known not to change.
///
/// # Errors
/// As [`super::eigenpairs_over`], except that the matrix need not be Hermitian.
pub fn shares(group: &Group, a: &Matrix) -> Result<Shares> {
    group.check_alive()?;
    a.expect_context("a", group.first())?;
    expect_rows(a)?;
    if group.members().len() > 1 {
        return Ok(Partition::cached(group.members(), a)?.shares(a.dtype()));
    }
    let csr = crate::spmv::tiles::csr(a)?;
    let (rows, entries, number) = (a.rows(), csr.nnz(), a.dtype().size());
    let value = if csr.parts().values.is_some() { number } else { 0 };
    let product_bytes = entries * (4 + value) + rows * (8 + 2 * number);
    Ok(Shares { contexts: 1, rows, entries, halo: 0, halo_bytes: 0, product_bytes })
}
