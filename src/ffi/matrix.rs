//! Matrices: dense, sparse, streamed or known by their products.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::handle::{self, Exclusive, Shared};
use super::options::{self, versioned};
use super::tensor::{
    PURLIN_DEVICE, PURLIN_HOST, PURLIN_PINNED, PURLIN_READ_ONLY, PURLIN_ROW_MAJOR, borrow_device, borrow_host,
    location, purlin_dtype, purlin_flags, purlin_location, storage_order,
};
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{self, Csr, CsrParts, IndexType, Matrix, Storage};
use crate::scalar::DType;
use crate::shape::{self, Order, to_i64};

/// A matrix: dense with a leading dimension, on the host or on the context's GPU; compressed sparse rows; read in
/// blocks from a source; or known by its products alone. A function that needs the entries in memory refuses the last
/// two.
pub struct purlin_matrix {
    _private: [u8; 0],
}

/// Every entry is stored, with a leading dimension.
pub const PURLIN_DENSE: i32 = 0;
/// Compressed sparse rows: offsets, columns and values.
pub const PURLIN_CSR: i32 = 1;
/// Read in blocks from a source.
pub const PURLIN_STREAMED: i32 = 2;
/// Known by its products alone.
pub const PURLIN_OPERATOR: i32 = 3;

/// Properties of a matrix, and the address of its entries.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_matrix_info {
    /// Size of the caller's struct; set by purlin_matrix_info_init.
    pub struct_size: usize,
    /// Type of the entries, of a pattern too.
    pub dtype: i32,
    /// PURLIN_HOST or PURLIN_DEVICE: where the entries are.
    pub location: i32,
    /// PURLIN_DENSE, PURLIN_CSR, PURLIN_STREAMED or PURLIN_OPERATOR.
    pub storage: i32,
    /// PURLIN_ROW_MAJOR and PURLIN_READ_ONLY, where they hold.
    pub flags: i32,
    /// Number of rows m.
    pub rows: i64,
    /// Number of columns n.
    pub cols: i64,
    /// Leading dimension in elements; 0 unless dense.
    pub ld: i64,
    /// Stored entries: rows * cols for a dense or streamed matrix, 0 for an operator.
    pub nnz: i64,
    /// Bytes of all arrays; of a streamed matrix, of the source's; 0 for an operator.
    pub bytes: i64,
    /// Address of the entries or values; 0 for a pattern, a streamed matrix and an operator.
    pub data: u64,
    /// Address of the row offsets; 0 unless sparse.
    pub row_ptr: u64,
    /// Address of the column indices; 0 unless sparse.
    pub col_idx: u64,
    /// First index of a sparse matrix, 0 or 1.
    pub index_base: i32,
    /// Type of the row offsets.
    pub row_ptr_type: i32,
    /// Type of the column indices.
    pub col_idx_type: i32,
    /// 1 if purlin allocated the memory, else 0.
    pub owned: i32,
}

versioned!(purlin_matrix_info, first = size_of::<Self>());

pub(super) fn sizes(rows: i64, cols: i64) -> Result<(usize, usize)> {
    Ok((shape::size("rows", rows, 0)?, shape::size("cols", cols, 0)?))
}

/// Makes a dense matrix of purlin's own memory, zeroed and packed.
///
/// @param      context   the context it belongs to.
/// @param      dtype     element type.
/// @param      location  PURLIN_HOST or PURLIN_DEVICE.
/// @param      flags     PURLIN_ROW_MAJOR, PURLIN_PINNED or 0.
/// @param      rows      number of rows, not negative.
/// @param      cols      number of columns, not negative.
/// @param[out] matrix    the matrix; destroy it with purlin_matrix_destroy.
/// @return as purlin_tensor_create.
///
/// # Safety
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_create(
    context: *const purlin_context,
    dtype: purlin_dtype,
    location: purlin_location,
    flags: purlin_flags,
    rows: i64,
    cols: i64,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        let order = storage_order(flags, PURLIN_ROW_MAJOR | PURLIN_PINNED)?;
        let location = self::location(location, flags)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        let (rows, cols) = sizes(rows, cols)?;
        *target = handle::insert(Matrix::create(&context, dtype, location, order, rows, cols)?)?;
        Ok(())
    })
}

