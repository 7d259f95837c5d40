//! The dense algebra on one stream of a GPU.

use std::sync::Arc;

use super::super::cpu::CpuAlgebra;
use super::super::cpu::matrix::CpuMatrix;
use super::super::sketch::{Distribution, Sketch};
use super::super::{Algebra, Op, Step, Svd};
use super::factor;
use super::matrix::{DeviceMatrix, GpuMatrix};
use crate::alloc;
use crate::backend::gpu::kernels::{constants, dense};
use crate::backend::gpu::{Blas, DeviceMemory, Gpu, GpuStream, Rows, Solver, Transpose, View, Work};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::scalar::{DType, Scalar};

/// Bytes that plans add for factorizations and kernels on a GPU. cuSOLVER has to be loaded to report the size of its
/// workspace, which is 6 MiB for small matrices.
pub const FACTORIZATION_BYTES: u64 = 12 << 20;

/// Bytes of the status that cuSOLVER's factorizations write.
const OUTCOME: usize = 8;

/// Dense algebra on one stream of a GPU.
pub struct GpuAlgebra {
    pub(super) gpu: Gpu,
    pub(super) stream: GpuStream,
    pub(super) blas: Blas,
    /// Loaded on first use; `Some(None)` if cuSOLVER is not available.
    pub(super) solver: Option<Option<Solver>>,
    pub(super) work: Work,
    /// I32: status that cuSOLVER's factorizations write.
    pub(super) info: DeviceMemory,
    /// Bytes of a panel in which rows in single precision are converted to double.
    pub(super) panel: usize,
    /// The CPU fallback of factorizations.
    pub(super) host: CpuAlgebra,
}

/// The error of operands that do not fit each other.
pub(super) fn mismatch(what: &str, shapes: &[(usize, usize)]) -> Error {
    Error::Internal(format!("{what} of matrices of {shapes:?}"))
}

fn transpose(op: Op) -> Transpose {
    match op {
        Op::Plain => Transpose::Plain,
        Op::Adjoint => Transpose::Adjoint,
    }
}

impl GpuAlgebra {
    /// The algebra of a GPU, for work on `stream`. The CPU fallback uses the threads of `context`.
    ///
    /// # Errors
    /// [`Error::NoDevice`] without cuBLAS.
    pub fn new(context: &Arc<Context>, gpu: &Gpu, stream: &GpuStream) -> Result<Self> {
        let available = context.device_budget().available();
        Ok(Self {
            gpu: gpu.clone(),
            stream: stream.clone(),
            blas: Blas::within(gpu, stream, available)?,
            solver: None,
            work: Work::default(),
            info: gpu.allocate_on(stream, "outcome of a factorization", OUTCOME)?,
            panel: factor::panel_within(available),
            host: CpuAlgebra::new(context),
        })
    }

    /// Bytes on the device that [`GpuAlgebra::new`] allocates where the limit leaves `available` bytes.
    pub fn bytes_within(gpu: &Gpu, available: u64) -> usize {
        Blas::workspace_within(gpu, available) + OUTCOME
    }

    /// The GPU that the matrices are on.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// The stream that all work is enqueued on.
    pub fn stream(&self) -> &GpuStream {
        &self.stream
    }

    /// cuBLAS, bound to [`GpuAlgebra::stream`].
    pub fn blas(&self) -> &Blas {
        &self.blas
    }

    /// Bytes of the panel in which a Gram matrix or a CholeskyQR step converts rows in single precision to double.
    pub fn panel_bytes(&self) -> usize {
        self.panel
    }

    /// The algebra of the CPU fallback.
    pub fn host(&mut self) -> &mut CpuAlgebra {
        &mut self.host
    }

    /// A matrix of type `dtype` with undefined contents, which must be written before it is read.
    ///
    /// # Errors
    /// As [`DeviceMatrix::uninitialized`].
    pub fn uninitialized(&self, dtype: DType, what: &'static str, rows: usize, cols: usize) -> Result<DeviceMatrix> {
        DeviceMatrix::uninitialized(&self.gpu, &self.stream, what, dtype, (rows, cols))
    }

