//! Degrees, norms, symmetry.

use std::ops::Range;

use super::entries::{WHAT, csr, value_at, values};
use super::index::Rows;
use super::transform::transposed;
use crate::alloc;
use crate::backend::memory::HostMemory;
use crate::choice::numbered;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::{Complex, DType, Scalar, with_scalar};

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

/// Whether a square matrix is symmetric (Hermitian if complex): entries at the same places on both sides of the diagonal,
/// their values within `tolerance` times the largest modulus. Several entries at one place are added, as products do.
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
    let held = values("a", from)?;
    let ascending = |i: usize| rows.row(i).skip(1).all(|k| rows.col(k - 1) < rows.col(k));
    if (0..rows.len()).all(ascending) {
        let places = Places { rows: rows.len(), row: |i| rows.row(i), col: |k| rows.col(k), source: |k| k };
        return places.mirrored(a.dtype(), held, limit);
    }
    // The transpose has ascending columns, whatever the order of the matrix's own.
    let mirror = transposed(&rows, a.cols(), from.nnz())?;
    let places = Places {
        rows: rows.len(),
        row: |i| mirror.row_ptr[i]..mirror.row_ptr[i + 1],
        col: |k| mirror.col_idx[k],
        source: |k| mirror.source[k],
    };
    places.mirrored(a.dtype(), held, limit)
}

/// The entries of a matrix whose rows have ascending columns, and where their values are.
struct Places<R, C, S> {
    rows: usize,
    row: R,
    col: C,
    source: S,
}

impl<R, C, S> Places<R, C, S>
where
    R: Fn(usize) -> Range<usize>,
    C: Fn(usize) -> usize,
    S: Fn(usize) -> usize,
{
    /// Whether every entry has its conjugate across the diagonal, to within `limit`.
    fn mirrored(&self, dtype: DType, held: Option<&HostMemory>, limit: f64) -> Result<bool> {
        let mut next = alloc::with_capacity(WHAT, self.rows)?;
        next.extend((0..self.rows).map(|i| (self.row)(i).start));
        with_scalar!(dtype, "a", T => {
            let held = held.map(|h| h.as_slice::<T>()).transpose()?;
            // The sum of the entries from `k` on in the column that k is in, and what comes behind them.
            let sum = |row: usize, k: usize| {
                let (col, end) = ((self.col)(k), (self.row)(row).end);
                let (mut next, mut re, mut im) = (k, 0.0, 0.0);
                while next < end && (self.col)(next) == col {
                    let v = value_at::<T>(held, (self.source)(next));
                    (re, im, next) = (re + v.re(), im + v.im(), next + 1);
                }
                (re, im, next)
            };
            for j in 0..self.rows {
                // Rows come in order, so the partner of an entry in column i is the next of row i.
                let mut at = (self.row)(j).start;
                while at < (self.row)(j).end {
                    let i = (self.col)(at);
                    let place = next[i];
                    if place >= (self.row)(i).end || (self.col)(place) != j {
                        return Ok(false);
                    }
                    let ((re, im, after), (other_re, other_im, behind)) = (sum(j, at), sum(i, place));
                    (at, next[i]) = (after, behind);
                    let far = (re - other_re).hypot(im + other_im);
                    // A NaN is symmetric to nothing.
                    if far.is_nan() || far > limit {
                        return Ok(false);
                    }
                }
            }
            Ok(true)
        })
    }
}
