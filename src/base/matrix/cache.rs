//! A cache with each matrix, in which families store plans and answers for later calls.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::alloc;
use crate::error::Result;

/// A cached object, and the version of the values that it was computed from.
struct Item {
    version: u64,
    made: Arc<dyn Any + Send + Sync>,
}

/// Objects of any type that were computed from a matrix, such as plans and answers. They are freed with the matrix.
#[derive(Default)]
pub struct Cache(Mutex<Vec<Item>>);

impl Cache {
    fn items(&self) -> MutexGuard<'_, Vec<Item>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first object of type `T` for which `fits` is true, with the version of the values that it was computed from.
    pub fn find<T: Any + Send + Sync>(&self, fits: impl Fn(&T) -> bool) -> Option<(u64, Arc<T>)> {
        let items = self.items();
        let found = items.iter().find(|item| item.made.downcast_ref::<T>().is_some_and(&fits))?;
        Some((found.version, Arc::clone(&found.made).downcast().ok()?))
    }

    /// Removes the first object of type `T` for which `fits` is true, and returns it.
    pub fn take<T: Any + Send + Sync>(&self, fits: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        let mut items = self.items();
        let at = items.iter().position(|item| item.made.downcast_ref::<T>().is_some_and(&fits))?;
        items.swap_remove(at).made.downcast().ok()
    }

    /// Stores `made` and removes all objects of its type for which `fits` is true.
    ///
    /// # Errors
    /// Out of memory.
    pub fn put<T: Any + Send + Sync>(&self, version: u64, made: &Arc<T>, fits: impl Fn(&T) -> bool) -> Result<()> {
        let made: Arc<T> = Arc::clone(made);
        let mut items = self.items();
        items.retain(|item| !item.made.downcast_ref::<T>().is_some_and(&fits));
        alloc::push("cache of a matrix", &mut items, Item { version, made })
    }
}
