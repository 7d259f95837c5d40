//! Compressed sparse rows, validated once on creation.

use std::ops::Range;

use super::cache::Cache;
use crate::backend::gpu::DeviceMemory;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelWatch;
use crate::scalar::DType;
use crate::shape::product;

/// Type of the indices of a sparse matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexType {
    /// 32-bit signed integers.
    I32,
    /// 64-bit signed integers.
    I64,
}

impl IndexType {
    /// The type of `code`, which must be one of the two integer element types.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument` for another type, and for the value of none.
    pub fn from_code(argument: &str, code: i32) -> Result<Self> {
        match DType::from_code(argument, code)? {
            DType::I32 => Ok(Self::I32),
            DType::I64 => Ok(Self::I64),
            other => Err(Error::invalid(argument, format!("is {}, an index is I32 or I64", other.name()))),
        }
    }

    /// The same type as an element type.
    #[inline]
    pub fn dtype(self) -> DType {
        match self {
            Self::I32 => DType::I32,
            Self::I64 => DType::I64,
        }
    }
}

/// The arrays of a sparse matrix.
pub struct CsrParts {
    /// `rows + 1` offsets into the columns, from `index_base`.
    pub row_ptr: HostMemory,
    /// Type of the elements of `row_ptr`.
    pub row_ptr_type: IndexType,
    /// Column of each entry, from `index_base`.
    pub col_idx: HostMemory,
    /// Type of the elements of `col_idx`.
    pub col_idx_type: IndexType,
    /// The values, `None` for a pattern whose entries are all 1.
    pub values: Option<Memory>,
}

/// The arrays of a sparse matrix in the memory of the context's GPU.
pub struct DeviceArrays {
    /// `rows + 1` offsets into the columns, from `index_base`.
    pub row_ptr: DeviceMemory,
    /// Type of the elements of `row_ptr`.
    pub row_ptr_type: IndexType,
    /// Column of each entry, from `index_base`.
    pub col_idx: DeviceMemory,
    /// Type of the elements of `col_idx`.
    pub col_idx_type: IndexType,
    /// The values, `None` for a pattern whose entries are all 1.
    pub values: Option<DeviceMemory>,
}

/// Offsets and columns in device memory, as the caller passed them.
pub struct DeviceIndices {
    /// `rows + 1` offsets, from `index_base`.
    pub row_ptr: DeviceMemory,
    /// Column of each entry, from `index_base`.
    pub col_idx: DeviceMemory,
}

/// A sparse matrix in compressed rows.
pub struct Csr {
    parts: CsrParts,
    device: Option<Box<DeviceIndices>>,
    cache: Cache,
    /// Number of times that the values were made writable.
    version: u64,
    rows: usize,
    cols: usize,
    nnz: usize,
    index_base: i64,
}

impl Csr {
    /// Checks the arrays and takes ownership of them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the row or entry: offsets that do not start at `index_base`, decrease or do
    /// not end at `nnz`, columns outside the matrix.
    pub fn new(parts: CsrParts, rows: usize, cols: usize, nnz: usize, index_base: i64) -> Result<Self> {
        let made = Self::trusted(parts, rows, cols, nnz, index_base)?;
        made.check_columns(0..nnz)?;
        Ok(made)
    }

    /// As [`Csr::new`] within a call that `cancel` ends.
    ///
    /// # Errors
    /// As [`Csr::new`]; [`Error::Cancelled`].
    pub(super) fn watched(
        parts: CsrParts,
        (rows, cols, nnz): (usize, usize, usize),
        index_base: i64,
        cancel: CancelWatch<'_>,
    ) -> Result<Self> {
        let made = Self::trusted(parts, rows, cols, nnz, index_base)?;
        for block in cancel.blocks(0..nnz) {
            made.check_columns(block?)?;
        }
        Ok(made)
    }

    /// As [`Csr::new`] in O(rows): the columns are not checked. The caller guarantees that they are inside the matrix,
    /// because GPU kernels read the entries that they point to.
    ///
    /// # Errors
    /// As [`Csr::new`], except for columns.
    pub fn trusted(parts: CsrParts, rows: usize, cols: usize, nnz: usize, index_base: i64) -> Result<Self> {
        if !(0..=1).contains(&index_base) {
            return Err(Error::invalid("index_base", format!("is {index_base}, 0 or 1 is needed")));
        }
        let matrix = Self { parts, device: None, cache: Cache::default(), version: 0, rows, cols, nnz, index_base };
        match matrix.parts.row_ptr_type {
            IndexType::I32 => matrix.check_rows(matrix.parts.row_ptr.as_slice::<i32>()?)?,
            IndexType::I64 => matrix.check_rows(matrix.parts.row_ptr.as_slice::<i64>()?)?,
        }
        let columns = matrix.parts.col_idx.bytes() / matrix.parts.col_idx_type.dtype().size();
        if columns < nnz {
            return Err(Error::Internal(format!("{columns} columns of {nnz} entries")));
        }
        Ok(matrix)
    }

