//! Sparse matrices made from others.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::handle::{self, Shared};
use super::matrix::{borrowed, input, output, purlin_matrix, sizes};
use super::overlap::{self, ranges, stored};
use super::tensor::{purlin_dtype, purlin_tensor};
use super::{context, guard, purlin_context, purlin_status, tensor};
use crate::backend::memory::{HostMemory, Memory};
use crate::error::{Error, Result};
use crate::matrix::sparse::{self, Coordinates, Duplicates, Indices, Symmetrize};
use crate::matrix::{Csr, CsrParts, IndexType, Matrix};
use crate::shape;

/// Entries at one place are added, in the order given.
pub const PURLIN_DUPLICATES_SUM: i32 = 0;
/// The entry that is given first stays.
pub const PURLIN_DUPLICATES_FIRST: i32 = 1;
/// The entry that is given last stays.
pub const PURLIN_DUPLICATES_LAST: i32 = 2;
/// The largest stays: by value for real types, by modulus for complex ones.
pub const PURLIN_DUPLICATES_MAX: i32 = 3;
/// An entry that is given twice is an error.
pub const PURLIN_DUPLICATES_REFUSE: i32 = 4;

/// Entries of A or A^H; the larger where there are both. Loops once.
pub const PURLIN_SYMMETRIZE_UNION: i32 = 0;
/// A + A^H. Loops count twice.
pub const PURLIN_SYMMETRIZE_SUM: i32 = 1;
/// (A + A^H) / 2.
pub const PURLIN_SYMMETRIZE_AVERAGE: i32 = 2;
/// Entries that are in both; the smaller of the two.
pub const PURLIN_SYMMETRIZE_INTERSECTION: i32 = 3;
/// A holds each pair once, in one triangle: the other is its mirror image. Loops once.
pub const PURLIN_SYMMETRIZE_MIRROR: i32 = 4;

/// The matrix of an argument that is only read, on a context that is alive.
pub(super) fn alive(argument: &str, matrix: *const purlin_matrix) -> Result<Shared<Matrix>> {
    let matrix = input(argument, matrix)?;
    matrix.context().check_alive()?;
    Ok(matrix)
}

/// Makes a matrix from another and enters it at the caller's place for its handle.
///
/// # Safety
/// `target` is NULL or valid for writing.
pub(super) unsafe fn derive(
    a: *const purlin_matrix,
    target: *mut *mut purlin_matrix,
    make: impl FnOnce(&Matrix) -> Result<Matrix>,
) -> Result<()> {
    let a = alive("a", a)?;
    // SAFETY: as promised by the caller.
    let target = unsafe { super::pointer::output("matrix", target) }?;
    *target = handle::insert(make(&a)?)?;
    Ok(())
}

/// A caller's indices in host memory.
///
/// # Safety
/// `data` is NULL or valid for `count` elements of the type while the result lives.
unsafe fn indices(argument: &'static str, data: *const c_void, kind: IndexType, count: usize) -> Result<HostMemory> {
    let bytes = shape::product(argument, count, kind.dtype().size())?;
    // SAFETY: as promised by the caller.
    unsafe { borrowed(argument, data, bytes, kind.dtype().align()) }
}

/// Makes a sparse matrix from coordinates, in any order, in memory of purlin's own. The columns of each of its rows
/// ascend and no place comes twice; its indices are zero-based, of 32 bits where that is enough. O(nnz log(longest
/// row)).
///
/// @param      context     the context it belongs to.
/// @param      dtype       PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64, also of a pattern (`values` NULL).
/// @param      index_base  0 or 1: the first row and column number.
/// @param      rows        number of rows, not negative.
/// @param      cols        number of columns, not negative.
/// @param      nnz         number of entries given, not negative.
/// @param      index_type  PURLIN_I32 or PURLIN_I64.
/// @param[in]  row_idx     host, `nnz` rows.
/// @param[in]  col_idx     host, `nnz` columns.
/// @param[in]  values      host, `nnz` values; NULL for a pattern whose entries are all 1, and whose duplicates are one.
/// @param      duplicates  PURLIN_DUPLICATES_*.
/// @param[out] matrix      the matrix; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
/// constant, negative size; the first entry outside the matrix or the first duplicate refused is named),
/// `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// The arrays are NULL or valid for `nnz` elements during the call; `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_from_coordinates(
    context: *const purlin_context,
    dtype: purlin_dtype,
    index_base: i32,
    rows: i64,
    cols: i64,
    nnz: i64,
    index_type: purlin_dtype,
    row_idx: *const c_void,
    col_idx: *const c_void,
    values: *const c_void,
    duplicates: i32,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = tensor::scalar_type("dtype", dtype)?;
        let kind = IndexType::from_code("index_type", index_type)?;
        let duplicates = Duplicates::from_code("duplicates", duplicates)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        shape::length("rows", rows, 0)?;
        let (rows, cols) = sizes(rows, cols)?;
        let nnz = shape::size("nnz", nnz, 0)?;
        // SAFETY: as promised above.
        let row_idx = unsafe { indices("row_idx", row_idx, kind, nnz) }?;
        // SAFETY: as promised above.
        let col_idx = unsafe { indices("col_idx", col_idx, kind, nnz) }?;
        let values = match NonNull::new(values.cast_mut()) {
            None => None,
            Some(v) => {
                let bytes = shape::product("nnz", nnz, dtype.size())?;
                // SAFETY: as promised above.
                Some(unsafe { borrowed("values", v.as_ptr(), bytes, dtype.align()) }?)
            }
        };
        let from = Coordinates {
            rows,
            cols,
            row_idx: Indices::new(&row_idx, kind)?,
            col_idx: Indices::new(&col_idx, kind)?,
            base: i64::from(index_base),
            dtype,
            values: values.as_ref(),
        };
        *target = handle::insert(sparse::from_coordinates(&context, &from, duplicates)?)?;
        Ok(())
    })
}