/// Makes a dense matrix over the caller's host memory, which must outlive the handle.
///
/// @param      context  the context it belongs to.
/// @param      dtype    element type; families say which they take.
/// @param      flags    PURLIN_ROW_MAJOR, PURLIN_READ_ONLY or 0.
/// @param      rows     number of rows, not negative.
/// @param      cols     number of columns, not negative.
/// @param      ld       elements from one column to the next, at least `rows` (row-major: from one row to the next, at
///                      least `cols`), and at least 1.
/// @param[in]  data     the first entry.
/// @param[out] matrix   the matrix; destroy it with purlin_matrix_destroy.
/// @return as purlin_tensor_borrow; `PURLIN_ERROR_INVALID_ARGUMENT` also for an `ld` that is too small.
///
/// # Safety
/// `data` is valid for `(cols - 1) * ld + rows` elements (row-major: rows and cols exchanged) while the handle lives,
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_borrow(
    context: *const purlin_context,
    dtype: purlin_dtype,
    flags: purlin_flags,
    rows: i64,
    cols: i64,
    ld: i64,
    data: *mut c_void,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        let order = storage_order(flags, PURLIN_ROW_MAJOR | PURLIN_READ_ONLY)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        let (rows, cols) = sizes(rows, cols)?;
        let layout = Matrix::dense_layout(dtype, order, rows, cols, shape::size("ld", ld, 1)?)?;
        // SAFETY: as promised above.
        let memory = unsafe { borrow_host(data, &layout, dtype) }?;
        let read_only = flags & PURLIN_READ_ONLY != 0;
        *target = handle::insert(Matrix::from_memory(&context, dtype, order, layout, memory, read_only)?)?;
        Ok(())
    })
}

/// Makes a dense matrix over the caller's device memory, which must outlive the handle.
///
/// @param      context  a context on the GPU of that memory.
/// @param      dtype    element type.
/// @param      flags    PURLIN_ROW_MAJOR, PURLIN_READ_ONLY or 0.
/// @param      rows     number of rows, not negative.
/// @param      cols     number of columns, not negative.
/// @param      ld       as purlin_matrix_borrow.
/// @param      data     `CUdeviceptr` of the first entry.
/// @param[out] matrix   the matrix; destroy it with purlin_matrix_destroy.
/// @return as purlin_tensor_borrow_device; `PURLIN_ERROR_INVALID_ARGUMENT` also for an `ld` that is too small.
///
/// # Safety
/// As for purlin_matrix_borrow.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_borrow_device(
    context: *const purlin_context,
    dtype: purlin_dtype,
    flags: purlin_flags,
    rows: i64,
    cols: i64,
    ld: i64,
    data: u64,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        let order = storage_order(flags, PURLIN_ROW_MAJOR | PURLIN_READ_ONLY)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        let (rows, cols) = sizes(rows, cols)?;
        let layout = Matrix::dense_layout(dtype, order, rows, cols, shape::size("ld", ld, 1)?)?;
        let memory = borrow_device(&context, data, &layout, dtype)?;
        let read_only = flags & PURLIN_READ_ONLY != 0;
        *target = handle::insert(Matrix::from_memory(&context, dtype, order, layout, memory, read_only)?)?;
        Ok(())
    })
}

/// Rows, columns, entries and offsets of compressed rows.
pub(super) fn csr_sizes(rows: i64, cols: i64, nnz: i64) -> Result<(usize, usize, usize, usize)> {
    let (rows, cols) = sizes(rows, cols)?;
    let offsets = rows.checked_add(1).ok_or_else(|| Error::invalid("rows", format!("is {rows}, too large")))?;
    Ok((rows, cols, shape::size("nnz", nnz, 0)?, offsets))
}

/// Added to an `index_base`: the caller's word that every column is in range. They are not looked at then, which makes
/// O(rows) of O(rows + nnz). With a column out of range results are wrong, calls fail, and a GPU may read memory that
/// is not the matrix's.
pub const PURLIN_TRUSTED: i32 = 16;

/// The first index, and whether the columns are trusted.
pub(super) fn first_index(index_base: i32) -> (i64, bool) {
    // Only 0 and 1 may have it added: other numbers are reported as the caller gave them.
    match index_base.checked_sub(PURLIN_TRUSTED) {
        Some(base @ (0 | 1)) => (i64::from(base), true),
        _ => (i64::from(index_base), false),
    }
}

