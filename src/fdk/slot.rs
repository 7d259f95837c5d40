//! The scan that is being pushed, between the calls.
//!
//! A call takes the scan out and puts it back. A cancellation from another thread finds a scan that idles here, and drops it;
//! one that a call has taken out is dropped by that call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};

use super::pushed::Pushed;
use crate::error::Error;
use crate::session::CancelHandle;

#[derive(Default)]
struct State {
    scan: Option<Pushed>,
    /// The error that ended the last scan, if its finish did not.
    ended: Option<Error>,
}

impl State {
    fn end(&mut self, error: Error) {
        (self.scan, self.ended) = (None, Some(error));
    }
}

/// Place of the pushed scan of a reconstruction.
#[derive(Default)]
pub(super) struct Slot(Arc<Mutex<State>>);

impl Slot {
    fn state(&self) -> MutexGuard<'_, State> {
        // No code that may panic runs under the lock but destructors, which leave the state valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the scan out.
    pub(super) fn take(&self) -> Option<Pushed> {
        self.state().scan.take()
    }

    /// Puts a scan in.
    pub(super) fn put(&self, scan: Pushed) {
        self.state().scan = Some(scan);
    }

    /// Drops the scan, if there is one, because of `error`.
    pub(super) fn end(&self, error: Error) {
        self.state().end(error);
    }

    /// Drops the scan and forgets what ended the last one.
    pub(super) fn clear(&self) {
        *self.state() = State::default();
    }

    /// The error that ended the last scan, if its finish did not.
    pub(super) fn ended(&self) -> Option<Error> {
        self.state().ended.clone()
    }

    /// A handle that cancels the calls that `handle` does, and drops the scan.
    pub(super) fn cancellation(&self, handle: &CancelHandle) -> Cancellation {
        Cancellation { handle: handle.clone(), slot: Arc::downgrade(&self.0) }
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
            state.end(Error::Cancelled);
        }
    }
}
