//! Calls that another thread cancels.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::thread::spawn_scoped;

/// Calls `cancel` from another thread until `call` ends by it, and then makes the same call without that.
pub fn is_cancelled<R: Debug>(cancel: &(dyn Fn() + Sync), name: &str, mut call: impl FnMut() -> Result<R>) {
    let has_ended = AtomicBool::new(false);
    let was_cancelled = std::thread::scope(|scope| {
        let cancels = || {
            while !has_ended.load(Ordering::Relaxed) {
                cancel();
            }
        };
        let Ok(_started) = spawn_scoped(scope, "cancels", (1, 1), cancels) else { panic!("no thread for {name}") };
        let was_cancelled = (0..2000).any(|_| matches!(call(), Err(Error::Cancelled)));
        has_ended.store(true, Ordering::Relaxed);
        was_cancelled
    });
    assert!(was_cancelled, "{name}");
    let later = call();
    assert!(later.is_ok(), "{name}, later: {later:?}");
}
