//! The operations of a reconstruction on one GPU, whose copies and kernels overlap.

use std::ops::Range;
use std::sync::Arc;

use super::buffers::{Buffers, unprepared};
use super::clock::Stage;
use super::intake::DevicePixels;
use super::launch::LAUNCH;
use super::rows::FilterRows;
use super::state::GpuOps;
use super::tables::{self, Tables};
use crate::backend::gpu::kernels::fdk as kernels;
use crate::backend::gpu::{GpuStream, ScopedTransfers, Staging};
use crate::blocks::number::Number;
use crate::error::{Error, Result};
use crate::fdk::algorithm::Times;
use crate::fdk::counts::PixelDefects;
use crate::fdk::cut::{Access, Cut, Flow, Needs};
use crate::fdk::ops::{FdkOps, HostBuffer, Job, Pixels, Slices, Tally, Target, Watch};
use crate::fdk::part::Part;
use crate::fdk::plan::{Batch, Plan};

/// Bytes of views, and of slices, that are copied together.
const PIECE_BYTES: usize = 32 << 20;

/// Samples of padded rows that are filtered together: some 10 ms of a device, so that a cancelled run ends soon.
const FILTERED: usize = 1 << 30;

/// Volumes of at most this many bytes a device are computed in one slab each, because overlap would save nothing.
const SMALL_VOLUME: usize = 64 << 20;

impl HostBuffer for Staging {
    fn contents(&mut self) -> Result<&mut [u8]> {
        Staging::contents(self)
    }
}

impl FdkOps for GpuOps {
    type Buffer = Staging;

    fn slice_group(&self) -> usize {
        let sides = if self.shape.mirror.is_some() { 2 } else { 1 };
        sides * self.shape.slice_group()
    }

    fn units(&self, plan: &Plan) -> usize {
        self.mirrored(plan).map_or(plan.grid.size[2].div_ceil(self.shape.slice_group()), |(tiles, _, _)| tiles)
    }

    fn slices_of(&self, plan: &Plan, units: Range<usize>) -> Slices {
        let nz = plan.grid.size[2];
        let Some((tiles, depth, plane)) = self.mirrored(plan) else {
            let group = self.shape.slice_group();
            let first = (units.start * group).min(nz);
            return Slices::row(first, (units.end * group).min(nz) - first);
        };
        if units == (0..tiles) {
            return Slices::row(0, nz);
        }
        // The tiles of these units are above the plane, their mirror images below it.
        let above = (plane + units.start * depth).min(nz)..(plane + units.end * depth).min(nz);
        let mirror = self.shape.mirror.map_or(0, |m| m.slices);
        let image = |end: usize| (mirror + 1).saturating_sub(plane + end * depth).min(plane).min(nz);
        let below = image(units.end)..image(units.start);
        Slices { main: (above.start, above.len()), mirror: (below.start, below.len()) }
    }

    fn preferred_slices(&self, plan: &Plan, input: Flow, output: Flow, devices: usize) -> (usize, usize) {
        let [nx, ny, nz] = plan.grid.size;
        let slice = nx * ny * 4;
        let devices = devices.max(1);
        if output.access == Access::Resident || slice * nz <= SMALL_VOLUME * devices {
            let each = nz.div_ceil(devices);
            return (each, each);
        }
        // No work hides the download of the last slab, so slabs are small. The first slab hides the upload of the scan,
        // so it is larger. Several devices each upload the whole scan but share the work, so their first slabs take
        // more of it.
        let slices = nz.div_ceil(8 * devices).max(PIECE_BYTES.div_ceil(slice));
        let quarters = match input.access {
            Access::Buffered => 2 * devices,
            Access::Direct | Access::Resident => devices,
        };
        let first = (nz * quarters.min(3)).div_ceil(4 * devices);
        (first.max(slices), slices)
    }

    fn preferred_batch(&self, plan: &Plan, input: Flow) -> (usize, usize) {
        let view = plan.panel_pixels() * input.number.size();
        let samples = plan.geometry.detector.rows.saturating_mul(plan.length);
        (LAUNCH, (PIECE_BYTES / view.max(1)).min(FILTERED / samples.max(1)).clamp(1, LAUNCH / 2))
    }

