//! A program: calls read from bytes, and the checks that hold after each and at the end.

use std::ffi::CStr;
use std::fmt;

use purlin::ffi::{self, purlin_status};

use crate::base;
use crate::families;
use crate::fdk;
use crate::rsvd;
use crate::source::Source;
use crate::spectra;
use crate::tt;
use crate::world::World;

/// Counts of programs, calls and successes.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    pub programs: u64,
    pub calls: u64,
    pub successes: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} programs, {} calls, {} succeeded", self.programs, self.calls, self.successes)
    }
}

/// A call of the C interface whose arguments keep a caller's promises.
macro_rules! c {
    ($call:expr) => {{
        #[allow(unused_unsafe, reason = "some functions take handles alone and are safe")]
        // SAFETY: every pointer handed over is NULL or live and of the size stated.
        let status = unsafe { $call };
        $crate::program::check(status);
        status
    }};
}
pub(crate) use c;

/// Asserts that a call reported no internal error, and left a message of one line exactly if it failed.
pub fn check(status: purlin_status) {
    // SAFETY: never NULL, valid until the next call.
    let message = unsafe { CStr::from_ptr(ffi::purlin_last_error_message()) }.to_string_lossy();
    assert!(status != purlin_status::PURLIN_ERROR_INTERNAL, "{message}");
    assert_eq!(message.is_empty(), status == purlin_status::PURLIN_SUCCESS, "{status:?}: {message}");
    assert!(!message.contains(['\n', '\r']), "{message:?}");
}

/// Runs the program encoded by `bytes`.
pub fn run(bytes: &[u8], tally: &mut Tally) {
    let mut source = Source::new(bytes);
    let mut world = World::new();
    while !source.is_empty() {
        let status = match source.below(10) {
            0 => families::call(&mut source, &mut world),
            1 => fdk::call(&mut source, &mut world),
            2 | 3 => rsvd::call(&mut source, &mut world),
            8 | 9 => spectra::call(&mut source, &mut world),
            4 | 5 => tt::call(&mut source, &mut world),
            _ => base::call(&mut source, &mut world),
        };
        tally.calls += 1;
        tally.successes += u64::from(status == purlin_status::PURLIN_SUCCESS);
        assert_eq!(ffi::purlin_live_handles(), world.live(), "after a call that gave {status:?}");
    }
    world.end();
    tally.programs += 1;
    assert_eq!(ffi::purlin_live_handles(), 0, "a handle is left");
}
