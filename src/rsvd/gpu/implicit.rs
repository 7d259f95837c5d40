//! Matrices without an array of entries: compressed rows, and operators.
//!
//! Means are not subtracted from the entries, because zeros would fill in. The product with A - u v^T is computed as
//! A W - u (v^T W), and that with its adjoint likewise.

use super::block::Products;
use super::footprint::{self, Footprint, PROBES};
use super::numbers::{download, ones, rounded, upload};
use super::products::{HostProducts, OperatorProducts};
use super::site::{ScratchUse, Site, bytes, packed};
use super::sparse::{Survey, WithAdjoint, check_size, gains};
use crate::alloc;
use crate::backend::gpu::kernels::rsvd::{self as kernels, Axis, Centre, Convert, Copying, Lines, RECORD, Strided};
use crate::backend::gpu::{DeviceMemory, Transpose, View};
use crate::dense::Op;
use crate::dense::sketch::{Distribution, Sketch};
use crate::error::{Error, Result};
use crate::matrix::{Csr, Operator};
use crate::rng::stream;
use crate::rsvd::data::{Center, Setting};
use crate::rsvd::rounding;
use crate::rsvd::statistics::{CorrectionError, Statistics};
use crate::scalar::{Complex, DType, Scalar, with_scalar};

/// Index of the first probe of an operator's norm in their stream. Other probes begin at 0.
const FIRST: u32 = 1 << 30;

/// A matrix known by its products.
pub(super) struct Implicit<'a> {
    /// Type of the computation.
    dtype: DType,
    rows: usize,
    columns: usize,
    product: Product<'a>,
    /// u and v of the u v^T that is subtracted.
    subtracted: Option<(DeviceMemory, DeviceMemory)>,
    /// Records with the factor of each column.
    factors: Option<DeviceMemory>,
    statistics: Statistics,
}

