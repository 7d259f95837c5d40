//! Degrees, norms and symmetry of sparse matrices.

use std::ops::Range;

use super::entries::{WHAT, charge_indices, csr, value_at, values};
use super::index::Rows;
use super::transform::transposed;
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::backend::cpu::simd::prefetch;
use crate::backend::memory::HostMemory;
use crate::choice::numbered;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{Csr, Matrix, not_finite};
use crate::progress::CancelWatch;
use crate::range;
use crate::scalar::{Complex, DType, Scalar, with_scalar};

/// A norm of a matrix. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Norm {
    /// Root of the sum of squares.
    Frobenius = 0,
    /// Largest sum of moduli of a column.
    One = 1,
    /// Largest modulus of an entry.
    Max = 2,
    /// Largest sum of moduli of a row.
    Infinity = 3,
}

/// Fewest entries for a further thread.
const LEAST: usize = 1 << 15;

/// Distance of prefetches, in entries.
const AHEAD: usize = 8;

numbered!(Norm, Frobenius, One, Max, Infinity);

/// A norm of a sparse matrix, in f64. Several entries at one (row, column) are added, as products do. NaN if an entry
/// is NaN. O(nnz). Needs memory for the transpose if the columns of a row do not ascend strictly.
///
/// # Errors
/// [`NotSupported`](crate::error::Error::NotSupported) for another storage or values on a device;
/// [`OutOfMemory`](crate::error::Error::OutOfMemory); [`Cancelled`](crate::error::Error::Cancelled).
pub fn norm(a: &Matrix, which: Norm) -> Result<f64> {
    let cancel = a.context().cancel_watch();
    norm_watched(a, which, Rows::new(csr("a", a)?)?.are_ascending(cancel)?, cancel)
}

/// [`norm()`] of a matrix; `is_ascending` if the columns of all rows ascend.
fn norm_watched(a: &Matrix, which: Norm, is_ascending: bool, cancel: CancelWatch<'_>) -> Result<f64> {
    let from = csr("a", a)?;
    let held = values("a", a)?;
    let rows = Rows::new(from)?;
    with_scalar!(a.dtype(), "a", T => {
        let held = held.as_ref().map(|h| h.as_slice::<T>()).transpose()?;
        if is_ascending {
            let size = |k: usize| {
                let v = value_at::<T>(held, k);
                modulus::<T>(v.re(), v.im())
            };
            let line = |i: usize| rows.row(i).map(move |k| (i, rows.col(k), size(k)));
            return measure(a, which, &Lines { count: rows.len(), line, cancel });
        }
        // Rows of the transpose have ascending columns, so entries at one (row, column) are adjacent.
        let _charge = charge_indices(a.context(), &mirror_counts(from))?;
        let mirror = transposed(&rows, a.cols(), from.nnz(), cancel)?;
        let place = |j: usize, k: usize| {
            let end = mirror.row_ptr[j + 1];
            let same = (k..end).take_while(|&other| mirror.col_idx[other] == mirror.col_idx[k]);
            let sum = |(re, im): (f64, f64), v: T| (re + v.re(), im + v.im());
            let (re, im) = same.map(|other| value_at::<T>(held, mirror.source[other])).fold((0.0, 0.0), sum);
            (mirror.col_idx[k], j, modulus::<T>(re, im))
        };
        let is_first = |j: usize, k: usize| k == mirror.row_ptr[j] || mirror.col_idx[k - 1] != mirror.col_idx[k];
        let (place, is_first, row_ptr) = (&place, &is_first, &mirror.row_ptr);
        let line = |j: usize| {
            (row_ptr[j]..row_ptr[j + 1]).filter(move |&k| is_first(j, k)).map(move |k| place(j, k))
        };
        measure(a, which, &Lines { count: a.cols(), line, cancel })
    })
}

/// The modulus of a number or of a sum of numbers of type `T`; without a call for real ones.
#[inline]
fn modulus<T: Scalar>(re: f64, im: f64) -> f64 {
    if T::DTYPE.is_complex() { re.hypot(im) } else { re.abs() }
}

/// Lengths of the lists of indices of a transpose.
fn mirror_counts(from: &Csr) -> [usize; 3] {
    [from.cols() + 1, from.nnz(), from.nnz()]
}

