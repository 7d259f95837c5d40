//! Column-major matrices in device memory.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, View};
use crate::error::{Error, Result};
use crate::scalar::{DType, Element};
use crate::shape::product;

/// A packed column-major matrix in device memory, for work on one stream.
pub struct DeviceMatrix {
    memory: DeviceMemory,
    dtype: DType,
    rows: usize,
    cols: usize,
}

impl DeviceMatrix {
    /// A zeroed matrix, allocated and freed in the order of `stream`.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], the context's limit included; [`Error::InvalidArgument`] if the number of bytes
    /// overflows; errors of the device.
    pub fn zeros(
        gpu: &Gpu,
        stream: &GpuStream,
        what: &'static str,
        dtype: DType,
        (rows, cols): (usize, usize),
    ) -> Result<Self> {
        let memory = gpu.allocate_on(stream, what, Self::bytes(what, dtype, rows, cols)?)?;
        Ok(Self { memory, dtype, rows, cols })
    }

    /// A matrix with undefined contents, which must be written before it is read.
    ///
    /// # Errors
    /// As [`DeviceMatrix::zeros`].
    pub fn uninitialized(
        gpu: &Gpu,
        stream: &GpuStream,
        what: &'static str,
        dtype: DType,
        (rows, cols): (usize, usize),
    ) -> Result<Self> {
        let memory = gpu.allocate_uninitialized_on(stream, what, Self::bytes(what, dtype, rows, cols)?)?;
        Ok(Self { memory, dtype, rows, cols })
    }

    /// A matrix in the first bytes of `memory`, which must be large enough.
    ///
    /// # Errors
    /// [`Error::Internal`] for too little memory; [`Error::InvalidArgument`] if the number of bytes overflows.
    pub fn from_memory(memory: DeviceMemory, dtype: DType, (rows, cols): (usize, usize)) -> Result<Self> {
        if Self::bytes("matrix", dtype, rows, cols)? > memory.bytes() {
            return Err(Error::Internal(format!("{rows} x {cols} elements in {} bytes", memory.bytes())));
        }
        Ok(Self { memory, dtype, rows, cols })
    }

    fn bytes(what: &'static str, dtype: DType, rows: usize, cols: usize) -> Result<usize> {
        product(what, product(what, rows, cols)?, dtype.size())
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// (rows, columns), either of which may be 0.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Rows, which are contiguous in memory.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns, `rows` entries apart.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The matrix for kernels and libraries.
    pub fn view(&self) -> View<'_> {
        View::packed(self.memory.whole(), self.rows, self.cols)
    }

    /// The memory, packed column by column.
    pub fn memory(&self) -> &DeviceMemory {
        &self.memory
    }

    /// The memory, packed column by column, without the shape.
    pub fn into_memory(self) -> DeviceMemory {
        self.memory
    }

    /// The memory, to be written.
    pub fn memory_mut(&mut self) -> &mut DeviceMemory {
        &mut self.memory
    }
}

/// A [`DeviceMatrix`] with elements of type T.
pub struct GpuMatrix<T> {
    matrix: DeviceMatrix,
    element: PhantomData<T>,
}

impl<T> Deref for GpuMatrix<T> {
    type Target = DeviceMatrix;

    #[inline]
    fn deref(&self) -> &DeviceMatrix {
        &self.matrix
    }
}

impl<T: Element> GpuMatrix<T> {
    /// The matrix with its type.
    ///
    /// # Errors
    /// [`Error::Internal`] for another element type.
    #[inline]
    pub fn new(matrix: DeviceMatrix) -> Result<Self> {
        if matrix.dtype != T::DTYPE {
            return Err(wrong_type(&matrix, T::DTYPE));
        }
        Ok(Self { matrix, element: PhantomData })
    }

    /// A matrix in the first bytes of `memory`, which must be large enough.
    ///
    /// # Errors
    /// As [`DeviceMatrix::from_memory`].
    #[inline]
    pub fn from_memory(memory: DeviceMemory, rows: usize, cols: usize) -> Result<Self> {
        Self::new(DeviceMatrix::from_memory(memory, T::DTYPE, (rows, cols))?)
    }

    /// The memory, packed column by column, without the shape.
    pub fn into_memory(self) -> DeviceMemory {
        self.matrix.memory
    }

    /// The matrix without its type.
    pub fn into_untyped(self) -> DeviceMatrix {
        self.matrix
    }

    /// The matrix without its type, to be changed or replaced by another of the same type.
    pub fn untyped_mut(&mut self) -> &mut DeviceMatrix {
        &mut self.matrix
    }

    /// The memory, to be written.
    pub fn memory_mut(&mut self) -> &mut DeviceMemory {
        &mut self.matrix.memory
    }
}

#[cold]
fn wrong_type(matrix: &DeviceMatrix, needed: DType) -> Error {
    Error::Internal(format!("a matrix of {}, {} is needed", matrix.dtype.name(), needed.name()))
}
