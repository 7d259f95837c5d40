//! Calls of libraries that may throw C++ exceptions, as NVIDIA's do where memory is refused to them. Rust catches its own
//! panics alone: an exception that reaches the guard of the interface ends the process.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use crate::error::{Error, Result};

unsafe extern "C-unwind" {
    /// Of `foreign.c`. Calls `body(data)`; 0 if it threw.
    fn purlin_foreign_call(body: unsafe extern "C-unwind" fn(*mut c_void), data: *mut c_void) -> c_int;
}

/// The result of `body`; `None` if it threw. `body` only calls a foreign function: a panic of its own would be lost,
/// and the function's arguments may be left in any state.
pub(crate) fn call(body: impl FnOnce() -> i32) -> Option<i32> {
    let mut job = Job { body: Some(body), result: 0 };
    // SAFETY: `run` gets the job that its type is made for, which lives until the call has returned. No frame of Rust code
    // that has something to drop lies between the exception and the C function that stops it.
    let returned = unsafe { purlin_foreign_call(run_of(&job), (&raw mut job).cast()) };
    (returned != 0).then_some(job.result)
}

/// The calls with one handle of such a library. A handle serves one thread at a time.
pub(crate) struct Calls {
    /// The name of a status.
    name: fn(i32) -> &'static str,
    is_broken: Cell<bool>,
}

impl Calls {
    /// Calls with a new handle. `name` gives the library's name of a status.
    pub(crate) fn new(name: fn(i32) -> &'static str) -> Self {
        Self { name, is_broken: Cell::new(false) }
    }

    /// Whether a call threw. The handle is in an unknown state then: no further call uses it, not even to destroy it,
    /// and its owner makes another.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.get()
    }

    /// Runs a call that returns a status, 0 for success.
    pub(crate) fn run(&self, call: &'static str, body: impl FnOnce() -> i32) -> Result<()> {
        if self.is_broken.get() {
            return Err(thrown(call));
        }
        let code = self::call(body).ok_or_else(|| {
            self.is_broken.set(true);
            thrown(call)
        })?;
        if code == 0 { Ok(()) } else { Err(Error::Cuda { call, name: (self.name)(code).into(), code }) }
    }
}

/// The error for a call that threw.
fn thrown(call: &'static str) -> Error {
    Error::Cuda { call, name: "a C++ exception, as where it gets no host memory".into(), code: -1 }
}

struct Job<F> {
    body: Option<F>,
    result: i32,
}

type Run = unsafe extern "C-unwind" fn(*mut c_void);

/// [`run`] for this type of job.
fn run_of<F: FnOnce() -> i32>(_: &Job<F>) -> Run {
    run::<F>
}

unsafe extern "C-unwind" fn run<F: FnOnce() -> i32>(job: *mut c_void) {
    // SAFETY: `call` gives its own job.
    let job = unsafe { &mut *job.cast::<Job<F>>() };
    if let Some(body) = job.body.take() {
        job.result = body();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the C++ runtime's exceptions begin (Itanium C++ ABI, exception handling, 1.2).
    #[repr(C, align(16))]
    struct Exception {
        class: u64,
        cleanup: Option<unsafe extern "C" fn(c_int, *mut Exception)>,
        private: [u64; 4],
    }

    unsafe extern "C-unwind" {
        fn _Unwind_RaiseException(exception: *mut Exception) -> c_int;
    }

    /// Throws as C++ code does.
    fn throw() -> i32 {
        let exception =
            Box::new(Exception { class: u64::from_be_bytes(*b"GNUCC++\0"), cleanup: None, private: [0; 4] });
        // SAFETY: an exception that nobody else has. It is not freed, as its unwinding ends elsewhere.
        unsafe { _Unwind_RaiseException(Box::into_raw(exception)) }
    }

    #[test]
    fn a_call_that_throws_differs_from_one_that_returns() {
        assert_eq!(call(|| 7), Some(7));
        // The guard of the interface catches panics: without it, nobody would stop the exception.
        let caught = std::panic::catch_unwind(|| {
            for _ in 0..3 {
                assert_eq!(call(throw), None);
            }
            call(|| 8)
        });
        assert_eq!(caught.unwrap(), Some(8));
    }

    #[test]
    fn no_call_uses_a_handle_after_one_that_threw() {
        let calls = Calls::new(|_| "SEVEN");
        assert!(calls.run("first", || 0).is_ok());
        let message = calls.run("second", || 7).unwrap_err().to_string();
        assert!(message.contains("second") && message.contains("SEVEN") && !calls.is_broken(), "{message}");
        let caught = std::panic::catch_unwind(|| {
            let calls = Calls::new(|_| "SEVEN");
            let thrown = calls.run("third", throw).is_err();
            let runs = Cell::new(0);
            let refused = calls.run("fourth", || {
                runs.set(1);
                0
            });
            (thrown, calls.is_broken(), refused.is_err(), runs.get())
        });
        assert_eq!(caught.unwrap(), (true, true, true, 0));
    }

    #[test]
    fn calls_may_be_made_inside_of_calls() {
        let inner = Cell::new(Some(0));
        let outer = call(|| {
            inner.set(call(throw));
            5
        });
        assert_eq!((outer, inner.get()), (Some(5), None));
    }
}
