//! Matrices and kinds of operators whose rows several contexts can share.

use super::super::operator::{Kind, symmetric, unsymmetric};
use crate::backend::memory::Memory;
use crate::choice::word;
use crate::error::{Error, Result};
use crate::matrix::{Csr, Matrix, Storage};
use crate::scalar::{Real, Scalar};

/// The storage of a square sparse matrix that is not empty; refuses any other matrix.
pub(in crate::lanczos) fn expect_rows(a: &Matrix) -> Result<&Csr> {
    let (rows, cols) = (a.rows(), a.cols());
    if rows != cols {
        return Err(Error::invalid("a", format!("is {rows} x {cols}, a square matrix is needed")));
    }
    if rows == 0 {
        return Err(Error::invalid("a", "is 0 x 0, an operator of order 1 or more is needed"));
    }
    match a.storage() {
        Storage::Csr(csr) => Ok(csr),
        other => {
            let name = other.name();
            Err(Error::NotSupported(format!("a: is {name}, several contexts share the rows of a sparse matrix")))
        }
    }
}

/// Refuses a kind of operator whose rows several contexts cannot share.
///
/// # Errors
/// [`Error::NotSupported`].
pub fn expect_kind(kind: Kind) -> Result<()> {
    if kind.is_of_square() {
        return Ok(());
    }
    let problem = format!("kind: is {}, several contexts share the rows of MATRIX to MODULARITY alone", word(kind));
    Err(Error::NotSupported(problem))
}

/// Refuses a matrix that is not sparse and square, and one on the host that is not Hermitian. True if the values are on
/// a device, where products must test the symmetry.
pub(super) fn expect_matrix<T: Scalar>(a: &Matrix, kind: Kind) -> Result<bool> {
    expect_kind(kind)?;
    let csr = expect_rows(a)?;
    if matches!(csr.parts().values, Some(Memory::Device(_))) {
        return Ok(true);
    }
    if symmetric(a, 100.0 * T::Part::EPSILON.to_f64())? {
        return Ok(false);
    }
    Err(unsymmetric(a))
}
