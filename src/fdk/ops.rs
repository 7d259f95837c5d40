//! What the method needs of a device.

use std::ops::Range;

use super::counts::Odd;
use super::cut::{Cut, Flow, Needs};
use super::plan::{Batch, Plan};
use crate::backend::gpu::{DeviceMemory, GpuStream, Lender};
use crate::backend::memory::HostMemory;
use crate::blocks::number::Number;
use crate::error::{Error, Result};

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
    /// Pixels that were not finite.
    pub not_finite: u64,
    /// Counts that were out of the ordinary.
    pub odd: Odd,
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
        self.odd += other.odd;
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

    /// Units of which slabs are made: slice groups.
    fn units(&self, plan: &Plan) -> usize {
        plan.grid.size[2].div_ceil(self.slice_group())
    }

    /// The slices of some units.
    fn slices_of(&self, plan: &Plan, units: Range<usize>) -> Slices {
        let (group, nz) = (self.slice_group(), plan.grid.size[2]);
        let first = (units.start * group).min(nz);
        Slices::row(first, (units.end * group).min(nz) - first)
    }

    /// Slices of each device's first slab and of the others where memory is no concern and `devices` share the volume.
    fn preferred_slices(&self, plan: &Plan, input: Flow, output: Flow, devices: usize) -> (usize, usize);

    /// Views that are back-projected together where memory is no concern, and those that are read together.
    fn preferred_batch(&self, plan: &Plan, input: Flow) -> (usize, usize);

    /// Whether filtered views can be kept for later slabs.
    fn can_keep(&self) -> bool {
        false
    }

    /// Slices that are handed to a writer together.
    fn write_slices(&self, plan: &Plan) -> usize;

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
