//! Nothing unwinds across the boundary, and every call leaves its message behind.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::environment::Standard;
use super::status::purlin_status;
use crate::error::Result;

thread_local! {
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
    static INSIDE: Cell<u32> = const { Cell::new(0) };
    static PANIC_PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `body`, records its error for this thread, and lets no panic out.
pub(super) fn run(body: impl FnOnce() -> Result<()>) -> purlin_status {
    let mut body = Some(body);
    run_once(&mut || body.take().map_or(Ok(()), |body| body()))
}

/// Compiled once, not for each function of the interface.
fn run_once(body: &mut dyn FnMut() -> Result<()>) -> purlin_status {
    silence_own_panics();
    let _environment = Standard::enter();
    INSIDE.set(INSIDE.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(body));
    INSIDE.set(INSIDE.get() - 1);
    match outcome {
        Ok(Ok(())) => {
            set_last(None);
            purlin_status::PURLIN_SUCCESS
        }
        Ok(Err(e)) => {
            set_last(Some(e.to_string()));
            purlin_status::from(&e)
        }
        Err(payload) => {
            let place = PANIC_PLACE.take().map_or_else(String::new, |p| format!(" at {p}"));
            set_last(Some(format!("internal error: {}{place}", text_of(&*payload))));
            // The payload's own Drop could panic too.
            let _ = catch_unwind(AssertUnwindSafe(move || drop(payload))).map_err(std::mem::forget);
            purlin_status::PURLIN_ERROR_INTERNAL
        }
    }
}

/// The message of this thread's last call, valid until its next.
pub(super) fn last_message() -> *const std::ffi::c_char {
    LAST.with_borrow(|last| last.as_deref().unwrap_or(c"").as_ptr())
}

fn set_last(text: Option<String>) {
    // A message with a NUL inside ends there; it still names the argument.
    let text = text.map(|t| {
        let line = t.replace(['\n', '\r'], " ");
        let end = line.find('\0').unwrap_or(line.len());
        CString::new(&line[..end]).unwrap_or_default()
    });
    LAST.with_borrow_mut(|last| *last = text);
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}

/// The default panic hook writes to the host's standard error. Ours keeps the place of a panic that happens inside a
/// call or on a purlin thread, where [`run`] turns it into a status; all others go where they went before.
fn silence_own_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let own_thread = std::thread::current().name().is_some_and(|n| n.starts_with("purlin-"));
            if INSIDE.try_with(Cell::get).unwrap_or(0) > 0 || own_thread {
                let place = info.location().map(ToString::to_string);
                let _ = PANIC_PLACE.try_with(|p| p.try_borrow_mut().map(|mut p| *p = place));
            } else {
                previous(info);
            }
        }));
    });
}

/// The thread's last message as text, for tests.
#[cfg(test)]
pub(super) fn last_text() -> String {
    LAST.with_borrow(|last| last.as_ref().map_or_else(String::new, |c: &CString| c.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

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
}