    /// A copy of `like`, whose elements are of type `from`, in the type `to`.
    ///
    /// # Errors
    /// As [`GpuAlgebra::uninitialized`]; errors of the device.
    pub fn converted(
        &self,
        what: &'static str,
        (from, to): (DType, DType),
        like: View<'_>,
        reverse: bool,
    ) -> Result<DeviceMatrix> {
        let copy = self.uninitialized(to, what, like.rows, like.cols)?;
        if from == to && !reverse {
            dense::place(to, &self.gpu, &self.stream, like, copy.view(), false, false)?;
        } else {
            dense::convert(from, to, &self.gpu, &self.stream, like, copy.view(), reverse)?;
        }
        Ok(copy)
    }

    /// Copies numbers that a kernel wrote to the host.
    pub(super) fn numbers(&self, memory: &DeviceMemory, count: usize) -> Result<Vec<f64>> {
        let mut numbers = alloc::filled("numbers of columns", count, 0.0)?;
        self.gpu.load_numbers(&self.stream, memory, 0, &mut numbers)?;
        Ok(numbers)
    }

    /// Sums of the squares of the columns of `m`, of type `dtype`.
    ///
    /// # Errors
    /// Out of memory; errors of the device.
    pub fn column_sums(&self, dtype: DType, m: View<'_>, factor: f64) -> Result<Vec<f64>> {
        let output = self.gpu.allocate_uninitialized_on(&self.stream, "norms of columns", m.cols * 8)?;
        dense::columns(dtype, &self.gpu, &self.stream, dense::Reduction::Sums { factor }, m, output.whole())?;
        self.numbers(&output, m.cols)
    }

    /// Real and imaginary part of the first entry of largest modulus of each column of `m`, of type `dtype`.
    ///
    /// # Errors
    /// Out of memory; errors of the device.
    pub fn peaks(&self, dtype: DType, m: View<'_>) -> Result<Vec<(f64, f64)>> {
        let output = self.gpu.allocate_uninitialized_on(&self.stream, "peaks of columns", m.cols * 16)?;
        dense::columns(dtype, &self.gpu, &self.stream, dense::Reduction::Peaks, m, output.whole())?;
        let numbers = self.numbers(&output, 2 * m.cols)?;
        let mut peaks = alloc::with_capacity("peaks of columns", m.cols)?;
        peaks.extend(numbers.chunks_exact(2).map(|p| (p[0], p[1])));
        Ok(peaks)
    }

    /// Euclidean norms of the columns of `m`, of type `dtype`, without overflow or underflow of intermediate results.
    ///
    /// # Errors
    /// Out of memory; errors of the device.
    pub fn norms(&self, dtype: DType, m: View<'_>) -> Result<Vec<f64>> {
        let mut norms = self.column_sums(dtype, m, 1.0)?;
        for (j, norm) in norms.iter_mut().enumerate() {
            if *norm > 1e-280 && *norm < 1e280 {
                *norm = norm.sqrt();
                continue;
            }
            // The parts of a complex column are viewed as a real column of twice the length.
            let column = m.columns(dtype, j, 1)?;
            let parts = if dtype.is_complex() { 2 } else { 1 };
            let column = View { rows: column.rows * parts, ld: column.ld * parts, ..column };
            let largest = self.peaks(dtype.part(), column)?.first().map_or(0.0, |p| p.0.abs());
            if largest == 0.0 || !largest.is_finite() {
                // A NaN is not found as a peak, but it makes the sum NaN.
                *norm = if norm.is_nan() { f64::NAN } else { largest };
                continue;
            }
            let factor = 2.0f64.powi(-(largest.log2().floor() as i32).clamp(-1000, 1000));
            let sum = self.column_sums(dtype.part(), column, factor)?.first().copied().unwrap_or(0.0);
            *norm = sum.sqrt() / factor;
        }
        Ok(norms)
    }

