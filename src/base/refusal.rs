//! Requests for host memory that the system, the allocator or a test refuses, and their error.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::shape::to_u64;

thread_local! {
    static IS_REFUSABLE: Cell<bool> = const { Cell::new(false) };
}

/// Whether more than half of the allocator's reserve is in use.
static RESERVE_IS_LOW: AtomicBool = AtomicBool::new(false);

/// Bytes that must be available while the reserve is low; else allocations are refused.
const RELIEF: usize = 256 * 1024;

/// Makes a memory request whose caller reports a refusal. Such a request does not use the allocator's reserve, which is for
/// callers that cannot report one.
#[inline]
pub fn refusable<R>(request: impl FnOnce() -> R) -> R {
    let before = IS_REFUSABLE.replace(true);
    let outcome = request();
    IS_REFUSABLE.set(before);
    outcome
}

/// Whether the allocator may refuse the calling thread's request.
pub(crate) fn is_refusable() -> bool {
    IS_REFUSABLE.get()
}

/// Records whether the allocator's reserve is low.
pub(crate) fn note_reserve(is_low: bool) {
    RESERVE_IS_LOW.store(is_low, Ordering::Relaxed);
}

/// Refuses an allocation while the reserve is low, unless the system has memory again.
#[inline]
pub(crate) fn check_reserve(what: &'static str, bytes: usize) -> Result<()> {
    if RESERVE_IS_LOW.load(Ordering::Relaxed) && refusable(|| Vec::<u8>::new().try_reserve_exact(RELIEF)).is_err() {
        return Err(out_of_memory(what, bytes));
    }
    Ok(())
}

/// The error of a host allocation that failed.
pub fn out_of_memory(what: &'static str, bytes: usize) -> Error {
    Error::OutOfMemory { what, bytes: to_u64(bytes), limit: None }
}

/// Fault point: a test can make a host allocation fail here.
///
/// # Errors
/// [`Error::OutOfMemory`] if a test asks for it.
#[cfg(feature = "fault-injection")]
#[track_caller]
pub fn fault_point(what: &'static str, bytes: usize) -> Result<()> {
    if crate::fault::fails(crate::fault::Kind::HostMemory, what) { Err(out_of_memory(what, bytes)) } else { Ok(()) }
}

/// Fault point: nothing without the feature.
///
/// # Errors
/// None: only a build with the feature has faults.
#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub fn fault_point(_: &'static str, _: usize) -> Result<()> {
    Ok(())
}
