//! Randomized singular value decomposition: the object, its options and its inputs.

use std::sync::Arc;

use super::callback::Report;
use super::handle::{self, Exclusive, Shared};
use super::matrix::{self, purlin_matrix};
use super::rsvd_convert::read_options;
use super::rsvd_types::*;
use super::{context, group, guard, options, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::ProgressFn;
use crate::rsvd::info::Info;
use crate::rsvd::options::Options;
use crate::rsvd::plan::WantedFactors;
use crate::rsvd::session::Rsvd;
use crate::session::{CancelHandle, LastInfo};

/// A randomized singular value decomposition: options on a context, for matrices of any shape. It keeps its workspaces:
/// a second call of the same shape allocates little.
pub struct purlin_rsvd {
    _private: [u8; 0],
}

/// The object behind a handle of a decomposition. The handle is only ever locked for reading, so that another thread
/// can cancel a call; calls lock the decomposition inside.
pub(super) struct RsvdObject {
    cancel: CancelHandle,
    last: LastInfo<Info>,
    options: Options,
    pub(super) report: Report,
    inner: Arc<handle::Lock<Rsvd>>,
}

impl RsvdObject {
    /// The decomposition of a handle, and its progress function, for a call that changes it.
    pub(super) fn exclusive(handle: *mut purlin_rsvd) -> Result<(Shared<Self>, Exclusive<Rsvd>)> {
        let object = handle::shared::<Self, _>("rsvd", handle)?;
        let rsvd = handle::lock_exclusive("rsvd", Arc::clone(&object.inner))?;
        rsvd.context().check_alive()?;
        Ok((object, rsvd))
    }

    /// The decomposition of a handle, for a call that only reads it.
    pub(super) fn shared(handle: *const purlin_rsvd) -> Result<Shared<Rsvd>> {
        let object = handle::shared::<Self, _>("rsvd", handle)?;
        let rsvd = handle::lock_shared("rsvd", Arc::clone(&object.inner))?;
        rsvd.context().check_alive()?;
        Ok(rsvd)
    }

    /// Makes a call that reports its progress.
    pub(super) fn run<R>(&self, body: impl FnOnce(Option<&ProgressFn<'_>>) -> Result<R>) -> Result<R> {
        self.report.run(body)
    }
}

/// The caller's options on a context, and the progress function in them.
///
/// # Safety
/// `options` is NULL or an initialized struct, its `restart_path` NULL or a terminated string.
pub(super) unsafe fn made(
    context: *const purlin_context,
    options: *const purlin_rsvd_options,
) -> Result<(Rsvd, Report)> {
    let context = context::get(context)?;
    // SAFETY: as promised above.
    let o = unsafe { options::read("options", options) }?;
    // SAFETY: as promised above.
    let settings = unsafe { read_options(&o) }?;
    let group = group::of(o.group, &context)?;
    let core = Rsvd::over(&group, settings)?;
    Ok((core, Report::new(o.progress, o.progress_user)))
}

/// Makes a decomposition: A = U diag(s) V^H to rank k by random projection (Halko, Martinsson, Tropp, SIAM Review 53,
/// 2011) of a matrix that need not fit the device, nor the host. The methods, their cost in passes over the data and
/// their sources are at PURLIN_RSVD_METHOD_*.
///
/// The same build, device model, input and options give the same bits. Random numbers follow from the seed and their
/// place alone (Philox 4x32-10): blocks, threads and devices see the same sketch.
///
/// @param      context  the context to run on; `options->group` has more.
/// @param      options  NULL for the defaults, which have no rank and no tolerance: only good for purlin_rsvd_range,
///                      purlin_rsvd_error and purlin_rsvd_sketch.
/// @param[out] rsvd     the decomposition; destroy it with purlin_rsvd_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// unknown constant, a negative size, a tolerance or ratio below 0 or not less than 1, `scale` without CENTER_COLUMNS,
/// `one_pass` without MERGE, a group on the CPU or that begins with another context), `PURLIN_ERROR_NOT_SUPPORTED` (an
/// option that this library does not know, a restart file with a tolerance), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `options` is NULL or initialized, its `restart_path` NULL or a terminated string; `rsvd` is NULL or valid for
/// writing; `options->progress` may be called with its user pointer while the object lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rsvd_create(
    context: *const purlin_context,
    options: *const purlin_rsvd_options,
    rsvd: *mut *mut purlin_rsvd,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("rsvd", rsvd) }?;
        // SAFETY: the caller promises NULL or an initialized struct with NULL or a terminated string in it.
        let (core, report) = unsafe { made(context, options) }?;
        let object = RsvdObject {
            cancel: core.cancel_handle(),
            last: core.last_info(),
            options: core.options().clone(),
            report,
            inner: Arc::new(handle::Lock::new(core)),
        };
        *target = handle::insert(object)?;
        Ok(())
    })
}

