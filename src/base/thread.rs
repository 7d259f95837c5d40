//! Starts threads. The system may refuse a thread, and `std::thread::Scope::spawn` would then panic.
//!
//! Every thread of the library is started here. Their names begin with `purlin-`, by which the panic hook recognizes them.
//! They block the host's signals.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use crate::backend::cpu::flags;
use crate::backend::reserve::has_memory_for_thread;
use crate::backend::signals::start_blocked;
use crate::error::{Error, Result};

/// A thread of a scope.
pub struct Started<'scope, T> {
    handle: ScopedJoinHandle<'scope, ()>,
    result: Arc<dyn Returns<T> + 'scope>,
    name: &'static str,
}

/// The work of a thread and its result, with which it returns whether the thread lost digits below the range of a type.
struct Job<F, T> {
    work: Mutex<Option<F>>,
    result: Mutex<Option<(T, bool)>>,
}

impl<F, T> Job<F, T> {
    fn take_work(&self) -> Option<F> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A [`Job`] for the thread that runs it, so that threads are started by code that is compiled once.
trait Runs: Send + Sync {
    fn run(&self);
}

impl<F: FnOnce() -> T + Send, T: Send> Runs for Job<F, T> {
    fn run(&self) {
        let done = self.take_work().map(|work| flags::watch(work));
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = done;
    }
}

/// A [`Job`] for the thread that waits for it.
trait Returns<T>: Send + Sync {
    fn result(&self) -> Option<(T, bool)>;
}

impl<F: Send, T: Send> Returns<T> for Job<F, T> {
    fn result(&self) -> Option<(T, bool)> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The system refused to start a thread.
pub struct Refused<F> {
    /// The error, with the thread and the system's reason.
    pub error: Error,
    /// The work of the thread, which the caller may run itself.
    pub work: F,
}

impl<T> Started<'_, T> {
    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }

    /// Waits for the thread and returns its result.
    ///
    /// # Errors
    /// [`Error::Internal`] if the thread panicked.
    pub fn join(self) -> Result<T> {
        let name = self.name;
        let lost = || Error::Internal(format!("the thread {name} panicked"));
        self.handle.join().map_err(|_| lost())?;
        let (result, underflow) = self.result.result().ok_or_else(lost)?;
        flags::hand_on(underflow);
        Ok(result)
    }
}

/// Starts thread `number` of `count`, both from 1, of a scope.
///
/// # Errors
/// [`Refused`], which returns the work, if the system cannot start it.
#[cfg_attr(feature = "fault-injection", track_caller)]
pub fn spawn_scoped<'scope, F, T>(
    scope: &'scope Scope<'scope, '_>,
    name: &'static str,
    (number, count): (usize, usize),
    work: F,
) -> std::result::Result<Started<'scope, T>, Refused<F>>
where
    F: FnOnce() -> T + Send + 'scope,
    T: Send + 'scope,
{
    let refused = |problem: &io::Error, work| Refused { error: refusal(name, number, count, problem), work };
    if let Err(problem) = fault_point(name).and_then(|()| check_memory(STACK)) {
        return Err(refused(&problem, work));
    }
    // std drops the closure of a thread that it cannot start, so the work stays outside of it.
    let job = Arc::new(Job { work: Mutex::new(Some(work)), result: Mutex::new(None) });
    match start_scoped(scope, name, job.clone()) {
        Ok(handle) => Ok(Started { handle, result: job, name }),
        Err(problem) => match job.take_work() {
            Some(work) => Err(refused(&problem, work)),
            // A thread that was not started has taken nothing.
            None => unreachable!("the work of a thread that was refused is gone"),
        },
    }
}

fn start_scoped<'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &'static str,
    job: Arc<dyn Runs + 'scope>,
) -> io::Result<ScopedJoinHandle<'scope, ()>> {
    start_blocked(|| Builder::new().name(name.into()).spawn_scoped(scope, move || job.run()))
}

/// Starts a thread that outlives the call.
///
/// # Errors
/// As the system says.
#[cfg_attr(feature = "fault-injection", track_caller)]
pub fn spawn(name: String, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    fault_point("purlin-")?;
    check_memory(STACK)?;
    start_blocked(|| Builder::new().name(name).spawn(work))
}

/// Starts a thread with a stack of `stack` bytes, whose result the caller waits for. The start is a fault point, which
/// a test can make fail.
///
/// # Errors
/// As the system says.
#[cfg_attr(feature = "fault-injection", track_caller)]
pub fn spawn_with_stack<T: Send + 'static>(
    name: &'static str,
    stack: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    fault_point(name)?;
    check_memory(stack)?;
    start_blocked(|| Builder::new().name(name.into()).stack_size(stack).spawn(work))
}

/// Size of a thread's stack where none is given: the default of Rust's standard library.
const STACK: usize = 2 << 20;

/// Refuses a thread while memory is short: its start could end the process.
fn check_memory(stack: usize) -> io::Result<()> {
    if has_memory_for_thread(stack) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ENOMEM)) }
}

/// The error of thread `number` of `count` that was refused.
pub fn refusal(what: &'static str, number: usize, count: usize, problem: &io::Error) -> Error {
    Error::ThreadRefused { what, number, count, problem: problem.to_string() }
}

/// Fault point: a test can make the start of a thread fail here, as if there were too many.
#[cfg(feature = "fault-injection")]
#[track_caller]
fn fault_point(what: &'static str) -> io::Result<()> {
    let fails = crate::fault::fails(crate::fault::Kind::Thread, what);
    if fails { Err(io::Error::from_raw_os_error(libc::EAGAIN)) } else { Ok(()) }
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
fn fault_point(_: &'static str) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_returns_its_result_and_its_panic_is_an_error() {
        let own = std::thread::current().id();
        std::thread::scope(|scope| {
            let work = || (std::thread::current().id(), std::thread::current().name() == Some("purlin-test"));
            let Ok(thread) = spawn_scoped(scope, "purlin-test", (1, 1), work) else { panic!("refused") };
            let (id, is_named) = thread.join().unwrap();
            assert!(id != own && is_named);
            let Ok(thread) = spawn_scoped(scope, "purlin-test", (1, 1), || panic!("on purpose")) else {
                panic!("refused")
            };
            let error = thread.join().map(|()| 0).unwrap_err();
            assert_eq!(error, Error::Internal("the thread purlin-test panicked".into()));
        });
    }

    #[test]
    fn a_refusal_names_the_thread_and_the_reason() {
        let e = refusal("purlin-read", 2, 3, &io::Error::from_raw_os_error(libc::EAGAIN));
        assert_eq!(
            e.to_string(),
            "purlin-read: thread 2 of 3 could not be started: Resource temporarily unavailable (os error 11)"
        );
    }
}
