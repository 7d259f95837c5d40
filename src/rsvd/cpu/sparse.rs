//! Passes over sparse matrices, with corrections for means and scales.

use super::implicit::{Correction, Gains};
use super::panel::{Findings, Transform};
use super::pass::Work;
use super::survey::{ColumnMoments, Survey};
use super::{CpuOps, implicit, implicit_moments_bytes};
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::dense::MatMut;
use crate::dense::cpu::matrix::{CpuMatrix, pieces, split_rows, transpose};
use crate::error::{Error, Result};
use crate::matrix::{Csr, IndexType};
use crate::rsvd::data::{Center, Data};
use crate::rsvd::statistics::{Moments, average, mean_of, modulus, scaling, square_of, total};
use crate::scalar::{Complex, Scalar, is_finite};

/// Column indices of either type, with the matrix's base.
#[derive(Clone, Copy)]
enum Index<'c> {
    Short(&'c [i32]),
    Long(&'c [i64]),
}

impl Index<'_> {
    /// Element k. Indices were checked to lie in the matrix when it was created.
    fn at(self, k: usize) -> usize {
        match self {
            Self::Short(v) => usize::try_from(v[k]).unwrap_or(0),
            Self::Long(v) => usize::try_from(v[k]).unwrap_or(0),
        }
    }
}

/// A sparse matrix row by row.
#[derive(Clone, Copy)]
pub struct Rows<'c, T> {
    offsets: Index<'c>,
    columns: Index<'c>,
    values: Option<&'c [T]>,
    base: usize,
    count: usize,
}

impl<'c, T: Scalar> Rows<'c, T> {
    /// The rows of `csr`, whose values are of type `T`.
    pub fn new(csr: &'c Csr) -> Result<Self> {
        let parts = csr.parts();
        let index = |memory: &'c crate::backend::memory::HostMemory, of: IndexType| -> Result<Index<'c>> {
            Ok(match of {
                IndexType::I32 => Index::Short(memory.as_slice()?),
                IndexType::I64 => Index::Long(memory.as_slice()?),
            })
        };
        let values = match &parts.values {
            Some(memory) => Some(memory.host("a")?.as_slice::<T>()?),
            None => None,
        };
        Ok(Self {
            offsets: index(&parts.row_ptr, parts.row_ptr_type)?,
            columns: index(&parts.col_idx, parts.col_idx_type)?,
            values,
            base: usize::try_from(csr.index_base()).unwrap_or(0),
            count: csr.rows(),
        })
    }

    /// Column and value of each entry of row i.
    fn row(self, i: usize) -> impl Iterator<Item = (usize, T)> + 'c {
        let (first, end) = (self.offsets.at(i) - self.base, self.offsets.at(i + 1) - self.base);
        (first..end).map(move |k| {
            let value = self.values.map_or(T::from_parts(1.0, 0.0), |v| v[k]);
            (self.columns.at(k) - self.base, value)
        })
    }
}

/// The entries column by column, so that A^H P can be formed one row after the other in a fixed order.
pub struct Columns<T> {
    /// Where each column begins in `entries`, and the end.
    offsets: Vec<usize>,
    /// Row and value of each entry.
    entries: Vec<(usize, T)>,
    _charge: Charge,
}

impl<T: Scalar> Columns<T> {
    fn new(context: &Context, rows: Rows<'_, T>, columns: usize, nnz: usize) -> Result<Self> {
        let what = "columns of a sparse matrix";
        let bytes = (columns + 1) * size_of::<usize>() + nnz * size_of::<(usize, T)>();
        let charge = context.host_budget().charge_host(what, bytes)?;
        let mut offsets = alloc::filled(what, columns + 1, 0usize)?;
        for i in 0..rows.count {
            rows.row(i).for_each(|(j, _)| offsets[j + 1] += 1);
        }
        for j in 0..columns {
            offsets[j + 1] += offsets[j];
        }
        let mut entries = alloc::filled(what, nnz, (0usize, T::default()))?;
        for i in 0..rows.count {
            for (j, value) in rows.row(i) {
                entries[offsets[j]] = (i, value);
                offsets[j] += 1;
            }
        }
        // Each offset has advanced to the start of the next column.
        offsets.copy_within(0..columns, 1);
        offsets[0] = 0;
        Ok(Self { offsets, entries, _charge: charge })
    }

    fn column(&self, j: usize) -> &[(usize, T)] {
        &self.entries[self.offsets[j]..self.offsets[j + 1]]
    }

    /// Row and value of each stored place of column j. Entries stored twice for one place are adjacent, because the rows
    /// ascend. They are added, as products do.
    fn places(&self, j: usize) -> impl Iterator<Item = (usize, Complex<f64>)> {
        let wide = |x: T| Complex::new(x.re(), x.im());
        self.column(j).chunk_by(|a, b| a.0 == b.0).map(move |same| match same {
            [(i, x)] => (*i, wide(*x)),
            _ => (same[0].0, same.iter().map(|(_, x)| wide(*x)).sum()),
        })
    }
}

