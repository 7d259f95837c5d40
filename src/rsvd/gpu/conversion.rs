//! The conversion of a block's entries: type, means and scales, with the tallies for the statistics.
//!
//! Means are subtracted from a block just before it is used, in memory of purlin's own. This is exact to rounding even for
//! large means, and no pass has to correct its sums.

use super::cut::Span;
use super::input::Input;
use super::site::Site;
use crate::backend::gpu::DeviceMemory;
use crate::backend::gpu::kernels::rsvd::{self as kernels, Axis, Centre, Convert, Lines, RECORD, TALLY};
use crate::error::{Error, Result};
use crate::rsvd::data::{Center, Setting};
use crate::scalar::DType;

/// The work of a pass besides its products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PassWork {
    /// Whether to tally squares and largest moduli for the statistics.
    pub(super) tallies: bool,
    /// Whether the pass only gathers the columns' moments, without products.
    pub(super) moments: bool,
    /// Whether the resident blocks, and then the copied blocks, come in reverse order.
    pub(super) backwards: bool,
}

/// The conversion of a device's blocks, and its memory.
pub(super) struct BlockConversion {
    /// Type of the computation, to which blocks are converted.
    pub(super) dtype: DType,
    center: Center,
    scale: bool,
    factor: f64,
    /// Moments of the columns, later their means and factors; or the means of a block's rows.
    records: Option<DeviceMemory>,
    /// Memory of a block that is not converted in place.
    work: Option<DeviceMemory>,
    moments: Option<DeviceMemory>,
    scratch: Option<DeviceMemory>,
    tallies: Option<DeviceMemory>,
    counted: Vec<Span>,
    /// Number of rows whose moments are in the records.
    seen: usize,
}

impl BlockConversion {
    pub(super) fn new(dtype: DType, setting: &Setting) -> Result<Self> {
        if setting.scale && setting.center == Center::Rows {
            return Err(Error::NotSupported("scale: is set, centred columns are needed, rows are centred".into()));
        }
        Ok(Self {
            dtype,
            center: setting.center,
            scale: setting.scale,
            factor: setting.factor,
            records: None,
            work: None,
            moments: None,
            scratch: None,
            tallies: None,
            counted: Vec::new(),
            seen: 0,
        })
    }

    /// Whether a pass has to gather the columns' moments before all others.
    pub(super) fn needs_moments(&self) -> bool {
        self.center == Center::Columns || self.scale
    }

    /// Whether entries of type `dtype` have to be converted before they are used.
    pub(super) fn converts(&self, dtype: DType) -> bool {
        dtype != self.dtype || self.center != Center::None || self.scale || self.factor != 1.0
    }

    /// Bytes of device memory besides the blocks, and those that only a pass before all products and factorizations takes
    /// in addition. `block` is the number of rows of the longest block.
    pub(super) fn bytes(&self, input: &Input<'_>, block: usize) -> Result<(usize, usize)> {
        let by_rows = self.center == Center::Rows;
        let (mut bytes, mut first) = (kernels::TALLIES_BYTES, 0);
        if self.needs_moments() || by_rows {
            let (inner, outer) = input.lines(block);
            bytes += RECORD * 8 * if by_rows { block } else { input.columns };
            first = kernels::moments_bytes(over(input, by_rows), inner, outer)?;
        }
        Ok(if by_rows { (bytes + first, 0) } else { (bytes, first) })
    }

    /// Allocates memory for a pass over `blocks` blocks of at most `rows` rows.
    pub(super) fn begin(
        &mut self,
        site: &Site,
        input: &Input<'_>,
        pass_work: PassWork,
        rows: usize,
        blocks: usize,
    ) -> Result<()> {
        let make = |slot: &mut Option<DeviceMemory>, what, bytes| -> Result<()> {
            if slot.as_ref().is_none_or(|m| m.bytes() < bytes) {
                *slot = None;
                *slot = Some(site.gpu.allocate_uninitialized_on(&site.stream, what, bytes)?);
            }
            Ok(())
        };
        self.counted.clear();
        if pass_work.tallies {
            make(&mut self.scratch, "tallies", kernels::TALLIES_BYTES)?;
            make(&mut self.tallies, "tallies", blocks * TALLY * 8)?;
        }
        if pass_work.moments {
            self.seen = 0;
            make(&mut self.records, "means of the columns", input.columns * RECORD * 8)?;
        } else if self.center == Center::Rows {
            make(&mut self.records, "means of the rows", rows * RECORD * 8)?;
        }
        Ok(())
    }

