//! Ownership of memory: its charge to a budget, or the function that releases it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::shape::to_u64;

/// A limit in bytes, and the bytes charged against it. 0 means no limit.
#[derive(Debug, Default)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Budget {
    /// A budget of `limit` bytes, 0 for no limit.
    pub fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0) })
    }

    /// The limit, if there is one.
    #[inline]
    pub fn limit(&self) -> Option<u64> {
        (self.limit > 0).then_some(self.limit)
    }

    /// Bytes that are charged now, host or device as the budget's owner says.
    #[inline]
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Peak of the charged bytes since [`Budget::restart_peak`].
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Begins a new measurement of the peak, and returns the bytes charged now.
    pub fn restart_peak(&self) -> u64 {
        let used = self.used();
        self.peak.store(used, Ordering::Relaxed);
        used
    }

    /// Bytes that may still be charged; `u64::MAX` without a limit.
    #[inline]
    pub fn available(&self) -> u64 {
        self.limit().map_or(u64::MAX, |l| l.saturating_sub(self.used()))
    }

    /// Charges `bytes` until the charge is dropped; `None` if the limit forbids it.
    pub fn charge(self: &Arc<Self>, bytes: u64) -> Option<Charge> {
        self.take(bytes).then(|| Charge { budget: Arc::clone(self), bytes })
    }

    /// Adds `bytes` to the charged bytes; `false` if the limit forbids it.
    fn take(&self, bytes: u64) -> bool {
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                let total = used.checked_add(bytes)?;
                (self.limit == 0 || total <= self.limit).then_some(total)
            })
            .inspect(|before| {
                self.peak.fetch_max(before.saturating_add(bytes), Ordering::Relaxed);
            })
            .is_ok()
    }

    /// Charges host memory until the charge is dropped.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] naming `what` if the limit forbids it.
    pub fn charge_host(self: &Arc<Self>, what: &'static str, bytes: usize) -> Result<Charge> {
        let bytes = to_u64(bytes);
        self.charge(bytes).ok_or_else(|| Error::OutOfMemory { what, bytes, limit: self.limit() })
    }
}

/// Bytes charged to a [`Budget`], released on drop.
#[derive(Debug)]
pub struct Charge {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Charge {
    /// A charge of 0 bytes.
    pub fn nothing(budget: &Arc<Budget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: 0 }
    }

    /// A charge of 0 bytes to the same budget, for another owner.
    pub fn another(&self) -> Self {
        Self::nothing(&self.budget)
    }

    /// The bytes that are charged.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Charges `bytes` more of host memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] naming `what` if the limit forbids it.
    pub fn add_host(&mut self, what: &'static str, bytes: usize) -> Result<()> {
        let more = to_u64(bytes);
        if !self.budget.take(more) {
            return Err(Error::OutOfMemory { what, bytes: more, limit: self.budget.limit() });
        }
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Function that releases foreign memory when its last user has ended.
pub type Release = Box<dyn FnOnce() + Send + Sync>;
