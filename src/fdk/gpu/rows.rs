//! Conversion and filtering of raw rows into images.

use std::ops::Range;

use super::buffers::Buffers;
use super::launch::raw;
use super::tables::Tables;
use crate::backend::gpu::kernels::fdk::{Convert, Layout};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::blocks::number::Number;
use crate::error::Result;
use crate::fdk::counts::Counts;
use crate::fdk::plan::Plan;

/// Parameters of the conversion and the filter.
pub(super) struct FilterRows<'a> {
    pub(super) plan: &'a Plan,
    pub(super) tables: &'a Tables,
    pub(super) counts: Option<&'a Counts>,
    pub(super) layout: Layout,
    /// Number of images stored before this batch.
    pub(super) stored: usize,
    pub(super) buffers: &'a Buffers,
}

impl FilterRows<'_> {
    /// Converts raw numbers to line integrals. Without an `output` it only counts those that are not finite.
    pub(super) fn convert<'c>(
        &'c self,
        number: Number,
        source: Region<'c>,
        band: &Range<usize>,
        views: usize,
        output: Option<Region<'c>>,
    ) -> Result<Convert<'c>> {
        let index = self.buffers.index.region(self.stored * 4, views * 4)?;
        Ok(Convert {
            source,
            number: raw(number),
            swap: false,
            columns: self.plan.geometry.detector.columns,
            first_row: band.start,
            rows: band.len(),
            views,
            counts: self.tables.counts(self.plan, self.counts),
            sanitize: self.plan.options.sanitize,
            largest: self.plan.largest_pixel as f32,
            weights: self.tables.pixel_weights(self.plan, index),
            output,
            counters: self.buffers.counters.whole(),
        })
    }

    /// Filters the rows of a band into the images.
    pub(super) fn filter(
        &self,
        gpu: &Gpu,
        stream: &GpuStream,
        band: &Range<usize>,
        views: usize,
        integrals: Region<'_>,
    ) -> Result<()> {
        let (plan, layout, buffers) = (self.plan, self.layout, self.buffers);
        let each = layout.samples() * 4;
        if *band == (layout.first_row..layout.first_row + layout.rows) {
            let images = buffers.images.region(self.stored * each, views * each)?;
            let index = buffers.index.region(self.stored * 4, views * 4)?;
            return self.tables.filter(plan, integrals, index, views, images, layout).run(gpu, stream);
        }
        // Filter a part of each image: the lines of the band, with the border on its side.
        let is_upper = band.start == layout.first_row;
        let top = if is_upper { layout.top } else { 0 };
        let height = band.len() + layout.top;
        let part = Layout { first_row: band.start, rows: band.len(), top, height, ..layout };
        let line = if is_upper { 0 } else { layout.top + band.start - layout.first_row };
        let view = band.len() * plan.geometry.detector.columns * 4;
        for v in 0..views {
            let at = (self.stored + v) * each + line * layout.pitch * 4;
            let images = buffers.images.region(at, part.samples() * 4)?;
            let index = buffers.index.region((self.stored + v) * 4, 4)?;
            let input = integrals.part(v * view, view)?;
            self.tables.filter(plan, input, index, 1, images, part).run(gpu, stream)?;
        }
        Ok(())
    }
}
