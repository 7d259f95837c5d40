//! [`super::Algebra`] on the CPU.
//!
//! [`super::serial`] does the arithmetic of one task. The partition into tasks depends on the shape of the problem alone, and the tasks'
//! sums are added in order. A result is therefore the same bit for bit with any number of threads.

pub mod factor;
pub mod matrix;
pub mod product;
pub mod sums;
#[cfg(test)]
mod tests;
pub mod wide;

use std::sync::Arc;

use super::sketch::Sketch;
use super::{Accum, Algebra, Op, Step, Svd};
use crate::backend::cpu::parallel::{IntoItems as _, Items as _, Pieces as _};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use matrix::{CpuMatrix, pieces, split_rows};
use sums::squares;

/// Dense algebra on the threads of a context.
pub struct CpuAlgebra {
    context: Arc<Context>,
}

impl CpuAlgebra {
    /// The algebra of a context.
    pub fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context) }
    }

    /// The context whose threads and memory it uses.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

/// The error of operands that do not fit each other.
pub(crate) fn mismatch(what: &str, shapes: &[(usize, usize)]) -> Error {
    Error::Internal(format!("{what} of matrices of {shapes:?}"))
}

/// Elements of a sum that one task adds up.
const STRETCH: usize = 1 << 14;

/// Sum over equal stretches of `values`, each by `sum`, added in order.
fn in_stretches<T: Scalar>(values: &[T], sum: impl Fn(&[T]) -> f64 + Sync) -> f64 {
    let length = values.len().div_ceil(1024).max(STRETCH);
    let parts: Vec<f64> = values.par_chunks(length).map(&sum).collect();
    parts.iter().sum()
}

/// Euclidean norm, without overflow or underflow on the way.
fn norm<T: Scalar>(values: &[T]) -> f64 {
    let sum = in_stretches(values, squares);
    if sum > 1e-280 && sum < 1e280 {
        return sum.sqrt();
    }
    let largest = values.iter().fold(0.0f64, |most, x| {
        // `max` would lose a NaN.
        let size = x.re().abs() + x.im().abs();
        if size > most || size.is_nan() { size } else { most }
    });
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    // By a power of two no number loses digits; two steps, as the inverse of a subnormal number is infinite.
    let scale = 2.0f64.powi(-(largest.log2().floor() as i32) / 2);
    let sum = in_stretches(values, |part| {
        part.iter().map(|x| (x.re() * scale * scale).powi(2) + (x.im() * scale * scale).powi(2)).sum()
    });
    sum.sqrt() / scale / scale
}

impl<T: Scalar> Algebra<T> for CpuAlgebra {
    type Matrix = CpuMatrix<T>;

