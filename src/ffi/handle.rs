//! Handles are keys, never addresses: `kind (8 bits) | generation (32) | index (24)` into a table of reference-counted
//! objects. A null, destroyed, foreign or invented handle is refused without touching memory.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::Duration;

use super::{guard, objects};
use crate::backend::fork::this_thread;
use crate::error::{Error, Result};

const INDEX_BITS: u32 = 24;
const GENERATION_BITS: u32 = 32;
const MAX_SLOTS: usize = 1 << INDEX_BITS;

/// A type that C knows by handle. [`objects`] lists them.
pub(super) trait Object: Send + Sync + Sized + 'static {
    /// First byte of its keys; no two types share one, and none is 0.
    const KIND: u8;
    /// The table that holds all objects of this type.
    fn table() -> &'static Table<Self>;
}

/// An object that a call uses alone, or shares with others that only read it.
pub(super) struct Lock<T> {
    object: RwLock<T>,
    /// Number of the call that last locked it ([`guard::this_call`]).
    last_call: AtomicU64,
}

impl<T> Lock<T> {
    pub(super) const fn new(object: T) -> Self {
        Self { object: RwLock::new(object), last_call: AtomicU64::new(0) }
    }
}

struct Slot<T> {
    generation: u32,
    object: Option<Arc<Lock<T>>>,
}

struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    live: i64,
}

/// All objects of one type.
pub(super) struct Table<T: 'static> {
    slots: RwLock<Slots<T>>,
    held: ForkGuard<T>,
}

/// The lock of a table while its process forks, and the thread that forks.
struct ForkGuard<T: 'static> {
    thread: AtomicUsize,
    guard: UnsafeCell<Option<RwLockWriteGuard<'static, Slots<T>>>>,
}

// SAFETY: the guard is touched by the thread alone that holds the table's lock.
unsafe impl<T: Send + Sync> Sync for ForkGuard<T> {}