/// The arrays of a sparse matrix as C gives them.
struct CsrArguments {
    dtype: purlin_dtype,
    index_base: i32,
    rows: i64,
    cols: i64,
    nnz: i64,
    row_ptr_type: purlin_dtype,
    row_ptr: *const c_void,
    col_idx_type: purlin_dtype,
    col_idx: *const c_void,
    values: *const c_void,
}

impl CsrArguments {
    /// Checks the arguments, takes each array through `take`, and builds the matrix.
    fn build(
        &self,
        context: *const purlin_context,
        matrix: *mut *mut purlin_matrix,
        take: impl Fn(&Context, &'static str, *const c_void, usize, usize) -> Result<HostMemory>,
    ) -> Result<()> {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", self.dtype)?;
        let row_ptr_type = IndexType::from_code("row_ptr_type", self.row_ptr_type)?;
        let col_idx_type = IndexType::from_code("col_idx_type", self.col_idx_type)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        let (rows, cols, nnz, offsets) = csr_sizes(self.rows, self.cols, self.nnz)?;
        let bytes = |name, count, d: DType| shape::product(name, count, d.size());
        let row_bytes = bytes("rows", offsets, row_ptr_type.dtype())?;
        let col_bytes = bytes("nnz", nnz, col_idx_type.dtype())?;
        let row_ptr = take(&context, "row_ptr", self.row_ptr, row_bytes, row_ptr_type.dtype().align())?;
        let col_idx = take(&context, "col_idx", self.col_idx, col_bytes, col_idx_type.dtype().align())?;
        let values = match self.values.is_null() {
            true => None,
            false => {
                let value_bytes = bytes("nnz", nnz, dtype)?;
                Some(Memory::Host(take(&context, "values", self.values, value_bytes, dtype.align())?))
            }
        };
        let parts = CsrParts { row_ptr, row_ptr_type, col_idx, col_idx_type, values };
        let csr = match first_index(self.index_base) {
            (base, false) => Csr::new(parts, rows, cols, nnz, base)?,
            (base, true) => Csr::trusted(parts, rows, cols, nnz, base)?,
        };
        *target = handle::insert(Matrix::from_csr(&context, dtype, csr, true))?;
        Ok(())
    }
}

/// The caller's memory, in place.
///
/// # Safety
/// `data` is NULL or valid for `bytes` while the result lives.
pub(super) unsafe fn borrowed(
    argument: &'static str,
    data: *const c_void,
    bytes: usize,
    align: usize,
) -> Result<HostMemory> {
    let start = match NonNull::new(data.cast_mut().cast::<u8>()) {
        Some(p) => p,
        None if bytes == 0 => NonNull::<u64>::dangling().cast(),
        None => return Err(Error::invalid(argument, format!("is NULL, {bytes} bytes are needed"))),
    };
    if start.addr().get() % align != 0 {
        return Err(Error::invalid(argument, format!("is not aligned to {align} bytes")));
    }
    if isize::try_from(bytes).is_err() {
        return Err(Error::invalid(argument, format!("has {bytes} bytes, more than 2^63")));
    }
    // SAFETY: as promised by the caller.
    Ok(unsafe { HostMemory::borrow(start, bytes) })
}

/// Makes a sparse matrix over the caller's compressed sparse rows, which must outlive the handle. The indices are
/// checked once, here, and must stay as they are; rows need not be sorted. The matrix is read-only. Values that the caller
/// writes are those of the next call.
///
/// @param      context       the context it belongs to.
/// @param      dtype         element type, also of a pattern (`values` NULL).
/// @param      index_base    0 or 1: the first row and column number; plus PURLIN_TRUSTED for columns that are known to
///                           be in range.
/// @param      rows          number of rows, not negative.
/// @param      cols          number of columns, not negative.
/// @param      nnz           number of stored entries, not negative.
/// @param      row_ptr_type  PURLIN_I32 or PURLIN_I64.
/// @param[in]  row_ptr       host, `rows + 1` offsets that start at `index_base`, do not decrease and end at
///                           `nnz + index_base`.
/// @param      col_idx_type  PURLIN_I32 or PURLIN_I64.
/// @param[in]  col_idx       host, `nnz` columns.
/// @param[in]  values        host, `nnz` values; NULL for a pattern whose entries are all 1.
/// @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant, negative
/// size, a NULL or misaligned pointer; the first wrong offset or column is named), `PURLIN_ERROR_OUT_OF_MEMORY`.
/// O(rows + nnz), with PURLIN_TRUSTED O(rows).
///
/// # Safety
/// The arrays are valid for the stated numbers of elements while the handle lives; with PURLIN_TRUSTED columns are in range.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_borrow_csr(
    context: *const purlin_context,
    dtype: purlin_dtype,
    index_base: i32,
    rows: i64,
    cols: i64,
    nnz: i64,
    row_ptr_type: purlin_dtype,
    row_ptr: *const c_void,
    col_idx_type: purlin_dtype,
    col_idx: *const c_void,
    values: *const c_void,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    let arguments =
        CsrArguments { dtype, index_base, rows, cols, nnz, row_ptr_type, row_ptr, col_idx_type, col_idx, values };
    guard::run(|| {
        arguments.build(context, matrix, |_, name, data, bytes, align| {
            // SAFETY: as promised above.
            unsafe { borrowed(name, data, bytes, align) }
        })
    })
}

