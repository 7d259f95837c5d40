//! A run's arrays: the scan and the volume, which several devices may share, and a writer thread for finished slices.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::cut::Cut;
use super::ops::{BUFFERS, Borrowed, FdkOps, HostBuffer, Job, Target};
use super::plan::Plan;
use crate::alloc;
use crate::backend::gpu::{DeviceMemory, ScopedTransfers};
use crate::blocks::array::Block;
use crate::blocks::pipeline::{Writer, write_behind};
use crate::blocks::sink::Sink;
use crate::blocks::source::Source;
use crate::error::Result;
use crate::progress::CancelFlag;

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
    /// The block of all elements.
    fn whole(&self) -> Block;
    /// Reads a block into `out`, packed with the first axis fastest.
    ///
    /// # Errors
    /// Errors of the source.
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
    ///
    /// # Errors
    /// Errors of the sink.
    fn write(&self, first: usize, count: usize, data: &[u8]) -> Result<()>;
}

/// A sink that several devices write to.
pub struct SharedSink<'a>(Mutex<Box<dyn Sink + 'a>>);

impl<'a> SharedSink<'a> {
    /// Access to `sink`, the slices of a volume, by one thread at a time.
    pub fn new(sink: Box<dyn Sink + 'a>) -> Self {
        Self(Mutex::new(sink))
    }

    /// Completes the output, e.g. renames a file to its final name.
    ///
    /// # Errors
    /// As [`Sink::finish`].
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

/// Location of a run's projections.
#[derive(Clone, Copy)]
pub enum Input<'s, 'a> {
    /// In a source, which is read in blocks through buffers.
    Read(&'a (dyn ReadBlocks + 'a)),
    /// All of them, in host memory.
    Borrowed(Borrowed<'s>),
    /// All of them, packed, on the device.
    Device(&'a DeviceMemory),
}

/// Destination of a run's volume.
pub enum Output<'s, 'a> {
    /// Written in blocks, one slab's slices at a time.
    Write(&'a (dyn WriteSlices + 'a)),
    /// Into host memory: the slices of this run, packed, as pieces of slabs with their first slices.
    Borrowed(Vec<(usize, &'s mut [u8])>, Option<&'s dyn ScopedTransfers<'s>>),
    /// In device memory, [nx, ny, nz] packed.
    Device(&'a DeviceMemory),
}

/// The sending side of [`write_pieces`].
pub(super) struct PieceWriter<'a, B> {
    /// Takes filled buffers with the number of slices in each.
    writer: &'a Writer<(B, usize)>,
    together: usize,
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
            let (mut buffer, _) = self.writer.buffer()?;
            ops.store(job, start, count, Target::Write(&mut buffer))?;
            self.writer.submit(start, (buffer, count))?;
        }
        Ok(())
    }
}

/// Runs `body`, which passes finished slices to a writer thread. Returns after all slices are written, with the time spent
/// on writing.
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
        buffers.push((ops.buffer("slices to write", cut.write_slices * slice)?, 0));
    }
    write_behind(
        buffers,
        |first, (buffer, count)| sink.write(first, *count, &buffer.contents()?[..*count * slice]),
        |writer| body(ops, &PieceWriter { writer, together: cut.write_slices.max(1) }),
    )
}
