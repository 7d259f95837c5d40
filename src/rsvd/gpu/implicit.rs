//! Matrices without an array of entries: compressed rows, and operators.
//!
//! Means are not subtracted from the entries, because zeros would fill in. The product with A - u v^T is computed as
//! A W - u (v^T W), and that with its adjoint likewise.

use std::sync::{Mutex, PoisonError};

use super::block::Products;
use super::footprint::{self, Footprint, PROBES};
use super::site::{ScratchUse, Site, bytes, packed};
use super::sparse::{Survey, WithAdjoint, check_size, gains};
use crate::alloc;
use crate::backend::gpu::kernels::rsvd::{self as kernels, Axis, Centre, Convert, Copying, Lines, RECORD, Strided};
use crate::backend::gpu::{DeviceMemory, Transpose, View};
use crate::dense::gpu::GpuMatrix;
use crate::dense::sketch::{Distribution, Sketch};
use crate::dense::{Algebra, Op};
use crate::error::{Error, Result};
use crate::matrix::{Csr, Operator};
use crate::rng::stream;
use crate::rsvd::data::{Center, Setting};
use crate::rsvd::rounding;
use crate::rsvd::statistics::{CorrectionError, Statistics};
use crate::scalar::{Complex, Scalar, is_finite};

/// Index of the first probe of an operator's norm in their stream. Other probes begin at 0.
const FIRST: u32 = 1 << 30;

/// A matrix known by its products.
pub(super) struct Implicit<'a, T: Scalar> {
    rows: usize,
    columns: usize,
    product: Product<'a, T>,
    /// u and v of the u v^T that is subtracted.
    subtracted: Option<(DeviceMemory, DeviceMemory)>,
    /// Records with the factor of each column.
    factors: Option<DeviceMemory>,
    statistics: Statistics,
}

enum Product<'a, T: Scalar> {
    /// A sparse matrix that is not copied to the device yet.
    Host(&'a Csr),
    Sparse(Box<WithAdjoint>),
    Operator(Mutex<&'a mut (dyn Operator<T> + 'a)>),
}

impl<'a, T: Scalar> Implicit<'a, T> {
    fn new((rows, columns): (usize, usize), product: Product<'a, T>) -> Self {
        Self { rows, columns, product, subtracted: None, factors: None, statistics: Statistics::default() }
    }

    /// A matrix in compressed rows, of which nothing is read before [`Implicit::prepare`].
    pub(super) fn sparse(csr: &'a Csr) -> Result<Self> {
        check_size(csr.rows(), csr.cols())?;
        Ok(Self::new((csr.rows(), csr.cols()), Product::Host(csr)))
    }

