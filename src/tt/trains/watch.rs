//! Cancellation of a call while it runs, and progress reports from the calling thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::Result;
use crate::progress::{CancelFlag, Progress};
use crate::team;

/// State that the threads of a call share: cancel flag and step counters.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Whether the call was cancelled.
    pub cancel: CancelFlag,
    /// Steps that are done, of all threads.
    pub done: Arc<AtomicU64>,
    steps: Arc<AtomicU64>,
}

impl Watch {
    /// A call without progress reports, cancelled by `cancel`.
    pub fn new(cancel: CancelFlag) -> Self {
        Self { cancel, done: Arc::default(), steps: Arc::default() }
    }

    /// Sets the total number of steps, before the first step.
    pub fn expect(&self, steps: u64) {
        self.steps.store(steps, Ordering::Relaxed);
    }

    /// Counts one step.
    ///
    /// # Errors
    /// [`crate::error::Error::Cancelled`] if the call was cancelled.
    pub fn step(&self) -> Result<()> {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.cancel.check()
    }

    /// Steps done and total steps; 0 of 0 before the total is set.
    pub fn so_far(&self) -> (i64, i64) {
        let whole = |n: &AtomicU64| i64::try_from(n.load(Ordering::Relaxed)).unwrap_or(i64::MAX);
        let (done, steps) = (whole(&self.done), whole(&self.steps));
        (done.min(steps.saturating_sub(1)).max(0), steps)
    }
}

/// Calls `run`. If the caller gave a progress function, `run` runs on another thread while this thread reports
/// progress. If that thread cannot be started, `run` runs on this thread, and only the end is reported.
///
/// # Errors
/// [`crate::error::Error::Cancelled`]; those of `run`.
pub fn watched<R: Send>(progress: &Progress<'_>, run: impl FnOnce(&Watch) -> Result<R> + Send) -> Result<R> {
    progress.check()?;
    let abandoned = Arc::new(AtomicU64::new(0));
    let watch = Watch::new(progress.flag().and(&abandoned));
    if !progress.has_report() {
        return run(&watch);
    }
    // Poll more often before the first step, so that short calls end soon.
    let interval = || Duration::from_micros(if watch.done.load(Ordering::Relaxed) == 0 { 20 } else { 500 });
    let mut report = || match watch.so_far() {
        (_, 0) => Ok(()),
        (done, steps) => progress.report(done, steps, 0.0),
    };
    let result = team::reported("purlin-tt", &abandoned, || run(&watch), &interval, &mut report)?;
    let steps = watch.so_far().1;
    progress.report(steps, steps, 0.0)?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::error::Error;

    #[test]
    fn a_cancellation_that_no_step_sees_ends_the_call() {
        let (epoch, reports) = (Arc::new(AtomicU64::new(0)), Cell::new(0));
        let cancel = |_: i64, _: i64, _: f64| {
            reports.set(reports.get() + 1);
            false
        };
        let progress = Progress::new(&epoch, Some(&cancel));
        let result = watched(&progress, |watch| {
            watch.expect(10);
            watch.step()?;
            std::thread::sleep(Duration::from_millis(100));
            Ok(7)
        });
        assert_eq!((result, reports.get()), (Err(Error::Cancelled), 1));
    }
}
