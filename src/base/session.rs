//! Shared parts of the families' sessions: objects that are created once on one or several contexts and used for many calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::backend::fork;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::{CancelWatch, Progress, ProgressFn};

/// Cancels the calls of an object, from any thread and without waiting for them.
#[derive(Debug, Clone, Default)]
pub struct CancelHandle(Arc<AtomicU64>);

impl CancelHandle {
    /// Cancels the running call, and work of the object that spans several calls.
    pub fn cancel(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Current value of the counter of cancellations.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// The watch of a call that starts now, cancelled by its context and by this handle.
    pub fn watch<'a>(&'a self, context: &'a Context) -> CancelWatch<'a> {
        context.cancel_watch().and(&self.0)
    }

    /// Progress of a call on `contexts`, cancelled by any of them, and by this handle if its counter is no longer `start`.
    /// The call belongs to the first context.
    pub fn progress<'p>(
        &self,
        contexts: &[Arc<Context>],
        report: Option<&'p ProgressFn<'p>>,
        start: u64,
    ) -> Progress<'p> {
        progress(contexts, report).and(&self.0, start)
    }
}

/// The report of an object's last run that ended with one. It has a lock of its own, so that it can be read while a run
/// has the object for itself.
#[derive(Debug)]
pub struct LastInfo<I> {
    report: Arc<Mutex<Option<I>>>,
    /// Of the process that made the object: in a child, a thread that does not exist there may have held the lock.
    generation: u64,
}

impl<I> Clone for LastInfo<I> {
    fn clone(&self) -> Self {
        Self { report: Arc::clone(&self.report), generation: self.generation }
    }
}

impl<I> Default for LastInfo<I> {
    fn default() -> Self {
        Self { report: Arc::default(), generation: fork::generation() }
    }
}

impl<I: Clone> LastInfo<I> {
    /// Keeps the report of a run. A run that fails has none, and leaves that of the run before.
    pub fn set(&self, info: I) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(info);
    }

    /// The report. `object` is the argument of the C interface.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if no run of the object has ended with a report; [`Error::Forked`] in a child of the
    /// process that made the object.
    pub fn get(&self, object: &'static str) -> Result<I> {
        if fork::happened_since(self.generation) {
            return Err(Error::Forked(object));
        }
        let last = self.report.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.ok_or_else(|| Error::invalid(object, "has no report yet: none of its run calls has succeeded"))
    }
}

/// Progress of a call on `contexts`, cancelled by any of them. The call belongs to the first context.
pub(crate) fn progress<'p>(contexts: &[Arc<Context>], report: Option<&'p ProgressFn<'p>>) -> Progress<'p> {
    contexts[1..].iter().fold(contexts[0].progress(report), |p, c| {
        let epoch = c.cancel_epoch();
        p.and(epoch, epoch.load(Ordering::Relaxed))
    })
}
