//! Loops that the calling thread begins at once and the threads of a pool join: to hand work over and wait for it takes
//! longer than a short loop.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::{Scope, ThreadPool};

thread_local! {
    /// Whose threads join the loops of this thread.
    static POOL: RefCell<Option<Arc<ThreadPool>>> = const { RefCell::new(None) };
}

/// Pieces a thread takes in a loop, so that one that comes late or is slow leaves its share to others.
const TURNS: usize = 8;

/// How often the calling thread looks whether the others are done before it sleeps: for about as long as to wake takes.
const LOOKS: usize = 1 << 14;

/// Runs `work` in the calling thread; its loops are joined by the threads of `pool`.
pub(in super::super) fn within<R>(pool: &Arc<ThreadPool>, work: impl FnOnce() -> R) -> R {
    struct Restore(Option<Arc<ThreadPool>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            POOL.set(self.0.take());
        }
    }
    let _restore = Restore(POOL.replace(Some(Arc::clone(pool))));
    work()
}

/// The pool of [`within`], in the thread that called it.
pub(in super::super) fn pool() -> Option<Arc<ThreadPool>> {
    POOL.with_borrow(Clone::clone)
}

/// Calls `work` with each number below `count`; another thread joins for `least` numbers each.
pub(super) fn each(pool: &ThreadPool, count: usize, least: usize, work: &(dyn Fn(usize) + Sync)) {
    let threads = pool.current_num_threads().min(count / least.max(1));
    if threads <= 1 {
        return (0..count).for_each(work);
    }
    let turn = count.div_ceil(threads * TURNS);
    let (next, others) = (AtomicUsize::new(0), AtomicUsize::new(threads - 1));
    let take_turns = || {
        loop {
            let first = next.fetch_add(turn, Ordering::Relaxed);
            if first >= count {
                break;
            }
            (first..count.min(first + turn)).for_each(work);
        }
    };
    let join_in = || {
        take_turns();
        others.fetch_sub(1, Ordering::Release);
    };
    pool.in_place_scope(|scope| {
        wake(scope, threads - 1, &join_in);
        take_turns();
        // The scope ends with a sleep unless all have left it.
        let mut looks = 0;
        while others.load(Ordering::Acquire) > 0 && looks < LOOKS {
            std::hint::spin_loop();
            looks += 1;
        }
    });
}

/// Wakes one thread, which wakes the rest by halves.
fn wake<'s>(scope: &Scope<'s>, threads: usize, join_in: &'s (dyn Fn() + Sync)) {
    if threads == 0 {
        return;
    }
    scope.spawn(move |scope| {
        let half = (threads - 1) / 2;
        wake(scope, half, join_in);
        wake(scope, threads - 1 - half, join_in);
        join_in();
    });
}
