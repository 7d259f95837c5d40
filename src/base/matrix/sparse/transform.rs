//! Transposes, permutations and submatrices of sparse matrices.

use std::sync::Arc;

use super::super::csr::Csr;
use super::entries::{Entries, WHAT, charge_indices, csr, narrowest_size, offsets, restart_rows, sort_rows, values};
use super::index::{Indices, Rows};
use crate::alloc;
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::CancelWatch;
use crate::shape::index_in_list;

/// The entries of the transpose. They are counted by column, then placed row by row, so that columns ascend.
pub(super) fn transposed(rows: &Rows<'_>, cols: usize, nnz: usize, cancel: CancelWatch<'_>) -> Result<Entries> {
    let mut row_ptr = alloc::filled(WHAT, cols + 1, 0usize)?;
    for block in cancel.blocks(0..nnz) {
        for k in block? {
            row_ptr[rows.col(k) + 1] += 1;
        }
    }
    offsets(&mut row_ptr);
    let mut col_idx = alloc::filled(WHAT, nnz, 0usize)?;
    let mut source = alloc::filled(WHAT, nnz, 0usize)?;
    let mut paced = cancel.paced();
    for i in 0..rows.len() {
        paced.step(rows.row(i).len())?;
        for k in rows.row(i) {
            let place = &mut row_ptr[rows.col(k)];
            (col_idx[*place], source[*place]) = (i, k);
            *place += 1;
        }
    }
    restart_rows(&mut row_ptr);
    Ok(Entries { rows: cols, cols: rows.len(), row_ptr, col_idx, source })
}

fn charge(context: &Context, csr: &Csr) -> Result<crate::backend::memory::Charge> {
    charge_indices(context, &[csr.nnz(), csr.nnz(), csr.rows(), csr.cols(), 1])
}

/// The transpose of a sparse matrix, or with `conjugate` its conjugate transpose; O(nnz + rows + columns).
///
/// # Errors
/// [`Error::NotSupported`] for another storage or values on a device; [`Error::OutOfMemory`];
/// [`Error::Cancelled`].
pub fn transpose(context: &Arc<Context>, a: &Matrix, conjugate: bool) -> Result<Matrix> {
    let (source, cancel) = (csr("a", a)?, context.cancel_watch());
    let _charge = charge(context, source)?;
    let entries = transposed(&Rows::new(source)?, source.cols(), source.nnz(), cancel)?;
    entries.gathered(context, a.dtype(), values("a", a)?.as_deref(), conjugate, cancel)
}

/// Bytes that a copy of a sparse matrix in another form is charged for, on the host or on a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyBytes {
    /// The most while the copy is made, the copy included.
    pub peak: usize,
    /// Those of the copy, which stay.
    pub kept: usize,
}

impl CopyBytes {
    /// Bytes of this copy and of another that is made after it.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        let kept = self.kept.saturating_add(next.kept);
        Self { peak: self.peak.max(self.kept.saturating_add(next.peak)), kept }
    }
}

/// The lists of a construction and its result: a matrix of `rows` rows and `cols` columns with the entries of `source`.
fn copy_bytes(a: &Matrix, source: &Csr, (rows, cols): (usize, usize), sorting: usize) -> CopyBytes {
    let nnz = source.nnz();
    let values = source.parts().values.as_ref();
    let numbers = if values.is_some() { nnz.saturating_mul(a.dtype().size()) } else { 0 };
    let copied = if matches!(values, Some(Memory::Device(_))) { numbers } else { 0 };
    let row_ptr = rows.saturating_add(1).saturating_mul(narrowest_size(nnz));
    let kept = numbers.saturating_add(row_ptr).saturating_add(nnz.saturating_mul(narrowest_size(cols)));
    let lists = nnz.saturating_mul(2).saturating_add(rows).saturating_add(cols).saturating_add(1);
    let peak = lists.saturating_mul(size_of::<usize>()).saturating_add(copied).saturating_add(kept.max(sorting));
    CopyBytes { peak, kept }
}

/// Host bytes of [`transpose`].
///
/// # Errors
/// [`Error::NotSupported`] for another storage.
pub fn transpose_bytes(a: &Matrix) -> Result<CopyBytes> {
    let source = csr("a", a)?;
    Ok(copy_bytes(a, source, (source.cols(), source.rows()), 0))
}

/// Host bytes of [`reordered`]; O(rows), for the longest row.
///
/// # Errors
/// As [`reordered`].
pub fn reordered_bytes(context: &Context, a: &Matrix) -> Result<CopyBytes> {
    let source = csr("a", a)?;
    let rows = Rows::new(source)?;
    let longest = (0..rows.len()).map(|i| rows.row(i).len()).max().unwrap_or(0);
    // Each thread sorts a row of pairs.
    let pairs = longest.saturating_mul(context.pool().threads()).min(source.nnz());
    Ok(copy_bytes(a, source, (source.rows(), source.cols()), pairs.saturating_mul(2 * size_of::<usize>())))
}

