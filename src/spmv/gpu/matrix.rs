//! A sparse matrix in device memory.

use super::upload::upload_first;
use crate::alloc;
use crate::backend::gpu::kernels::spmv::Rows as DeviceRows;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::backend::memory::Memory;
use crate::error::{Error, Result};
use crate::matrix::sparse::Indices;
use crate::matrix::{Csr, DeviceIndices, IndexType};
use crate::scalar::DType;

/// Offsets and columns, from 0, without the values.
pub(super) struct Structure {
    /// Offsets; `None` if the matrix has them on the device in this form.
    row_ptr: Option<DeviceMemory>,
    narrow: bool,
    /// I32 columns from 0; `None` likewise.
    columns: Option<DeviceMemory>,
    pub(super) entries: usize,
    pub(super) rows: usize,
    pub(super) cols: usize,
}

const WHAT: &str = "indices of a sparse matrix";

/// Copies indices minus `base`, as `I`, to the device.
fn upload<I>(gpu: &Gpu, stream: &GpuStream, from: Indices<'_>, base: i64, count: usize) -> Result<DeviceMemory>
where
    I: crate::matrix::sparse::Index + TryFrom<i64>,
{
    let mut numbers = alloc::with_capacity(WHAT, count)?;
    for k in 0..count {
        let index = I::try_from(from.at(k) - base);
        let problem = || Error::NotSupported(format!("a: index {}, beyond the 32 bits of the device copy", from.at(k)));
        numbers.push(index.map_err(|_| problem())?);
    }
    gpu.upload_numbers(stream, WHAT, &numbers)
}

impl Structure {
    /// Copies the structure of a matrix to the device.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for more than 2^31 - 1 rows or columns; [`Error::OutOfDeviceMemory`].
    pub(super) fn new(gpu: &Gpu, stream: &GpuStream, csr: &Csr) -> Result<Self> {
        for (name, size) in [("rows", csr.rows()), ("cols", csr.cols())] {
            if i32::try_from(size).is_err() {
                let problem = format!("{name}: is {size}, sparse matrices on a GPU have up to {}", i32::MAX);
                return Err(Error::NotSupported(problem));
            }
        }
        let parts = csr.parts();
        let base = csr.index_base();
        let row_ptr = Indices::new(&parts.row_ptr, parts.row_ptr_type)?;
        let columns = Indices::new(&parts.col_idx, parts.col_idx_type)?;
        let (count, nnz) = (csr.rows() + 1, csr.nnz());
        let is_there = csr.device().is_some() && base == 0;
        let narrow = match row_ptr {
            Indices::I64(_) if is_there => false,
            _ => i32::try_from(nnz).is_ok(),
        };
        let row_ptr = match row_ptr {
            _ if is_there => None,
            // Indices that have this form already are copied without conversion.
            Indices::I32(r) if base == 0 => Some(gpu.upload_numbers(stream, WHAT, &r[..count])?),
            r if narrow => Some(upload::<i32>(gpu, stream, r, base, count)?),
            r => Some(upload::<i64>(gpu, stream, r, base, count)?),
        };
        let columns = match columns {
            Indices::I32(_) if is_there => None,
            Indices::I32(c) if base == 0 => Some(gpu.upload_numbers(stream, WHAT, &c[..nnz])?),
            c => Some(upload::<i32>(gpu, stream, c, base, nnz)?),
        };
        Ok(Self { row_ptr, narrow, columns, entries: nnz, rows: csr.rows(), cols: csr.cols() })
    }

    /// The rows of the matrix with these values, or without; `a` is the matrix of the product's call.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the plan uses the matrix's own indices on the device, and `a` has none there.
    pub(super) fn with<'a>(&'a self, a: &'a Csr, values: Option<&'a DeviceMemory>) -> Result<DeviceRows<'a>> {
        let missing = || Error::invalid("a", "has no indices on the device, the plan was made for a matrix with such");
        let there = |own: &'a Option<DeviceMemory>, of: fn(&'a DeviceIndices) -> &'a DeviceMemory| {
            own.as_ref().or_else(|| a.device().map(of)).map(DeviceMemory::whole).ok_or_else(missing)
        };
        Ok(DeviceRows {
            row_ptr: there(&self.row_ptr, |d| &d.row_ptr)?,
            narrow: self.narrow,
            columns: there(&self.columns, |d| &d.col_idx)?,
            values: values.map(DeviceMemory::whole),
            entries: self.entries,
            rows: self.rows,
            cols: self.cols,
        })
    }

    /// Bytes that [`Structure::new`] allocates.
    pub(super) fn bytes_of(csr: &Csr) -> usize {
        match csr.device() {
            Some(_) if csr.index_base() == 0 => match csr.parts().col_idx_type {
                IndexType::I32 => 0,
                IndexType::I64 => csr.nnz().saturating_mul(4),
            },
            _ => Self::bytes_of_copy(csr.rows(), csr.nnz()),
        }
    }

    /// Bytes of a structure of `rows` rows and `entries` entries that the matrix has on the host alone.
    pub(super) fn bytes_of_copy(rows: usize, entries: usize) -> usize {
        let offset = if i32::try_from(entries).is_ok() { 4 } else { 8 };
        (rows + 1).saturating_mul(offset).saturating_add(entries.saturating_mul(4))
    }

    pub(super) fn bytes(&self) -> usize {
        [&self.row_ptr, &self.columns].into_iter().flatten().map(DeviceMemory::bytes).sum()
    }
}

/// The location of a matrix's values.
pub(super) enum Values {
    /// Not stored: all are 1.
    Ones,
    /// In the matrix's own device memory.
    Matrix,
    /// A copy in the plan's memory.
    Own(DeviceMemory),
}

impl Values {
    /// The values of the plan's matrix; those on the host are copied to the device.
    pub(super) fn new(dtype: DType, gpu: &Gpu, stream: &GpuStream, csr: &Csr) -> Result<Self> {
        Ok(match &csr.parts().values {
            None => Self::Ones,
            Some(Memory::Device(_)) => Self::Matrix,
            Some(Memory::Host(host)) => {
                Self::Own(upload_first(dtype, gpu, stream, "values of a sparse matrix", host, csr.nnz())?)
            }
        })
    }

    /// The values; `a` is the matrix of the product's call.
    pub(super) fn held<'a>(&'a self, a: &'a Csr) -> Result<Option<&'a DeviceMemory>> {
        match (self, &a.parts().values) {
            (Self::Ones, _) => Ok(None),
            (Self::Own(memory), _) => Ok(Some(memory)),
            (Self::Matrix, Some(values)) => values.device("a").map(Some),
            (Self::Matrix, None) => {
                Err(Error::invalid("a", "has no values, the plan was made for a matrix with values"))
            }
        }
    }

    /// Whether products read the values in the matrix's own memory, or there are none.
    pub(super) fn are_in_place(&self) -> bool {
        matches!(self, Self::Ones | Self::Matrix)
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Own(memory) => memory.bytes(),
            Self::Ones | Self::Matrix => 0,
        }
    }
}
