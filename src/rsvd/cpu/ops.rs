//! The operations of the randomized SVD on the threads of a context.

use std::sync::Arc;
use std::time::Instant;

use super::panel::Transform;
use super::sizes::moments_bytes;
use super::state::CpuOps;
use super::work::{LeftFactor, Work, mismatch};
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::dense::sketch::Sketch;
use crate::dense::{Algebra, Op, Step, Svd};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::data::Data;
use crate::rsvd::ops::{BlockParameters, Prepared, RsvdOps};
use crate::rsvd::statistics::Statistics;
use crate::rsvd::traffic::Traffic;
use crate::scalar::{Complex, Scalar, is_finite};

impl<T: Scalar> CpuOps<'_, T> {
    /// One pass: the products of `work`, by the method for the kind of the data.
    pub(super) fn pass(&mut self, work: Work<'_, T>) -> Result<()> {
        self.progress.check()?;
        let start = Instant::now();
        match self.problem.data {
            // A dense pass measures its own time, because it may wait for a source.
            Data::Dense { .. } | Data::Streamed { .. } => self.dense_pass(work)?,
            Data::Csr(_) => self.sparse_pass(work)?,
            Data::Operator(_) => self.operator_pass(work)?,
        }
        if matches!(self.problem.data, Data::Csr(_) | Data::Operator(_)) {
            self.traffic.seconds_multiply += start.elapsed().as_secs_f64();
        }
        self.traffic.passes += 1;
        Ok(())
    }
}

pub(super) fn seconds<R>(total: &mut f64, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *total += start.elapsed().as_secs_f64();
    result
}

