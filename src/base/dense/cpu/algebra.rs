//! [`Algebra`] on the threads of a context.

use std::sync::Arc;

use super::super::sketch::Sketch;
use super::super::{Accum, Algebra, Op, Step, Svd};
use super::matrix::{self, CpuMatrix, mismatch};
use super::{columns, factor, product};
use crate::context::Context;
use crate::error::Result;
use crate::scalar::Scalar;

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
        columns::scale(&self.context, m, factors)
    }

    fn adjoint(&mut self, what: &'static str, m: &CpuMatrix<T>) -> Result<CpuMatrix<T>> {
        let mut out = CpuMatrix::zeros(what, m.cols(), m.rows(), self.context.host_budget())?;
        matrix::transpose(&self.context, m.slice()?, m.rows(), out.slice_mut()?, m.cols(), true);
        Ok(out)
    }

    fn fill(&mut self, m: &mut CpuMatrix<T>, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()> {
        columns::fill(&self.context, m, sketch, first_row, first_column)
    }

    fn norm2(&mut self, m: &CpuMatrix<T>) -> Result<f64> {
        columns::norm2(&self.context, m)
    }

    fn column_norms(&mut self, m: &CpuMatrix<T>) -> Result<Vec<f64>> {
        columns::norms(&self.context, m)
    }

    fn column_peaks(&mut self, m: &CpuMatrix<T>) -> Result<Vec<(f64, f64)>> {
        columns::peaks(&self.context, m)
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
            columns::scale_all(&self.context, c.slice_mut()?, beta);
        }
        Ok(Accum::Add)
    }
}
