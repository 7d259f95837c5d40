//! A slab on one device that accumulates views as they are pushed.

use std::ops::Range;
use std::sync::Arc;

use super::algorithm::Times;
use super::arrays::{WriteSlices, write_pieces};
use super::cpu::CpuOps;
use super::cut::{Access, Cut, Flow};
use super::double::DoubleOps;
use super::gpu::GpuOps;
use super::inputs::Device;
use super::ops::{BUFFERS, FdkOps, HostBuffer, Job, Pixels, Poll, Slices, Tally, Target, Watch};
use super::plan::{Batch, Plan};
use super::run::Setting;
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::{DeviceMemory, GpuStream};
use crate::blocks::number::Number;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::tensor::copy_strided;

/// An unfinished slab and its current batch, on any device.
pub(super) trait Stage: Send + Sync {
    /// Adds views from host memory.
    fn push(&mut self, plan: &Plan, views: &[usize], from: &Incoming<'_>, watch: &mut Watch<'_>) -> Result<()>;

    /// Adds views from packed device memory.
    fn push_device(
        &mut self,
        plan: &Plan,
        views: &[usize],
        from: &DeviceMemory,
        queue: Option<&GpuStream>,
        watch: &mut Watch<'_>,
    ) -> Result<()>;

    /// Back-projects the views of an incomplete batch.
    fn flush(&mut self, plan: &Plan, watch: &mut Watch<'_>) -> Result<()>;

    /// Writes the slab after its last view.
    fn write(&mut self, plan: &Plan, sink: &dyn WriteSlices, flag: &CancelFlag) -> Result<Times>;

    /// Stores the slab on the device.
    fn store_device(&mut self, plan: &Plan, volume: &DeviceMemory, queue: Option<&GpuStream>) -> Result<()>;

    /// Stores the slab in its part of the volume in host memory.
    fn store_now(&mut self, plan: &Plan, volume: &mut [u8], slice: usize) -> Result<()>;

    /// Sets the type of the volume's elements, before slices are stored.
    fn set_output(&mut self, number: Number) -> Result<()>;

    /// Waits for all work and returns the counts of the scan.
    fn finish(&mut self) -> Result<Tally>;
}

/// Pixels that are copied between two looks.
const TOGETHER: usize = 1 << 20;

/// Some whole views in the caller's host memory.
pub(super) struct Incoming<'a> {
    /// The elements, from the first one of view 0 on.
    pub bytes: &'a [u8],
    /// Type of the elements.
    pub number: Number,
    /// Elements from one column, row and view to the next.
    pub strides: [usize; 3],
    /// Its threads copy the views.
    pub context: &'a Context,
}

impl Incoming<'_> {
    /// Copies some rows of view `k`, packed. Looks every [`TOGETHER`] pixels.
    pub(super) fn rows(
        &self,
        k: usize,
        rows: Range<usize>,
        columns: usize,
        out: &mut [u8],
        poll: Poll<'_>,
    ) -> Result<()> {
        let (size, strides) = (self.number.size(), &self.strides[..2]);
        let together = (TOGETHER / columns.max(1)).max(1);
        for first in rows.clone().step_by(together) {
            poll()?;
            let count = together.min(rows.end - first);
            let (begin, at) = ((k * self.strides[2] + first * self.strides[1]) * size, first - rows.start);
            let out = &mut out[at * columns * size..(at + count) * columns * size];
            copy_strided(size, &self.bytes[begin..], strides, out, &[1, columns], &[columns, count]);
        }
        Ok(())
    }
}

struct Lane<O: FdkOps> {
    ops: O,
    cut: Cut,
    slices: Slices,
    rows: Range<usize>,
    buffers: Vec<O::Buffer>,
    /// Index of the buffer that is being filled, and the views in it.
    at: usize,
    views: Vec<usize>,
    /// The counts so far: a finish that fails behind them is repeated.
    total: Tally,
    /// Whether slices were stored: the overflow counted so far is then that of the volume before.
    was_stored: bool,
}

impl<O: FdkOps> Lane<O> {
    fn new(mut ops: O, plan: &Plan, cut: &Cut, k: usize, watch: &mut Watch<'_>) -> Result<Self> {
        let slices = cut.slab(&ops, plan, k);
        let job = Job { plan, volume: None };
        ops.prepare(job, cut)?;
        ops.begin(job, slices, watch)?;
        let rows = cut.rows_of(plan, slices, 0);
        let bytes = cut.batch * cut.rows * plan.geometry.detector.columns * cut.input.number.size();
        let mut buffers = alloc::with_capacity("buffers of a pipeline", BUFFERS)?;
        for _ in 0..BUFFERS {
            buffers.push(ops.buffer("projections as pushed", bytes)?);
        }
        let views = alloc::with_capacity("views of a batch", cut.batch)?;
        Ok(Self { ops, cut: *cut, slices, rows, buffers, at: 0, views, total: Tally::default(), was_stored: false })
    }
}

