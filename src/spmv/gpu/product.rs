//! Products with vectors in device memory.

use std::sync::{Arc, Mutex, PoisonError};

use super::needed::MOST_WIDTH;
use super::prepared::{Kernels, Prepared, WorkspaceKey};
use super::space::Space;
use crate::backend::gpu::kernels::spmv::{self as kernels, Finish as DeviceFinish, Form, Vectors};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::{Complex, DType};
use crate::shape::product;
use crate::spmv::plan::Plan;
use crate::spmv::tiles::csr;

const WHAT: &str = "plan of a sparse product";

/// Largest number of streams and graphs whose workspace a plan caches.
const MOST_SPACES: usize = 32;

impl Plan {
    fn prepared(&self) -> Result<(&Gpu, &Prepared)> {
        let gpu = self.context().gpu("plan")?;
        let prepared = self.device.as_deref();
        Ok((gpu, prepared.ok_or_else(|| Error::Internal("a plan on a GPU with nothing there".into()))?))
    }

    /// Allocates workspace for the products of this plan on `stream`.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a plan on the CPU; [`Error::OutOfDeviceMemory`].
    pub fn device_space(&self, stream: &GpuStream) -> Result<Space> {
        let (gpu, prepared) = self.prepared()?;
        let (pieces, longs, products) = prepared.workspace_lengths();
        let memory = |count| {
            gpu.allocate_uninitialized_on(stream, "work space", product("products", count, prepared.dtype.size())?)
        };
        let arrivals = gpu.allocate_on(stream, "work space", 4 * longs)?;
        Ok(Space { partials: memory(pieces)?, arrivals, products: memory(products)?, launches: Mutex::default() })
    }

    /// As [`Plan::device_space`], but cached for the next call on the same stream: allocation takes longer than a small
    /// product. A graph gets a workspace of its own, because it may run at the same time as later calls. The plan frees
    /// it.
    pub(super) fn cached_space(&self, dtype: DType, stream: &GpuStream) -> Result<Arc<Space>> {
        let (gpu, prepared) = self.prepared()?;
        prepared.expect(dtype)?;
        let (pieces, longs, products) = prepared.workspace_lengths();
        if (pieces, longs, products) == (0, 0, 0) {
            return self.device_space(stream).map(Arc::new);
        }
        let following = WorkspaceKey { queue: stream.raw(), capture: stream.capture()? };
        let mut kept = prepared.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.iter().find(|k| k.0 == following) {
            return Ok(Arc::clone(&found.1));
        }
        if kept.len() >= MOST_SPACES {
            return self.device_space(stream).map(Arc::new);
        }
        let made = gpu.beside_graphs(|| {
            let memory = |count| gpu.allocate("work space", product("products", count, prepared.dtype.size())?);
            let arrivals = gpu.allocate("work space", 4 * longs)?;
            let (partials, products) = (memory(pieces)?, memory(products)?);
            Ok(Arc::new(Space { partials, arrivals, products, launches: Mutex::default() }))
        })?;
        crate::alloc::push(WHAT, &mut kept, (following, Arc::clone(&made)))?;
        Ok(made)
    }

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
    pub fn multiply_device(
        &self,
        a: &Matrix,
        stream: &GpuStream,
        space: &Space,
        gathered: Region<'_>,
        finish: &DeviceFinish<'_>,
    ) -> Result<()> {
        self.expect(a)?;
        let dtype = a.dtype();
        let (gpu, prepared) = self.prepared()?;
        prepared.expect(dtype)?;
        if finish.alpha == Complex::new(0.0, 0.0) {
            return kernels::rest(dtype, gpu, stream, prepared.structure.rows, finish);
        }
        let (partials, arrivals) = (space.partials.whole(), space.arrivals.whole());
        let own = csr(self.matrix(a))?;
        let rows = prepared.structure.with(own, prepared.values.held(own)?)?;
        let _alone = space.launches.lock().unwrap_or_else(PoisonError::into_inner);
        match &prepared.kernels {
            Kernels::Rows(lanes) => {
                kernels::multiply(dtype, gpu, stream, Form::Rows(*lanes), &rows, None, gathered, finish)
            }
            Kernels::Shares(form, cut) => {
                let shares = cut.shares(partials, arrivals);
                kernels::multiply(dtype, gpu, stream, *form, &rows, Some(shares), gathered, finish)
            }
            Kernels::Sweeps(sweeps) => sweeps.multiply(dtype, gpu, stream, &rows, space, gathered, finish),
        }
    }

    /// Y = alpha op(A) X + beta Y on the device for `width` vectors, row by row: number `r * x_stride + k` is element
    /// (r, k) of X, and likewise for Y. Rows are in the plan's order ([`Plan::renumbering`]). Equal calls give equal
    /// bits.
    ///
    /// # Errors
    /// As [`Plan::multiply_device`]; [`Error::InvalidArgument`] for a width of 0, or strides less than the width.
    pub fn multiply_device_block(
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
        self.multiply_device_block_finished(a, stream, width, gathered, &finish, (0, y_stride))
    }

    /// Applies `finish` to the sums op(A) `gathered` for `width` vectors, row by row. The last argument has the row
    /// strides of its x and y.
    pub(super) fn multiply_device_block_finished(
        &self,
        a: &Matrix,
        stream: &GpuStream,
        width: usize,
        gathered: Vectors<'_>,
        finish: &DeviceFinish<'_>,
        (own_stride, y_stride): (usize, usize),
    ) -> Result<()> {
        self.expect(a)?;
        let dtype = a.dtype();
        let (gpu, prepared) = self.prepared()?;
        prepared.expect(dtype)?;
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
            return kernels::rest_block(dtype, gpu, stream, (rows.rows, width), finish, strides);
        }
        for first in (0..width).step_by(MOST_WIDTH) {
            let count = MOST_WIDTH.min(width - first);
            let cut = prepared.block_tiles(gpu, own, count)?;
            let bytes = product("partials", product("partials", cut.pieces, count)?, dtype.size())?;
            let partials = gpu.allocate_uninitialized_on(stream, "work space", bytes)?;
            let shares = cut.shares(partials.whole(), partials.whole());
            let gathered = Vectors { memory: columns(dtype, gathered.memory, first)?, ..gathered };
            let x = finish.x.map(|x| columns(dtype, x, first)).transpose()?;
            let finish = DeviceFinish { y: columns(dtype, finish.y, first)?, x, ..*finish };
            kernels::block(dtype, gpu, stream, &rows, shares, count, gathered, &finish, strides)?;
        }
        Ok(())
    }
}

/// The vectors of a block from `first` on.
fn columns(dtype: DType, memory: Region<'_>, first: usize) -> Result<Region<'_>> {
    let skip = (first * dtype.size()).min(memory.bytes());
    memory.part(skip, memory.bytes() - skip)
}
