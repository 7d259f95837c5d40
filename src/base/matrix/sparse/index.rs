//! Indices of 32 and 64 bits.

use super::super::csr::{Csr, IndexType};
use crate::backend::memory::HostMemory;
use crate::error::Result;
use crate::progress::CancelWatch;
use crate::scalar::Element;

/// An integer type that indices are stored in.
pub trait Index: Element + Ord {
    /// The run-time tag of the type.
    const TYPE: IndexType;
    /// A stored index, which is not negative.
    fn to_usize(self) -> usize;
    /// The index `value`. The caller guarantees that it fits.
    fn from_usize(value: usize) -> Self;
}

impl Index for i32 {
    const TYPE: IndexType = IndexType::I32;
    #[inline(always)]
    fn to_usize(self) -> usize {
        self as usize
    }
    #[inline(always)]
    fn from_usize(value: usize) -> Self {
        value as Self
    }
}

impl Index for i64 {
    const TYPE: IndexType = IndexType::I64;
    #[inline(always)]
    fn to_usize(self) -> usize {
        self as usize
    }
    #[inline(always)]
    fn from_usize(value: usize) -> Self {
        value as Self
    }
}

/// Indices in the caller's type.
#[derive(Debug, Clone, Copy)]
pub enum Indices<'a> {
    /// 32-bit indices, with the matrix's base.
    I32(&'a [i32]),
    /// 64-bit indices, with the matrix's base.
    I64(&'a [i64]),
}

impl<'a> Indices<'a> {
    /// The indices in `memory`, whose type is `kind`.
    ///
    /// # Errors
    /// As [`HostMemory::as_slice`].
    #[inline]
    pub fn new(memory: &'a HostMemory, kind: IndexType) -> Result<Self> {
        Ok(match kind {
            IndexType::I32 => Self::I32(memory.as_slice()?),
            IndexType::I64 => Self::I64(memory.as_slice()?),
        })
    }

    /// The first `count` indices, or all if there are fewer.
    #[inline]
    pub fn first(&self, count: usize) -> Self {
        match self {
            Self::I32(s) => Self::I32(&s[..count.min(s.len())]),
            Self::I64(s) => Self::I64(&s[..count.min(s.len())]),
        }
    }

    /// Number of indices, of either type.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::I32(s) => s.len(),
            Self::I64(s) => s.len(),
        }
    }

    /// Whether there is no index.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Index k as stored, with its base.
    #[inline(always)]
    pub fn at(&self, k: usize) -> i64 {
        match self {
            Self::I32(s) => i64::from(s[k]),
            Self::I64(s) => s[k],
        }
    }
}

/// The rows of a validated matrix, its indices counted from 0.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    row_ptr: Indices<'a>,
    col_idx: Indices<'a>,
    base: i64,
    rows: usize,
}

impl<'a> Rows<'a> {
    /// The rows of `csr`, whose arrays were checked when it was made.
    ///
    /// # Errors
    /// As [`Indices::new`].
    #[inline]
    pub fn new(csr: &'a Csr) -> Result<Self> {
        let parts = csr.parts();
        Ok(Self {
            row_ptr: Indices::new(&parts.row_ptr, parts.row_ptr_type)?,
            col_idx: Indices::new(&parts.col_idx, parts.col_idx_type)?,
            base: csr.index_base(),
            rows: csr.rows(),
        })
    }

    /// Rows with offsets alone, one more than there are rows, from 0. They have no columns to read.
    pub fn of_offsets(row_ptr: &'a [i64]) -> Self {
        let rows = row_ptr.len().saturating_sub(1);
        Self { row_ptr: Indices::I64(row_ptr), col_idx: Indices::I32(&[]), base: 0, rows }
    }

    /// Number of rows, empty ones included.
    #[inline]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether the matrix has no row.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The entries of row i.
    #[inline(always)]
    pub fn row(&self, i: usize) -> std::ops::Range<usize> {
        // Validated when the matrix was made: not negative after the base is subtracted.
        (self.row_ptr.at(i) - self.base) as usize..(self.row_ptr.at(i + 1) - self.base) as usize
    }

    /// The first entry of row i; for i = rows, the number of entries.
    #[inline(always)]
    pub fn entry(&self, i: usize) -> usize {
        (self.row_ptr.at(i) - self.base) as usize
    }

    /// The columns as stored, and their base.
    #[inline]
    pub fn columns(&self) -> (Indices<'a>, i64) {
        (self.col_idx, self.base)
    }

    /// The column of entry k.
    #[inline(always)]
    pub fn col(&self, k: usize) -> usize {
        (self.col_idx.at(k) - self.base) as usize
    }

    /// Whether the columns of every row ascend strictly, so that no (row, column) is stored twice.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::error::Error::Cancelled).
    pub(super) fn are_ascending(&self, cancel: CancelWatch<'_>) -> Result<bool> {
        let mut paced = cancel.paced();
        for i in 0..self.len() {
            paced.step(self.row(i).len())?;
            if !self.row(i).skip(1).all(|k| self.col(k - 1) < self.col(k)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
