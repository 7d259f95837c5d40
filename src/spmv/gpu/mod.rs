//! Sparse products on a GPU: a plan's data on the device, and the calls with vectors there.
//!
//! | file | subject |
//! |---|---|
//! | `matrix` | the matrix on the device |
//! | `cut` | division of the work into shares |
//! | `sweeps` | products by columns, then sums by rows |
//! | `host` | calls with vectors in host memory |
//! | `operator` | operators that are never formed |
//! | `filter` | polynomials of operators |

mod cut;
mod filter;
mod host;
mod matrix;
mod operator;
mod sweeps;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use super::info::Statistics;
use super::options::Method;
use super::plan::Plan;
use super::tiles::csr;
use crate::backend::gpu::kernels::spmv::{
    self as kernels, Finish as DeviceFinish, Form, Pieces, SHORT_TILE, Shares, TILE, TILE_ROWS, Vectors,
};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::matrix::sparse::Rows;
use crate::matrix::{Csr, Matrix};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::product;
use cut::Cut;
use matrix::{Structure, Values};
pub(super) use operator::DeviceTerms;
use sweeps::Sweeps;

const WHAT: &str = "plan of a sparse product";

/// Shares of the work on the device.
struct DeviceCut {
    list: DeviceMemory,
    count: usize,
    longs: DeviceMemory,
    long_count: usize,
    owners: DeviceMemory,
    pieces: usize,
    order: Option<DeviceMemory>,
    bytes: usize,
}

impl DeviceCut {
    fn new(gpu: &Gpu, stream: &GpuStream, cut: &Cut) -> Result<Self> {
        Ok(Self {
            list: gpu.upload_numbers(stream, WHAT, &cut.words)?,
            count: cut.count,
            longs: gpu.upload_numbers(stream, WHAT, &cut.longs)?,
            long_count: cut.long_count(),
            owners: gpu.upload_numbers(stream, WHAT, &cut.owners()?)?,
            pieces: cut.pieces,
            order: if cut.order.is_empty() { None } else { Some(gpu.upload_numbers(stream, WHAT, &cut.order)?) },
            bytes: cut.bytes(0),
        })
    }

    fn pieces<'a>(&'a self, partials: Region<'a>, arrivals: Region<'a>) -> Pieces<'a> {
        Pieces {
            longs: self.longs.whole(),
            rows: self.long_count,
            owners: self.owners.whole(),
            count: self.pieces,
            partials,
            arrivals,
        }
    }

    fn shares<'a>(&'a self, partials: Region<'a>, arrivals: Region<'a>) -> Shares<'a> {
        Shares {
            list: self.list.whole(),
            count: self.count,
            order: self.order.as_ref().map(DeviceMemory::whole),
            pieces: self.pieces(partials, arrivals),
        }
    }
}

/// How rows are divided among threads.
enum Kernels {
    /// A group of so many lanes for each row.
    Rows(usize),
    /// Shares, processed by the kernel of a form.
    Shares(Form, Box<DeviceCut>),
    /// Products by columns, then sums by rows.
    Sweeps(Box<Sweeps>),
}

/// A plan's data on the device.
pub(super) struct Prepared {
    structure: Structure,
    values: Values,
    kernels: Kernels,
    dtype: DType,
    /// Tiles for blocks of vectors, with their number of entries as key.
    blocks: Mutex<Vec<(usize, Arc<DeviceCut>)>>,
    /// Cached workspaces, for products that run one after another.
    spaces: Mutex<Vec<(Following, Arc<Space>)>>,
}

/// The key of a workspace: the handle of the stream that orders products and, during a graph capture, the number of the
/// capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Following {
    queue: u64,
    capture: Option<u64>,
}

/// Workspace of a plan's products. Products on one stream can share it.
pub struct Space {
    partials: DeviceMemory,
    /// Counters of arrived blocks, 0 between products.
    arrivals: DeviceMemory,
    products: DeviceMemory,
    /// Locked while a product's launches are enqueued, so that another thread's launches do not come between them.
    launches: Mutex<()>,
}

/// Chooses a method from the row lengths and the type, as measured on an H200 (`benches/gpu/spmv_kernels.cu`).
pub(super) fn choose<T: Scalar>(s: &Statistics, cols: usize) -> (Method, &'static str) {
    let is_alike = s.longest as f64 <= (4.0 * s.mean).max(8.0) && s.deviation <= 0.5 * s.mean.max(1.0);
    let is_far = cols.saturating_mul(size_of::<T>()) > 2 << 20;
    if is_alike {
        (Method::EntrySplit, "rows of like length")
    } else if s.nnz > 1 << 22 && is_far && size_of::<T>() == 4 && sweeps::fits::<T>(cols, s.nnz) {
        (Method::Sweeps, "small numbers gathered from all over a long vector")
    } else if s.nnz > 1 << 24 && s.mean > 12.0 {
        (Method::RowBin, "many long rows of very different lengths")
    } else {
        (Method::EntrySplit, "rows of very different lengths")
    }
}

