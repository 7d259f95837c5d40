//! Growing lists, charged to the budget of host memory.

use std::marker::PhantomData;
use std::sync::Arc;

use super::entries::WHAT;
use crate::backend::memory::{Budget, HostMemory};
use crate::error::Result;
use crate::scalar::Element;
use crate::shape::{product, to_u64};

/// Capacity after the first push into an empty list, in elements.
const FIRST: usize = 1 << 9;

/// A growing list. Its memory is charged before it is allocated; while it is reallocated, both allocations are charged.
pub struct List<T> {
    memory: HostMemory,
    length: usize,
    budget: Arc<Budget>,
    elements: PhantomData<T>,
}

impl<T: Element> List<T> {
    /// An empty list with a capacity of `capacity` elements.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::error::Error::OutOfMemory).
    pub fn with_capacity(capacity: usize, budget: &Arc<Budget>) -> Result<Self> {
        let bytes = product(WHAT, capacity, size_of::<T>())?;
        let memory = HostMemory::allocate(WHAT, bytes, budget)?;
        Ok(Self { memory, length: 0, budget: Arc::clone(budget), elements: PhantomData })
    }

    /// Appends an element.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::error::Error::OutOfMemory).
    pub fn push(&mut self, value: T) -> Result<()> {
        if self.length == self.memory.bytes() / size_of::<T>() {
            let doubled = self.length.saturating_mul(2).max(FIRST);
            let is_free = to_u64(doubled.saturating_mul(size_of::<T>())) <= self.budget.available();
            // Where the limit forbids twice the elements it may allow some more.
            self.reallocate(if is_free { doubled } else { self.length + self.length / 8 + FIRST })?;
        }
        self.memory.as_mut_slice()?[self.length] = value;
        self.length += 1;
        Ok(())
    }

    /// Frees the unused capacity if there is memory for the copy that it takes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::error::Error::OutOfMemory) if the system refuses it.
    pub fn shrink(&mut self) -> Result<()> {
        let bytes = self.length * size_of::<T>();
        if bytes < self.memory.bytes() && to_u64(bytes) <= self.budget.available() {
            self.reallocate(self.length)?;
        }
        Ok(())
    }

    /// Moves the elements to memory for `capacity` of them, at least as many as there are.
    fn reallocate(&mut self, capacity: usize) -> Result<()> {
        let mut other = Self::with_capacity(capacity, &self.budget)?;
        other.memory.as_mut_slice()?[..self.length].copy_from_slice(self.as_slice()?);
        self.memory = other.memory;
        Ok(())
    }

    /// The elements.
    ///
    /// # Errors
    /// None: the list owns its memory.
    pub fn as_slice(&self) -> Result<&[T]> {
        Ok(&self.memory.as_slice()?[..self.length])
    }

    /// Number of elements, not the capacity.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}
