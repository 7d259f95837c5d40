//! Column-major matrices in device memory.

use std::marker::PhantomData;

use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, View};
use crate::error::{Error, Result};
use crate::scalar::Element;
use crate::shape::product;

/// A packed column-major matrix in device memory, for work on one stream.
pub struct GpuMatrix<T> {
    memory: DeviceMemory,
    rows: usize,
    cols: usize,
    element: PhantomData<T>,
}

impl<T: Element> GpuMatrix<T> {
    /// A zeroed matrix, allocated and freed in the order of `stream`.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], the context's limit included; [`Error::InvalidArgument`] if the number of bytes
    /// overflows; errors of the device.
    pub fn zeros(gpu: &Gpu, stream: &GpuStream, what: &'static str, rows: usize, cols: usize) -> Result<Self> {
        let memory = gpu.allocate_on(stream, what, Self::size(what, rows, cols)?)?;
        Ok(Self { memory, rows, cols, element: PhantomData })
    }

    /// A matrix with undefined contents, which must be written before it is read.
    ///
    /// # Errors
    /// As [`GpuMatrix::zeros`].
    pub fn uninitialised(gpu: &Gpu, stream: &GpuStream, what: &'static str, rows: usize, cols: usize) -> Result<Self> {
        let memory = gpu.allocate_uninitialised_on(stream, what, Self::size(what, rows, cols)?)?;
        Ok(Self { memory, rows, cols, element: PhantomData })
    }

    /// A matrix in the first bytes of `memory`, which must be large enough.
    ///
    /// # Errors
    /// [`Error::Internal`] for too little memory; [`Error::InvalidArgument`] if the number of bytes overflows.
    pub fn from_memory(memory: DeviceMemory, rows: usize, cols: usize) -> Result<Self> {
        if Self::size("matrix", rows, cols)? > memory.bytes() {
            return Err(Error::Internal(format!("{rows} x {cols} elements in {} bytes", memory.bytes())));
        }
        Ok(Self { memory, rows, cols, element: PhantomData })
    }

    fn size(what: &'static str, rows: usize, cols: usize) -> Result<usize> {
        product(what, product(what, rows, cols)?, size_of::<T>())
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
