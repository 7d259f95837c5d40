//! Files of sparse matrices: Matrix Market and edge lists.

use std::ffi::c_char;

use super::array::file_path;
use super::handle;
use super::matrix::purlin_matrix;
use super::options::flag;
use super::sparse::alive;
use super::sparse_measures::put_with_list;
use super::tensor::{purlin_dtype, purlin_tensor, scalar_type};
use super::{context, guard, purlin_context, purlin_status};
use crate::matrix::sparse::{self, Duplicates, EdgeList};
use crate::tensor::Tensor;

/// As an element type of a file's values: PURLIN_CF64 where they are complex, else PURLIN_F64.
pub const PURLIN_DTYPE_OF_FILE: i32 = -1;

/// Reads a sparse matrix from a Matrix Market file of coordinates (Boisvert, Pozo, Remington, NISTIR 5935, 1996), plain
/// or compressed by gzip. Of a symmetric file, which holds one triangle, the other is its mirror image. Entries at one
/// place are added; of a pattern they are one. One pass over the file, and O(nnz log(longest row)).
///
/// @param      context  the context it belongs to.
/// @param[in]  path     the file.
/// @param      dtype    type of the values, a floating-point one, or PURLIN_DTYPE_OF_FILE.
/// @param[out] matrix   the matrix; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, element
/// type; a real one for complex values), `PURLIN_ERROR_NOT_SUPPORTED` (a file of a dense array), `PURLIN_ERROR_IO` (the
/// message names the line of an entry that is missing, malformed or beyond the range of the type; integers of a modulus
/// above 2^53, and those that single precision would round, are beyond it), `PURLIN_ERROR_CANCELLED`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `path` is NULL or a terminated string; `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_read_market(
    context: *const purlin_context,
    path: *const c_char,
    dtype: purlin_dtype,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = if dtype == PURLIN_DTYPE_OF_FILE { None } else { Some(scalar_type("dtype", dtype)?) };
        // SAFETY: as promised above.
        let path = unsafe { file_path("path", path) }?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        *target = handle::insert(sparse::read_market(&context, &path, dtype)?)?;
        Ok(())
    })
}

/// Writes a sparse matrix to a Matrix Market file, its values with all their digits. The file gets its name once it is
/// complete. O(rows + nnz).
///
/// @param     a          sparse, on the host.
/// @param[in] path       the file; one of that name is replaced. It is compressed by gzip if the name ends in `.gz`.
/// @param     symmetric  1: only the lower triangle, of a matrix that is symmetric (Hermitian if complex) bit for bit; 0:
///                       every entry.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, `symmetric`, a
/// matrix that is not), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_IO`,
/// `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `path` is NULL or a terminated string.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_write_market(
    a: *const purlin_matrix,
    path: *const c_char,
    symmetric: i32,
) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        let symmetric = flag("symmetric", symmetric)?;
        // SAFETY: as promised above.
        sparse::write_market(&a, &unsafe { file_path("path", path) }?, symmetric)
    })
}

/// Reads the adjacency matrix of a graph from an edge list, plain or compressed by gzip: two vertices a line, row and
/// column, and a weight if there is one, separated by blanks, tabs or commas. Lines that begin with `#` or `%` are passed
/// over. Edges are directed: purlin_matrix_symmetrize makes them undirected. One pass over the file, and
/// O(nnz log(longest row)).
///
/// @param      context     the context it belongs to.
/// @param[in]  path        the file.
/// @param      dtype       PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      weighted    1: the third number of a line is its value; 0: the matrix is a pattern.
/// @param      duplicates  PURLIN_DUPLICATES_*, for an edge that comes several times. A pattern has one entry for it,
///                         whichever of SUM, FIRST, LAST and MAX is given.
/// @param[out] matrix      the matrix; destroy it with purlin_matrix_destroy.
/// @param[out] vertices    NULL: a vertex's number, not negative, is its row, and the largest says how many there are.
///                         Else vertices are numbered in the order in which they first come, and this is a tensor of
///                         PURLIN_I64 with the number in the file of each; destroy it with purlin_tensor_destroy.
/// @return as purlin_matrix_read_market.
///
/// # Safety
/// `path` is NULL or a terminated string; `matrix` and `vertices` are NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_read_edges(
    context: *const purlin_context,
    path: *const c_char,
    dtype: purlin_dtype,
    weighted: i32,
    duplicates: i32,
    matrix: *mut *mut purlin_matrix,
    vertices: *mut *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let options = EdgeList {
            dtype: scalar_type("dtype", dtype)?,
            weighted: flag("weighted", weighted)?,
            duplicates: Duplicates::from_code("duplicates", duplicates)?,
            relabel: !vertices.is_null(),
        };
        // SAFETY: as promised above.
        let path = unsafe { file_path("path", path) }?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("matrix", matrix) }?;
        // SAFETY: likewise.
        let place = unsafe { super::pointer::output_or_null("vertices", vertices) }?;
        let (made, names) = sparse::read_edges(&context, &path, options)?;
        let names = names.map(|n| Tensor::from_list(&context, n.as_slice()?)).transpose()?;
        put_with_list(target, made, place, names)
    })
}

/// Writes the stored entries of a real sparse matrix as edges: row, column, both from 0, and the value unless it is a
/// pattern. The file gets its name once it is complete. O(rows + nnz).
///
/// @param     a          sparse, real, on the host.
/// @param[in] path       the file; one of that name is replaced. It is compressed by gzip if the name ends in `.gz`.
/// @param     symmetric  1: each edge of a symmetric matrix once, from the larger vertex to the smaller; 0: every entry.
/// @return as purlin_matrix_write_market.
///
/// # Safety
/// `path` is NULL or a terminated string.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_write_edges(
    a: *const purlin_matrix,
    path: *const c_char,
    symmetric: i32,
) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        let symmetric = flag("symmetric", symmetric)?;
        // SAFETY: as promised above.
        sparse::write_edges(&a, &unsafe { file_path("path", path) }?, symmetric)
    })
}