    /// A matrix whose arrays are on the context's GPU, where products use them in place. The indices are copied to the
    /// host and checked there. The host copy stays, for functions that read the structure.
    ///
    /// # Errors
    /// As [`Csr::new`]; out of memory on the host.
    pub fn on_device(
        context: &Context,
        arrays: DeviceArrays,
        size: (usize, usize, usize),
        index_base: i64,
    ) -> Result<Self> {
        Self::of_device(context, arrays, size, index_base, Self::new)
    }

    /// As [`Csr::on_device`], without a check of the columns; see [`Csr::trusted`].
    ///
    /// # Errors
    /// As [`Csr::trusted`]; out of memory on the host.
    pub fn trusted_on_device(
        context: &Context,
        arrays: DeviceArrays,
        size: (usize, usize, usize),
        index_base: i64,
    ) -> Result<Self> {
        Self::of_device(context, arrays, size, index_base, Self::trusted)
    }

    fn of_device(
        context: &Context,
        arrays: DeviceArrays,
        (rows, cols, nnz): (usize, usize, usize),
        index_base: i64,
        make: impl FnOnce(CsrParts, usize, usize, usize, i64) -> Result<Self>,
    ) -> Result<Self> {
        let gpu = context.gpu("row_ptr")?;
        let copied = |memory: &DeviceMemory, count: usize, kind: IndexType| -> Result<HostMemory> {
            let bytes = product("indices", count, kind.dtype().size())?;
            let mut own = HostMemory::allocate("sparse matrix", bytes, context.host_budget())?;
            gpu.download(gpu.default_stream(), memory, 0, own.as_mut_slice::<u8>()?)?;
            Ok(own)
        };
        let DeviceArrays { row_ptr, row_ptr_type, col_idx, col_idx_type, values } = arrays;
        let parts = CsrParts {
            row_ptr: copied(&row_ptr, rows + 1, row_ptr_type)?,
            row_ptr_type,
            col_idx: copied(&col_idx, nnz, col_idx_type)?,
            col_idx_type,
            values: values.map(Memory::Device),
        };
        let mut made = make(parts, rows, cols, nnz, index_base)?;
        made.device = Some(Box::new(DeviceIndices { row_ptr, col_idx }));
        Ok(made)
    }

    fn check_rows<I: Copy + Into<i64>>(&self, row_ptr: &[I]) -> Result<()> {
        let at = |i: usize| row_ptr.get(i).copied().map(Into::into);
        let wrong = |i: usize, found: Option<i64>, need: String| {
            let found = found.map_or_else(|| "missing".into(), |v: i64| v.to_string());
            Err(Error::invalid("row_ptr", format!("element {i} is {found}, {need}")))
        };
        if at(0) != Some(self.index_base) {
            return wrong(0, at(0), format!("index_base = {} is needed", self.index_base));
        }
        for i in 0..self.rows {
            if at(i + 1) < at(i) || at(i + 1).is_none() {
                return wrong(i + 1, at(i + 1), format!("less than element {i}"));
            }
        }
        let end = crate::shape::to_i64(self.nnz).saturating_add(self.index_base);
        if at(self.rows) != Some(end) {
            return wrong(self.rows, at(self.rows), format!("nnz + index_base = {end} is needed"));
        }
        Ok(())
    }

    /// Checks the columns of some of the entries.
    fn check_columns(&self, entries: Range<usize>) -> Result<()> {
        match self.parts.col_idx_type {
            IndexType::I32 => self.check_columns_in(self.parts.col_idx.as_slice::<i32>()?, entries),
            IndexType::I64 => self.check_columns_in(self.parts.col_idx.as_slice::<i64>()?, entries),
        }
    }

    fn check_columns_in<I: Copy + Into<i64>>(&self, col_idx: &[I], entries: Range<usize>) -> Result<()> {
        let range = self.index_base..crate::shape::to_i64(self.cols).saturating_add(self.index_base);
        let first = entries.start;
        match col_idx[entries].iter().position(|&c| !range.contains(&c.into())) {
            None => Ok(()),
            Some(k) => {
                let k = first + k;
                let found: i64 = col_idx[k].into();
                let problem = match self.cols {
                    0 => format!("element {k} is {found}, the matrix has no columns"),
                    _ => format!("element {k} is {found}, outside {} to {}", range.start, range.end - 1),
                };
                Err(Error::invalid("col_idx", problem))
            }
        }
    }

    /// The arrays on the host, except values that are on a device.
    #[inline]
    pub fn parts(&self) -> &CsrParts {
        &self.parts
    }

    /// The offsets and columns on the device, if the caller passed them there.
    #[inline]
    pub fn device(&self) -> Option<&DeviceIndices> {
        self.device.as_deref()
    }

    /// The cache of plans and answers that were computed from the matrix.
    #[inline]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Version of the values; it increases whenever purlin writes to them.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The values, mutable; `None` for a pattern. Increases the version.
    pub fn values_mut(&mut self) -> Option<&mut Memory> {
        self.version += 1;
        self.parts.values.as_mut()
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

    /// Stored entries, explicit zeros and duplicates included.
    #[inline]
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// First index: 0 or 1.
    #[inline]
    pub fn index_base(&self) -> i64 {
        self.index_base
    }
}
