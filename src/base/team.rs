//! Work on several threads of one call, and the rules for a thread that the system refuses. Each function here starts
//! its threads by [`crate::thread`] and joins them before it returns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::pump::Running;
use crate::thread;

/// Time between two reports while other threads work.
const REPORT: Duration = Duration::from_millis(2);

/// Runs `other` on a thread of its own and `here` on this one.
///
/// # Errors
/// The refusal of the thread, in which case neither runs; [`Error::Internal`] if `other` panicked.
pub fn beside<A: Send, B>(
    name: &'static str,
    other: impl FnOnce() -> A + Send,
    here: impl FnOnce() -> B,
) -> Result<(A, B)> {
    std::thread::scope(|scope| {
        let other = thread::spawn_scoped(scope, name, (1, 1), other).map_err(|refused| refused.error)?;
        let here = here();
        Ok((other.join()?, here))
    })
}

/// Runs all `works` at the same time, each of the first `threads` on a thread of its own, and the others on this one. Work
/// whose thread is refused runs on this thread, too.
///
/// # Errors
/// The first error: of the work on this thread, then of the others in their order.
pub fn share<F: FnOnce() -> Result<()> + Send>(name: &'static str, threads: usize, works: Vec<F>) -> Result<()> {
    std::thread::scope(|scope| {
        let mut started = Vec::with_capacity(threads);
        let mut here = Vec::new();
        for (i, work) in works.into_iter().enumerate() {
            if i >= threads {
                here.push(work);
                continue;
            }
            match thread::spawn_scoped(scope, name, (i + 1, threads), work) {
                Ok(thread) => started.push(thread),
                Err(refused) => here.push(refused.work),
            }
        }
        let mut own = Ok(());
        for work in here {
            own = own.and(work());
        }
        started.into_iter().map(|thread| thread.join().and_then(|outcome| outcome)).fold(own, Result::and)
    })
}

