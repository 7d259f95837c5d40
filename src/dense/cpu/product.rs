//! Products of matrices, cut into tasks.

use crate::backend::cpu::parallel::{IntoItems as _, Items as _, Pieces as _};
use faer::linalg::matmul::matmul_with_conj;
use faer::{Accum, Conj, MatMut, MatRef, Par};

use super::super::Op;
use super::matrix::{pieces, split_columns, split_rows};
use super::mismatch;
use crate::alloc;
use crate::context::Context;
use crate::error::Result;
use crate::scalar::Scalar;

/// A factor of a product.
#[derive(Clone, Copy)]
pub struct Factor<'a, T> {
    view: MatRef<'a, T>,
    conj: Conj,
}

impl<'a, T: Scalar> Factor<'a, T> {
    /// op(view).
    pub fn new(view: MatRef<'a, T>, op: Op) -> Self {
        match op {
            Op::Plain => Self { view, conj: Conj::No },
            Op::Adjoint => Self { view: view.transpose(), conj: Conj::Yes },
        }
    }

    fn rows(self, first: usize, count: usize) -> Self {
        Self { view: self.view.subrows(first, count), ..self }
    }

    fn columns(self, first: usize, count: usize) -> Self {
        Self { view: self.view.subcols(first, count), ..self }
    }

    fn shape(self) -> (usize, usize) {
        self.view.shape()
    }
}

/// C = alpha A B, or with [`Accum::Add`] C += alpha A B, by the calling thread alone.
pub fn one_task<T: Scalar>(alpha: f64, a: Factor<'_, T>, b: Factor<'_, T>, accumulate: Accum, c: MatMut<'_, T>) {
    matmul_with_conj(c, accumulate, a.view, a.conj, b.view, b.conj, T::from_parts(alpha, 0.0), Par::Seq);
}

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

/// C = alpha A B, or with [`Accum::Add`] C += alpha A B, by all threads of the pool. Must not be called on one of them.
pub fn multiply<T: Scalar>(
    context: &Context,
    alpha: f64,
    a: Factor<'_, T>,
    b: Factor<'_, T>,
    accumulate: Accum,
    mut c: MatMut<'_, T>,
) -> Result<()> {
    let ((rows, depth), (other, cols)) = (a.shape(), b.shape());
    if depth != other || c.shape() != (rows, cols) {
        return Err(mismatch("a product", &[a.shape(), b.shape(), c.shape()]));
    }
    if rows.saturating_mul(cols).saturating_mul(depth) <= SMALL {
        context.pool().run(|| one_task(alpha, a, b, accumulate, c));
        return Ok(());
    }
    if is_summed_over_depth(rows, cols, depth) {
        return sum_over_depth(context, alpha, a, b, accumulate, c);
    }
    if rows >= cols {
        let chunk = pieces(rows, BAND);
        let parts = split_rows(c.as_mut(), chunk);
        context.pool().run(|| {
            parts.into_par_iter().enumerate().for_each(|(i, c)| {
                let a = a.rows(i * chunk, c.nrows());
                one_task(alpha, a, b, accumulate, c);
            });
        });
    } else {
        let chunk = pieces(cols, BAND);
        let parts = split_columns(c.as_mut(), chunk);
        context.pool().run(|| {
            parts.into_par_iter().enumerate().for_each(|(i, c)| {
                let b = b.columns(i * chunk, c.ncols());
                one_task(alpha, a, b, accumulate, c);
            });
        });
    }
    Ok(())
}

/// A product of long rows with long columns. Each task sums over a part of the inner dimension, and the sums are added in
/// order.
fn sum_over_depth<T: Scalar>(
    context: &Context,
    alpha: f64,
    a: Factor<'_, T>,
    b: Factor<'_, T>,
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
            let part = MatMut::from_column_major_slice_mut(part, rows, cols);
            one_task(alpha, a.columns(first, length), b.rows(first, length), Accum::Replace, part);
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
