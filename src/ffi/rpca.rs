//! Robust PCA: the object and its options.

use std::sync::Arc;

use super::callback::Report;
use super::handle::{self, Exclusive, Shared};
use super::matrix::{self, purlin_matrix};
use super::options::{self, Struct as _};
use super::rpca_types::*;
use super::{context, group, guard, purlin_context, purlin_status};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::ProgressFn;
use crate::rpca::session::Observed;
use crate::rpca::{Info, Options, Rpca};
use crate::session::{CancelHandle, LastInfo};

/// A robust PCA: options on a context, for matrices of any shape. One run at a time.
pub struct purlin_rpca {
    _private: [u8; 0],
}

/// The object behind a handle of a robust PCA. The handle is only ever locked for reading, so that another thread can
/// cancel a call; calls lock the robust PCA inside.
pub(super) struct RpcaObject {
    cancel: CancelHandle,
    last: LastInfo<Info>,
    pub(super) report: Report,
    inner: Arc<handle::Lock<Rpca>>,
}

impl RpcaObject {
    /// The robust PCA of a handle, and its progress function, for a call that runs it.
    pub(super) fn exclusive(handle: *mut purlin_rpca) -> Result<(Shared<Self>, Exclusive<Rpca>)> {
        let object = handle::shared::<Self, _>("rpca", handle)?;
        let rpca = handle::lock_exclusive("rpca", Arc::clone(&object.inner))?;
        rpca.context().check_alive()?;
        Ok((object, rpca))
    }

    /// The robust PCA of a handle, for a call that only reads it.
    fn shared(handle: *const purlin_rpca) -> Result<Shared<Rpca>> {
        let object = handle::shared::<Self, _>("rpca", handle)?;
        let rpca = handle::lock_shared("rpca", Arc::clone(&object.inner))?;
        rpca.context().check_alive()?;
        Ok(rpca)
    }

    /// Makes a call that reports its progress.
    pub(super) fn run<R>(&self, body: impl FnOnce(Option<&ProgressFn<'_>>) -> Result<R>) -> Result<R> {
        self.report.run(body)
    }
}

/// Writes the defaults.
///
/// @param[out] options  the struct.
/// @param      size     `sizeof *options`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `options` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_options_init(options: *mut purlin_rpca_options, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
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
pub unsafe extern "C" fn purlin_rpca_info_init(info: *mut purlin_rpca_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

fn read_options(o: &purlin_rpca_options) -> Result<Options> {
    let mut options = Options::default();
    o.read_into(&mut options)?;
    options.check()?;
    Ok(options)
}

impl purlin_rpca_info {
    pub(super) fn of(i: &Info) -> Self {
        let mut made = Self::zeroed();
        made.set(i);
        made
    }
}

/// The caller's options on a context, and the progress function in them.
///
/// # Safety
/// `options` is NULL or an initialized struct.
pub(super) unsafe fn made(
    context: *const purlin_context,
    options: *const purlin_rpca_options,
) -> Result<(Rpca, Report)> {
    let context = context::get(context)?;
    // SAFETY: as promised above.
    let o = unsafe { options::read("options", options) }?;
    let group = group::of(o.group, &context)?;
    Ok((Rpca::over(&group, read_options(&o)?)?, Report::new(o.progress, o.progress_user)))
}

/// Makes a robust PCA, which splits matrices into a low-rank and a sparse part: purlin_rpca_compute says how.
///
/// @param      context  the context to run on; `options->group` has more.
/// @param      options  NULL for the defaults.
/// @param[out] rpca     the robust PCA; destroy it with purlin_rpca_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size, an
/// option outside its domain, a group on the CPU or that begins with another context),
/// `PURLIN_ERROR_NOT_SUPPORTED` (an option that this library does not know), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `options` is NULL or initialized; `rpca` is NULL or valid for writing;
/// `options->progress` may be called with its user pointer while the object lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_create(
    context: *const purlin_context,
    options: *const purlin_rpca_options,
    rpca: *mut *mut purlin_rpca,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("rpca", rpca) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let (core, report) = unsafe { made(context, options) }?;
        let object = RpcaObject {
            cancel: core.cancel_handle(),
            last: core.last_info(),
            report,
            inner: Arc::new(handle::Lock::new(core)),
        };
        *target = handle::insert(object)?;
        Ok(())
    })
}

/// Destroys a robust PCA. A call that runs goes on to its end.
///
/// @param rpca  the robust PCA; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_rpca_destroy(rpca: *mut purlin_rpca) -> purlin_status {
    guard::run(|| handle::remove::<RpcaObject, _>("rpca", rpca))
}

/// Cancels the run of a robust PCA, which then returns `PURLIN_ERROR_CANCELLED` within one block of its work. Later runs are
/// not touched. May be called from any thread and from a progress function; it waits for nothing.
///
/// @param rpca  the robust PCA.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_rpca_cancel(rpca: *const purlin_rpca) -> purlin_status {
    guard::run(|| {
        handle::shared::<RpcaObject, _>("rpca", rpca)?.cancel.cancel();
        Ok(())
    })
}

/// The plan of a run: `host_bytes`, `device_bytes`, `blocks`, `block_rows`, `contexts`, `reason`. No entry is read. A run that
/// the plan accepts stays inside the limits of the contexts, whatever rank is found up to `max_rank`; the sparse part
/// of purlin_rpca_compute_csr and the pieces of at most 8 MiB that purlin_rpca_compute_to_sinks hands to its sinks come
/// on top.
///
/// @param      rpca  the robust PCA.
/// @param      m     as for purlin_rpca_compute.
/// @param      mask  likewise; NULL: all entries are observed.
/// @param[out] info  the members above; the rest is 0. May be NULL.
/// @return as purlin_rpca_compute; a run that does not fit: `PURLIN_ERROR_OUT_OF_MEMORY` and
/// `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` with the bytes that are needed.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_plan(
    rpca: *const purlin_rpca,
    m: *const purlin_matrix,
    mask: *const purlin_matrix,
    info: *mut purlin_rpca_info,
) -> purlin_status {
    guard::run(|| {
        let rpca = RpcaObject::shared(rpca)?;
        let m = matrix::input("m", m)?;
        let mask = handle::shared_or_null::<Matrix, _>("mask", mask)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let known = rpca.plan(Observed { m: &m, mask: mask.as_deref() })?;
        // SAFETY: as above.
        unsafe { options::write("info", info, purlin_rpca_info::of(&known)) }
    })
}

/// Report of the last run of a robust PCA that ended with `PURLIN_SUCCESS` or `PURLIN_ERROR_NO_CONVERGENCE`: the `info`
/// of that call. A run that is under way, or that ended in another way, changes nothing. May be called from any thread;
/// it does not wait.
///
/// @param      rpca  the robust PCA.
/// @param[out] info  filled in; initialize it with purlin_rpca_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// no run that ended so).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_last_info(rpca: *const purlin_rpca, info: *mut purlin_rpca_info) -> purlin_status {
    guard::run(|| {
        let object = handle::shared::<RpcaObject, _>("rpca", rpca)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::check("info", info) }?;
        let last = object.last.get("rpca")?;
        // SAFETY: as above.
        unsafe { options::write("info", info, purlin_rpca_info::of(&last)) }
    })
}
