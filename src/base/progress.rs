//! Rate-limited progress reports and cancellation.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::backend::fork;
use crate::error::{Error, Result};

/// Shortest time between two calls of the caller's function, except for the last report.
const INTERVAL: Duration = Duration::from_millis(50);

/// A caller's function: `(step, steps, measure)`; `false` cancels.
pub type ProgressFn<'a> = dyn Fn(i64, i64, f64) -> bool + 'a;

/// Progress and cancellation of one call. It stays on the calling thread. Worker threads use [`Progress::flag`], which has
/// only the cancellation.
pub struct Progress<'a> {
    report: Option<&'a ProgressFn<'a>>,
    flag: CancelFlag,
    last: Cell<Option<Instant>>,
    /// The largest reported step: reports do not go back when a call starts again with scaled data.
    most: Cell<i64>,
    /// Whether the last report was that of the end.
    is_ended: Cell<bool>,
    /// Time of the last call of the caller's function between the parts of a step, or of the start of the call.
    repeated: Cell<Instant>,
}

/// Cancellation of a call, for worker threads: counters, with their values when the call began.
#[derive(Debug, Clone)]
pub struct CancelFlag {
    epochs: Vec<(Arc<AtomicU64>, u64)>,
}

impl CancelFlag {
    /// The same flag, also cancelled when `epoch` changes from its current value.
    #[must_use]
    pub fn and(mut self, epoch: &Arc<AtomicU64>) -> Self {
        self.epochs.push((Arc::clone(epoch), epoch.load(Ordering::Relaxed)));
        self
    }

    /// Whether the call was cancelled since it began.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.epochs.iter().any(|(epoch, start)| epoch.load(Ordering::Relaxed) != *start)
    }

    /// Checks for a cancellation.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the call was cancelled.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Cancellation of a call that reports no progress: the counter of its context, and with [`CancelWatch::and`] that of an
/// object, with their values when the call began. The threads of the call may share it.
#[derive(Debug, Clone, Copy)]
pub struct CancelWatch<'a> {
    epoch: &'a AtomicU64,
    start: u64,
    object: Option<(&'a AtomicU64, u64)>,
}

/// Steps of a loop between two checks for a cancellation: some milliseconds where each step reads memory at random.
pub const UNCHECKED: usize = 1 << 16;

impl<'a> CancelWatch<'a> {
    /// The watch of a call that starts now. `epoch` is the context's cancel counter.
    pub fn new(epoch: &'a AtomicU64) -> Self {
        Self { epoch, start: epoch.load(Ordering::Relaxed), object: None }
    }

    /// The watch of a call that nothing cancels.
    pub fn never() -> CancelWatch<'static> {
        static NEVER: AtomicU64 = AtomicU64::new(0);
        CancelWatch::new(&NEVER)
    }

    /// The same watch, also cancelled when `epoch` changes from its current value. `epoch` is an object's own counter.
    #[must_use]
    pub fn and(self, epoch: &'a AtomicU64) -> Self {
        Self { object: Some((epoch, epoch.load(Ordering::Relaxed))), ..self }
    }

    /// Checks for a cancellation. A fault point: a test can end the call here.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the call was cancelled since it began.
    #[inline]
    #[track_caller]
    pub fn check(self) -> Result<()> {
        #[cfg(feature = "fault-injection")]
        if crate::fault::fails(crate::fault::Kind::Cancel, "cancellation") {
            return Err(Error::Cancelled);
        }
        let is_at = |(epoch, start): (&AtomicU64, u64)| epoch.load(Ordering::Relaxed) == start;
        let goes_on = is_at((self.epoch, self.start)) && self.object.is_none_or(is_at);
        if goes_on { Ok(()) } else { Err(Error::Cancelled) }
    }

    /// The steps of a loop in blocks of at most [`UNCHECKED`], with a check before each block. After an error the caller
    /// ends the loop.
    pub fn blocks(self, steps: Range<usize>) -> impl Iterator<Item = Result<Range<usize>>> + 'a {
        let end = steps.end;
        steps.step_by(UNCHECKED).map(move |first| {
            self.check()?;
            Ok(first..end.min(first.saturating_add(UNCHECKED)))
        })
    }

    /// Checks in a loop whose steps differ in length.
    pub fn paced(self) -> PacedWatch<'a> {
        PacedWatch { watch: self, left: 0 }
    }
}

/// A watch that checks once in about [`UNCHECKED`] units of work, and before the first.
#[derive(Debug)]
pub struct PacedWatch<'a> {
    watch: CancelWatch<'a>,
    left: usize,
}

impl PacedWatch<'_> {
    /// Counts `work` units that follow, and one for the step itself.
    ///
    /// # Errors
    /// [`Error::Cancelled`], if it is time for a check.
    #[inline]
    pub fn step(&mut self, work: usize) -> Result<()> {
        if self.left <= work {
            self.watch.check()?;
            self.left = UNCHECKED;
        }
        self.left = self.left.saturating_sub(work).saturating_sub(1);
        Ok(())
    }
}

