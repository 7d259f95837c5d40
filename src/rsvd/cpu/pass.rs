//! Passes over dense data, panel by panel.

use std::time::Instant;

use super::panel::{Part, Transform};
use super::state::CpuOps;
use super::survey::{ColumnMoments, Survey};
use super::work::{LeftFactor, Work};
use crate::backend::cpu::parallel::{IntoItems as _, Items as _, Pieces as _};
use crate::backend::memory::HostMemory;
use crate::blocks::array::Block;
use crate::blocks::number::Number;
use crate::blocks::pipeline::read_ahead;
use crate::context::Context;
use crate::dense::cpu::matrix::{CpuMatrix, split_columns};
use crate::dense::cpu::product::multiply;
use crate::dense::{Accum, Mat, MatMut, serial};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::rsvd::data::{Center, Data};
use crate::rsvd::pace::Pace;
use crate::scalar::Scalar;
use crate::shape::{Order, to_u64};

/// The products of a pass over one panel after the other.
struct Panels<'w, T: Scalar> {
    context: &'w Context,
    progress: &'w Progress<'w>,
    pace: Pace,
    /// Rows of a block, by which progress is counted, and rows done.
    block_rows: usize,
    done: usize,
    transform: &'w Transform,
    /// Whether the problem is of the transpose of the caller's matrix.
    transposed: bool,
    work: Work<'w, T>,
    /// Rows of a panel; the last may be shorter.
    height: usize,
    /// A converted panel, where the entries cannot be used in place.
    scratch: CpuMatrix<T>,
    /// A W of a panel.
    product: CpuMatrix<T>,
    drawn: CpuMatrix<T>,
    wide: CpuMatrix<T::Wide>,
    gram: CpuMatrix<T::Wide>,
    survey: Option<Survey>,
    /// Whether the sums have begun.
    begun: bool,
}

impl<T: Scalar> Panels<'_, T> {
    /// Processes all rows of a part. Its first row is row `place` of the data.
    fn part(&mut self, part: Part<'_>, rows: usize, place: usize) -> Result<()> {
        for first in (0..rows).step_by(self.height) {
            let count = self.height.min(rows - first);
            self.panel(part, first, count, place + first)?;
        }
        Ok(())
    }

    fn panel(&mut self, part: Part<'_>, first: usize, count: usize, place: usize) -> Result<()> {
        self.progress.repeat(self.pace.within(self.done / self.block_rows.max(1)))?;
        self.done += count;
        let context = self.context;
        let x = if part.is_direct::<T>(self.transform) {
            if let Some(survey) = &mut self.survey {
                let found = context.pool().run(|| part.look_direct::<T>(first, count))?;
                if !found.are_finite() {
                    return Err(part.not_finite(first, count, place, self.transposed));
                }
                survey.add(found);
            }
            part.direct(first, count)?
        } else {
            let (x, found) = part.load(context, first, count, self.transform, self.scratch.slice_mut()?)?;
            if let Some(survey) = &mut self.survey {
                if !found.are_finite() {
                    return Err(part.not_finite(first, count, place, self.transposed));
                }
                survey.add(found);
            }
            x
        };
        let accumulate = if self.begun { Accum::Add } else { Accum::Replace };
        self.begun = true;
        if let Some(w) = self.work.w {
            let width = w.cols();
            let y = &mut self.product.slice_mut()?[..count * width];
            multiply(context, 1.0, x, w.view()?, Accum::Replace, MatMut::from_columns(y, count, width))?;
            if let Some(p) = &mut self.work.p
                && count > 0
            {
                let rows = p.rows();
                for (to, from) in p.slice_mut()?.chunks_exact_mut(rows).zip(y.chunks_exact(count)) {
                    to[place..place + count].copy_from_slice(from);
                }
            }
        }
        if let Some(t) = &mut self.work.t {
            let width = t.cols();
            let left = match &self.work.left {
                LeftFactor::None => None,
                LeftFactor::Given(p) => Some(p.view()?.subrows(place, count)),
                LeftFactor::Product => Some(Mat::from_columns(&self.product.slice()?[..count * width], count, width)),
                LeftFactor::Drawn(sketch) => {
                    let rows = &mut self.drawn.slice_mut()?[..count * width];
                    context.pool().run(|| {
                        rows.par_chunks_mut(2 * count.max(1)).enumerate().for_each(|(pair, columns)| {
                            let (even, odd) = columns.split_at_mut(count);
                            let column = u32::try_from(2 * pair).unwrap_or(u32::MAX);
                            sketch.fill_pair(to_u64(place), column, even, odd);
                        });
                    });
                    Some(Mat::from_columns(rows, count, width))
                }
            };
            if let Some(left) = left {
                multiply(context, 1.0, x.adjoint(), left, accumulate, t.view_mut()?)?;
            }
        }
        if self.work.gram.is_some() {
            add_gram(context, x, self.wide.slice_mut()?, &mut self.gram)?;
        }
        Ok(())
    }

    /// Writes the sums that have their own memory. Returns the survey, if this was the first pass.
    fn finish(mut self) -> Result<Option<Survey>> {
        if let Some(t) = &mut self.work.t
            && !self.begun
        {
            t.slice_mut()?.fill(T::default());
        }
        if let Some(g) = &mut self.work.gram {
            let (order, sum) = (g.rows(), self.gram.slice()?);
            for (j, column) in g.slice_mut()?.chunks_exact_mut(order.max(1)).enumerate() {
                for (i, to) in column.iter_mut().enumerate() {
                    let x = if i >= j { sum[j * order + i] } else { sum[i * order + j].conjugate() };
                    *to = T::narrow(x);
                }
            }
        }
        Ok(self.survey)
    }
}