/// As purlin_matrix_borrow_csr, but copies the arrays, which may go after the call. O(rows + nnz).
///
/// @param      context       the context it belongs to.
/// @param      dtype         element type, also of a pattern (`values` NULL).
/// @param      index_base    0 or 1: the first row and column number; plus PURLIN_TRUSTED for columns that are known to
///                           be in range.
/// @param      rows          number of rows, not negative.
/// @param      cols          number of columns, not negative.
/// @param      nnz           number of stored entries, not negative.
/// @param      row_ptr_type  PURLIN_I32 or PURLIN_I64.
/// @param[in]  row_ptr       host, `rows + 1` offsets.
/// @param      col_idx_type  PURLIN_I32 or PURLIN_I64.
/// @param[in]  col_idx       host, `nnz` columns.
/// @param[in]  values        host, `nnz` values; NULL for a pattern.
/// @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
/// @return as purlin_matrix_borrow_csr.
///
/// # Safety
/// The arrays are valid for the stated numbers of elements during the call; with PURLIN_TRUSTED columns are in range.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_copy_csr(
    context: *const purlin_context,
    dtype: purlin_dtype,
    index_base: i32,
    rows: i64,
    cols: i64,
    nnz: i64,
    row_ptr_type: purlin_dtype,
    row_ptr: *const c_void,
    col_idx_type: purlin_dtype,
    col_idx: *const c_void,
    values: *const c_void,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    let arguments =
        CsrArguments { dtype, index_base, rows, cols, nnz, row_ptr_type, row_ptr, col_idx_type, col_idx, values };
    guard::run(|| {
        arguments.build(context, matrix, |context, name, data, bytes, align| {
            // SAFETY: as promised above; the loan ends with this closure.
            let source = unsafe { borrowed(name, data, bytes, align) }?;
            let mut own = HostMemory::allocate("sparse matrix", bytes, context.host_budget())?;
            own.as_mut_slice::<u8>()?.copy_from_slice(source.as_slice()?);
            Ok(own)
        })
    })
}

/// Copies a dense matrix into another of the same size and element type, in any direction between host and device.
///
/// @param      context      the context of both matrices.
/// @param      stream       NULL for the context's own.
/// @param      source       read.
/// @param      destination  written.
/// @return as purlin_tensor_copy; `PURLIN_ERROR_NOT_SUPPORTED` for matrices that are not dense.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_matrix_copy(
    context: *const purlin_context,
    stream: *const purlin_stream,
    source: *const purlin_matrix,
    destination: *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let source = input("source", source)?;
        let mut destination = output("destination", destination)?;
        if let (Some(a), Some(b)) = (dense_range("source", &source), dense_range("destination", &destination)) {
            super::overlap::check(&[a], &[b])?;
        }
        matrix::copy(&context, stream.as_deref(), &source, &mut destination)
    })
}

/// The matrix of an argument that is only read.
pub(super) fn input(argument: &str, matrix: *const purlin_matrix) -> Result<Shared<Matrix>> {
    handle::shared(argument, matrix)
}

/// The matrix of a nullable argument that is read.
pub(super) fn input_or_null(argument: &str, matrix: *const purlin_matrix) -> Result<Option<Shared<Matrix>>> {
    handle::shared_or_null(argument, matrix)
}

/// The matrix of an argument that is written to.
pub(super) fn output(argument: &str, matrix: *mut purlin_matrix) -> Result<Exclusive<Matrix>> {
    handle::exclusive(argument, matrix)
}

