//! Parallel loops over pieces of data, with rayon's names and meaning, on the threads of [`super::Pool::run`] and
//! [`super::Pool::run_here`].
//!
//! Rayon compiles its scheduling into every loop. Most loops of this library exist in four number types, and with rayon's
//! own iterators a quarter of the compiled code was scheduling. Here a loop compiles to its body and one call.
//!
//! `mod.rs` and `adaptors.rs` import each other: the methods of the trait return the adaptors, which implement the
//! trait.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::flags::LostDigits;
use crate::error::Result;

mod adaptors;
pub(super) mod here;
mod sources;
#[cfg(test)]
mod tests;

use adaptors::{Enumerate, Least, Map, Take, Zip};
pub use sources::Pieces;

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

    /// Calls `work` for each item until one fails; the error is that of the first item that has one.
    fn try_for_each<F: Fn(Self::Item) -> Result<()> + Sync>(self, work: F) -> Result<()> {
        // SAFETY: `try_each` asks once for each index below the count.
        try_each(self.count(), self.least(), &|i| work(unsafe { self.item(i) }))
    }

    /// [`Self::try_for_each`] with a state that a thread keeps from item to item.
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

/// Runs both functions, possibly at the same time.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let (mut a, mut b) = (Work::new(a), Work::new(b));
    both(&mut || a.run(), &mut || b.run());
    (a.result(), b.result())
}

/// Work that is called through `dyn FnMut` and leaves its result here.
pub(super) enum Work<F, R> {
    Waiting(F),
    Running,
    Done(R),
}

impl<R, F: FnOnce() -> R> Work<F, R> {
    pub(super) fn new(work: F) -> Self {
        Self::Waiting(work)
    }

    pub(super) fn run(&mut self) {
        if let Self::Waiting(work) = std::mem::replace(self, Self::Running) {
            *self = Self::Done(work());
        }
    }

    pub(super) fn result(self) -> R {
        match self {
            Self::Done(result) => result,
            _ => unreachable!("who called it has returned, not unwound"),
        }
    }
}

fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    let lost = LostDigits::default();
    rayon::join(|| lost.part(a), || lost.part(b));
    lost.hand_on();
}

fn each(count: usize, least: usize, work: &(dyn Fn(usize) + Sync)) {
    use rayon::iter::{IndexedParallelIterator as _, ParallelIterator as _};

    match (count, here::team()) {
        (0, _) => {}
        (1, _) => work(0),
        (_, Some(team)) => here::each(&team, count, least, work),
        (_, None) => {
            let lost = LostDigits::default();
            let numbers = rayon::iter::IntoParallelIterator::into_par_iter(0..count);
            // Rayon makes a state for each range of numbers on the thread that processes it, and drops it there.
            numbers.with_min_len(least).for_each_init(|| lost.begin(), |_, number| work(number));
            lost.hand_on();
        }
    }
}

fn try_each(count: usize, least: usize, work: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    let (first, error) = (AtomicUsize::new(usize::MAX), Mutex::new(None));
    each(count, least, &|index| {
        if index > first.load(Ordering::Relaxed) {
            return;
        }
        if let Err(e) = work(index) {
            let mut kept = error.lock().unwrap_or_else(PoisonError::into_inner);
            if first.fetch_min(index, Ordering::Relaxed) > index {
                *kept = Some(e);
            }
        }
    });
    error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