/// Host bytes that [`has_symmetric_values`] is charged for: lists of entries, unless the columns of every row ascend.
/// O(nnz).
///
/// # Errors
/// As [`norm`].
pub fn symmetry_bytes(a: &Matrix) -> Result<usize> {
    let from = csr("a", a)?;
    if a.rows() != a.cols() || Rows::new(from)?.are_ascending(a.context().cancel_watch())? {
        return Ok(0);
    }
    let count = mirror_counts(from).iter().fold(0usize, |sum, n| sum.saturating_add(*n));
    Ok(count.saturating_mul(size_of::<usize>()))
}

/// Rows, columns and moduli of a matrix's entries without duplicates, by rows or by columns.
struct Lines<'a, L> {
    /// Number of rows or columns.
    count: usize,
    /// The entries of one of them.
    line: L,
    cancel: CancelWatch<'a>,
}

impl<I: Iterator<Item = (usize, usize, f64)>, L: Fn(usize) -> I> Lines<'_, L> {
    /// Folds all entries in their order.
    fn fold<R>(&self, start: R, mut take: impl FnMut(R, (usize, usize, f64)) -> R) -> Result<R> {
        let (mut paced, mut result) = (self.cancel.paced(), start);
        for i in 0..self.count {
            let mut count = 0;
            result = (self.line)(i).fold(result, |result, place| {
                count += 1;
                take(result, place)
            });
            paced.step(count)?;
        }
        Ok(result)
    }
}

