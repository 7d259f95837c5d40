//! The reconstruction of a whole scan, written once for every device: slabs of the volume one after the other, and for
//! each the views in batches, read ahead, filtered, back-projected; finished slices written behind.
//!
//! Rows are filtered independently of one another, so a slab takes only the panel rows that it is seen through, filtered
//! as they arrive: nothing filtered is kept, and with several slabs about 1.3 times the scan is read in all.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::counts::Counts;
use super::plan::Plan;
use crate::alloc;
use crate::backend::cpu::Pool;
use crate::blocks::array::Block;
use crate::blocks::number::{Number, decode, encode};
use crate::blocks::pipeline::{Writer, read_ahead, write_behind};
use crate::blocks::sink::Sink;
use crate::blocks::source::Source;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::shape::{to_i64, to_u64};

/// Slices come in groups of this many: the widest vector, so that cutting the volume changes no bit.
pub const SLICE_GROUP: usize = 16;

/// Buffers that views are read into, and that slices are written from.
const BUFFERS: usize = 2;

/// Views of a batch, with the panel rows that the slab needs.
#[derive(Debug, Clone, Copy)]
pub struct Views<'a> {
    /// The views.
    pub views: &'a [usize],
    /// First panel row.
    pub first_row: usize,
    /// Panel rows.
    pub rows: usize,
    /// Line integrals: for each view its rows, columns fastest.
    pub pixels: &'a [f32],
}

/// What a reconstruction needs of a device.
pub trait FdkOps {
    /// Bytes of the device that a slab of `slices` takes, and those that a batch of `views` of `rows` rows takes.
    fn bytes(&self, plan: &Plan, slices: usize, views: usize, rows: usize) -> u64;

    /// Starts a slab: `count` slices from `first` on, all zero.
    fn begin(&mut self, plan: &Plan, first: usize, count: usize) -> Result<()>;

    /// Filters views and adds their back-projection to the slab. Returns how many pixels were not finite and were
    /// replaced.
    fn add(&mut self, plan: &Plan, views: Views<'_>) -> Result<u64>;

    /// Copies slices `first` to `first + count - 1` of the slab out, x fastest: `scale` times the sum plus `offset`.
    fn store(
        &mut self,
        plan: &Plan,
        first: usize,
        count: usize,
        scale: f32,
        offset: f32,
        out: &mut [f32],
    ) -> Result<()>;
}

/// How a scan is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Slices of a slab.
    pub slices: usize,
    /// Number of slabs.
    pub slabs: usize,
    /// Views of a batch.
    pub batch: usize,
    /// Bytes of memory that the run takes at most, as planned.
    pub bytes: u64,
}

/// What a reconstruction did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Report {
    /// Seconds at work: reading.
    pub read: f64,
    /// Converting, filtering and back-projecting.
    pub work: f64,
    /// Writing.
    pub write: f64,
    /// Of the whole call.
    pub total: f64,
    /// Views that were read, counted once for each slab.
    pub views: u64,
    /// Pixels that were read.
    pub pixels: u64,
    /// Pixels that were not finite and were replaced.
    pub sanitized: u64,
    /// Counts that were raised to the least.
    pub clamped: u64,
}

/// Where the volume goes and how it is scaled on the way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Output {
    /// Factor.
    pub scale: f64,
    /// Added after it.
    pub offset: f64,
    /// Slices of a slab; 0 chooses.
    pub slices: usize,
    /// Views of a batch; 0 chooses.
    pub batch: usize,
}