    /// Random numbers for a view of type `dtype` whose first entry is entry (`first_row`, `first_column`) of the sketch.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn draw(&self, dtype: DType, m: View<'_>, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()> {
        let distribution = match sketch.distribution {
            Distribution::Gaussian => constants::DENSE_GAUSSIAN,
            Distribution::Uniform => constants::DENSE_UNIFORM,
            Distribution::Rademacher => constants::DENSE_RADEMACHER,
            Distribution::SparseSign => constants::DENSE_SPARSE_SIGN,
        };
        let draw = dense::Draw { distribution, seed: sketch.seed, stream: sketch.stream, first_row, first_column };
        dense::fill(dtype, &self.gpu, &self.stream, m, draw)
    }

    /// Copies `count` columns of `source` from column `from` on to those of `target` from column `to` on.
    ///
    /// # Errors
    /// [`Error::Internal`] for columns that are not there, of different lengths or types; errors of the device.
    pub fn copy_between(
        &self,
        source: &DeviceMatrix,
        from: usize,
        count: usize,
        target: &mut DeviceMatrix,
        to: usize,
    ) -> Result<()> {
        let (rows, cols) = source.shape();
        let end = |first: usize| first.checked_add(count);
        let fits = rows == target.rows() && source.dtype() == target.dtype();
        if !fits || end(from).is_none_or(|e| e > cols) || end(to).is_none_or(|e| e > target.cols()) {
            return Err(mismatch("a copy of columns", &[(rows, cols), target.shape(), (from, to), (count, count)]));
        }
        let column = rows * source.dtype().size();
        let rows = Rows { offset: from * column, pitch: column * count, width: column * count, count: 1 };
        self.gpu.copy_rows(&self.stream, source.memory(), rows, target.memory_mut(), to * column)
    }

    /// Multiplies each column by its factor.
    ///
    /// # Errors
    /// [`Error::Internal`] for another number of factors; out of memory; errors of the device.
    pub fn scale_by(&self, m: &DeviceMatrix, factors: &[f64]) -> Result<()> {
        if factors.len() != m.cols() {
            return Err(mismatch("a scaling", &[m.shape(), (1, factors.len())]));
        }
        let what = "factors of columns";
        let mut memory = self.gpu.allocate_uninitialized_on(&self.stream, what, size_of_val(factors))?;
        self.gpu.store_numbers(&self.stream, factors, &mut memory, 0)?;
        dense::scale(m.dtype(), &self.gpu, &self.stream, m.view(), memory.whole())
    }

    /// The conjugate transpose.
    ///
    /// # Errors
    /// As [`GpuAlgebra::uninitialized`]; errors of the device.
    pub fn adjoint_of(&self, what: &'static str, m: &DeviceMatrix) -> Result<DeviceMatrix> {
        let out = self.uninitialized(m.dtype(), what, m.cols(), m.rows())?;
        dense::place(m.dtype(), &self.gpu, &self.stream, m.view(), out.view(), true, true)?;
        Ok(out)
    }

    compiled_here! {
        /// A copy of a matrix of type T in host memory.
        pub(super) fn fetch<T: Scalar>(
            &mut self: GpuAlgebra,
            what: &'static str,
            m: &DeviceMatrix,
        ) -> Result<CpuMatrix<T>> = GpuAlgebra::fetch_of;
    }

    fn fetch_of<T: Scalar>(&mut self, what: &'static str, m: &DeviceMatrix) -> Result<CpuMatrix<T>> {
        let (rows, cols) = m.shape();
        let mut copy: CpuMatrix<T> = self.host.zeros(what, rows, cols)?;
        self.gpu.load_numbers(&self.stream, m.memory(), 0, copy.slice_mut()?)?;
        Ok(copy)
    }

    compiled_here! {
        /// A copy of a host matrix in device memory.
        pub(super) fn send<T: Scalar>(
            &self: GpuAlgebra,
            what: &'static str,
            m: &CpuMatrix<T>,
        ) -> Result<DeviceMatrix> = GpuAlgebra::send_of;
    }

    fn send_of<T: Scalar>(&self, what: &'static str, m: &CpuMatrix<T>) -> Result<DeviceMatrix> {
        let (rows, cols) = m.shape();
        let mut copy = self.uninitialized(T::DTYPE, what, rows, cols)?;
        self.gpu.store_numbers(&self.stream, m.slice()?, copy.memory_mut(), 0)?;
        Ok(copy)
    }
}

impl<T: Scalar> Algebra<T> for GpuAlgebra {
    type Matrix = GpuMatrix<T>;