/// A table, of whichever type its objects are.
pub(super) trait AnyTable: Sync {
    /// Number of live handles of this type.
    fn live(&self) -> i64;
    /// Locks the table before a fork, so that no other thread holds the lock in the child, where that thread does not exist.
    fn hold(&'static self);
    /// Unlocks it after the fork, in the parent and in the child.
    fn release(&'static self);
}

/// Attempts of a fork to lock a table, 0.1 ms apart, from inside of a call. Such a fork comes from a callback, or from
/// a signal handler; the latter may interrupt a thread that holds the lock, and would wait for itself. Attempts are
/// counted and not time: a machine that stands still for a second, as a virtual one may, must not cost the lock.
const PATIENCE: usize = 20_000;

impl<T: Object> AnyTable for Table<T> {
    fn live(&self) -> i64 {
        self.slots.read().unwrap_or_else(PoisonError::into_inner).live
    }

    fn hold(&'static self) {
        // Outside of calls a thread holds no table's lock. The lock prefers those who wait to write, so this wait is short.
        let guard = if guard::this_call().is_none() {
            Some(self.slots.write().unwrap_or_else(PoisonError::into_inner))
        } else {
            self.try_hold()
        };
        let Some(guard) = guard else {
            return;
        };
        self.held.thread.store(this_thread(), Ordering::Relaxed);
        // SAFETY: this thread holds the lock.
        unsafe { *self.held.guard.get() = Some(guard) };
    }

    fn release(&'static self) {
        // Another thread's number cannot turn into this one's meanwhile.
        if self.held.thread.load(Ordering::Relaxed) == this_thread() {
            self.held.thread.store(0, Ordering::Relaxed);
            // SAFETY: this thread holds the lock, until the guard is dropped, which comes after the access.
            drop(unsafe { (*self.held.guard.get()).take() });
        }
    }
}

extern "C" fn before_fork() {
    objects::tables().into_iter().for_each(AnyTable::hold);
}

extern "C" fn after_fork() {
    objects::tables().into_iter().rev().for_each(AnyTable::release);
}

/// Has the tables locked around each `fork()`, from the loading of the library on.
extern "C" fn watch_forks() {
    // SAFETY: the handlers touch nothing but the tables' locks, and the library is never unloaded (-z nodelete). Registering
    // fails only for want of memory; a child may then find a table locked.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork), Some(after_fork)) };
}

// SAFETY: the loader calls the functions of this section, which need no argument.
#[used]
#[unsafe(link_section = ".init_array")]
static WATCH: extern "C" fn() = watch_forks;

impl<T> Table<T> {
    fn try_hold(&'static self) -> Option<RwLockWriteGuard<'static, Slots<T>>> {
        for _ in 0..PATIENCE {
            match self.slots.try_write() {
                Ok(guard) => return Some(guard),
                Err(TryLockError::Poisoned(e)) => return Some(e.into_inner()),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_micros(100)),
            }
        }
        None
    }

    pub(super) const fn new() -> Self {
        let slots = RwLock::new(Slots { slots: Vec::new(), free: Vec::new(), live: 0 });
        Self { slots, held: ForkGuard { thread: AtomicUsize::new(0), guard: UnsafeCell::new(None) } }
    }
}

/// Makes the object `C` points to in the table of `T`, and gives its key in the guise of a pointer.
pub(super) fn insert<T: Object, C>(object: T) -> Result<*mut C> {
    let full = || Error::OutOfMemory { what: "handle table", bytes: 0, limit: None };
    let object = Arc::new(Lock::new(object));
    let mut table = T::table().slots.write().unwrap_or_else(PoisonError::into_inner);
    let index = match table.free.pop() {
        Some(index) => index as usize,
        None => {
            let index = table.slots.len();
            if index >= MAX_SLOTS {
                return Err(full());
            }
            crate::alloc::fault_point("handle table", size_of::<Slot<T>>())?;
            // Reserve the slot's entry in the free list as well, so that destroy never allocates.
            let wanted = index + 1 - table.free.len();
            crate::alloc::refusable(|| table.slots.try_reserve(1)).map_err(|_| full())?;
            crate::alloc::refusable(|| table.free.try_reserve(wanted)).map_err(|_| full())?;
            table.slots.push(Slot { generation: 0, object: None });
            index
        }
    };
    let Some(slot) = table.slots.get_mut(index) else {
        return Err(Error::Internal("a free slot outside the table".into()));
    };
    slot.generation = slot.generation.wrapping_add(1);
    slot.object = Some(object);
    let key =
        (usize::from(T::KIND) << (INDEX_BITS + GENERATION_BITS)) | ((slot.generation as usize) << INDEX_BITS) | index;
    table.live += 1;
    Ok(std::ptr::without_provenance_mut(key))
}

fn find<T: Object>(argument: &str, key: usize) -> Result<(usize, u32)> {
    let wrong = |problem| Err(Error::InvalidHandle { argument: argument.to_owned(), problem });
    if key == 0 {
        return wrong("is NULL");
    }
    let kind = key >> (INDEX_BITS + GENERATION_BITS);
    if kind != usize::from(T::KIND) {
        let is_other = objects::KINDS.iter().any(|&other| usize::from(other) == kind);
        return wrong(if is_other { "is a handle of another type" } else { "is not a handle" });
    }
    let generation = (key >> INDEX_BITS) & 0xffff_ffff;
    Ok((key & (MAX_SLOTS - 1), generation as u32))
}

const DESTROYED: &str = "was destroyed, or never made";

/// The object of a handle.
pub(super) fn get<T: Object>(argument: &str, key: usize) -> Result<Arc<Lock<T>>> {
    let (index, generation) = find::<T>(argument, key)?;
    let table = T::table().slots.read().unwrap_or_else(PoisonError::into_inner);
    table
        .slots
        .get(index)
        .filter(|s| s.generation == generation)
        .and_then(|s| s.object.clone())
        .ok_or_else(|| Error::InvalidHandle { argument: argument.to_owned(), problem: DESTROYED })
}

/// Takes the object out of its table. It is dropped when its last user is done, outside the table's lock.
pub(super) fn remove<T: Object, C>(argument: &str, handle: *const C) -> Result<()> {
    if handle.is_null() {
        return Ok(());
    }
    let (index, generation) = find::<T>(argument, handle.addr())?;
    let object = {
        let mut table = T::table().slots.write().unwrap_or_else(PoisonError::into_inner);
        let object = table.slots.get_mut(index).filter(|s| s.generation == generation).and_then(|s| s.object.take());
        if object.is_some() {
            table.live -= 1;
            table.free.push(index as u32);
        }
        object
    };
    object.map(drop).ok_or_else(|| Error::InvalidHandle { argument: argument.to_owned(), problem: DESTROYED })
}

/// An object locked for shared use during one call.
pub(super) struct Shared<T: 'static> {
    // Before the object: the guard must go first.
    guard: RwLockReadGuard<'static, T>,
    _object: Arc<Lock<T>>,
}

impl<T> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

/// An object locked for use by this call alone.
pub(super) struct Exclusive<T: 'static> {
    // Before the object: the guard must go first.
    guard: RwLockWriteGuard<'static, T>,
    _object: Arc<Lock<T>>,
}