/// Makes a sparse matrix from compressed sparse columns, as MATLAB and SciPy's CSC have them: compressed rows in memory
/// of purlin's own. Of a symmetric matrix both are the same: purlin_matrix_borrow_csr then needs no copy. O(nnz + rows +
/// cols).
///
/// @param      context       the context it belongs to.
/// @param      dtype         PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64, also of a pattern (`values` NULL).
/// @param      index_base    0 or 1: the first row and column number.
/// @param      rows          number of rows, not negative.
/// @param      cols          number of columns, not negative.
/// @param      nnz           number of stored entries, not negative.
/// @param      col_ptr_type  PURLIN_I32 or PURLIN_I64.
/// @param[in]  col_ptr       host, `cols + 1` offsets that start at `index_base`, do not decrease and end at
///                           `nnz + index_base`.
/// @param      row_idx_type  PURLIN_I32 or PURLIN_I64.
/// @param[in]  row_idx       host, `nnz` rows.
/// @param[in]  values        host, `nnz` values; NULL for a pattern.
/// @param[out] matrix        the matrix; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
/// constant, negative size; the first wrong offset or row is named), `PURLIN_ERROR_CANCELLED`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// The arrays are NULL or valid for the stated numbers of elements during the call; `matrix` is NULL or valid for
/// writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_from_columns(
    context: *const purlin_context,
    dtype: purlin_dtype,
    index_base: i32,
    rows: i64,
    cols: i64,
    nnz: i64,
    col_ptr_type: purlin_dtype,
    col_ptr: *const c_void,
    row_idx_type: purlin_dtype,
    row_idx: *const c_void,
    values: *const c_void,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = tensor::scalar_type("dtype", dtype)?;
        let row_ptr_type = IndexType::from_code("col_ptr_type", col_ptr_type)?;
        let col_idx_type = IndexType::from_code("row_idx_type", row_idx_type)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        shape::length("rows", rows, 0)?;
        let (rows, cols) = sizes(rows, cols)?;
        let nnz = shape::size("nnz", nnz, 0)?;
        let offsets = cols.checked_add(1).ok_or_else(|| Error::invalid("cols", format!("is {cols}, too large")))?;
        // SAFETY: as promised above.
        let row_ptr = unsafe { indices("col_ptr", col_ptr, row_ptr_type, offsets) }?;
        // SAFETY: as promised above.
        let col_idx = unsafe { indices("row_idx", row_idx, col_idx_type, nnz) }?;
        let values = match NonNull::new(values.cast_mut()) {
            None => None,
            Some(v) => {
                let bytes = shape::product("nnz", nnz, dtype.size())?;
                // SAFETY: as promised above.
                Some(Memory::Host(unsafe { borrowed("values", v.as_ptr(), bytes, dtype.align()) }?))
            }
        };
        let parts = CsrParts { row_ptr, row_ptr_type, col_idx, col_idx_type, values };
        // The columns are the rows of the transpose.
        let csr = Csr::new(parts, cols, rows, nnz, i64::from(index_base)).map_err(turned)?;
        let transposed = Matrix::from_csr(&context, dtype, csr, true);
        *target = handle::insert(sparse::from_columns(&context, &transposed)?)?;
        Ok(())
    })
}