enum Product<'a> {
    /// A sparse matrix that is not copied to the device yet.
    Host(&'a Csr),
    Sparse(Box<WithAdjoint>),
    Operator(Box<dyn HostProducts + 'a>),
}

impl<'a> Implicit<'a> {
    fn new(dtype: DType, (rows, columns): (usize, usize), product: Product<'a>) -> Self {
        Self { dtype, rows, columns, product, subtracted: None, factors: None, statistics: Statistics::default() }
    }

    /// A matrix in compressed rows. Nothing of it is read before [`Implicit::prepare`].
    pub(super) fn sparse(dtype: DType, csr: &'a Csr) -> Result<Self> {
        check_size(csr.rows(), csr.cols())?;
        Ok(Self::new(dtype, (csr.rows(), csr.cols()), Product::Host(csr)))
    }

    /// An operator, which is not called before [`Implicit::prepare`].
    pub(super) fn operator<T: Scalar>(operator: &'a mut (dyn Operator<T> + 'a), setting: &Setting) -> Result<Self> {
        if setting.scale {
            return Err(Error::NotSupported("scale: is set, a matrix other than an operator is needed".into()));
        }
        let shape = operator.shape();
        Ok(Self::new(T::DTYPE, shape, Product::Operator(Box::new(OperatorProducts::new(operator)))))
    }

    /// The memory that the matrix and its products take; of a sparse matrix that was copied already, nothing.
    pub(super) fn footprint(&self, setting: &Setting) -> Footprint {
        match &self.product {
            Product::Host(csr) => footprint::of_sparse(self.dtype, csr, setting),
            Product::Sparse(_) => Footprint { device: 0, host_copy: 0, host_product: 0 },
            Product::Operator(_) => footprint::of_operator(self.dtype, (self.rows, self.columns), setting),
        }
    }

    /// Copies a sparse matrix to the device, or finds means and norm of an operator.
    pub(super) fn prepare(&mut self, site: &mut Site, setting: &Setting) -> Result<()> {
        match self.product {
            Product::Host(csr) => self.prepare_sparse(site, csr, setting),
            Product::Sparse(_) => Ok(()),
            Product::Operator(_) => self.prepare_operator(site, setting),
        }
    }

    fn prepare_sparse(&mut self, site: &Site, csr: &Csr, setting: &Setting) -> Result<()> {
        // Entries were multiplied by the gains when they were copied.
        let (halves, Survey { found, means: row_means, .. }, gains) = WithAdjoint::new(site, self.dtype, csr, setting)?;
        let is_pattern = csr.parts().values.is_none();
        self.product = Product::Sparse(Box::new(halves));
        self.statistics = found;
        let by_rows = setting.center == Center::Rows;
        let means = if by_rows { &row_means } else { &self.statistics.means };
        let count = if by_rows { csr.rows() } else { csr.cols() };
        let mut numbers = alloc::with_capacity("means", count)?;
        if setting.center != Center::None {
            let imaginary = |k: usize| if self.dtype.is_complex() { means[count + k] } else { 0.0 };
            // Rows are not scaled: they have the factor of all.
            let gain = |k: usize| gains.as_ref().map_or(1.0, |gains| if by_rows { setting.factor } else { gains[k] });
            numbers.extend((0..count).map(|k| Complex::new(means[k] * gain(k), imaginary(k) * gain(k))));
        }
        self.subtract(site, setting.center, &numbers)?;
        if is_pattern {
            self.multiply_columns(site, setting)?;
        }
        Ok(())
    }

    /// Finds the means of an operator from products with ones, and its norm from products with probes. Its vectors are
    /// copied to host memory and back.
    fn prepare_operator(&mut self, site: &mut Site, setting: &Setting) -> Result<()> {
        let (dtype, rows, columns) = (self.dtype, self.rows, self.columns);
        let mut means = Vec::new();
        if setting.center != Center::None {
            let op = if setting.center == Center::Columns { Op::Adjoint } else { Op::Plain };
            let (from, to) = if op == Op::Adjoint { (rows, columns) } else { (columns, rows) };
            let x = ones(site, dtype, "ones", from)?;
            let y = site.algebra.uninitialized(dtype, "means", to, 1)?;
            self.plain(site, op, View::packed(x.whole(), from, 1), y.view())?;
            means = download(site, dtype, "means", y.memory(), to)?;
            for mean in &mut means {
                // The entries of A^H 1 are the conjugates of the columns' sums.
                let v = if op == Op::Adjoint { mean.conj() } else { *mean };
                *mean = rounded(dtype, Complex::new(v.re / from.max(1) as f64, v.im / from.max(1) as f64));
            }
            if op == Op::Adjoint {
                self.statistics.means.extend(means.iter().map(|m| m.re));
                if dtype.is_complex() {
                    self.statistics.means.extend(means.iter().map(|m| m.im));
                }
            }
        }
        self.subtract(site, setting.center, &means)?;
        self.multiply_columns(site, setting)?;
        let probes = site.algebra.uninitialized(dtype, "probes", columns, PROBES)?;
        let sketch = Sketch { distribution: Distribution::Gaussian, seed: 0, stream: stream::PROBES };
        site.algebra.draw(dtype, probes.view(), &sketch, 0, FIRST)?;
        let products = site.algebra.uninitialized(dtype, "products with probes", rows, PROBES)?;
        self.multiply(site, probes.view(), products.view())?;
        // Both parts of a complex probe are standard normal.
        let variance = if dtype.is_complex() { 2.0 } else { 1.0 };
        // A norm whose square overflows or vanishes fails the range check, and the run is repeated with a factor.
        let norms = site.algebra.norms(dtype, products.view())?;
        let norm = norms.into_iter().fold(0.0, f64::hypot) / (variance * PROBES as f64).sqrt();
        (self.statistics.norm2, self.statistics.max_abs) = (norm * norm, norm / setting.factor);
        self.statistics.size = norm;
        self.statistics.is_estimate = true;
        drop((probes, products));
        self.statistics.hidden_by = self.hidden_by(site, setting, (&means, norm))?;
        Ok(())
    }

    /// The rounding error of products that hides the centred operator, whose `norm` was estimated: see [`rounding`].
    fn hidden_by(
        &self,
        site: &mut Site,
        setting: &Setting,
        (means, norm): (&[Complex<f64>], f64),
    ) -> Result<Option<CorrectionError>> {
        let by_rows = setting.center == Center::Rows;
        // A product has as many entries as a line, a vector one for each line.
        let (length, lines) = if by_rows { (self.columns, self.rows) } else { (self.rows, self.columns) };
        let means = means.iter().map(|mean| (*mean, setting.factor));
        let Some(expected) = rounding::suspect(means, (by_rows, length), norm, self.dtype.epsilon()) else {
            return Ok(None);
        };
        let dtype = self.dtype;
        let x = with_scalar!(dtype, "a", T => test_vectors::<T>(site, lines))?;
        let x = View::packed(x.whole(), lines, rounding::VECTORS);
        let y = site.algebra.uninitialized(dtype, "products of a test", length, rounding::VECTORS)?;
        if by_rows {
            self.adjoint(site, x, y.view())?;
        } else {
            self.multiply(site, x, y.view())?;
        }
        with_scalar!(dtype, "a", T => confirmed::<T>(site, expected, y.memory(), length))
    }

    /// Subtracts means of rows or columns from now on.
    fn subtract(&mut self, site: &Site, center: Center, means: &[Complex<f64>]) -> Result<()> {
        let upload = |values: &[Complex<f64>]| upload(site, self.dtype, "means", values);
        let ones = |count| ones(site, self.dtype, "means", count);
        self.subtracted = match center {
            Center::None => None,
            Center::Columns => Some((ones(self.rows)?, upload(means)?)),
            Center::Rows => Some((upload(means)?, ones(self.columns)?)),
        };
        Ok(())
    }

    /// Multiplies columns by their [`gains`] in every product from now on. For entries that were not multiplied when copied.
    fn multiply_columns(&mut self, site: &Site, setting: &Setting) -> Result<()> {
        let Some(gains) = gains(&self.statistics, setting, self.columns)? else { return Ok(()) };
        let mut records = alloc::with_capacity("scales", self.columns * RECORD)?;
        gains.iter().for_each(|gain| records.extend([0.0, 0.0, *gain]));
        self.factors = Some(site.gpu.upload_numbers(&site.stream, "scales", &records)?);
        Ok(())
    }

    /// Whether the matrix is an operator.
    pub(super) fn is_operator(&self) -> bool {
        matches!(self.product, Product::Operator(_))
    }

    /// The statistics of the entries; for an operator estimates.
    pub(super) fn statistics(&self) -> Statistics {
        self.statistics.clone()
    }

    /// y -= op_a(a) (op_b(b) x) for a column op_a(a) and a row op_b(b).
    fn correct(
        &self,
        site: &mut Site,
        (a, op_a): (&DeviceMemory, Transpose),
        (b, op_b): (&DeviceMemory, Transpose),
        x: View<'_>,
        y: View<'_>,
    ) -> Result<()> {
        let row = site.scratch(ScratchUse::Flipped, bytes(self.dtype, 1, x.cols)?)?;
        let row = packed(self.dtype, &row, 1, x.cols)?;
        let b = packed(self.dtype, b, x.rows, 1)?;
        site.blas().multiply(self.dtype, 1.0, b, op_b, x, Transpose::Plain, 0.0, row)?;
        // For the conjugate of a column, the memory is viewed as a row and its adjoint is taken.
        let a = if op_a == Transpose::Plain {
            packed(self.dtype, a, y.rows, 1)?
        } else {
            packed(self.dtype, a, 1, y.rows)?
        };
        site.blas().multiply(self.dtype, -1.0, a, op_a, row, Transpose::Plain, 1.0, y)
    }

    fn plain(&self, site: &mut Site, op: Op, x: View<'_>, y: View<'_>) -> Result<()> {
        match &self.product {
            Product::Host(_) => Err(Error::Internal("a product with a sparse matrix that is not on the device".into())),
            Product::Sparse(halves) => {
                let (rows, width) = (x.rows, x.cols);
                let memory = site.scratch(ScratchUse::Wide, bytes(self.dtype, rows, width)?)?;
                let from = Strided { memory: x.memory, row: 1, column: x.ld };
                let to = Strided { memory: memory.whole(), row: width, column: 1 };
                kernels::copy(self.dtype, &site.gpu, &site.stream, (rows, width), from, to, Copying::default())?;
                let half = if op == Op::Plain { halves.plain() } else { halves.adjoint() };
                kernels::sparse(
                    self.dtype,
                    &site.gpu,
                    &site.stream,
                    half,
                    (memory.whole(), width),
                    (y.memory, y.ld),
                    width,
                )
            }
            Product::Operator(operator) => {
                let (inner, outer) =
                    if op == Op::Plain { (self.columns, self.rows) } else { (self.rows, self.columns) };
                let (dtype, count) = (self.dtype, inner.saturating_add(outer).saturating_mul(x.cols));
                let _charge = site
                    .context
                    .host_budget()
                    .charge_host("vectors of an operator", count.saturating_mul(dtype.size()))?;
                let mut memory = site.take(ScratchUse::Wide, bytes(dtype, inner.max(outer), x.cols)?)?;
                let from = Strided { memory: x.memory, row: 1, column: x.ld };
                let to = Strided { memory: memory.whole(), row: 1, column: inner };
                kernels::copy(dtype, &site.gpu, &site.stream, (inner, x.cols), from, to, Copying::default())?;
                operator.multiply(site, op, (inner, outer), x.cols, &mut memory)?;
                let from = Strided { memory: memory.whole(), row: 1, column: outer };
                let to = Strided { memory: y.memory, row: 1, column: y.ld };
                kernels::copy(dtype, &site.gpu, &site.stream, (outer, x.cols), from, to, Copying::default())?;
                site.put(ScratchUse::Wide, memory);
                Ok(())
            }
        }
    }
}

