//! FDK on a GPU: copies in, work and copies out run beside one another on three streams.
//!
//! Raw rows come into a few slots, are converted, weighted and filtered into images, and these are added to a slab a few
//! dozen views at a time. Where there is room for the images of all views they are kept for the later slabs, so that the
//! scan travels and is filtered once. One slab is on its way out while the next is made.

mod buffers;
mod clock;
mod intake;
pub(super) mod pieces;
mod rows;
mod tables;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::algorithm::{BUFFERS, Cut, FdkOps, Flow, HostBuffer, Job, Needs, Pixels, Slices, Tally, Target, Times, Way};
use super::counts::Counts;
use super::options::Edge;
use super::plan::{Batch, Plan};
use super::run::Part;
use crate::alloc;
use crate::backend::gpu::kernels::fdk as kernels;
use crate::backend::gpu::{Event, Gpu, GpuStream, Lender, Region, Staging};
use crate::blocks::number::Number;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::to_u64;
use buffers::{Buffers, Sizes};
use clock::{Clock, Stage};
use intake::Place;
use kernels::{Backprojection, Fov, Layout, Raw, Shape, Slab, Store};
use rows::FilterRows;
pub(super) use tables::Tables;

/// Launches of the back-projection that may be waiting: few enough to stop soon, enough to keep the device busy.
const IN_FLIGHT: usize = 4;

/// Views that are back-projected together: the slab is read and written once for them.
const LAUNCH: usize = 64;

/// Bytes of views that are copied together, and of slices.
const PIECE_BYTES: usize = 32 << 20;

/// Volumes below this are made in one slab: there is nothing to gain by overlap.
const SMALL_VOLUME: usize = 64 << 20;

/// Streams of copies in, work, and copies out; the order is that of the lanes of `run_lent`.
pub struct Streams {
    upload: GpuStream,
    compute: GpuStream,
    download: GpuStream,
}

/// Lanes of lent memory.
const UPLOAD: usize = 0;
const DOWNLOAD: usize = 1;

impl HostBuffer for Staging {
    fn contents(&mut self) -> Result<&mut [u8]> {
        Staging::contents(self)
    }
}

/// FDK on a GPU.
pub struct GpuOps {
    context: Arc<Context>,
    gpu: Gpu,
    streams: Arc<Streams>,
    shape: Shape,
    counts: Option<Arc<Counts>>,
    tables: Option<Tables>,
    buffers: Option<Buffers>,
    cut: Option<Cut>,
    output: Number,
    slices: Slices,
    /// Views whose images are stored, and how many of the last are not in the slab yet.
    stored: usize,
    pending: usize,
    layout: Layout,
    in_flight: VecDeque<Event>,
    clock: Clock,
    tally: Tally,
}

fn unprepared() -> Error {
    Error::Internal("a slab on a device that was not prepared".into())
}

/// A number as the kernels know it.
pub(super) fn raw(number: Number) -> Raw {
    match number {
        Number::U8 => Raw::U8,
        Number::I8 => Raw::I8,
        Number::U16 => Raw::U16,
        Number::I16 => Raw::I16,
        Number::U32 => Raw::U32,
        Number::I32 => Raw::I32,
        Number::F16 => Raw::F16,
        Number::F32 => Raw::F32,
        Number::F64 => Raw::F64,
    }
}

/// The kernels that a scan takes.
pub(super) fn shape_of(plan: &Plan) -> Shape {
    let panel = (plan.columns, plan.geometry.detector.rows);
    Shape::new(plan.views.iter().map(|v| &v.matrix), plan.grid.size, panel, plan.options.edge == Edge::Skip)
}

impl GpuOps {
    /// The operations for a plan; memory is taken by [`FdkOps::prepare`].
    pub fn new(context: &Arc<Context>, gpu: &Gpu, plan: &Plan, counts: Option<Arc<Counts>>) -> Result<Self> {
        let streams = Streams {
            upload: gpu.create_independent_stream()?,
            compute: gpu.create_independent_stream()?,
            download: gpu.create_independent_stream()?,
        };
        Ok(Self {
            context: Arc::clone(context),
            gpu: gpu.clone(),
            streams: Arc::new(streams),
            shape: shape_of(plan),
            counts,
            tables: None,
            buffers: None,
            cut: None,
            output: Number::F32,
            slices: Slices::default(),
            stored: 0,
            pending: 0,
            layout: Layout::packed(0, 0, 0),
            in_flight: VecDeque::new(),
            clock: Clock::default(),
            tally: Tally::default(),
        })
    }

    /// Tiles on one side of the plane of symmetry, their depth, and the plane: with it a slab has its mirror image.
    fn mirrored(&self, plan: &Plan) -> Option<(usize, usize, usize)> {
        let mirror = self.shape.mirror?;
        let (depth, plane) = (self.shape.slice_group(), mirror.slices.div_ceil(2));
        let above = plan.grid.size[2].saturating_sub(plane);
        let below = (mirror.slices + 1).saturating_sub(plane);
        Some((above.max(below).div_ceil(depth).max(1), depth, plane))
    }

