//! Views of matrices in device memory, for kernels and libraries.

use super::memory::Region;
use crate::error::{Error, Result};
use crate::scalar::DType;

/// The operation on a factor of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transpose {
    /// The matrix as it is.
    Plain,
    /// The transpose. A row-major matrix is the transpose of the column-major matrix in the same memory.
    Transpose,
    /// The conjugate transpose; for real types the transpose.
    Adjoint,
}

impl Transpose {
    /// Rows and columns of `view` after the operation.
    pub fn shape(self, view: &View<'_>) -> (usize, usize) {
        if self == Self::Plain { (view.rows, view.cols) } else { (view.cols, view.rows) }
    }
}

/// A column-major matrix in device memory. The type of its elements is that of the call.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// From the first element to at least the last.
    pub memory: Region<'a>,
    /// Rows, contiguous in memory.
    pub rows: usize,
    /// Columns, `ld` elements apart.
    pub cols: usize,
    /// Elements from one column to the next, at least the rows.
    pub ld: usize,
}

impl<'a> View<'a> {
    /// A matrix without gaps between its columns.
    pub fn packed(memory: Region<'a>, rows: usize, cols: usize) -> Self {
        Self { memory, rows, cols, ld: rows }
    }

    /// Elements from the first to one past the last.
    fn elements(&self) -> Result<usize> {
        if self.rows == 0 || self.cols == 0 {
            return Ok(0);
        }
        let reach = (self.cols - 1).checked_mul(self.ld).and_then(|e| e.checked_add(self.rows));
        match reach {
            Some(reach) if self.ld >= self.rows => Ok(reach),
            _ => Err(Error::Internal(format!("{} x {} elements, {} a column", self.rows, self.cols, self.ld))),
        }
    }

    /// The part from (`row`, `column`) on with the given rows and columns, for elements of type `dtype`.
    ///
    /// # Errors
    /// [`Error::Internal`] for a part outside of the matrix, and for a matrix that its memory does not hold.
    pub fn part(&self, dtype: DType, (row, column): (usize, usize), (rows, cols): (usize, usize)) -> Result<Self> {
        let size = dtype.size();
        let inside = row.checked_add(rows).is_some_and(|r| r <= self.rows)
            && column.checked_add(cols).is_some_and(|c| c <= self.cols);
        if !inside {
            let (m, n) = (self.rows, self.cols);
            return Err(Error::Internal(format!("{rows} x {cols} elements at ({row}, {column}) of {m} x {n}")));
        }
        let mut part = Self { rows, cols, ..*self };
        let bytes = part.elements()?.checked_mul(size);
        let offset = if bytes == Some(0) { Some(0) } else { column.checked_mul(self.ld).map(|c| c + row) };
        let offset = offset.and_then(|o| o.checked_mul(size));
        let (Some(offset), Some(bytes)) = (offset, bytes) else {
            return Err(Error::Internal("a view past the end of memory".into()));
        };
        part.memory = self.memory.part(offset, bytes)?;
        Ok(part)
    }

    /// Columns `from .. from + count`, for elements of type `dtype`.
    ///
    /// # Errors
    /// As [`View::part`].
    pub fn columns(&self, dtype: DType, from: usize, count: usize) -> Result<Self> {
        self.part(dtype, (0, from), (self.rows, count))
    }

    /// Rows `from .. from + count`, for elements of type `dtype`.
    ///
    /// # Errors
    /// As [`View::part`].
    pub fn rows(&self, dtype: DType, from: usize, count: usize) -> Result<Self> {
        self.part(dtype, (from, 0), (count, self.cols))
    }

    /// The address of the first of `count` matrices, `stride` elements from one to the next, if the memory holds them all.
    pub(super) fn address_of_all(&self, dtype: DType, what: &str, stride: usize, count: usize) -> Result<u64> {
        let before = count.saturating_sub(1).checked_mul(stride);
        let elements = self.elements()?;
        let reach = before.and_then(|before| before.checked_add(elements));
        let reach = reach.ok_or_else(|| Error::Internal(format!("{count} matrices, {stride} elements each")))?;
        self.memory.array(what, reach, dtype.size())
    }

    /// The address, if the memory holds the matrix with elements of type `dtype`, aligned to their size.
    pub(super) fn address(&self, dtype: DType, what: &str) -> Result<u64> {
        self.memory.array(what, self.elements()?, dtype.size())
    }
}
