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
    /// A check for a cancellation in a call that reports no progress, which then finds one.
    Cancel = 256,
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

/// Least size of a block that a fault can refuse in the system's allocator below the reserve. Smaller ones do not grow with data.
const LEAST_BLOCK: usize = 4096;

/// The workspace of matrix products of a thread, which cannot be refused. The shared library's own allocator prepares it, which is
/// not part of builds with fault injection; `tests/c/memory_refused.c` refuses it there.
const PRODUCTS: usize = 4 << 20;

/// Number of large blocks that are granted; negative: all are, and they are not counted.
static BLOCKS_GRANTED: AtomicI64 = AtomicI64::new(-1);
static BLOCKS_ASKED: AtomicI64 = AtomicI64::new(0);

/// Has the system grant `n` blocks of 4 KiB and more, and refuse all later ones, to a program whose allocator is the library's
/// (`backend::reserve`).
pub fn refuse_blocks_after(n: i64) {
    BLOCKS_ASKED.store(0, Ordering::SeqCst);
    BLOCKS_GRANTED.store(n, Ordering::SeqCst);
}

/// Has the system grant all blocks again, and returns the number of requests since [`refuse_blocks_after`].
pub fn grant_blocks() -> i64 {
    BLOCKS_GRANTED.store(-1, Ordering::SeqCst);
    BLOCKS_ASKED.load(Ordering::SeqCst)
}

/// Counts a request of the system's allocator, and returns whether it is refused. Allocates nothing.
pub(crate) fn refuses_block(size: usize) -> bool {
    let granted = BLOCKS_GRANTED.load(Ordering::SeqCst);
    granted >= 0 && size >= LEAST_BLOCK && size != PRODUCTS && BLOCKS_ASKED.fetch_add(1, Ordering::SeqCst) >= granted
}
