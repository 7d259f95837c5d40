//! Back-projection of stored images into the slab.

use std::ops::Range;

use super::buffers::unprepared;
use super::clock::Stage;
use super::state::GpuOps;
use crate::backend::gpu::kernels::fdk::{Backprojection, Slab};
use crate::error::Result;
use crate::fdk::ops::Job;
use crate::fdk::options::Edge;

/// Largest number of unfinished back-projection launches: few enough to cancel soon, enough to keep the device busy.
const IN_FLIGHT: usize = 4;

impl GpuOps {
    /// Waits until fewer than `IN_FLIGHT` launches are unfinished.
    fn throttle(&mut self) -> Result<()> {
        while self.in_flight.len() >= IN_FLIGHT {
            if let Some(event) = self.in_flight.pop_front() {
                event.synchronize()?;
            }
        }
        Ok(())
    }

    /// Back-projects the images that are stored but not added yet.
    pub(super) fn flush(&mut self, job: Job<'_>) -> Result<()> {
        if self.pending == 0 {
            return Ok(());
        }
        let range = self.stored - self.pending..self.stored;
        self.project(job, range)?;
        self.pending = 0;
        if !self.cut.as_ref().is_some_and(|c| c.keep) {
            self.stored = 0;
        }
        Ok(())
    }

    /// Back-projects stored images into the slab.
    pub(super) fn project(&mut self, job: Job<'_>, images: Range<usize>) -> Result<()> {
        let plan = job.plan;
        let (buffers, tables) =
            (self.buffers.as_ref().ok_or_else(unprepared)?, self.tables.as_ref().ok_or_else(unprepared)?);
        let each = self.layout.samples() * 4;
        let memory = buffers.slab(job)?;
        let slice = plan.grid.size[0] * plan.grid.size[1] * 4;
        let mut slabs = Vec::with_capacity(2);
        for (first, slices, at) in self.pieces(job, slice) {
            slabs.push(Slab { memory: memory.region(at, slices * slice)?, first, slices });
        }
        let Some(slab) = slabs.first().copied() else { return Ok(()) };
        let task = Backprojection {
            images: buffers.images.region(images.start * each, images.len() * each)?,
            layout: self.layout,
            index: buffers.index.region(images.start * 4, images.len() * 4)?,
            batch: images.len(),
            views: tables.views(),
            scan: plan.views.len(),
            shape: self.shape,
            skip: plan.options.edge == Edge::Skip,
            size: plan.grid.size,
            panel_rows: plan.geometry.detector.rows,
            slab,
            mirror_slab: slabs.get(1).copied(),
        };
        let (gpu, stream) = (&self.gpu, &self.streams.compute);
        self.clock.span(Stage::Backproject, stream, || task.run(gpu, stream))?;
        self.in_flight.push_back(stream.record()?);
        self.throttle()
    }
}