impl<O> Stage for Lane<O>
where
    O: FdkOps + Send + Sync,
    O::Buffer: Sync,
{
    fn push(&mut self, plan: &Plan, views: &[usize], from: &Incoming<'_>, watch: &mut Watch<'_>) -> Result<()> {
        let columns = plan.geometry.detector.columns;
        let each = self.rows.len() * columns * self.cut.input.number.size();
        let mut done = 0;
        while done < views.len() {
            let (filled, rows) = (self.views.len(), &self.rows);
            let count = (self.cut.batch - filled).min(views.len() - done);
            if each > 0 {
                let contents = self.buffers[self.at].contents()?;
                let slots = &mut contents[filled * each..(filled + count) * each];
                watch.run(from.context.pool(), |poll| {
                    slots
                        .par_chunks_mut(each)
                        .enumerate()
                        .try_for_each(|(k, slot)| from.rows(done + k, rows.clone(), columns, slot, poll))
                })?;
            }
            self.views.extend_from_slice(&views[done..done + count]);
            done += count;
            if self.views.len() == self.cut.batch {
                // The work of one batch may be too short for a wait, and the batches of this push many.
                (watch.wait)()?;
                self.flush(plan, watch)?;
            }
        }
        Ok(())
    }

    fn push_device(
        &mut self,
        plan: &Plan,
        views: &[usize],
        from: &DeviceMemory,
        queue: Option<&GpuStream>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        // Flush first, so that views are added in the order of the pushes.
        self.flush(plan, watch)?;
        if let Some(queue) = queue {
            self.ops.follow(queue)?;
        }
        let job = Job { plan, volume: None };
        for (n, part) in views.chunks(self.cut.batch).enumerate() {
            (watch.wait)()?;
            let batch = Batch { views: part, first_row: self.rows.start, rows: self.rows.len() };
            self.ops.add(job, batch, Pixels::Device { scan: from, first: n * self.cut.batch }, watch)?;
        }
        queue.map_or(Ok(()), |q| self.ops.precede(q))
    }

    fn flush(&mut self, plan: &Plan, watch: &mut Watch<'_>) -> Result<()> {
        if self.views.is_empty() {
            return Ok(());
        }
        let batch = Batch { views: &self.views, first_row: self.rows.start, rows: self.rows.len() };
        let outcome = self.ops.add(Job { plan, volume: None }, batch, Pixels::Read(&mut self.buffers[self.at]), watch);
        self.views.clear();
        self.at = (self.at + 1) % self.buffers.len();
        outcome
    }

    fn write(&mut self, plan: &Plan, sink: &dyn WriteSlices, flag: &CancelFlag) -> Result<Times> {
        let (job, slices) = (Job { plan, volume: None }, self.slices);
        let ((), write) = write_pieces(&mut self.ops, plan, &self.cut, sink, |ops, writer| {
            slices.pieces().try_for_each(|piece| writer.store(ops, job, piece, flag))
        })?;
        Ok(Times { write, ..Times::default() })
    }

    fn store_device(&mut self, plan: &Plan, volume: &DeviceMemory, queue: Option<&GpuStream>) -> Result<()> {
        if let Some(queue) = queue {
            self.ops.follow(queue)?;
        }
        let (ops, job) = (&mut self.ops, Job { plan, volume: None });
        self.slices.pieces().try_for_each(|(first, count)| ops.store(job, first, count, Target::Device(volume)))?;
        queue.map_or(Ok(()), |q| self.ops.precede(q))
    }

    fn store_now(&mut self, plan: &Plan, volume: &mut [u8], slice: usize) -> Result<()> {
        let (ops, job) = (&mut self.ops, Job { plan, volume: None });
        self.slices.pieces().try_for_each(|(first, count)| {
            ops.store_now(job, first, count, &mut volume[first * slice..(first + count) * slice])
        })
    }

    fn set_output(&mut self, number: Number) -> Result<()> {
        if std::mem::replace(&mut self.was_stored, true) {
            // A finish failed after it had stored slices: their overflow is none of the next volume's.
            self.finish()?;
        }
        self.ops.set_output(number);
        self.cut.output.number = number;
        Ok(())
    }

    fn finish(&mut self) -> Result<Tally> {
        self.total += self.ops.finish()?;
        let total = self.total;
        // Of this volume alone; the next one may be of another type.
        self.total.overflown = 0;
        Ok(total)
    }
}

/// A stage for each context, and the cut that they share.
pub(super) type Lanes = (Vec<Box<dyn Stage>>, Cut);

/// The stages of a scan whose volume fits; `None` if it does not.
pub(super) fn lanes(setting: &Setting, number: Number, watch: &mut Watch<'_>) -> Result<Option<Lanes>> {
    let (plan, contexts) = (&*setting.plan, &setting.contexts);
    let input = Flow { number, access: Access::Buffered };
    let output = Flow { number: Number::F32, access: Access::Buffered };
    let task = setting.task(input, output, contexts)?;
    let counts = || setting.counts.clone();
    macro_rules! stages {
        ($ops:expr) => {{
            let make = $ops;
            let Some(cut) = task.cut_in_core(&make(&contexts[0])?) else {
                return Ok(None);
            };
            let mut stages: Vec<Box<dyn Stage>> = Vec::with_capacity(contexts.len());
            for (k, context) in (0..cut.slabs).zip(contexts) {
                stages.push(Box::new(Lane::new(make(context)?, plan, &cut, k, watch)?));
            }
            Ok(Some((stages, cut)))
        }};
    }
    match setting.device(&contexts[0]) {
        Device::Cpu => stages!(|c: &Arc<Context>| CpuOps::new(c, plan, counts())),
        Device::Double => stages!(|c: &Arc<Context>| Ok::<_, Error>(DoubleOps::new(c, counts()))),
        Device::Gpu(_) => stages!(|c: &Arc<Context>| GpuOps::new(c, c.gpu("context")?, plan, counts())),
    }
}
