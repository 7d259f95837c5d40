//! Nothing unwinds across the boundary, and every call leaves its message behind.

use std::any::Any;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use super::environment::Standard;
use super::stack::{self, Bounds};
use super::status::purlin_status;
use crate::backend::cancellation::Blocked;
use crate::backend::fork;
use crate::backend::reserve::{PROBE, has_small_memory};
use crate::backend::thread_keys::has_keys;
use crate::error::{Error, Result};
use crate::message::{LIMIT, Message};
use crate::thread;

/// Blocks of call numbers handed to threads so far.
static BLOCKS: AtomicU64 = AtomicU64::new(0);

/// Numbers of a block. A thread takes a block at a time: one counter for all calls would pass between the processors.
const BLOCK: u64 = 1 << 16;

thread_local! {
    static THREAD: Thread = const {
        Thread {
            inside: Cell::new(0),
            call: Cell::new(0),
            next: Cell::new(0),
            objects: Cell::new(Objects::Unknown),
            stack: Bounds::unknown(),
            last: UnsafeCell::new([0; LIMIT + 1]),
        }
    };
    static PANIC_PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Cannot be reached any more once the thread's Rust destructors have begun to run.
    static ALIVE: Alive = const { Alive };
}

/// State that the guard keeps for a thread, in one object: the address of each costs a function call in a shared
/// library. It has no destructor: the C library keeps it until the thread has ended.
struct Thread {
    /// Calls that this thread is in: more than one where a callback makes another.
    inside: Cell<u32>,
    /// Number of the innermost of them, unique in the process.
    call: Cell<u64>,
    /// Number of the thread's next call; a multiple of [`BLOCK`] if its block is used up.
    next: Cell<u64>,
    objects: Cell<Objects>,
    stack: Bounds,
    /// The last message, ended by a NUL. It can be read from the destructors of other thread-local objects and from `atexit`
    /// handlers.
    last: UnsafeCell<[u8; LIMIT + 1]>,
}

/// The thread's Rust objects that have destructors.
#[derive(Clone, Copy, PartialEq)]
enum Objects {
    /// No call has asked yet.
    Unknown,
    Alive,
    /// The destructors have run, or run now.
    Gone,
}

impl Thread {
    /// A number for a call, never 0.
    fn number(&self) -> u64 {
        let next = self.next.get();
        let number = if next.is_multiple_of(BLOCK) { BLOCKS.fetch_add(1, Ordering::Relaxed) * BLOCK + 1 } else { next };
        self.next.set(number + 1);
        number
    }

    /// Whether the thread's Rust objects are alive.
    fn has_objects(&self) -> bool {
        if self.objects.get() == Objects::Unknown {
            self.objects.set(if ALIVE.try_with(|_| ()).is_ok() { Objects::Alive } else { Objects::Gone });
        }
        self.objects.get() == Objects::Alive
    }

    fn set_last(&self, message: Option<&Message>) {
        let text = message.map_or("", Message::as_str);
        // SAFETY: this thread alone uses its message, and no reference to it outlives this function.
        let last = unsafe { &mut *self.last.get() };
        last[..text.len()].copy_from_slice(text.as_bytes());
        last[text.len()] = 0;
    }
}

/// Notes that the thread's objects are gone.
struct Alive;

impl Drop for Alive {
    fn drop(&mut self) {
        THREAD.with(|thread| thread.objects.set(Objects::Gone));
    }
}

/// Runs `body`, records its error for this thread, and lets no panic out.
///
/// A thread that ends, or a process that exits, destroys Rust's thread-local objects before the host's last destructors
/// and `atexit` handlers run. A call from there runs on a thread of its own, and so does one from a thread whose stack
/// is short.
pub(super) fn run(body: impl FnOnce() -> Result<()>) -> purlin_status {
    let mut body = Some(body);
    run_once(&mut || body.take().map_or(Ok(()), |body| body()))
}

/// Compiled once, not for each function of the interface.
fn run_once(body: &mut dyn FnMut() -> Result<()>) -> purlin_status {
    install_panic_hook();
    THREAD.with(|thread| run_on(thread, body))
}

fn run_on(thread: &Thread, body: &mut dyn FnMut() -> Result<()>) -> purlin_status {
    // A call inside of a callback is protected already.
    let _cancellation = if thread.inside.get() == 0 { Some(Blocked::enter()) } else { None };
    let first = if thread.stack.is_first_call() { prepare_thread() } else { Ok(()) };
    let outcome = if first.is_err() {
        first
    } else if thread.stack.is_short() {
        elsewhere(thread, body, false)
    } else if !thread.has_objects() {
        elsewhere(thread, body, true)
    } else {
        attempt(thread, body)
    };
    match outcome {
        Ok(()) => {
            thread.set_last(None);
            purlin_status::PURLIN_SUCCESS
        }
        Err((status, message)) => {
            thread.set_last(Some(&message));
            status
        }
    }
}