    fn can_keep(&self) -> bool {
        true
    }

    fn write_slices(&self, plan: &Plan) -> usize {
        let [nx, ny, nz] = plan.grid.size;
        (PIECE_BYTES / (nx * ny * 4).max(1)).clamp(1, nz)
    }

    fn needs(&self, plan: &Plan, cut: &Cut) -> Needs {
        let sizes = self.sizes(plan, cut);
        let host = crate::fdk::cpu::pipeline_bytes(plan, cut);
        Needs { host, device: sizes.total() + Tables::bytes(plan, self.counts.as_deref()) }
    }

    fn buffer(&self, what: &'static str, bytes: usize) -> Result<Staging> {
        Staging::new(&self.gpu, what, bytes, self.context.host_budget())
    }

    fn prepare(&mut self, job: Job<'_>, cut: &Cut) -> Result<()> {
        self.output = cut.output.number;
        (self.buffers, self.stored, self.pending) = (None, 0, 0);
        if self.tables.is_none() {
            let tables = Tables::new(&self.context, &self.gpu, &self.streams.compute, job.plan, self.counts.as_deref());
            self.tables = Some(tables?);
        }
        let sizes = self.sizes(job.plan, cut);
        self.buffers = Some(Buffers::new(&self.gpu, &sizes)?);
        self.cut = Some(*cut);
        Ok(())
    }