/// The norm of a matrix from its entries.
fn measure<I, L>(a: &Matrix, which: Norm, entries: &Lines<'_, L>) -> Result<f64>
where
    I: Iterator<Item = (usize, usize, f64)>,
    L: Fn(usize) -> I,
{
    // NaN counts as larger than any number, so that it is not lost.
    let larger = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
    let largest = || entries.fold(0.0, |most, (_, _, modulus)| larger(most, modulus));
    let largest_sum = |count: usize, line: &dyn Fn(usize, usize) -> usize| {
        let _charge = charge_indices(a.context(), &[count])?;
        let mut sums = alloc::filled(WHAT, count, 0.0)?;
        entries.fold((), |(), (i, j, modulus)| sums[line(i, j)] += modulus)?;
        Ok(sums.into_iter().fold(0.0, larger))
    };
    match which {
        Norm::Max => largest(),
        Norm::Infinity => largest_sum(a.rows(), &|i, _| i),
        Norm::One => largest_sum(a.cols(), &|_, j| j),
        Norm::Frobenius => {
            let largest = largest()?;
            if largest == 0.0 || !largest.is_finite() {
                return Ok(largest);
            }
            let squares = entries.fold(0.0, |sum, (_, _, modulus)| sum + (modulus / largest).powi(2))?;
            Ok(largest * squares.sqrt())
        }
    }
}

/// Row, column and value of the first entry that is NaN or infinite.
///
/// # Errors
/// As [`norm`].
pub fn first_not_finite(a: &Matrix) -> Result<Option<(usize, usize, Complex<f64>)>> {
    let from = csr("a", a)?;
    let held = values("a", a)?;
    let rows = Rows::new(from)?;
    with_scalar!(a.dtype(), "a", T => {
        let held = held.as_ref().map(|h| h.as_slice::<T>()).transpose()?;
        let value = |k: usize| {
            let v = value_at::<T>(held, k);
            Complex::new(v.re(), v.im())
        };
        let found = (0..from.rows()).find_map(|i| rows.row(i).find(|&k| !value(k).is_finite()).map(|k| (i, k)));
        Ok(found.map(|(i, k)| (i, rows.col(k), value(k))))
    })
}

/// The error that names the first entry that is NaN or infinite of the argument `name`; `None` if there is none, or the
/// entries cannot be read here.
pub fn entry_not_finite(name: &str, a: &Matrix) -> Option<Error> {
    let (row, col, value) = first_not_finite(a).ok().flatten()?;
    Some(not_finite::entry(name, (row, col), false, value))
}

/// Sums of the rows: the degrees of a graph, with loops counted once.
///
/// # Errors
/// As [`norm`].
pub fn row_sums(a: &Matrix) -> Result<Vec<Complex<f64>>> {
    folded(a, |rows, i, value| rows.row(i).map(value).sum())
}

/// The diagonal, with min(rows, columns) numbers; several entries at one (row, column) are added.
///
/// # Errors
/// As [`norm`].
pub fn diagonal(a: &Matrix) -> Result<Vec<Complex<f64>>> {
    let mut sums = folded(a, |rows, i, value| rows.row(i).filter(|&k| rows.col(k) == i).map(value).sum())?;
    sums.truncate(a.rows().min(a.cols()));
    Ok(sums)
}

/// Computes one number for each row.
fn folded(
    a: &Matrix,
    of: impl Fn(&Rows<'_>, usize, &dyn Fn(usize) -> Complex<f64>) -> Complex<f64>,
) -> Result<Vec<Complex<f64>>> {
    let (from, cancel) = (csr("a", a)?, a.context().cancel_watch());
    let held = values("a", a)?;
    let rows = Rows::new(from)?;
    // A complex number takes two words.
    let _charge = charge_indices(a.context(), &[from.rows(), from.rows()])?;
    let mut out = alloc::with_capacity(WHAT, from.rows())?;
    with_scalar!(a.dtype(), "a", T => {
        let held = held.as_ref().map(|h| h.as_slice::<T>()).transpose()?;
        let value = |k: usize| {
            let v = value_at::<T>(held, k);
            Complex::new(v.re(), v.im())
        };
        let mut paced = cancel.paced();
        for i in 0..from.rows() {
            paced.step(rows.row(i).len())?;
            out.push(of(&rows, i, &value));
        }
        Ok(())
    })?;
    Ok(out)
}

/// Whether a square matrix is symmetric (Hermitian if complex): each entry has an entry at the mirrored (row, column),
/// and the values agree to within `tolerance` times the largest modulus. Several entries at one (row, column) are
/// added, as products do.
///
/// # Errors
/// [`InvalidArgument`](crate::error::Error::InvalidArgument) for a tolerance below 0; else as [`norm`].
pub fn is_symmetric(a: &Matrix, tolerance: f64) -> Result<bool> {
    symmetry(a, tolerance, Absent::Differs)
}

/// [`is_symmetric`] of the values alone, on which products and eigenvalues depend: an entry that is absent is 0, and
/// may therefore face a stored one within the tolerance.
///
/// # Errors
/// As [`is_symmetric`].
pub fn has_symmetric_values(a: &Matrix, tolerance: f64) -> Result<bool> {
    symmetry(a, tolerance, Absent::IsZero)
}

/// The meaning of an entry without a mirrored one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    /// That the matrix is not symmetric.
    Differs,
    /// That the mirrored one is 0.
    IsZero,
}

fn symmetry(a: &Matrix, tolerance: f64, absent: Absent) -> Result<bool> {
    range::at_least_zero("tolerance", tolerance)?;
    let (from, cancel) = (csr("a", a)?, a.context().cancel_watch());
    if a.rows() != a.cols() {
        return Ok(false);
    }
    // An eighth of everything where differences of the largest numbers would be infinite.
    let rows = Rows::new(from)?;
    let is_ascending = rows.are_ascending(cancel)?;
    let largest = norm_watched(a, Norm::Max, is_ascending, cancel)?;
    let unit = if largest > f64::MAX / 8.0 { 0.125 } else { 1.0 };
    let limit = (tolerance * (unit * largest), unit);
    let held = values("a", a)?;
    if is_ascending {
        let (row, col, source) = (|i| rows.row(i), |k| rows.col(k), |k| k);
        let places = Places { cancel, rows: rows.len(), row, col, source, are_distinct: true };
        return places.mirrored(a.context(), a.dtype(), held.as_deref(), (limit, absent));
    }
    // The transpose has ascending columns, whatever the order of the matrix's own.
    let _charge = charge_indices(a.context(), &mirror_counts(from))?;
    let mirror = transposed(&rows, a.cols(), from.nnz(), cancel)?;
    let places = Places {
        cancel,
        rows: rows.len(),
        row: |i| mirror.row_ptr[i]..mirror.row_ptr[i + 1],
        col: |k| mirror.col_idx[k],
        source: |k| mirror.source[k],
        are_distinct: false,
    };
    places.mirrored(a.context(), a.dtype(), held.as_deref(), (limit, absent))
}

/// Access to the entries of a matrix whose rows have ascending columns, and to the indices of their values.
struct Places<'a, R, C, S> {
    cancel: CancelWatch<'a>,
    rows: usize,
    row: R,
    col: C,
    source: S,
    /// Whether no two entries are at one (row, column).
    are_distinct: bool,
}

