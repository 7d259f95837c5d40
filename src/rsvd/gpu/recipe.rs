//! From entries as they come to entries as they are computed with: type, means, scales, and what is counted on the way.
//!
//! Means are subtracted from a block when it is about to be used, in memory of purlin's own: exact to rounding also where
//! they are large, and no pass has to correct its sums.

use super::cut::Span;
use super::input::Input;
use super::site::Site;
use crate::backend::gpu::DeviceMemory;
use crate::backend::gpu::kernels::rsvd::{self as kernels, Axis, Centre, Convert, Lines, RECORD};
use crate::error::{Error, Result};
use crate::rsvd::data::{Center, Setting};
use crate::scalar::{DType, Scalar};

/// What a pass does beside its products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Turn {
    /// Counts what the statistics need.
    pub(super) tallies: bool,
    /// Only gathers the columns' moments.
    pub(super) moments: bool,
    /// Blocks that are copied come from the last to the first.
    pub(super) backwards: bool,
}

/// What is done to the entries.
pub(super) struct Recipe {
    center: Center,
    scale: bool,
    factor: f64,
    /// Moments of the columns, later what is subtracted from them; or the means of a block's rows.
    records: Option<DeviceMemory>,
    /// Blocks that are converted apart.
    work: Option<DeviceMemory>,
    moments: Option<DeviceMemory>,
    scratch: Option<DeviceMemory>,
    tallies: Option<DeviceMemory>,
    counted: Vec<Span>,
    /// Rows whose moments are in the records.
    seen: usize,
}