/// Whether tiles are short. Small matrices and wide numbers need more tiles to hide latencies.
fn has_short_tiles<T>(entries: usize) -> bool {
    size_of::<T>() > 4 || entries < 1 << 22
}

impl Prepared {
    /// Copies the matrix and the method's shares to the device.
    pub(super) fn new<T: Scalar>(gpu: &Gpu, a: &Csr, method: Method, group: usize) -> Result<Self> {
        let stream = gpu.default_stream();
        let structure = Structure::new(gpu, stream, a)?;
        let values = Values::new::<T>(gpu, stream, a)?;
        let rows = Rows::new(a)?;
        let shares =
            |form, cut: Cut| Ok::<_, Error>(Kernels::Shares(form, Box::new(DeviceCut::new(gpu, stream, &cut)?)));
        let kernels = match method {
            Method::Scalar => Kernels::Rows(1),
            Method::Vector => Kernels::Rows(32),
            Method::RowGroup => Kernels::Rows(group),
            Method::RowBin => shares(Form::Bins, Cut::bins(&rows)?)?,
            Method::Merge => shares(Form::Merge, Cut::merge(&rows)?)?,
            Method::Auto | Method::EntrySplit if has_short_tiles::<T>(structure.entries) => {
                shares(Form::ShortTiles, Cut::tiles(&rows, SHORT_TILE, TILE_ROWS)?)?
            }
            Method::Auto | Method::EntrySplit => shares(Form::Tiles, Cut::tiles(&rows, TILE, TILE_ROWS)?)?,
            Method::Sweeps => {
                let held = values.held(a)?;
                Kernels::Sweeps(Box::new(Sweeps::new::<T>(gpu, stream, &rows, &structure.with(a, held)?, held)?))
            }
        };
        Ok(Self { structure, values, kernels, dtype: T::DTYPE, blocks: Mutex::default(), spaces: Mutex::default() })
    }

    /// Updates the plan's copies of the values.
    pub(super) fn update<T: Scalar>(&mut self, gpu: &Gpu, a: &Csr) -> Result<()> {
        let stream = gpu.default_stream();
        self.values = Values::new::<T>(gpu, stream, a)?;
        if let Kernels::Sweeps(sweeps) = &mut self.kernels {
            let held = self.values.held(a)?;
            sweeps.update::<T>(gpu, stream, held, a.nnz())?;
            stream.synchronize()?;
        }
        Ok(())
    }

    /// Whether products read the values in the matrix's own memory, so that they are never out of date.
    pub(super) fn reads_in_place(&self) -> bool {
        let is_copied = matches!(&self.kernels, Kernels::Sweeps(_)) && !matches!(self.values, Values::Ones);
        self.values.are_in_place() && !is_copied
    }

    /// Number of shares, and bytes on the device.
    pub(super) fn figures(&self) -> (usize, usize) {
        let own = self.structure.bytes() + self.values.bytes();
        match &self.kernels {
            Kernels::Rows(_) => (self.structure.rows, own),
            Kernels::Shares(_, cut) => (cut.count, own + cut.bytes),
            Kernels::Sweeps(sweeps) => (sweeps.cut.count, own + sweeps.bytes()),
        }
    }

    /// Workspace of a product: numbers of partial sums, of counters and of stored products.
    fn workspace_lengths(&self) -> (usize, usize, usize) {
        match &self.kernels {
            Kernels::Rows(_) => (0, 0, 0),
            Kernels::Shares(_, cut) => (cut.pieces, cut.long_count, 0),
            Kernels::Sweeps(sweeps) => (sweeps.cut.pieces, sweeps.cut.long_count, sweeps.entries),
        }
    }

    fn expect<T: Scalar>(&self) -> Result<()> {
        if T::DTYPE == self.dtype {
            return Ok(());
        }
        Err(Error::invalid("a", format!("is {}, the plan is for {}", T::DTYPE.name(), self.dtype.name())))
    }

    /// Tiles for a block of `width` vectors.
    fn block_tiles<T: Scalar>(&self, gpu: &Gpu, a: &Csr, width: usize) -> Result<Arc<DeviceCut>> {
        let entries = kernels::block_entries(T::DTYPE, width);
        let mut made = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = made.iter().find(|m| m.0 == entries) {
            return Ok(Arc::clone(&found.1));
        }
        let cut = Cut::tiles(&Rows::new(a)?, entries, TILE_ROWS)?;
        let cut = Arc::new(DeviceCut::new(gpu, gpu.default_stream(), &cut)?);
        crate::alloc::push(WHAT, &mut made, (entries, Arc::clone(&cut)))?;
        Ok(cut)
    }
}

