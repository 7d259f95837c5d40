//! Work on several devices: the rows of each, a thread for each, and the choice of the error to report.
//!
//! `mod.rs`, `member.rs`, `products.rs` and `team.rs` import each other: members of a team work on shares of the rows,
//! and their products and threads are of members.

use std::sync::atomic::{AtomicU64, Ordering};

use super::member::Share;
use crate::error::{Error, Result};
use crate::thread;

/// The rows of each of at most `count` devices: whole blocks of `grain` rows, and nearly the same number on each. Devices
/// without rows are left out.
pub(super) fn shares(rows: usize, count: usize, grain: usize) -> Vec<Share> {
    let (grain, count) = (grain.max(1), count.max(1));
    let blocks = rows.div_ceil(grain);
    let end = |k: usize| (blocks / count * k + (blocks % count * k).div_ceil(count)).saturating_mul(grain).min(rows);
    let shares = (0..count).map(|k| Share { first: end(k), rows: end(k + 1) - end(k) });
    let some: Vec<Share> = shares.filter(|s| s.rows > 0).collect();
    if some.is_empty() { vec![Share { first: 0, rows }] } else { some }
}

/// Called before each block by the device whose work is on the thread of the call: the caller's progress function.
pub(super) type ProgressCheck<'t> = Option<&'t dyn Fn() -> Result<()>>;

/// Runs `work` on every job at the same time, the first on this thread and with `tick`, and returns the results in the order of
/// the jobs. A failure increments `stop`, and the others then end early.
///
/// # Errors
/// The first error in the order of the jobs that is not a cancellation; else the cancellation.
pub(super) fn together<J: Send, R: Send>(
    stop: &AtomicU64,
    jobs: Vec<J>,
    tick: ProgressCheck<'_>,
    work: impl Fn(J, ProgressCheck<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let guarded = |job: J, tick: ProgressCheck<'_>| {
        let outcome = work(job, tick);
        if outcome.is_err() {
            stop.fetch_add(1, Ordering::Relaxed);
        }
        outcome
    };
    let guarded = &guarded;
    let mut jobs = jobs.into_iter();
    let Some(first) = jobs.next() else { return Ok(Vec::new()) };
    let outcomes: Vec<Result<R>> = std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(jobs.len());
        let count = jobs.len();
        for job in jobs {
            let number = (threads.len() + 1, count);
            let thread = thread::spawn_scoped(scope, "purlin-device", number, move || guarded(job, None));
            if thread.is_err() {
                stop.fetch_add(1, Ordering::Relaxed);
            }
            threads.push(thread.map_err(|refused| refused.error));
        }
        let mut outcomes = vec![guarded(first, tick)];
        let others = threads.into_iter().map(|thread| thread?.join()?);
        outcomes.extend(others);
        outcomes
    });
    all_results(outcomes)
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
    fn shares_are_whole_blocks_and_nearly_equal() {
        let rows = |rows, count, grain| -> Vec<usize> {
            let shares = shares(rows, count, grain);
            let mut first = 0;
            for share in &shares {
                assert_eq!(share.first, first);
                first += share.rows;
            }
            assert_eq!(first, rows);
            shares.iter().map(|s| s.rows).collect()
        };
        assert_eq!(rows(10, 2, 0), [5, 5]);
        assert_eq!(rows(11, 2, 1), [6, 5]);
        assert_eq!(rows(10, 3, 4), [4, 4, 2]);
        assert_eq!(rows(17, 2, 4), [12, 5]);
        assert_eq!(rows(3, 2, 100), [3]);
        assert_eq!(rows(2, 5, 1), [1, 1]);
        assert_eq!(rows(1, 4, 1), [1]);
        assert_eq!(rows(0, 3, 7), [0]);
        assert_eq!(rows(usize::MAX, 3, 1 << 40).len(), 3);
        for count in 1..9 {
            let all = rows(1003, count, 1);
            assert!(all.iter().max().unwrap() - all.iter().min().unwrap() <= 1, "{all:?}");
        }
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let stop = AtomicU64::new(0);
        let squares = together(&stop, (0..7).collect(), None, |k: u64, _| {
            std::thread::sleep(std::time::Duration::from_millis(7 - k));
            Ok(k * k)
        });
        assert_eq!(squares, Ok(vec![0, 1, 4, 9, 16, 25, 36]));
        assert_eq!(stop.load(Ordering::Relaxed), 0);
        assert_eq!(together(&stop, Vec::<u64>::new(), None, |k, _| Ok(k)), Ok(Vec::new()));
    }

    #[test]
    fn the_failure_of_one_ends_the_others_and_is_reported() {
        for failing in 0..3 {
            let stop = AtomicU64::new(0);
            let outcome = together(&stop, (0..3).collect(), None, |k: usize, _| -> Result<()> {
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
        let tick = || {
            calls.set(calls.get() + 1);
            if calls.get() < 3 { Ok(()) } else { Err(Error::Cancelled) }
        };
        let outcome = together(&stop, (0..3).collect(), Some(&tick), |k: usize, tick| -> Result<()> {
            assert_eq!(tick.is_some(), k == 0);
            assert_eq!(std::thread::current().id() == here, k == 0);
            loop {
                match tick {
                    Some(tick) => tick()?,
                    None if stop.load(Ordering::Relaxed) > 0 => return Err(Error::Cancelled),
                    None => std::thread::yield_now(),
                }
            }
        });
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
    fn a_panic_on_a_thread_is_an_error() {
        let stop = AtomicU64::new(0);
        let outcome = together(&stop, vec![0, 1], None, |k: usize, _| -> Result<usize> {
            assert!(k == 0, "on purpose");
            Ok(k)
        });
        assert!(matches!(outcome, Err(Error::Internal(_))), "{outcome:?}");
    }
}
