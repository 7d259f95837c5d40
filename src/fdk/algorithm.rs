//! The reconstruction of a whole scan, written once for every device: slabs of the volume one after the other, and for
//! each the views in batches, filtered as they arrive and back-projected; finished slices written behind.
//!
//! Rows are filtered independently of one another, so a slab takes only the panel rows that it is seen through: with
//! several slabs about 1.3 times the scan travels in all. A device that has room for the filtered views of the whole scan
//! keeps them ([`FdkOps::can_keep`]), and the scan travels and is filtered once. Slabs also serve a volume that would fit:
//! the way out of one overlaps the work on the next.

use std::ops::Range;
use std::time::Duration;

use super::arrays::{Input, Output, WriteSlices, write_pieces};
use super::cut::Cut;
use super::ops::{BUFFERS, FdkOps, HostBuffer, Job, Pixels, Slices, Tally, Target};
use super::plan::{Batch, Plan};
use crate::alloc;
use crate::blocks::pipeline::read_ahead;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;

/// One of several devices that share the slabs: slab `k` belongs to device `k % devices`.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Number of this device.
    pub device: usize,
    /// Number of devices.
    pub devices: usize,
}

impl Share {
    /// Numbers of the slabs of this device.
    pub fn slabs(self, cut: &Cut) -> impl Iterator<Item = usize> {
        (self.device..cut.slabs).step_by(self.devices.max(1))
    }
}

/// Time that the reader and the writer were at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// Reading.
    pub read: Duration,
    /// Writing.
    pub write: Duration,
}

/// One batch of one slab.
struct Item {
    slices: Slices,
    views: Range<usize>,
    /// Panel rows that are needed, and the pieces of them that are read.
    rows: Range<usize>,
    bands: [Range<usize>; 2],
    /// Whether the views come anew, and are not those that were kept.
    fresh: bool,
    last: bool,
}

/// Kept views are added in larger batches: they cost no memory, and the slab is read and written less often.
const KEPT_BATCHES: usize = 8;

fn items<O: FdkOps>(ops: &O, plan: &Plan, cut: &Cut, share: Share) -> Result<Vec<Item>> {
    let views = plan.views.len();
    let slabs = cut.slabs.div_ceil(share.devices);
    let mut items =
        alloc::with_capacity("batches of a scan", slabs * (views.div_ceil(cut.batch) + views.div_ceil(cut.launch)))?;
    for (n, k) in share.slabs(cut).enumerate() {
        let slices = cut.slab(ops, plan, k);
        let fresh = n == 0 || !cut.keep;
        // Views that are back-projected together have their rows in common.
        let (group, step) = match fresh {
            true => (cut.launch, cut.batch),
            false => (cut.launch * KEPT_BATCHES, cut.launch * KEPT_BATCHES),
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

/// Number of views that are added to all slabs: what a run over all devices works on.
pub fn steps(plan: &Plan, cut: &Cut) -> usize {
    cut.slabs * plan.views.len()
}

/// Reconstructs the slabs of one device. `step` is called after each batch with its number of views, and ends the run by
/// an error.
///
/// # Errors
/// [`Error::Cancelled`], and whatever the operations, the source and the sink report.
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
        Output::Lent(mut pieces, lender) => {
            let read = run.fed(ops, step, |ops, item| {
                for (first, count) in item.slices.pieces() {
                    let Some(at) = pieces.iter().position(|p| p.0 == first) else {
                        return Err(Error::Internal("slices without a place in the volume".into()));
                    };
                    let (_, piece) = pieces.swap_remove(at);
                    ops.store(job, first, count, Target::Lent(piece, lender))?;
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
    /// The run with a writer behind it.
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

    /// The batches in their order; `emit` takes a finished slab. Returns the time that reading took.
    fn fed<O: FdkOps>(
        &self,
        ops: &mut O,
        step: &mut dyn FnMut(usize) -> Result<()>,
        mut emit: impl FnMut(&mut O, &Item) -> Result<()>,
    ) -> Result<Duration> {
        let cut = self.cut;
        let columns = self.job.plan.geometry.detector.columns;
        let size = cut.input.number.size();
        // Views that come anew come first, and all of them where none are kept.
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
                ops.begin(self.job, item.slices)?;
            }
            match pixels {
                None => ops.add_again(self.job, item.views.clone())?,
                Some(pixels) => {
                    numbers.clear();
                    numbers.extend(item.views.clone());
                    let batch = Batch { views: &numbers, first_row: item.rows.start, rows: item.rows.len() };
                    ops.add(self.job, batch, pixels)?;
                }
            }
            if item.last {
                emit(ops, item)?;
            }
            step(item.views.len())
        };
        let mut read = Duration::ZERO;
        match self.input {
            Input::Lent(scan) => (0..fresh).try_for_each(|n| work(n, Some(Pixels::Lent(scan))))?,
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
