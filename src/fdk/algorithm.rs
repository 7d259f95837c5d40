//! The reconstruction of a whole scan, written once for all devices. Slabs of the volume are computed one after the other.
//! For each slab the views arrive in batches, which are filtered and back-projected. A writer stores finished slices
//! meanwhile.
//!
//! Rows are filtered independently of one another, so a slab reads only the panel rows that its voxels project onto.
//! Several slabs together read about 1.3 times the scan. A device with enough memory for the filtered views of the
//! whole scan keeps them ([`FdkOps::can_keep`]), so that the scan is read and filtered once. A volume that fits is cut
//! into slabs too, because storing one slab then overlaps computing the next.

use std::ops::Range;
use std::time::Duration;

use super::arrays::{Input, Output, WriteSlices, write_pieces};
use super::cut::Cut;
use super::ops::{BUFFERS, FdkOps, HostBuffer, Job, Pixels, Slices, Tally, Target, Watch};
use super::plan::{Batch, Plan};
use crate::alloc;
use crate::blocks::pipeline::read_ahead;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;

/// One of several devices that share the slabs: slab `k` belongs to device `k % devices`.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Number of this device, below `devices`.
    pub device: usize,
    /// Number of devices that share the slabs.
    pub devices: usize,
}

impl Share {
    /// Indices of the slabs of this device.
    pub fn slabs(self, cut: &Cut) -> impl Iterator<Item = usize> {
        (self.device..cut.slabs).step_by(self.devices.max(1))
    }
}

/// Time in which the reader and the writer were busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// In the thread that reads views.
    pub read: Duration,
    /// In the thread that writes slices.
    pub write: Duration,
}

/// One batch of one slab.
struct Item {
    slices: Slices,
    views: Range<usize>,
    /// Panel rows that are needed, and the ranges of them that are read.
    rows: Range<usize>,
    bands: [Range<usize>; 2],
    /// Whether the views are read and filtered, instead of kept from the first slab.
    fresh: bool,
    last: bool,
}

/// Views that stay on the device are added in larger batches: they need no extra memory, and the slab is read and
/// written less often.
const RESIDENT_BATCHES: usize = 8;

fn items<O: FdkOps>(ops: &O, plan: &Plan, cut: &Cut, share: Share) -> Result<Vec<Item>> {
    let views = plan.views.len();
    let slabs = cut.slabs.div_ceil(share.devices);
    let mut items =
        alloc::with_capacity("batches of a scan", slabs * (views.div_ceil(cut.batch) + views.div_ceil(cut.launch)))?;
    for (n, k) in share.slabs(cut).enumerate() {
        let slices = cut.slab(ops, plan, k);
        let fresh = n == 0 || !cut.keep;
        // Views of one back-projection launch use the same rows.
        let (group, step) = match fresh {
            true => (cut.launch, cut.batch),
            false => (cut.launch * RESIDENT_BATCHES, cut.launch * RESIDENT_BATCHES),
        };
        for group in (0..views).step_by(group).map(|start| start..(start + group).min(views)) {
            let (rows, bands) = match fresh {
                true => (cut.rows_of(plan, slices, group.start), cut.bands_of(plan, slices, group.start)),
                false => (0..0, [0..0, 0..0]),
            };
            for start in group.clone().step_by(step) {
                let batch = start..(start + step).min(group.end);
                let last = batch.end == views;
                items.push(Item { slices, views: batch, rows: rows.clone(), bands: bands.clone(), fresh, last });
            }
        }
    }
    Ok(items)
}

/// Number of view additions over all slabs, summed over all devices: the steps of the progress report.
pub fn steps(plan: &Plan, cut: &Cut) -> usize {
    cut.slabs * plan.views.len()
}

/// Reconstructs the slabs of one device. `step` is called after each batch with its number of views, and with 0 now and then
/// while a long batch is computed; its error ends the run.
///
/// # Errors
/// [`Error::Cancelled`], and the errors of the operations, the source and the sink.
#[expect(clippy::too_many_arguments, reason = "the parts of a run")]
pub fn reconstruct<'s, O: FdkOps>(
    ops: &mut O,
    job: Job<'_>,
    cut: &Cut,
    share: Share,
    input: Input<'s, '_>,
    output: Output<'s, '_>,
    flag: &CancelFlag,
    step: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<(Times, Tally)> {
    let items = items(ops, job.plan, cut, share)?;
    ops.prepare(job, cut)?;
    let run = Run { job, cut, items: &items, input, flag };
    let times = match output {
        Output::Write(sink) => run.written(ops, sink, step)?,
        Output::Borrowed(mut pieces, transfers) => {
            let read = run.fed(ops, step, |ops, item| {
                for (first, count) in item.slices.pieces() {
                    let Some(at) = pieces.iter().position(|p| p.0 == first) else {
                        return Err(Error::Internal("slices without a place in the volume".into()));
                    };
                    let (_, piece) = pieces.swap_remove(at);
                    ops.store(job, first, count, Target::Borrowed(piece, transfers))?;
                }
                Ok(())
            })?;
            Times { read, write: Duration::ZERO }
        }
        Output::Device(volume) => {
            let read = run.fed(ops, step, |ops, item| {
                item.slices.pieces().try_for_each(|(first, count)| ops.store(job, first, count, Target::Device(volume)))
            })?;
            Times { read, write: Duration::ZERO }
        }
    };
    Ok((times, ops.finish()?))
}

