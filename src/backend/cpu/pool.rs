//! The context's thread pool.

use std::mem::ManuallyDrop;

use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Threads that belong to one context. The global rayon pool belongs to the host program and is never used.
///
/// All arithmetic runs on these threads, so that a caller's rounding or flush-to-zero mode changes no result.
pub struct Pool {
    pool: ManuallyDrop<rayon::ThreadPool>,
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
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("purlin-{i}"))
            .build()
            .map_err(|_| Error::OutOfMemory { what: "thread pool", bytes: to_u64(threads), limit: None })?;
        Ok(Self { pool: ManuallyDrop::new(pool), threads, process: std::process::id() })
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `work` on the pool: rayon's parallel iterators inside use its threads.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // After a fork the threads live in the parent alone, and a lock of theirs may be held for ever: leak instead.
        if self.process == std::process::id() {
            // SAFETY: dropped here alone, once.
            unsafe { ManuallyDrop::drop(&mut self.pool) };
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
}