/// The matrix whose compressed columns are the compressed rows of `a`: the same as [`transpose`] without conjugation.
///
/// # Errors
/// As [`transpose`].
pub fn from_columns(context: &Arc<Context>, a: &Matrix) -> Result<Matrix> {
    transpose(context, a, false)
}

/// Checks a list of different indices below `size`, which with `all` must be a permutation. Returns the position in the
/// list of each index, `usize::MAX` for indices that are not in it.
fn checked(argument: &str, list: &Indices<'_>, size: usize, all: bool, cancel: CancelWatch<'_>) -> Result<Vec<usize>> {
    if all && list.len() != size {
        return Err(Error::invalid(argument, format!("has {} elements, {size} are needed", list.len())));
    }
    // The position of each index in the list; `none` if it is not there.
    let none = usize::MAX;
    let mut place = alloc::filled(WHAT, size, none)?;
    for block in cancel.blocks(0..list.len()) {
        for k in block? {
            let found = list.at(k);
            let index = index_in_list(argument, k, found, size)?;
            if place[index] != none {
                let problem = format!("elements {} and {k} are both {found}", place[index]);
                return Err(Error::invalid(argument, problem));
            }
            place[index] = k;
        }
    }
    Ok(place)
}

fn picked(
    context: &Arc<Context>,
    a: &Matrix,
    rows: Option<&Indices<'_>>,
    cols: Option<&Indices<'_>>,
    all: bool,
    cancel: CancelWatch<'_>,
) -> Result<Matrix> {
    let source = csr("a", a)?;
    let _charge = charge(context, source)?;
    let from = Rows::new(source)?;
    let values = values("a", a)?;
    if let Some(rows) = rows {
        checked("rows", rows, source.rows(), all, cancel)?;
    }
    let place = cols.map(|c| checked("cols", c, source.cols(), all, cancel)).transpose()?;
    let count = rows.map_or(source.rows(), Indices::len);
    let mut entries = Entries {
        rows: count,
        cols: cols.map_or(source.cols(), Indices::len),
        row_ptr: alloc::with_capacity(WHAT, count + 1)?,
        col_idx: alloc::with_capacity(WHAT, source.nnz())?,
        source: alloc::with_capacity(WHAT, source.nnz())?,
    };
    entries.row_ptr.push(0);
    let mut paced = cancel.paced();
    for i in 0..count {
        // Checked to be a row of the matrix.
        let row = rows.map_or(i, |r| r.at(i) as usize);
        paced.step(from.row(row).len())?;
        for k in from.row(row) {
            let col = place.as_ref().map_or(from.col(k), |p| p[from.col(k)]);
            if col != usize::MAX {
                // Does not allocate: the rows are different, so there are at most nnz entries.
                entries.col_idx.push(col);
                entries.source.push(k);
            }
        }
        entries.row_ptr.push(entries.col_idx.len());
    }
    sort_rows(context, &mut entries, cancel)?;
    entries.gathered(context, a.dtype(), values.as_deref(), false, cancel)
}

/// Row i of the result is row `rows[i]` of `a`, and column j its column `cols[j]`; `None` keeps the order. The same
/// list for both renumbers a graph's vertices. Indices count from 0.
///
/// # Errors
/// [`Error::InvalidArgument`] for a list that is not a permutation, naming the element; else as [`transpose`].
pub fn permute(
    context: &Arc<Context>,
    a: &Matrix,
    rows: Option<&Indices<'_>>,
    cols: Option<&Indices<'_>>,
) -> Result<Matrix> {
    picked(context, a, rows, cols, true, context.cancel_watch())
}

/// Row i of the result is row `list[i]` of `a`, and likewise for columns. The same as [`permute`] with the list for
/// both, but it also takes values on the device, which are copied to the host.
///
/// # Errors
/// As [`permute`].
pub fn reordered(context: &Arc<Context>, a: &Matrix, list: &[i64]) -> Result<Matrix> {
    let list = Indices::I64(list);
    picked(context, a, Some(&list), Some(&list), true, context.cancel_watch())
}

/// The submatrix of the rows and columns listed, in that order; `None` keeps all. Indices count from 0.
///
/// # Errors
/// [`Error::InvalidArgument`] for an index outside the matrix or given twice; else as [`transpose`].
pub fn select(
    context: &Arc<Context>,
    a: &Matrix,
    rows: Option<&Indices<'_>>,
    cols: Option<&Indices<'_>>,
) -> Result<Matrix> {
    select_watched(context, a, rows, cols, context.cancel_watch())
}

/// [`select`] for a call that has begun before, and is cancelled by `cancel`.
pub(super) fn select_watched(
    context: &Arc<Context>,
    a: &Matrix,
    rows: Option<&Indices<'_>>,
    cols: Option<&Indices<'_>>,
    cancel: CancelWatch<'_>,
) -> Result<Matrix> {
    picked(context, a, rows, cols, false, cancel)
}