/// Status and message of a call that failed.
type Failure = (purlin_status, Box<Message>);

/// Checks the memory and the thread-local keys that a thread needs besides its stack: without them, Rust's standard
/// library or the C library ends the process.
#[cold]
fn prepare_thread() -> std::result::Result<(), Failure> {
    if !has_small_memory() {
        let problem = Error::OutOfMemory { what: "thread-local memory", bytes: PROBE, limit: None };
        return Err((purlin_status::from(&problem), Box::new(Message::of(&problem))));
    }
    if !has_keys() {
        let problem = "thread-local memory: the program has used up the keys of pthread_key_create, 3 are needed";
        return Err((purlin_status::PURLIN_ERROR_OUT_OF_MEMORY, Box::new(Message::of(&problem))));
    }
    Ok(())
}

fn attempt(thread: &Thread, body: &mut dyn FnMut() -> Result<()>) -> std::result::Result<(), Failure> {
    let _environment = Standard::enter();
    let outer = thread.call.replace(thread.number());
    thread.inside.set(thread.inside.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(body));
    thread.inside.set(thread.inside.get() - 1);
    thread.call.set(outer);
    match outcome {
        Ok(Ok(())) => Ok(()),
        Ok(Err(e)) => Err((purlin_status::from(&e), Box::new(Message::of(&e)))),
        Err(payload) => {
            let place =
                PANIC_PLACE.try_with(RefCell::take).ok().flatten().map_or_else(String::new, |p| format!(" at {p}"));
            let text = Message::of(&format_args!("internal error: {}{place}", text_of(&*payload)));
            // The payload's own Drop could panic too.
            let _ = catch_unwind(AssertUnwindSafe(move || drop(payload))).map_err(std::mem::forget);
            Err((purlin_status::PURLIN_ERROR_INTERNAL, Box::new(text)))
        }
    }
}

/// [`attempt`] on a new thread, whose thread-local objects are alive and whose stack is ample. Without a new thread it
/// runs here if it `may_run_here`.
fn elsewhere(
    thread: &Thread,
    body: &mut dyn FnMut() -> Result<()>,
    may_run_here: bool,
) -> std::result::Result<(), Failure> {
    struct Call<'a>(*mut (dyn FnMut() -> Result<()> + 'a));
    // SAFETY: the calling thread waits meanwhile, so that one thread at a time uses the call's borrows.
    unsafe impl Send for Call<'_> {}
    impl Call<'_> {
        fn attempt(&mut self) -> std::result::Result<(), Failure> {
            // SAFETY: the body lives until the thread has been joined, and nobody else uses it until then.
            THREAD.with(|thread| attempt(thread, unsafe { &mut *self.0 }))
        }
    }
    let call = Call(body);
    // SAFETY: the lifetime alone is changed; the thread is joined below, before its borrows end.
    let mut call: Call<'static> = unsafe { std::mem::transmute(call) };
    match thread::spawn_with_stack("purlin-late", stack::AMPLE, move || call.attempt()) {
        Ok(thread) => thread.join().unwrap_or_else(|_| {
            Err((purlin_status::PURLIN_ERROR_INTERNAL, Box::new(Message::of(&"internal error: a thread died"))))
        }),
        Err(problem) => {
            let refused = |what| {
                let problem = thread::refusal(what, 1, 1, &problem);
                Err((purlin_status::from(&problem), Box::new(Message::of(&problem))))
            };
            if !may_run_here {
                return refused("a call from a thread with a short stack");
            }
            // Most calls, and all that destroy, need nothing that the thread has lost. The others panic where they reach it.
            match attempt(thread, body) {
                Err((purlin_status::PURLIN_ERROR_INTERNAL, _)) => refused("a call from a thread that ends"),
                outcome => outcome,
            }
        }
    }
}

/// Runs `body`, which cannot fail, as a part of a call: a fork from a signal handler that interrupts it does not wait
/// for the locks that this thread holds.
pub(super) fn inside<R>(body: impl FnOnce() -> R) -> R {
    THREAD.with(|thread| {
        thread.inside.set(thread.inside.get() + 1);
        let result = body();
        thread.inside.set(thread.inside.get() - 1);
        result
    })
}