/// The largest slab and the batch that fit in `available` bytes.
///
/// # Errors
/// [`Error::OutOfMemory`] if not even the smallest slab fits; the bytes it needs are named.
pub fn cut(ops: &impl FdkOps, plan: &Plan, number: Number, output: &Output, available: u64) -> Result<Cut> {
    let [nx, ny, nz] = plan.grid.size;
    let views = plan.views.len();
    let batch = if output.batch == 0 { 16 } else { output.batch }.min(views);
    let groups = nz.div_ceil(SLICE_GROUP);
    let bytes = |slices: usize| {
        let rows = slab_rows(plan, slices);
        let pixels = to_u64(batch) * to_u64(rows) * to_u64(plan.geometry.detector.columns);
        let slice = to_u64(nx * ny * SLICE_GROUP.min(nz));
        let write = to_u64(BUFFERS) * slice * (4 + to_u64(Number::F64.size()));
        ops.bytes(plan, slices, batch, rows) + pixels * (to_u64(BUFFERS * number.size()) + 4) + write
    };
    let wanted = if output.slices == 0 { nz } else { output.slices.next_multiple_of(SLICE_GROUP).min(nz) };
    let mut slices = wanted;
    while bytes(slices) > available && slices > SLICE_GROUP {
        // Slabs of about equal size.
        let slabs = groups.div_ceil(slices.div_ceil(SLICE_GROUP)) + 1;
        slices = (groups.div_ceil(slabs) * SLICE_GROUP).min(slices - 1).max(SLICE_GROUP);
    }
    let needed = bytes(slices);
    if needed > available {
        return Err(Error::OutOfMemory { what: "slab of the volume", bytes: needed, limit: Some(available) });
    }
    Ok(Cut { slices, slabs: nz.div_ceil(slices), batch, bytes: needed })
}

/// Most panel rows that a slab of `slices` needs in any view.
fn slab_rows(plan: &Plan, slices: usize) -> usize {
    let nz = plan.grid.size[2];
    let firsts = (0..nz).step_by(slices.max(1));
    // The views of an orbit are alike; an irregular one is looked at in full.
    firsts.map(|first| rows_of(plan, 0..plan.views.len(), first, slices.min(nz - first)).len()).max().unwrap_or(0)
}

/// Panel rows that some views need for the slices from `first` on.
fn rows_of(plan: &Plan, views: Range<usize>, first: usize, count: usize) -> Range<usize> {
    views
        .map(|v| plan.row_window(v, first, count))
        .filter(|w| !w.is_empty())
        .reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
        .unwrap_or(0..0)
}

/// One batch of one slab.
#[derive(Debug, Clone)]
struct Item {
    first: usize,
    count: usize,
    views: Range<usize>,
    rows: Range<usize>,
    last: bool,
}

fn items(plan: &Plan, cut: &Cut) -> Result<Vec<Item>> {
    let (nz, views) = (plan.grid.size[2], plan.views.len());
    let mut items = alloc::with_capacity("batches of a scan", cut.slabs * views.div_ceil(cut.batch))?;
    for first in (0..nz).step_by(cut.slices) {
        let count = cut.slices.min(nz - first);
        for start in (0..views).step_by(cut.batch) {
            let batch = start..(start + cut.batch).min(views);
            let last = batch.end == views;
            let rows = rows_of(plan, batch.clone(), first, count);
            items.push(Item { first, count, views: batch, rows, last });
        }
    }
    Ok(items)
}

/// Buffers of the writer: slices as computed, and in the sink's type.
struct Slices {
    values: Vec<f32>,
    bytes: Vec<u8>,
}

