//! Items that the methods of [`Items`] make of other items.

use super::Items;

/// See [`Items::zip`].
pub struct Zip<A, B>(pub(super) A, pub(super) B);

impl<A: Items, B: Items> Items for Zip<A, B> {
    type Item = (A::Item, B::Item);

    fn count(&self) -> usize {
        self.0.count().min(self.1.count())
    }

    fn least(&self) -> usize {
        self.0.least().max(self.1.least())
    }

    unsafe fn item(&self, index: usize) -> Self::Item {
        // SAFETY: the caller's promise, for both: the count is the lesser.
        unsafe { (self.0.item(index), self.1.item(index)) }
    }
}

/// See [`Items::enumerate`].
pub struct Enumerate<A>(pub(super) A);

impl<A: Items> Items for Enumerate<A> {
    type Item = (usize, A::Item);

    fn count(&self) -> usize {
        self.0.count()
    }

    fn least(&self) -> usize {
        self.0.least()
    }

    unsafe fn item(&self, index: usize) -> Self::Item {
        // SAFETY: the caller's promise.
        (index, unsafe { self.0.item(index) })
    }
}

/// See [`Items::take`].
pub struct Take<A>(pub(super) A, pub(super) usize);

impl<A: Items> Items for Take<A> {
    type Item = A::Item;

    fn count(&self) -> usize {
        self.0.count().min(self.1)
    }

    fn least(&self) -> usize {
        self.0.least()
    }

    unsafe fn item(&self, index: usize) -> Self::Item {
        // SAFETY: the caller's promise.
        unsafe { self.0.item(index) }
    }
}

/// See [`Items::with_min_len`].
pub struct Least<A>(pub(super) A, pub(super) usize);

impl<A: Items> Items for Least<A> {
    type Item = A::Item;

    fn count(&self) -> usize {
        self.0.count()
    }

    fn least(&self) -> usize {
        self.1
    }

    unsafe fn item(&self, index: usize) -> Self::Item {
        // SAFETY: the caller's promise.
        unsafe { self.0.item(index) }
    }
}

/// See [`Items::map`].
pub struct Map<A, F>(pub(super) A, pub(super) F);

impl<A: Items, R, F: Fn(A::Item) -> R + Send + Sync> Items for Map<A, F> {
    type Item = R;

    fn count(&self) -> usize {
        self.0.count()
    }

    fn least(&self) -> usize {
        self.0.least()
    }

    unsafe fn item(&self, index: usize) -> R {
        // SAFETY: the caller's promise.
        (self.1)(unsafe { self.0.item(index) })
    }
}