impl<'a> Progress<'a> {
    /// Progress of a call that starts now. `epoch` is the context's cancel counter.
    pub fn new(epoch: &Arc<AtomicU64>, report: Option<&'a ProgressFn<'a>>) -> Self {
        let flag = CancelFlag { epochs: vec![(Arc::clone(epoch), epoch.load(Ordering::Relaxed))] };
        Self {
            report,
            flag,
            last: Cell::new(None),
            most: Cell::new(0),
            is_ended: Cell::new(false),
            repeated: Cell::new(Instant::now()),
        }
    }

    /// The same progress, also cancelled when `epoch` is no longer `start`. `epoch` is an object's own counter, or that of
    /// another context.
    #[must_use]
    pub fn and(mut self, epoch: &Arc<AtomicU64>, start: u64) -> Self {
        self.flag.epochs.push((Arc::clone(epoch), start));
        self
    }

    /// Progress without reports, which is never cancelled.
    pub fn none() -> Self {
        Self::new(&Arc::new(AtomicU64::new(0)), None)
    }

    /// Whether the caller gave a function to report to.
    #[inline]
    pub fn has_report(&self) -> bool {
        self.report.is_some()
    }

    /// The same cancellation without reports, for a part of the call whose steps are not counted.
    #[must_use]
    pub fn without_reports(&self) -> Progress<'static> {
        Progress {
            report: None,
            flag: self.flag.clone(),
            last: Cell::new(None),
            most: Cell::new(0),
            is_ended: Cell::new(false),
            repeated: Cell::new(Instant::now()),
        }
    }

    /// The cancellation flag, for worker threads.
    pub fn flag(&self) -> CancelFlag {
        self.flag.clone()
    }

    /// Checks for a cancellation; does not call the caller's function.
    ///
    /// # Errors
    /// As [`CancelFlag::check`].
    #[inline]
    pub fn check(&self) -> Result<()> {
        self.flag.check()
    }

    /// Reports that `step` of `steps` are done, at most 20 times a second and always at the end (`step == steps`).
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the caller's function or another thread cancelled.
    pub fn report(&self, step: i64, steps: i64, measure: f64) -> Result<()> {
        self.flag.check()?;
        let Some(report) = self.report else { return Ok(()) };
        let now = Instant::now();
        let due = self.last.get().is_none_or(|t| now.duration_since(t) >= INTERVAL);
        if !due && step != steps {
            return Ok(());
        }
        self.last.set(Some(now));
        self.is_ended.set(step == steps);
        let step = self.forward(step, steps);
        if fork::call_host(|| report(step, steps, measure))? { Ok(()) } else { Err(Error::Cancelled) }
    }
}

