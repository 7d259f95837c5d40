//! The dense algebra on one stream of a GPU.

use std::sync::Arc;

use super::super::cpu::CpuAlgebra;
use super::super::cpu::matrix::CpuMatrix;
use super::super::sketch::{Distribution, Sketch};
use super::super::{Algebra, Op, Step, Svd};
use super::factor;
use super::matrix::GpuMatrix;
use crate::alloc;
use crate::backend::gpu::kernels::{constants, dense};
use crate::backend::gpu::{Blas, DeviceMemory, Gpu, GpuStream, Rows, Solver, Transpose, View, Work};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::scalar::Scalar;

/// Bytes that plans add for factorizations and kernels on a GPU. cuSOLVER tells the size of its workspace only once it is
/// loaded; of small matrices it is 6 MiB.
pub const FACTORISATION_BYTES: u64 = 12 << 20;

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

    /// A matrix with undefined contents, which must be written before it is read.
    ///
    /// # Errors
    /// As [`GpuMatrix::uninitialised`].
    pub fn uninitialised<T: Scalar>(&self, what: &'static str, rows: usize, cols: usize) -> Result<GpuMatrix<T>> {
        GpuMatrix::uninitialised(&self.gpu, &self.stream, what, rows, cols)
    }

    /// A copy of `like` in the type `S`.
    ///
    /// # Errors
    /// As [`GpuAlgebra::uninitialised`]; errors of the device.
    pub fn converted<T: Scalar, S: Scalar>(
        &self,
        what: &'static str,
        like: View<'_>,
        reverse: bool,
    ) -> Result<GpuMatrix<S>> {
        let copy = self.uninitialised::<S>(what, like.rows, like.cols)?;
        if T::DTYPE == S::DTYPE && !reverse {
            dense::place(S::DTYPE, &self.gpu, &self.stream, like, copy.view(), false, false)?;
        } else {
            dense::convert(T::DTYPE, S::DTYPE, &self.gpu, &self.stream, like, copy.view(), reverse)?;
        }
        Ok(copy)
    }

    /// Copies numbers that a kernel wrote to the host.
    pub(super) fn numbers(&self, memory: &DeviceMemory, count: usize) -> Result<Vec<f64>> {
        let mut numbers = alloc::filled("numbers of columns", count, 0.0)?;
        self.gpu.load_numbers(&self.stream, memory, 0, &mut numbers)?;
        Ok(numbers)
    }

    compiled_here! {
        /// Sums of the squares of the columns of `m`.
        ///
        /// # Errors
        /// Out of memory; errors of the device.
        pub fn column_sums<T: Scalar>(
            &self: GpuAlgebra,
            m: View<'_>,
            factor: f64,
        ) -> Result<Vec<f64>> = GpuAlgebra::column_sums_of;
    }

    fn column_sums_of<T: Scalar>(&self, m: View<'_>, factor: f64) -> Result<Vec<f64>> {
        let output = self.gpu.allocate_uninitialised_on(&self.stream, "norms of columns", m.cols * 8)?;
        dense::columns(T::DTYPE, &self.gpu, &self.stream, dense::Reduction::Sums { factor }, m, output.whole())?;
        self.numbers(&output, m.cols)
    }

    compiled_here! {
        /// Real and imaginary part of the first entry of largest modulus of each column of `m`.
        ///
        /// # Errors
        /// Out of memory; errors of the device.
        pub fn peaks<T: Scalar>(&self: GpuAlgebra, m: View<'_>) -> Result<Vec<(f64, f64)>> = GpuAlgebra::peaks_of;
    }

    fn peaks_of<T: Scalar>(&self, m: View<'_>) -> Result<Vec<(f64, f64)>> {
        let output = self.gpu.allocate_uninitialised_on(&self.stream, "peaks of columns", m.cols * 16)?;
        dense::columns(T::DTYPE, &self.gpu, &self.stream, dense::Reduction::Peaks, m, output.whole())?;
        let numbers = self.numbers(&output, 2 * m.cols)?;
        let mut peaks = alloc::with_capacity("peaks of columns", m.cols)?;
        peaks.extend(numbers.chunks_exact(2).map(|p| (p[0], p[1])));
        Ok(peaks)
    }

    compiled_here! {
        /// Euclidean norms of the columns of `m`, without overflow or underflow of intermediate results.
        ///
        /// # Errors
        /// Out of memory; errors of the device.
        pub fn norms<T: Scalar>(&self: GpuAlgebra, m: View<'_>) -> Result<Vec<f64>> = GpuAlgebra::norms_of;
    }

    fn norms_of<T: Scalar>(&self, m: View<'_>) -> Result<Vec<f64>> {
        let mut norms = self.column_sums::<T>(m, 1.0)?;
        for (j, norm) in norms.iter_mut().enumerate() {
            if *norm > 1e-280 && *norm < 1e280 {
                *norm = norm.sqrt();
                continue;
            }
            // The parts of a complex column are viewed as a real column of twice the length.
            let column = m.columns::<T>(j, 1)?;
            let parts = if T::IS_COMPLEX { 2 } else { 1 };
            let column = View { rows: column.rows * parts, ld: column.ld * parts, ..column };
            let largest = self.peaks::<T::Part>(column)?.first().map_or(0.0, |p| p.0.abs());
            if largest == 0.0 || !largest.is_finite() {
                // A NaN is not found as a peak, but it makes the sum NaN.
                *norm = if norm.is_nan() { f64::NAN } else { largest };
                continue;
            }
            let factor = 2.0f64.powi(-(largest.log2().floor() as i32).clamp(-1000, 1000));
            let sum = self.column_sums::<T::Part>(column, factor)?.first().copied().unwrap_or(0.0);
            *norm = sum.sqrt() / factor;
        }
        Ok(norms)
    }

    compiled_here! {
        /// Random numbers for a view whose first entry is entry (`first_row`, `first_column`) of the sketch.
        ///
        /// # Errors
        /// Errors of the device.
        pub fn draw<T: Scalar>(
            &self: GpuAlgebra,
            m: View<'_>,
            sketch: &Sketch,
            first_row: u64,
            first_column: u32,
        ) -> Result<()> = GpuAlgebra::draw_of;
    }

    fn draw_of<T: Scalar>(&self, m: View<'_>, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()> {
        let distribution = match sketch.distribution {
            Distribution::Gaussian => constants::DENSE_GAUSSIAN,
            Distribution::Uniform => constants::DENSE_UNIFORM,
            Distribution::Rademacher => constants::DENSE_RADEMACHER,
            Distribution::SparseSign => constants::DENSE_SPARSE_SIGN,
        };
        let draw = dense::Draw { distribution, seed: sketch.seed, stream: sketch.stream, first_row, first_column };
        dense::fill(T::DTYPE, &self.gpu, &self.stream, m, draw)
    }

    compiled_here! {
        /// A copy of a matrix in host memory.
        pub(super) fn fetch<T: Scalar>(
            &mut self: GpuAlgebra,
            what: &'static str,
            m: &GpuMatrix<T>,
        ) -> Result<CpuMatrix<T>> = GpuAlgebra::fetch_of;
    }

    fn fetch_of<T: Scalar>(&mut self, what: &'static str, m: &GpuMatrix<T>) -> Result<CpuMatrix<T>> {
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
        ) -> Result<GpuMatrix<T>> = GpuAlgebra::send_of;
    }

    fn send_of<T: Scalar>(&self, what: &'static str, m: &CpuMatrix<T>) -> Result<GpuMatrix<T>> {
        let (rows, cols) = m.shape();
        let mut copy = self.uninitialised::<T>(what, rows, cols)?;
        self.gpu.store_numbers(&self.stream, m.slice()?, copy.memory_mut(), 0)?;
        Ok(copy)
    }
}

