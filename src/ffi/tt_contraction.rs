//! Contractions of tensor trains: the object, and what it is told.

use std::sync::{Arc, Mutex, PoisonError};

use super::callback::Report;
use super::handle::{self, Exclusive, Object, Shared, Table};
use super::tt_options::read_options;
use super::tt_types::purlin_tt_contraction_options;
use super::{context, group, guard, options, purlin_context, purlin_status};
use crate::error::Result;
use crate::progress::ProgressFn;
use crate::session::CancelHandle;
use crate::tt::Contraction;

/// Contractions of tensor trains: options on a context, made once and used for many trains. It keeps the plan and the
/// workspace of its last call: calls of the same shapes plan and allocate nothing.
pub struct purlin_tt_contraction {
    _private: [u8; 0],
}

/// What a handle of a contraction stands for. It is only ever locked for reading, so that a cancellation gets in while a
/// call runs; calls lock the contraction inside.
pub(super) struct ContractionObject {
    cancel: CancelHandle,
    report: Report,
    // Calls take turns by the outer lock; the inner one only says so of what cannot be shared.
    inner: Arc<handle::Lock<Mutex<Contraction>>>,
}

/// The contraction of a call.
pub(super) struct Held(Exclusive<Mutex<Contraction>>);

impl Held {
    pub(super) fn get(&mut self) -> &mut Contraction {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Object for ContractionObject {
    const KIND: u8 = 12;
    fn table() -> &'static Table<Self> {
        static TABLE: Table<ContractionObject> = Table::new();
        &TABLE
    }
}

impl ContractionObject {
    /// The contraction of a handle, and its progress function, for a call.
    pub(super) fn exclusive(handle: *mut purlin_tt_contraction) -> Result<(Shared<Self>, Held)> {
        let object = handle::shared::<Self, _>("contraction", handle)?;
        let mut held = Held(handle::lock_exclusive("contraction", Arc::clone(&object.inner))?);
        held.get().context().check_alive()?;
        Ok((object, held))
    }

    /// Makes a call that reports its progress.
    pub(super) fn run<R>(&self, body: impl FnOnce(Option<&ProgressFn<'_>>) -> Result<R>) -> Result<R> {
        self.report.run(body)
    }
}

/// Makes a contraction.
///
/// Inner products of open trains go from core to core with two products a site, 2 n s r (r + s) operations (Schollwoeck,
/// Ann. Phys. 326, 96, 2011); rings go round once for each pair of boundary indices, in blocks that the workspace and
/// the cache have room for. PURLIN_TT_ALGORITHM_* tells the ways, purlin_tt_plan which is taken and why.
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
/// `options` is NULL or initialised; `contraction` is NULL or valid for writing; `options->progress` may be called with
/// its user pointer while the object lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_contraction_create(
    context: *const purlin_context,
    options: *const purlin_tt_contraction_options,
    contraction: *mut *mut purlin_tt_contraction,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("contraction", contraction) }?;
        // SAFETY: the caller promises NULL or an initialised struct.
        let o = unsafe { options::read("options", options) }?;
        let group = group::of(o.group, &context)?;
        let core = Contraction::over(&group, read_options(&o)?)?;
        let object = ContractionObject {
            cancel: core.cancel_handle(),
            report: Report::new(o.progress, o.progress_user),
            inner: Arc::new(handle::Lock::new(Mutex::new(core))),
        };
        *target = handle::insert(object)?;
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
/// `PURLIN_ERROR_CANCELLED`. Later calls are not touched. May be called from any thread and from a progress function; it waits for nothing.
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