    fn zeros(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<GpuMatrix<T>> {
        GpuMatrix::new(DeviceMatrix::zeros(&self.gpu, &self.stream, what, T::DTYPE, (rows, cols))?)
    }

    fn shape(&self, m: &GpuMatrix<T>) -> (usize, usize) {
        m.shape()
    }

    fn upload(&mut self, what: &'static str, rows: usize, cols: usize, data: &[T], ld: usize) -> Result<GpuMatrix<T>> {
        if ld == rows && data.len() >= rows.saturating_mul(cols) {
            let mut m = self.uninitialized(T::DTYPE, what, rows, cols)?;
            self.gpu.store_numbers(&self.stream, &data[..rows * cols], m.memory_mut(), 0)?;
            return GpuMatrix::new(m);
        }
        // The CPU packs the matrix, so that one copy suffices instead of one a column.
        let packed: CpuMatrix<T> = self.host.upload(what, rows, cols, data, ld)?;
        GpuMatrix::new(self.send(what, &packed)?)
    }

    fn download(&mut self, m: &GpuMatrix<T>, data: &mut [T], ld: usize) -> Result<()> {
        let (rows, cols) = m.shape();
        if ld == rows && data.len() >= rows * cols {
            return self.gpu.load_numbers(&self.stream, m.memory(), 0, &mut data[..rows * cols]);
        }
        let packed = self.fetch("copy of a matrix", m)?;
        self.host.download(&packed, data, ld)
    }

    fn copy_columns(
        &mut self,
        source: &GpuMatrix<T>,
        from: usize,
        count: usize,
        target: &mut GpuMatrix<T>,
        to: usize,
    ) -> Result<()> {
        self.copy_between(source, from, count, target.untyped_mut(), to)
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
        self.blas.multiply(T::DTYPE, alpha, a.view(), transpose(op_a), b.view(), transpose(op_b), beta, c.view())
    }

    fn scale_columns(&mut self, m: &mut GpuMatrix<T>, factors: &[f64]) -> Result<()> {
        self.scale_by(m, factors)
    }

    fn adjoint(&mut self, what: &'static str, m: &GpuMatrix<T>) -> Result<GpuMatrix<T>> {
        GpuMatrix::new(self.adjoint_of(what, m)?)
    }

    fn fill(&mut self, m: &mut GpuMatrix<T>, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()> {
        self.draw(T::DTYPE, m.view(), sketch, first_row, first_column)
    }

    fn norm2(&mut self, m: &GpuMatrix<T>) -> Result<f64> {
        Ok(self.column_sums(T::DTYPE, m.view(), 1.0)?.iter().sum())
    }

    fn column_norms(&mut self, m: &GpuMatrix<T>) -> Result<Vec<f64>> {
        self.norms(T::DTYPE, m.view())
    }

    fn column_peaks(&mut self, m: &GpuMatrix<T>) -> Result<Vec<(f64, f64)>> {
        self.peaks(T::DTYPE, m.view())
    }

    fn cholesky_step(&mut self, x: &mut GpuMatrix<T>, shift: f64, r: &mut GpuMatrix<T>) -> Result<Step> {
        self.cholesky_qr(x.untyped_mut(), shift, r)
    }

    fn householder(&mut self, x: &mut GpuMatrix<T>, r: &mut GpuMatrix<T>) -> Result<()> {
        self.householder_qr(x.untyped_mut(), r.untyped_mut())
    }

    fn svd(&mut self, a: &GpuMatrix<T>) -> Result<Svd<GpuMatrix<T>>> {
        let Svd { u, s, v } = self.singular_values(a)?;
        Ok(Svd { u: GpuMatrix::new(u)?, s, v: GpuMatrix::new(v)? })
    }

    fn eigen(&mut self, a: &GpuMatrix<T>) -> Result<(Vec<f64>, GpuMatrix<T>)> {
        let (values, vectors) = self.eigenvalues(a)?;
        Ok((values, GpuMatrix::new(vectors)?))
    }

    fn inverse(&mut self, r: &GpuMatrix<T>) -> Result<Option<GpuMatrix<T>>> {
        GpuMatrix::new(self.inverse_of(r)?).map(Some)
    }
}