impl<T: Scalar> Algebra<T> for GpuAlgebra {
    type Matrix = GpuMatrix<T>;

    fn zeros(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<GpuMatrix<T>> {
        GpuMatrix::zeros(&self.gpu, &self.stream, what, rows, cols)
    }

    fn shape(&self, m: &GpuMatrix<T>) -> (usize, usize) {
        m.shape()
    }

    fn upload(&mut self, what: &'static str, rows: usize, cols: usize, data: &[T], ld: usize) -> Result<GpuMatrix<T>> {
        if ld == rows && data.len() >= rows.saturating_mul(cols) {
            let mut m = self.uninitialised::<T>(what, rows, cols)?;
            self.gpu.store_numbers(&self.stream, &data[..rows * cols], m.memory_mut(), 0)?;
            return Ok(m);
        }
        // The CPU packs the matrix, so that one copy suffices instead of one a column.
        let packed: CpuMatrix<T> = self.host.upload(what, rows, cols, data, ld)?;
        self.send(what, &packed)
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
        let (rows, cols) = source.shape();
        let end = |first: usize| first.checked_add(count);
        if rows != target.rows() || end(from).is_none_or(|e| e > cols) || end(to).is_none_or(|e| e > target.cols()) {
            return Err(mismatch("a copy of columns", &[(rows, cols), target.shape(), (from, to), (count, count)]));
        }
        let column = rows * size_of::<T>();
        let rows = Rows { offset: from * column, pitch: column * count, width: column * count, count: 1 };
        self.gpu.copy_rows(&self.stream, source.memory(), rows, target.memory_mut(), to * column)
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
        self.blas.multiply::<T>(alpha, a.view(), transpose(op_a), b.view(), transpose(op_b), beta, c.view())
    }

    fn scale_columns(&mut self, m: &mut GpuMatrix<T>, factors: &[f64]) -> Result<()> {
        if factors.len() != m.cols() {
            return Err(mismatch("a scaling", &[m.shape(), (1, factors.len())]));
        }
        let what = "factors of columns";
        let mut memory = self.gpu.allocate_uninitialised_on(&self.stream, what, size_of_val(factors))?;
        self.gpu.store_numbers(&self.stream, factors, &mut memory, 0)?;
        dense::scale(T::DTYPE, &self.gpu, &self.stream, m.view(), memory.whole())
    }

    fn adjoint(&mut self, what: &'static str, m: &GpuMatrix<T>) -> Result<GpuMatrix<T>> {
        let out = self.uninitialised::<T>(what, m.cols(), m.rows())?;
        dense::place(T::DTYPE, &self.gpu, &self.stream, m.view(), out.view(), true, true)?;
        Ok(out)
    }

    fn fill(&mut self, m: &mut GpuMatrix<T>, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()> {
        self.draw::<T>(m.view(), sketch, first_row, first_column)
    }

    fn norm2(&mut self, m: &GpuMatrix<T>) -> Result<f64> {
        Ok(self.column_sums::<T>(m.view(), 1.0)?.iter().sum())
    }

    fn column_norms(&mut self, m: &GpuMatrix<T>) -> Result<Vec<f64>> {
        self.norms::<T>(m.view())
    }

    fn column_peaks(&mut self, m: &GpuMatrix<T>) -> Result<Vec<(f64, f64)>> {
        self.peaks::<T>(m.view())
    }

    fn cholesky_step(&mut self, x: &mut GpuMatrix<T>, shift: f64, r: &mut GpuMatrix<T>) -> Result<Step> {
        self.cholesky_qr(x, shift, r)
    }

    fn householder(&mut self, x: &mut GpuMatrix<T>, r: &mut GpuMatrix<T>) -> Result<()> {
        self.householder_qr(x, r)
    }

    fn svd(&mut self, a: &GpuMatrix<T>) -> Result<Svd<GpuMatrix<T>>> {
        self.singular_values(a)
    }

    fn eigen(&mut self, a: &GpuMatrix<T>) -> Result<(Vec<f64>, GpuMatrix<T>)> {
        self.eigenvalues(a)
    }

    fn inverse(&mut self, r: &GpuMatrix<T>) -> Result<Option<GpuMatrix<T>>> {
        self.inverse_of(r).map(Some)
    }
}
