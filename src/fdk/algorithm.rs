//! The reconstruction of a whole scan, written once for every device: slabs of the volume one after the other, and for
//! each the views in batches, filtered as they arrive and back-projected; finished slices written behind.
//!
//! Rows are filtered independently of one another, so a slab takes only the panel rows that it is seen through: nothing
//! filtered is kept, and with several slabs about 1.3 times the scan travels in all. Slabs also serve a volume that would
//! fit: the way out of one overlaps the work on the next.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::plan::{Batch, Plan};
use crate::alloc;
use crate::backend::gpu::{DeviceMemory, GpuStream, Lender};
use crate::backend::memory::HostMemory;
use crate::blocks::array::Block;
use crate::blocks::number::Number;
use crate::blocks::pipeline::{read_ahead, write_behind};
use crate::blocks::sink::Sink;
use crate::blocks::source::Source;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;

pub use super::cut::{Cut, Flow, Needs, Way, cut};

/// Buffers that views are read into, and that slices are written from: one is filled while another is emptied, and one
/// more evens out stages of unequal speed.
pub const BUFFERS: usize = 3;

/// Host memory that a reader fills or a writer empties, while a device may be at work on it.
pub trait HostBuffer: Send {
    /// The contents, once no device uses them.
    fn contents(&mut self) -> Result<&mut [u8]>;
}

impl HostBuffer for HostMemory {
    fn contents(&mut self) -> Result<&mut [u8]> {
        self.as_mut_slice()
    }
}

/// A scan in host memory that stays lent for the whole run.
#[derive(Clone, Copy)]
pub struct Lent<'s> {
    /// Its elements, packed.
    pub scan: &'s [u8],
    /// What copies it to the device.
    pub lender: Option<&'s dyn Lender<'s>>,
}

