//! Sparse matrices from coordinates: entries sorted into rows, duplicates combined.

use std::sync::Arc;

use super::entries::{Entries, WHAT, charge_indices, offsets, restart_rows, sort_rows};
use super::index::Indices;
use crate::alloc;
use crate::backend::free::host_memory_free;
use crate::backend::memory::{Charge, HostMemory};
use crate::choice::numbered;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::CancelWatch;
use crate::scalar::{DType, Scalar, with_scalar};
use crate::shape::{to_i64, to_u64};

/// How several entries at one (row, column) are combined. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Duplicates {
    /// They are added, in the order given.
    Sum = 0,
    /// The entry that is given first stays.
    First = 1,
    /// The entry that is given last stays.
    Last = 2,
    /// The largest stays: by value for real types, by modulus for complex ones.
    Max = 3,
    /// A duplicate is an error that names both entries.
    Refuse = 4,
}

numbered!(Duplicates, Sum, First, Last, Max, Refuse);

/// Entries by their rows and columns, in any order.
pub struct Coordinates<'a> {
    /// Rows of the matrix, more than any of `row_idx`.
    pub rows: usize,
    /// Columns of the matrix, more than any of `col_idx`.
    pub cols: usize,
    /// Row of each entry, from `base`.
    pub row_idx: Indices<'a>,
    /// Column of each entry, from `base`.
    pub col_idx: Indices<'a>,
    /// First index: 0 or 1.
    pub base: i64,
    /// Type of `values` and of the matrix.
    pub dtype: DType,
    /// Value of each entry; `None` for a pattern, whose entries are all 1.
    pub values: Option<&'a HostMemory>,
}

/// A sparse matrix from coordinates, O(nnz log(longest row)). A pattern stays a pattern: its duplicates become one
/// entry.
///
/// # Errors
/// [`Error::InvalidArgument`] naming the first entry outside the matrix or, if they are refused, the first duplicate;
/// [`Error::OutOfMemory`]; [`Error::Cancelled`].
pub fn from_coordinates(context: &Arc<Context>, from: &Coordinates<'_>, duplicates: Duplicates) -> Result<Matrix> {
    from_coordinates_watched(context, from, duplicates, context.cancel_watch())
}

/// [`from_coordinates`] for a call that has begun before, and is cancelled by `cancel`.
pub(super) fn from_coordinates_watched(
    context: &Arc<Context>,
    from: &Coordinates<'_>,
    duplicates: Duplicates,
    cancel: CancelWatch<'_>,
) -> Result<Matrix> {
    let nnz = from.row_idx.len();
    if from.col_idx.len() != nnz {
        let problem = format!("has {} elements, row_idx has {nnz}", from.col_idx.len());
        return Err(Error::invalid("col_idx", problem));
    }
    if !(0..=1).contains(&from.base) {
        return Err(Error::invalid("index_base", format!("is {}, 0 or 1 is needed", from.base)));
    }
    for (argument, size) in [("rows", from.rows), ("cols", from.cols)] {
        if i64::try_from(size).is_err() {
            return Err(Error::invalid(argument, format!("is {size}, at most {}", i64::MAX)));
        }
    }
    let _charge = charge_indices(context, &[from.rows + 1, nnz, nnz])?;
    check_rows(from.rows)?;
    let mut entries = scattered(from, cancel)?;
    sort_rows(context, &mut entries, cancel)?;
    let (starts, _starts_charge) = merge(context, &mut entries, duplicates, cancel)?;
    let (Some(starts), Some(values)) = (starts, from.values) else {
        return entries.gathered(context, from.dtype, from.values, false, cancel);
    };
    let fill = |entries: &Entries, out: &mut HostMemory| {
        with_scalar!(from.dtype, "values", T => {
            let (values, out) = (values.as_slice::<T>()?, out.as_mut_slice::<T>()?);
            for block in cancel.blocks(0..out.len()) {
                let block = block?;
                let starts = &starts[block.start..=block.end];
                reduce(&entries.source, starts, duplicates, values, &mut out[block]);
            }
            Ok(())
        })
    };
    entries.into_matrix(context, from.dtype, false, cancel, fill)
}

/// Refuses pointers of more rows than the free memory holds: one entry, or a file of a line, may name a row of any number,
/// and the system would end the process where the pages are written.
fn check_rows(rows: usize) -> Result<()> {
    // Pointers while entries are sorted, and the narrowest of the matrix.
    let bytes = to_u64(rows).saturating_mul(12);
    if bytes <= UNCHECKED || bytes <= host_memory_free() {
        return Ok(());
    }
    Err(Error::OutOfMemory { what: "rows of a sparse matrix, which are more than is free", bytes, limit: None })
}

/// Bytes of rows up to which the free memory is not asked for.
const UNCHECKED: u64 = 1 << 26;

