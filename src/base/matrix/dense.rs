//! Entries of dense matrices, for reading and for writing.

use std::borrow::Cow;

use crate::alloc;
use crate::backend::memory::Memory;
use crate::error::{Error, Result};
use crate::scalar::Element;
use crate::shape::{Layout, Order};
use crate::tensor::ViewMut;

/// The entries of a dense matrix.
#[derive(Clone, Copy)]
pub struct Dense<'a> {
    /// Host or device memory that holds the entries.
    pub memory: &'a Memory,
    /// Rows and columns with their strides.
    pub layout: &'a Layout,
    /// Whether the entries of a column or of a row are contiguous.
    pub order: Order,
}

/// The entries of a dense matrix, to write to.
pub struct DenseMut<'a> {
    /// Host or device memory that holds the entries.
    pub memory: &'a mut Memory,
    /// Rows and columns with their strides.
    pub layout: &'a Layout,
    /// Whether the entries of a column or of a row are contiguous.
    pub order: Order,
}

impl<'a> Dense<'a> {
    /// The entries on the host, column by column: borrowed if they are packed so, else a copy.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for device memory; [`Error::OutOfMemory`].
    pub fn columns<T: Element>(&self, argument: &str) -> Result<Cow<'a, [T]>> {
        let strides = self.layout.strides();
        self.packed(
            argument,
            Order::ColumnMajor,
            [(self.layout.dims()[1], strides[1]), (self.layout.dims()[0], strides[0])],
        )
    }

    /// The entries on the host line by line: columns of a column-major matrix, rows of a row-major one.
    ///
    /// # Errors
    /// As [`Dense::columns`].
    pub fn lines<T: Element>(&self, argument: &str) -> Result<Cow<'a, [T]>> {
        let (dims, strides) = (self.layout.dims(), self.layout.strides());
        let (slow, fast) = match self.order {
            Order::ColumnMajor => (1, 0),
            Order::RowMajor => (0, 1),
        };
        self.packed(argument, self.order, [(dims[slow], strides[slow]), (dims[fast], strides[fast])])
    }

    fn packed<T: Element>(&self, argument: &str, order: Order, axes: [(usize, usize); 2]) -> Result<Cow<'a, [T]>> {
        let data = self.memory.host(argument)?.as_slice::<T>()?;
        let [(slow, far), (fast, near)] = axes;
        if self.layout.is_packed(order) {
            return Ok(Cow::Borrowed(&data[..slow * fast]));
        }
        let mut packed = alloc::with_capacity("entries of a matrix", slow * fast)?;
        for i in 0..slow {
            packed.extend((0..fast).map(|j| data[i * far + j * near]));
        }
        Ok(Cow::Owned(packed))
    }
}

impl DenseMut<'_> {
    /// Writes consecutive columns from the first on; the other columns stay unchanged.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for device memory; [`Error::Internal`] for more columns than the matrix has.
    pub fn set_columns<T: Element>(&mut self, argument: &str, columns: &[T]) -> Result<()> {
        let rows = self.layout.dims()[0];
        if columns.len() > self.layout.elements() {
            return Err(Error::Internal("more columns than a matrix has".into()));
        }
        let mut view = ViewMut::new(self.memory.host_mut(argument)?.as_mut_slice::<T>()?, self.layout);
        for (j, column) in columns.chunks_exact(rows.max(1)).enumerate() {
            view.write_column(&[j], column);
        }
        Ok(())
    }
}
