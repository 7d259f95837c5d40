//! The thread pool of a context: started with it, joined when it is dropped.

use std::error::Error as _;
use std::mem::ManuallyDrop;
use std::os::unix::thread::JoinHandleExt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::flags::LostDigits;
use super::parallel::Work;
use super::parallel::here::{self, Team};
use super::workspace::{self, Prepared};
use crate::error::{Error, Result};
use crate::pump::Running;
use crate::thread;

/// Time between two polls of [`Pool::run_polling`].
const POLL: Duration = Duration::from_millis(20);

/// The longest wait for threads to begin. While the program loads a library, some systems let no other thread have its
/// thread-local data, and a context may be created from there.
const BEGIN: Duration = Duration::from_millis(100);

/// Number of threads that have begun: they have their thread-local data. A system that refuses these ends the process, so
/// that a pool is handed out only when no thread asks for them any more.
#[derive(Default)]
struct Begun {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Begun {
    fn add_one(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_one();
    }

    /// Waits until `threads` threads have begun, at most for [`BEGIN`].
    fn wait(&self, threads: usize) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_timeout_while(count, BEGIN, |count| *count < threads));
    }
}

/// Threads that belong to one context. The global rayon pool belongs to the host program and is never used.
///
/// Arithmetic runs on these threads, or on a calling thread in the same floating-point mode. A caller's rounding or
/// flush-to-zero mode therefore changes no result.
pub struct Pool {
    team: ManuallyDrop<Arc<Team>>,
    handles: Vec<JoinHandle<()>>,
    threads: usize,
    process: u32,
}

impl Pool {
    /// A pool of `threads` threads, 0 for one a core.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] for the workspaces of the threads; [`Error::ThreadRefused`].
    pub fn new(threads: usize) -> Result<Self> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            n => n,
        };
        crate::alloc::fault_point("thread pool", 0)?;
        workspace::measure()?;
        let (mut handles, mut refused, begun) = (Vec::new(), None, Arc::new(Begun::default()));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .spawn_handler(|worker| {
                let name = format!("purlin-{}", worker.index());
                // Allocated here, where a refusal is an error.
                let workspace = Prepared::allocate().map_err(|error| {
                    refused = Some(error);
                    std::io::Error::from(std::io::ErrorKind::OutOfMemory)
                })?;
                let begun = Arc::clone(&begun);
                handles.push(thread::spawn(name, move || {
                    workspace.prepare();
                    begun.add_one();
                    worker.run();
                })?);
                Ok(())
            })
            .build();
        let pool = match pool {
            Ok(pool) => pool,
            Err(problem) => {
                // Rayon has signalled the started threads to end.
                let started = handles.len();
                handles.into_iter().for_each(|handle: JoinHandle<()>| drop(handle.join()));
                let problem = problem.source().map_or_else(|| problem.to_string(), ToString::to_string);
                let (what, number) = ("thread pool", started + 1);
                return Err(refused.unwrap_or(Error::ThreadRefused { what, number, count: threads, problem }));
            }
        };
        begun.wait(threads);
        Ok(Self { team: ManuallyDrop::new(Arc::new(Team::new(pool))), handles, threads, process: std::process::id() })
    }

    /// Number of threads, at least 1; the calling thread is not one of them.
    #[inline]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` on the pool: the loops of [`super::parallel`] inside use its threads.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let mut work = Work::new(work);
        self.install(&mut || work.run());
        work.result()
    }

    fn install(&self, work: &mut (dyn FnMut() + Send)) {
        let lost = LostDigits::default();
        self.team.pool.install(|| lost.part(work));
        lost.hand_on();
    }

    /// [`Pool::run`] for long work. The calling thread calls `poll` about every 20 ms while it waits; on a thread of the pool,
    /// which computes itself, never.
    pub fn run_polling<R: Send>(&self, work: impl FnOnce() -> R + Send, poll: &mut dyn FnMut()) -> R {
        let mut work = Work::new(work);
        self.install_polling(&mut || work.run(), poll);
        work.result()
    }

    fn install_polling(&self, work: &mut (dyn FnMut() + Send), poll: &mut dyn FnMut()) {
        if self.team.pool.current_thread_index().is_some() {
            return self.install(work);
        }
        let (lost, running) = (LostDigits::default(), Running::default());
        self.team.pool.in_place_scope(|tasks| {
            let (piece, lost) = (running.begin(), &lost);
            tasks.spawn(move |_| {
                let _piece = piece;
                lost.part(work);
            });
            running.wait(&mut || POLL, poll);
        });
        lost.hand_on();
    }

    /// Runs `work` on the calling thread, if its floating-point mode is the pool's. The pool's threads join loops of
    /// [`super::parallel`] that are long enough. `work` must not use rayon otherwise, for example for products of matrices
    /// with `Par::rayon`: it would use the host program's pool.
    pub fn run_here<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let mut work = Work::new(work);
        self.install_here(&mut || work.run());
        work.result()
    }

    fn install_here(&self, work: &mut (dyn FnMut() + Send)) {
        if self.team.pool.current_thread_index().is_some() || !is_default_arithmetic() || workspace::prepare().is_err()
        {
            return self.install(work);
        }
        here::within(&self.team, work)
    }

    /// Runs single-threaded `work` on the calling thread, if its floating-point mode is the pool's. Waking a pool thread would
    /// take longer than a short piece of work.
    pub fn run_short<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let mut work = Work::new(work);
        self.install_short(&mut || work.run());
        work.result()
    }

    fn install_short(&self, work: &mut (dyn FnMut() + Send)) {
        if is_default_arithmetic() && workspace::prepare().is_ok() { work() } else { self.install(work) }
    }
}

