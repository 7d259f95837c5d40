//! Fallible buffers for everything whose size follows the data. `vec!`, `collect` and `clone` of data would abort the
//! host program when memory runs out.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::backend::budget::{Budget, Charge};
use crate::error::{Error, Result};
use crate::refusal::check_reserve;
use crate::shape::to_u64;

pub use crate::refusal::{fault_point, out_of_memory, refusable};

thread_local! {
    /// Bytes that the buffers of a [`limited`] function may still use, and the limit that its messages name.
    static LEFT: Cell<Option<(u64, Option<u64>)>> = const { Cell::new(None) };
}

/// Runs `make`. The buffers that this module allocates for it on this thread must fit the available bytes of `budget`: the
/// first that does not fit is refused before it is allocated. Also returns a charge for their bytes, which the caller must
/// keep as long as the buffers.
///
/// # Errors
/// Errors of `make`; [`Error::OutOfMemory`] with the limit.
pub fn limited<R>(budget: &Arc<Budget>, make: impl FnOnce() -> Result<R>) -> Result<(R, Charge)> {
    /// Ends the limit also where `make` unwinds.
    struct Before(Option<(u64, Option<u64>)>);
    impl Drop for Before {
        fn drop(&mut self) {
            LEFT.set(self.0);
        }
    }
    let available = budget.available();
    let before = Before(LEFT.replace(Some((available, budget.limit()))));
    let made = make()?;
    let left = LEFT.get().map_or(available, |l| l.0);
    drop(before);
    let bytes = usize::try_from(available.saturating_sub(left)).unwrap_or(usize::MAX);
    Ok((made, budget.charge_host("buffers", bytes)?))
}

/// Subtracts the bytes of a buffer from the remaining bytes of a [`limited`] function.
#[inline]
fn take(what: &'static str, bytes: usize) -> Result<()> {
    if let Some((left, limit)) = LEFT.get() {
        let bytes = to_u64(bytes);
        let left = left.checked_sub(bytes).ok_or(Error::OutOfMemory { what, bytes, limit })?;
        LEFT.set(Some((left, limit)));
    }
    Ok(())
}

/// Whatever refuses a buffer before the allocator is asked.
#[cfg_attr(feature = "fault-injection", track_caller)]
#[inline(never)]
fn check(what: &'static str, bytes: usize) -> Result<()> {
    take(what, bytes)?;
    fault_point(what, bytes)?;
    check_reserve(what, bytes)
}

/// An empty vector with capacity for `len` elements.
///
/// # Errors
/// [`Error::OutOfMemory`], also beyond the limit of [`limited`].
#[cfg_attr(feature = "fault-injection", track_caller)]
pub fn with_capacity<T>(what: &'static str, len: usize) -> Result<Vec<T>> {
    let bytes = len.saturating_mul(size_of::<T>());
    check(what, bytes)?;
    let mut v = Vec::new();
    refusable(|| v.try_reserve_exact(len)).map_err(|_| out_of_memory(what, bytes))?;
    Ok(v)
}

/// A vector of `len` copies of `value`.
///
/// # Errors
/// As [`with_capacity`].
#[cfg_attr(feature = "fault-injection", track_caller)]
pub fn filled<T: Clone>(what: &'static str, len: usize, value: T) -> Result<Vec<T>> {
    let mut v = with_capacity(what, len)?;
    v.resize(len, value);
    Ok(v)
}

/// A copy of `source`.
///
/// # Errors
/// As [`with_capacity`].
#[cfg_attr(feature = "fault-injection", track_caller)]
pub fn copied<T: Copy>(what: &'static str, source: &[T]) -> Result<Vec<T>> {
    let mut v = with_capacity(what, source.len())?;
    v.extend_from_slice(source);
    Ok(v)
}

/// The items of an iterator of known length.
///
/// # Errors
/// As [`with_capacity`].
#[cfg_attr(feature = "fault-injection", track_caller)]
pub fn collected<T>(what: &'static str, source: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut v = with_capacity(what, source.len())?;
    v.extend(source);
    Ok(v)
}