/// The error of a matrix's rows as one of the columns that they are.
fn turned(error: Error) -> Error {
    error.renamed("row_ptr", "col_ptr").renamed("col_idx", "row_idx")
}

/// The entries of a dense matrix whose modulus is larger than `threshold`, as a sparse one; with 0 all that are not 0.
/// NaN is kept. O(rows cols).
///
/// @param      a          dense, on the host, of a floating-point type.
/// @param      threshold  not negative.
/// @param[out] matrix     the matrix; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a threshold
/// below 0 or NaN, element type), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory),
/// `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_from_dense(
    a: *const purlin_matrix,
    threshold: f64,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { derive(a, matrix, |a| sparse::from_dense(a.context(), a, threshold)) })
}

/// Writes every entry of a sparse matrix to a dense one; entries at one place are added. O(rows cols + nnz).
///
/// @param a    sparse, on the host.
/// @param out  dense, of the same size and type, any order, on the host.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (size, type, read-only,
/// another context), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_CANCELLED` (which leaves some rows written).
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_matrix_to_dense(a: *const purlin_matrix, out: *mut purlin_matrix) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        let mut out = output("out", out)?;
        out.expect_context("out", a.context())?;
        overlap::check(&stored("a", &a), &ranges(&[("out", Some(&out))], &[]))?;
        sparse::to_dense(&a, &mut out)
    })
}

/// A sparse matrix with the columns of each row ascending and every place once, zero-based. O(nnz log(longest row)).
///
/// @param      a           sparse, on the host.
/// @param      duplicates  PURLIN_DUPLICATES_*.
/// @param[out] matrix      the matrix; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
/// constant, duplicates that are refused), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory),
/// `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_canonical(
    a: *const purlin_matrix,
    duplicates: i32,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let duplicates = Duplicates::from_code("duplicates", duplicates)?;
        // SAFETY: as promised above.
        unsafe { derive(a, matrix, |a| sparse::canonical(a.context(), a, duplicates)) }
    })
}

/// The places of a sparse matrix's entries, each once, without values: every entry is 1. Products with it read 4 bytes an
/// entry, not 12. O(nnz log(longest row)).
///
/// @param      a       sparse, on the host.
/// @param[out] matrix  the pattern; destroy it with purlin_matrix_destroy.
/// @return as purlin_matrix_transpose.
///
/// # Safety
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_pattern(
    a: *const purlin_matrix,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { derive(a, matrix, |a| sparse::pattern(a.context(), a)) })
}

/// The transpose of a sparse matrix. O(nnz + rows + cols).
///
/// @param      a          sparse, on the host.
/// @param      conjugate  1 for the conjugate transpose, else 0.
/// @param[out] matrix     the transpose; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
/// `conjugate`), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_CANCELLED`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_transpose(
    a: *const purlin_matrix,
    conjugate: i32,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let conjugate = super::options::flag("conjugate", conjugate)?;
        // SAFETY: as promised above.
        unsafe { derive(a, matrix, |a| sparse::transpose(a.context(), a, conjugate)) }
    })
}

/// A symmetric matrix (Hermitian if complex) from a square one without duplicates. Of a pattern UNION, INTERSECTION and
/// MIRROR are patterns; SUM and AVERAGE count with ones. The diagonal of a complex matrix becomes real.
/// O(nnz log(longest row)).
///
/// @param      a       sparse, square, on the host.
/// @param      rule    PURLIN_SYMMETRIZE_*.
/// @param[out] matrix  the matrix; destroy it with purlin_matrix_destroy.
/// @return as purlin_matrix_transpose; `PURLIN_ERROR_INVALID_ARGUMENT` also for a matrix that is not square, duplicates,
/// and with MIRROR entries in both triangles or a diagonal that is not real.
///
/// # Safety
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_symmetrize(
    a: *const purlin_matrix,
    rule: i32,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let rule = Symmetrize::from_code("rule", rule)?;
        // SAFETY: as promised above.
        unsafe { derive(a, matrix, |a| sparse::symmetrize(a.context(), a, rule)) }
    })
}

/// D_r A D_c of a sparse matrix and diagonal ones: its entries in their order, each with a value, of a pattern too, so
/// that a plan for one serves the other. O(nnz).
///
/// @param      a       sparse, on the host.
/// @param      rows    as many elements as there are rows, of the matrix's type, on the host, which they are multiplied by;
///                     NULL for ones.
/// @param      cols    as many as there are columns, likewise.
/// @param[out] matrix  the matrix; destroy it with purlin_matrix_destroy.
/// @return as purlin_matrix_transpose; `PURLIN_ERROR_INVALID_ARGUMENT` also for another number or type of factors.
///
/// # Safety
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_scale(
    a: *const purlin_matrix,
    rows: *const purlin_tensor,
    cols: *const purlin_tensor,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let rows = tensor::input_or_null("rows", rows)?;
        let cols = tensor::input_or_null("cols", cols)?;
        // SAFETY: as promised above.
        unsafe { derive(a, matrix, |a| sparse::scale(a.context(), a, rows.as_deref(), cols.as_deref())) }
    })
}