    fn converts(&self, plan: &Plan, number: Number) -> bool {
        self.counts.is_some() || plan.options.sanitize || number != Number::F32
    }

    /// The pieces of the slab in the making: first slice, number of slices, and byte at which they lie in its memory. In
    /// the volume's own memory they lie where they belong.
    fn pieces(&self, job: Job<'_>, slice: usize) -> Vec<(usize, usize, usize)> {
        let mut at = 0;
        let place = |(first, slices)| {
            let begin = if job.volume.is_some() { first * slice } else { at };
            at += slices * slice;
            (first, slices, begin)
        };
        self.slices.pieces().map(place).collect()
    }

    /// Waits until few enough launches are on their way.
    fn throttle(&mut self) -> Result<()> {
        while self.in_flight.len() >= IN_FLIGHT {
            if let Some(event) = self.in_flight.pop_front() {
                event.synchronize()?;
            }
        }
        Ok(())
    }

    /// Adds the images that are stored and not added yet.
    fn flush(&mut self, job: Job<'_>) -> Result<()> {
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

    /// Adds stored images to the slab.
    fn project(&mut self, job: Job<'_>, images: Range<usize>) -> Result<()> {
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

    /// Enqueues a piece's way through the last kernel; returns where it then lies.
    fn converted(&mut self, job: Job<'_>, at: usize, first: usize, count: usize) -> Result<bool> {
        let plan = job.plan;
        let [nx, ny, _] = plan.grid.size;
        let (scale, offset) = (plan.options.output_scale, plan.options.output_offset);
        let plain = scale == 1.0 && offset == 0.0 && !plan.options.fov_mask;
        if plain && self.output == Number::F32 {
            return Ok(false);
        }
        let (gpu, output) = (self.gpu.clone(), self.output);
        let buffers = self.buffers.as_mut().ok_or_else(unprepared)?;
        let bytes = count * nx * ny;
        if output != Number::F32 {
            buffers.make_converted(&gpu, bytes * output.size())?;
        }
        let source = buffers.slab(job)?.region(at, bytes * 4)?;
        let target = match &buffers.converted {
            Some(memory) if output != Number::F32 => memory.region(0, bytes * output.size())?,
            _ => source,
        };
        let launches = stores(plan, output, first, count, source, target)?;
        let stream = &self.streams.download;
        self.clock.span(Stage::Download, stream, || launches.iter().try_for_each(|s| s.run(&gpu, stream)))?;
        Ok(output != Number::F32)
    }
}

/// The disc outside of which the voxels of slice `k` are zeroed, if that is asked for.
fn fov(plan: &Plan, k: usize) -> Option<Fov> {
    let (origin, spacing) = (plan.grid.origin, plan.grid.spacing);
    plan.options.fov_mask.then(|| {
        let radius = plan.seen_radius(k);
        let centre = [-origin[0] / spacing[0], -origin[1] / spacing[1]];
        // Where nothing is seen, a point that is no voxel's.
        let centre = if radius < 0.0 { [-1e9; 2] } else { centre };
        Fov { centre, radius: radius.max(0.0) / spacing[0], ratio: spacing[1] / spacing[0] }
    })
}

/// The last kernel's launches for slices from `first` on: one for all, or one each where every slice has a disc of its own.
fn stores<'a>(
    plan: &Plan,
    number: Number,
    first: usize,
    count: usize,
    source: Region<'a>,
    output: Region<'a>,
) -> Result<Vec<Store<'a>>> {
    let [nx, ny, _] = plan.grid.size;
    let (slice, size) = (nx * ny, number.size());
    let together = if plan.options.fov_mask { 1 } else { count.max(1) };
    let mut launches = alloc::with_capacity("launches", count.div_ceil(together))?;
    for k in (0..count).step_by(together) {
        launches.push(Store {
            source: source.part(k * slice * 4, together * slice * 4)?,
            size: [nx, ny, together],
            scale: plan.options.output_scale,
            offset: plan.options.output_offset,
            fov: fov(plan, first + k),
            output: output.part(k * slice * size, together * slice * size)?,
            number: raw(number),
            swap: false,
        });
    }
    Ok(launches)
}

impl FdkOps for GpuOps {
    type Buffer = Staging;

    fn slice_group(&self) -> usize {
        let sides = if self.shape.mirror.is_some() { 2 } else { 1 };
        sides * self.shape.slice_group()
    }