impl<T: Scalar> Algebra<T> for CpuOps<'_, T> {
    type Matrix = CpuMatrix<T>;

    fn zeros(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<CpuMatrix<T>> {
        self.algebra.zeros(what, rows, cols)
    }

    fn shape(&self, m: &CpuMatrix<T>) -> (usize, usize) {
        m.shape()
    }

    fn upload(&mut self, what: &'static str, rows: usize, cols: usize, data: &[T], ld: usize) -> Result<CpuMatrix<T>> {
        self.algebra.upload(what, rows, cols, data, ld)
    }

    fn download(&mut self, m: &CpuMatrix<T>, data: &mut [T], ld: usize) -> Result<()> {
        self.algebra.download(m, data, ld)
    }

    fn copy_columns(
        &mut self,
        source: &CpuMatrix<T>,
        from: usize,
        count: usize,
        target: &mut CpuMatrix<T>,
        to: usize,
    ) -> Result<()> {
        self.algebra.copy_columns(source, from, count, target, to)
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
        self.algebra.multiply(alpha, a, op_a, b, op_b, beta, c)
    }

    fn scale_columns(&mut self, m: &mut CpuMatrix<T>, factors: &[f64]) -> Result<()> {
        self.algebra.scale_columns(m, factors)
    }

    fn adjoint(&mut self, what: &'static str, m: &CpuMatrix<T>) -> Result<CpuMatrix<T>> {
        self.algebra.adjoint(what, m)
    }

    fn fill(&mut self, m: &mut CpuMatrix<T>, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()> {
        self.algebra.fill(m, sketch, first_row, first_column)
    }

    fn norm2(&mut self, m: &CpuMatrix<T>) -> Result<f64> {
        self.algebra.norm2(m)
    }

    fn column_norms(&mut self, m: &CpuMatrix<T>) -> Result<Vec<f64>> {
        self.algebra.column_norms(m)
    }

    fn column_peaks(&mut self, m: &CpuMatrix<T>) -> Result<Vec<(f64, f64)>> {
        self.algebra.column_peaks(m)
    }

    fn cholesky_step(&mut self, x: &mut CpuMatrix<T>, shift: f64, r: &mut CpuMatrix<T>) -> Result<Step> {
        seconds(&mut self.traffic.seconds_orthonormalize, || self.algebra.cholesky_step(x, shift, r))
    }

    fn householder(&mut self, x: &mut CpuMatrix<T>, r: &mut CpuMatrix<T>) -> Result<()> {
        seconds(&mut self.traffic.seconds_orthonormalize, || self.algebra.householder(x, r))
    }

    fn svd(&mut self, a: &CpuMatrix<T>) -> Result<Svd<CpuMatrix<T>>> {
        seconds(&mut self.traffic.seconds_small, || self.algebra.svd(a))
    }

    fn eigen(&mut self, a: &CpuMatrix<T>) -> Result<(Vec<f64>, CpuMatrix<T>)> {
        seconds(&mut self.traffic.seconds_small, || self.algebra.eigen(a))
    }
}

impl<T: Scalar> RsvdOps<T> for CpuOps<'_, T> {
    type Tall = CpuMatrix<T>;

    fn rows(&self) -> usize {
        self.problem.rows
    }

    fn columns(&self) -> usize {
        self.problem.columns
    }

    fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_ref()
    }

    fn factor(&self) -> f64 {
        self.setting.factor
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    fn expect_steps(&mut self, steps: i64) {
        self.passes.expect(steps);
    }

    fn checkpoint(&mut self, step: i64, steps: i64, measure: f64) -> Result<()> {
        let (step, steps, measure) = self.passes.note(step, steps, measure, &self.traffic).between();
        self.progress.report(step, steps, measure)
    }

    fn identity(&mut self, what: &'static str, rows: usize, columns: usize) -> Result<CpuMatrix<T>> {
        let mut eye = self.zeros_of(what, rows, columns)?;
        eye.slice_mut()?
            .iter_mut()
            .step_by(rows + 1)
            .take(columns.min(rows))
            .for_each(|x| *x = T::from_parts(1.0, 0.0));
        Ok(eye)
    }

    fn tall_of(&mut self, _: &Arc<Context>, m: &CpuMatrix<T>) -> Result<CpuMatrix<T>> {
        self.copied("tall copy", m)
    }

    fn matrix_of(&mut self, _: &Arc<Context>, what: &'static str, p: &CpuMatrix<T>) -> Result<CpuMatrix<T>> {
        self.copied(what, p)
    }

    fn tall_identity(&mut self, _: &Arc<Context>, columns: usize) -> Result<CpuMatrix<T>> {
        self.identity("identity", self.problem.rows, columns)
    }

    fn tall_ones(&mut self, _: &Arc<Context>) -> Result<CpuMatrix<T>> {
        let mut ones = self.zeros_of("ones", self.problem.rows, 1)?;
        ones.slice_mut()?.fill(T::from_parts(1.0, 0.0));
        Ok(ones)
    }

    fn tall_elements(
        &mut self,
        _: &Arc<Context>,
        p: &CpuMatrix<T>,
        take: &mut dyn FnMut(&[T]) -> Result<()>,
    ) -> Result<bool> {
        take(p.slice()?)?;
        Ok(true)
    }

    fn tall_filled(
        &mut self,
        _: &Arc<Context>,
        width: usize,
        fill: &mut dyn FnMut(&mut [T]) -> Result<()>,
    ) -> Result<CpuMatrix<T>> {
        let mut p = self.zeros_of("A W", self.problem.rows, width)?;
        fill(p.slice_mut()?)?;
        Ok(p)
    }

    fn go_on(&mut self, passes: u64) {
        self.passes.go_on(passes);
    }

    fn set_columns(&mut self, means: &[f64], divisors: &[f64]) -> Result<Prepared> {
        let columns = self.problem.columns;
        if means.len() != columns * if T::IS_COMPLEX { 2 } else { 1 } || self.transform.is_some() {
            return Err(mismatch("means of columns", &[(means.len(), columns)]));
        }
        if matches!(self.problem.data, Data::Dense { .. } | Data::Streamed { .. }) {
            let bytes = moments_bytes(&self.setting, columns);
            self.moments = Some(self.context.host_budget().charge_host("means of columns", bytes)?);
        }
        let factor = self.setting.factor;
        let mut known = crate::alloc::with_capacity("means of columns", columns)?;
        let imaginary = |j: usize| means.get(columns + j).copied().unwrap_or(0.0);
        known.extend((0..columns).map(|j| Complex::new(means[j], imaginary(j))));
        let mut transform = Transform { means: known, factor, ..Transform::default() };
        let is_operator = matches!(self.problem.data, Data::Operator(_));
        if !is_operator && !divisors.is_empty() {
            transform.divide(divisors, factor)?;
        }
        self.transform = Some(transform);
        Ok(if is_operator { Prepared::Centred } else { Prepared::Divided })
    }

    fn look(&mut self) -> Result<()> {
        self.look_at_operator()
    }

    fn pass_multiply(&mut self, w: &CpuMatrix<T>, p: &mut CpuMatrix<T>) -> Result<()> {
        self.pass(Work { w: Some(w), p: Some(p), ..Work::default() })
    }

    fn pass_adjoint(&mut self, p: &CpuMatrix<T>, t: &mut CpuMatrix<T>) -> Result<()> {
        self.pass(Work { left: LeftFactor::Given(p), t: Some(t), ..Work::default() })
    }

    fn pass_fused(&mut self, w: &CpuMatrix<T>, p: Option<&mut CpuMatrix<T>>, t: &mut CpuMatrix<T>) -> Result<()> {
        self.pass(Work { w: Some(w), p, left: LeftFactor::Product, t: Some(t), ..Work::default() })
    }

    fn pass_gram(&mut self, g: &mut CpuMatrix<T>) -> Result<()> {
        self.pass(Work { gram: Some(g), ..Work::default() })
    }

    fn pass_block_sum(&mut self, local: &BlockParameters, y: &mut CpuMatrix<T>) -> Result<()> {
        self.block_sum(local, y)
    }

    fn pass_merge(&mut self, local: &BlockParameters, r: &mut CpuMatrix<T>) -> Result<()> {
        self.merge(local, r)
    }

    fn pass_two_sketches(
        &mut self,
        w: &CpuMatrix<T>,
        p: &mut CpuMatrix<T>,
        psi: &Sketch,
        z: &mut CpuMatrix<T>,
    ) -> Result<()> {
        self.pass(Work { w: Some(w), p: Some(p), left: LeftFactor::Drawn(*psi), t: Some(z), ..Work::default() })
    }

    fn tall(&mut self, what: &'static str, width: usize) -> Result<CpuMatrix<T>> {
        self.zeros_of(what, self.problem.rows, width)
    }

    fn tall_width(&self, p: &CpuMatrix<T>) -> usize {
        p.cols()
    }

    fn tall_fill(&mut self, p: &mut CpuMatrix<T>, sketch: &Sketch, first_column: u32) -> Result<()> {
        self.algebra.fill(p, sketch, 0, first_column)
    }

    fn tall_multiply(
        &mut self,
        alpha: f64,
        p: &CpuMatrix<T>,
        m: &CpuMatrix<T>,
        beta: f64,
        q: &mut CpuMatrix<T>,
    ) -> Result<()> {
        self.algebra.multiply(alpha, p, Op::Plain, m, Op::Plain, beta, q)
    }

    fn tall_shift(&mut self, p: &mut CpuMatrix<T>, shifts: &[Complex<f64>], exponents: &[i64]) -> Result<()> {
        super::tall::shift(self.context, p, shifts, exponents)
    }

    fn tall_transform(&mut self, p: &mut CpuMatrix<T>, m: &CpuMatrix<T>) -> Result<()> {
        let mut q = self.zeros_of("transformed tall matrix", p.rows(), m.cols())?;
        self.algebra.multiply(1.0, p, Op::Plain, m, Op::Plain, 0.0, &mut q)?;
        *p = q;
        Ok(())
    }

    fn tall_cross(&mut self, p: &CpuMatrix<T>, q: &CpuMatrix<T>, c: &mut CpuMatrix<T>) -> Result<()> {
        self.algebra.multiply(1.0, p, Op::Adjoint, q, Op::Plain, 0.0, c)
    }

    fn tall_column_norms(&mut self, p: &CpuMatrix<T>) -> Result<Vec<f64>> {
        self.algebra.column_norms(p)
    }

    fn tall_not_finite(&mut self, p: &CpuMatrix<T>) -> Result<Option<usize>> {
        let rows = p.rows().max(1);
        let all = p.slice()?;
        // Tasks of a few thousand numbers, for a single column as for many.
        let bad = self.context.pool().run(|| {
            let tasks = all.par_chunks(1 << 14).enumerate();
            let first: Vec<Option<usize>> =
                tasks.map(|(k, part)| part.iter().position(|x| !is_finite(*x)).map(|at| (k << 14) + at)).collect();
            first.into_iter().flatten().next()
        });
        Ok(bad.map(|at| at / rows))
    }

    fn tall_cholesky_step(&mut self, p: &mut CpuMatrix<T>, shift: f64, r: &mut CpuMatrix<T>) -> Result<Step> {
        self.cholesky_step(p, shift, r)
    }

    fn tall_column_peaks(&mut self, p: &CpuMatrix<T>) -> Result<Vec<(f64, f64)>> {
        self.algebra.column_peaks(p)
    }

    fn tall_read(
        &mut self,
        what: &'static str,
        source: &Matrix,
        adjoint: bool,
        conjugate: bool,
    ) -> Result<CpuMatrix<T>> {
        let m = self.read(what, source, adjoint, conjugate)?;
        if m.rows() != self.problem.rows {
            return Err(mismatch(what, &[m.shape(), (self.problem.rows, self.problem.columns)]));
        }
        Ok(m)
    }

    fn tall_write(&mut self, p: &CpuMatrix<T>, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()> {
        self.write(p, target, adjoint, conjugate)
    }

    fn read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<CpuMatrix<T>> {
        super::tall::read(self.context, what, source, adjoint, conjugate)
    }

    fn write(&mut self, m: &CpuMatrix<T>, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()> {
        super::tall::write(self.context, m, target, adjoint, conjugate)
    }
}
