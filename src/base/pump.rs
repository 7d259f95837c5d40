//! Calls a function on a thread that waits while others work: reports of progress within long work.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Counts the pieces of work that have not ended, for the thread that waits for them. It allocates nothing.
#[derive(Debug, Default)]
pub struct Running {
    left: Mutex<usize>,
    ended: Condvar,
}

/// One piece of work. It ends when this is dropped, also by a panic.
#[derive(Debug)]
pub struct Piece<'r>(&'r Running);

impl Running {
    /// Counts a piece of work that begins.
    pub fn begin(&self) -> Piece<'_> {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Piece(self)
    }

    /// Waits until all pieces have ended. Calls `poll` each time after `interval`, which is asked anew each time.
    pub fn wait(&self, interval: &mut dyn FnMut() -> Duration, poll: &mut dyn FnMut()) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        while *left > 0 {
            let waited = self.ended.wait_timeout(left, interval()).unwrap_or_else(PoisonError::into_inner);
            left = waited.0;
            if waited.1.timed_out() && *left > 0 {
                // Not under the lock: the caller's function may take long, and the work ends meanwhile.
                drop(left);
                poll();
                left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        *self.0.left.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(1);

    #[test]
    fn nothing_is_waited_for_without_work() {
        let running = Running::default();
        drop(running.begin());
        running.wait(&mut || SHORT, &mut || panic!("polled without work"));
    }

    #[test]
    fn the_wait_polls_until_the_last_piece_has_ended() {
        let running = Running::default();
        let (mut first, mut second) = (Some(running.begin()), Some(running.begin()));
        let mut polls = 0;
        running.wait(&mut || SHORT, &mut || {
            polls += 1;
            match polls {
                3 => drop(first.take()),
                5 => drop(second.take()),
                _ => {}
            }
        });
        assert_eq!(polls, 5);
    }

    #[test]
    fn work_that_panics_has_ended() {
        let running = Running::default();
        let piece = running.begin();
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _piece = piece;
            panic!("on purpose");
        }));
        assert!(failed.is_err());
        running.wait(&mut || SHORT, &mut || panic!("the work has ended"));
    }
}