    /// An operator, which is not called before [`Implicit::prepare`].
    pub(super) fn operator(operator: &'a mut (dyn Operator<T> + 'a), setting: &Setting) -> Result<Self> {
        if setting.scale {
            return Err(Error::NotSupported("scale: is set, a matrix other than an operator is needed".into()));
        }
        Ok(Self::new(operator.shape(), Product::Operator(Mutex::new(operator))))
    }

    /// The memory that the matrix and its products take; of a sparse matrix that was copied already, nothing.
    pub(super) fn footprint(&self, setting: &Setting) -> Footprint {
        match &self.product {
            Product::Host(csr) => footprint::of_sparse::<T>(csr, setting),
            Product::Sparse(_) => Footprint { device: 0, host_copy: 0, host_product: 0 },
            Product::Operator(_) => footprint::of_operator::<T>((self.rows, self.columns), setting),
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
        let (halves, Survey { found, means: row_means, .. }, gains) = WithAdjoint::new::<T>(site, csr, setting)?;
        let is_pattern = csr.parts().values.is_none();
        self.product = Product::Sparse(Box::new(halves));
        self.statistics = found;
        let by_rows = setting.center == Center::Rows;
        let means = if by_rows { &row_means } else { &self.statistics.means };
        let count = if by_rows { csr.rows() } else { csr.cols() };
        let mut numbers = alloc::with_capacity("means", count)?;
        if setting.center != Center::None {
            let imaginary = |k: usize| if T::IS_COMPLEX { means[count + k] } else { 0.0 };
            // Rows are not scaled: they have the factor of all.
            let gain = |k: usize| gains.as_ref().map_or(1.0, |gains| if by_rows { setting.factor } else { gains[k] });
            numbers.extend((0..count).map(|k| T::from_parts(means[k] * gain(k), imaginary(k) * gain(k))));
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
        let (rows, columns) = (self.rows, self.columns);
        let mut means = Vec::new();
        if setting.center != Center::None {
            let op = if setting.center == Center::Columns { Op::Adjoint } else { Op::Plain };
            let (from, to) = if op == Op::Adjoint { (rows, columns) } else { (columns, rows) };
            let ones = alloc::filled("ones", from, T::from_parts(1.0, 0.0))?;
            let (x, y): (GpuMatrix<T>, GpuMatrix<T>) =
                (site.algebra.upload("ones", from, 1, &ones, from)?, site.algebra.uninitialised("means", to, 1)?);
            self.plain(site, op, x.view(), y.view())?;
            means = alloc::filled("means", to, T::default())?;
            site.algebra.download(&y, &mut means, to)?;
            for mean in &mut means {
                // The entries of A^H 1 are the conjugates of the columns' sums.
                let v = if op == Op::Adjoint { mean.conjugate() } else { *mean };
                *mean = T::from_parts(v.re() / from.max(1) as f64, v.im() / from.max(1) as f64);
            }
            if op == Op::Adjoint {
                self.statistics.means.extend(means.iter().map(|m| m.re()));
                if T::IS_COMPLEX {
                    self.statistics.means.extend(means.iter().map(|m| m.im()));
                }
            }
        }
        self.subtract(site, setting.center, &means)?;
        self.multiply_columns(site, setting)?;
        let probes: GpuMatrix<T> = site.algebra.uninitialised("probes", columns, PROBES)?;
        let sketch = Sketch { distribution: Distribution::Gaussian, seed: 0, stream: stream::PROBES };
        site.algebra.draw::<T>(probes.view(), &sketch, 0, FIRST)?;
        let products: GpuMatrix<T> = site.algebra.uninitialised("products with probes", rows, PROBES)?;
        self.multiply(site, probes.view(), products.view())?;
        // Both parts of a complex probe are standard normal.
        let variance = if T::IS_COMPLEX { 2.0 } else { 1.0 };
        // A norm whose square overflows or vanishes fails the range check, and the run is repeated with a factor.
        let norms = site.algebra.column_norms(&products)?;
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
        (means, norm): (&[T], f64),
    ) -> Result<Option<CorrectionError>> {
        let by_rows = setting.center == Center::Rows;
        // A product has as many entries as a line, a vector one for each line.
        let (length, lines) = if by_rows { (self.columns, self.rows) } else { (self.rows, self.columns) };
        let means = means.iter().map(|mean| (Complex::new(mean.re(), mean.im()), setting.factor));
        let Some(expected) = rounding::suspect(means, (by_rows, length), norm, T::DTYPE.epsilon()) else {
            return Ok(None);
        };
        let x: GpuMatrix<T> = {
            let mut vectors = alloc::filled("vectors of a test", lines * rounding::VECTORS, T::default())?;
            rounding::draw(&mut vectors, lines);
            site.algebra.upload("vectors of a test", lines, rounding::VECTORS, &vectors, lines)?
        };
        let y: GpuMatrix<T> = site.algebra.uninitialised("products of a test", length, rounding::VECTORS)?;
        if by_rows {
            self.adjoint(site, x.view(), y.view())?;
        } else {
            self.multiply(site, x.view(), y.view())?;
        }
        let mut products = alloc::filled("products of a test", length * rounding::VECTORS, T::default())?;
        site.algebra.download(&y, &mut products, length)?;
        Ok(rounding::confirm(expected, &products, length))
    }

    /// Subtracts means of rows or columns from now on.
    fn subtract(&mut self, site: &Site, center: Center, means: &[T]) -> Result<()> {
        let ones = |count| alloc::filled("ones", count, T::from_parts(1.0, 0.0));
        let upload = |values: &[T]| site.gpu.upload_numbers(&site.stream, "means", values);
        self.subtracted = match center {
            Center::None => None,
            Center::Columns => Some((upload(&ones(self.rows)?)?, upload(means)?)),
            Center::Rows => Some((upload(means)?, upload(&ones(self.columns)?)?)),
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
        let row = site.scratch(ScratchUse::Flipped, bytes::<T>(1, x.cols)?)?;
        let row = packed::<T>(&row, 1, x.cols)?;
        let b = packed::<T>(b, x.rows, 1)?;
        site.blas().multiply::<T>(1.0, b, op_b, x, Transpose::Plain, 0.0, row)?;
        // For the conjugate of a column, the memory is viewed as a row and its adjoint is taken.
        let a = if op_a == Transpose::Plain { packed::<T>(a, y.rows, 1)? } else { packed::<T>(a, 1, y.rows)? };
        site.blas().multiply::<T>(-1.0, a, op_a, row, Transpose::Plain, 1.0, y)
    }

    fn plain(&self, site: &mut Site, op: Op, x: View<'_>, y: View<'_>) -> Result<()> {
        match &self.product {
            Product::Host(_) => Err(Error::Internal("a product with a sparse matrix that is not on the device".into())),
            Product::Sparse(halves) => {
                let (rows, width) = (x.rows, x.cols);
                let memory = site.scratch(ScratchUse::Wide, bytes::<T>(rows, width)?)?;
                let from = Strided { memory: x.memory, row: 1, column: x.ld };
                let to = Strided { memory: memory.whole(), row: width, column: 1 };
                kernels::copy(T::DTYPE, &site.gpu, &site.stream, (rows, width), from, to, Copying::default())?;
                let half = if op == Op::Plain { halves.plain() } else { halves.adjoint() };
                kernels::sparse(
                    T::DTYPE,
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
                let count = inner.saturating_add(outer).saturating_mul(x.cols);
                let _charge = site
                    .context
                    .host_budget()
                    .charge_host("vectors of an operator", count.saturating_mul(size_of::<T>()))?;
                let mut input = alloc::filled("vectors of an operator", inner * x.cols, T::default())?;
                let mut output = alloc::filled("vectors of an operator", outer * x.cols, T::default())?;
                let mut memory = site.take(ScratchUse::Wide, bytes::<T>(inner.max(outer), x.cols)?)?;
                let from = Strided { memory: x.memory, row: 1, column: x.ld };
                let to = Strided { memory: memory.whole(), row: 1, column: inner };
                kernels::copy(T::DTYPE, &site.gpu, &site.stream, (inner, x.cols), from, to, Copying::default())?;
                site.gpu.download_numbers(&site.stream, &memory, &mut input)?;
                operator.lock().unwrap_or_else(PoisonError::into_inner).apply(op, &input, x.cols, &mut output)?;
                if !output.iter().all(|v| is_finite(*v)) {
                    let name = if op == Op::Adjoint { "A^H X" } else { "A X" };
                    let problem = format!("gives a number that is not finite in {name} for {} vectors", x.cols);
                    return Err(Error::invalid("a", problem));
                }
                site.gpu.store_numbers(&site.stream, &output, &mut memory, 0)?;
                let from = Strided { memory: memory.whole(), row: 1, column: outer };
                let to = Strided { memory: y.memory, row: 1, column: y.ld };
                kernels::copy(T::DTYPE, &site.gpu, &site.stream, (outer, x.cols), from, to, Copying::default())?;
                site.put(ScratchUse::Wide, memory);
                Ok(())
            }
        }
    }
}

impl<T: Scalar> Products<T> for Implicit<'_, T> {
    fn multiply(&self, site: &mut Site, w: View<'_>, p: View<'_>) -> Result<()> {
        let scaled;
        let w = match &self.factors {
            None => w,
            Some(factors) => {
                scaled = site.scratch(ScratchUse::MoreSmall, bytes::<T>(w.rows, w.cols)?)?;
                let to = packed::<T>(&scaled, w.rows, w.cols)?;
                scale_rows::<T>(site, w, to, factors)?;
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
            Some(factors) => scale_rows::<T>(site, t, t, factors),
        }
    }
}

/// Multiplies the rows of a matrix with the factors of records.
fn scale_rows<T: Scalar>(site: &Site, from: View<'_>, to: View<'_>, factors: &DeviceMemory) -> Result<()> {
    let source = Lines { memory: from.memory, inner: from.rows, outer: from.cols, stride: from.ld };
    let output = Lines { memory: to.memory, inner: to.rows, outer: to.cols, stride: to.ld };
    let centre = Some(Centre { records: factors.whole(), axis: Axis::Inner, divides: true });
    let convert = Convert { source, dtype: T::DTYPE, output: Some(output), centre, factor: 1.0, tally: None };
    convert.run(T::DTYPE, &site.gpu, &site.stream)
}
