//! Calls that run on a thread of their own, since the calling thread's stack is short or its thread-local objects are gone:
//! the start of that thread fails.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use purlin::fault::{self, Kind};
use purlin::ffi::{self, purlin_status};

use crate::alone;
use crate::cases::{self, Case};
use crate::fixture::{self, Fixture};

/// A reference for another thread, which the thread that owns it waits for.
struct Shared<'a, T>(&'a T);

// SAFETY: one thread at a time uses it, and handles are valid on any thread.
unsafe impl<T> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    fn get(&self) -> &'a T {
        self.0
    }
}

/// Makes a call with each start of a thread failing, then once more with none. Returns the statuses.
fn attempt(call: &cases::Call) -> [purlin_status; 2] {
    fault::arm(0, Kind::Thread as u32, true);
    let refused = call();
    fault::disarm();
    [refused, call()]
}

#[test]
fn a_call_with_a_short_stack_is_refused_without_its_thread() {
    let _alone = alone();
    // Cases whose first call is the one under test.
    let plain = ["purlin_tensor_create", "purlin_matrix_create", "purlin_matrix_copy_csr", "purlin_tensor_copy"];
    let cases: Vec<Case> = cases::all().into_iter().filter(|case| plain.contains(&case.name)).collect();
    assert!(cases.len() == plain.len() || !cases::are_complete());
    for case in cases {
        let objects = Fixture::on_cpu(7);
        let call = (case.prepare)(&objects);
        let shared = Shared(&call);
        std::thread::scope(|scope| {
            let work = move || {
                let call = shared.get();
                fault::arm(0, Kind::Thread as u32, false);
                let status = call();
                assert_eq!(fault::disarm(), 1, "{}: no thread was started", case.name);
                let text = fixture::message();
                assert_eq!(status, purlin_status::PURLIN_ERROR_OUT_OF_MEMORY, "{}: {text}", case.name);
                let refusal = "a call from a thread with a short stack: thread 1 of 1 could not be started: ";
                assert!(text.starts_with(refusal), "{}: {text}", case.name);
                assert_eq!(call(), purlin_status::PURLIN_SUCCESS, "{}: {}", case.name, fixture::message());
            };
            // Even without optimization this file needs little of it.
            Builder::new().stack_size(128 << 10).spawn_scoped(scope, work).unwrap();
        });
    }
    assert_eq!(ffi::purlin_live_handles(), 0);
}

/// A case with its call.
struct Late {
    case: Case,
    call: cases::Call,
}

static FINISHED: AtomicUsize = AtomicUsize::new(0);
static PROBLEMS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The destructor of a thread-specific value, which runs after those of Rust's thread-local objects.
extern "C" fn late(value: *mut std::ffi::c_void) {
    // SAFETY: the address of a `Late` that outlives the thread.
    let late = unsafe { &*value.cast_const().cast::<Late>() };
    let name = late.case.name;
    let [refused, after] = attempt(&late.call);
    let text = fixture::message();
    let is_allowed = [purlin_status::PURLIN_SUCCESS, purlin_status::PURLIN_ERROR_OUT_OF_MEMORY].contains(&refused);
    // A panic may not leave this function.
    if !is_allowed || after != purlin_status::PURLIN_SUCCESS {
        let problem = format!("{name}: {refused:?}, then {after:?} {text}");
        PROBLEMS.lock().unwrap_or_else(PoisonError::into_inner).push(problem);
    }
    FINISHED.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn a_late_call_is_made_or_refused_without_its_thread() {
    let _alone = alone();
    let mut key = 0;
    // SAFETY: a new key; its destructor is a function of this program.
    assert_eq!(unsafe { libc::pthread_key_create(&raw mut key, Some(late)) }, 0);
    let all = cases::all();
    let count = all.len();
    for case in all {
        let objects = Fixture::on_cpu(7);
        let call = (case.prepare)(&objects);
        let given = Late { case, call };
        let shared = Shared(&given);
        std::thread::scope(|scope| {
            let work = move || {
                let given = shared.get();
                // This call creates Rust's thread-local data, which are destroyed before the second call.
                assert_eq!((given.call)(), purlin_status::PURLIN_SUCCESS, "{}", given.case.name);
                // SAFETY: the key of above, and a value that outlives the thread.
                assert_eq!(unsafe { libc::pthread_setspecific(key, std::ptr::from_ref(given).cast()) }, 0);
            };
            let thread = Builder::new().spawn_scoped(scope, work).unwrap();
            // The end of a scope does not wait for destructors of thread-specific values; `join` does.
            thread.join().unwrap();
        });
    }
    assert_eq!(FINISHED.load(Ordering::SeqCst), count);
    assert_eq!(PROBLEMS.lock().unwrap().as_slice(), [""; 0]);
    // SAFETY: no thread uses the key any more.
    assert_eq!(unsafe { libc::pthread_key_delete(key) }, 0);
    assert_eq!(ffi::purlin_live_handles(), 0);
}
