//! Matrices: sizes, type and context of every kind of storage.

use std::sync::Arc;

use super::csr::Csr;
use super::dense::{Dense, DenseMut};
use super::flattened::Flattened;
use super::operator::{Operator, SharedOperator};
use super::storage::Storage;
use super::streamed::{SharedSource, Streamed};
use crate::alloc;
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::shape::{Layout, Order, too_large};
use crate::tensor::{self, Location, Tensor};

/// A matrix: in the memory of the host or the context's GPU, read in blocks, or known by its products.
pub struct Matrix {
    storage: Storage,
    dtype: DType,
    rows: usize,
    cols: usize,
    read_only: bool,
    context: Arc<Context>,
}

impl Matrix {
    /// A packed dense matrix of zeros, in memory that purlin owns.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a matrix of more than 2^63 bytes; [`Error::NotSupported`] for device memory of a
    /// context on the CPU; out of memory, the context's limit included; errors of the device.
    pub fn create(
        context: &Arc<Context>,
        dtype: DType,
        location: Location,
        order: Order,
        rows: usize,
        cols: usize,
    ) -> Result<Self> {
        let layout =
            Layout::packed(&[rows, cols], order, dtype).map_err(|_| too_large(&[("rows", rows), ("cols", cols)]))?;
        let memory = tensor::allocate(context, "matrix", location, layout.extent() * dtype.size())?;
        let storage = Storage::Dense { memory, layout, order };
        Ok(Self { storage, dtype, rows, cols, read_only: false, context: Arc::clone(context) })
    }

    /// Layout of a dense matrix with leading dimension `ld`, at least the length of a column (of a row if row-major).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an `ld` that is too small, and for a matrix that spans more than 2^63 bytes.
    pub fn dense_layout(dtype: DType, order: Order, rows: usize, cols: usize, ld: usize) -> Result<Layout> {
        let (least, name, strides) = match order {
            Order::ColumnMajor => (rows, "rows", [1, ld]),
            Order::RowMajor => (cols, "cols", [ld, 1]),
        };
        if ld < least.max(1) {
            return Err(Error::invalid("ld", format!("is {ld}, less than {name} = {least}")));
        }
        let sizes = [("rows", rows), ("cols", cols), ("ld", ld)];
        Layout::strided(&[rows, cols], &strides, dtype).map_err(|_| too_large(&sizes))
    }

    /// A dense matrix over existing memory, which must hold `layout.extent()` elements.
    ///
    /// # Errors
    /// [`Error::Internal`] for too little memory, and for a layout without two dimensions.
    pub fn from_memory(
        context: &Arc<Context>,
        dtype: DType,
        order: Order,
        layout: Layout,
        memory: Memory,
        read_only: bool,
    ) -> Result<Self> {
        let &[rows, cols] = layout.dims() else {
            return Err(Error::Internal("a matrix layout without two dimensions".into()));
        };
        if memory.bytes() / dtype.size() < layout.extent() {
            return Err(Error::Internal("too little memory for a matrix".into()));
        }
        let storage = Storage::Dense { memory, layout, order };
        Ok(Self { storage, dtype, rows, cols, read_only, context: Arc::clone(context) })
    }

    /// A sparse matrix of the checked arrays `csr`, whose values have type `dtype`.
    pub fn from_csr(context: &Arc<Context>, dtype: DType, csr: Csr, read_only: bool) -> Self {
        let (rows, cols) = (csr.rows(), csr.cols());
        Self { storage: Storage::Csr(csr), dtype, rows, cols, read_only, context: Arc::clone(context) }
    }

    /// A matrix that is read in blocks. The last axis of the source is its columns (`ColumnMajor`) or its rows
    /// (`RowMajor`). All other axes together are the other dimension, for example the pixels of a frame.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a source of a single axis; [`Error::Busy`] while a run reads it.
    pub fn from_source(context: &Arc<Context>, source: SharedSource, order: Order) -> Result<Self> {
        let axes = source.lock("source")?.info().dims.len();
        let source = if axes == 2 { source } else { SharedSource::new(Box::new(Flattened::new("source", source)?)) };
        let (dtype, dims, bytes) = {
            let guard = source.lock("source")?;
            let info = guard.info();
            (info.number.dtype(), info.dims.clone(), info.bytes())
        };
        let &[fast, slow] = &dims[..] else {
            return Err(Error::Internal(format!("a matrix of dimensions {dims:?}")));
        };
        let (rows, cols) = match order {
            Order::ColumnMajor => (fast, slow),
            Order::RowMajor => (slow, fast),
        };
        let storage = Storage::Streamed(Streamed { source, order, bytes });
        Ok(Self { storage, dtype, rows, cols, read_only: true, context: Arc::clone(context) })
    }

    /// A matrix that is known only by its products.
    pub fn from_operator<T: Scalar>(context: &Arc<Context>, operator: Box<dyn Operator<T>>) -> Self {
        let (rows, cols) = operator.shape();
        let storage = Storage::Operator(SharedOperator::new(operator));
        Self { storage, dtype: T::DTYPE, rows, cols, read_only: true, context: Arc::clone(context) }
    }

