//! Passes over sparse matrices, with corrections for means and scales.

use super::entries::{Columns, RowSums, Rows};
use super::implicit;
use super::implicit::{Correction, Gains};
use super::panel::{Findings, Transform};
use super::sizes::implicit_moments_bytes;
use super::state::CpuOps;
use super::survey::{ColumnMoments, Survey};
use super::work::Work;
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::context::Context;
use crate::dense::MatMut;
use crate::dense::cpu::matrix::{CpuMatrix, pieces, split_rows, transpose};
use crate::error::{Error, Result};
use crate::matrix::not_finite;
use crate::rsvd::data::{Center, Data};
use crate::rsvd::statistics::{
    CorrectionError, Moments, average, difference, is_zero_line, largest_part, mean_of, modulus, scaling, square_of,
    total,
};
use crate::scalar::{Complex, Scalar, is_finite};

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

/// C = S B, where `row(i)` yields the entries of row i of S. Each row of C is a sum of rows of B in the order of the
/// entries. A correction is the first term of the sum, which is then in double precision: means that are much larger
/// than the spread cancel before the result is rounded. So is a sum of entries that `transform` multiplies.
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
                if axis == Axis::Inner && transform.is_zero_row(line) {
                    (0..width).for_each(|j| part[(i, j)] = T::default());
                    continue;
                }
                let start = |j| correction.map_or(Complex::default(), |correction| -correction.at(line, j));
                sum.iter_mut().enumerate().for_each(|(j, s)| *s = T::Wide::from_parts(start(j).re, start(j).im));
                for (k, value) in row(line).filter(|(k, _)| axis == Axis::Inner || !transform.is_zero_row(*k)) {
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
        let square = |x: Complex<f64>, mean: Complex<f64>| difference(x, mean, factor).norm_sqr();
        let distance = |x: Complex<f64>, mean: Complex<f64>| largest_part(difference(x, mean, 1.0));
        // Sum of the squared distances of a column from a mean, over its stored entries and its zeros.
        let spread = |j: usize, mean: Complex<f64>| {
            let (mut sum, mut stored) = (0.0, 0);
            for (_, x) in columns.places(j) {
                sum += square_of(x, mean, factor);
                stored += 1;
            }
            // The square of a mean far from 0 may be infinite, which 0 zeros do not multiply to 0.
            let zeros = m.saturating_sub(stored);
            if zeros == 0 { sum } else { sum + square_of(Complex::default(), mean, factor) * zeros as f64 }
        };
        let centred = self.setting.center == Center::Columns;
        let mut moments = alloc::filled("moments of columns", n, Moments::default())?;
        let means_wanted = self.setting.center == Center::Columns || self.setting.scale;
        let mut survey = Survey::default();
        let mut read = 0.0f64;
        for (j, moment) in moments.iter_mut().enumerate() {
            let (mut most, mut part, mut stored) = (0.0f64, 0.0f64, 0);
            for (i, x) in columns.places(j) {
                if !is_finite(x) {
                    return Err(not_finite::entry("a", (i, j), self.problem.transposed, x));
                }
                (most, part, stored) = (most.max(modulus(x)), part.max(largest_part(x)), stored + 1);
            }
            let entries = || columns.places(j).map(|(_, x)| x);
            let mean = if means_wanted { mean_of(m, stored, entries) } else { Complex::default() };
            *moment = Moments { mean, spread: if means_wanted { spread(j, mean) } else { 0.0 }, ..Moments::default() };
            let squares = match self.setting.center {
                Center::Columns => moment.spread,
                Center::Rows => 0.0,
                Center::None => spread(j, Complex::default()),
            };
            let mut size = 0.0;
            let mut gain = 1.0;
            if self.setting.scale {
                gain = scaling(moment, m, factor, centred).gain;
            } else if centred {
                let zeros = if stored < m { largest_part(mean) } else { 0.0 };
                size = columns.places(j).map(|(_, x)| distance(x, mean)).fold(zeros, f64::max);
                // The entries of a centred constant column are rounding errors, so it is multiplied by 0. A column of
                // zeros does not need this.
                if is_zero_line(size, mean) {
                    if transform.gains.is_empty() {
                        transform.gains = alloc::filled("factors of columns", n, 1.0)?;
                    }
                    transform.gains[j] = 0.0;
                    (size, gain) = (0.0, 0.0);
                }
            }
            if gain != 0.0 && !rows_centred {
                read = read.max(part);
            }
            let squares = if gain == 0.0 { 0.0 } else { squares * gain * gain };
            survey.add(Findings { squares, most, size: size * factor });
        }
        if transform.rows {
            transform.row_means = alloc::with_capacity("means of rows", m)?;
            let wide = |x: T| Complex::new(x.re(), x.im());
            let mean = |i: usize| average(n, |by| total(rows.row(i).map(|(_, x)| wide(x) * by)));
            transform.row_means.extend((0..m).map(mean));
            let mut sums = alloc::filled("moments of rows", m, RowSums::default())?;
            for (i, x) in (0..n).flat_map(|j| columns.places(j)) {
                let (sum, mean) = (&mut sums[i], transform.row_means[i]);
                sum.squares += square(x, mean);
                sum.stored += 1;
                sum.size = sum.size.max(distance(x, mean));
                sum.read = sum.read.max(largest_part(x));
            }
            for (i, mut sum) in sums.into_iter().enumerate() {
                let mean = transform.row_means[i];
                if sum.stored < n {
                    sum.squares += square(Complex::default(), mean) * (n - sum.stored) as f64;
                    sum.size = sum.size.max(largest_part(mean));
                }
                if is_zero_line(sum.size, mean) {
                    if transform.zero_rows.is_empty() {
                        transform.zero_rows = alloc::filled("constant rows", m, false)?;
                    }
                    // Nothing is subtracted from products with the row, which are 0.
                    (transform.zero_rows[i], transform.row_means[i]) = (true, Complex::default());
                    continue;
                }
                read = read.max(sum.read);
                survey.add(Findings { squares: sum.squares, most: 0.0, size: sum.size * factor });
            }
        }
        let mut all = ColumnMoments::new(n)?;
        all.merge(&moments, m, factor);
        all.write(&mut transform, centred, self.setting.scale, factor)?;
        let mut found = survey.finish(&transform, T::IS_COMPLEX)?;
        found.read = read * factor;
        // Products are summed in double precision.
        found.correction = if rows_centred {
            let lines = transform.row_means.iter().map(|mean| (*mean, factor));
            CorrectionError::largest(lines, (true, n), f64::EPSILON)
        } else {
            let lines = transform.means.iter().enumerate().map(|(j, mean)| (*mean, transform.gain(j) * factor));
            CorrectionError::largest(lines, (false, m), f64::EPSILON)
        };
        self.statistics = Some(found);
        self.transform = Some(transform);
        Ok(())
    }
}