struct Run<'s, 'a> {
    job: Job<'a>,
    cut: &'a Cut,
    items: &'a [Item],
    input: Input<'s, 'a>,
    flag: &'a CancelFlag,
}

impl<'s> Run<'s, '_> {
    /// Runs all batches and writes the finished slices on a thread of its own.
    fn written<O: FdkOps>(
        &self,
        ops: &mut O,
        sink: &dyn WriteSlices,
        step: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Times> {
        let (read, write) = write_pieces(ops, self.job.plan, self.cut, sink, |ops, writer| {
            self.fed(ops, step, |ops, item| {
                item.slices.pieces().try_for_each(|piece| writer.store(ops, self.job, piece, self.flag))
            })
        })?;
        Ok(Times { read, write })
    }

    /// Computes the batches in order and calls `emit` for each finished slab. Returns the time spent on reading.
    fn fed<O: FdkOps>(
        &self,
        ops: &mut O,
        step: &mut dyn FnMut(usize) -> Result<()>,
        mut emit: impl FnMut(&mut O, &Item) -> Result<()>,
    ) -> Result<Duration> {
        let cut = self.cut;
        let columns = self.job.plan.geometry.detector.columns;
        let size = cut.input.number.size();
        // Items with new views come first. Without kept views, all items have new ones.
        let fresh = self.items.iter().filter(|i| i.fresh).count();
        let mut buffers = alloc::with_capacity("buffers of a pipeline", BUFFERS)?;
        if matches!(self.input, Input::Read(_)) {
            for _ in 0..BUFFERS {
                buffers.push(ops.buffer("projections as read", cut.batch * cut.rows * columns * size)?);
            }
        }
        let mut numbers = alloc::with_capacity("views of a batch", cut.batch)?;
        let mut work = |n: usize, pixels: Option<Pixels<'s, '_, O::Buffer>>| {
            self.flag.check()?;
            let item = &self.items[n];
            if item.views.start == 0 {
                ops.begin(self.job, item.slices, &mut Watch { flag: self.flag, wait: &mut || step(0) })?;
            }
            match pixels {
                None => ops.add_again(self.job, item.views.clone())?,
                Some(pixels) => {
                    numbers.clear();
                    numbers.extend(item.views.clone());
                    let batch = Batch { views: &numbers, first_row: item.rows.start, rows: item.rows.len() };
                    ops.add(self.job, batch, pixels, &mut Watch { flag: self.flag, wait: &mut || step(0) })?;
                }
            }
            if item.last {
                emit(ops, item)?;
            }
            step(item.views.len())
        };
        let mut read = Duration::ZERO;
        match self.input {
            Input::Borrowed(scan) => (0..fresh).try_for_each(|n| work(n, Some(Pixels::Borrowed(scan))))?,
            Input::Device(scan) => {
                (0..fresh).try_for_each(|n| work(n, Some(Pixels::Device { scan, first: self.items[n].views.start })))?
            }
            Input::Read(source) => {
                let whole = source.whole();
                let times = read_ahead(
                    fresh,
                    buffers,
                    |n, buffer: &mut O::Buffer| {
                        self.flag.check()?;
                        let item = &self.items[n];
                        let views = whole.along(2, item.views.start, item.views.len());
                        let mut contents = buffer.contents()?;
                        for rows in &item.bands {
                            let block = views.along(1, rows.start, rows.len());
                            let (part, rest) = contents.split_at_mut(block.elements() * size);
                            if !part.is_empty() {
                                source.read(&block, part)?;
                            }
                            contents = rest;
                        }
                        Ok(())
                    },
                    |n, buffer| work(n, Some(Pixels::Read(buffer))),
                )?;
                read = times.read;
            }
        }
        (fresh..self.items.len()).try_for_each(|n| work(n, None))?;
        Ok(read)
    }
}
