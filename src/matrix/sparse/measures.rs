//! Degrees, norms, symmetry.

use super::entries::{WHAT, csr, value_at, values};
use super::index::Rows;
use super::transform::transposed;
use crate::alloc;
use crate::choice::numbered;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::{Complex, Scalar, with_scalar};

/// A norm of a matrix. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Norm {
    /// Root of the sum of squares.
    Frobenius = 0,
    /// Largest sum of moduli of a column.
    One = 1,
    /// Largest modulus.
    Max = 2,
    /// Largest sum of moduli of a row.
    Infinity = 3,
}

numbered!(Norm, Frobenius, One, Max, Infinity);

/// A norm of a sparse matrix, in f64; entries at one place count each on its own. NaN if an entry is.
///
/// # Errors
/// [`Error::NotSupported`] for another storage or values on a device; [`Error::OutOfMemory`].
pub fn norm(a: &Matrix, which: Norm) -> Result<f64> {
    let from = csr("a", a)?;
    let held = values("a", from)?;
    let rows = Rows::new(from)?;
    with_scalar!(a.dtype(), "a", T => {
        let held = held.map(|h| h.as_slice::<T>()).transpose()?;
        let modulus = |k: usize| -> f64 {
            let v = value_at::<T>(held, k);
            v.re().hypot(v.im())
        };
        // NaN is larger than anything here, so that it is not lost.
        let larger = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
        Ok(match which {
            Norm::Max => (0..from.nnz()).map(modulus).fold(0.0, larger),
            Norm::Infinity => (0..from.rows()).map(|i| rows.row(i).map(modulus).sum()).fold(0.0, larger),
            Norm::One => {
                let mut sums = alloc::filled(WHAT, from.cols(), 0.0)?;
                (0..from.nnz()).for_each(|k| sums[rows.col(k)] += modulus(k));
                sums.into_iter().fold(0.0, larger)
            }
            Norm::Frobenius => {
                let largest = (0..from.nnz()).map(modulus).fold(0.0, larger);
                if largest == 0.0 || !largest.is_finite() {
                    return Ok(largest);
                }
                largest * (0..from.nnz()).map(|k| (modulus(k) / largest).powi(2)).sum::<f64>().sqrt()
            }
        })
    })
}

/// Sums of the rows: the degrees of a graph, a loop counted once.
///
/// # Errors
/// As [`norm`].
pub fn row_sums(a: &Matrix) -> Result<Vec<Complex<f64>>> {
    folded(a, |rows, i, value| rows.row(i).map(value).sum())
}

/// The diagonal, min(rows, columns) long; several entries at one place are added.
///
/// # Errors
/// As [`norm`].
pub fn diagonal(a: &Matrix) -> Result<Vec<Complex<f64>>> {
    let mut sums = folded(a, |rows, i, value| rows.row(i).filter(|&k| rows.col(k) == i).map(value).sum())?;
    sums.truncate(a.rows().min(a.cols()));
    Ok(sums)
}

/// One number a row.
fn folded(
    a: &Matrix,
    of: impl Fn(&Rows<'_>, usize, &dyn Fn(usize) -> Complex<f64>) -> Complex<f64>,
) -> Result<Vec<Complex<f64>>> {
    let from = csr("a", a)?;
    let held = values("a", from)?;
    let rows = Rows::new(from)?;
    let mut out = alloc::with_capacity(WHAT, from.rows())?;
    with_scalar!(a.dtype(), "a", T => {
        let held = held.map(|h| h.as_slice::<T>()).transpose()?;
        let value = |k: usize| {
            let v = value_at::<T>(held, k);
            Complex::new(v.re(), v.im())
        };
        out.extend((0..from.rows()).map(|i| of(&rows, i, &value)));
        Ok(())
    })?;
    Ok(out)
}

/// Whether a square matrix without duplicates is symmetric (Hermitian if complex): the same entries on both sides of the
/// diagonal, their values within `tolerance` times the largest modulus.
///
/// # Errors
/// [`Error::InvalidArgument`] for a tolerance below 0; else as [`norm`].
pub fn is_symmetric(a: &Matrix, tolerance: f64) -> Result<bool> {
    if tolerance.is_nan() || tolerance < 0.0 {
        return Err(Error::invalid("tolerance", format!("is {tolerance}, less than 0")));
    }
    let from = csr("a", a)?;
    if a.rows() != a.cols() {
        return Ok(false);
    }
    let limit = tolerance * norm(a, Norm::Max)?;
    let rows = Rows::new(from)?;
    // The transpose has ascending columns, whatever the order of the matrix's own.
    let mirror = transposed(&rows, a.cols(), from.nnz())?;
    let held = values("a", from)?;
    let mut next = alloc::copied(WHAT, &mirror.row_ptr[..a.rows()])?;
    with_scalar!(a.dtype(), "a", T => {
        let held = held.map(|h| h.as_slice::<T>()).transpose()?;
        for j in 0..a.rows() {
            // Column j of A from top to bottom is row j of the mirror; its partner in column i is the next of row i.
            for at in mirror.row_ptr[j]..mirror.row_ptr[j + 1] {
                let i = mirror.col_idx[at];
                let place = next[i];
                if place >= mirror.row_ptr[i + 1] || mirror.col_idx[place] != j {
                    return Ok(false);
                }
                next[i] += 1;
                let (x, y) = (value_at::<T>(held, mirror.source[at]), value_at::<T>(held, mirror.source[place]));
                let far = (x.re() - y.re()).hypot(x.im() + y.im());
                // A NaN is symmetric to nothing.
                if far.is_nan() || far > limit {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    })
}