/// Columns of a Gram matrix that one task computes.
const GRAM_BAND: usize = 128;

/// G += X^H X in double precision, at least on and below the diagonal. `wide` has at least as many elements as X.
fn add_gram<T: Scalar>(
    context: &Context,
    x: Mat<'_, T>,
    wide: &mut [T::Wide],
    g: &mut CpuMatrix<T::Wide>,
) -> Result<()> {
    let (count, order) = x.shape();
    if count == 0 || order == 0 {
        return Ok(());
    }
    let wide = &mut wide[..count * order];
    let bands = split_columns(g.view_mut()?, GRAM_BAND);
    context.pool().run(|| {
        wide.par_chunks_exact_mut(count).enumerate().for_each(|(j, column)| {
            column.iter_mut().enumerate().for_each(|(i, to)| *to = x[(i, j)].widen());
        });
        let x = Mat::from_columns(wide, count, order);
        bands.into_par_iter().enumerate().for_each(|(b, band)| {
            let (first, width) = (b * GRAM_BAND, band.cols());
            let below = x.subcols(first, order - first).adjoint();
            let band = band.subrows(first, order - first);
            serial::multiply(band, Accum::Add, below, x.subcols(first, width), T::Wide::from_parts(1.0, 0.0));
        });
    });
    Ok(())
}

