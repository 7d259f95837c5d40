//! Runs reader, worker and writer at the same time, on buffers that are reused.
//!
//! The worker runs on the calling thread (and from there on the context's pool or a GPU). Reader and writer have one thread
//! each. Buffers are passed through bounded queues. The planned memory therefore suffices, and the other stages wait for a
//! slow one.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::team;

/// Working time of each stage, without waiting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// In the thread that reads.
    pub read: Duration,
    /// On the calling thread, between reading and writing.
    pub work: Duration,
    /// In the thread that writes.
    pub write: Duration,
}

fn timed<R>(total: &mut Duration, work: impl FnOnce() -> Result<R>) -> Result<R> {
    let start = Instant::now();
    let result = work();
    *total += start.elapsed();
    result
}

/// Calls `work` for items 0 to `items` - 1. `read` reads them ahead into `buffers`, on a separate thread.
///
/// # Errors
/// The first error of either stage, after which the other stage stops at its next item; as [`team::beside`].
pub fn read_ahead<B: Send>(
    items: usize,
    buffers: Vec<B>,
    mut read: impl FnMut(usize, &mut B) -> Result<()> + Send,
    mut work: impl FnMut(usize, &mut B) -> Result<()>,
) -> Result<StageTimes> {
    let mut times = StageTimes::default();
    if items == 0 {
        return Ok(times);
    }
    let (full_in, full_out) = sync_channel::<Result<(usize, B)>>(buffers.len());
    let (free_in, free_out) = sync_channel::<B>(buffers.len());
    for buffer in buffers {
        // The queue has capacity for all buffers, so this cannot block.
        let _ = free_in.send(buffer);
    }
    let reads = move || {
        let mut busy = Duration::ZERO;
        for item in 0..items {
            // The worker has ended, so the reader ends too.
            let Ok(mut buffer) = free_out.recv() else { break };
            let outcome = timed(&mut busy, || read(item, &mut buffer)).map(|()| (item, buffer));
            let failed = outcome.is_err();
            if full_in.send(outcome).is_err() || failed {
                break;
            }
        }
        busy
    };
    // It drops its ends of the queues when it returns, so that the reader ends.
    let works = || drain(full_out, free_in, &mut times.work, &mut work);
    let (read, outcome) = team::beside("purlin-read", reads, works)?;
    times.read = read;
    outcome.map(|()| times)
}

fn drain<B>(
    full: Receiver<Result<(usize, B)>>,
    free: SyncSender<B>,
    busy: &mut Duration,
    work: &mut impl FnMut(usize, &mut B) -> Result<()>,
) -> Result<()> {
    while let Ok(next) = full.recv() {
        let (item, mut buffer) = next?;
        timed(busy, || work(item, &mut buffer))?;
        // Sending fails if the reader has ended, which is no error.
        let _ = free.send(buffer);
    }
    Ok(())
}