/// Pieces of a product that are computed between two calls of the caller's progress function.
const STRIPE: usize = 256;

/// Which index of a product S B has the columns of the data, whose entries are multiplied by units and gains.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    /// The inner one: S is A.
    Inner,
    /// That of the rows of the result: S is A^H.
    Outer,
}

/// C = S B, where `row(i)` yields the entries of row i of S. Each row of C is a sum of rows of B in the order of the entries.
/// A correction is the first term of the sum, which is then in double precision: means that are much larger than the spread
/// cancel before the result is rounded. So is a sum of entries that `transform` multiplies.
#[allow(clippy::too_many_arguments, reason = "a product, its transform and its progress")]
fn product<T: Scalar, I: Iterator<Item = (usize, T)>>(
    context: &Context,
    row: impl Fn(usize) -> I + Sync,
    b: &CpuMatrix<T>,
    c: &mut CpuMatrix<T>,
    correction: Option<&Correction<'_>>,
    (transform, axis): (&Transform, Axis),
    tick: &dyn Fn() -> Result<()>,
) -> Result<()> {
    let (inner, width) = b.shape();
    if width == 0 || c.rows() == 0 {
        return Ok(());
    }
    // A copy of B with contiguous rows, because whole rows are added.
    let mut rows = CpuMatrix::<T>::zeros("rows of a factor", width, inner, context.host_budget())?;
    transpose(context, b.slice()?, inner, rows.slice_mut()?, width, false);
    let rows = rows.slice()?;
    let chunk = pieces(c.rows(), 256);
    let multiplies = transform.multiplies();
    let mut parts = split_rows(c.view_mut()?, chunk).into_iter().enumerate();
    let form = |(piece, mut part): (usize, MatMut<'_, T>)| -> Result<()> {
        if correction.is_some() || multiplies {
            let mut sum = alloc::filled("row of a product", width, T::Wide::default())?;
            for i in 0..part.rows() {
                let line = piece * chunk + i;
                let start = |j| correction.map_or(Complex::default(), |correction| -correction.at(line, j));
                sum.iter_mut().enumerate().for_each(|(j, s)| *s = T::Wide::from_parts(start(j).re, start(j).im));
                for (k, value) in row(line) {
                    let mut value = value.widen();
                    if multiplies {
                        value = match axis {
                            Axis::Inner => value.scaled(transform.unit(k)).scaled(transform.gain(k)),
                            Axis::Outer => value.scaled(transform.unit(line)),
                        };
                    }
                    for (s, x) in sum.iter_mut().zip(&rows[k * width..(k + 1) * width]) {
                        *s += value * x.widen();
                    }
                }
                let gain = if multiplies && axis == Axis::Outer { transform.gain(line) } else { 1.0 };
                sum.iter().enumerate().for_each(|(j, s)| part[(i, j)] = T::narrow(s.scaled(gain)));
            }
            return Ok(());
        }
        let mut sum = alloc::filled("row of a product", width, T::default())?;
        for i in 0..part.rows() {
            sum.fill(T::default());
            for (k, value) in row(piece * chunk + i) {
                for (s, x) in sum.iter_mut().zip(&rows[k * width..(k + 1) * width]) {
                    *s += value * *x;
                }
            }
            for (j, s) in sum.iter().enumerate() {
                part[(i, j)] = *s;
            }
        }
        Ok(())
    };
    loop {
        tick()?;
        let stripe: Vec<_> = parts.by_ref().take(STRIPE).collect();
        if stripe.is_empty() {
            return Ok(());
        }
        context.pool().run(|| stripe.into_par_iter().try_for_each(form))?;
    }
}

