//! The items of a loop, and the loops over them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Pieces as _;
use super::adaptors::{Enumerate, Least, Map, Take, Zip};
use super::each::{each, try_each};
use crate::error::Result;

/// Items that threads take by their index.
pub trait Items: Sized + Send + Sync {
    /// The argument of the loop's body.
    type Item;

    /// Number of items: indices are below it.
    fn count(&self) -> usize;

    /// Smallest number of items that a thread takes at once.
    fn least(&self) -> usize {
        1
    }

    /// Item `index`.
    ///
    /// # Safety
    /// `index` is below [`Self::count`] and has not been asked for before.
    unsafe fn item(&self, index: usize) -> Self::Item;

    /// Items of both side by side, as many as the shorter has.
    fn zip<B: IntoItems>(self, other: B) -> Zip<Self, B::Items> {
        Zip(self, other.into_par_iter())
    }

    /// Pairs of an item's index, from 0, and the item.
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate(self)
    }

    /// The first `count` items, or all if there are fewer.
    fn take(self, count: usize) -> Take<Self> {
        Take(self, count)
    }

    /// At least `least` items to a thread at once.
    fn with_min_len(self, least: usize) -> Least<Self> {
        Least(self, least)
    }

    /// The results of `work` for each item.
    fn map<R, F: Fn(Self::Item) -> R + Send + Sync>(self, work: F) -> Map<Self, F> {
        Map(self, work)
    }

    /// Calls `work` for each item.
    fn for_each<F: Fn(Self::Item) + Sync>(self, work: F) {
        // SAFETY: `each` asks once for each index below the count.
        each(self.count(), self.least(), &|i| work(unsafe { self.item(i) }));
    }

    /// Calls `work` for each item until one fails.
    ///
    /// # Errors
    /// The error of the first item that has one.
    fn try_for_each<F: Fn(Self::Item) -> Result<()> + Sync>(self, work: F) -> Result<()> {
        // SAFETY: `try_each` asks once for each index below the count.
        try_each(self.count(), self.least(), &|i| work(unsafe { self.item(i) }))
    }

    /// [`Self::try_for_each`] with a state that a thread keeps from item to item.
    ///
    /// # Errors
    /// The error of `init` or `work` for the first item that has one.
    fn try_for_each_init<S, N, F>(self, init: N, work: F) -> Result<()>
    where
        S: Send,
        N: Fn() -> Result<S> + Sync,
        F: Fn(&mut S, Self::Item) -> Result<()> + Sync,
    {
        let states: Mutex<Vec<S>> = Mutex::new(Vec::new());
        self.try_for_each(|item| {
            let kept = states.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut state = match kept {
                Some(state) => state,
                None => init()?,
            };
            work(&mut state, item)?;
            states.lock().unwrap_or_else(PoisonError::into_inner).push(state);
            Ok(())
        })
    }

    /// Whether `test` is true for all items.
    fn all<F: Fn(Self::Item) -> bool + Sync>(self, test: F) -> bool {
        let holds = AtomicBool::new(true);
        self.for_each(|item| {
            if holds.load(Ordering::Relaxed) && !test(item) {
                holds.store(false, Ordering::Relaxed);
            }
        });
        holds.into_inner()
    }

    /// The items, in their order.
    fn collect<C: FromIterator<Self::Item>>(self) -> C
    where
        Self::Item: Send,
    {
        let mut found: Vec<Option<Self::Item>> = std::iter::repeat_with(|| None).take(self.count()).collect();
        found.par_iter_mut().zip(self).for_each(|(slot, item)| *slot = Some(item));
        found.into_iter().flatten().collect()
    }

    /// The sum of the items, in their order.
    fn sum<S: std::iter::Sum<Self::Item>>(self) -> S
    where
        Self::Item: Send,
    {
        self.collect::<Vec<_>>().into_iter().sum()
    }
}

/// Types that convert to [`Items`].
pub trait IntoItems {
    /// The items: shared or exclusive references, pieces, or numbers of a range.
    type Items: Items;

    /// All items of the range, slice or vector, for a parallel loop in any order.
    fn into_par_iter(self) -> Self::Items;
}

impl<I: Items> IntoItems for I {
    type Items = I;

    fn into_par_iter(self) -> I {
        self
    }
}
