//! Sources of items: slices and their pieces, vectors, ranges of numbers.

use std::marker::PhantomData;
use std::ops::Range;

use super::{IntoItems, Items};

pub struct Numbers(Range<usize>);

impl Items for Numbers {
    type Item = usize;

    #[inline]
    fn count(&self) -> usize {
        self.0.len()
    }

    #[inline]
    unsafe fn item(&self, index: usize) -> usize {
        self.0.start + index
    }
}

impl IntoItems for Range<usize> {
    type Items = Numbers;

    #[inline]
    fn into_par_iter(self) -> Numbers {
        Numbers(self)
    }
}

/// Elements of a shared slice.
pub struct Shared<'a, T>(&'a [T]);

impl<'a, T: Sync> Items for Shared<'a, T> {
    type Item = &'a T;

    fn count(&self) -> usize {
        self.0.len()
    }

    unsafe fn item(&self, index: usize) -> &'a T {
        &self.0[index]
    }
}

impl<'a, T: Sync> IntoItems for &'a [T] {
    type Items = Shared<'a, T>;

    fn into_par_iter(self) -> Shared<'a, T> {
        Shared(self)
    }
}

impl<'a, T: Sync> IntoItems for &'a Vec<T> {
    type Items = Shared<'a, T>;

    fn into_par_iter(self) -> Shared<'a, T> {
        Shared(self)
    }
}

/// Elements of a slice, to be changed.
pub struct Exclusive<'a, T> {
    first: *mut T,
    count: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: a slice that is borrowed exclusively, whose elements may go to other threads.
unsafe impl<T: Send> Send for Exclusive<'_, T> {}
// SAFETY: threads get elements, no two of them the same.
unsafe impl<T: Send> Sync for Exclusive<'_, T> {}

impl<'a, T: Send> Items for Exclusive<'a, T> {
    type Item = &'a mut T;

    fn count(&self) -> usize {
        self.count
    }

    unsafe fn item(&self, index: usize) -> &'a mut T {
        debug_assert!(index < self.count);
        // SAFETY: inside the slice that is borrowed for 'a, and by the caller's promise nobody else's.
        unsafe { &mut *self.first.add(index) }
    }
}

impl<'a, T: Send> IntoItems for &'a mut [T] {
    type Items = Exclusive<'a, T>;

    fn into_par_iter(self) -> Exclusive<'a, T> {
        self.par_iter_mut()
    }
}

impl<'a, T: Send> IntoItems for &'a mut Vec<T> {
    type Items = Exclusive<'a, T>;

    fn into_par_iter(self) -> Exclusive<'a, T> {
        self.par_iter_mut()
    }
}

/// Elements of a vector, given away.
pub struct Owned<T> {
    elements: Vec<T>,
    count: usize,
}

// SAFETY: threads get elements, no two of them the same.
unsafe impl<T: Send> Sync for Owned<T> {}

impl<T: Send> Items for Owned<T> {
    type Item = T;

    fn count(&self) -> usize {
        self.count
    }

    unsafe fn item(&self, index: usize) -> T {
        debug_assert!(index < self.count);
        // SAFETY: the vector held `count` elements and counts none as its own any more; by the caller's promise this one
        // is read once.
        unsafe { self.elements.as_ptr().add(index).read() }
    }
}

impl<T: Send> IntoItems for Vec<T> {
    type Items = Owned<T>;

    fn into_par_iter(mut self) -> Owned<T> {
        // Items that are not taken, after an error, are never dropped.
        const { assert!(!std::mem::needs_drop::<T>()) };
        let count = self.len();
        self.clear();
        Owned { elements: self, count }
    }
}

/// Pieces of a shared slice.
pub struct Chunks<'a, T> {
    slice: &'a [T],
    size: usize,
    count: usize,
}

impl<'a, T: Sync> Items for Chunks<'a, T> {
    type Item = &'a [T];

    fn count(&self) -> usize {
        self.count
    }

    unsafe fn item(&self, index: usize) -> &'a [T] {
        let start = index * self.size;
        &self.slice[start..self.slice.len().min(start + self.size)]
    }
}

/// Pieces of a slice, to be changed.
pub struct ChunksMut<'a, T> {
    first: *mut T,
    length: usize,
    size: usize,
    count: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: a slice that is borrowed exclusively, whose elements may go to other threads.
unsafe impl<T: Send> Send for ChunksMut<'_, T> {}
// SAFETY: threads get pieces, no two of them the same.
unsafe impl<T: Send> Sync for ChunksMut<'_, T> {}

impl<'a, T: Send> Items for ChunksMut<'a, T> {
    type Item = &'a mut [T];

    fn count(&self) -> usize {
        self.count
    }

    unsafe fn item(&self, index: usize) -> &'a mut [T] {
        assert!(index < self.count);
        let start = index * self.size;
        let length = self.size.min(self.length - start);
        // SAFETY: inside the slice that is borrowed for 'a; pieces do not overlap, and by the caller's promise this one is
        // nobody else's.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(start), length) }
    }
}

/// Pieces of a slice, of `size` elements each. The last piece may be shorter, or is left out by the `exact` functions.
pub trait Pieces<T> {
    /// Shared pieces, the last one with the remaining elements.
    fn par_chunks(&self, size: usize) -> Chunks<'_, T>;
    /// Pieces to be read, without a shorter one.
    fn par_chunks_exact(&self, size: usize) -> Chunks<'_, T>;
    /// Exclusive pieces, the last one with the remaining elements.
    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T>;
    /// Pieces to be changed, without a shorter one.
    fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksMut<'_, T>;
    /// Exclusive references to the elements, one an item.
    fn par_iter_mut(&mut self) -> Exclusive<'_, T>;
}

impl<T> Pieces<T> for [T] {
    fn par_chunks(&self, size: usize) -> Chunks<'_, T> {
        Chunks { slice: self, size, count: self.len().div_ceil(size) }
    }

    fn par_chunks_exact(&self, size: usize) -> Chunks<'_, T> {
        Chunks { slice: self, size, count: self.len() / size }
    }

    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T> {
        let count = self.len().div_ceil(size);
        ChunksMut { first: self.as_mut_ptr(), length: self.len(), size, count, slice: PhantomData }
    }

    fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksMut<'_, T> {
        ChunksMut { count: self.len() / size, ..self.par_chunks_mut(size) }
    }

    fn par_iter_mut(&mut self) -> Exclusive<'_, T> {
        Exclusive { first: self.as_mut_ptr(), count: self.len(), slice: PhantomData }
    }
}