    fn preferred_slices(&self, plan: &Plan, input: Flow, output: Flow, devices: usize) -> (usize, usize) {
        let [nx, ny, nz] = plan.grid.size;
        let slice = nx * ny * 4;
        if output.way == Way::Resident || slice * nz <= SMALL_VOLUME * devices {
            let each = nz.div_ceil(devices.max(1));
            return (each, each);
        }
        // The last slab's way out is not hidden behind work, so slabs are small; but the first hides the scan's way in.
        let slices = nz.div_ceil(8 * devices.max(1)).max(PIECE_BYTES.div_ceil(slice));
        let first = match input.way {
            _ if devices > 1 => slices,
            Way::Buffered => nz.div_ceil(2),
            Way::Lent | Way::Resident => nz.div_ceil(4),
        };
        (first.max(slices), slices)
    }

    fn preferred_batch(&self, plan: &Plan, input: Flow) -> (usize, usize) {
        let view = plan.panel_pixels() * input.number.size();
        (LAUNCH, (PIECE_BYTES / view.max(1)).clamp(1, LAUNCH / 2))
    }

    fn can_keep(&self) -> bool {
        true
    }

    fn write_slices(&self, plan: &Plan) -> usize {
        let [nx, ny, nz] = plan.grid.size;
        (PIECE_BYTES / (nx * ny * 4).max(1)).clamp(1, nz)
    }

    fn slabs(&self, plan: &Plan, cut: &Cut) -> usize {
        let nz = plan.grid.size[2];
        match self.mirrored(plan) {
            Some(_) if cut.first >= nz => 1,
            Some((tiles, depth, _)) => {
                let (first, each) = (cut.first.div_ceil(2 * depth), cut.slices.div_ceil(2 * depth));
                1 + tiles.saturating_sub(first).div_ceil(each.max(1))
            }
            None => 1 + nz.saturating_sub(cut.first).div_ceil(cut.slices.max(1)),
        }
    }

    fn slab(&self, plan: &Plan, cut: &Cut, k: usize) -> Slices {
        let nz = plan.grid.size[2];
        if k == 0 && cut.first >= nz {
            return Slices::row(0, nz);
        }
        let (Some((tiles, depth, plane)), Some(mirror)) = (self.mirrored(plan), self.shape.mirror) else {
            let first = if k == 0 { 0 } else { (cut.first + (k - 1) * cut.slices).min(nz) };
            return Slices::row(first, if k == 0 { cut.first } else { cut.slices }.min(nz - first));
        };
        let (thick, each) = (cut.first.div_ceil(2 * depth), cut.slices.div_ceil(2 * depth));
        let a = if k == 0 { 0 } else { thick + (k - 1) * each };
        let b = (if k == 0 { thick } else { a + each }).min(tiles);
        // Above the plane the tiles themselves, below it what mirrors them.
        let above = (plane + a * depth).min(nz)..(plane + b * depth).min(nz);
        let image = |end: usize| (mirror.slices + 1).saturating_sub(plane + end * depth).min(plane).min(nz);
        let below = image(b)..image(a);
        Slices { main: (above.start, above.len()), mirror: (below.start, below.len()) }
    }

    fn needs(&self, plan: &Plan, cut: &Cut) -> Needs {
        let sizes = Sizes::new(self, plan, cut);
        let host = super::cpu::pipeline_bytes(plan, cut);
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
        let sizes = Sizes::new(self, job.plan, cut);
        self.buffers = Some(Buffers::new(&self.gpu, &sizes)?);
        self.cut = Some(*cut);
        Ok(())
    }

