//! Growing lists, charged to the budget of host memory.

use std::marker::PhantomData;
use std::sync::Arc;

use super::entries::WHAT;
use crate::backend::memory::{Budget, HostMemory};
use crate::error::Result;
use crate::scalar::Element;
use crate::shape::product;

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
            let mut larger = Self::with_capacity(self.length.saturating_mul(2).max(FIRST), &self.budget)?;
            larger.memory.as_mut_slice()?[..self.length].copy_from_slice(self.as_slice()?);
            self.memory = larger.memory;
        }
        self.memory.as_mut_slice()?[self.length] = value;
        self.length += 1;
        Ok(())
    }

    /// The elements.
    ///
    /// # Errors
    /// None: the list owns its memory.
    pub fn as_slice(&self) -> Result<&[T]> {
        Ok(&self.memory.as_slice()?[..self.length])
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}
