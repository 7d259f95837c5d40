//! Copies from and to the caller's matrices.

use super::work::mismatch;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::ops::{power, times_power};
use crate::scalar::{Complex, Scalar};

/// A column-major copy of `source`, or of its adjoint. `conjugate` also conjugates each entry.
pub fn read<T: Scalar>(
    context: &Context,
    what: &'static str,
    source: &Matrix,
    adjoint: bool,
    conjugate: bool,
) -> Result<CpuMatrix<T>> {
    source.expect_dtype(what, T::DTYPE)?;
    let dense = source.dense(what)?;
    let &[row_stride, column_stride] = dense.layout.strides() else {
        return Err(mismatch(what, &[(source.rows(), source.cols())]));
    };
    let from = dense.memory.host(what)?.as_slice::<T>()?;
    let (rows, cols) = if adjoint { (source.cols(), source.rows()) } else { (source.rows(), source.cols()) };
    let (down, right) = if adjoint { (column_stride, row_stride) } else { (row_stride, column_stride) };
    let mut m = CpuMatrix::zeros(what, rows, cols, context.host_budget())?;
    if rows == 0 || cols == 0 {
        return Ok(m);
    }
    let conjugate = conjugate != adjoint;
    let to = m.slice_mut()?;
    context.pool().run(|| {
        to.par_chunks_exact_mut(rows).enumerate().for_each(|(j, column)| {
            let values = from[j * right..].iter().step_by(down.max(1));
            for (to, x) in column.iter_mut().zip(values) {
                *to = if conjugate { x.conjugate() } else { *x };
            }
        });
    });
    Ok(m)
}

/// Writes `m`, or its adjoint, to `target`. `conjugate` also conjugates each entry.
pub fn write<T: Scalar>(
    context: &Context,
    m: &CpuMatrix<T>,
    target: &mut Matrix,
    adjoint: bool,
    conjugate: bool,
) -> Result<()> {
    let what = "target";
    let (rows, cols) = m.shape();
    let (target_rows, target_cols) = if adjoint { (cols, rows) } else { (rows, cols) };
    target.expect_size(what, target_rows, target_cols)?;
    target.expect_dtype(what, T::DTYPE)?;
    let dense = target.dense_mut(what)?;
    let &[row_stride, column_stride] = dense.layout.strides() else {
        return Err(mismatch(what, &[(rows, cols)]));
    };
    let to = dense.memory.host_mut(what)?.as_mut_slice::<T>()?;
    if rows == 0 || cols == 0 {
        return Ok(());
    }
    let from = m.slice()?;
    // Steps in the target from one row and one column of `m` to the next.
    let (down, right) = if adjoint { (column_stride, row_stride) } else { (row_stride, column_stride) };
    let conjugate = conjugate != adjoint;
    let put = |to: &mut T, x: T| *to = if conjugate { x.conjugate() } else { x };
    context.pool().run(|| {
        if cols == 1 || right >= down {
            // Each stretch of the target begins with a column of `m`; the gap behind the column is not written. A single
            // column has no successor, so its stretch is the rest of the target.
            let stretch = if cols == 1 { to.len() } else { right };
            to.par_chunks_mut(stretch).zip(from.par_chunks_exact(rows)).for_each(|(to, column)| {
                to.iter_mut().step_by(down.max(1)).zip(column).for_each(|(to, x)| put(to, *x));
            });
        } else {
            to.par_chunks_mut(down).take(rows).enumerate().for_each(|(i, to)| {
                let row = from[i..].iter().step_by(rows);
                to.iter_mut().step_by(right.max(1)).zip(row).for_each(|(to, x)| put(to, *x));
            });
        }
    });
    Ok(())
}

/// See [`RsvdOps::tall_shift`](crate::rsvd::ops::RsvdOps::tall_shift).
pub fn shift<T: Scalar>(
    context: &Context,
    m: &mut CpuMatrix<T>,
    shifts: &[Complex<f64>],
    exponents: &[i64],
) -> Result<()> {
    let (rows, cols) = m.shape();
    if exponents.len() != cols || (shifts.len() != cols && !shifts.is_empty()) {
        return Err(mismatch("shifts of columns", &[(rows, cols), (shifts.len(), exponents.len())]));
    }
    if rows == 0 {
        return Ok(());
    }
    let values = m.slice_mut()?;
    context.pool().run(|| {
        values.par_chunks_exact_mut(rows).zip(exponents).enumerate().for_each(|(j, (column, e))| {
            let shift = shifts.get(j).copied().unwrap_or_default();
            let by = power(*e);
            let is_near = e.abs() <= 1000;
            let scaled = |x: f64| if is_near { x * by } else { times_power(x, *e) };
            column.iter_mut().for_each(|x| *x = T::from_parts(scaled(x.re() + shift.re), scaled(x.im() + shift.im)));
        });
    });
    Ok(())
}
