//! What happens to a process that `fork()`s: the child has no pool threads and no CUDA.

use std::sync::atomic::{AtomicU64, Ordering};

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Tells everything made so far that it now lives in a forked child. Only adds to an atomic, so it may run in
/// `pthread_atfork`'s child handler.
pub fn mark() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Number of forks behind this process since the library was loaded; remember it to know later whether one happened.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Whether a fork lies between the moment that gave `remembered` and now.
pub fn happened_since(remembered: u64) -> bool {
    generation() != remembered
}