impl Progress<'_> {
    /// Checks for cancellation between the parts of a step, and repeats the last report if the caller's function was not
    /// called for `INTERVAL`.
    ///
    /// # Errors
    /// As [`Progress::report`].
    pub fn repeat(&self, (step, steps, measure): (i64, i64, f64)) -> Result<()> {
        self.flag.check()?;
        let Some(report) = self.report else { return Ok(()) };
        let now = Instant::now();
        let before = self.repeated.get().max(self.last.get().unwrap_or(self.repeated.get()));
        if now.duration_since(before) < INTERVAL {
            return Ok(());
        }
        // `last` is not set: repeated reports must not suppress reports of steps.
        self.repeated.set(now);
        self.is_ended.set(step == steps);
        let step = self.forward(step, steps);
        if fork::call_host(|| report(step, steps, measure))? { Ok(()) } else { Err(Error::Cancelled) }
    }

    /// Reports the end of a call of `steps` steps, unless the last report was that of the end: for calls whose last part
    /// reports steps of its own.
    ///
    /// # Errors
    /// As [`Progress::report`].
    pub fn end(&self, steps: i64, measure: f64) -> Result<()> {
        if self.is_ended.get() { self.flag.check() } else { self.report(steps, steps, measure) }
    }

    /// The step to report. It never decreases (within `steps`), and equals `steps` only at the end.
    fn forward(&self, step: i64, steps: i64) -> i64 {
        if step < steps {
            self.most.set(self.most.get().max(step));
            return self.most.get().min(steps - 1);
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_rate_limited_but_the_last_one_comes() {
        let count = Cell::new(0);
        let f = |_: i64, _: i64, _: f64| {
            count.set(count.get() + 1);
            true
        };
        let epoch = Arc::new(AtomicU64::new(0));
        let p = Progress::new(&epoch, Some(&f));
        for i in 0..=1000 {
            p.report(i, 1000, 0.0).unwrap();
        }
        assert!((2..100).contains(&count.get()), "{}", count.get());
    }

    #[test]
    fn the_parts_of_a_long_step_report_it_again_and_suppress_no_step() {
        let steps = std::cell::RefCell::new(Vec::new());
        let f = |step: i64, _: i64, _: f64| {
            steps.borrow_mut().push(step);
            true
        };
        let p = Progress::new(&Arc::new(AtomicU64::new(0)), Some(&f));
        p.repeat((0, 2, 0.0)).unwrap();
        assert!(steps.borrow().is_empty(), "a short step is not reported again");
        std::thread::sleep(INTERVAL);
        p.repeat((0, 2, 0.0)).unwrap();
        p.repeat((0, 2, 0.0)).unwrap();
        p.report(1, 2, 0.0).unwrap();
        assert_eq!(*steps.borrow(), [0, 1]);
        let no = |_: i64, _: i64, _: f64| false;
        let p = Progress::new(&Arc::new(AtomicU64::new(0)), Some(&no));
        std::thread::sleep(INTERVAL);
        assert_eq!(p.repeat((0, 1, 0.0)), Err(Error::Cancelled));
    }

    #[test]
    fn the_end_is_reported_last_and_once() {
        let steps = std::cell::RefCell::new(Vec::new());
        let f = |step: i64, _: i64, _: f64| {
            steps.borrow_mut().push(step);
            true
        };
        let p = Progress::new(&Arc::new(AtomicU64::new(0)), Some(&f));
        p.report(2, 2, 0.0).unwrap();
        p.end(2, 0.0).unwrap();
        assert_eq!(*steps.borrow(), [2]);
        std::thread::sleep(INTERVAL);
        p.repeat((1, 2, 0.0)).unwrap();
        p.end(2, 0.0).unwrap();
        p.end(2, 0.0).unwrap();
        assert_eq!(*steps.borrow(), [2, 1, 2]);
    }

    #[test]
    fn both_ways_of_cancelling_work() {
        let epoch = Arc::new(AtomicU64::new(5));
        let no = |_: i64, _: i64, _: f64| false;
        assert_eq!(Progress::new(&epoch, Some(&no)).report(1, 2, 0.0), Err(Error::Cancelled));
        let p = Progress::new(&epoch, None);
        assert!(p.check().is_ok());
        epoch.fetch_add(1, Ordering::Relaxed);
        assert_eq!(p.report(1, 2, 0.0), Err(Error::Cancelled));
        assert!(p.flag().is_cancelled());
        assert!(Progress::new(&epoch, None).check().is_ok());
        let watch = CancelWatch::new(&epoch);
        assert!(watch.check().is_ok());
        epoch.fetch_add(1, Ordering::Relaxed);
        assert_eq!(watch.check(), Err(Error::Cancelled));
        assert!(CancelWatch::new(&epoch).check().is_ok());
    }
    #[test]
    fn a_watch_hears_its_context_and_its_object() {
        let (context, object) = (AtomicU64::new(3), AtomicU64::new(7));
        let begin = || CancelWatch::new(&context).and(&object);
        for epoch in [&context, &object] {
            let watch = begin();
            assert!(watch.check().is_ok());
            epoch.fetch_add(1, Ordering::Relaxed);
            assert_eq!(watch.check(), Err(Error::Cancelled));
            assert!(begin().check().is_ok());
        }
    }

    #[test]
    fn a_loop_of_blocks_has_every_step_and_ends_soon_after_a_cancellation() {
        let epoch = AtomicU64::new(0);
        for steps in [0..0, 5..6, 3..UNCHECKED + 3, 3..UNCHECKED + 4, 0..5 * UNCHECKED - 1] {
            let blocks: Vec<_> = CancelWatch::new(&epoch).blocks(steps.clone()).map(Result::unwrap).collect();
            assert_eq!(blocks.len(), steps.len().div_ceil(UNCHECKED));
            assert!(blocks.into_iter().flatten().eq(steps));
        }
        let mut done = 0;
        let end = CancelWatch::new(&epoch).blocks(0..100 * UNCHECKED).try_for_each(|block| {
            done += block?.len();
            epoch.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        assert_eq!((end, done), (Err(Error::Cancelled), UNCHECKED));
    }

    #[test]
    fn a_paced_watch_checks_first_and_then_by_the_work() {
        let epoch = AtomicU64::new(0);
        let steps_after = |work: usize| {
            let mut paced = CancelWatch::new(&epoch).paced();
            assert!(paced.step(work).is_ok());
            epoch.fetch_add(1, Ordering::Relaxed);
            (0..).take_while(|_| paced.step(work).is_ok()).count()
        };
        assert_eq!(steps_after(0), UNCHECKED - 1);
        assert_eq!(steps_after(UNCHECKED / 4 - 1), 3);
        assert_eq!(steps_after(usize::MAX - 1), 0);
        let mut paced = CancelWatch::new(&epoch).paced();
        epoch.fetch_add(1, Ordering::Relaxed);
        assert_eq!(paced.step(0), Err(Error::Cancelled));
    }
}
