//! Loops that the calling thread starts at once and the threads of a pool join. Passing a short loop to the pool and waiting
//! for it would take longer than the loop.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;

use rayon::ThreadPool;

use super::super::flags::LostDigits;

thread_local! {
    /// The team whose threads join the loops of this thread.
    static TEAM: RefCell<Option<Arc<Team>>> = const { RefCell::new(None) };
}

/// Pieces of a loop for each thread. Other threads process the pieces of a thread that is late or slow.
const TURNS: usize = 8;

/// Number of polls of the calling thread for the end of the others before it sleeps: about the time of a wake-up.
const LOOKS: usize = 1 << 14;

/// Number of polls of a thread for the next loop before it sleeps: about the time of a wake-up.
const WAITS: usize = 1 << 11;

/// The threads of a pool, and their announcements of loops.
pub(in super::super) struct Team {
    pub(in super::super) pool: ThreadPool,
    lobby: Arc<Lobby>,
}

impl Team {
    pub(in super::super) fn new(pool: ThreadPool) -> Self {
        Self { pool, lobby: Arc::default() }
    }
}

/// Announces loops to threads that have finished one and poll for the next. Waking a thread takes as long as many loops.
#[derive(Default)]
struct Lobby {
    /// Threads that poll now; 0 lets [`Lobby::announce`] skip the lock.
    waiting: AtomicUsize,
    /// Loops announced so far, wrapping. Pollers wait for a change.
    count: AtomicUsize,
    /// The loop that was announced last. Its gate may be closed by now.
    last: Mutex<Option<Arc<Gate>>>,
}

impl Lobby {
    /// Announces a loop, and returns the number of threads that were polling.
    fn announce(&self, gate: &Arc<Gate>) -> usize {
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting > 0 {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(gate));
            self.count.fetch_add(1, Ordering::Release);
        }
        waiting
    }

    /// The next loop that is announced within [`WAITS`] polls.
    fn next(&self) -> Option<Arc<Gate>> {
        let count = self.count.load(Ordering::Acquire);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let mut looks = 0;
        while looks < WAITS && self.count.load(Ordering::Acquire) == count {
            std::hint::spin_loop();
            looks += 1;
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        if looks < WAITS { self.last.lock().unwrap_or_else(PoisonError::into_inner).clone() } else { None }
    }
}

/// Runs `work` on the calling thread. The threads of `team` join its loops.
pub(in super::super) fn within<R>(team: &Arc<Team>, work: impl FnOnce() -> R) -> R {
    struct Restore(Option<Arc<Team>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            TEAM.set(self.0.take());
        }
    }
    let _restore = Restore(TEAM.replace(Some(Arc::clone(team))));
    work()
}

/// The team of [`within`], on the thread that called it.
pub(in super::super) fn team() -> Option<Arc<Team>> {
    TEAM.with_borrow(Clone::clone)
}

/// Calls `work` with each number below `count`, on at most one thread for each `least` numbers. A thread that has not joined
/// when all numbers are taken is not waited for: on a busy machine this could take many times as long as the loop.
pub(super) fn each(team: &Team, count: usize, least: usize, work: &(dyn Fn(usize) + Sync)) {
    let threads = team.pool.current_num_threads().min(count / least.max(1));
    if threads <= 1 {
        return (0..count).for_each(work);
    }
    let turn = count.div_ceil(threads * TURNS);
    let next = AtomicUsize::new(0);
    let lost = LostDigits::default();
    let take_turns = || {
        let _part = lost.begin();
        loop {
            let first = next.fetch_add(turn, Ordering::Relaxed);
            if first >= count {
                break;
            }
            (first..count.min(first + turn)).for_each(work);
        }
    };
    let gate = Gate::open(&take_turns);
    {
        let _closed = Closed(&gate);
        let others = (threads - 1).saturating_sub(team.lobby.announce(&gate));
        if others > 0 {
            let (gate, lobby) = (Arc::clone(&gate), Arc::clone(&team.lobby));
            team.pool.spawn(move || join_in(gate, &lobby, others));
        }
        take_turns();
    }
    lost.hand_on();
    if let Some(panic) = gate.panic.lock().unwrap_or_else(PoisonError::into_inner).take() {
        resume_unwind(panic);
    }
}

/// Joins a loop that needs `others` woken threads, including this one. It wakes two, each of which wakes half of the rest.
/// Then joins the loops that are announced while it polls.
fn join_in(gate: Arc<Gate>, lobby: &Arc<Lobby>, others: usize) {
    if !gate.enter() {
        return;
    }
    let half = (others - 1) / 2;
    for rest in [half, others - 1 - half] {
        if rest > 0 {
            let (gate, lobby) = (Arc::clone(&gate), Arc::clone(lobby));
            rayon::spawn(move || join_in(gate, &lobby, rest));
        }
    }
    gate.work_and_leave();
    drop(gate);
    while let Some(gate) = lobby.next() {
        if gate.enter() {
            gate.work_and_leave();
        }
    }
}

/// Flag in `Gate::inside`, in addition to the number of threads: no thread may enter any more.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// A loop that threads may join while it is open.
struct Gate {
    /// Number of threads that have joined, and the flag [`CLOSED`].
    inside: AtomicUsize,
    /// Borrowed by [`Gate::open`]'s caller, who closes the gate and waits for those inside before the borrow ends.
    work: *const (dyn Fn() + Sync),
    owner: Thread,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `work` is `Sync`, and nobody but who has entered reads it.
unsafe impl Send for Gate {}
// SAFETY: as above.
unsafe impl Sync for Gate {}

impl Gate {
    /// The caller drops a [`Closed`] of it before `work` goes.
    fn open<'a>(work: &'a (dyn Fn() + Sync + 'a)) -> Arc<Self> {
        // SAFETY: the lifetime alone is changed; [`Closed`] sees that nobody reads it beyond.
        let work = unsafe { std::mem::transmute::<&'a (dyn Fn() + Sync + 'a), *const (dyn Fn() + Sync)>(work) };
        let (inside, owner) = (AtomicUsize::new(0), std::thread::current());
        Arc::new(Self { inside, work, owner, panic: Mutex::new(None) })
    }

    fn enter(&self) -> bool {
        let one_more = |now: usize| if now & CLOSED == 0 { Some(now + 1) } else { None };
        self.inside.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).is_ok()
    }

    /// Runs the loop's work. The caller must have passed [`Gate::enter`], once for each call.
    fn work_and_leave(&self) {
        // SAFETY: whoever is inside is waited for.
        let work = unsafe { &*self.work };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
        }
        if self.inside.fetch_sub(1, Ordering::Release) == CLOSED + 1 {
            self.owner.unpark();
        }
    }
}

/// Closes a gate when it is dropped, and waits for the threads inside.
struct Closed<'g>(&'g Gate);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_or(CLOSED, Ordering::Relaxed);
        let mut looks = 0;
        while self.0.inside.load(Ordering::Acquire) != CLOSED {
            if looks < LOOKS {
                std::hint::spin_loop();
                looks += 1;
            } else {
                std::thread::park();
            }
        }
    }
}