/// The matrix of a nullable argument that is written to.
pub(super) fn output_or_null(argument: &str, matrix: *mut purlin_matrix) -> Result<Option<Exclusive<Matrix>>> {
    handle::exclusive_or_null(argument, matrix)
}

/// Where the entries of a dense matrix lie, or of one that is read from an array in host memory.
pub(super) fn dense_range<'a>(name: &'a str, matrix: &Matrix) -> Option<super::overlap::Range<'a>> {
    match matrix.storage() {
        Storage::Dense { memory, layout, .. } => {
            let bytes = layout.extent() * matrix.dtype().size();
            Some(super::overlap::Range::new(name, memory.address(), bytes, matches!(memory, Memory::Device(_))))
        }
        Storage::Streamed(streamed) => {
            let (address, bytes) = streamed.lock(name).ok()?.host_range()?;
            Some(super::overlap::Range::new(name, address, bytes, false))
        }
        Storage::Csr(_) | Storage::Operator(_) => None,
    }
}

/// Sets `struct_size` and zeroes the rest.
///
/// @param[out] info  the struct.
/// @param      size  `sizeof *info`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `info` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_info_init(info: *mut purlin_matrix_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// Properties of a matrix.
///
/// @param      matrix  the matrix.
/// @param[out] info    filled in; initialize it with purlin_matrix_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
/// struct_size).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_properties(
    matrix: *const purlin_matrix,
    info: *mut purlin_matrix_info,
) -> purlin_status {
    guard::run(|| {
        let m = handle::shared::<Matrix, _>("matrix", matrix)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        let mut value = <purlin_matrix_info as options::Struct>::defaults();
        value.dtype = m.dtype() as i32;
        value.flags = if m.is_read_only() { PURLIN_READ_ONLY } else { 0 };
        value.rows = to_i64(m.rows());
        value.cols = to_i64(m.cols());
        match m.storage() {
            Storage::Dense { memory, layout, order } => {
                value.storage = PURLIN_DENSE;
                value.location = if matches!(memory, Memory::Device(_)) { PURLIN_DEVICE } else { PURLIN_HOST };
                let ld = match order {
                    Order::ColumnMajor => layout.strides()[1],
                    Order::RowMajor => {
                        value.flags |= PURLIN_ROW_MAJOR;
                        layout.strides()[0]
                    }
                };
                value.ld = to_i64(ld);
                value.nnz = to_i64(layout.elements());
                value.bytes = to_i64(layout.extent() * m.dtype().size());
                value.data = memory.address();
                value.owned = i32::from(memory.is_owned());
            }
            Storage::Csr(csr) => {
                let parts = csr.parts();
                value.storage = PURLIN_CSR;
                value.location = if csr.device().is_some() { PURLIN_DEVICE } else { PURLIN_HOST };
                value.nnz = to_i64(csr.nnz());
                let values = parts.values.as_ref();
                value.bytes = to_i64(m.storage_bytes());
                value.data = values.map_or(0, Memory::address);
                value.row_ptr = csr.device().map_or(parts.row_ptr.address(), |d| d.row_ptr.address());
                value.col_idx = csr.device().map_or(parts.col_idx.address(), |d| d.col_idx.address());
                value.index_base = i32::from(csr.index_base() == 1);
                value.row_ptr_type = parts.row_ptr_type.dtype() as i32;
                value.col_idx_type = parts.col_idx_type.dtype() as i32;
                value.owned = i32::from(csr.device().is_none() && parts.row_ptr.is_owned());
            }
            Storage::Streamed(streamed) => {
                value.storage = PURLIN_STREAMED;
                if streamed.order() == Order::RowMajor {
                    value.flags |= PURLIN_ROW_MAJOR;
                }
                value.nnz = to_i64(m.rows().saturating_mul(m.cols()));
                value.bytes = to_i64(streamed.bytes());
            }
            Storage::Operator(_) => value.storage = PURLIN_OPERATOR,
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::write("info", info, value) }
    })
}

/// Destroys a matrix, and frees its memory if that is purlin's.
///
/// @param matrix  the matrix; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_matrix_destroy(matrix: *mut purlin_matrix) -> purlin_status {
    guard::run(|| handle::remove::<Matrix, _>("matrix", matrix))
}
