//! The destructors of Rust's thread-local objects.
//!
//! Rust's standard library registers each destructor with the C library's `__cxa_thread_atexit_impl`. This function ends the
//! process if it has no memory. The shared library therefore has its own function of this name, which is hidden from all
//! other libraries. It stores the registrations in thread-local memory; those that do not fit come from the allocator with
//! its reserve. A key of the C library runs the destructors when the thread ends, after the C++ objects of the thread. If
//! there is no memory at all, a destructor does not run, and the resources of its object leak.
//!
//! The main thread of a process that ends by `exit` runs no destructors: its objects live until the end.

use std::alloc::Layout;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

type Destructor = unsafe extern "C" fn(*mut c_void);
type Note = Option<(Destructor, *mut c_void)>;

/// Number of registrations in a block.
const NOTES: usize = 30;

struct Block {
    notes: [Cell<Note>; NOTES],
    count: Cell<usize>,
    /// The full block before this one, or NULL.
    before: Cell<*mut Self>,
}

impl Block {
    const fn new() -> Self {
        Self { notes: [const { Cell::new(None) }; NOTES], count: Cell::new(0), before: Cell::new(null_mut()) }
    }

    /// Stores a registration; `false` if the block is full.
    fn push(&self, note: Note) -> bool {
        let count = self.count.get();
        self.notes.get(count).is_some_and(|place| {
            place.set(note);
            self.count.set(count + 1);
            true
        })
    }

    fn pop(&self) -> Note {
        let count = self.count.get().checked_sub(1)?;
        self.count.set(count);
        self.notes.get(count)?.take()
    }
}

/// The registrations of a thread. It has no destructor, which would have to be registered here.
struct Notes {
    first: Block,
    /// The block in use, if it is not the first.
    last: Cell<*mut Block>,
    /// Whether the C library will call [`run`] for this thread.
    is_armed: Cell<bool>,
}

thread_local! {
    static NOTED: Notes =
        const { Notes { first: Block::new(), last: Cell::new(null_mut()), is_armed: Cell::new(false) } };
}

impl Notes {
    fn push(&self, note: Note) {
        // SAFETY: a block of this thread, which is freed by `pop` alone.
        let last = unsafe { self.last.get().as_ref() }.unwrap_or(&self.first);
        if last.push(note) {
            return;
        }
        // SAFETY: the size is not 0.
        let block = unsafe { std::alloc::alloc(Layout::new::<Block>()) }.cast::<Block>();
        if block.is_null() {
            return;
        }
        // SAFETY: new memory of this layout.
        unsafe { block.write(Block::new()) };
        // SAFETY: written above.
        let new = unsafe { &*block };
        new.before.set(self.last.get());
        new.push(note);
        self.last.set(block);
    }

    fn pop(&self) -> Note {
        loop {
            let block = self.last.get();
            // SAFETY: as in `push`.
            let Some(last) = (unsafe { block.as_ref() }) else { return self.first.pop() };
            let note = last.pop();
            if note.is_some() {
                return note;
            }
            self.last.set(last.before.get());
            // SAFETY: allocated by `push` with this layout, and no longer in use.
            unsafe { std::alloc::dealloc(block.cast(), Layout::new::<Block>()) };
        }
    }
}

/// The key whose destructor is [`run`], plus 1; 0 if it was not created yet.
static KEY: AtomicUsize = AtomicUsize::new(0);

fn key() -> Option<libc::pthread_key_t> {
    let known = KEY.load(Ordering::Acquire);
    if let Some(key) = known.checked_sub(1) {
        return libc::pthread_key_t::try_from(key).ok();
    }
    let mut made = 0;
    // SAFETY: writes a key to a local.
    if unsafe { libc::pthread_key_create(&raw mut made, Some(run)) } != 0 {
        return None;
    }
    match KEY.compare_exchange(0, made as usize + 1, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Some(made),
        Err(theirs) => {
            // SAFETY: the key of above, which no thread has used.
            unsafe { libc::pthread_key_delete(made) };
            libc::pthread_key_t::try_from(theirs - 1).ok()
        }
    }
}

/// Runs the destructors of a thread that ends, in reverse order. A destructor may register others.
unsafe extern "C" fn run(_: *mut c_void) {
    NOTED.with(|noted| {
        noted.is_armed.set(false);
        while let Some((destructor, object)) = noted.pop() {
            // SAFETY: who noted it promised that it may be called once, on this thread.
            unsafe { destructor(object) };
        }
    });
}

/// Registers a destructor. The standard library calls this function instead of the C library's.
unsafe extern "C" fn note(destructor: Destructor, object: *mut c_void, _library: *mut c_void) -> c_int {
    NOTED.with(|noted| {
        noted.push(Some((destructor, object)));
        if !noted.is_armed.get() {
            // Any value except NULL. If the call is refused, the next registration tries again.
            let value = std::ptr::without_provenance::<c_void>(1);
            // SAFETY: a key that was made.
            let is_armed = key().is_some_and(|key| unsafe { libc::pthread_setspecific(key, value) } == 0);
            noted.is_armed.set(is_armed);
        }
    });
    0
}

#[cfg(all(feature = "reserve", not(feature = "fault-injection")))]
mod hidden {
    use std::ffi::{c_int, c_void};

    // Assembly, because Rust cannot define a hidden symbol of a given name. An exported symbol would also be used by
    // the host.
    #[cfg(target_arch = "x86_64")]
    macro_rules! jump {
        () => {
            "jmp {note}"
        };
    }
    #[cfg(target_arch = "aarch64")]
    macro_rules! jump {
        () => {
            "b {note}"
        };
    }
    std::arch::global_asm!(
        ".globl __cxa_thread_atexit_impl",
        ".hidden __cxa_thread_atexit_impl",
        ".type __cxa_thread_atexit_impl, @function",
        "__cxa_thread_atexit_impl:",
        jump!(),
        ".size __cxa_thread_atexit_impl, . - __cxa_thread_atexit_impl",
        note = sym super::note,
    );

    unsafe extern "C" {
        fn __cxa_thread_atexit_impl(destructor: super::Destructor, object: *mut c_void, library: *mut c_void) -> c_int;
    }
    /// The standard library's reference is weak, and for that alone a linker takes no object out of this crate's archive.
    #[used]
    static TAKEN: unsafe extern "C" fn(super::Destructor, *mut c_void, *mut c_void) -> c_int = __cxa_thread_atexit_impl;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destructors_run_when_the_thread_ends_the_last_first() {
        use std::sync::Mutex;
        static RAN: Mutex<Vec<usize>> = Mutex::new(Vec::new());
        unsafe extern "C" fn destructor(object: *mut c_void) {
            RAN.lock().unwrap().push(object.addr());
            if object.addr() == 40 {
                // SAFETY: any object will do.
                unsafe { note(destructor, std::ptr::without_provenance_mut(1000), null_mut()) };
            }
        }
        let thread = std::thread::spawn(|| {
            for k in 1..=100 {
                // SAFETY: as above.
                unsafe { note(destructor, std::ptr::without_provenance_mut(k), null_mut()) };
            }
            assert!(RAN.lock().unwrap().is_empty());
        });
        thread.join().unwrap();
        let mut expected: Vec<usize> = (1..=100).rev().collect();
        expected.insert(61, 1000);
        assert_eq!(*RAN.lock().unwrap(), expected);
    }
}
