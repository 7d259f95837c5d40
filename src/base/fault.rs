//! Fault injection for tests: makes the n-th operation of the process fail, or that and all later ones.
//!
//! Counting is process-wide, because allocations happen on pool threads too; tests that use it run one at a time.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Which operation a fault point guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// An allocation of host memory.
    HostMemory = 1,
    /// A device or pinned allocation.
    DeviceMemory = 2,
    /// A copy between host and device.
    Copy = 4,
    /// An enqueued kernel launch.
    Launch = 8,
    /// An operation on a file, reads included.
    File = 16,
    /// The loading of a module of kernels, once a context.
    Load = 32,
    /// A call of one of NVIDIA's numerical libraries.
    Library = 64,
    /// The start of a thread.
    Thread = 128,
}

static REMAINING: AtomicI64 = AtomicI64::new(-1);
static KINDS: AtomicU32 = AtomicU32::new(0);
static STICKY: AtomicU32 = AtomicU32::new(0);
static HITS: AtomicI64 = AtomicI64::new(0);

/// The source location of an operation, and its purpose.
pub type Site = (&'static Location<'static>, &'static str);

static RECORDS: AtomicBool = AtomicBool::new(false);
static SITES: Mutex<Vec<Site>> = Mutex::new(Vec::new());

/// Notes the operations of the given kinds from now on; none of them fails.
pub fn record(kinds: u32) {
    SITES.lock().unwrap_or_else(PoisonError::into_inner).clear();
    KINDS.store(kinds, Ordering::SeqCst);
    RECORDS.store(true, Ordering::SeqCst);
}

/// The operations since [`record`], in their order.
pub fn recorded() -> Vec<Site> {
    RECORDS.store(false, Ordering::SeqCst);
    KINDS.store(0, Ordering::SeqCst);
    std::mem::take(&mut *SITES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Arms: the `n`-th operation (from 0) of the given kinds (a bit set) fails, and all later ones if `sticky`.
pub fn arm(n: i64, kinds: u32, sticky: bool) {
    HITS.store(0, Ordering::SeqCst);
    KINDS.store(kinds, Ordering::SeqCst);
    STICKY.store(u32::from(sticky), Ordering::SeqCst);
    REMAINING.store(n, Ordering::SeqCst);
}

/// Disarms, and returns the number of operations that failed since [`arm`].
pub fn disarm() -> i64 {
    KINDS.store(0, Ordering::SeqCst);
    REMAINING.store(-1, Ordering::SeqCst);
    HITS.load(Ordering::SeqCst)
}

/// Counts an operation of this kind, for `what`, and returns whether it has to fail.
#[track_caller]
pub(crate) fn fails(kind: Kind, what: &'static str) -> bool {
    if KINDS.load(Ordering::SeqCst) & kind as u32 == 0 {
        return false;
    }
    if RECORDS.load(Ordering::SeqCst) {
        SITES.lock().unwrap_or_else(PoisonError::into_inner).push((Location::caller(), what));
        return false;
    }
    let before = REMAINING.fetch_sub(1, Ordering::SeqCst);
    let hit = before == 0 || (before < 0 && STICKY.load(Ordering::SeqCst) != 0);
    if hit {
        HITS.fetch_add(1, Ordering::SeqCst);
    }
    hit
}