impl<T> Deref for Exclusive<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Exclusive<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

fn refused<G, T>(argument: &str, object: &Lock<T>, error: TryLockError<G>) -> Error {
    match error {
        // The lock is held, and no call has locked it since this one did.
        TryLockError::WouldBlock
            if guard::this_call().is_some_and(|c| c == object.last_call.load(Ordering::Relaxed)) =>
        {
            Error::invalid(argument, "is given twice: another argument of this call is the same object")
        }
        TryLockError::WouldBlock => Error::Busy { argument: argument.to_owned() },
        TryLockError::Poisoned(_) => {
            Error::Internal(format!("{argument}: an earlier call failed inside this object; only destroy works now"))
        }
    }
}

/// Notes which call has locked an object.
fn locked_by<T>(object: &Lock<T>, call: Option<u64>) {
    if let Some(call) = call {
        object.last_call.store(call, Ordering::Relaxed);
    }
}

/// An object locked for reading, whoever else reads it.
pub(super) fn lock_shared<T>(argument: &str, object: Arc<Lock<T>>) -> Result<Shared<T>> {
    lock_shared_by(guard::this_call(), argument, object)
}

fn lock_shared_by<T>(call: Option<u64>, argument: &str, object: Arc<Lock<T>>) -> Result<Shared<T>> {
    // SAFETY: the lock lives in `object`, which the result keeps until after the guard is gone.
    let lock: &'static Lock<T> = unsafe { &*Arc::as_ptr(&object) };
    let guard = lock.object.try_read().map_err(|e| refused(argument, lock, e))?;
    locked_by(lock, call);
    Ok(Shared { guard, _object: object })
}

/// An object locked for this call alone.
pub(super) fn lock_exclusive<T>(argument: &str, object: Arc<Lock<T>>) -> Result<Exclusive<T>> {
    // SAFETY: the lock lives in `object`, which the result keeps until after the guard is gone.
    let lock: &'static Lock<T> = unsafe { &*Arc::as_ptr(&object) };
    let guard = lock.object.try_write().map_err(|e| refused(argument, lock, e))?;
    locked_by(lock, guard::this_call());
    Ok(Exclusive { guard, _object: object })
}

/// The object of a `const` argument, shared with other calls that only read it.
pub(super) fn shared<T: Object, C>(argument: &str, handle: *const C) -> Result<Shared<T>> {
    lock_shared(argument, get::<T>(argument, handle.addr())?)
}

/// The objects of many handles, as by [`shared`] for each, with the table entered once.
///
/// # Errors
/// The number of the first handle that is refused, for which [`shared`] says why; out of memory.
pub(super) fn shared_all<T: Object, C>(
    what: &'static str,
    handles: &[*const C],
) -> Result<std::result::Result<Vec<Shared<T>>, usize>> {
    let mut locked = crate::alloc::with_capacity(what, handles.len())?;
    let call = guard::this_call();
    let table = T::table().slots.read().unwrap_or_else(PoisonError::into_inner);
    for (k, handle) in handles.iter().enumerate() {
        let object = find::<T>("", handle.addr()).ok().and_then(|(index, generation)| {
            table.slots.get(index).filter(|s| s.generation == generation).and_then(|s| s.object.clone())
        });
        match object.and_then(|object| lock_shared_by(call, "", object).ok()) {
            Some(object) => locked.push(object),
            None => {
                // The table still counts on every object, so that none is dropped under its lock.
                return Ok(Err(k));
            }
        }
    }
    drop(table);
    Ok(Ok(locked))
}

/// The object of an argument that the call changes.
pub(super) fn exclusive<T: Object, C>(argument: &str, handle: *mut C) -> Result<Exclusive<T>> {
    lock_exclusive(argument, get::<T>(argument, handle.addr())?)
}

/// [`shared`], or `None` for NULL.
pub(super) fn shared_or_null<T: Object, C>(argument: &str, handle: *const C) -> Result<Option<Shared<T>>> {
    if handle.is_null() { Ok(None) } else { shared(argument, handle).map(Some) }
}

