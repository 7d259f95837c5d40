//! Copies of sparse matrices in another form, order or type.

use super::matrix::purlin_matrix;
use super::sparse::derive;
use super::tensor::{location, purlin_location};
use super::{guard, purlin_status};
use crate::matrix::sparse;

/// A copy without entries of modulus at most `threshold`; 0 drops stored zeros only. Entries at one place count by
/// their sum, and the others keep their order; NaN stays, and the entries of a pattern are 1. Zero-based. O(rows +
/// nnz).
///
/// @param      a          sparse, on the host.
/// @param      threshold  not negative.
/// @param[out] matrix     the matrix; destroy it with purlin_matrix_destroy.
/// @return as purlin_matrix_transpose; `PURLIN_ERROR_INVALID_ARGUMENT` also for a threshold below 0 or NaN.
///
/// # Safety
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_drop_zeros(
    a: *const purlin_matrix,
    threshold: f64,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { derive(a, matrix, |a| sparse::drop_zeros(a.context(), a, threshold)) })
}

/// A copy of a sparse matrix in memory of purlin's own: on the host, where functions that make matrices of others need
/// it, or on the context's GPU, where products and solvers read it in place, and indices stay on the host too. It has
/// the values that `a` has now; only purlin_matrix_set_values changes them, so that data which solvers cache with the
/// matrix stay valid. O(rows + nnz).
///
/// @param      a         sparse, anywhere; its queues' work is done.
/// @param      location  PURLIN_HOST, or PURLIN_DEVICE in a context on a GPU.
/// @param[out] matrix    the matrix; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
/// constant), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, a device in a context on the CPU),
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `matrix` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_copy_to(
    a: *const purlin_matrix,
    location: purlin_location,
    matrix: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let place = self::location(location, 0)?;
        // SAFETY: as promised above.
        unsafe { derive(a, matrix, |a| sparse::copy_to(a.context(), a, place)) }
    })
}
