//! The implementation of [`RsvdOps`] on GPUs.

use super::state::{Devices, Matrix};
use super::{GpuOps, Tall};
use crate::backend::gpu::Precision;
use crate::dense::gpu::GpuMatrix;
use crate::dense::sketch::Sketch;
use crate::dense::{Algebra, Op, Step, Svd};
use crate::error::Result;
use crate::matrix;
use crate::rsvd::ops::{BlockParameters, Prepared, RsvdOps};
use crate::rsvd::options::IterationPrecision;
use crate::rsvd::statistics::Statistics;
use crate::rsvd::traffic::Traffic;
use crate::scalar::{Complex, Scalar};

/// Upper bound of the timing events of a device that are not read yet.
const MANY_CLOCKS: usize = 1024;

impl Devices<'_> {
    fn checkpoint(&mut self, step: i64, steps: i64, measure: f64) -> Result<()> {
        // Reading the events waits for the device, so it is done rarely.
        if self.parts.iter().any(|p| p.feed.clocks() > MANY_CLOCKS) {
            self.read_clocks()?;
        }
        let (step, steps, measure) = self.passes.note(step, steps, measure, &self.traffic).between();
        self.progress.report(step, steps, measure)
    }

    fn set_precision(&mut self, precision: IterationPrecision) -> Result<bool> {
        if !self.dtype.is_single() || matches!(self.matrix, Matrix::Implicit(_)) {
            return Ok(false);
        }
        let precision = match precision {
            IterationPrecision::Full => Precision::Full,
            IterationPrecision::Fast => Precision::Reduced,
        };
        self.parts.iter().try_for_each(|p| p.site.blas().set_precision(precision))?;
        Ok(true)
    }

    fn look(&mut self) {
        if let Matrix::Implicit(matrix) = &self.matrix
            && self.statistics.is_none()
            && matrix.is_operator()
        {
            self.statistics = Some(matrix.statistics());
        }
    }
}