    fn begin(&mut self, job: Job<'_>, slices: Slices) -> Result<()> {
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

    fn add(&mut self, job: Job<'_>, batch: Batch<'_>, pixels: Pixels<'_, '_, Staging>) -> Result<()> {
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
            // Whole views of the caller's are filtered where they lie.
            Pixels::Device { .. } if batch.rows == plan.geometry.detector.rows => [0..batch.rows, 0..0],
            _ => cut.bands_of(plan, self.slices, batch.views[0]),
        };
        let place = self.fetch(plan, batch, &bands, pixels)?;
        let (gpu, streams) = (self.gpu.clone(), Arc::clone(&self.streams));
        let index = tables::numbers(batch.views)?;
        let (tables, buffers) =
            (self.tables.as_ref().ok_or_else(unprepared)?, self.buffers.as_mut().ok_or_else(unprepared)?);
        gpu.upload(&streams.compute, &index, &mut buffers.index, self.stored * 4)?;
        let (memory, base, slot) = match &place {
            Place::Slot(at) => (&buffers.slots[*at].memory, 0, Some(*at)),
            Place::Caller(memory, offset) => (*memory, *offset, None),
        };
        let rows = FilterRows { plan, tables, counts: self.counts.as_deref(), layout, stored: self.stored, buffers };
        let converts = rows.converts(cut.input.number);
        self.clock.span(Stage::Filter, &streams.compute, || {
            let mut done = 0;
            for band in bands.iter().filter(|b| !b.is_empty()) {
                let pixels = count * band.len() * plan.geometry.detector.columns;
                let size = cut.input.number.size();
                let source = memory.region(base + done * size, pixels * size)?;
                // In place where the numbers are as wide and the memory is not the caller's.
                let integrals = match &buffers.integrals {
                    Some(memory) if converts => memory.region(done * 4, pixels * 4)?,
                    _ => source,
                };
                if converts {
                    rows.convert(cut.input.number, source, band, count, integrals).run(&gpu, &streams.compute)?;
                }
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
            // No panel row is needed for anything: nothing is stored.
            return if self.stored == 0 { Ok(()) } else { Err(Error::Internal("views that were not kept".into())) };
        }
        self.project(job, views)
    }

    fn set_output(&mut self, number: Number) {
        self.output = number;
    }

    fn store(&mut self, job: Job<'_>, first: usize, count: usize, to: Target<'_, '_, Staging>) -> Result<()> {
        self.flush(job)?;
        let plan = job.plan;
        let [nx, ny, _] = plan.grid.size;
        let slice = nx * ny * 4;
        let inside = |p: &(usize, usize, usize)| first >= p.0 && first + count <= p.0 + p.1;
        let Some((start, _, begin)) = self.pieces(job, slice).into_iter().find(inside) else {
            return Err(Error::Internal(format!("slices {first} to {} of another slab", first + count)));
        };
        let at = begin + (first - start) * slice;
        let streams = Arc::clone(&self.streams);
        streams.download.wait_for(&streams.compute)?;
        let gpu = self.gpu.clone();
        let number = self.output;
        let bytes = count * nx * ny * number.size();
        match to {
            Target::Device(volume) => {
                let source = self.buffers.as_ref().ok_or_else(unprepared)?.slab(job)?.region(at, count * slice)?;
                let output = volume.region(first * nx * ny * number.size(), bytes)?;
                let o = &plan.options;
                let plain = o.output_scale == 1.0 && o.output_offset == 0.0 && !o.fov_mask;
                if job.volume.is_none() || !plain {
                    let launches = stores(plan, number, first, count, source, output)?;
                    let stream = &streams.download;
                    self.clock
                        .span(Stage::Download, stream, || launches.iter().try_for_each(|s| s.run(&gpu, stream)))?;
                }
            }
            Target::Write(buffer) => {
                let is_converted = self.converted(job, at, first, count)?;
                let buffers = self.buffers.as_ref().ok_or_else(unprepared)?;
                let (memory, from) = buffers.outgoing(job, is_converted, at)?;
                self.clock.span(Stage::Download, &streams.download, || {
                    buffer.download(&streams.download, memory, from, 0, bytes)
                })?;
                self.tally.downloaded += to_u64(bytes);
            }
            Target::Lent(out, lender) => {
                let lender = lender.ok_or_else(|| Error::Internal("memory that nobody lends".into()))?;
                // As many slices at a time as the converted ones have room for.
                let together = self.write_slices(plan).max(1);
                let mut rest = out;
                let mut done = 0;
                while done < count {
                    let part = if number == Number::F32 { count } else { together.min(count - done) };
                    let (head, tail) = rest.split_at_mut(part * nx * ny * number.size());
                    rest = tail;
                    let is_converted = self.converted(job, at + done * slice, first + done, part)?;
                    let buffers = self.buffers.as_ref().ok_or_else(unprepared)?;
                    let (memory, from) = buffers.outgoing(job, is_converted, at + done * slice)?;
                    self.clock
                        .span(Stage::Download, &streams.download, || lender.download(DOWNLOAD, memory, from, head))?;
                    done += part;
                }
                self.tally.downloaded += to_u64(bytes);
            }
        }
        let free = streams.download.record()?;
        self.buffers.as_mut().ok_or_else(unprepared)?.release_slab(free);
        Ok(())
    }

    fn store_now(&mut self, job: Job<'_>, first: usize, count: usize, out: &mut [u8]) -> Result<()> {
        let (gpu, streams) = (self.gpu.clone(), Arc::clone(&self.streams));
        gpu.overlapped(&[&streams.upload, &streams.download], |transfers| {
            self.store(job, first, count, Target::Lent(out, Some(transfers)))
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
            tally.sanitized += counted[0].unsigned_abs();
            tally.clamped += counted[1].unsigned_abs();
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

/// Runs a part whose arrays may be lent to copies, in the order of `queue`.
pub(super) fn run_lent(
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
        let lender: &dyn Lender<'_> = transfers;
        part.run(ops, Some(lender), step)
    })?;
    if let Some(queue) = queue {
        ops.precede(queue)?;
    }
    Ok(outcome)
}

/// Buffers of a slab in the making and of one on its way out; a slot for each buffer of the reader.
const SLOTS: usize = BUFFERS;