/// Whether the calling thread rounds to nearest and keeps subnormal numbers, as the pool's threads do.
fn is_default_arithmetic() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let mut mode = 0u32;
        // SAFETY: writes the thread's mode to the variable.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
        // The exception flags are masked out.
        mode & !0x3f == 0x1f80
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl Drop for Pool {
    fn drop(&mut self) {
        // After a fork the threads exist only in the parent, and their locks may be held for ever, so the pool is leaked. Their
        // ids may be reused for the child's new threads, which must not be detached instead.
        if self.process != std::process::id() {
            self.handles.drain(..).for_each(std::mem::forget);
            return;
        }
        // SAFETY: dropped here alone, once.
        unsafe { ManuallyDrop::drop(&mut self.team) };
        // Rayon signals its threads to end, but does not wait for them. They are joined here, so that a host that creates and
        // destroys contexts does not accumulate threads, and none runs while the host ends. A callback may drop the last user
        // of a context on one of these threads, which cannot join itself.
        // SAFETY: asks who the calling thread is.
        let own = unsafe { libc::pthread_self() };
        if self.handles.iter().all(|h| h.as_pthread_t() != own) {
            for handle in self.handles.drain(..) {
                let _ = handle.join();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn work_runs_on_the_pools_own_threads() {
        let pool = Pool::new(3).unwrap();
        assert_eq!(pool.threads(), 3);
        assert_eq!(pool.run(rayon::current_num_threads), 3);
        let name = pool.run(|| std::thread::current().name().map(str::to_owned));
        assert!(name.is_some_and(|n| n.starts_with("purlin-")));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn short_work_stays_unless_the_arithmetic_is_another() {
        let pool = Pool::new(1).unwrap();
        let here = std::thread::current().id();
        assert_eq!(pool.run_short(|| std::thread::current().id()), here);
        let mode = |mode: u32| {
            // SAFETY: sets the mode of this thread, which computes nothing meanwhile.
            unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack)) };
        };
        // Flushing to zero; rounding downwards.
        for other in [0x9f80, 0x3f80] {
            mode(other);
            let thread = pool.run_short(|| std::thread::current().id());
            mode(0x1f80);
            assert_ne!(thread, here, "{other:x}");
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn loops_begin_in_the_calling_thread_and_others_join() {
        use super::super::parallel::{IntoItems as _, Items as _};
        use std::collections::HashSet;

        let pool = Pool::new(3).unwrap();
        let caller = std::thread::current().id();
        // All three have to meet, or nobody goes on.
        let (seen, barrier) = (Mutex::new(HashSet::new()), std::sync::Barrier::new(3));
        pool.run_here(|| {
            (0..3usize).into_par_iter().for_each(|_| {
                barrier.wait();
                seen.lock().unwrap().insert(std::thread::current().id());
            });
        });
        let seen = seen.into_inner().unwrap();
        assert!(seen.len() == 3 && seen.contains(&caller));
        // Too short for two; within another loop; within the pool.
        let sum = pool.run_here(|| {
            let alone = (0..7usize).into_par_iter().with_min_len(4).map(|_| std::thread::current().id());
            assert!(alone.collect::<Vec<_>>().iter().all(|id| *id == caller));
            (0..40usize)
                .into_par_iter()
                .map(|i| (0..50usize).into_par_iter().map(|j| i * j).sum::<usize>())
                .sum::<usize>()
        });
        assert_eq!(sum, 780 * 1225);
        assert_ne!(pool.run(|| pool.run_here(|| std::thread::current().id())), caller);
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.run_here(|| (0..100usize).into_par_iter().for_each(|i| assert!(i != 57)));
        }));
        assert!(failed.is_err());
        assert_eq!(pool.run_here(|| (0..100usize).into_par_iter().map(|i| i).sum::<usize>()), 4950);
        // A loop elsewhere is not this pool's any more.
        assert!(here::team().is_none());
    }

    #[test]
    fn threads_that_do_not_come_are_not_waited_for() {
        use super::super::parallel::{IntoItems as _, Items as _};

        let pool = Pool::new(2).unwrap();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        for _ in 0..2 {
            let held = Arc::clone(&held);
            // Until the sender is gone.
            pool.team.pool.spawn(move || drop(held.lock().map(|h| h.recv())));
        }
        let caller = std::thread::current().id();
        for _ in 0..100 {
            let by = pool.run_here(|| {
                let ids = (0..64usize).into_par_iter().map(|_| std::thread::current().id());
                ids.collect::<Vec<_>>()
            });
            assert!(by.len() == 64 && by.iter().all(|id| *id == caller));
        }
        drop(release);
        assert_eq!(pool.run_here(|| (0..100usize).into_par_iter().map(|i| i).sum::<usize>()), 4950);
    }

    #[test]
    fn the_calling_thread_polls_while_the_pool_works() {
        use std::sync::atomic::{AtomicUsize, Ordering};

        let pool = Pool::new(2).unwrap();
        let (caller, polls) = (std::thread::current().id(), AtomicUsize::new(0));
        let mut poll = || {
            assert_eq!(std::thread::current().id(), caller);
            polls.fetch_add(1, Ordering::Relaxed);
        };
        // The work goes on until it has been polled thrice.
        let work = || {
            while polls.load(Ordering::Relaxed) < 3 {
                std::thread::yield_now();
            }
            std::thread::current().id()
        };
        assert_ne!(pool.run_polling(work, &mut poll), caller);
        assert_eq!(pool.run_polling(|| 7, &mut || panic!("short work is not polled")), 7);
        assert_eq!(pool.run(|| pool.run_polling(|| 8, &mut || {})), 8);
        for panics in [true, false] {
            let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let mut poll = || assert!(panics, "a panic of a poll");
                pool.run_polling(|| std::thread::sleep(2 * POLL), &mut poll);
                pool.run_polling(|| assert!(!panics, "a panic of the work"), &mut || {});
            }));
            assert!(failed.is_err());
        }
        assert_eq!(pool.run_polling(rayon::current_num_threads, &mut || {}), 2);
    }

    #[test]
    fn the_threads_are_gone_with_the_pool() {
        let here = Arc::new(());
        let there = Arc::clone(&here);
        let pool = Pool::new(2).unwrap();
        thread_local!(static HELD: std::cell::RefCell<Option<Arc<()>>> = const { std::cell::RefCell::new(None) });
        pool.run(|| HELD.set(Some(there)));
        assert_eq!(Arc::strong_count(&here), 2);
        drop(pool);
        assert_eq!(Arc::strong_count(&here), 1, "a thread that has ended has dropped what it kept");
    }
}