/// Destroys a decomposition. A call that runs goes on to its end.
///
/// @param rsvd  the decomposition; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_rsvd_destroy(rsvd: *mut purlin_rsvd) -> purlin_status {
    guard::run(|| handle::remove::<RsvdObject, _>("rsvd", rsvd))
}

/// Cancels the call that runs on a decomposition, which then returns `PURLIN_ERROR_CANCELLED` within one block of its
/// work. Later calls are not touched. May be called from any thread and from a progress function; it waits for nothing.
///
/// @param rsvd  the decomposition.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_rsvd_cancel(rsvd: *const purlin_rsvd) -> purlin_status {
    guard::run(|| {
        handle::shared::<RsvdObject, _>("rsvd", rsvd)?.cancel.cancel();
        Ok(())
    })
}

/// Gives the sketch that later calls use instead of a drawn one. It multiplies A from the right, also where the library
/// would have worked on A^H.
///
/// @param rsvd   the decomposition.
/// @param omega  dense, on the host, of the type that is computed with; as many rows as A has columns, and at least l
///               columns. The first l are used, and copied. NULL: sketches are drawn again.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (element type, another
/// context, an entry that is not finite), `PURLIN_ERROR_NOT_SUPPORTED` (storage, device memory), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_CANCELLED` (by purlin_context_cancel; the sketch stays as it was), `PURLIN_ERROR_OUT_OF_MEMORY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_rsvd_set_sketch(rsvd: *mut purlin_rsvd, omega: *const purlin_matrix) -> purlin_status {
    guard::run(|| {
        let (_, mut rsvd) = RsvdObject::exclusive(rsvd)?;
        let omega = handle::shared_or_null::<Matrix, _>("omega", omega)?;
        rsvd.set_sketch(omega.as_deref())
    })
}

/// The plan of purlin_rsvd_compute for a matrix: the method and why, passes, blocks, bytes and seconds. No entry is
/// read.
///
/// @param      rsvd    the decomposition.
/// @param      a       the matrix, of any storage.
/// @param      with_u  1 for a run with U, 0 for one without, which may take less memory.
/// @param      with_v  1 for a run with V, 0 for one without.
/// @param[out] info    filled in; initialize it with purlin_rsvd_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// the arguments that purlin_rsvd_compute refuses), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY` and
/// `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` (not even the smallest block fits), `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rsvd_plan(
    rsvd: *const purlin_rsvd,
    a: *const purlin_matrix,
    with_u: i32,
    with_v: i32,
    info: *mut purlin_rsvd_info,
) -> purlin_status {
    guard::run(|| {
        let rsvd = RsvdObject::shared(rsvd)?;
        let a = matrix::input("a", a)?;
        let wanted = WantedFactors { u: options::flag("with_u", with_u)?, v: options::flag("with_v", with_v)? };
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::check("info", info) }?;
        let plan = rsvd.plan_factors(&a, wanted)?;
        // SAFETY: as above.
        unsafe { options::write("info", info, purlin_rsvd_info::of(&plan, rsvd.options())) }
    })
}

/// Report of the last run of a decomposition that ended with `PURLIN_SUCCESS` or `PURLIN_ERROR_NO_CONVERGENCE`: the
/// `info` of that call, of purlin_pca_fit too. A run that is under way, or that ended in another way, changes nothing.
/// May be called from any thread; it does not wait.
///
/// @param      rsvd  the decomposition.
/// @param[out] info  filled in; initialize it with purlin_rsvd_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// no run that ended so).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rsvd_last_info(rsvd: *const purlin_rsvd, info: *mut purlin_rsvd_info) -> purlin_status {
    guard::run(|| {
        let object = handle::shared::<RsvdObject, _>("rsvd", rsvd)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::check("info", info) }?;
        let last = object.last.get("rsvd")?;
        // SAFETY: as above.
        unsafe { options::write("info", info, purlin_rsvd_info::of(&last, &object.options)) }
    })
}

/// Fills a matrix with the sketch that the options draw, also where purlin_rsvd_set_sketch gave another: entry (i, j)
/// is the same for every matrix with more than i columns. O(1) an entry.
///
/// @param      rsvd    the decomposition; `sketch` and `seed` of its options count.
/// @param      stream  NULL for the context's own.
/// @param      omega   dense, F32, F64, CF32 or CF64, of any size; on the host (complete on return) or the device.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (element type, read-only,
/// another context), `PURLIN_ERROR_NOT_SUPPORTED` (storage), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (also by
/// purlin_rsvd_cancel; may leave a part of `omega` written), `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_rsvd_sketch(
    rsvd: *const purlin_rsvd,
    stream: *const purlin_stream,
    omega: *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let rsvd = RsvdObject::shared(rsvd)?;
        let stream = stream::get(stream)?;
        let mut omega = matrix::output("omega", omega)?;
        rsvd.sketch(stream.as_deref(), &mut omega)
    })
}
