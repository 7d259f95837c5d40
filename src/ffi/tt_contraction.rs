//! Contractions of tensor trains: the object, its cancellation and its last report.

use std::sync::{Arc, Mutex, PoisonError};

use super::callback::Report;
use super::handle::{self, Exclusive, Shared};
use super::tt_options::read_options;
use super::tt_types::{purlin_tt_contraction_info, purlin_tt_contraction_options};
use super::{context, group, guard, options, purlin_context, purlin_status};
use crate::error::{Error, Result};
use crate::progress::ProgressFn;
use crate::session::{CancelHandle, LastInfo};
use crate::tt::Contraction;
use crate::tt::info::Info;

/// Contractions of tensor trains: options on a context, made once and used for many trains. It keeps the plan and the
/// workspace of its last call: calls of the same shapes plan and allocate nothing.
pub struct purlin_tt_contraction {
    _private: [u8; 0],
}

/// The object behind a handle of a contraction. The handle is only ever locked for reading, so that another thread can
/// cancel a call; calls lock the contraction inside.
pub(super) struct ContractionObject {
    cancel: CancelHandle,
    last: LastInfo<Info>,
    report: Report,
    // The outer lock lets one call in at a time; the inner one only makes the type `Sync`.
    inner: Arc<handle::Lock<Mutex<Contraction>>>,
}

/// The contraction of a call.
pub(super) struct LockedContraction(Exclusive<Mutex<Contraction>>);

impl LockedContraction {
    pub(super) fn get(&mut self) -> &mut Contraction {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ContractionObject {
    /// The contraction of a handle, and its progress function, for a call.
    pub(super) fn exclusive(handle: *mut purlin_tt_contraction) -> Result<(Shared<Self>, LockedContraction)> {
        let object = handle::shared::<Self, _>("contraction", handle)?;
        let mut held = LockedContraction(handle::lock_exclusive("contraction", Arc::clone(&object.inner))?);
        held.get().context().check_alive()?;
        Ok((object, held))
    }

    /// # Safety
    /// `options` is NULL or an initialized struct.
    pub(super) unsafe fn new(
        context: *const purlin_context,
        options: *const purlin_tt_contraction_options,
    ) -> Result<Self> {
        let context = context::get(context)?;
        // SAFETY: as promised by the caller.
        let o = unsafe { options::read("options", options) }?;
        let group = group::of(o.group, &context)?;
        let core = Contraction::over(&group, read_options(&o)?)?;
        Ok(Self {
            cancel: core.cancel_handle(),
            last: LastInfo::default(),
            report: Report::new(o.progress, o.progress_user),
            inner: Arc::new(handle::Lock::new(Mutex::new(core))),
        })
    }

    /// The contraction of an object that has no handle yet.
    pub(super) fn lock(&self) -> Result<LockedContraction> {
        Ok(LockedContraction(handle::lock_exclusive("contraction", Arc::clone(&self.inner))?))
    }

    /// Keeps the report of a call that has results, and writes it if the caller asks for it.
    ///
    /// # Safety
    /// `info` is NULL or an initialized struct.
    pub(super) unsafe fn store_report(&self, info: *mut purlin_tt_contraction_info, done: &Info) -> Result<()> {
        self.last.set(done.clone());
        // SAFETY: as promised by the caller.
        unsafe { options::write("info", info, purlin_tt_contraction_info::of(done)) }
    }

    /// Makes a call that reports its progress.
    pub(super) fn run<R>(&self, body: impl FnOnce(Option<&ProgressFn<'_>>) -> Result<R>) -> Result<R> {
        self.report.run(body)
    }
}

/// Makes a contraction.
///
/// Inner products of open trains go from core to core with two products a site, 2 n s r (r + s) operations (Schollwoeck,
/// Ann. Phys. 326, 96, 2011); rings go round once for each pair of boundary indices, in blocks that fit the workspace and
/// the cache. PURLIN_TT_METHOD_* lists the methods; purlin_tt_plan_inner reports which
/// one is chosen, and why.
///
/// The same build, device model, input and options give the same bits, whatever the number of threads. Intermediate
/// results are scaled by powers of two, so that no length overflows; where nothing would, the bits do not depend on it.
///
/// @param      context      the context to run on; `options->group` has more.
/// @param      options      NULL for the defaults.
/// @param[out] contraction  the contraction; destroy it with purlin_tt_contraction_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// unknown constant, a negative size, a group on the CPU or that begins with another context),
/// `PURLIN_ERROR_NOT_SUPPORTED` (an option that this library does not know, a device
/// that it has no contractions for), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `options` is NULL or initialized; `contraction` is NULL or valid for writing; `options->progress` may be called with
/// its user pointer while the object lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_contraction_create(
    context: *const purlin_context,
    options: *const purlin_tt_contraction_options,
    contraction: *mut *mut purlin_tt_contraction,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("contraction", contraction) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        *target = handle::insert(unsafe { ContractionObject::new(context, options) }?)?;
        Ok(())
    })
}

/// Destroys a contraction. A call that runs goes on to its end.
///
/// @param contraction  the contraction; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_contraction_destroy(contraction: *mut purlin_tt_contraction) -> purlin_status {
    guard::run(|| handle::remove::<ContractionObject, _>("contraction", contraction))
}

/// Cancels the call that runs on a contraction or on environments made with it, which then returns
/// `PURLIN_ERROR_CANCELLED`. Later calls are not touched. May be called from any thread and from a progress function;
/// it waits for nothing.
///
/// @param contraction  the contraction.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_contraction_cancel(contraction: *const purlin_tt_contraction) -> purlin_status {
    guard::run(|| {
        handle::shared::<ContractionObject, _>("contraction", contraction)?.cancel.cancel();
        Ok(())
    })
}

/// The report of the last call on a contraction that gave one: of an inner product, norm or distance, a batch, an
/// expectation value, or of an enqueued call, whose `outcome` and `seconds` stay 0. Calls that end with
/// `PURLIN_ERROR_NUMERICAL` and have written their result count, too. A call that is under way, or that ended with
/// another error, changes nothing; environments and plans have none. May be called from any thread; it waits for
/// nothing.
///
/// @param      contraction  the contraction.
/// @param[out] info         filled in; initialize it with purlin_tt_contraction_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// no call that ended so).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_contraction_last_info(
    contraction: *const purlin_tt_contraction,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let object = handle::shared::<ContractionObject, _>("contraction", contraction)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::check("info", info) }?;
        let last = object.last.get("contraction")?;
        // SAFETY: as above.
        unsafe { options::write("info", info, purlin_tt_contraction_info::of(&last)) }
    })
}
