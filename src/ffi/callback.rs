//! Callers' functions as closures that return a status and cancel.

use std::ffi::{CString, c_char, c_void};

use crate::error::{Error, Result};
use crate::log::{Level, Sink};
use crate::progress::ProgressFn;

/// Progress of a call: `step` of `steps` are done; `measure` is the family's own (a residual, say). Called on the
/// calling thread alone, at most about 20 times a second and once at the end. Nonzero cancels the call. It must not
/// throw, longjmp or unwind.
pub type purlin_progress_fn =
    Option<unsafe extern "C" fn(step: i64, steps: i64, measure: f64, user: *mut c_void) -> i32>;

/// Takes one log message: one line of UTF-8, valid during the call. May be called from any thread. It must not
/// throw, longjmp or unwind.
pub type purlin_log_fn = Option<unsafe extern "C" fn(level: i32, message: *const c_char, user: *mut c_void)>;

/// The closure of a progress function.
pub(super) fn progress(function: purlin_progress_fn, user: *mut c_void) -> Option<impl Fn(i64, i64, f64) -> bool> {
    // SAFETY: the caller promises a function that may be called with `user` during the call.
    function.map(|f| move |step, steps, measure| unsafe { f(step, steps, measure, user) } == 0)
}

/// A caller's progress function, which later calls of an object call.
pub(super) struct Report {
    function: purlin_progress_fn,
    user: *mut c_void,
}
// SAFETY: the caller promises that the function may be called with this pointer by whatever thread makes a call.
unsafe impl Send for Report {}
// SAFETY: as above.
unsafe impl Sync for Report {}

impl Report {
    pub(super) fn new(function: purlin_progress_fn, user: *mut c_void) -> Self {
        Self { function, user }
    }

    /// Makes a call that reports its progress.
    pub(super) fn run<R>(&self, body: impl FnOnce(Option<&ProgressFn<'_>>) -> Result<R>) -> Result<R> {
        let report = progress(self.function, self.user);
        body(report.as_ref().map(|f| f as &ProgressFn<'_>))
    }
}

/// The sink of a log function.
pub(super) fn log_sink(
    argument: &str,
    level: i32,
    function: purlin_log_fn,
    user: *mut c_void,
) -> Result<(Level, Option<Sink>)> {
    let level = Level::from_code(level)
        .ok_or_else(|| Error::invalid(argument, format!("is {level}, outside 0 (off) to 4 (debug)")))?;
    let user = User(user);
    let sink = function.map(|f| -> Sink {
        Box::new(move |level, text| {
            let user = &user;
            let line = CString::new(text.replace('\0', " ")).unwrap_or_default();
            // SAFETY: the caller promises a function that any thread may call with `user` while the context lives.
            unsafe { f(level as i32, line.as_ptr(), user.0) };
        })
    });
    Ok((level, sink))
}

/// A caller's pointer, handed back unread.
struct User(*mut c_void);
// SAFETY: the caller promises that its log function may be called with this pointer from any thread.
unsafe impl Send for User {}
// SAFETY: as above.
unsafe impl Sync for User {}