    /// The entries of a dense matrix.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for any other storage.
    #[inline]
    pub fn dense(&self, argument: &str) -> Result<Dense<'_>> {
        match &self.storage {
            Storage::Dense { memory, layout, order } => Ok(Dense { memory, layout, order: *order }),
            other => Err(needs_dense(argument, other)),
        }
    }

    /// The entries of a dense matrix, to write to.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for any other storage, [`Error::InvalidArgument`] for a matrix borrowed for reading.
    pub fn dense_mut(&mut self, argument: &str) -> Result<DenseMut<'_>> {
        match &mut self.storage {
            Storage::Dense { .. } if self.read_only => {
                Err(Error::invalid(argument, "was borrowed read-only and cannot be written to"))
            }
            Storage::Dense { memory, layout, order } => Ok(DenseMut { memory, layout, order: *order }),
            other => Err(needs_dense(argument, other)),
        }
    }

    /// Refuses other sizes than `rows` x `cols`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument`.
    pub fn expect_size(&self, argument: &str, rows: usize, cols: usize) -> Result<()> {
        if (self.rows, self.cols) == (rows, cols) {
            return Ok(());
        }
        Err(Error::invalid(argument, format!("is {} x {}, {rows} x {cols} is needed", self.rows, self.cols)))
    }

    /// Refuses another element type than `dtype`.
    ///
    /// # Errors
    /// As [`DType::expect`].
    pub fn expect_dtype(&self, argument: &str, dtype: DType) -> Result<()> {
        self.dtype.expect(argument, dtype)
    }

    /// Refuses a matrix of another context.
    ///
    /// # Errors
    /// As [`Context::expect_own`].
    pub fn expect_context(&self, argument: &str, context: &Context) -> Result<()> {
        context.expect_own(argument, &self.context)
    }

    /// Replaces the values of a sparse matrix in memory that purlin owns; the structure stays. A borrowed matrix reads
    /// its values from the caller's array each time it is used.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a pattern, borrowed memory, another number or type of values;
    /// [`Error::NotSupported`] for another storage, or values in device memory.
    pub fn set_values(&mut self, values: &Tensor) -> Result<()> {
        values.expect_dtype("values", self.dtype)?;
        let csr = match &mut self.storage {
            Storage::Csr(csr) => csr,
            other => {
                return Err(Error::NotSupported(format!("matrix: is {}, a sparse matrix is needed", other.name())));
            }
        };
        values.expect_dims("values", &[csr.nnz()])?;
        let nnz = csr.nnz();
        let memory = csr.values_mut().ok_or_else(|| Error::invalid("matrix", "is a pattern, it has no values"))?;
        if !memory.is_owned() {
            return Err(Error::invalid("matrix", "is borrowed, a matrix that owns its values is needed"));
        }
        with_scalar!(self.dtype, "matrix", T => {
            let to = match memory {
                Memory::Host(to) => to.as_mut_slice::<T>()?,
                Memory::Device(to) => {
                    let mut packed = alloc::filled("values", nnz, T::default())?;
                    values.view::<T>("values")?.read_column(&[], &mut packed);
                    let gpu = self.context.gpu("matrix")?;
                    gpu.store_numbers(gpu.default_stream(), &packed, to, 0)?;
                    // Any stream may use the values after this call.
                    return gpu.default_stream().synchronize();
                }
            };
            values.view::<T>("values")?.read_column(&[], &mut to[..nnz]);
            Ok(())
        })
    }

    /// How the entries are stored.
    #[inline]
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Bytes of all arrays, on the host and the device.
    pub fn storage_bytes(&self) -> usize {
        match &self.storage {
            Storage::Dense { memory, .. } => memory.bytes(),
            Storage::Csr(csr) => {
                let parts = csr.parts();
                let device = csr.device().map_or(0, |d| d.row_ptr.bytes() + d.col_idx.bytes());
                let indices = parts.row_ptr.bytes() + parts.col_idx.bytes() + device;
                indices + parts.values.as_ref().map_or(0, Memory::bytes)
            }
            Storage::Streamed(_) | Storage::Operator(_) => 0,
        }
    }

    /// Type of the entries, the ones of a pattern included.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of rows m.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns n.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Whether only [`Matrix::set_values`] changes the values of a sparse matrix: purlin owns them, and the caller has
    /// no access to write them. Results computed from such values are valid until [`Csr::version`] changes.
    pub fn owns_values(&self) -> bool {
        let Storage::Csr(csr) = &self.storage else { return false };
        csr.parts().values.as_ref().is_none_or(|v| v.is_owned() && self.read_only)
    }

    /// Whether it was borrowed for reading only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The context it belongs to.
    #[inline]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

fn needs_dense(argument: &str, storage: &Storage) -> Error {
    Error::NotSupported(format!("{argument}: is {}, a dense matrix is needed", storage.name()))
}
