//! The canonical form of a sparse matrix, and its pattern.

use std::sync::Arc;

use super::coordinates::{Coordinates, Duplicates, from_coordinates_watched};
use super::entries::{WHAT, charge_indices, csr, values};
use super::index::{Indices, Rows};
use crate::alloc;
use crate::backend::memory::HostMemory;
use crate::context::Context;
use crate::error::Result;
use crate::matrix::{Csr, Matrix};
use crate::shape::to_i64;

/// The same matrix with ascending columns in each row and without duplicates; O(nnz log(longest row)).
///
/// # Errors
/// [`Error::NotSupported`](crate::error::Error::NotSupported) for another storage or values on a device;
/// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) for duplicates that are refused; out of memory;
/// [`Error::Cancelled`](crate::error::Error::Cancelled).
pub fn canonical(context: &Arc<Context>, a: &Matrix, duplicates: Duplicates) -> Result<Matrix> {
    let from = csr("a", a)?;
    rebuilt(context, a, from, values("a", a)?.as_deref(), duplicates)
}

/// The pattern of a sparse matrix, without duplicates and values: every entry is 1. As [`canonical`].
///
/// # Errors
/// [`Error::NotSupported`](crate::error::Error::NotSupported) for another storage; out of memory;
/// [`Error::Cancelled`](crate::error::Error::Cancelled).
pub fn pattern(context: &Arc<Context>, a: &Matrix) -> Result<Matrix> {
    rebuilt(context, a, csr("a", a)?, None, Duplicates::Sum)
}

fn rebuilt(
    context: &Arc<Context>,
    a: &Matrix,
    from: &Csr,
    values: Option<&HostMemory>,
    duplicates: Duplicates,
) -> Result<Matrix> {
    let (rows, cancel) = (Rows::new(from)?, context.cancel_watch());
    let (columns, base) = rows.columns();
    let _charge = charge_indices(context, &[from.nnz()])?;
    let mut row_idx = alloc::with_capacity(WHAT, from.nnz())?;
    let mut paced = cancel.paced();
    for i in 0..from.rows() {
        paced.step(rows.row(i).len())?;
        row_idx.extend(std::iter::repeat_n(to_i64(i) + base, rows.row(i).len()));
    }
    // A borrowed array may be longer than the number of entries.
    let col_idx = columns.first(from.nnz());
    let from = Coordinates {
        rows: a.rows(),
        cols: a.cols(),
        row_idx: Indices::I64(&row_idx),
        col_idx,
        base,
        dtype: a.dtype(),
        values,
    };
    from_coordinates_watched(context, &from, duplicates, cancel)
}