impl<T: Scalar> Algebra<T> for GpuOps<'_, T> {
    type Matrix = GpuMatrix<T>;

    fn zeros(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<GpuMatrix<T>> {
        self.devices.site().algebra.zeros(what, rows, cols)
    }

    fn shape(&self, m: &GpuMatrix<T>) -> (usize, usize) {
        m.shape()
    }

    fn upload(&mut self, what: &'static str, rows: usize, cols: usize, data: &[T], ld: usize) -> Result<GpuMatrix<T>> {
        self.devices.site().algebra.upload(what, rows, cols, data, ld)
    }

    fn download(&mut self, m: &GpuMatrix<T>, data: &mut [T], ld: usize) -> Result<()> {
        self.devices.site().algebra.download(m, data, ld)
    }

    fn copy_columns(
        &mut self,
        source: &GpuMatrix<T>,
        from: usize,
        count: usize,
        target: &mut GpuMatrix<T>,
        to: usize,
    ) -> Result<()> {
        self.devices.site().algebra.copy_columns(source, from, count, target, to)
    }

    fn multiply(
        &mut self,
        alpha: f64,
        a: &GpuMatrix<T>,
        op_a: Op,
        b: &GpuMatrix<T>,
        op_b: Op,
        beta: f64,
        c: &mut GpuMatrix<T>,
    ) -> Result<()> {
        self.devices.site().algebra.multiply(alpha, a, op_a, b, op_b, beta, c)
    }

    fn scale_columns(&mut self, m: &mut GpuMatrix<T>, factors: &[f64]) -> Result<()> {
        self.devices.site().algebra.scale_columns(m, factors)
    }

    fn adjoint(&mut self, what: &'static str, m: &GpuMatrix<T>) -> Result<GpuMatrix<T>> {
        self.devices.site().algebra.adjoint(what, m)
    }

    fn fill(&mut self, m: &mut GpuMatrix<T>, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()> {
        self.devices.site().algebra.fill(m, sketch, first_row, first_column)
    }

    fn norm2(&mut self, m: &GpuMatrix<T>) -> Result<f64> {
        self.devices.site().algebra.norm2(m)
    }

    fn column_norms(&mut self, m: &GpuMatrix<T>) -> Result<Vec<f64>> {
        self.devices.site().algebra.column_norms(m)
    }

    fn column_peaks(&mut self, m: &GpuMatrix<T>) -> Result<Vec<(f64, f64)>> {
        self.devices.site().algebra.column_peaks(m)
    }

    fn cholesky_step(&mut self, x: &mut GpuMatrix<T>, shift: f64, r: &mut GpuMatrix<T>) -> Result<Step> {
        self.devices.site().algebra.cholesky_step(x, shift, r)
    }

    fn householder(&mut self, x: &mut GpuMatrix<T>, r: &mut GpuMatrix<T>) -> Result<()> {
        self.devices.site().algebra.householder(x, r)
    }

    fn svd(&mut self, a: &GpuMatrix<T>) -> Result<Svd<GpuMatrix<T>>> {
        self.devices.site().algebra.svd(a)
    }

    fn eigen(&mut self, a: &GpuMatrix<T>) -> Result<(Vec<f64>, GpuMatrix<T>)> {
        self.devices.site().algebra.eigen(a)
    }

    fn inverse(&mut self, r: &GpuMatrix<T>) -> Result<Option<GpuMatrix<T>>> {
        self.devices.site().algebra.inverse(r)
    }
}

impl<T: Scalar> RsvdOps<T> for GpuOps<'_, T> {
    type Tall = Tall<T>;

    fn rows(&self) -> usize {
        self.devices.rows
    }

    fn columns(&self) -> usize {
        self.devices.columns
    }

    fn statistics(&self) -> Option<&Statistics> {
        self.devices.statistics.as_ref()
    }

    fn factor(&self) -> f64 {
        self.devices.setting.factor
    }

    fn go_on(&mut self, passes: u64) {
        self.devices.passes.go_on(passes);
    }

    fn traffic(&self) -> &Traffic {
        &self.devices.traffic
    }

    fn expect_steps(&mut self, steps: i64) {
        self.devices.passes.expect(steps);
    }

    fn checkpoint(&mut self, step: i64, steps: i64, measure: f64) -> Result<()> {
        self.devices.checkpoint(step, steps, measure)
    }

    fn set_precision(&mut self, precision: IterationPrecision) -> Result<bool> {
        self.devices.set_precision(precision)
    }

    fn set_columns(&mut self, means: &[f64], divisors: &[f64]) -> Result<Prepared> {
        self.devices.know_columns(means, divisors)
    }

    fn pass_multiply(&mut self, w: &GpuMatrix<T>, p: &mut Tall<T>) -> Result<()> {
        self.devices.multiply_pass(w, &p.matrix)
    }

    fn pass_adjoint(&mut self, p: &Tall<T>, t: &mut GpuMatrix<T>) -> Result<()> {
        self.devices.adjoint_pass(&p.matrix, t)
    }

    fn look(&mut self) -> Result<()> {
        self.devices.look();
        Ok(())
    }

    fn pass_fused(&mut self, w: &GpuMatrix<T>, p: Option<&mut Tall<T>>, t: &mut GpuMatrix<T>) -> Result<()> {
        self.devices.fused_pass(w, p.map(|p| &p.matrix), t)
    }

    fn pass_gram(&mut self, g: &mut GpuMatrix<T>) -> Result<()> {
        self.devices.gram_pass(g)
    }

    fn pass_block_sum(&mut self, local: &BlockParameters, y: &mut GpuMatrix<T>) -> Result<()> {
        self.devices.block_sum_pass(local, y)
    }

    fn pass_merge(&mut self, local: &BlockParameters, r: &mut GpuMatrix<T>) -> Result<()> {
        self.devices.merge_pass(local, r.untyped_mut())
    }

    fn pass_two_sketches(
        &mut self,
        w: &GpuMatrix<T>,
        p: &mut Tall<T>,
        psi: &Sketch,
        z: &mut GpuMatrix<T>,
    ) -> Result<()> {
        self.devices.two_sketches_pass(w, &p.matrix, psi, z)
    }

    fn tall(&mut self, what: &'static str, width: usize) -> Result<Tall<T>> {
        self.devices.make_tall(what, width).map(Tall::new)
    }

    fn tall_width(&self, p: &Tall<T>) -> usize {
        p.matrix.width
    }

    fn tall_fill(&mut self, p: &mut Tall<T>, sketch: &Sketch, first_column: u32) -> Result<()> {
        self.devices.fill_tall(&p.matrix, sketch, first_column)
    }

    fn tall_multiply(&mut self, alpha: f64, p: &Tall<T>, m: &GpuMatrix<T>, beta: f64, q: &mut Tall<T>) -> Result<()> {
        self.devices.multiply_tall(alpha, &p.matrix, m, beta, &q.matrix)
    }

    fn tall_shift(&mut self, p: &mut Tall<T>, shifts: &[Complex<f64>], exponents: &[i64]) -> Result<()> {
        self.devices.shift_tall(&p.matrix, shifts, exponents)
    }

    fn tall_transform(&mut self, p: &mut Tall<T>, m: &GpuMatrix<T>) -> Result<()> {
        self.devices.transform_tall(&mut p.matrix, m)
    }

    fn tall_cross(&mut self, p: &Tall<T>, q: &Tall<T>, c: &mut GpuMatrix<T>) -> Result<()> {
        self.devices.cross_tall(&p.matrix, &q.matrix, c)
    }

    fn tall_column_norms(&mut self, p: &Tall<T>) -> Result<Vec<f64>> {
        self.devices.tall_norms(&p.matrix)
    }

    fn tall_cholesky_step(&mut self, p: &mut Tall<T>, shift: f64, r: &mut GpuMatrix<T>) -> Result<Step> {
        self.devices.tall_step(&mut p.matrix, shift, r)
    }

    fn tall_column_peaks(&mut self, p: &Tall<T>) -> Result<Vec<(f64, f64)>> {
        self.devices.tall_peaks(&p.matrix)
    }

    fn tall_read(
        &mut self,
        what: &'static str,
        source: &matrix::Matrix,
        adjoint: bool,
        conjugate: bool,
    ) -> Result<Tall<T>> {
        self.devices.read_tall(what, source, adjoint, conjugate).map(Tall::new)
    }

    fn tall_write(&mut self, p: &Tall<T>, target: &mut matrix::Matrix, adjoint: bool, conjugate: bool) -> Result<()> {
        self.devices.write_tall(&p.matrix, target, adjoint, conjugate)
    }

    fn read(
        &mut self,
        what: &'static str,
        source: &matrix::Matrix,
        adjoint: bool,
        conjugate: bool,
    ) -> Result<GpuMatrix<T>> {
        GpuMatrix::new(self.devices.read_matrix(what, source, adjoint, conjugate)?)
    }

    fn write(&mut self, m: &GpuMatrix<T>, target: &mut matrix::Matrix, adjoint: bool, conjugate: bool) -> Result<()> {
        self.devices.write_matrix(m, target, adjoint, conjugate)
    }
}