impl<T: Scalar> CpuOps<'_, T> {
    /// Forms the products of `work` from the stored entries.
    pub(super) fn sparse_pass(&mut self, work: Work<'_, T>) -> Result<()> {
        let Data::Csr(csr) = self.problem.data else {
            return Err(Error::Internal("a sparse pass over other data".into()));
        };
        let rows = Rows::new(csr)?;
        if self.columns.is_none() {
            self.columns = Some(Columns::new(self.context, rows, csr.cols(), csr.nnz())?);
        }
        if self.statistics.is_none() {
            let known = self.transform.take();
            self.survey_sparse(rows)?;
            self.transform = known.or(self.transform.take());
        }
        let columns = self.columns.take();
        let context = self.context;
        let sizes = (self.problem.rows, self.problem.columns);
        let (progress, pace) = (self.progress, self.pace());
        let tick = || progress.repeat(pace.within(0));
        let transform = self.transform.as_ref().ok_or_else(|| Error::Internal("a pass without a survey".into()))?;
        let mut apply = |adjoint: bool, x: &CpuMatrix<T>, y: &mut CpuMatrix<T>, correction: Option<&Correction<'_>>| {
            if adjoint {
                let columns =
                    columns.as_ref().ok_or_else(|| Error::Internal("a sparse matrix without columns".into()))?;
                let column = |j: usize| columns.column(j).iter().map(|(i, x)| (*i, x.conjugate()));
                product(context, column, x, y, correction, (transform, Axis::Outer), &tick)
            } else {
                product(context, |i| rows.row(i), x, y, correction, (transform, Axis::Inner), &tick)
            }
        };
        let outcome = implicit::pass(context, sizes, Some(transform), Gains::Inside, work, &mut apply);
        self.columns = columns;
        outcome
    }

    /// Computes norms, and means and deviations where the setting needs them.
    fn survey_sparse(&mut self, rows: Rows<'_, T>) -> Result<()> {
        let (m, n) = (self.problem.rows, self.problem.columns);
        let factor = self.setting.factor;
        let bytes = implicit_moments_bytes(&self.setting, (m, n), true);
        self.moments = Some(self.context.host_budget().charge_host("means of columns", bytes)?);
        let rows_centred = self.setting.center == Center::Rows;
        let mut transform = Transform { rows: rows_centred, factor, ..Transform::default() };
        let columns = self.columns.as_ref().ok_or_else(|| Error::Internal("a sparse matrix without columns".into()))?;
        let square = |x: Complex<f64>, mean: Complex<f64>| (x * factor - mean * factor).norm_sqr();
        // Sum of the squared distances of a column from a mean, over its stored entries and its zeros.
        let spread = |j: usize, mean: Complex<f64>| {
            let (mut sum, mut stored) = (0.0, 0);
            for (_, x) in columns.places(j) {
                sum += square_of(x, mean, factor);
                stored += 1;
            }
            sum + square_of(Complex::default(), mean, factor) * m.saturating_sub(stored) as f64
        };
        // The entries of a centred constant column are rounding errors, so it is multiplied by 0. A column of zeros does not
        // need this.
        let centred = self.setting.center == Center::Columns;
        let is_nothing = |column: &Moments| {
            let of = scaling(column, m, factor, centred);
            centred && column.mean.norm() > 0.0 && of.gain == 0.0
        };
        let mut moments = alloc::filled("moments of columns", n, Moments::default())?;
        let means_wanted = self.setting.center == Center::Columns || self.setting.scale;
        let mut survey = Survey::default();
        for (j, moment) in moments.iter_mut().enumerate() {
            let (mut most, mut stored) = (0.0f64, 0);
            for (i, x) in columns.places(j) {
                if !is_finite(x) {
                    survey.add(Findings { squares: 0.0, most: f64::NAN }, i, 1)?;
                }
                (most, stored) = (most.max(modulus(x)), stored + 1);
            }
            let entries = || columns.places(j).map(|(_, x)| x);
            let mean = if means_wanted { mean_of(m, stored, entries) } else { Complex::default() };
            *moment = Moments { mean, spread: if means_wanted { spread(j, mean) } else { 0.0 }, ..Moments::default() };
            let squares = match self.setting.center {
                Center::Columns => moment.spread,
                Center::Rows => 0.0,
                Center::None => spread(j, Complex::default()),
            };
            let factor_of = if self.setting.scale {
                scaling(moment, m, factor, centred).gain
            } else if is_nothing(moment) {
                0.0
            } else {
                1.0
            };
            survey.add(Findings { squares: squares * factor_of * factor_of, most }, 0, m)?;
        }
        if transform.rows {
            transform.row_means = alloc::with_capacity("means of rows", m)?;
            let wide = |x: T| Complex::new(x.re(), x.im());
            let mean = |i: usize| average(n, |by| total(rows.row(i).map(|(_, x)| wide(x) * by)));
            transform.row_means.extend((0..m).map(mean));
            // Sum of the squared distances, and number of stored places, of each row.
            let mut sums = alloc::filled("moments of rows", m, (0.0, 0usize))?;
            for (i, x) in (0..n).flat_map(|j| columns.places(j)) {
                sums[i].0 += square(x, transform.row_means[i]);
                sums[i].1 += 1;
            }
            for (i, (sum, stored)) in sums.into_iter().enumerate() {
                let squares =
                    sum + square(Complex::default(), transform.row_means[i]) * n.saturating_sub(stored) as f64;
                survey.add(Findings { squares, most: 0.0 }, i, 1)?;
            }
        }
        let mut all = ColumnMoments::new(n)?;
        all.merge(&moments, m, factor);
        all.write(&mut transform, centred, self.setting.scale, factor)?;
        for (j, _) in moments.iter().enumerate().filter(|(_, column)| is_nothing(column)) {
            if transform.gains.is_empty() {
                transform.gains = alloc::filled("factors of columns", n, 1.0)?;
            }
            transform.gains[j] = 0.0;
        }
        self.statistics = Some(survey.finish(&transform, T::IS_COMPLEX)?);
        self.transform = Some(transform);
        Ok(())
    }
}
