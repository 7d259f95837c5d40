//! The statistics of the first pass, the means that centring needs before it, and the counts of bytes moved.
//!
//! `state.rs` and `statistics.rs` import each other: the statistics are methods of the backend that holds them.

use super::conversion::PassWork;
use super::feed::PassTraffic;
use super::input::{DataLocation, Input};
use super::state::{Devices, Matrix};
use crate::backend::gpu::kernels::rsvd::RECORD;
use crate::blocks::number::Number;
use crate::error::{Error, Result};
use crate::matrix::not_finite;
use crate::rsvd::data::Center;
use crate::rsvd::ops::Prepared;
use crate::rsvd::statistics::{Moments, Statistics, constants_of, scaling};
use crate::scalar::Complex;

/// Means and divisors of the columns, once they are known.
#[derive(Clone, Default)]
pub(super) struct KnownColumns {
    /// Real parts, then imaginary parts of complex data; empty if nothing is subtracted.
    means: Vec<f64>,
    /// Empty if columns are not scaled.
    divisors: Vec<f64>,
    /// Columns that are multiplied by 0.
    constants: Vec<usize>,
    /// The first column whose deviation was lost.
    lost: Option<usize>,
}

impl Devices<'_> {
    /// Runs the pass that finds the columns' means, if they are needed and not known.
    pub(super) fn gather_moments(&mut self) -> Result<()> {
        let is_dense = matches!(self.matrix, Matrix::Dense(_));
        let is_needed = self.parts.first().is_some_and(|p| p.feed.conversion.needs_moments());
        if !is_dense || !is_needed || self.columns_known.is_some() {
            return Ok(());
        }
        let pass_work = PassWork { moments: true, ..PassWork::default() };
        let device_operands: Vec<()> = self.parts.iter().map(|_| ()).collect();
        let (_, moved) = self.each(pass_work, device_operands, |_, (), _| Ok(()))?;
        self.count(pass_work, moved)?;
        let factor = self.setting.factor;
        let mut columns = crate::alloc::filled("means of the columns", self.columns, Moments::default())?;
        let mut seen = 0;
        for part in &self.parts {
            let records = part.feed.conversion.records(&part.site, self.columns)?;
            let count = part.feed.share.rows;
            for (column, r) in columns.iter_mut().zip(records.chunks_exact(RECORD)).filter(|_| count > 0) {
                column.merge(
                    seen,
                    &Moments { mean: Complex::new(r[0], r[1]), spread: r[2], ..Moments::default() },
                    count,
                    factor,
                );
            }
            seen += count;
        }
        let (centers, scales) = (self.setting.center == Center::Columns, self.setting.scale);
        let mut records = crate::alloc::with_capacity("means of the columns", self.columns * RECORD)?;
        let (mut means, mut imaginary, mut divisors, mut lost) = (Vec::new(), Vec::new(), Vec::new(), None);
        for (j, column) in columns.iter().enumerate() {
            let scaling = scaling(column, self.rows, factor, centers);
            let mean = if centers { column.mean } else { Complex::default() };
            records.extend([mean.re, mean.im, if scales { scaling.gain } else { 1.0 }]);
            if centers {
                means.push(mean.re);
                imaginary.push(mean.im);
            }
            if scales {
                divisors.push(scaling.divisor);
                lost = lost.or(scaling.is_lost.then_some(j));
            }
        }
        if self.dtype.is_complex() {
            means.append(&mut imaginary);
        }
        for part in &mut self.parts {
            part.feed.conversion.set_records(&part.site, &records)?;
        }
        let constants = constants_of(records.chunks_exact(RECORD).map(|r| r[2]))?;
        self.columns_known = Some(KnownColumns { means, divisors, constants, lost });
        Ok(())
    }

    /// Sets known means and divisors of the columns: see [`crate::rsvd::ops::RsvdOps::set_columns`].
    pub(super) fn know_columns(&mut self, means: &[f64], divisors: &[f64]) -> Result<Prepared> {
        let columns = self.columns;
        if means.len() != columns * if self.dtype.is_complex() { 2 } else { 1 } || self.columns_known.is_some() {
            return Err(Error::Internal(format!("{} means of {columns} columns", means.len())));
        }
        let imaginary = |j: usize| means.get(columns + j).copied().unwrap_or(0.0);
        if matches!(self.matrix, Matrix::Implicit(_)) {
            return Ok(Prepared::Nothing);
        }
        let mut records = crate::alloc::with_capacity("means of the columns", columns * RECORD)?;
        let gain = |j: usize| divisors.get(j).map_or(1.0, |divisor| 1.0 / divisor);
        (0..columns).for_each(|j| records.extend([means[j], imaginary(j), gain(j)]));
        for part in &mut self.parts {
            part.feed.conversion.set_records(&part.site, &records)?;
        }
        let known = crate::alloc::copied("means of the columns", means)?;
        self.columns_known = Some(KnownColumns { means: known, ..KnownColumns::default() });
        Ok(Prepared::Divided)
    }

    /// Adds the bytes and seconds of a pass to the traffic. After the first pass also sets the statistics.
    pub(super) fn count(&mut self, pass_work: PassWork, moved: Vec<PassTraffic>) -> Result<()> {
        self.traffic.passes += 1;
        for m in &moved {
            self.traffic.bytes_to_device += m.to_device;
            self.traffic.bytes_read += m.read;
            self.traffic.seconds_read += m.seconds_read;
        }
        if !pass_work.tallies {
            return Ok(());
        }
        if let Matrix::Implicit(matrix) = &self.matrix {
            self.statistics = Some(matrix.statistics());
            return Ok(());
        }
        let (mut norm2, mut max_abs, mut size) = (0.0, 0f64, 0f64);
        for (part, m) in self.parts.iter().zip(&moved) {
            // Tallies are summed in the order of the rows, for any order of the pass.
            let mut tallies: Vec<_> = m.tallies.iter().collect();
            tallies.sort_by_key(|t| t.0.first);
            for (span, [squares, largest, bad, centred]) in tallies {
                if *bad > 0.0 {
                    return Err(self.not_finite(part.feed.share.first + span.first, span.rows));
                }
                norm2 += squares;
                max_abs = max_abs.max(*largest);
                size = size.max(*centred);
            }
        }
        let KnownColumns { means, divisors: scales, constants, lost } = self.columns_known.clone().unwrap_or_default();
        // Differences of entries may overflow.
        let is_centred = self.setting.center != Center::None && scales.is_empty();
        let size = if is_centred { size } else { max_abs * self.setting.factor }.min(f64::MAX);
        self.statistics =
            Some(Statistics { norm2, max_abs, size, means, scales, constants, lost, ..Statistics::default() });
        Ok(())
    }

    /// The error for `count` rows from `first` on, in which an entry is not finite. It names the entry if the data are
    /// in host memory.
    fn not_finite(&self, first: usize, count: usize) -> Error {
        let count = count.min(self.rows.saturating_sub(first));
        if let Matrix::Dense(Input { columns, dtype, row_major, place: DataLocation::Host(bytes, stride) }) =
            &self.matrix
            && let Ok(number) = Number::of("a", *dtype)
        {
            let (lines, length) = if *row_major { (count, *columns) } else { (*columns, count) };
            let begin = if *row_major { first * stride } else { first };
            let found = not_finite::find(number, bytes, (0..lines).map(|line| (begin + line * stride, length)));
            if let Some((line, at, value)) = found {
                let (row, column) = if *row_major { (line, at) } else { (at, line) };
                return not_finite::entry("a", (first + row, column), self.transposed, value);
            }
        }
        not_finite::rows("a", first, count, self.transposed)
    }

    /// See [`GpuOps::read_clocks`](super::GpuOps::read_clocks).
    pub(super) fn read_clocks(&mut self) -> Result<()> {
        for part in &mut self.parts {
            let (link, work) = part.feed.seconds()?;
            self.traffic.seconds_link += link;
            self.traffic.seconds_multiply += work;
        }
        Ok(())
    }
}