impl<T: Scalar> CpuOps<'_, T> {
    /// The products of `work`, panel by panel; in the first pass also the statistics.
    pub(super) fn dense_pass(&mut self, work: Work<'_, T>) -> Result<()> {
        let (rows, columns) = (self.problem.rows, self.problem.columns);
        work.check(rows, columns)?;
        self.prepare_dense()?;
        let transform = self.transform.take().unwrap_or_default();
        let is_direct = transform.is_nothing() && self.dtype() == Some(T::DTYPE);
        let is_gram = work.gram.is_some();
        let (height, backwards) = (self.panel_rows, self.is_backwards());
        let width = |wanted: bool, width: usize| if wanted { width } else { 0 };
        let drawn = matches!(work.left, LeftFactor::Drawn(_));
        let mut panels = Panels {
            context: self.context,
            progress: self.progress,
            pace: self.pace(),
            block_rows: self.block_rows(),
            done: 0,
            transform: &transform,
            transposed: self.problem.transposed,
            height,
            scratch: self.zeros_of("rows of the data", height, width(!is_direct, columns))?,
            product: self.zeros_of("rows of A W", height, work.w.map_or(0, |w| w.cols()))?,
            drawn: self.zeros_of("rows of a sketch", height, width(drawn, work.t.as_ref().map_or(0, |t| t.cols())))?,
            wide: self.zeros_of("rows of the data", height, width(is_gram, columns))?,
            gram: self.zeros_of("A^H A", width(is_gram, columns), width(is_gram, columns))?,
            work,
            survey: self.statistics.is_none().then(Survey::default),
            begun: false,
        };
        let outcome = self.each_part(usize::MAX, backwards, &mut |part, count, place| panels.part(part, count, place));
        let survey = outcome.and_then(|()| panels.finish());
        if let Ok(Some(found)) = survey {
            self.statistics = Some(found.finish(&transform, T::IS_COMPLEX)?);
            self.transform = Some(transform);
            return Ok(());
        }
        self.transform = Some(transform);
        survey.map(|_| ())
    }

    /// Element type of the data.
    pub(super) fn dtype(&self) -> Option<crate::scalar::DType> {
        match &self.problem.data {
            Data::Dense { dtype, .. } => Some(*dtype),
            Data::Streamed { source, .. } => Some(source.info().number.dtype()),
            Data::Csr(_) | Data::Operator(_) => None,
        }
    }

    /// Calls `body(part, rows, first row)` for one block of rows after the other, `backwards` from the last one on. A block
    /// of a source is passed on when it has been read; an array in memory is passed on in blocks of `height` rows. Counts
    /// the bytes read.
    pub(super) fn each_part(
        &mut self,
        height: usize,
        backwards: bool,
        body: &mut dyn FnMut(Part<'_>, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let (rows, columns) = (self.problem.rows, self.problem.columns);
        let block_rows = self.block_rows();
        let (pace, progress) = (self.pace(), self.progress);
        let turned = |item: usize, items: usize| if backwards { items - 1 - item } else { item };
        match &mut self.problem.data {
            Data::Dense { memory, dtype, row_stride, column_stride } => {
                let memory = memory.host("a")?;
                let number = Number::of("a", *dtype)?;
                let whole =
                    Part { memory, number, row_stride: *row_stride, column_stride: *column_stride, columns, skip: 0 };
                let height = height.min(rows).max(1);
                let items = rows.div_ceil(height);
                let start = Instant::now();
                for item in 0..items {
                    progress.repeat(pace.within(item))?;
                    let first = turned(item, items) * height;
                    body(whole.below(first), height.min(rows - first), first)?;
                }
                self.traffic.seconds_multiply += start.elapsed().as_secs_f64();
                Ok(())
            }
            Data::Streamed { source, order } => {
                let info = source.info().clone();
                let number = info.number;
                let order = *order;
                let items = if columns == 0 { 0 } else { rows.div_ceil(block_rows) };
                let place = |item: usize| {
                    let first = turned(item, items) * block_rows;
                    (first, block_rows.min(rows - first))
                };
                let axis = if order == Order::RowMajor { 1 } else { 0 };
                let buffers: Vec<&mut HostMemory> = self.buffers.iter_mut().collect();
                let flag = progress.flag();
                let times = read_ahead(
                    items,
                    buffers,
                    |item, buffer| {
                        flag.check()?;
                        let (first, count) = place(item);
                        let block = Block::whole(&info).along(axis, first, count);
                        let bytes = block.elements() * number.size();
                        source.read(&block, &mut buffer.as_mut_slice::<u8>()?[..bytes])
                    },
                    |item, buffer| {
                        progress.repeat(pace.within(item))?;
                        let (first, count) = place(item);
                        let (row_stride, column_stride) = if axis == 1 { (columns, 1) } else { (1, count) };
                        body(Part { memory: buffer, number, row_stride, column_stride, columns, skip: 0 }, count, first)
                    },
                )?;
                self.traffic.seconds_read += times.read.as_secs_f64();
                self.traffic.seconds_multiply += times.work.as_secs_f64();
                self.traffic.bytes_read += to_u64(rows * columns * number.size());
                Ok(())
            }
            Data::Csr(_) | Data::Operator(_) => Err(Error::NotSupported(
                "method: works on blocks of rows, which a sparse matrix or an operator does not have".into(),
            )),
        }
    }

    /// Finds the transform of the entries. This takes a pass of its own where columns are centred or scaled.
    pub(super) fn prepare_dense(&mut self) -> Result<()> {
        if self.transform.is_some() {
            return Ok(());
        }
        let (columns, factor) = (self.problem.columns, self.setting.factor);
        let centred = self.setting.center == Center::Columns;
        let mut transform = Transform { rows: self.setting.center == Center::Rows, factor, ..Transform::default() };
        if centred || self.setting.scale {
            let context = self.context;
            let bytes = super::moments_bytes(&self.setting, columns);
            self.moments = Some(context.host_budget().charge_host("means of columns", bytes)?);
            let mut moments = ColumnMoments::new(columns)?;
            let height = self.panel_rows;
            self.each_part(usize::MAX, false, &mut |part, rows, _| {
                for first in (0..rows).step_by(height) {
                    let count = height.min(rows - first);
                    let new = context.pool().run(|| part.moments(first, count, factor))?;
                    moments.merge(&new, count, factor);
                }
                Ok(())
            })?;
            self.traffic.passes += 1;
            moments.write(&mut transform, centred, self.setting.scale, factor)?;
        }
        self.transform = Some(transform);
        Ok(())
    }
}
