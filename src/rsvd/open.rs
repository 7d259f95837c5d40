//! A caller's matrix as the backends read it.

use std::sync::MutexGuard;

use super::data::{Data, Problem};
use super::identity::{CHECKSUM_START, checksum};
use crate::backend::memory::Memory;
use crate::blocks::array::Block;
use crate::blocks::number::Number;
use crate::blocks::source::Source;
use crate::error::{Error, Result};
use crate::matrix::{Csr, Matrix, OperatorGuard, Storage};
use crate::scalar::{DType, Scalar};
use crate::shape::{Order, to_u64};

/// Bytes of the data that the checksum covers. The checksum identifies the data that a restart file belongs to.
const SAMPLE: usize = 1 << 20;

/// Where the entries of an opened matrix are.
enum Entries<'a, T: Scalar> {
    Dense { memory: &'a Memory, dtype: DType, row_stride: usize, column_stride: usize },
    Streamed { guard: MutexGuard<'a, Box<dyn Source>>, order: Order },
    Csr(&'a Csr),
    Operator(OperatorGuard<'a, T>),
}

/// A matrix that one run has opened. Until it is dropped, another run cannot open the same source or operator.
pub struct Opened<'a, T: Scalar> {
    entries: Entries<'a, T>,
    rows: usize,
    columns: usize,
}

impl<'a, T: Scalar> Opened<'a, T> {
    /// Opens `matrix` for computation in type `T`.
    ///
    /// # Errors
    /// [`Error::Busy`] for a source or operator that another run uses; [`Error::InvalidArgument`] for entries that are
    /// not converted to `T`.
    pub fn new(argument: &str, matrix: &'a Matrix) -> Result<Self> {
        check_type::<T>(argument, matrix)?;
        let dtype = matrix.dtype();
        let entries = match matrix.storage() {
            Storage::Dense { memory, layout, .. } => {
                let &[row_stride, column_stride] = layout.strides() else {
                    return Err(Error::Internal("a matrix without two strides".into()));
                };
                Entries::Dense { memory, dtype, row_stride, column_stride }
            }
            Storage::Streamed(streamed) => {
                Entries::Streamed { guard: streamed.lock(argument)?, order: streamed.order() }
            }
            Storage::Csr(csr) => Entries::Csr(csr),
            Storage::Operator(operator) => Entries::Operator(operator.lock(argument)?),
        };
        Ok(Self { entries, rows: matrix.rows(), columns: matrix.cols() })
    }

    /// The problem, of the transposed matrix (without conjugation) if `transposed`.
    ///
    /// # Errors
    /// [`Error::Internal`] for the transpose of a matrix that has none.
    pub fn problem(&mut self, transposed: bool) -> Result<Problem<'_, T>> {
        let data = match &mut self.entries {
            Entries::Dense { memory, dtype, row_stride, column_stride } => {
                let (row_stride, column_stride) =
                    if transposed { (*column_stride, *row_stride) } else { (*row_stride, *column_stride) };
                Data::Dense { memory, dtype: *dtype, row_stride, column_stride }
            }
            Entries::Streamed { guard, order } => {
                let order = match (*order, transposed) {
                    (Order::RowMajor, false) | (Order::ColumnMajor, true) => Order::RowMajor,
                    (Order::ColumnMajor, false) | (Order::RowMajor, true) => Order::ColumnMajor,
                };
                Data::Streamed { source: &mut ***guard, order }
            }
            _ if transposed => return Err(Error::Internal("the transpose of a sparse matrix or an operator".into())),
            Entries::Csr(csr) => Data::Csr(csr),
            Entries::Operator(guard) => Data::Operator(guard.operator()?),
        };
        let (rows, columns) = if transposed { (self.columns, self.rows) } else { (self.rows, self.columns) };
        Ok(Problem { rows, columns, transposed, data })
    }

    /// Checksum of the first entries; 0 for data on a device and for operators. Adds the bytes that a source is read for to
    /// `read`.
    ///
    /// # Errors
    /// Errors of the source.
    pub fn checksum(&mut self, read: &mut u64) -> Result<u64> {
        match &mut self.entries {
            Entries::Dense { memory: Memory::Host(host), .. } => Ok(sample(host.as_slice::<u8>()?)),
            Entries::Streamed { guard, .. } => {
                let info = guard.info().clone();
                let line = info.dims[0] * info.number.size();
                // Whole lines along the axis that is contiguous.
                let count = (SAMPLE / line.max(1)).max(1).min(info.dims[1]);
                let mut bytes = crate::alloc::filled("sample of the data", count * line, 0u8)?;
                guard.read(&Block::whole(&info).along(1, 0, count), &mut bytes)?;
                *read += to_u64(bytes.len());
                Ok(sample(&bytes))
            }
            Entries::Csr(csr) => {
                let columns = sample(csr.parts().col_idx.as_slice::<u8>()?);
                let values = match &csr.parts().values {
                    Some(Memory::Host(values)) => sample(values.as_slice::<u8>()?),
                    _ => 0,
                };
                Ok(columns ^ values.rotate_left(1))
            }
            Entries::Dense { .. } | Entries::Operator(_) => Ok(0),
        }
    }
}

fn sample(bytes: &[u8]) -> u64 {
    checksum(CHECKSUM_START, &bytes[..bytes.len().min(SAMPLE)])
}

/// Refuses a matrix whose entries a run in type `T` does not take: those of sparse matrices and operators are of the
/// type itself.
///
/// # Errors
/// [`Error::InvalidArgument`].
pub fn check_type<T: Scalar>(argument: &str, matrix: &Matrix) -> Result<()> {
    match matrix.storage() {
        Storage::Dense { .. } | Storage::Streamed(_) => check_conversion::<T>(argument, matrix.dtype()),
        // A pattern has no entries.
        Storage::Csr(csr) if csr.parts().values.is_none() => Ok(()),
        Storage::Csr(_) | Storage::Operator(_) => matrix.expect_dtype(argument, T::DTYPE),
    }
}

/// Refuses complex entries where `T` is real.
fn check_conversion<T: Scalar>(argument: &str, dtype: DType) -> Result<()> {
    if Number::of(argument, dtype)?.is_complex() && !T::IS_COMPLEX {
        let problem = format!("is {}, which is not converted to {}", dtype.name(), T::DTYPE.name());
        return Err(Error::invalid(argument, problem));
    }
    Ok(())
}