impl Products for Implicit<'_> {
    fn multiply(&self, site: &mut Site, w: View<'_>, p: View<'_>) -> Result<()> {
        let scaled;
        let w = match &self.factors {
            None => w,
            Some(factors) => {
                scaled = site.scratch(ScratchUse::MoreSmall, bytes(self.dtype, w.rows, w.cols)?)?;
                let to = packed(self.dtype, &scaled, w.rows, w.cols)?;
                scale_rows(site, self.dtype, w, to, factors)?;
                to
            }
        };
        self.plain(site, Op::Plain, w, p)?;
        let Some((u, v)) = &self.subtracted else { return Ok(()) };
        self.correct(site, (u, Transpose::Plain), (v, Transpose::Transpose), w, p)
    }

    fn adjoint(&self, site: &mut Site, p: View<'_>, t: View<'_>) -> Result<()> {
        self.plain(site, Op::Adjoint, p, t)?;
        if let Some((u, v)) = &self.subtracted {
            // The column is conj(v): `correct` views v as a row and takes its adjoint.
            self.correct(site, (v, Transpose::Adjoint), (u, Transpose::Adjoint), p, t)?;
        }
        match &self.factors {
            None => Ok(()),
            Some(factors) => scale_rows(site, self.dtype, t, t, factors),
        }
    }
}