    /// Enqueues the conversion of a block and returns the converted block. `raw` may be overwritten if it `is_own` memory.
    pub(super) fn apply<'r>(
        &'r mut self,
        site: &Site,
        input: &Input<'_>,
        pass_work: PassWork,
        span: Span,
        raw: Lines<'r>,
        is_own: bool,
    ) -> Result<Lines<'r>> {
        let (gpu, stream, to) = (&site.gpu, &site.stream, self.dtype);
        let apart = input.dtype != to || (!is_own && self.converts(input.dtype) && !pass_work.moments);
        if apart {
            let bytes = span.rows * input.columns * to.size();
            if self.work.as_ref().is_none_or(|m| m.bytes() < bytes) {
                self.work = None;
                self.work = Some(gpu.allocate_uninitialized_on(stream, "converted block", bytes)?);
            }
        }
        let by_rows = self.center == Center::Rows;
        let over = over(input, by_rows);
        if pass_work.moments || by_rows {
            let bytes = kernels::moments_bytes(over, raw.inner, raw.outer)?;
            if self.moments.as_ref().is_none_or(|m| m.bytes() < bytes) {
                self.moments = None;
                self.moments = Some(gpu.allocate_uninitialized_on(stream, "moments", bytes)?);
            }
        }
        if pass_work.tallies {
            self.counted.push(span);
        }
        let before = self.seen;
        if pass_work.moments {
            self.seen += span.rows;
        }
        let this = &*self;
        let work = match &this.work {
            Some(memory) if apart => Some(Lines { memory: memory.whole(), stride: raw.inner, ..raw }),
            _ => None,
        };
        let missing = || Error::Internal("a recipe without memory".into());
        let (mut lines, mut dtype) = (raw, input.dtype);
        if pass_work.moments || by_rows {
            if let (Some(work), true) = (work, dtype != to) {
                // Moments are computed from the converted entries.
                let convert =
                    Convert { source: raw, dtype, output: Some(work), centre: None, factor: 1.0, tally: None };
                convert.run(to, gpu, stream)?;
                (lines, dtype) = (work, to);
            }
            let scratch = this.moments.as_ref().ok_or_else(missing)?.whole();
            let records = this.records.as_ref().ok_or_else(missing)?;
            let (records, before) =
                if by_rows { (records.region(0, span.rows * RECORD * 8)?, 0) } else { (records.whole(), before) };
            kernels::moments(to, gpu, stream, lines, over, this.factor, scratch, records, before)?;
        }
        if pass_work.moments {
            return Ok(raw);
        }
        let centre = match this.center {
            Center::None if !this.scale => None,
            Center::Rows => {
                let records = this.records.as_ref().ok_or_else(missing)?;
                let records = records.region(0, span.rows * RECORD * 8)?;
                let axis = if input.row_major { Axis::Outer } else { Axis::Inner };
                Some(Centre { records, axis, divides: false })
            }
            _ => {
                let records = this.records.as_ref().ok_or_else(missing)?.whole();
                let axis = if input.row_major { Axis::Inner } else { Axis::Outer };
                Some(Centre { records, axis, divides: true })
            }
        };
        let tally = match (&this.scratch, &this.tallies) {
            (Some(scratch), Some(tallies)) if pass_work.tallies => {
                let at = (this.counted.len() - 1) * TALLY * 8;
                Some((scratch.whole(), tallies.region(at, TALLY * 8)?))
            }
            _ => None,
        };
        let output = this.converts(input.dtype).then(|| work.unwrap_or(lines));
        if output.is_some() || tally.is_some() {
            Convert { source: lines, dtype, output, centre, factor: this.factor, tally }.run(to, gpu, stream)?;
        }
        Ok(output.unwrap_or(lines))
    }

    /// The tallies of the pass: the sum of the squares, the largest modulus, the number of entries that are not finite,
    /// and the largest part of a centred entry.
    pub(super) fn tallies(&mut self, site: &Site) -> Result<Vec<(Span, [f64; TALLY])>> {
        let spans = std::mem::take(&mut self.counted);
        let (Some(tallies), false) = (&self.tallies, spans.is_empty()) else { return Ok(Vec::new()) };
        let mut numbers = crate::alloc::filled("tallies", spans.len() * TALLY, 0f64)?;
        site.gpu.download_numbers(&site.stream, tallies, &mut numbers)?;
        self.scratch = None;
        self.tallies = None;
        Ok(spans.into_iter().zip(numbers.as_chunks::<TALLY>().0.iter().copied()).collect())
    }

    /// Copies the records to the host: moments of the columns, or the means of rows.
    pub(super) fn records(&self, site: &Site, count: usize) -> Result<Vec<f64>> {
        let mut numbers = crate::alloc::filled("means", count * RECORD, 0f64)?;
        if let Some(records) = &self.records {
            site.gpu.download_numbers(&site.stream, records, &mut numbers)?;
        }
        Ok(numbers)
    }

    /// Replaces the moments of the columns by their means and factors.
    pub(super) fn set_records(&mut self, site: &Site, records: &[f64]) -> Result<()> {
        self.moments = None;
        self.records = Some(site.gpu.upload_numbers(&site.stream, "means of the columns", records)?);
        Ok(())
    }
}

/// The axis over which moments are summed: that of the columns for means of rows, and that of the rows for means of columns.
fn over(input: &Input<'_>, by_rows: bool) -> Axis {
    if input.row_major == by_rows { Axis::Inner } else { Axis::Outer }
}
