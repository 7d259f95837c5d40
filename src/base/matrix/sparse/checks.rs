//! Optional checks of a sparse matrix, beyond those of the indices that every matrix passes.

use super::entries::{WHAT, charge_indices, csr, values};
use super::index::Rows;
use crate::alloc;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::{Scalar, with_scalar};

/// The properties to check; a false one is not checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checks {
    /// The columns of every row ascend.
    pub sorted: bool,
    /// No (row, column) is stored twice.
    pub distinct: bool,
    /// Values are neither NaN nor infinite.
    pub finite: bool,
}

/// Checks a matrix and reports the first violation: the row, the entry and its column. O(nnz). Needs memory for one
/// number for each column if `distinct` is asked for without `sorted`.
///
/// # Errors
/// [`Error::InvalidArgument`] for a matrix that violates a check; [`Error::NotSupported`] for another storage, or for
/// `finite` with values on a device; [`Error::OutOfMemory`]; [`Error::Cancelled`].
pub fn check(a: &Matrix, checks: Checks) -> Result<()> {
    let (from, cancel) = (csr("a", a)?, a.context().cancel_watch());
    let rows = Rows::new(from)?;
    let wrong = |i: usize, k: usize, problem: String| {
        let place = format!("in row {i}, column {} (from 0), entry {k}: {problem}", rows.col(k));
        Err(Error::invalid("a", place))
    };
    // For each column, 1 + its last entry so far; 0 for none.
    let marks = if checks.distinct && !checks.sorted { from.cols() } else { 0 };
    let _charge = charge_indices(a.context(), &[marks])?;
    let mut last = alloc::filled(WHAT, marks, 0usize)?;
    let mut paced = cancel.paced();
    for i in 0..rows.len() {
        let row = rows.row(i);
        paced.step(row.len())?;
        for k in row.clone() {
            let column = rows.col(k);
            if checks.sorted && k > row.start {
                let before = rows.col(k - 1);
                if column < before {
                    return wrong(i, k, format!("follows column {before}, ascending columns are needed"));
                }
                if checks.distinct && column == before {
                    return wrong(i, k, "is at the place of the entry before it".into());
                }
            }
            if let Some(mark) = last.get_mut(column) {
                if *mark > row.start {
                    return wrong(i, k, format!("is at the place of entry {}", *mark - 1));
                }
                *mark = k + 1;
            }
        }
    }
    if !checks.finite {
        return Ok(());
    }
    let Some(held) = values("a", a)? else { return Ok(()) };
    with_scalar!(a.dtype(), "a", T => {
        let held = &held.as_slice::<T>()?[..from.nnz()];
        let is_odd = |v: &T| !(v.re().is_finite() && v.im().is_finite());
        let mut found = None;
        for block in cancel.blocks(0..held.len()) {
            let block = block?;
            found = held[block.clone()].iter().position(is_odd).map(|k| block.start + k);
            if found.is_some() {
                break;
            }
        }
        let Some(k) = found else { return Ok(()) };
        let (mut low, mut high) = (0, rows.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if rows.entry(middle + 1) <= k { low = middle + 1 } else { high = middle }
        }
        let (re, im) = (held[k].re(), held[k].im());
        wrong(low, k, if T::IS_COMPLEX { format!("is ({re}, {im}), not finite") } else { format!("is {re}, not finite") })
    })
}