    fn zeros(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<CpuMatrix<T>> {
        CpuMatrix::zeros(what, rows, cols, self.context.host_budget())
    }

    fn shape(&self, m: &CpuMatrix<T>) -> (usize, usize) {
        m.shape()
    }

    fn upload(&mut self, what: &'static str, rows: usize, cols: usize, data: &[T], ld: usize) -> Result<CpuMatrix<T>> {
        let mut m = CpuMatrix::zeros(what, rows, cols, self.context.host_budget())?;
        if rows > 0 && cols > 0 {
            if ld < rows || data.len() < ld * (cols - 1) + rows {
                return Err(mismatch("an upload", &[(rows, cols), (ld, data.len())]));
            }
            for (to, from) in m.slice_mut()?.chunks_exact_mut(rows).zip(data.chunks(ld)) {
                to.copy_from_slice(&from[..rows]);
            }
        }
        Ok(m)
    }

    fn download(&mut self, m: &CpuMatrix<T>, data: &mut [T], ld: usize) -> Result<()> {
        let (rows, cols) = m.shape();
        if rows == 0 || cols == 0 {
            return Ok(());
        }
        if ld < rows || data.len() < ld * (cols - 1) + rows {
            return Err(mismatch("a download", &[(rows, cols), (ld, data.len())]));
        }
        for (from, to) in m.slice()?.chunks_exact(rows).zip(data.chunks_mut(ld)) {
            to[..rows].copy_from_slice(from);
        }
        Ok(())
    }

    fn copy_columns(
        &mut self,
        source: &CpuMatrix<T>,
        from: usize,
        count: usize,
        target: &mut CpuMatrix<T>,
        to: usize,
    ) -> Result<()> {
        let (rows, cols) = source.shape();
        if rows != target.rows() || from + count > cols || to + count > target.cols() {
            return Err(mismatch("a copy of columns", &[(rows, cols), target.shape(), (from, to), (count, count)]));
        }
        let source = &source.slice()?[rows * from..rows * (from + count)];
        target.slice_mut()?[rows * to..rows * (to + count)].copy_from_slice(source);
        Ok(())
    }

    fn multiply(
        &mut self,
        alpha: f64,
        a: &CpuMatrix<T>,
        op_a: Op,
        b: &CpuMatrix<T>,
        op_b: Op,
        beta: f64,
        c: &mut CpuMatrix<T>,
    ) -> Result<()> {
        let accumulate = self.prepare(beta, c)?;
        let (a, b) = (op_a.of(a.view()?), op_b.of(b.view()?));
        product::multiply(&self.context, alpha, a, b, accumulate, c.view_mut()?)
    }

    fn scale_columns(&mut self, m: &mut CpuMatrix<T>, factors: &[f64]) -> Result<()> {
        let (rows, cols) = m.shape();
        if factors.len() != cols {
            return Err(mismatch("a scaling", &[(rows, cols), (1, factors.len())]));
        }
        if rows == 0 {
            return Ok(());
        }
        let values = m.slice_mut()?;
        self.context.pool().run(|| {
            values.par_chunks_mut(rows).zip(factors).for_each(|(column, &factor)| {
                column.iter_mut().for_each(|x| *x = T::from_parts(x.re() * factor, x.im() * factor));
            });
        });
        Ok(())
    }

    fn adjoint(&mut self, what: &'static str, m: &CpuMatrix<T>) -> Result<CpuMatrix<T>> {
        let mut out = CpuMatrix::zeros(what, m.cols(), m.rows(), self.context.host_budget())?;
        matrix::transpose(&self.context, m.slice()?, m.rows(), out.slice_mut()?, m.cols(), true);
        Ok(out)
    }

    fn fill(&mut self, m: &mut CpuMatrix<T>, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()> {
        let chunk = pieces(m.rows(), 2048);
        let parts = split_rows(m.view_mut()?, chunk);
        self.context.pool().run(|| {
            parts.into_par_iter().enumerate().for_each(|(i, mut part)| {
                let first = first_row + crate::shape::to_u64(i * chunk);
                let (cols, mut j) = (part.cols(), 0);
                let mut column = first_column;
                while j < cols {
                    let pair = j + 1 < cols && column.is_multiple_of(2);
                    let (left, right) = part.as_mut().subcols(j, if pair { 2 } else { 1 }).split_at_col(1);
                    match (left.into_column(0), pair.then_some(right).and_then(|right| right.into_column(0))) {
                        (Some(left), Some(right)) => sketch.fill_pair(first, column, left, right),
                        (Some(left), None) => sketch.fill_column(first, column, left),
                        (None, _) => {}
                    }
                    let step = if pair { 2 } else { 1 };
                    (j, column) = (j + step, column + if pair { 2 } else { 1 });
                }
            });
        });
        Ok(())
    }

    fn norm2(&mut self, m: &CpuMatrix<T>) -> Result<f64> {
        let values = m.slice()?;
        Ok(self.context.pool().run(|| in_stretches(values, squares)))
    }

    fn column_norms(&mut self, m: &CpuMatrix<T>) -> Result<Vec<f64>> {
        let mut norms = crate::alloc::filled("norms of columns", m.cols(), 0.0)?;
        if m.rows() > 0 {
            let values = m.slice()?;
            self.context.pool().run(|| {
                values.par_chunks(m.rows()).zip(&mut norms).for_each(|(column, n)| *n = norm(column));
            });
        }
        Ok(norms)
    }

    fn column_peaks(&mut self, m: &CpuMatrix<T>) -> Result<Vec<(f64, f64)>> {
        let mut peaks = crate::alloc::filled("peaks of columns", m.cols(), (0.0, 0.0))?;
        if m.rows() > 0 {
            let values = m.slice()?;
            self.context.pool().run(|| {
                values.par_chunks(m.rows()).zip(&mut peaks).for_each(|(column, peak)| {
                    let mut most = 0.0;
                    for x in column {
                        let size = x.re() * x.re() + x.im() * x.im();
                        if size > most {
                            (most, *peak) = (size, (x.re(), x.im()));
                        }
                    }
                });
            });
        }
        Ok(peaks)
    }

    fn cholesky_step(&mut self, x: &mut CpuMatrix<T>, shift: f64, r: &mut CpuMatrix<T>) -> Result<Step> {
        factor::cholesky_step(&self.context, x, shift, r)
    }

    fn householder(&mut self, x: &mut CpuMatrix<T>, r: &mut CpuMatrix<T>) -> Result<()> {
        factor::householder(&self.context, x, r)
    }

    fn svd(&mut self, a: &CpuMatrix<T>) -> Result<Svd<CpuMatrix<T>>> {
        factor::svd(&self.context, a)
    }

    fn eigen(&mut self, a: &CpuMatrix<T>) -> Result<(Vec<f64>, CpuMatrix<T>)> {
        factor::eigen(&self.context, a)
    }
}

impl CpuAlgebra {
    /// Multiplies C by beta if beta is neither 0 nor 1. Returns whether a product replaces C or is added to it.
    fn prepare<T: Scalar>(&self, beta: f64, c: &mut CpuMatrix<T>) -> Result<Accum> {
        if beta == 0.0 {
            return Ok(Accum::Replace);
        }
        if beta != 1.0 {
            let values = c.slice_mut()?;
            self.context.pool().run(|| {
                values
                    .par_chunks_mut(STRETCH)
                    .for_each(|part| part.iter_mut().for_each(|x| *x = T::from_parts(x.re() * beta, x.im() * beta)));
            });
        }
        Ok(Accum::Add)
    }
}