/// A list of indices, or `None` for NULL.
///
/// # Safety
/// `list` is NULL or valid for `count` elements while the result lives.
unsafe fn listed<'a>(argument: &str, list: *const i64, count: i64) -> Result<Option<Indices<'a>>> {
    let count = shape::size(argument, count, 0)?;
    if list.is_null() {
        return Ok(None);
    }
    // SAFETY: as promised by the caller.
    Ok(Some(Indices::I64(unsafe { super::pointer::list(argument, count, list) }?)))
}

/// Row i of the result is row `rows[i]` of a sparse matrix, column j its column `cols[j]`. The same list for both numbers
/// the vertices of a graph anew. O(nnz log(longest row)).
///
/// @param      a       sparse, on the host.
/// @param[in]  rows    a permutation of the rows, from 0; NULL keeps them.
/// @param[in]  cols    a permutation of the columns, from 0; NULL keeps them.
/// @param[out] matrix  the matrix; destroy it with purlin_matrix_destroy.
/// @return as purlin_matrix_transpose; `PURLIN_ERROR_INVALID_ARGUMENT` also for a list that is no permutation, naming the
/// element.
///
/// # Safety
/// `rows` and `cols` are NULL or valid for as many elements as `a` has rows and columns; `matrix` is NULL or valid for
/// writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_permute(
    a: *const purlin_matrix,
    rows: *const i64,
    cols: *const i64,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    let make = |a: &Matrix| {
        // SAFETY: as promised above.
        let rows = unsafe { listed("rows", rows, shape::to_i64(a.rows())) }?;
        // SAFETY: as promised above.
        let cols = unsafe { listed("cols", cols, shape::to_i64(a.cols())) }?;
        sparse::permute(a.context(), a, rows.as_ref(), cols.as_ref())
    };
    // SAFETY: as promised above.
    guard::run(|| unsafe { derive(a, matrix, make) })
}

/// The submatrix of the rows and columns listed, in that order. O(nnz log(longest row)).
///
/// @param      a          sparse, on the host.
/// @param      row_count  number of rows listed, not negative; not used where `rows` is NULL.
/// @param[in]  rows       different rows, from 0; NULL for all.
/// @param      col_count  number of columns listed, not negative; not used where `cols` is NULL.
/// @param[in]  cols       different columns, from 0; NULL for all.
/// @param[out] matrix     the matrix; destroy it with purlin_matrix_destroy.
/// @return as purlin_matrix_transpose; `PURLIN_ERROR_INVALID_ARGUMENT` also for an index outside the matrix or listed
/// twice.
///
/// # Safety
/// `rows` is NULL or valid for `row_count` elements, `cols` for `col_count`; `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_select(
    a: *const purlin_matrix,
    row_count: i64,
    rows: *const i64,
    col_count: i64,
    cols: *const i64,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    let make = |a: &Matrix| {
        // SAFETY: as promised above.
        let rows = unsafe { listed("row_count", rows, if rows.is_null() { 0 } else { row_count }) }?;
        // SAFETY: as promised above.
        let cols = unsafe { listed("col_count", cols, if cols.is_null() { 0 } else { col_count }) }?;
        sparse::select(a.context(), a, rows.as_ref(), cols.as_ref())
    };
    // SAFETY: as promised above.
    guard::run(|| unsafe { derive(a, matrix, make) })
}

/// Replaces the values of a sparse matrix in purlin's own memory; plans for it stay valid, but for those that
/// purlin_spmv_update updates. A borrowed matrix takes its values from the caller's array whenever it is used. O(nnz).
///
/// @param matrix  sparse, not borrowed, with values.
/// @param values  as many elements as there are stored entries, in their order, of the matrix's type, on the host.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (number or type of values, a
/// pattern, a borrowed matrix), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_BUSY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_matrix_set_values(matrix: *mut purlin_matrix, values: *const purlin_tensor) -> purlin_status {
    guard::run(|| {
        let mut matrix = output("matrix", matrix)?;
        matrix.context().check_alive()?;
        let values = tensor::input("values", values)?;
        matrix.set_values(&values)
    })
}