/// The entries row by row; those of a row are in the order given.
fn scattered(from: &Coordinates<'_>, cancel: CancelWatch<'_>) -> Result<Entries> {
    let nnz = from.row_idx.len();
    let checked = |argument: &str, indices: &Indices<'_>, k: usize, size: usize| -> Result<usize> {
        let found = indices.at(k);
        found.checked_sub(from.base).and_then(|i| usize::try_from(i).ok()).filter(|&i| i < size).ok_or_else(|| {
            let last = to_i64(size) - 1 + from.base;
            let problem = match size {
                0 => format!("element {k} is {found}, but there are none in a matrix of {} x {}", from.rows, from.cols),
                _ => format!("element {k} is {found}, outside {} to {last}", from.base),
            };
            Error::invalid(argument, problem)
        })
    };
    let mut row_ptr = alloc::filled(WHAT, from.rows + 1, 0usize)?;
    for block in cancel.blocks(0..nnz) {
        for k in block? {
            row_ptr[checked("row_idx", &from.row_idx, k, from.rows)? + 1] += 1;
        }
    }
    offsets(&mut row_ptr);
    let mut col_idx = alloc::filled(WHAT, nnz, 0usize)?;
    let mut source = alloc::filled(WHAT, nnz, 0usize)?;
    for block in cancel.blocks(0..nnz) {
        for k in block? {
            // Checked in the first round.
            let row = (from.row_idx.at(k) - from.base) as usize;
            let place = row_ptr[row];
            col_idx[place] = checked("col_idx", &from.col_idx, k, from.cols)?;
            source[place] = k;
            row_ptr[row] += 1;
        }
    }
    restart_rows(&mut row_ptr);
    Ok(Entries { rows: from.rows, cols: from.cols, row_ptr, col_idx, source })
}

/// Merges entries of equal columns. If values must be reduced, entry k is the reduction of the sources from `starts[k]`
/// to `starts[k + 1]`, exclusive; otherwise the sources are the retained entries.
fn merge(
    context: &Context,
    entries: &mut Entries,
    duplicates: Duplicates,
    cancel: CancelWatch<'_>,
) -> Result<(Option<Vec<usize>>, Option<Charge>)> {
    let equal = |cols: &[usize]| cols.windows(2).any(|pair| pair[0] == pair[1]);
    let (mut paced, mut has_equal) = (cancel.paced(), false);
    for ends in entries.row_ptr.windows(2) {
        paced.step(ends[1] - ends[0])?;
        has_equal = equal(&entries.col_idx[ends[0]..ends[1]]);
        if has_equal {
            break;
        }
    }
    if !has_equal {
        return Ok((None, None));
    }
    let reduced = matches!(duplicates, Duplicates::Sum | Duplicates::Max);
    let count = if reduced { entries.col_idx.len() + 1 } else { 0 };
    let charge = charge_indices(context, &[count])?;
    let mut starts = alloc::with_capacity(WHAT, count)?;
    let (mut kept, mut begin) = (0, 0);
    for row in 0..entries.rows {
        let (first, end) = (kept, entries.row_ptr[row + 1]);
        paced.step(end - begin)?;
        for k in begin..end {
            let (col, source) = (entries.col_idx[k], entries.source[k]);
            if kept == first || entries.col_idx[kept - 1] != col {
                entries.col_idx[kept] = col;
                if reduced {
                    starts.push(k);
                } else {
                    entries.source[kept] = source;
                }
                kept += 1;
                continue;
            }
            match duplicates {
                Duplicates::First | Duplicates::Sum | Duplicates::Max => {}
                Duplicates::Last => entries.source[kept - 1] = source,
                Duplicates::Refuse => {
                    let other = entries.source[kept - 1];
                    let problem = format!("elements {other} and {source} are both row {row}, column {col} (from 0)");
                    return Err(Error::invalid("col_idx", problem));
                }
            }
        }
        begin = end;
        entries.row_ptr[row + 1] = kept;
    }
    entries.col_idx.truncate(kept);
    if !reduced {
        entries.source.truncate(kept);
        return Ok((None, None));
    }
    starts.push(entries.source.len());
    Ok((Some(starts), Some(charge)))
}

fn reduce<T: Scalar>(source: &[usize], starts: &[usize], duplicates: Duplicates, values: &[T], out: &mut [T]) {
    let size = |v: T| if T::IS_COMPLEX { v.re().hypot(v.im()) } else { v.re() };
    let larger = |a: T, b: T| if size(b) > size(a) { b } else { a };
    for (o, ends) in out.iter_mut().zip(starts.windows(2)) {
        let mut group = source[ends[0]..ends[1]].iter().map(|&k| values[k]);
        let first = group.next().unwrap_or_default();
        *o = match duplicates {
            Duplicates::Max => group.fold(first, larger),
            _ => group.fold(first, |a, b| a + b),
        };
    }
}
