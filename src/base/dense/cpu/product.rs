//! Products of matrices, cut into tasks.

use super::matrix::mismatch;
use super::matrix::{pieces, split_columns, split_rows};
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::{Accum, Mat, MatMut, serial};
use crate::error::Result;
use crate::instances::compiled_here;
use crate::progress::CancelWatch;
use crate::scalar::Scalar;

/// Number of multiplications below which a second thread costs more time than it saves.
const SMALL: usize = 1 << 18;

/// Smallest number of rows or columns of C in a task.
const BAND: usize = 128;

/// Whether tasks divide the inner dimension of a product instead of its result.
fn is_summed_over_depth(rows: usize, cols: usize, depth: usize) -> bool {
    depth >= rows.max(cols).max(BAND).saturating_mul(4)
}

/// Inner dimension of a task. The partial sums together are not larger than the factors.
fn depth_of_a_task(rows: usize, cols: usize, depth: usize) -> usize {
    pieces(depth, 2 * rows.max(cols).max(BAND))
}

/// Elements of the memory that [`multiply`] allocates for a `rows`-by-`depth` factor and a `depth`-by-`cols` one.
pub fn working_elements(rows: usize, cols: usize, depth: usize) -> usize {
    let is_small = rows.saturating_mul(cols).saturating_mul(depth) <= SMALL;
    if is_small || !is_summed_over_depth(rows, cols, depth) {
        return 0;
    }
    rows.saturating_mul(cols).saturating_mul(depth.div_ceil(depth_of_a_task(rows, cols, depth)))
}

compiled_here! {
    /// C = alpha A B, or with [`Accum::Add`] C += alpha A B, by all threads of the pool. Must not be called on one of them.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for matrices that do not fit; [`crate::error::Error::OutOfMemory`].
    pub fn multiply<T: Scalar>(
        context: &Context,
        alpha: f64,
        a: Mat<'_, T>,
        b: Mat<'_, T>,
        accumulate: Accum,
        c: MatMut<'_, T>,
    ) -> Result<()> = multiply_of;
}

fn multiply_of<T: Scalar>(
    context: &Context,
    alpha: f64,
    a: Mat<'_, T>,
    b: Mat<'_, T>,
    accumulate: Accum,
    c: MatMut<'_, T>,
) -> Result<()> {
    multiply_by_tasks(context, alpha, (a, b), accumulate, c, &|| Ok(()))
}

compiled_here! {
    /// C = alpha A B as by [`multiply`]. `cancel` ends it between two tasks, unless they divide the inner dimension.
    ///
    /// # Errors
    /// As [`multiply`]; [`crate::error::Error::Cancelled`].
    pub fn multiply_watched<T: Scalar>(
        context: &Context,
        alpha: f64,
        factors: (Mat<'_, T>, Mat<'_, T>),
        c: MatMut<'_, T>,
        cancel: CancelWatch<'_>,
    ) -> Result<()> = multiply_watched_of;
}

fn multiply_watched_of<T: Scalar>(
    context: &Context,
    alpha: f64,
    factors: (Mat<'_, T>, Mat<'_, T>),
    c: MatMut<'_, T>,
    cancel: CancelWatch<'_>,
) -> Result<()> {
    multiply_by_tasks(context, alpha, factors, Accum::Replace, c, &|| cancel.check())
}

/// Calls `before` at the begin of each task; its error ends the product.
fn multiply_by_tasks<T: Scalar>(
    context: &Context,
    alpha: f64,
    (a, b): (Mat<'_, T>, Mat<'_, T>),
    accumulate: Accum,
    mut c: MatMut<'_, T>,
    before: &(dyn Fn() -> Result<()> + Sync),
) -> Result<()> {
    let ((rows, depth), (other, cols)) = (a.shape(), b.shape());
    if depth != other || c.shape() != (rows, cols) {
        return Err(mismatch("a product", &[a.shape(), b.shape(), c.shape()]));
    }
    let scale = T::from_parts(alpha, 0.0);
    if rows.saturating_mul(cols).saturating_mul(depth) <= SMALL {
        context.pool().run(|| serial::multiply(c, accumulate, a, b, scale));
        return Ok(());
    }
    if is_summed_over_depth(rows, cols, depth) {
        return sum_over_depth(context, scale, a, b, accumulate, c);
    }
    if rows >= cols {
        let chunk = pieces(rows, BAND);
        let parts = split_rows(c.as_mut(), chunk);
        context.pool().run(|| {
            parts.into_par_iter().enumerate().try_for_each(|(i, c)| {
                before()?;
                let a = a.subrows(i * chunk, c.rows());
                serial::multiply(c, accumulate, a, b, scale);
                Ok(())
            })
        })
    } else {
        let chunk = pieces(cols, BAND);
        let parts = split_columns(c.as_mut(), chunk);
        context.pool().run(|| {
            parts.into_par_iter().enumerate().try_for_each(|(i, c)| {
                before()?;
                let b = b.subcols(i * chunk, c.cols());
                serial::multiply(c, accumulate, a, b, scale);
                Ok(())
            })
        })
    }
}

/// A product of long rows with long columns. Each task sums over a part of the inner dimension, and the sums are added in
/// order.
fn sum_over_depth<T: Scalar>(
    context: &Context,
    alpha: T,
    a: Mat<'_, T>,
    b: Mat<'_, T>,
    accumulate: Accum,
    mut c: MatMut<'_, T>,
) -> Result<()> {
    let ((rows, depth), cols) = (a.shape(), b.shape().1);
    let chunk = depth_of_a_task(rows, cols, depth);
    let count = depth.div_ceil(chunk);
    let what = "partial sums of a product";
    let size = rows * cols;
    let _charge = context.host_budget().charge_host(what, size * count * size_of::<T>())?;
    let mut partial = alloc::filled(what, size * count, T::default())?;
    context.pool().run(|| {
        partial.par_chunks_exact_mut(size).enumerate().for_each(|(i, part)| {
            let (first, length) = (i * chunk, chunk.min(depth - i * chunk));
            let part = MatMut::from_columns(part, rows, cols);
            serial::multiply(part, Accum::Replace, a.subcols(first, length), b.subrows(first, length), alpha);
        });
        let (sum, rest) = partial.split_at_mut(size);
        for part in rest.chunks_exact(size) {
            sum.iter_mut().zip(part).for_each(|(s, p)| *s += *p);
        }
        for (j, column) in sum.chunks_exact(rows).enumerate() {
            for (i, &x) in column.iter().enumerate() {
                c[(i, j)] = if accumulate == Accum::Add { c[(i, j)] + x } else { x };
            }
        }
    });
    Ok(())
}
