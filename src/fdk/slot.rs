//! The scan that is being pushed, between the calls.
//!
//! A call takes the scan out and puts it back. A cancellation from another thread finds a scan that idles here, and
//! drops it; one that a call has taken out is dropped by that call.
//!
//! `pushed.rs`, `session.rs` and `slot.rs` import each other: an object has a slot for the scan that is pushed, which
//! refers to the object.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use super::info::{Info, SharedInfo};
use super::pushed::Pushed;
use crate::error::Error;
use crate::session::CancelHandle;

struct State {
    scan: Option<Pushed>,
    /// The error that ended the last scan, if its finish did not.
    ended: Option<Error>,
    /// The plan of the scan, or `usual` where there is none.
    planned: SharedInfo,
    /// The plan of a run from a source to a sink.
    usual: Info,
}

impl State {
    /// Drops the scan, and its plan with it. Plans are set under the lock of the state: the plan of a dropped scan does not
    /// stay.
    fn end(&mut self, error: Option<Error>) {
        (self.scan, self.ended) = (None, error);
        self.planned.set(self.usual.clone());
    }
}

/// Place of the pushed scan of a reconstruction.
pub(super) struct Slot {
    state: Arc<Mutex<State>>,
    planned: SharedInfo,
}

impl Slot {
    /// Without a scan. `usual` is the plan of a run from a source to a sink.
    pub(super) fn new(usual: Info) -> Self {
        let planned = SharedInfo::new(usual.clone());
        let state = State { scan: None, ended: None, planned: planned.clone(), usual };
        Self { state: Arc::new(Mutex::new(state)), planned }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that may panic runs under the lock but destructors, which leave the state valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the pushed scan; `None` if there is none.
    pub(super) fn take(&self) -> Option<Pushed> {
        self.state().scan.take()
    }

    pub(super) fn put(&self, scan: Pushed) {
        self.state().scan = Some(scan);
    }

    /// Drops the scan, if there is one, because of `error`.
    pub(super) fn end(&self, error: Error) {
        self.state().end(Some(error));
    }

    /// Drops the scan and forgets the error that ended the last one.
    pub(super) fn clear(&self) {
        self.state().end(None);
    }

    /// Sets the plan of a run from a source to a sink. There is no scan.
    pub(super) fn replan(&self, usual: Info) {
        let mut state = self.state();
        let views_pushed = state.planned.get().views_pushed;
        state.planned.set(Info { views_pushed, ..usual.clone() });
        state.usual = usual;
    }

    /// Forgets a scan whose volume was handed over, but not that it had `views` views.
    pub(super) fn finish(&self, views: i64) {
        let mut state = self.state();
        state.end(None);
        state.planned.change(|info| info.views_pushed = views);
    }

    /// The plan of the scan, or of a run from a source to a sink where there is none.
    pub(super) fn planned(&self) -> &SharedInfo {
        &self.planned
    }

    /// The error that ended the last scan, if its finish did not.
    pub(super) fn ended(&self) -> Option<Error> {
        self.state().ended.clone()
    }

    /// A handle that cancels the calls that `handle` does, and drops the scan.
    pub(super) fn cancellation(&self, handle: &CancelHandle) -> Cancellation {
        Cancellation { handle: handle.clone(), slot: Arc::downgrade(&self.state) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // Here and not where a cancellation ends that came at the same time: the scan holds memory of the contexts' devices.
        self.clear();
    }
}

/// Cancels the calls of a reconstruction from any thread, without waiting for them, and drops a pushed scan that idles.
#[derive(Clone)]
pub struct Cancellation {
    handle: CancelHandle,
    // Weak, because a scan does not outlive its reconstruction.
    slot: Weak<Mutex<State>>,
}

impl Cancellation {
    /// Cancels the running call, and drops the scan that is being pushed.
    pub fn cancel(&self) {
        self.handle.cancel();
        let Some(slot) = self.slot.upgrade() else { return };
        // A call that holds the lock sees the cancellation by the counter, which is why it need not be waited for.
        let state = match slot.try_lock() {
            Ok(state) => Some(state),
            Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(mut state) = state
            && state.scan.is_some()
        {
            state.end(Some(Error::Cancelled));
        }
    }
}
