//! Matrices that are read in blocks.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use crate::blocks::source::Source;
use crate::error::{Error, Result};
use crate::shape::Order;

/// A source that several objects share; only one run at a time can read it.
#[derive(Clone)]
pub struct SharedSource(Arc<Mutex<Box<dyn Source>>>);

impl SharedSource {
    /// Wraps a source so that it can be shared.
    pub fn new(source: Box<dyn Source>) -> Self {
        Self(Arc::new(Mutex::new(source)))
    }

    /// Locks the source for one run, without waiting for another run.
    ///
    /// # Errors
    /// [`Error::Busy`] while another run reads it.
    pub fn lock(&self, argument: &str) -> Result<MutexGuard<'_, Box<dyn Source>>> {
        lock(argument, &self.0)
    }
}

/// Locks a mutex without waiting.
pub(super) fn lock<'a, T: ?Sized>(argument: &str, mutex: &'a Mutex<T>) -> Result<MutexGuard<'a, T>> {
    mutex.try_lock().map_err(|e| match e {
        TryLockError::WouldBlock => Error::Busy { argument: argument.to_owned() },
        TryLockError::Poisoned(_) => Error::Internal(format!("{argument}: an earlier call failed inside of it")),
    })
}

/// A matrix whose entries come from a source.
pub struct Streamed {
    pub(super) source: SharedSource,
    pub(super) order: Order,
    pub(super) bytes: usize,
}

impl Streamed {
    /// Whether a column (`ColumnMajor`, the source's axes are [rows, columns]) or a row (`RowMajor`, [columns, rows]) is
    /// contiguous.
    #[inline]
    pub fn order(&self) -> Order {
        self.order
    }

    /// Locks the source for one run.
    ///
    /// # Errors
    /// [`Error::Busy`] while another run reads it.
    pub fn lock(&self, argument: &str) -> Result<MutexGuard<'_, Box<dyn Source>>> {
        self.source.lock(argument)
    }

    /// Bytes of all entries, whether they are in memory or not.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