/// Largest number of vectors for one launch of a block kernel.
const MOST_WIDTH: usize = 16;

/// Largest number of streams and graphs whose workspace a plan caches.
const MOST_SPACES: usize = 32;

impl Plan {
    fn prepared(&self) -> Result<(&Gpu, &Prepared)> {
        let gpu = self.context().gpu("plan")?;
        let prepared = self.device.as_deref();
        Ok((gpu, prepared.ok_or_else(|| Error::Internal("a plan on a GPU with nothing there".into()))?))
    }

    compiled_here! {
        /// Allocates workspace for the products of this plan on `stream`.
        ///
        /// # Errors
        /// [`Error::NotSupported`] for a plan on the CPU; [`Error::OutOfDeviceMemory`].
        pub fn device_space<T: Scalar>(&self: Plan, stream: &GpuStream) -> Result<Space> = Plan::device_space_of;
    }

    fn device_space_of<T: Scalar>(&self, stream: &GpuStream) -> Result<Space> {
        let (gpu, prepared) = self.prepared()?;
        let (pieces, longs, products) = prepared.workspace_lengths();
        let memory =
            |count| gpu.allocate_uninitialised_on(stream, "work space", product("products", count, size_of::<T>())?);
        let arrivals = gpu.allocate_on(stream, "work space", 4 * longs)?;
        Ok(Space { partials: memory(pieces)?, arrivals, products: memory(products)?, launches: Mutex::default() })
    }

    /// As [`Plan::device_space`], but cached for the next call on the same stream: allocation takes longer than a small
    /// product. A graph gets a workspace of its own, because it may run at the same time as later calls. The plan frees
    /// it.
    fn cached_space<T: Scalar>(&self, stream: &GpuStream) -> Result<Arc<Space>> {
        let (gpu, prepared) = self.prepared()?;
        prepared.expect::<T>()?;
        let (pieces, longs, products) = prepared.workspace_lengths();
        if (pieces, longs, products) == (0, 0, 0) {
            return self.device_space::<T>(stream).map(Arc::new);
        }
        let following = Following { queue: stream.raw(), capture: stream.capture()? };
        let mut kept = prepared.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.iter().find(|k| k.0 == following) {
            return Ok(Arc::clone(&found.1));
        }
        if kept.len() >= MOST_SPACES {
            return self.device_space::<T>(stream).map(Arc::new);
        }
        let made = gpu.beside_graphs(|| {
            let memory = |count| gpu.allocate("work space", product("products", count, size_of::<T>())?);
            let arrivals = gpu.allocate("work space", 4 * longs)?;
            let (partials, products) = (memory(pieces)?, memory(products)?);
            Ok(Arc::new(Space { partials, arrivals, products, launches: Mutex::default() }))
        })?;
        crate::alloc::push(WHAT, &mut kept, (following, Arc::clone(&made)))?;
        Ok(made)
    }

    compiled_here! {
        /// Applies `finish` to the sums op(A) `gathered`, whatever the plan's kind, all on the device, in the order of
        /// `stream`. Rows are in the plan's order ([`Plan::renumbering`]). Does not wait or allocate. With alpha = 0, A and
        /// `gathered` are not read.
        ///
        /// The order of sums depends only on the structure of A: equal calls give equal bits. O(rows + entries). Values on
        /// the host were copied when the plan was made or [`Plan::update`] was called.
        ///
        /// # Errors
        /// [`Error::InvalidArgument`] for another type or structure than the plan's; [`Error::NotSupported`] for a plan on
        /// the CPU; [`Error::Cuda`]; [`Error::Internal`] for vectors that are too short.
        pub fn multiply_device<T: Scalar>(
            &self: Plan,
            a: &Matrix,
            stream: &GpuStream,
            space: &Space,
            gathered: Region<'_>,
            finish: &DeviceFinish<'_>,
        ) -> Result<()> = Plan::multiply_device_of;
    }