/// Appends to a list whose length is not known beforehand.
///
/// # Errors
/// [`Error::OutOfMemory`].
#[cfg_attr(feature = "fault-injection", track_caller)]
pub fn push<T>(what: &'static str, list: &mut Vec<T>, value: T) -> Result<()> {
    if list.len() == list.capacity() {
        let bytes = list.len().saturating_add(1).saturating_mul(size_of::<T>());
        fault_point(what, bytes)?;
        // Grows by more than one, so that appending stays cheap.
        refusable(|| list.try_reserve(1)).map_err(|_| out_of_memory(what, bytes))?;
    }
    list.push(value);
    Ok(())
}

/// A list whose length is not known beforehand, charged to a budget as it grows.
pub struct Charged<T> {
    list: Vec<T>,
    what: &'static str,
    charge: Charge,
}

impl<T: Copy> Charged<T> {
    /// An empty list: nothing is allocated, and nothing charged to `budget`, before the first element.
    pub fn new(what: &'static str, budget: &Arc<Budget>) -> Self {
        Self { list: Vec::new(), what, charge: Charge::nothing(budget) }
    }

    /// Appends `items`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[cfg_attr(feature = "fault-injection", track_caller)]
    pub fn extend(&mut self, items: &[T]) -> Result<()> {
        let (len, capacity) = (self.list.len(), self.list.capacity());
        let needed = len.saturating_add(items.len());
        if needed > capacity {
            // Twice as long, so that appending stays cheap; as long as needed where the budget is too small for that.
            let size = |count: usize| count.saturating_mul(size_of::<T>());
            let wide = needed.max(2 * capacity).max(8);
            let exact = match self.charge.add_host(self.what, size(wide - capacity)) {
                Ok(()) => wide,
                Err(_) => {
                    self.charge.add_host(self.what, size(needed - capacity))?;
                    needed
                }
            };
            fault_point(self.what, size(exact))?;
            check_reserve(self.what, size(exact))?;
            refusable(|| self.list.try_reserve_exact(exact - len))
                .map_err(|_| out_of_memory(self.what, size(exact)))?;
        }
        self.list.extend_from_slice(items);
        Ok(())
    }

    /// Appends `item`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    #[cfg_attr(feature = "fault-injection", track_caller)]
    pub fn push(&mut self, item: T) -> Result<()> {
        self.extend(&[item])
    }

    /// Drops the elements from `len` on. The memory stays allocated and charged.
    pub fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
    }

    /// Leaves an empty list behind.
    pub fn take(&mut self) -> Self {
        let empty = Self { list: Vec::new(), what: self.what, charge: self.charge.another() };
        std::mem::replace(self, empty)
    }
}

impl<T> Deref for Charged<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}

impl<T> DerefMut for Charged<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_size_is_an_error() {
        let e = filled::<u64>("test", usize::MAX / 16, 1).unwrap_err();
        assert!(matches!(e, Error::OutOfMemory { what: "test", .. }));
    }

    #[test]
    fn filled_is_full() {
        assert_eq!(filled("test", 3, 7u8).unwrap(), [7, 7, 7]);
        assert!(filled("test", 0, 7u8).unwrap().is_empty());
    }

    #[test]
    fn a_charged_list_grows_within_its_budget() {
        let budget = Budget::new(1000);
        let mut list = Charged::new("test", &budget);
        for k in 0..125u64 {
            list.push(k).unwrap();
            assert!(budget.used() >= 8 * (k + 1) && budget.used() <= 1000);
        }
        assert_eq!(list.push(0), Err(Error::OutOfMemory { what: "test", bytes: 8, limit: Some(1000) }));
        assert!(list.iter().copied().eq(0..125));
        let taken = list.take();
        assert_eq!((list.len(), budget.used()), (0, 1000));
        drop(taken);
        assert_eq!(budget.used(), 0);
        list.extend(&[1, 2, 3]).unwrap();
        assert_eq!(*list, [1, 2, 3]);
    }

    #[test]
    fn buffers_of_a_limited_function_fit_the_budget() {
        let budget = Budget::new(100);
        let (made, charge) = limited(&budget, || Ok((filled("a", 5, 1u64)?, filled("b", 5, 1u64)?))).unwrap();
        assert_eq!((made.0.len(), budget.used()), (5, 80));
        let e = limited(&budget, || filled("c", 3, 1u64)).map(|_| ()).unwrap_err();
        assert_eq!(e, Error::OutOfMemory { what: "c", bytes: 24, limit: Some(100) });
        drop(charge);
        assert_eq!(budget.used(), 0);
        assert!(filled("d", 1000, 1u64).is_ok());
    }
}