/// [`exclusive`], or `None` for NULL.
pub(super) fn exclusive_or_null<T: Object, C>(argument: &str, handle: *mut C) -> Result<Option<Exclusive<T>>> {
    if handle.is_null() { Ok(None) } else { exclusive(argument, handle).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing(u32);
    impl Object for Thing {
        const KIND: u8 = 200;
        fn table() -> &'static Table<Self> {
            static TABLE: Table<Thing> = Table::new();
            &TABLE
        }
    }
    enum Opaque {}

    fn problem<T>(r: Result<T>) -> String {
        r.map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn an_object_given_twice_is_not_busy() {
        let h: *mut Opaque = insert(Thing(7)).unwrap();
        let twice = "y: is given twice: another argument of this call is the same object";
        let in_use = "y: is in use by another call";
        let call = |body: &dyn Fn()| {
            let body = || {
                body();
                Ok(())
            };
            assert_eq!(guard::run(body), super::super::status::purlin_status::PURLIN_SUCCESS, "{}", guard::last_text());
        };
        call(&|| {
            let first = exclusive::<Thing, _>("x", h).unwrap();
            assert_eq!(problem(exclusive::<Thing, _>("y", h)), twice);
            assert_eq!(problem(shared::<Thing, _>("y", h)), twice);
            // A call from a callback of this one.
            call(&|| assert_eq!(problem(shared::<Thing, _>("y", h)), in_use));
            std::thread::scope(|s| {
                s.spawn(|| call(&|| assert_eq!(first.0, 7)));
            });
            drop(first);
            let first = shared_all::<Thing, Opaque>("test", &[h, h]).unwrap().unwrap();
            assert_eq!(problem(exclusive::<Thing, _>("y", h)), twice);
            // Readers of other calls do not make it theirs.
            call(&|| drop(shared::<Thing, _>("x", h).unwrap()));
            assert_eq!(problem(exclusive::<Thing, _>("y", h)), in_use);
            drop(first);
        });
        let held = exclusive::<Thing, _>("x", h).unwrap();
        call(&|| assert_eq!(problem(shared::<Thing, _>("y", h)), in_use));
        assert_eq!(problem(shared::<Thing, _>("y", h)), in_use, "outside of a call");
        drop(held);
        remove::<Thing, _>("x", h).unwrap();
    }

    #[test]
    fn misuse_is_reported_by_kind() {
        let h: *mut Opaque = insert(Thing(7)).unwrap();
        assert_eq!(shared::<Thing, _>("x", h).unwrap().0, 7);
        assert_eq!(problem(shared::<Thing, Opaque>("x", std::ptr::null())), "x: is NULL");
        let number = 5u64;
        assert_eq!(problem(shared::<Thing, u64>("x", &raw const number)), "x: is not a handle");
        let first = exclusive::<Thing, _>("x", h).unwrap();
        assert_eq!(problem(shared::<Thing, _>("x", h)), "x: is in use by another call");
        remove::<Thing, _>("x", h).unwrap();
        assert_eq!(first.0, 7, "a running call keeps its object");
        drop(first);
        assert_eq!(problem(shared::<Thing, _>("x", h)), format!("x: {DESTROYED}"));
        let (a, b): (*mut Opaque, *mut Opaque) = (insert(Thing(1)).unwrap(), insert(Thing(2)).unwrap());
        let all = |list: &[*const Opaque]| shared_all::<Thing, _>("test", list).unwrap();
        let both = all(&[a, b, a]).unwrap();
        assert_eq!(both.iter().map(|t| t.0).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!(problem(exclusive::<Thing, _>("x", b)), "x: is in use by another call");
        drop(both);
        assert_eq!(all(&[a, b, h]).err(), Some(2), "destroyed");
        let held = exclusive::<Thing, _>("x", b).unwrap();
        assert_eq!(all(&[a, b]).err(), Some(1), "in use");
        drop(held);
        remove::<Thing, _>("x", a).unwrap();
        remove::<Thing, _>("x", b).unwrap();
        assert_eq!(problem(remove::<Thing, _>("x", h)), format!("x: {DESTROYED}"));
        assert!(remove::<Thing, Opaque>("x", std::ptr::null()).is_ok());
        let again: *mut Opaque = insert(Thing(8)).unwrap();
        assert_ne!(again, h, "a slot's next handle differs");
        remove::<Thing, _>("x", again).unwrap();
        assert_eq!(Thing::table().live(), 0);
    }
}