/// Multiplies the rows of a matrix with the factors of records.
fn scale_rows(site: &Site, dtype: DType, from: View<'_>, to: View<'_>, factors: &DeviceMemory) -> Result<()> {
    let source = Lines { memory: from.memory, inner: from.rows, outer: from.cols, stride: from.ld };
    let output = Lines { memory: to.memory, inner: to.rows, outer: to.cols, stride: to.ld };
    let centre = Some(Centre { records: factors.whole(), axis: Axis::Inner, divides: true });
    let convert = Convert { source, dtype, output: Some(output), centre, factor: 1.0, tally: None };
    convert.run(dtype, &site.gpu, &site.stream)
}

/// The vectors of the test for rounding errors: see [`rounding::draw`].
fn test_vectors<T: Scalar>(site: &Site, lines: usize) -> Result<DeviceMemory> {
    let mut vectors = alloc::filled("vectors of a test", lines * rounding::VECTORS, T::default())?;
    rounding::draw(&mut vectors, lines);
    let bytes = size_of_val(vectors.as_slice());
    let mut memory = site.gpu.allocate_uninitialized_on(&site.stream, "vectors of a test", bytes)?;
    site.gpu.store_numbers(&site.stream, &vectors, &mut memory, 0)?;
    Ok(memory)
}

/// [`rounding::confirm`] of the products of these vectors, which are in `memory`.
fn confirmed<T: Scalar>(
    site: &Site,
    expected: CorrectionError,
    memory: &DeviceMemory,
    length: usize,
) -> Result<Option<CorrectionError>> {
    let mut products = alloc::filled("products of a test", length * rounding::VECTORS, T::default())?;
    site.gpu.load_numbers(&site.stream, memory, 0, &mut products)?;
    Ok(rounding::confirm(expected, &products, length))
}
