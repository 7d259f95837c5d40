//! The workspace of matrix products: several MiB that the crate behind faer allocates at a thread's first product. That
//! crate cannot report a refusal.
//!
//! A thread is therefore prepared before it multiplies: the memory is allocated here, where a refusal becomes an error. The
//! allocator gives it to the crate at the thread's first product, and its pages are first used then. A build without that
//! allocator (see [`super::super::reserve`]) checks that there is as much memory, frees it, and multiplies at once.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::super::reserve;
use crate::error::{Error, Result};
use crate::shape::to_u64;
use crate::thread;

thread_local! {
    static READY: Ready = const { Ready(Cell::new(false)) };
}

/// Whether the thread is prepared. It has a destructor, so that it ends together with the workspace.
struct Ready(Cell<bool>);

impl Drop for Ready {
    fn drop(&mut self) {
        // The thread has not multiplied.
        reserve::unpark();
    }
}

/// The memory with which one thread is prepared.
pub struct Prepared {
    workspace: reserve::Workspace,
}

impl Prepared {
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[cfg_attr(feature = "fault-injection", track_caller)]
    pub fn allocate() -> Result<Self> {
        let bytes = match reserve::workspace_bytes() {
            0 => USUAL,
            bytes => bytes,
        };
        crate::refusal::fault_point("workspace of matrix products", bytes)?;
        Ok(Self { workspace: reserve::Workspace::allocate(bytes).ok_or_else(|| refused(bytes))? })
    }

    /// Prepares the calling thread, once.
    pub fn prepare(self) {
        if IS_OBSERVED {
            self.workspace.park();
        } else {
            drop(self);
            multiply();
        }
        READY.with(|ready| ready.0.set(true));
    }
}

/// Order of a product that is large enough to use the workspace.
const ORDER: usize = 40;

/// Whether the allocator is the library's, which can recognize the request.
const IS_OBSERVED: bool = cfg!(all(feature = "reserve", not(feature = "fault-injection")));

/// Number of polls, 0.1 ms apart, for the measurement by another thread.
const PATIENCE: usize = 10_000;
/// Refusals of the measuring thread's memory after which a call that waits for it is refused.
const REFUSALS: usize = 4;

/// Usual size of the workspace in bytes, for builds that cannot observe it.
const USUAL: usize = 4 << 20;

/// Prepares the calling thread, unless it is.
///
/// # Errors
/// [`Error::OutOfMemory`], also for a thread that ends, whose thread-local objects are destroyed.
#[inline]
pub fn prepare() -> Result<()> {
    match READY.try_with(|ready| ready.0.get()) {
        Ok(true) => Ok(()),
        Ok(false) => prepare_thread(),
        Err(_) => Err(refused(USUAL)),
    }
}

#[cold]
fn prepare_thread() -> Result<()> {
    Prepared::allocate().map(Prepared::prepare)
}

/// Measures the size of the workspace, which the crate does not publish: a short-lived thread multiplies, and the allocator
/// observes the request. While memory is short that thread waits, and calls are refused. Afterwards one spare workspace is
/// kept for threads that were not prepared.
///
/// # Errors
/// [`Error::OutOfMemory`]; [`Error::ThreadRefused`].
pub fn measure() -> Result<()> {
    static IS_STARTED: AtomicBool = AtomicBool::new(false);
    static IS_MEASURED: AtomicBool = AtomicBool::new(false);
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    if !IS_OBSERVED || IS_DONE.load(Ordering::Acquire) {
        return Ok(());
    }
    if !IS_STARTED.swap(true, Ordering::AcqRel) {
        let work = || {
            reserve::measure_workspace();
            multiply();
            IS_MEASURED.store(true, Ordering::Release);
        };
        if let Err(problem) = thread::spawn("purlin-measure".into(), work) {
            IS_STARTED.store(false, Ordering::Release);
            return Err(thread::refusal("purlin-measure", 1, 1, &problem));
        }
    }
    // In a child of `fork()` the measuring thread may not exist. Threads then prepare for the usual size.
    let earlier = reserve::refusals();
    for _ in 0..PATIENCE {
        if IS_MEASURED.load(Ordering::Acquire) {
            break;
        }
        // The measuring thread tries again every few milliseconds while memory is short. Only refusals during this call
        // count, not time: on a busy machine that thread may learn late that there is memory again.
        if reserve::refusals().wrapping_sub(earlier) >= REFUSALS {
            return Err(refused(reserve::workspace_bytes()));
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    if !reserve::keep_spare() {
        return Err(refused(reserve::workspace_bytes()));
    }
    IS_DONE.store(true, Ordering::Release);
    Ok(())
}

fn refused(bytes: usize) -> Error {
    Error::OutOfMemory { what: "workspace of matrix products", bytes: to_u64(bytes), limit: None }
}

/// A product that is just large enough for the workspace to be allocated.
fn multiply() {
    static ZEROS: [f64; ORDER * ORDER] = [0.0; ORDER * ORDER];
    let mut product = [0.0; ORDER * ORDER];
    let zeros = MatRef::from_column_major_slice(&ZEROS, ORDER, ORDER);
    let product = MatMut::from_column_major_slice_mut(&mut product, ORDER, ORDER);
    matmul(product, Accum::Replace, zeros, zeros, 1.0, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_prepared_once() {
        std::thread::spawn(|| {
            measure().unwrap();
            prepare().unwrap();
            assert!(READY.with(|ready| ready.0.get()));
            prepare().unwrap();
        })
        .join()
        .unwrap();
    }
}