/// Runs `work` on every job at the same time, the first on this thread and with `here`, and returns the results in the order of
/// the jobs. A failure increments `stop`, and the others then end early. When the first job has ended, `report` is called
/// until the others have, too; its error is a failure.
///
/// # Errors
/// The first error in the order of the jobs that is not a cancellation; else the cancellation. If a thread is refused,
/// that error, and the first job does not run.
pub fn together<J: Send, R: Send, H>(
    name: &'static str,
    stop: &AtomicU64,
    jobs: Vec<J>,
    here: H,
    report: Option<&dyn Fn() -> Result<()>>,
    work: impl Fn(J, Option<H>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let guarded = |job: J, here: Option<H>| {
        let outcome = work(job, here);
        if outcome.is_err() {
            stop.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    };
    let guarded = &guarded;
    let running = Running::default();
    let mut jobs = jobs.into_iter();
    let Some(first) = jobs.next() else { return Ok(Vec::new()) };
    let outcomes: Vec<Result<R>> = std::thread::scope(|scope| {
        let (count, mut refusal) = (jobs.len(), None);
        let mut threads = Vec::with_capacity(count);
        for job in jobs {
            let piece = running.begin();
            let work = move || {
                let _piece = piece;
                guarded(job, None)
            };
            match thread::spawn_scoped(scope, name, (threads.len() + 1, count), work) {
                Ok(thread) => threads.push(thread),
                Err(refused) => {
                    stop.fetch_add(1, Ordering::Relaxed);
                    refusal = Some(refused.error);
                    break;
                }
            }
        }
        let mut outcomes = Vec::with_capacity(count + 1);
        match (refusal, report) {
            (Some(error), _) => outcomes.push(Err(error)),
            (None, report) => {
                let mut own = guarded(first, Some(here));
                if let (Ok(_), Some(report)) = (&own, report)
                    && let Err(error) = pump(&running, &|| REPORT, &mut || report(), stop)
                {
                    own = Err(error);
                }
                outcomes.push(own);
            }
        }
        outcomes.extend(threads.into_iter().map(|thread| thread.join()?));
        outcomes
    });
    all_results(outcomes)
}

/// Runs `work` on another thread, and calls `report` on this one after each `interval` until the work has ended. Its error
/// increments `stop`. If the thread is refused, `work` runs on this one without reports.
///
/// # Errors
/// That of `report`, else that of `work`.
pub fn reported<R: Send>(
    name: &'static str,
    stop: &AtomicU64,
    work: impl FnOnce() -> Result<R> + Send,
    interval: &dyn Fn() -> Duration,
    report: &mut dyn FnMut() -> Result<()>,
) -> Result<R> {
    let running = Running::default();
    std::thread::scope(|scope| {
        let piece = running.begin();
        let work = move || {
            let _piece = piece;
            work()
        };
        let worker = match thread::spawn_scoped(scope, name, (1, 1), work) {
            Ok(worker) => worker,
            Err(refused) => return (refused.work)(),
        };
        let reported = pump(&running, interval, report, stop);
        let result = worker.join()?;
        // The work may have ended without another look at the counter.
        reported.and(result)
    })
}

/// Calls `report` until the work has ended, or until it fails, which increments `stop`.
fn pump(
    running: &Running,
    interval: &dyn Fn() -> Duration,
    report: &mut dyn FnMut() -> Result<()>,
    stop: &AtomicU64,
) -> Result<()> {
    let mut reported = Ok(());
    running.wait(&mut || interval(), &mut || {
        if reported.is_ok() {
            reported = report();
            if reported.is_err() {
                stop.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    reported
}

/// All results, or the error to report.
fn all_results<R>(outcomes: Vec<Result<R>>) -> Result<Vec<R>> {
    let mut found = Vec::with_capacity(outcomes.len());
    let mut error = None;
    for outcome in outcomes {
        match (outcome, &error) {
            (Ok(result), _) => found.push(result),
            // Others are cancelled because of the one that failed.
            (Err(problem), None | Some(Error::Cancelled)) => error = Some(problem),
            (Err(_), Some(_)) => {}
        }
    }
    error.map_or(Ok(found), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let stop = AtomicU64::new(0);
        let squares = together("purlin-test", &stop, (0..7).collect(), (), None, |k: u64, _| {
            std::thread::sleep(Duration::from_millis(7 - k));
            Ok(k * k)
        });
        assert_eq!(squares, Ok(vec![0, 1, 4, 9, 16, 25, 36]));
        assert_eq!(stop.load(Ordering::Relaxed), 0);
        assert_eq!(together("purlin-test", &stop, Vec::<u64>::new(), (), None, |k, _| Ok(k)), Ok(Vec::new()));
    }

    #[test]
    fn the_failure_of_one_ends_the_others_and_is_reported() {
        for failing in 0..3 {
            let stop = AtomicU64::new(0);
            let outcome = together("purlin-test", &stop, (0..3).collect(), (), None, |k: usize, _| -> Result<()> {
                if k == failing {
                    return Err(Error::Numerical(format!("of {k}")));
                }
                while stop.load(Ordering::Relaxed) == 0 {
                    std::thread::yield_now();
                }
                Err(Error::Cancelled)
            });
            assert_eq!(outcome, Err(Error::Numerical(format!("of {failing}"))));
        }
    }

    #[test]
    fn the_first_job_alone_hears_the_caller_and_a_refusal_ends_the_others() {
        let (stop, here) = (AtomicU64::new(0), std::thread::current().id());
        let calls = std::cell::Cell::new(0);
        let tick: &dyn Fn() -> Result<()> = &|| {
            calls.set(calls.get() + 1);
            if calls.get() < 3 { Ok(()) } else { Err(Error::Cancelled) }
        };
        let outcome = together(
            "purlin-test",
            &stop,
            (0..3).collect(),
            tick,
            None,
            |k: usize, tick: Option<&dyn Fn() -> Result<()>>| -> Result<()> {
                assert_eq!(tick.is_some(), k == 0);
                assert_eq!(std::thread::current().id() == here, k == 0);
                loop {
                    match tick {
                        Some(tick) => tick()?,
                        None if stop.load(Ordering::Relaxed) > 0 => return Err(Error::Cancelled),
                        None => std::thread::yield_now(),
                    }
                }
            },
        );
        assert_eq!((outcome, calls.get()), (Err(Error::Cancelled), 3));
    }

    #[test]
    fn of_several_errors_the_first_device_s_is_reported() {
        let error = |text: &str| Err::<u8, _>(Error::Numerical(text.into()));
        assert_eq!(all_results(vec![Ok(1), error("b"), error("c")]), Err(Error::Numerical("b".into())));
        assert_eq!(all_results(vec![Err(Error::Cancelled), Ok(1), error("c")]), Err(Error::Numerical("c".into())));
        assert_eq!(all_results(vec![Ok(1), Err(Error::Cancelled)]), Err(Error::Cancelled));
        assert_eq!(all_results(vec![Ok(1), Ok(2)]), Ok(vec![1, 2]));
    }

    #[test]
    fn reports_go_on_until_the_other_threads_have_ended() {
        let (stop, reports) = (AtomicU64::new(0), AtomicU64::new(0));
        let here = std::thread::current().id();
        let work = |k: u64, _: Option<()>| {
            while k > 0 && reports.load(Ordering::Relaxed) < 3 {
                std::thread::yield_now();
            }
            Ok(k)
        };
        let report = || {
            assert_eq!(std::thread::current().id(), here);
            reports.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        assert_eq!(together("purlin-test", &stop, vec![0, 1, 2], (), Some(&report), work), Ok(vec![0, 1, 2]));
        let refuse = || Err(Error::Cancelled);
        let until_stopped = |k: u64, _: Option<()>| {
            while k > 0 && stop.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            Ok(k)
        };
        let outcome = together("purlin-test", &stop, vec![0, 1], (), Some(&refuse), until_stopped);
        assert_eq!((outcome, stop.load(Ordering::Relaxed)), (Err(Error::Cancelled), 1));
    }

    #[test]
    fn shared_work_is_all_done_and_its_first_error_reported() {
        for threads in 0..4 {
            let mut done = [0; 3];
            let works: Vec<_> = done
                .iter_mut()
                .map(|at| {
                    move || {
                        *at += 1;
                        Ok(())
                    }
                })
                .collect();
            assert_eq!(share("purlin-test", threads, works), Ok(()));
            assert_eq!(done, [1; 3]);
        }
        let failing = |k: usize| move || if k > 0 { Err(Error::Numerical(format!("of {k}"))) } else { Ok(()) };
        let works = || (0..3).map(failing).collect::<Vec<_>>();
        assert_eq!(share("purlin-test", 3, works()), Err(Error::Numerical("of 1".into())));
        assert_eq!(share("purlin-test", 2, works()), Err(Error::Numerical("of 2".into())));
    }

    #[test]
    fn work_beside_another_runs_on_its_own_thread() {
        let here = std::thread::current().id();
        let (other, own) =
            beside("purlin-test", || std::thread::current().id(), || std::thread::current().id()).unwrap();
        assert!(own == here && other != here);
        let lost = beside("purlin-test", || panic!("on purpose"), || 1);
        assert!(matches!(lost, Err(Error::Internal(_))), "{lost:?}");
    }

    #[test]
    fn reported_work_runs_elsewhere_and_a_refused_report_ends_it() {
        let (stop, here) = (AtomicU64::new(0), std::thread::current().id());
        let short = || Duration::from_millis(1);
        let mut none = || Ok(());
        let id = reported("purlin-test", &stop, || Ok(std::thread::current().id()), &short, &mut none).unwrap();
        assert_ne!(id, here);
        let until_stopped = || {
            while stop.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            Ok(7)
        };
        let mut calls = 0;
        let mut refuse = || {
            calls += 1;
            Err(Error::Cancelled)
        };
        assert_eq!(reported("purlin-test", &stop, until_stopped, &short, &mut refuse), Err(Error::Cancelled));
        assert_eq!((calls, stop.load(Ordering::Relaxed)), (1, 1));
    }

    #[test]
    fn a_panic_on_a_thread_is_an_error() {
        let stop = AtomicU64::new(0);
        let outcome = together("purlin-test", &stop, vec![0, 1], (), None, |k: usize, _| -> Result<usize> {
            assert!(k == 0, "on purpose");
            Ok(k)
        });
        assert!(matches!(outcome, Err(Error::Internal(_))), "{outcome:?}");
    }
}
