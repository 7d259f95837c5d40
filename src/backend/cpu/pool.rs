//! The context's thread pool.

use std::mem::ManuallyDrop;
use std::os::unix::thread::JoinHandleExt;
use std::thread::JoinHandle;

use super::parallel::Work;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Threads that belong to one context. The global rayon pool belongs to the host program and is never used.
///
/// All arithmetic runs on these threads, so that a caller's rounding or flush-to-zero mode changes no result.
pub struct Pool {
    pool: ManuallyDrop<rayon::ThreadPool>,
    handles: Vec<JoinHandle<()>>,
    threads: usize,
    process: u32,
}

impl Pool {
    /// A pool of `threads` threads, 0 for one a core.
    pub fn new(threads: usize) -> Result<Self> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            n => n,
        };
        crate::alloc::fault_point("thread pool", 0)?;
        let mut handles = Vec::new();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .spawn_handler(|thread| {
                let name = format!("purlin-{}", thread.index());
                handles.push(std::thread::Builder::new().name(name).spawn(|| thread.run())?);
                Ok(())
            })
            .build()
            .map_err(|_| Error::OutOfMemory { what: "thread pool", bytes: to_u64(threads), limit: None })?;
        Ok(Self { pool: ManuallyDrop::new(pool), handles, threads, process: std::process::id() })
    }

    /// Number of threads.
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
        self.pool.install(work);
    }

    /// Runs `work` of one thread where it is called, if that thread's arithmetic is the pool's: waking a thread takes
    /// longer than a short piece of work.
    pub fn run_short<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        if is_default_arithmetic() { work() } else { self.run(work) }
    }
}

/// Whether the calling thread rounds to nearest and takes subnormal numbers as they are, as the pool's threads do.
fn is_default_arithmetic() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let mut mode = 0u32;
        // SAFETY: writes the thread's mode to the variable.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
        // All but the flags of what has happened.
        mode & !0x3f == 0x1f80
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl Drop for Pool {
    fn drop(&mut self) {
        // After a fork the threads live in the parent alone, and a lock of theirs may be held for ever: leak instead.
        if self.process != std::process::id() {
            return;
        }
        // SAFETY: dropped here alone, once.
        unsafe { ManuallyDrop::drop(&mut self.pool) };
        // Rayon tells its threads to end and does not wait for them. A host that makes and destroys contexts must not
        // gather threads, nor meet one at work while it ends. A callback may drop the last user of a context on one of
        // these very threads, which cannot wait for itself.
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
    fn the_threads_are_gone_with_the_pool() {
        let here = std::sync::Arc::new(());
        let there = std::sync::Arc::clone(&here);
        let pool = Pool::new(2).unwrap();
        thread_local!(static KEPT: std::cell::RefCell<Option<std::sync::Arc<()>>> = const { std::cell::RefCell::new(None) });
        pool.run(|| KEPT.set(Some(there)));
        assert_eq!(std::sync::Arc::strong_count(&here), 2);
        drop(pool);
        assert_eq!(std::sync::Arc::strong_count(&here), 1, "a thread that has ended has dropped what it kept");
    }
}
