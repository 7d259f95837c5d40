//! The operations that the method requires of a device.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::counts::PixelDefects;
use super::cut::{Cut, Flow, Needs};
use super::plan::{Batch, Plan};
use crate::backend::cpu::Pool;
use crate::backend::gpu::{DeviceMemory, GpuStream, ScopedTransfers};
use crate::backend::memory::HostMemory;
use crate::blocks::number::Number;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;

/// Number of buffers for reading views, and for writing slices: one is filled, one is emptied, and a third compensates for
/// stages of unequal speed.
pub const BUFFERS: usize = 3;

/// Host memory that a reader fills or a writer empties. A device may still use it.
pub trait HostBuffer: Send {
    /// The contents; waits until no device uses them.
    ///
    /// # Errors
    /// Errors of the device.
    fn contents(&mut self) -> Result<&mut [u8]>;
}

impl HostBuffer for HostMemory {
    fn contents(&mut self) -> Result<&mut [u8]> {
        self.as_mut_slice()
    }
}

/// A scan in host memory, borrowed for the whole run.
#[derive(Clone, Copy)]
pub struct Borrowed<'s> {
    /// All elements of the scan, packed.
    pub scan: &'s [u8],
    /// Copies it to the device.
    pub transfers: Option<&'s dyn ScopedTransfers<'s>>,
}

/// Location of a batch's pixels.
pub enum Pixels<'s, 'b, B> {
    /// In a buffer: for each view the batch's rows, packed. With two [bands](Cut::bands_of), the first band of all views
    /// comes before the second.
    Read(&'b mut B),
    /// In the whole scan, in host memory.
    Borrowed(Borrowed<'s>),
    /// In whole views on the device, packed. The batch's views are consecutive.
    Device {
        /// Consecutive whole views in device memory.
        scan: &'b DeviceMemory,
        /// Index of the batch's first view among them.
        first: usize,
    },
}

/// The memory that gets finished slices.
pub enum Target<'s, 'b, B> {
    /// Into a host buffer, packed.
    Write(&'b mut B),
    /// To their own part of the volume, which is borrowed for the run.
    Borrowed(&'s mut [u8], Option<&'s dyn ScopedTransfers<'s>>),
    /// To a volume on the device.
    Device(&'b DeviceMemory),
}

/// A scan and its accumulator.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Geometry, weights and filter of the scan.
    pub plan: &'a Plan,
    /// The device volume that accumulates the sums; `None` if slabs have memory of their own.
    pub volume: Option<&'a DeviceMemory>,
}

/// A function that a thread calls between the parts of a long operation; an error ends it.
pub type Poll<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// Cancellation of a long operation, and the function of its calling thread while others compute.
pub struct Watch<'a> {
    /// Cancels the operation when it is set, from any thread.
    pub flag: &'a CancelFlag,
    /// Called now and then by the calling thread; an error ends the operation.
    pub wait: &'a mut dyn FnMut() -> Result<()>,
}

impl Watch<'_> {
    /// Runs `work` on the threads of `pool`.
    ///
    /// # Errors
    /// As `work`; [`Error::Cancelled`], which is the error of each look from then on; the error of a wait.
    pub fn run<R: Send>(&mut self, pool: &Pool, work: impl FnOnce(Poll<'_>) -> Result<R> + Send) -> Result<R> {
        let (flag, is_stopped) = (self.flag, AtomicBool::new(false));
        let poll = || if is_stopped.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { flag.check() };
        let mut waited = Ok(());
        let found = pool.run_polling(|| work(&poll), &mut || {
            if waited.is_ok() {
                waited = (self.wait)();
                is_stopped.store(waited.is_err(), Ordering::Relaxed);
            }
        });
        waited.and(found)
    }
}

/// Times and counts of the operations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Seconds of copies to the device.
    pub upload: f64,
    /// Seconds of conversion, weighting and filtering.
    pub filter: f64,
    /// Seconds of back-projection, without the copies.
    pub backproject: f64,
    /// Seconds of copies from the device; on the CPU, of reordering slices so that x is fastest.
    pub download: f64,
    /// Bytes copied to the device.
    pub uploaded: u64,
    /// Bytes copied from the device.
    pub downloaded: u64,
    /// Pixels that were not finite or too large.
    pub not_finite: u64,
    /// Voxels beyond the range of the output's type.
    pub overflown: u64,
    /// Clamped, negative and non-finite counts; pixels that were too large.
    pub defects: PixelDefects,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.upload += other.upload;
        self.filter += other.filter;
        self.backproject += other.backproject;
        self.download += other.download;
        self.uploaded += other.uploaded;
        self.downloaded += other.downloaded;
        self.not_finite += other.not_finite;
        self.overflown += other.overflown;
        self.defects += other.defects;
    }
}

/// Slices that are computed together: consecutive ones, and their mirror images if the device uses a plane of symmetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slices {
    /// First slice and number of slices.
    pub main: (usize, usize),
    /// The same of the mirror image.
    pub mirror: (usize, usize),
}

impl Slices {
    /// `count` slices from `first` on, without mirror images.
    pub fn row(first: usize, count: usize) -> Self {
        Self { main: (first, count), mirror: (0, 0) }
    }

