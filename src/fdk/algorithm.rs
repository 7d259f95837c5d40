//! The reconstruction of a whole scan, written once for every device: slabs of the volume one after the other, and for
//! each the views in batches, filtered as they arrive and back-projected; finished slices written behind.
//!
//! Rows are filtered independently of one another, so a slab takes only the panel rows that it is seen through: nothing
//! filtered is kept, and with several slabs about 1.3 times the scan travels in all. Slabs also serve a volume that would
//! fit: the way out of one overlaps the work on the next.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::plan::{Batch, Plan};
use crate::alloc;
use crate::backend::gpu::{DeviceMemory, GpuStream, Lender};
use crate::backend::memory::HostMemory;
use crate::blocks::array::Block;
use crate::blocks::number::Number;
use crate::blocks::pipeline::{Writer, read_ahead, write_behind};
use crate::blocks::sink::Sink;
use crate::blocks::source::Source;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;

pub use super::cut::{Cut, Flow, Needs, Task, Way};

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
    /// In a buffer: for each view the batch's rows, packed. Of [bands](Cut::bands_of) the first one's of all views come
    /// before the second one's.
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

/// Slices that are worked on together: some in a row, and where a device uses a plane of symmetry those that mirror them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slices {
    /// First slice and number of slices.
    pub main: (usize, usize),
    /// The same of the mirror image.
    pub mirror: (usize, usize),
}

impl Slices {
    /// Slices in a row.
    pub fn row(first: usize, count: usize) -> Self {
        Self { main: (first, count), mirror: (0, 0) }
    }

    /// The pieces that are not empty.
    pub fn pieces(self) -> impl Iterator<Item = (usize, usize)> {
        [self.main, self.mirror].into_iter().filter(|p| p.1 > 0)
    }

    /// Number of slices.
    pub fn count(self) -> usize {
        self.main.1 + self.mirror.1
    }
}

/// What a reconstruction needs of a device. Work may be enqueued and go on after a function has returned.
pub trait FdkOps {
    /// Host memory that the device copies from and to.
    type Buffer: HostBuffer;

    /// Slices that are worked on together: slabs are multiples of it, so that cutting the volume changes no bit.
    fn slice_group(&self) -> usize;

    /// Slices of the first slab and of the others where memory is no concern and `devices` share the volume.
    fn preferred_slices(&self, plan: &Plan, input: Flow, output: Flow, devices: usize) -> (usize, usize);

    /// Views that are back-projected together where memory is no concern, and those that are read together.
    fn preferred_batch(&self, plan: &Plan, input: Flow) -> (usize, usize);

    /// Whether filtered views can be kept for later slabs.
    fn can_keep(&self) -> bool {
        false
    }

    /// Slices that are handed to a writer together.
    fn write_slices(&self, plan: &Plan) -> usize;

    /// Number of slabs.
    fn slabs(&self, plan: &Plan, cut: &Cut) -> usize {
        1 + plan.grid.size[2].saturating_sub(cut.first).div_ceil(cut.slices.max(1))
    }

    /// Slices of slab `k`.
    fn slab(&self, plan: &Plan, cut: &Cut, k: usize) -> Slices {
        let nz = plan.grid.size[2];
        if k == 0 {
            return Slices::row(0, cut.first.min(nz));
        }
        let first = (cut.first + (k - 1) * cut.slices).min(nz);
        Slices::row(first, cut.slices.min(nz - first))
    }

    /// Bytes that a run takes besides the arrays it is given.
    fn needs(&self, plan: &Plan, cut: &Cut) -> Needs;