impl Recipe {
    pub(super) fn new(setting: &Setting) -> Result<Self> {
        if setting.scale && setting.center == Center::Rows {
            return Err(Error::NotSupported("scale: needs the means of columns, rows are centred".into()));
        }
        Ok(Self {
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

    /// Whether entries are used otherwise than they come.
    pub(super) fn converts<T: Scalar>(&self, dtype: DType) -> bool {
        dtype != T::DTYPE || self.center != Center::None || self.scale || self.factor != 1.0
    }

    /// Bytes of device memory beside the blocks, of which the longest has `block` rows.
    pub(super) fn bytes(&self, input: &Input<'_>, block: usize) -> Result<usize> {
        let mut bytes = kernels::TALLIES_BYTES;
        if self.needs_moments() || self.center == Center::Rows {
            let by_rows = self.center == Center::Rows;
            let (inner, outer) = input.lines(block);
            bytes += RECORD * 8 * if by_rows { block } else { input.columns };
            bytes += kernels::moments_bytes(over(input, by_rows), inner, outer)?;
        }
        Ok(bytes)
    }

    /// Before a pass in `blocks` blocks of at most `rows` rows.
    pub(super) fn begin(
        &mut self,
        site: &Site,
        input: &Input<'_>,
        turn: Turn,
        rows: usize,
        blocks: usize,
    ) -> Result<()> {
        let make = |slot: &mut Option<DeviceMemory>, what, bytes| -> Result<()> {
            if slot.as_ref().is_none_or(|m| m.bytes() < bytes) {
                *slot = None;
                *slot = Some(site.gpu.allocate_uninitialised_on(&site.stream, what, bytes)?);
            }
            Ok(())
        };
        self.counted.clear();
        if turn.tallies {
            make(&mut self.scratch, "tallies", kernels::TALLIES_BYTES)?;
            make(&mut self.tallies, "tallies", blocks * RECORD * 8)?;
        }
        if turn.moments {
            self.seen = 0;
            make(&mut self.records, "means of the columns", input.columns * RECORD * 8)?;
        } else if self.center == Center::Rows {
            make(&mut self.records, "means of the rows", rows * RECORD * 8)?;
        }
        Ok(())
    }

    /// The block as it is computed with. `raw` may be overwritten if it `is_own` memory.
    pub(super) fn apply<'r, T: Scalar>(
        &'r mut self,
        site: &Site,
        input: &Input<'_>,
        turn: Turn,
        span: Span,
        raw: Lines<'r>,
        is_own: bool,
    ) -> Result<Lines<'r>> {
        let (gpu, stream) = (&site.gpu, &site.stream);
        let apart = input.dtype != T::DTYPE || (!is_own && self.converts::<T>(input.dtype) && !turn.moments);
        if apart {
            let bytes = span.rows * input.columns * size_of::<T>();
            if self.work.as_ref().is_none_or(|m| m.bytes() < bytes) {
                self.work = None;
                self.work = Some(gpu.allocate_uninitialised_on(stream, "converted block", bytes)?);
            }
        }
        let by_rows = self.center == Center::Rows;
        let over = over(input, by_rows);
        if turn.moments || by_rows {
            let bytes = kernels::moments_bytes(over, raw.inner, raw.outer)?;
            if self.moments.as_ref().is_none_or(|m| m.bytes() < bytes) {
                self.moments = None;
                self.moments = Some(gpu.allocate_uninitialised_on(stream, "moments", bytes)?);
            }
        }
        if turn.tallies {
            self.counted.push(span);
        }
        let before = self.seen;
        if turn.moments {
            self.seen += span.rows;
        }
        let this = &*self;
        let work = match &this.work {
            Some(memory) if apart => Some(Lines { memory: memory.whole(), stride: raw.inner, ..raw }),
            _ => None,
        };
        let missing = || Error::Internal("a recipe without memory".into());
        let (mut lines, mut dtype) = (raw, input.dtype);
        if turn.moments || by_rows {
            if let (Some(work), true) = (work, dtype != T::DTYPE) {
                // Moments are those of the type of computing.
                let convert =
                    Convert { source: raw, dtype, output: Some(work), centre: None, factor: 1.0, tally: None };
                convert.run::<T>(gpu, stream)?;
                (lines, dtype) = (work, T::DTYPE);
            }
            let scratch = this.moments.as_ref().ok_or_else(missing)?.whole();
            let records = this.records.as_ref().ok_or_else(missing)?;
            let (records, before) =
                if by_rows { (records.region(0, span.rows * RECORD * 8)?, 0) } else { (records.whole(), before) };
            kernels::moments::<T>(gpu, stream, lines, over, scratch, records, before)?;
        }
        if turn.moments {
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
            (Some(scratch), Some(tallies)) if turn.tallies => {
                let at = (this.counted.len() - 1) * RECORD * 8;
                Some((scratch.whole(), tallies.region(at, RECORD * 8)?))
            }
            _ => None,
        };
        let output = this.converts::<T>(input.dtype).then(|| work.unwrap_or(lines));
        if output.is_some() || tally.is_some() {
            Convert { source: lines, dtype, output, centre, factor: this.factor, tally }.run::<T>(gpu, stream)?;
        }
        Ok(output.unwrap_or(lines))
    }

    /// What was counted in the pass: the sum of the squares, the largest modulus and how many entries are not finite.
    pub(super) fn tallies(&mut self, site: &Site) -> Result<Vec<(Span, [f64; RECORD])>> {
        let spans = std::mem::take(&mut self.counted);
        let (Some(tallies), false) = (&self.tallies, spans.is_empty()) else { return Ok(Vec::new()) };
        let mut numbers = crate::alloc::filled("tallies", spans.len() * RECORD, 0f64)?;
        site.gpu.download_numbers(&site.stream, tallies, &mut numbers)?;
        self.scratch = None;
        self.tallies = None;
        Ok(spans.into_iter().zip(numbers.as_chunks::<RECORD>().0.iter().copied()).collect())
    }

    /// The records: moments of the columns, or the means of rows.
    pub(super) fn records(&self, site: &Site, count: usize) -> Result<Vec<f64>> {
        let mut numbers = crate::alloc::filled("means", count * RECORD, 0f64)?;
        if let Some(records) = &self.records {
            site.gpu.download_numbers(&site.stream, records, &mut numbers)?;
        }
        Ok(numbers)
    }

    /// Replaces the moments of the columns by what is subtracted and multiplied with.
    pub(super) fn set_records(&mut self, site: &Site, records: &[f64]) -> Result<()> {
        self.moments = None;
        self.records = Some(site.gpu.upload_numbers(&site.stream, "means of the columns", records)?);
        Ok(())
    }
}

/// The axis over which moments are taken: for rows that of the columns, and the other way round.
fn over(input: &Input<'_>, by_rows: bool) -> Axis {
    if input.row_major == by_rows { Axis::Inner } else { Axis::Outer }
}
