//! What several contexts would have of a matrix.

use super::lanczos::{expect_no_start, session_of};
use super::lanczos_types::{purlin_lanczos_info, purlin_lanczos_options};
use super::matrix::purlin_matrix;
use super::sparse::alive;
use super::{guard, options, purlin_status};
use crate::error::Error;

/// How the rows of a sparse matrix would be shared out by purlin_lanczos_solve over its context and the further ones of
/// `options`, and what a product would move: the cost of a solve before it. With settled values (purlin_matrix_copy_csr,
/// patterns) the parts, copies of the rows, stay with the matrix for the solve. O(nnz).
///
/// @param      a        sparse, square.
/// @param      options  `contexts` and `contexts_count` are used; NULL for a's context alone.
/// @param[out] info     `contexts`, `part_rows`, `part_entries`, `halo`, `halo_bytes` and `product_bytes` are filled in, the rest is
///                      0; initialise it with purlin_lanczos_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size, options
/// out of range, a matrix that is not square, a further context that is there already or on another kind of device),
/// `PURLIN_ERROR_NOT_SUPPORTED` (another storage), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
///
/// # Safety
/// `options` and `info` are NULL or initialised structs, the contexts of `options` as many as it says.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_partition(
    a: *const purlin_matrix,
    options: *const purlin_lanczos_options,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: the caller promises NULL or an initialised struct.
        let o = unsafe { options::read("options", options) }?;
        // SAFETY: not null; the caller promises an initialised struct.
        unsafe { options::check("info", info) }?;
        expect_no_start(&o)?;
        // SAFETY: the caller promises as many contexts as it says.
        let found = unsafe { session_of(a.context(), &o) }?.plan(&a)?;
        // SAFETY: as above.
        unsafe { options::write("info", info, purlin_lanczos_info::of(&found)) }
    })
}