/// Reconstructs the scan that `source` holds, [columns, rows, views], into `sink`, [nx, ny, nz].
///
/// # Errors
/// [`Error::InvalidArgument`] for arrays of other sizes, [`Error::OutOfMemory`], [`Error::Cancelled`], and what source
/// and sink report. Nothing is left under the final name of a file then.
#[allow(clippy::too_many_arguments, reason = "the parts of a run")]
pub fn reconstruct(
    context: &Context,
    ops: &mut impl FdkOps,
    plan: &Plan,
    counts: Option<&Counts>,
    output: &Output,
    cut: &Cut,
    source: &mut dyn Source,
    sink: &mut dyn Sink,
    progress: &Progress<'_>,
) -> Result<Report> {
    let start = Instant::now();
    let d = &plan.geometry.detector;
    source.info().expect_dims("projections", &[d.columns, d.rows, plan.views.len()])?;
    sink.info().expect_dims("volume", &plan.grid.size)?;
    let number = source.info().number;
    let items = items(plan, cut)?;
    let most = items.iter().map(|i| i.views.len() * i.rows.len() * d.columns).max().unwrap_or(0);
    let mut read_buffers = alloc::with_capacity("buffers of a pipeline", BUFFERS)?;
    for _ in 0..BUFFERS {
        read_buffers.push(alloc::filled("projections as read", most * number.size(), 0u8)?);
    }
    let mut pixels = alloc::filled("line integrals", most, 0f32)?;
    let slice = plan.grid.size[0] * plan.grid.size[1];
    let group = SLICE_GROUP.min(plan.grid.size[2]);
    let sink_number = sink.info().number;
    let mut write_buffers = alloc::with_capacity("buffers of a pipeline", BUFFERS)?;
    for _ in 0..BUFFERS {
        write_buffers.push(Slices {
            values: alloc::filled("slices to write", group * slice, 0f32)?,
            bytes: alloc::filled("slices to write", group * slice * sink_number.size(), 0u8)?,
        });
    }
    let whole_source = Block::whole(source.info());
    let whole_sink = Block::whole(sink.info());
    let mut report = Report::default();
    let flag = progress.flag();
    let steps = to_i64(items.len());
    let (times, written) = write_behind(
        write_buffers,
        |first, slices: &mut Slices| {
            let count = group.min(plan.grid.size[2] - first);
            let bytes = &mut slices.bytes[..count * slice * sink_number.size()];
            encode(sink_number, &slices.values[..count * slice], bytes);
            sink.write(&whole_sink.along(2, first, count), bytes)
        },
        |writer| {
            read_ahead(
                items.len(),
                read_buffers,
                |n, buffer| {
                    flag.check()?;
                    let item = &items[n];
                    let block = whole_source.along(1, item.rows.start, item.rows.len()).along(
                        2,
                        item.views.start,
                        item.views.len(),
                    );
                    source.read(&block, &mut buffer[..block.elements() * number.size()])
                },
                |n, buffer| {
                    let item = &items[n];
                    if item.views.start == 0 {
                        ops.begin(plan, item.first, item.count)?;
                    }
                    let count = item.views.len() * item.rows.len() * d.columns;
                    let part = &mut pixels[..count];
                    report.clamped += convert(context.pool(), plan, item, number, counts, buffer, part);
                    let views: Vec<usize> = item.views.clone().collect();
                    let batch =
                        Views { views: &views, first_row: item.rows.start, rows: item.rows.len(), pixels: part };
                    report.sanitized += ops.add(plan, batch)?;
                    report.views += to_u64(views.len());
                    report.pixels += to_u64(count);
                    if item.last {
                        write_slab(ops, plan, item, output, writer, slice)?;
                    }
                    progress.report(to_i64(n + 1), steps, 0.0)
                },
            )
        },
    )?;
    sink.finish()?;
    report.read = times.read.as_secs_f64();
    report.work = times.work.as_secs_f64();
    report.write = Duration::as_secs_f64(&written);
    report.total = start.elapsed().as_secs_f64();
    Ok(report)
}

/// Turns what was read into line integrals.
fn convert(
    pool: &Pool,
    plan: &Plan,
    item: &Item,
    number: Number,
    counts: Option<&Counts>,
    bytes: &[u8],
    pixels: &mut [f32],
) -> u64 {
    use rayon::prelude::*;
    let columns = plan.geometry.detector.columns;
    let rows = item.rows.len().max(1);
    pool.run(|| {
        pixels
            .par_chunks_mut(columns)
            .zip(bytes.par_chunks(columns * number.size()))
            .enumerate()
            .map(|(r, (row, bytes))| {
                decode(number, bytes, row);
                let first = (item.rows.start + r % rows) * columns;
                counts.map_or(0, |c| c.apply(first, row))
            })
            .sum()
    })
}

/// Hands a finished slab to the writer, group by group.
fn write_slab(
    ops: &mut impl FdkOps,
    plan: &Plan,
    item: &Item,
    output: &Output,
    writer: &Writer<Slices>,
    slice: usize,
) -> Result<()> {
    for first in (0..item.count).step_by(SLICE_GROUP) {
        let count = SLICE_GROUP.min(item.count - first);
        let mut slices = writer.buffer()?;
        let out = &mut slices.values[..count * slice];
        ops.store(plan, first, count, output.scale as f32, output.offset as f32, out)?;
        writer.submit(item.first + first, slices)?;
    }
    Ok(())
}