    /// The pieces that are not empty.
    pub fn pieces(self) -> impl Iterator<Item = (usize, usize)> {
        [self.main, self.mirror].into_iter().filter(|p| p.1 > 0)
    }

    /// Slices of both pieces together.
    pub fn count(self) -> usize {
        self.main.1 + self.mirror.1
    }
}

/// Operations of a device for a reconstruction. A function may return while its work is still enqueued.
pub trait FdkOps {
    /// Host memory that the device copies from and to.
    type Buffer: HostBuffer;

    /// Slices that are computed together. Slabs are multiples of it, so that the cut of a volume changes no bit.
    fn slice_group(&self) -> usize;

    /// Number of units (slice groups) that slabs are made of.
    fn units(&self, plan: &Plan) -> usize {
        plan.grid.size[2].div_ceil(self.slice_group())
    }

    /// The slices of a range of units.
    fn slices_of(&self, plan: &Plan, units: Range<usize>) -> Slices {
        let (group, nz) = (self.slice_group(), plan.grid.size[2]);
        let first = (units.start * group).min(nz);
        Slices::row(first, (units.end * group).min(nz) - first)
    }

    /// Slices of each device's first slab and of the others if memory is unlimited and `devices` share the volume.
    fn preferred_slices(&self, plan: &Plan, input: Flow, output: Flow, devices: usize) -> (usize, usize);

    /// Views of a back-projection launch, and views that are read together, if memory is unlimited.
    fn preferred_batch(&self, plan: &Plan, input: Flow) -> (usize, usize);

    /// Whether the device can keep filtered views for later slabs.
    fn can_keep(&self) -> bool {
        false
    }

    /// Slices that are handed to a writer together.
    fn write_slices(&self, plan: &Plan) -> usize;

    /// Bytes that a run allocates, without the caller's arrays.
    fn needs(&self, plan: &Plan, cut: &Cut) -> Needs;

    /// Allocates a buffer of the pipeline.
    ///
    /// # Errors
    /// Out of memory, the context's limit included; errors of the device.
    fn buffer(&self, what: &'static str, bytes: usize) -> Result<Self::Buffer>;

    /// Allocates the memory of a run.
    ///
    /// # Errors
    /// Out of memory, the context's limit included; errors of the device.
    fn prepare(&mut self, job: Job<'_>, cut: &Cut) -> Result<()>;

    /// Starts a slab, all zero. On the CPU, `watch` is looked at meanwhile.
    ///
    /// # Errors
    /// [`Error::Internal`] before [`FdkOps::prepare`]; on the CPU as [`Watch::run`]; errors of the device.
    fn begin(&mut self, job: Job<'_>, slices: Slices, watch: &mut Watch<'_>) -> Result<()>;

    /// Filters views and adds their back-projection to the slab. On the CPU, `watch` is looked at meanwhile; after its error
    /// the slab holds a part of the batch and is of no use.
    ///
    /// # Errors
    /// As [`FdkOps::begin`]; [`Error::Internal`] for pixels that the device does not reach; out of memory.
    fn add(
        &mut self,
        job: Job<'_>,
        batch: Batch<'_>,
        pixels: Pixels<'_, '_, Self::Buffer>,
        watch: &mut Watch<'_>,
    ) -> Result<()>;

    /// Adds kept views to the slab. `views` are their positions in the order in which the first slab received them.
    ///
    /// # Errors
    /// [`Error::Internal`] for views that were not kept; errors of the device.
    fn add_again(&mut self, _job: Job<'_>, _views: Range<usize>) -> Result<()> {
        Err(Error::Internal("views that were not kept".into()))
    }

    /// Sets the element type of the volume for later stores.
    fn set_output(&mut self, number: Number);

    /// Stores slices `first` to `first + count - 1` of the volume, which lie in one piece of the slab: x fastest, scaled, in
    /// the output's type. Every slice is stored once.
    ///
    /// # Errors
    /// [`Error::Internal`] before [`FdkOps::prepare`], and for a target that the device does not reach; errors of the
    /// device.
    fn store(&mut self, job: Job<'_>, first: usize, count: usize, to: Target<'_, '_, Self::Buffer>) -> Result<()>;

    /// The same into the caller's host memory, complete on return.
    ///
    /// # Errors
    /// As [`FdkOps::store`].
    fn store_now(&mut self, job: Job<'_>, first: usize, count: usize, out: &mut [u8]) -> Result<()> {
        self.store(job, first, count, Target::Borrowed(out, None))
    }

    /// Waits for all work. Returns the counts and times since the last call.
    ///
    /// # Errors
    /// Errors of the device.
    fn finish(&mut self) -> Result<Tally>;

    /// Makes later work wait for the work that `queue` holds now.
    ///
    /// # Errors
    /// Errors of the device.
    fn follow(&mut self, _queue: &GpuStream) -> Result<()> {
        Ok(())
    }

    /// Makes `queue` wait for the work that is enqueued now.
    ///
    /// # Errors
    /// Errors of the device.
    fn precede(&mut self, _queue: &GpuStream) -> Result<()> {
        Ok(())
    }
}
