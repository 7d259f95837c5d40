//! Loops that the calling thread begins at once and the threads of a pool join: to hand work over and wait for it takes
//! longer than a short loop.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;

use rayon::ThreadPool;

thread_local! {
    /// Whose threads join the loops of this thread.
    static TEAM: RefCell<Option<Arc<Team>>> = const { RefCell::new(None) };
}

/// Pieces a thread takes in a loop, so that one that comes late or is slow leaves its share to others.
const TURNS: usize = 8;

/// How often the calling thread looks whether the others are done before it sleeps: for about as long as to wake takes.
const LOOKS: usize = 1 << 14;

/// How often a thread that has done with a loop looks out for the next before it sleeps: for about as long as to wake takes.
const WAITS: usize = 1 << 11;

/// The threads of a pool, and where they meet.
pub(in super::super) struct Team {
    pub(in super::super) pool: ThreadPool,
    lobby: Arc<Lobby>,
}

impl Team {
    pub(in super::super) fn new(pool: ThreadPool) -> Self {
        Self { pool, lobby: Arc::default() }
    }
}

/// Where threads that have done with a loop look out for the next: to wake one takes as long as many a loop.
#[derive(Default)]
struct Lobby {
    /// Threads that look out.
    waiting: AtomicUsize,
    /// Loops that were announced.
    count: AtomicUsize,
    /// The last of them.
    last: Mutex<Option<Arc<Gate>>>,
}

impl Lobby {
    /// Announces a loop, and says how many threads may have heard.
    fn announce(&self, gate: &Arc<Gate>) -> usize {
        let waiting = self.waiting.load(Ordering::Relaxed);
        if waiting > 0 {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(gate));
            self.count.fetch_add(1, Ordering::Release);
        }
        waiting
    }

    /// The next loop that is announced within a while.
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

/// Runs `work` in the calling thread; its loops are joined by the threads of `team`.
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

/// The team of [`within`], in the thread that called it.
pub(in super::super) fn team() -> Option<Arc<Team>> {
    TEAM.with_borrow(Clone::clone)
}

/// Calls `work` with each number below `count`; another thread joins for `least` numbers each. Who has not come when all is
/// handed out is not waited for: on a busy machine that may take many times as long as the loop.
pub(super) fn each(team: &Team, count: usize, least: usize, work: &(dyn Fn(usize) + Sync)) {
    let threads = team.pool.current_num_threads().min(count / least.max(1));
    if threads <= 1 {
        return (0..count).for_each(work);
    }
    let turn = count.div_ceil(threads * TURNS);
    let next = AtomicUsize::new(0);
    let take_turns = || {
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
    if let Some(panic) = gate.panic.lock().unwrap_or_else(PoisonError::into_inner).take() {
        resume_unwind(panic);
    }
}

/// Joins a loop, for which `others` are to be woken, this thread among them: it wakes two, which wake the rest by halves. Then
/// those that are announced while it waits.
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

/// What `Gate::inside` holds, beside the number of threads, once nobody may enter.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// A loop that threads may join as long as it is open.
struct Gate {
    /// Threads that have joined, and [`CLOSED`].
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

    /// After [`Gate::enter`], once.
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

/// Closes a gate when it goes, and waits for those inside.
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
