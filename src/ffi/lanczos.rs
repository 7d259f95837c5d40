//! The eigensolver: the object, its plan, and its report.

use std::sync::Arc;

use super::callback::Report;
use super::handle::{self, Exclusive, Shared};
use super::lanczos_convert::session_of;
use super::lanczos_types::{purlin_lanczos_info, purlin_lanczos_options};
use super::matrix::{input_or_null, purlin_matrix};
use super::sparse::alive;
use super::{context, guard, options, purlin_context, purlin_status};
use crate::error::{Error, Result};
use crate::lanczos::Info;
use crate::lanczos::session::{Inputs, Lanczos};
use crate::progress::ProgressFn;
use crate::session::{CancelHandle, LastInfo};

/// An eigensolver: options on a context, for matrices of any size. Matrices keep the plans of their products, so that an
/// object holds no work space between calls.
pub struct purlin_lanczos {
    _private: [u8; 0],
}

/// The object behind a handle of a solver. It is only ever locked for reading, so that a cancellation gets in while a
/// call runs; calls lock the solver inside.
pub(super) struct LanczosObject {
    cancel: CancelHandle,
    last: LastInfo<Info>,
    report: Report,
    inner: Arc<handle::Lock<Lanczos>>,
}

impl LanczosObject {
    /// The solver of a handle for one run, and its progress function.
    pub(super) fn exclusive(handle: *mut purlin_lanczos) -> Result<(Shared<Self>, Exclusive<Lanczos>)> {
        let object = handle::shared::<Self, _>("lanczos", handle)?;
        let lanczos = handle::lock_exclusive("lanczos", Arc::clone(&object.inner))?;
        lanczos.context().check_alive()?;
        Ok((object, lanczos))
    }

    /// The solver of a handle, for a call that only reads it.
    pub(super) fn shared(handle: *const purlin_lanczos) -> Result<Shared<Lanczos>> {
        let object = handle::shared::<Self, _>("lanczos", handle)?;
        handle::lock_shared("lanczos", Arc::clone(&object.inner))
    }

    /// Makes a call that reports its progress.
    pub(super) fn run<R>(&self, body: impl FnOnce(Option<&ProgressFn<'_>>) -> Result<R>) -> Result<R> {
        self.report.run(body)
    }
}

/// Makes an eigensolver with options, for any number of matrices. The object's calls are made one at a time; two threads
/// that solve at the same time have an object each.
///
/// @param      context  the context of all matrices and outputs of later calls; `options->group` has more.
/// @param      options  NULL for the defaults: the 6 largest eigenvalues.
/// @param[out] lanczos  the solver; destroy it with purlin_lanczos_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// unknown constant, an option that is out of range for every matrix, options that exclude each other, a group that begins
/// with another context), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `options` is NULL or initialized; `lanczos` is NULL or valid for writing;
/// `options->progress` may be called with its user pointer while the object lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_create(
    context: *const purlin_context,
    options: *const purlin_lanczos_options,
    lanczos: *mut *mut purlin_lanczos,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("lanczos", lanczos) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let o = unsafe { options::read("options", options) }?;
        let core = session_of(&context, &o)?;
        let object = LanczosObject {
            cancel: core.cancel_handle(),
            last: core.last_info(),
            report: Report::new(o.progress, o.progress_user),
            inner: Arc::new(handle::Lock::new(core)),
        };
        *target = handle::insert(object)?;
        Ok(())
    })
}

/// Destroys a solver. A call that runs goes on to its end.
///
/// @param lanczos  the solver; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_lanczos_destroy(lanczos: *mut purlin_lanczos) -> purlin_status {
    guard::run(|| handle::remove::<LanczosObject, _>("lanczos", lanczos))
}

/// Cancels the call that runs on a solver, which then returns `PURLIN_ERROR_CANCELLED` after the product that it is at.
/// Later calls are not touched. May be called from any thread and from a progress function; it waits for nothing.
///
/// @param lanczos  the solver.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_lanczos_cancel(lanczos: *const purlin_lanczos) -> purlin_status {
    guard::run(|| {
        handle::shared::<LanczosObject, _>("lanczos", lanczos)?.cancel.cancel();
        Ok(())
    })
}

/// Gives the report of the solver's last run: purlin_lanczos_solve, purlin_lanczos_singular,
/// purlin_lanczos_tridiagonalize and the functions of graphs that take a solver, with success or
/// `PURLIN_ERROR_NO_CONVERGENCE`; a run that fails otherwise leaves it. Of the recurrences of
/// purlin_lanczos_tridiagonalize and purlin_graph_density, `basis` has the steps asked for, `products` those made, and
/// `stop_reason` is EXHAUSTED if a space was invariant, else RESTARTS; there are no pairs. May be called from any
/// thread, also while a call runs, which it does not wait for.
///
/// @param      lanczos  the solver.
/// @param[out] info     the report; initialize it with purlin_lanczos_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size;
/// no run so far).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_last_info(
    lanczos: *const purlin_lanczos,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let object = handle::shared::<LanczosObject, _>("lanczos", lanczos)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        let last = object.last.get("lanczos")?;
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::write("info", info, purlin_lanczos_info::of(&last)) }
    })
}

/// Gives the plan of a purlin_lanczos_solve: the method and why, the vectors of the space, the memory of the run, and
/// of a square sparse matrix how its rows are distributed over the solver's contexts and how much data a product moves.
/// If only purlin can change the values (purlin_matrix_copy_csr, patterns), the matrix caches the parts, copies of the
/// rows, for the solve. O(nnz); no products.
///
/// The plan refuses the same options, inputs and limits of memory as purlin_lanczos_solve with vectors in host memory,
/// with the same status and message, and accepts all others. Entries are not read: a matrix that is not symmetric, row
/// sums below 0 and numbers that are not finite show in the solve.
///
/// @param      lanczos  the solver.
/// @param      a        the matrix, as for purlin_lanczos_solve.
/// @param      known    as for purlin_lanczos_solve; NULL for none.
/// @param      solve    as for purlin_lanczos_solve; NULL for none.
/// @param[out] info     `method`, `reason`, `basis`, `degree`, `host_bytes`, `device_bytes`, `contexts`, `part_rows`,
///                      `part_entries`, `halo`, `halo_bytes` and `product_bytes` are filled in, the rest is 0; initialize it
///                      with purlin_lanczos_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// options that the matrix is too small for or that the inputs exclude, a matrix that is not square or of another
/// context), `PURLIN_ERROR_NOT_SUPPORTED` (storage, an option that there is not for it), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_plan(
    lanczos: *const purlin_lanczos,
    a: *const purlin_matrix,
    known: *const purlin_matrix,
    solve: *const purlin_matrix,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let lanczos = LanczosObject::shared(lanczos)?;
        let a = alive("a", a)?;
        let known = input_or_null("known", known)?;
        let solve = input_or_null("solve", solve)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::check("info", info) }?;
        let plan = lanczos.plan(&a, Inputs { start: None, known: known.as_deref(), solve: solve.as_deref() })?;
        // SAFETY: as above.
        unsafe { options::write("info", info, purlin_lanczos_info::of(&plan)) }
    })
}
