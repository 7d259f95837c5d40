//! Conversion from and to dense matrices.

use std::sync::Arc;

use super::entries::{Entries, WHAT, charge_indices, csr, gather, value_at, values};
use super::index::Rows;
use crate::alloc;
use crate::context::Context;
use crate::error::Result;
use crate::matrix::{Dense, DenseMut, Matrix};
use crate::range;
use crate::scalar::{Scalar, with_scalar};

fn elements<'a, T: Scalar>(argument: &str, dense: &Dense<'a>) -> Result<(&'a [T], usize, usize)> {
    let strides = dense.layout.strides();
    Ok((dense.memory.host(argument)?.as_slice()?, strides[0], strides[1]))
}

/// The entries of a dense matrix on the host whose modulus is larger than `threshold`, as a sparse matrix; with 0, all
/// entries that are not 0. NaN stays.
///
/// # Errors
/// [`InvalidArgument`](crate::error::Error::InvalidArgument) for a threshold below 0 or NaN;
/// [`NotSupported`](crate::error::Error::NotSupported) for another storage or a device;
/// [`OutOfMemory`](crate::error::Error::OutOfMemory); [`Cancelled`](crate::error::Error::Cancelled).
pub fn from_dense(context: &Arc<Context>, a: &Matrix, threshold: f64) -> Result<Matrix> {
    range::at_least_zero("threshold", threshold)?;
    let (dense, cancel) = (a.dense("a")?, context.cancel_watch());
    let (rows, cols) = (a.rows(), a.cols());
    with_scalar!(a.dtype(), "a", T => {
        let (data, down, right) = elements::<T>("a", &dense)?;
        let kept = |i: usize, j: usize| {
            let v = data[i * down + j * right];
            let modulus = v.re().hypot(v.im());
            modulus > threshold || modulus.is_nan()
        };
        let _offsets_charge = charge_indices(context, &[rows, 1])?;
        let mut row_ptr = alloc::with_capacity(WHAT, rows + 1)?;
        let mut end = 0usize;
        row_ptr.push(0);
        let mut paced = cancel.paced();
        for i in 0..rows {
            paced.step(cols)?;
            end += (0..cols).filter(|&j| kept(i, j)).count();
            row_ptr.push(end);
        }
        let _charge = charge_indices(context, &[end, end])?;
        let mut col_idx = alloc::with_capacity(WHAT, end)?;
        let mut source = alloc::with_capacity(WHAT, end)?;
        for i in 0..rows {
            paced.step(cols)?;
            for j in (0..cols).filter(|&j| kept(i, j)) {
                col_idx.push(j);
                source.push(i * down + j * right);
            }
        }
        let entries = Entries { rows, cols, row_ptr, col_idx, source };
        entries.into_matrix(context, a.dtype(), false, cancel, |entries, out| {
            gather(entries, out.as_mut_slice::<T>()?, |k| data[k], cancel)
        })
    })
}

/// Writes a sparse matrix to a dense one of its size and type on the host. Entries at one (row, column) are added.
///
/// # Errors
/// [`InvalidArgument`](crate::error::Error::InvalidArgument) for another size or type;
/// [`NotSupported`](crate::error::Error::NotSupported) for another storage or a device;
/// [`Cancelled`](crate::error::Error::Cancelled), which leaves some rows written.
pub fn to_dense(a: &Matrix, out: &mut Matrix) -> Result<()> {
    let (from, cancel) = (csr("a", a)?, a.context().cancel_watch());
    out.expect_size("out", a.rows(), a.cols())?;
    out.expect_dtype("out", a.dtype())?;
    let held = values("a", a)?;
    let rows = Rows::new(from)?;
    let DenseMut { memory, layout, .. } = out.dense_mut("out")?;
    let (down, right) = (layout.strides()[0], layout.strides()[1]);
    with_scalar!(a.dtype(), "a", T => {
        let held = held.as_ref().map(|h| h.as_slice::<T>()).transpose()?;
        let data = memory.host_mut("out")?.as_mut_slice::<T>()?;
        let mut paced = cancel.paced();
        for i in 0..a.rows() {
            paced.step(a.cols() + rows.row(i).len())?;
            (0..a.cols()).for_each(|j| data[i * down + j * right] = T::default());
            for k in rows.row(i) {
                data[i * down + rows.col(k) * right] += value_at(held, k);
            }
        }
        Ok(())
    })
}
