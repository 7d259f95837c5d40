//! Sparse matrices in the memory of a GPU.

use super::handle;
use super::matrix::{csr_sizes, first_index, purlin_matrix};
use super::tensor::{purlin_dtype, scalar_type};
use super::{context, guard, purlin_context, purlin_status};
use crate::backend::gpu::DeviceMemory;
use crate::error::{Error, Result};
use crate::matrix::{Csr, DeviceArrays, IndexType, Matrix};
use crate::scalar::DType;
use crate::shape;

/// Makes a sparse matrix over the caller's compressed sparse rows in device memory, which must outlive the handle.
/// Products and solvers of a context on a GPU read the arrays where they are (indices of 32 bits from 0; others are
/// converted once); functions that need the structure use a copy of the indices on the host, which is made and checked
/// here. The indices must stay as they are; values that the caller writes are those of the next call. The matrix is
/// read-only, and functions that read values on the host refuse it.
///
/// Work on other streams that writes to the arrays must be complete before this call and before each later call with
/// the matrix.
///
/// @param      context       a context on the GPU of that memory.
/// @param      dtype         element type, also of a pattern (`values` 0): PURLIN_F32, PURLIN_F64, PURLIN_CF32 or
///                           PURLIN_CF64.
/// @param      index_base    0 or 1: the first row and column number; plus PURLIN_TRUSTED for columns that are known to
///                           be in range.
/// @param      rows          number of rows, not negative.
/// @param      cols          number of columns, not negative.
/// @param      nnz           number of stored entries, not negative.
/// @param      row_ptr_type  PURLIN_I32 or PURLIN_I64.
/// @param      row_ptr       `CUdeviceptr` of `rows + 1` offsets, as for purlin_matrix_borrow_csr.
/// @param      col_idx_type  PURLIN_I32 or PURLIN_I64.
/// @param      col_idx       `CUdeviceptr` of `nnz` columns.
/// @param      values        `CUdeviceptr` of `nnz` values; 0 for a pattern whose entries are all 1.
/// @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
/// @return as purlin_matrix_borrow_csr, and `PURLIN_ERROR_INVALID_ARGUMENT` (memory that is not this device's, or too short
/// as far as the driver reports sizes), `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU), `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// The arrays are valid for the stated numbers of elements while the handle lives; with PURLIN_TRUSTED columns are in range;
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_borrow_csr_device(
    context: *const purlin_context,
    dtype: purlin_dtype,
    index_base: i32,
    rows: i64,
    cols: i64,
    nnz: i64,
    row_ptr_type: purlin_dtype,
    row_ptr: u64,
    col_idx_type: purlin_dtype,
    col_idx: u64,
    values: u64,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = scalar_type("dtype", dtype)?;
        let row_ptr_type = IndexType::from_code("row_ptr_type", row_ptr_type)?;
        let col_idx_type = IndexType::from_code("col_idx_type", col_idx_type)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        let (rows, cols, nnz, offsets) = csr_sizes(rows, cols, nnz)?;
        let gpu = context.gpu("row_ptr")?;
        let borrowed = |name: &'static str, address: u64, count: usize, of: DType| -> Result<DeviceMemory> {
            let bytes = shape::product(name, count, of.size())?;
            if bytes > 0 && address == 0 {
                return Err(Error::invalid(name, format!("is 0, {bytes} bytes are needed")));
            }
            if !address.is_multiple_of(shape::to_u64(of.size())) {
                return Err(Error::invalid(name, format!("is not aligned to {} bytes", of.size())));
            }
            gpu.borrow(name, address, bytes, None)
        };
        let arrays = DeviceArrays {
            row_ptr: borrowed("row_ptr", row_ptr, offsets, row_ptr_type.dtype())?,
            row_ptr_type,
            col_idx: borrowed("col_idx", col_idx, nnz, col_idx_type.dtype())?,
            col_idx_type,
            values: match values {
                0 => None,
                address => Some(borrowed("values", address, nnz, dtype)?),
            },
        };
        let csr = match first_index(index_base) {
            (base, false) => Csr::on_device(&context, arrays, (rows, cols, nnz), base)?,
            (base, true) => Csr::trusted_on_device(&context, arrays, (rows, cols, nnz), base)?,
        };
        *target = handle::insert(Matrix::from_csr(&context, dtype, csr, true))?;
        Ok(())
    })
}