    /// A buffer of the pipeline.
    fn buffer(&self, what: &'static str, bytes: usize) -> Result<Self::Buffer>;

    /// Allocates what the run needs.
    fn prepare(&mut self, job: Job<'_>, cut: &Cut) -> Result<()>;

    /// Starts a slab, all zero.
    fn begin(&mut self, job: Job<'_>, slices: Slices) -> Result<()>;

    /// Filters views and adds their back-projection to the slab.
    fn add(&mut self, job: Job<'_>, batch: Batch<'_>, pixels: Pixels<'_, '_, Self::Buffer>) -> Result<()>;

    /// Adds kept views to the slab: those that were added to the first slab as number `views`.
    fn add_again(&mut self, _job: Job<'_>, _views: Range<usize>) -> Result<()> {
        Err(Error::Internal("views that were not kept".into()))
    }

    /// The type of the volume's elements from now on.
    fn set_output(&mut self, number: Number);

    /// Brings slices `first` to `first + count - 1` of the volume, which lie in one piece of the slab, out: x fastest,
    /// scaled, in the type of the output. Every slice leaves once.
    fn store(&mut self, job: Job<'_>, first: usize, count: usize, to: Target<'_, '_, Self::Buffer>) -> Result<()>;

    /// The same into host memory that is at hand, complete on return.
    fn store_now(&mut self, job: Job<'_>, first: usize, count: usize, out: &mut [u8]) -> Result<()> {
        self.store(job, first, count, Target::Lent(out, None))
    }

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
    /// Writes `count` slices from `first` on.
    fn write(&self, first: usize, count: usize, data: &[u8]) -> Result<()>;
}

/// A sink that several devices write to.
pub struct SharedSink<'a>(Mutex<Box<dyn Sink + 'a>>);

impl<'a> SharedSink<'a> {
    /// Access to `sink`, the slices of a volume, by one thread at a time.
    pub fn new(sink: Box<dyn Sink + 'a>) -> Self {
        Self(Mutex::new(sink))
    }

    /// Makes what was written final.
    pub fn finish(&self) -> Result<()> {
        lock(&self.0).finish()
    }
}

impl WriteSlices for SharedSink<'_> {
    fn write(&self, first: usize, count: usize, data: &[u8]) -> Result<()> {
        let mut sink = lock(&self.0);
        let block = Block::whole(sink.info()).along(2, first, count);
        sink.write(&block, data)
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
    /// The slices of this run, packed: each piece of a slab with its first slice.
    Lent(Vec<(usize, &'s mut [u8])>, Option<&'s dyn Lender<'s>>),
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
        let slices = ops.slab(plan, cut, k);
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

/// The near end of [`write_pieces`].
pub(super) struct PieceWriter<'a, B> {
    writer: &'a Writer<B>,
    together: usize,
    started: &'a Mutex<Vec<(usize, usize)>>,
}

impl<B: HostBuffer> PieceWriter<'_, B> {
    /// Hands the slices of a piece to the writer.
    pub(super) fn store<O: FdkOps<Buffer = B>>(
        &self,
        ops: &mut O,
        job: Job<'_>,
        (first, count): (usize, usize),
        flag: &CancelFlag,
    ) -> Result<()> {
        for start in (first..first + count).step_by(self.together) {
            flag.check()?;
            let count = self.together.min(first + count - start);
            let mut buffer = self.writer.buffer()?;
            ops.store(job, start, count, Target::Write(&mut buffer))?;
            lock(self.started).push((start, count));
            self.writer.submit(start, buffer)?;
        }
        Ok(())
    }
}

/// Runs `body`, which hands finished slices to a thread that writes them; returns when all are written, and the time that
/// writing took.
pub(super) fn write_pieces<O: FdkOps, R>(
    ops: &mut O,
    plan: &Plan,
    cut: &Cut,
    sink: &dyn WriteSlices,
    body: impl FnOnce(&mut O, &PieceWriter<'_, O::Buffer>) -> Result<R>,
) -> Result<(R, Duration)> {
    let [nx, ny, _] = plan.grid.size;
    let slice = nx * ny * cut.output.number.size();
    let mut buffers = alloc::with_capacity("buffers of a pipeline", BUFFERS)?;
    for _ in 0..BUFFERS {
        buffers.push(ops.buffer("slices to write", cut.write_slices * slice)?);
    }
    // How many slices each buffer on its way holds.
    let started = Mutex::new(Vec::<(usize, usize)>::with_capacity(BUFFERS));
    write_behind(
        buffers,
        |first, buffer| {
            let count = {
                let mut started = lock(&started);
                let at = started.iter().position(|s| s.0 == first);
                at.map_or(0, |at| started.swap_remove(at).1)
            };
            sink.write(first, count, &buffer.contents()?[..count * slice])
        },
        |writer| {
            let together = cut.write_slices.max(1);
            body(ops, &PieceWriter { writer, together, started: &started })
        },
    )
}