    fn multiply_device_of<T: Scalar>(
        &self,
        a: &Matrix,
        stream: &GpuStream,
        space: &Space,
        gathered: Region<'_>,
        finish: &DeviceFinish<'_>,
    ) -> Result<()> {
        self.expect(a)?;
        let (gpu, prepared) = self.prepared()?;
        prepared.expect::<T>()?;
        if finish.alpha == Complex::new(0.0, 0.0) {
            return kernels::rest(T::DTYPE, gpu, stream, prepared.structure.rows, finish);
        }
        let (partials, arrivals) = (space.partials.whole(), space.arrivals.whole());
        let own = csr(self.matrix(a))?;
        let rows = prepared.structure.with(own, prepared.values.held(own)?)?;
        let _alone = space.launches.lock().unwrap_or_else(PoisonError::into_inner);
        match &prepared.kernels {
            Kernels::Rows(lanes) => {
                kernels::multiply(T::DTYPE, gpu, stream, Form::Rows(*lanes), &rows, None, gathered, finish)
            }
            Kernels::Shares(form, cut) => {
                let shares = cut.shares(partials, arrivals);
                kernels::multiply(T::DTYPE, gpu, stream, *form, &rows, Some(shares), gathered, finish)
            }
            Kernels::Sweeps(sweeps) => sweeps.multiply::<T>(gpu, stream, &rows, space, gathered, finish),
        }
    }

    compiled_here! {
        /// Y = alpha op(A) X + beta Y on the device for `width` vectors, row by row: number `r * x_stride + k` is element
        /// (r, k) of X, and likewise for Y. Rows are in the plan's order ([`Plan::renumbering`]). Equal calls give equal
        /// bits.
        ///
        /// # Errors
        /// As [`Plan::multiply_device`]; [`Error::InvalidArgument`] for a width of 0, or strides less than the width.
        pub fn multiply_device_block<T: Scalar>(
            &self: Plan,
            a: &Matrix,
            stream: &GpuStream,
            factors: (Complex<f64>, Complex<f64>),
            width: usize,
            from: (Region<'_>, usize),
            to: (Region<'_>, usize),
        ) -> Result<()> = Plan::multiply_device_block_of;
    }

    fn multiply_device_block_of<T: Scalar>(
        &self,
        a: &Matrix,
        stream: &GpuStream,
        (alpha, beta): (Complex<f64>, Complex<f64>),
        width: usize,
        (x, x_stride): (Region<'_>, usize),
        (y, y_stride): (Region<'_>, usize),
    ) -> Result<()> {
        let finish = DeviceFinish::plain(y, alpha, beta);
        let gathered = Vectors { memory: x, stride: x_stride };
        self.multiply_device_block_finished::<T>(a, stream, width, gathered, &finish, (0, y_stride))
    }

    /// Applies `finish` to the sums op(A) `gathered` for `width` vectors, row by row. The last argument has the row
    /// strides of its x and y.
    fn multiply_device_block_finished<T: Scalar>(
        &self,
        a: &Matrix,
        stream: &GpuStream,
        width: usize,
        gathered: Vectors<'_>,
        finish: &DeviceFinish<'_>,
        (own_stride, y_stride): (usize, usize),
    ) -> Result<()> {
        self.expect(a)?;
        let (gpu, prepared) = self.prepared()?;
        prepared.expect::<T>()?;
        if width == 0 {
            return Err(Error::invalid("width", "is 0, at least 1 is needed"));
        }
        for (name, stride) in [("x_stride", gathered.stride), ("y_stride", y_stride)] {
            if stride < width {
                return Err(Error::invalid(name, format!("is {stride}, less than width = {width}")));
            }
        }
        let own = csr(self.matrix(a))?;
        let rows = prepared.structure.with(own, prepared.values.held(own)?)?;
        let strides = (own_stride, y_stride);
        if finish.alpha == Complex::new(0.0, 0.0) {
            return kernels::rest_block(T::DTYPE, gpu, stream, (rows.rows, width), finish, strides);
        }
        for first in (0..width).step_by(MOST_WIDTH) {
            let count = MOST_WIDTH.min(width - first);
            let cut = prepared.block_tiles::<T>(gpu, own, count)?;
            let bytes = product("partials", product("partials", cut.pieces, count)?, size_of::<T>())?;
            let partials = gpu.allocate_uninitialised_on(stream, "work space", bytes)?;
            let shares = cut.shares(partials.whole(), partials.whole());
            let gathered = Vectors { memory: columns::<T>(gathered.memory, first)?, ..gathered };
            let x = finish.x.map(|x| columns::<T>(x, first)).transpose()?;
            let finish = DeviceFinish { y: columns::<T>(finish.y, first)?, x, ..*finish };
            kernels::block(T::DTYPE, gpu, stream, &rows, shares, count, gathered, &finish, strides)?;
        }
        Ok(())
    }
}

/// The vectors of a block from `first` on.
fn columns<T>(memory: Region<'_>, first: usize) -> Result<Region<'_>> {
    let skip = (first * size_of::<T>()).min(memory.bytes());
    memory.part(skip, memory.bytes() - skip)
}