/// The number of the call that this thread is in, its innermost; `None` outside of calls.
pub(super) fn this_call() -> Option<u64> {
    THREAD.with(|thread| (thread.inside.get() > 0).then(|| thread.call.get()))
}

/// The message of this thread's last call, valid until its next.
pub(super) fn last_message() -> *const std::ffi::c_char {
    THREAD.with(|thread| thread.last.get().cast_const().cast())
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}

/// The default panic hook writes to the host's standard error. Ours records the location of a panic inside a call or
/// on a purlin thread, where [`run`] turns it into a status. It passes all others to the hook that was set before.
fn install_panic_hook() {
    static ONCE: Once = Once::new();
    if ONCE.is_completed() {
        return;
    }
    let install = || {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let own_thread = std::thread::current().name().is_some_and(|n| n.starts_with("purlin-"));
            if THREAD.with(|thread| thread.inside.get()) > 0 || own_thread {
                let place = info.location().map(ToString::to_string);
                let _ = PANIC_PLACE.try_with(|p| p.try_borrow_mut().map(|mut p| *p = place));
            } else {
                previous(info);
            }
        }));
    };
    fork::undisturbed(|| ONCE.call_once(install));
}

/// The thread's last message as text, for tests.
#[cfg(test)]
pub(super) fn last_text() -> String {
    // SAFETY: ended by a NUL, and nobody writes to it meanwhile.
    unsafe { std::ffi::CStr::from_ptr(last_message()) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_status_with_text_and_place() {
        assert_eq!(run(|| panic!("planted {}", 1)), purlin_status::PURLIN_ERROR_INTERNAL);
        let text = last_text();
        assert!(text.starts_with("internal error: planted 1 at src/ffi/guard.rs:"), "{text}");
    }

    #[test]
    fn a_payload_that_panics_when_dropped_does_not_get_out() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        assert_eq!(run(|| std::panic::panic_any(Bomb)), purlin_status::PURLIN_ERROR_INTERNAL);
    }

    #[test]
    fn success_clears_the_message() {
        assert_eq!(run(|| Err(Error::Cancelled)), purlin_status::PURLIN_ERROR_CANCELLED);
        assert_eq!(last_text(), "cancelled");
        assert_eq!(run(|| Ok(())), purlin_status::PURLIN_SUCCESS);
        assert_eq!(last_text(), "");
    }

    #[test]
    fn a_long_message_is_cut() {
        let status = run(|| Err(Error::invalid("path", "y".repeat(300_000))));
        assert_eq!(status, purlin_status::PURLIN_ERROR_INVALID_ARGUMENT);
        let text = last_text();
        assert!(text.len() == LIMIT && text.starts_with("path: yyy") && text.ends_with("yyy..."), "{text}");
    }

    #[test]
    fn a_call_after_the_threads_destructors_runs_on_another_thread() {
        use std::sync::Mutex;
        static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
        static LATE: Mutex<Vec<(purlin_status, String)>> = Mutex::new(Vec::new());
        extern "C" fn late(_: *mut std::ffi::c_void) {
            let note = |status| LATE.lock().unwrap().push((status, last_text()));
            note(run(|| {
                // All of these need thread-local objects, which this thread has lost.
                std::thread::scope(|scope| scope.spawn(|| ()).join()).unwrap();
                SEEN.lock().unwrap().push(std::thread::current().name().unwrap_or_default().to_owned());
                Ok(())
            }));
            note(run(|| Err(Error::invalid("late", "is refused"))));
            note(run(|| panic!("late")));
            note(run(|| Ok(())));
        }
        let mut key = 0;
        // SAFETY: a new key, whose destructor runs at the end of the thread below, after Rust's.
        assert_eq!(unsafe { libc::pthread_key_create(&raw mut key, Some(late)) }, 0);
        std::thread::spawn(move || {
            assert_eq!(run(|| Ok(())), purlin_status::PURLIN_SUCCESS);
            // SAFETY: the key of above and any value but null.
            assert_eq!(unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(1)) }, 0);
        })
        .join()
        .unwrap();
        let late = LATE.lock().unwrap();
        assert_eq!(SEEN.lock().unwrap().as_slice(), ["purlin-late"]);
        assert_eq!(late[0], (purlin_status::PURLIN_SUCCESS, String::new()));
        assert_eq!(late[1], (purlin_status::PURLIN_ERROR_INVALID_ARGUMENT, "late: is refused".to_owned()));
        assert!(late[2].0 == purlin_status::PURLIN_ERROR_INTERNAL && late[2].1.starts_with("internal error: late at "));
        assert_eq!(late[3], late[0]);
    }
}