/// Writes results on a separate thread while `body` computes the next ones.
///
/// `body` gets a [`Writer`], from which it takes a buffer, fills it, and submits it. Returns the result of `body` when
/// everything is written, with the time of writing.
///
/// # Errors
/// The error of `write`, else that of `body`; as [`team::beside`].
pub fn write_behind<B: Send, R>(
    buffers: Vec<B>,
    mut write: impl FnMut(usize, &mut B) -> Result<()> + Send,
    body: impl FnOnce(&Writer<B>) -> Result<R>,
) -> Result<(R, Duration)> {
    let (full_in, full_out) = sync_channel::<(usize, B)>(buffers.len());
    let (free_in, free_out) = sync_channel::<Result<B>>(buffers.len() + 1);
    for buffer in buffers {
        let _ = free_in.send(Ok(buffer));
    }
    let writes = move || {
        let mut busy = Duration::ZERO;
        while let Ok((item, mut buffer)) = full_out.recv() {
            let outcome = timed(&mut busy, || write(item, &mut buffer)).map(|()| buffer);
            let failed = outcome.as_ref().err().cloned();
            let _ = free_in.send(outcome);
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(busy)
    };
    // The writer is dropped behind the body, so that the writing thread ends.
    let computes = || body(&Writer { full: full_in, free: free_out });
    // If both fail, the writer's error is reported, because it causes the body's.
    match team::beside("purlin-write", writes, computes)? {
        (Err(error), _) => Err(error),
        (_, Err(error)) => Err(error),
        (Ok(busy), Ok(result)) => Ok((result, busy)),
    }
}

/// The interface of [`write_behind`] for its body.
pub struct Writer<B> {
    full: SyncSender<(usize, B)>,
    free: Receiver<Result<B>>,
}

impl<B> Writer<B> {
    /// A free buffer. Waits if all are being written.
    ///
    /// # Errors
    /// The error of a write that failed; [`Error::Internal`] if the writing thread has ended.
    pub fn buffer(&self) -> Result<B> {
        self.free.recv().map_err(|_| Error::Internal("the writing thread is gone".into()))?
    }

    /// Passes a filled buffer to the writer.
    ///
    /// # Errors
    /// [`Error::Internal`] if the writing thread has ended.
    pub fn submit(&self, item: usize, buffer: B) -> Result<()> {
        self.full.send((item, buffer)).map_err(|_| Error::Internal("the writing thread is gone".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn items_come_in_order_through_few_buffers() {
        let seen = AtomicUsize::new(0);
        let times = read_ahead(
            100,
            vec![0usize; 2],
            |item, buffer| {
                *buffer = item * item;
                Ok(())
            },
            |item, buffer| {
                assert_eq!(*buffer, item * item);
                assert_eq!(seen.fetch_add(1, Ordering::Relaxed), item);
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(seen.into_inner(), 100);
        assert!(times.read + times.work > Duration::ZERO);
    }

    #[test]
    fn an_error_of_either_stage_ends_the_run_and_is_reported() {
        for fail_in_read in [true, false] {
            let error = || Error::Internal("planted".into());
            let reads = AtomicUsize::new(0);
            let outcome = read_ahead(
                1000,
                vec![(); 3],
                |item, ()| {
                    reads.fetch_add(1, Ordering::Relaxed);
                    if fail_in_read && item == 5 { Err(error()) } else { Ok(()) }
                },
                |item, ()| if !fail_in_read && item == 5 { Err(error()) } else { Ok(()) },
            );
            assert_eq!(outcome, Err(error()));
            assert!(reads.into_inner() < 20);
        }
    }

    #[test]
    fn everything_is_written_before_the_call_returns() {
        let written = std::sync::Mutex::new(Vec::new());
        let (result, _) = write_behind(
            vec![0usize; 2],
            |item, buffer| {
                written.lock().unwrap().push((item, *buffer));
                Ok(())
            },
            |writer| {
                for item in 0..20 {
                    let previous = writer.buffer()?;
                    assert!(previous == 0 || previous >= 100);
                    writer.submit(item, item + 100)?;
                }
                Ok("done")
            },
        )
        .unwrap();
        assert_eq!(result, "done");
        assert_eq!(*written.lock().unwrap(), (0..20).map(|i| (i, i + 100)).collect::<Vec<_>>());
    }

    #[test]
    fn a_writers_error_reaches_the_caller_and_not_its_echo() {
        let error = || Error::Io { path: "x".into(), problem: "planted".into() };
        let outcome = write_behind(
            vec![(); 2],
            |item, ()| if item == 3 { Err(error()) } else { Ok(()) },
            |writer| {
                for item in 0..100 {
                    writer.buffer()?;
                    writer.submit(item, ())?;
                }
                Ok(())
            },
        );
        assert_eq!(outcome.map(|_| ()), Err(error()));
        let outcome = write_behind(vec![()], |_, ()| Ok(()), |_| Err::<(), _>(Error::Cancelled));
        assert_eq!(outcome.map(|_| ()), Err(Error::Cancelled));
    }
}
