//! Matrices: dense with a leading dimension, and compressed sparse rows.

mod csr;

use std::sync::Arc;

use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{Layout, Order};
use crate::stream::{self, Stream};
use crate::tensor::{self, Location};

pub use csr::{Csr, CsrParts, IndexType};

/// How the entries of a matrix are stored.
pub enum Storage {
    /// Every entry, column- or row-major with a leading dimension.
    Dense {
        /// The entries.
        memory: Memory,
        /// Rows and columns with their strides.
        layout: Layout,
        /// Which index runs fastest.
        order: Order,
    },
    /// Compressed sparse rows.
    Csr(Csr),
}

/// A matrix on the host or the context's GPU.
pub struct Matrix {
    storage: Storage,
    dtype: DType,
    rows: usize,
    cols: usize,
    read_only: bool,
    context: Arc<Context>,
}

impl Matrix {
    /// A zeroed dense matrix of purlin's own, packed.
    pub fn create(
        context: &Arc<Context>,
        dtype: DType,
        location: Location,
        order: Order,
        rows: usize,
        cols: usize,
    ) -> Result<Self> {
        let layout = Layout::packed(&[rows, cols], order, dtype)?;
        let memory = tensor::allocate(context, "matrix", location, layout.extent() * dtype.size())?;
        let storage = Storage::Dense { memory, layout, order };
        Ok(Self { storage, dtype, rows, cols, read_only: false, context: Arc::clone(context) })
    }

    /// Layout of a dense matrix with leading dimension `ld`, at least the length of a column (of a row if row-major).
    pub fn dense_layout(dtype: DType, order: Order, rows: usize, cols: usize, ld: usize) -> Result<Layout> {
        let (least, name, strides) = match order {
            Order::ColumnMajor => (rows, "rows", [1, ld]),
            Order::RowMajor => (cols, "cols", [ld, 1]),
        };
        if ld < least.max(1) {
            return Err(Error::invalid("ld", format!("is {ld}, less than {name} = {least}")));
        }
        Layout::strided(&[rows, cols], &strides, dtype)
    }

    /// A dense matrix over memory that exists, which must hold `layout.extent()` elements.
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

    /// A sparse matrix.
    pub fn from_csr(context: &Arc<Context>, dtype: DType, csr: Csr, read_only: bool) -> Self {
        let (rows, cols) = (csr.rows(), csr.cols());
        Self { storage: Storage::Csr(csr), dtype, rows, cols, read_only, context: Arc::clone(context) }
    }

    /// How the entries are stored.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Whether it was borrowed for reading only.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// The context it belongs to.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }
}

/// Copies a dense matrix into another of the same size and type, in any direction between host and device.
///
/// # Errors
/// As [`tensor::copy`]; [`Error::NotSupported`] for sparse storage.
pub fn copy(context: &Context, queue: Option<&Stream>, source: &Matrix, destination: &mut Matrix) -> Result<()> {
    for (name, m) in [("source", source), ("destination", &*destination)] {
        if !std::ptr::eq(Arc::as_ptr(&m.context), context) {
            return Err(Error::invalid(name, "belongs to another context"));
        }
    }
    if (source.rows, source.cols) != (destination.rows, destination.cols) {
        let (a, b) = ((destination.rows, destination.cols), (source.rows, source.cols));
        return Err(Error::invalid("destination", format!("is {} x {}, {} x {} is needed", a.0, a.1, b.0, b.1)));
    }
    if source.dtype != destination.dtype {
        let (a, b) = (destination.dtype.name(), source.dtype.name());
        return Err(Error::invalid("destination", format!("is {a}, {b} is needed")));
    }
    if destination.read_only {
        return Err(Error::invalid("destination", "was borrowed read-only and cannot be written to"));
    }
    let queue = stream::select(context, queue)?;
    match (&source.storage, &mut destination.storage) {
        (Storage::Dense { memory: a, layout: la, .. }, Storage::Dense { memory: b, layout: lb, .. }) => {
            tensor::copy_memory(context, queue, source.dtype, (a, la), (b, &*lb))
        }
        _ => Err(Error::NotSupported("source: copies of sparse matrices".into())),
    }
}

#[cfg(test)]
mod tests;