/// Where the pixels of a batch are.
pub enum Pixels<'s, 'b, B> {
    /// In a buffer: for each view the batch's rows, packed.
    Read(&'b mut B),
    /// In the whole scan.
    Lent(Lent<'s>),
    /// In whole views on the device, packed, of which the batch's stand together.
    Device {
        /// The views.
        scan: &'b DeviceMemory,
        /// Place of the batch's first view among them.
        first: usize,
    },
}

/// Where slices go.
pub enum Target<'s, 'b, B> {
    /// Into a buffer, packed.
    Write(&'b mut B),
    /// Into their place in the volume, which stays lent for the run.
    Lent(&'s mut [u8], Option<&'s dyn Lender<'s>>),
    /// To a volume on the device.
    Device(&'b DeviceMemory),
}

/// What is computed.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The scan.
    pub plan: &'a Plan,
    /// The volume on the device in which the sums are made; without it slabs have memory of their own.
    pub volume: Option<&'a DeviceMemory>,
}

/// What the operations counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Seconds of copies to the device.
    pub upload: f64,
    /// Seconds of conversion, weighting and filtering.
    pub filter: f64,
    /// Seconds of back-projection.
    pub backproject: f64,
    /// Seconds of copies from the device; on the CPU of bringing slices into their order.
    pub download: f64,
    /// Bytes copied to the device.
    pub uploaded: u64,
    /// Bytes copied from the device.
    pub downloaded: u64,
    /// Pixels that were not finite and were replaced.
    pub sanitized: u64,
    /// Counts that were raised to the least.
    pub clamped: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.upload += other.upload;
        self.filter += other.filter;
        self.backproject += other.backproject;
        self.download += other.download;
        self.uploaded += other.uploaded;
        self.downloaded += other.downloaded;
        self.sanitized += other.sanitized;
        self.clamped += other.clamped;
    }
}

/// What a reconstruction needs of a device. Work may be enqueued and go on after a function has returned.
pub trait FdkOps {
    /// Host memory that the device copies from and to.
    type Buffer: HostBuffer;

    /// Slices that are worked on together: slabs are multiples of it, so that cutting the volume changes no bit.
    fn slice_group(&self) -> usize;

    /// Slices of a slab where memory is no concern.
    fn preferred_slices(&self, plan: &Plan, output: Flow) -> usize;

    /// Views of a batch where memory is no concern.
    fn preferred_batch(&self) -> usize;

    /// Slices that are handed to a writer together.
    fn write_slices(&self, plan: &Plan) -> usize;

    /// Bytes that a run takes besides the arrays it is given.
    fn needs(&self, plan: &Plan, cut: &Cut) -> Needs;

    /// A buffer of the pipeline.
    fn buffer(&self, what: &'static str, bytes: usize) -> Result<Self::Buffer>;

    /// Allocates what the run needs.
    fn prepare(&mut self, job: Job<'_>, cut: &Cut) -> Result<()>;

    /// Starts a slab: `count` slices from `first` on, all zero.
    fn begin(&mut self, job: Job<'_>, first: usize, count: usize) -> Result<()>;

    /// Filters views and adds their back-projection to the slab.
    fn add(&mut self, job: Job<'_>, batch: Batch<'_>, pixels: Pixels<'_, '_, Self::Buffer>) -> Result<()>;

    /// The type of the volume's elements from now on.
    fn set_output(&mut self, number: Number);

    /// Brings slices `first` to `first + count - 1` of the slab out: x fastest, scaled, in the type of the output. Every
    /// slice leaves once.
    fn store(&mut self, job: Job<'_>, first: usize, count: usize, to: Target<'_, '_, Self::Buffer>) -> Result<()>;

    /// Waits for everything, and says what was counted since the last time.
    fn finish(&mut self) -> Result<Tally>;

    /// Lets the work that follows begin behind what is enqueued on `queue`.
    fn follow(&mut self, _queue: &GpuStream) -> Result<()> {
        Ok(())
    }

    /// Lets `queue` go on behind the work that is enqueued.
    fn precede(&mut self, _queue: &GpuStream) -> Result<()> {
        Ok(())
    }
}

/// A source that several devices read from.
pub struct SharedSource<'a>(Mutex<Box<dyn Source + 'a>>);

impl<'a> SharedSource<'a> {
    /// Access to `source` by one thread at a time.
    pub fn new(source: Box<dyn Source + 'a>) -> Self {
        Self(Mutex::new(source))
    }
}

/// Blocks that any thread may read.
pub trait ReadBlocks: Sync {
    /// The whole array.
    fn whole(&self) -> Block;
    /// Reads a block, packed.
    fn read(&self, block: &Block, out: &mut [u8]) -> Result<()>;
}

impl ReadBlocks for SharedSource<'_> {
    fn whole(&self) -> Block {
        Block::whole(lock(&self.0).info())
    }

    fn read(&self, block: &Block, out: &mut [u8]) -> Result<()> {
        lock(&self.0).read(block, out)
    }
}

/// Slices that any thread may write.
pub trait WriteSlices: Sync {
    /// Writes `count` slices from `first` on, once all before them are written.
    fn write(&self, first: usize, count: usize, data: &[u8]) -> Result<()>;
    /// Wakes those who wait for slices that will not come.
    fn stop(&self);
}

/// A sink that several devices write to, slices in their order.
pub struct OrderedSink<'a> {
    turn: Mutex<Turn<'a>>,
    turned: Condvar,
}

struct Turn<'a> {
    sink: Box<dyn Sink + 'a>,
    whole: Block,
    next: usize,
    stopped: bool,
}

impl<'a> OrderedSink<'a> {
    /// Access to `sink`, the slices of a volume, by one thread at a time.
    pub fn new(sink: Box<dyn Sink + 'a>) -> Self {
        let whole = Block::whole(sink.info());
        Self { turn: Mutex::new(Turn { sink, whole, next: 0, stopped: false }), turned: Condvar::new() }
    }

    /// Makes what was written final.
    pub fn finish(&self) -> Result<()> {
        lock(&self.turn).sink.finish()
    }
}

impl WriteSlices for OrderedSink<'_> {
    fn write(&self, first: usize, count: usize, data: &[u8]) -> Result<()> {
        let mut turn = lock(&self.turn);
        while turn.next != first && !turn.stopped {
            turn = self.turned.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        if turn.stopped {
            return Err(Error::Cancelled);
        }
        let block = turn.whole.along(2, first, count);
        turn.sink.write(&block, data)?;
        turn.next += count;
        self.turned.notify_all();
        Ok(())
    }

    fn stop(&self) {
        lock(&self.turn).stopped = true;
        self.turned.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a run's projections come from.
#[derive(Clone, Copy)]
pub enum Input<'s, 'a> {
    /// Read in blocks.
    Read(&'a (dyn ReadBlocks + 'a)),
    /// All of them, in host memory.
    Lent(Lent<'s>),
    /// All of them, packed, on the device.
    Device(&'a DeviceMemory),
}

/// Where a run's volume goes.
pub enum Output<'s, 'a> {
    /// Written in blocks.
    Write(&'a (dyn WriteSlices + 'a)),
    /// The slabs of this run, packed, in their order.
    Lent(Vec<&'s mut [u8]>, Option<&'s dyn Lender<'s>>),
    /// On the device.
    Device(&'a DeviceMemory),
}

/// One of several devices that share the slabs: slab `k` belongs to device `k % devices`.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Number of this device.
    pub device: usize,
    /// Number of devices.
    pub devices: usize,
}

impl Share {
    /// All slabs.
    pub const ALL: Self = Self { device: 0, devices: 1 };

    /// First slices and numbers of slices of the slabs.
    pub fn slabs(self, slices: usize, cut: &Cut) -> impl Iterator<Item = (usize, usize)> {
        let (thick, step) = (cut.slices, cut.slices * self.devices);
        (self.device * thick..slices).step_by(step.max(1)).map(move |first| (first, thick.min(slices - first)))
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
    first: usize,
    count: usize,
    views: Range<usize>,
    rows: Range<usize>,
    last: bool,
}

fn items(plan: &Plan, cut: &Cut, share: Share) -> Result<Vec<Item>> {
    let (nz, views) = (plan.grid.size[2], plan.views.len());
    let slabs = cut.slabs.div_ceil(share.devices);
    let mut items = alloc::with_capacity("batches of a scan", slabs * views.div_ceil(cut.batch))?;
    for (first, count) in share.slabs(nz, cut) {
        for start in (0..views).step_by(cut.batch) {
            let batch = start..(start + cut.batch).min(views);
            let last = batch.end == views;
            let rows = plan.rows_of(batch.clone(), first, count);
            items.push(Item { first, count, views: batch, rows, last });
        }
    }
    Ok(items)
}

/// Number of batches that a run over all devices works on.
pub fn steps(plan: &Plan, cut: &Cut) -> usize {
    cut.slabs * plan.views.len().div_ceil(cut.batch)
}

/// Reconstructs the slabs of one device. `step` is called after each batch, and ends the run by an error.
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
    step: &mut dyn FnMut() -> Result<()>,
) -> Result<(Times, Tally)> {
    let items = items(job.plan, cut, share)?;
    ops.prepare(job, cut)?;
    let run = Run { job, cut, items: &items, input, flag };
    let times = match output {
        Output::Write(sink) => {
            let outcome = run.written(ops, sink, step);
            if outcome.is_err() {
                // Other devices may wait for this one's slices.
                sink.stop();
            }
            outcome?
        }
        Output::Lent(slabs, lender) => {
            let mut slabs = slabs.into_iter();
            let read = run.fed(ops, step, |ops, item| match slabs.next() {
                Some(slab) => ops.store(job, 0, item.count, Target::Lent(slab, lender)),
                None => Err(Error::Internal("a slab without a place in the volume".into())),
            })?;
            Times { read, write: Duration::ZERO }
        }
        Output::Device(volume) => {
            let read = run.fed(ops, step, |ops, item| ops.store(job, 0, item.count, Target::Device(volume)))?;
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
        step: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Times> {
        let (plan, cut) = (self.job.plan, self.cut);
        let [nx, ny, nz] = plan.grid.size;
        let slice = nx * ny * cut.output.number.size();
        // Slices from `first` that are written together.
        let together = |first: usize| {
            let end = (first / cut.slices * cut.slices + cut.slices).min(nz);
            cut.write_slices.min(end - first)
        };
        let mut buffers = alloc::with_capacity("buffers of a pipeline", BUFFERS)?;
        for _ in 0..BUFFERS {
            buffers.push(ops.buffer("slices to write", cut.write_slices * slice)?);
        }
        let (read, write) = write_behind(
            buffers,
            |first, buffer| {
                let count = together(first);
                sink.write(first, count, &buffer.contents()?[..count * slice])
            },
            |writer| {
                self.fed(ops, step, |ops, item| {
                    let mut first = 0;
                    while first < item.count {
                        self.flag.check()?;
                        let count = together(item.first + first);
                        let mut buffer = writer.buffer()?;
                        ops.store(self.job, first, count, Target::Write(&mut buffer))?;
                        writer.submit(item.first + first, buffer)?;
                        first += count;
                    }
                    Ok(())
                })
            },
        )?;
        Ok(Times { read, write })
    }

    /// The batches in their order; `emit` takes a finished slab. Returns the time that reading took.
    fn fed<O: FdkOps>(
        &self,
        ops: &mut O,
        step: &mut dyn FnMut() -> Result<()>,
        mut emit: impl FnMut(&mut O, &Item) -> Result<()>,
    ) -> Result<Duration> {
        let cut = self.cut;
        let columns = self.job.plan.geometry.detector.columns;
        let size = cut.input.number.size();
        let mut buffers = alloc::with_capacity("buffers of a pipeline", BUFFERS)?;
        if matches!(self.input, Input::Read(_)) {
            let most = self.items.iter().map(|i| i.views.len() * i.rows.len()).max().unwrap_or(0);
            for _ in 0..BUFFERS {
                buffers.push(ops.buffer("projections as read", most * columns * size)?);
            }
        }
        let mut numbers = alloc::with_capacity("views of a batch", cut.batch)?;
        let mut work = |n: usize, pixels: Pixels<'s, '_, O::Buffer>| {
            self.flag.check()?;
            let item = &self.items[n];
            if item.views.start == 0 {
                ops.begin(self.job, item.first, item.count)?;
            }
            numbers.clear();
            numbers.extend(item.views.clone());
            let batch = Batch { views: &numbers, first_row: item.rows.start, rows: item.rows.len() };
            ops.add(self.job, batch, pixels)?;
            if item.last {
                emit(ops, item)?;
            }
            step()
        };
        match self.input {
            Input::Lent(scan) => (0..self.items.len()).try_for_each(|n| work(n, Pixels::Lent(scan)))?,
            Input::Device(scan) => (0..self.items.len())
                .try_for_each(|n| work(n, Pixels::Device { scan, first: self.items[n].views.start }))?,
            Input::Read(source) => {
                let whole = source.whole();
                let times = read_ahead(
                    self.items.len(),
                    buffers,
                    |n, buffer: &mut O::Buffer| {
                        self.flag.check()?;
                        let item = &self.items[n];
                        let block = whole.along(1, item.rows.start, item.rows.len()).along(
                            2,
                            item.views.start,
                            item.views.len(),
                        );
                        source.read(&block, &mut buffer.contents()?[..block.elements() * size])
                    },
                    |n, buffer| work(n, Pixels::Read(buffer)),
                )?;
                return Ok(times.read);
            }
        }
        Ok(Duration::ZERO)
    }
}