impl<R, C, S> Places<'_, R, C, S>
where
    R: Fn(usize) -> Range<usize> + Sync,
    C: Fn(usize) -> usize + Sync,
    S: Fn(usize) -> usize + Sync,
{
    /// Whether every entry has its conjugate across the diagonal, to within a limit in multiples of a unit. Threads share the rows.
    fn mirrored(
        &self,
        context: &Context,
        dtype: DType,
        held: Option<&HostMemory>,
        within: ((f64, f64), Absent),
    ) -> Result<bool> {
        let (rows, pool) = (self.rows, context.pool());
        let entries = if rows == 0 { 0 } else { (self.row)(rows - 1).end };
        let count = pool.threads().min(entries / LEAST + 1);
        // Parts of equal numbers of entries. Empty rows belong to a part too, because their columns must be checked.
        let cut = |part: usize| match part {
            0 => 0,
            _ if part == count => rows,
            _ => partition(0..rows, |j| (self.row)(j).end <= entries / count * part),
        };
        with_scalar!(dtype, "a", T => {
            let held = held.as_ref().map(|h| h.as_slice::<T>()).transpose()?;
            let parts: Vec<Result<bool>> = pool.run_here(|| {
                let work = |part: usize| {
                    self.mirrored_from(cut(part)..cut(part + 1), held, within)
                };
                (0..count).into_par_iter().map(work).collect()
            });
            parts.into_iter().try_fold(true, |all, part| Ok(all && part?))
        })
    }

    /// Whether the entries above the diagonal in the rows `own` have their conjugates below it, and the columns of
    /// these numbers have no other entries below it, or none above the limit where absent entries are 0.
    fn mirrored_from<T: Scalar>(
        &self,
        own: Range<usize>,
        held: Option<&[T]>,
        ((limit, unit), absent): ((f64, f64), Absent),
    ) -> Result<bool> {
        let from = |i: usize, j: usize| partition((self.row)(i), |at| (self.col)(at) < j);
        let mut next = alloc::with_capacity(WHAT, self.rows - own.start)?;
        for block in self.cancel.blocks(own.start..self.rows) {
            next.extend(block?.map(|i| from(i, own.start)));
        }
        // The sum of the entries from `k` on that have the same column as k, and the index of the first entry after
        // them.
        let sum = |row: usize, k: usize| {
            if self.are_distinct {
                let v = value_at::<T>(held, (self.source)(k));
                return (unit * v.re(), unit * v.im(), k + 1);
            }
            let (col, end) = ((self.col)(k), (self.row)(row).end);
            let (mut next, mut re, mut im) = (k, 0.0, 0.0);
            while next < end && (self.col)(next) == col {
                let v = value_at::<T>(held, (self.source)(next));
                (re, im, next) = (re + unit * v.re(), im + unit * v.im(), next + 1);
            }
            (re, im, next)
        };
        // A NaN is not symmetric to any number.
        let is_far = |re: f64, im: f64| {
            let far = modulus::<T>(re, im);
            far.is_nan() || far > limit
        };
        // The index of the first entry of row i, from `k` on, in column `end` or later; `None` if an entry before it may
        // not be alone.
        let passed = |i: usize, mut k: usize, end: usize| {
            while k < (self.row)(i).end && (self.col)(k) < end {
                let (re, im, next) = sum(i, k);
                if absent == Absent::Differs || is_far(re, im) {
                    return None;
                }
                k = next;
            }
            Some(k)
        };
        let mut paced = self.cancel.paced();
        for j in own.clone() {
            // Rows are visited in order, so the partner of an entry in column i is the next entry of row i.
            let (mut at, end) = (from(j, j), (self.row)(j).end);
            paced.step(end - at)?;
            while at < end {
                if at + AHEAD < end {
                    prefetch(&next, (self.col)(at + AHEAD) - own.start);
                }
                let i = (self.col)(at);
                // Entries of row i in columns before j have none across the diagonal.
                let Some(place) = passed(i, next[i - own.start], j) else { return Ok(false) };
                let (re, im, after) = sum(j, at);
                let has_other = place < (self.row)(i).end && (self.col)(place) == j;
                if !has_other && absent == Absent::Differs {
                    return Ok(false);
                }
                let (other_re, other_im, behind) = if has_other { sum(i, place) } else { (0.0, 0.0, place) };
                (at, next[i - own.start]) = (after, behind);
                if is_far(re - other_re, im + other_im) {
                    return Ok(false);
                }
            }
        }
        Ok((own.start..).zip(&next).all(|(i, &place)| passed(i, place, own.end.min(i + 1)).is_some()))
    }
}

/// Binary search: the first index of a range for which `is_before` is false. It must be true for all indices before.
fn partition(of: Range<usize>, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (of.start, of.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