    fn begin(&mut self, job: Job<'_>, slices: Slices, _: &mut Watch<'_>) -> Result<()> {
        let slice = job.plan.grid.size[0] * job.plan.grid.size[1] * 4;
        self.slices = slices;
        let streams = Arc::clone(&self.streams);
        let buffers = self.buffers.as_mut().ok_or_else(unprepared)?;
        if let Some(free) = buffers.next_slab() {
            free.make_wait(&streams.compute)?;
        }
        let memory = self.buffers.as_ref().ok_or_else(unprepared)?.slab(job)?;
        for (_, slices, at) in self.pieces(job, slice) {
            self.gpu.clear(&streams.compute, memory.region(at, slices * slice)?)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        job: Job<'_>,
        batch: Batch<'_>,
        pixels: Pixels<'_, '_, Staging>,
        _: &mut Watch<'_>,
    ) -> Result<()> {
        let plan = job.plan;
        if batch.rows == 0 || batch.views.is_empty() {
            return Ok(());
        }
        let cut = self.cut.ok_or_else(unprepared)?;
        let count = batch.views.len();
        let layout = self.shape.layout(plan.columns, batch.first_row, batch.rows);
        if self.pending + count > cut.launch || layout != self.layout {
            self.flush(job)?;
        }
        self.layout = layout;
        let bands = match &pixels {
            // The caller's device memory holds whole views, which are filtered from there.
            Pixels::Device { .. } if batch.rows == plan.geometry.detector.rows => [0..batch.rows, 0..0],
            _ => cut.bands_of(plan, self.slices, batch.views[0]),
        };
        let place = self.fetch(plan, batch, &bands, pixels)?;
        let (gpu, streams) = (self.gpu.clone(), Arc::clone(&self.streams));
        let index = tables::numbers(batch.views)?;
        let converts = self.converts(plan, cut.input.number);
        let (tables, buffers) =
            (self.tables.as_ref().ok_or_else(unprepared)?, self.buffers.as_mut().ok_or_else(unprepared)?);
        gpu.upload(&streams.compute, &index, &mut buffers.index, self.stored * 4)?;
        let (memory, base, slot) = match &place {
            DevicePixels::Slot(at) => (&buffers.slots[*at].memory, 0, Some(*at)),
            DevicePixels::Caller(memory, offset) => (*memory, *offset, None),
        };
        let rows = FilterRows { plan, tables, counts: self.counts.as_deref(), layout, stored: self.stored, buffers };
        self.clock.span(Stage::Filter, &streams.compute, || {
            let mut done = 0;
            for band in bands.iter().filter(|b| !b.is_empty()) {
                let pixels = count * band.len() * plan.geometry.detector.columns;
                let size = cut.input.number.size();
                let source = memory.region(base + done * size, pixels * size)?;
                // In place if the input elements have 4 bytes and the memory is not the caller's.
                let integrals = match &buffers.integrals {
                    Some(memory) if converts => memory.region(done * 4, pixels * 4)?,
                    _ => source,
                };
                let output = converts.then_some(integrals);
                rows.convert(cut.input.number, source, band, count, output)?.run(&gpu, &streams.compute)?;
                rows.filter(&gpu, &streams.compute, band, count, integrals)?;
                done += pixels;
            }
            Ok(())
        })?;
        let buffers = self.buffers.as_mut().ok_or_else(unprepared)?;
        if let Some(at) = slot {
            buffers.slots[at].free = Some(streams.compute.record()?);
        }
        self.stored += count;
        self.pending += count;
        if self.pending >= cut.launch { self.flush(job) } else { Ok(()) }
    }

    fn add_again(&mut self, job: Job<'_>, views: Range<usize>) -> Result<()> {
        if views.end > self.stored {
            // If no slice needs any panel row, nothing was stored.
            return if self.stored == 0 { Ok(()) } else { Err(Error::Internal("views that were not kept".into())) };
        }
        self.project(job, views)
    }

    fn set_output(&mut self, number: Number) {
        self.output = number;
    }

    fn store(&mut self, job: Job<'_>, first: usize, count: usize, to: Target<'_, '_, Staging>) -> Result<()> {
        self.flush(job)?;
        self.bring_out(job, first, count, to)
    }

    fn store_now(&mut self, job: Job<'_>, first: usize, count: usize, out: &mut [u8]) -> Result<()> {
        let (gpu, streams) = (self.gpu.clone(), Arc::clone(&self.streams));
        gpu.overlapped(&[&streams.upload, &streams.download], |transfers| {
            self.store(job, first, count, Target::Borrowed(out, Some(transfers)))
        })
    }

    fn finish(&mut self) -> Result<Tally> {
        for stream in [&self.streams.upload, &self.streams.compute, &self.streams.download] {
            stream.synchronize()?;
        }
        self.in_flight.clear();
        let mut tally = std::mem::take(&mut self.tally);
        self.clock.read(&mut tally)?;
        if let Some(buffers) = &mut self.buffers {
            let mut counted = [0i64; kernels::COUNTERS];
            self.gpu.download_numbers(&self.streams.compute, &buffers.counters, &mut counted)?;
            tally.not_finite += counted[0].unsigned_abs();
            tally.defects += PixelDefects::from_counters(&counted);
            tally.overflown += counted[kernels::OVERFLOWN].unsigned_abs();
            let bytes = buffers.counters.bytes();
            self.gpu.fill(&self.streams.compute, &mut buffers.counters, 0, bytes, 0)?;
        }
        Ok(tally)
    }

    fn follow(&mut self, queue: &GpuStream) -> Result<()> {
        let s = &self.streams;
        [&s.upload, &s.compute, &s.download].into_iter().try_for_each(|stream| stream.wait_for(queue))
    }

    fn precede(&mut self, queue: &GpuStream) -> Result<()> {
        let s = &self.streams;
        [&s.upload, &s.compute, &s.download].into_iter().try_for_each(|stream| queue.wait_for(stream))
    }
}

/// Runs a part of a reconstruction in the order of `queue`. The copies may borrow its arrays.
pub(in crate::fdk) fn run_overlapped(
    ops: &mut GpuOps,
    queue: Option<&GpuStream>,
    part: Part<'_, '_>,
    step: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<(Times, Tally)> {
    if let Some(queue) = queue {
        ops.follow(queue)?;
    }
    let (gpu, streams) = (ops.gpu.clone(), Arc::clone(&ops.streams));
    let outcome = gpu.overlapped(&[&streams.upload, &streams.download], |transfers| {
        let transfers: &dyn ScopedTransfers<'_> = transfers;
        part.run(ops, Some(transfers), step)
    })?;
    if let Some(queue) = queue {
        ops.precede(queue)?;
    }
    Ok(outcome)
}
