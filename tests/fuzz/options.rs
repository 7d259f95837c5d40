//! Options structs of any bits, and of callers older and newer than the library.

use std::ffi::{c_char, c_void};
use std::ptr::null_mut;

use purlin::ffi::*;

use crate::source::Source;
use crate::world::LIMIT;

/// Memory for a struct of the largest size that any caller's may have, and some more.
pub struct StructMemory([u64; 160]);

/// A struct in a caller's memory: its true size is that of this memory, or less.
impl StructMemory {
    /// Stores `value` and a `struct_size` that is true, too small, zero or too large.
    pub fn of<T: Copy>(source: &mut Source<'_>, value: &T) -> Self {
        let mut memory = Self([0; 160]);
        let known = size_of::<T>();
        // SAFETY: a struct of integers, floats and pointers, no larger than the memory.
        unsafe { memory.0.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping((&raw const *value).cast(), known) };
        let size = match source.below(30) {
            0 => known + source.below(64) * 8,
            1 => {
                // A newer caller that sets a field which this library does not know.
                memory.0[known / 8] = source.bits();
                known + 8
            }
            2 => source.below(known),
            3 => source.strange() as usize,
            _ => known,
        };
        // The memory is larger than the largest size that is read; a larger one is refused before.
        memory.0[0] = size as u64;
        memory
    }

    pub fn get<T>(&self) -> *const T {
        self.0.as_ptr().cast()
    }

    pub fn get_mut<T>(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }
}

/// An init function into such memory, with a size of any kind that it holds.
macro_rules! any_init {
    ($source:expr, $type:ty, $init:path) => {{
        let mut memory = $crate::options::StructMemory::of($source, &[0u64; 4]);
        let size = if $source.once_in(3) { $source.below(1280) } else { size_of::<$type>() };
        let target = if $source.once_in(10) { std::ptr::null_mut() } else { memory.get_mut::<$type>() };
        c!($init(target, size))
    }};
}
pub(crate) use any_init;

/// A struct as its init function leaves it.
macro_rules! initialized {
    ($type:ty, $init:path) => {{
        let mut value = std::mem::MaybeUninit::<$type>::uninit();
        let status = $crate::program::c!($init(value.as_mut_ptr(), size_of::<$type>()));
        assert_eq!(status, purlin::ffi::purlin_status::PURLIN_SUCCESS);
        // SAFETY: the init function has written all of it.
        unsafe { value.assume_init() }
    }};
}
pub(crate) use initialized;

pub fn context_info() -> purlin_context_info {
    initialized!(purlin_context_info, purlin_context_info_init)
}

/// A small context on the CPU.
pub fn plain_context() -> purlin_context_options {
    let mut o = initialized!(purlin_context_options, purlin_context_options_init);
    o.backend = PURLIN_BACKEND_CPU;
    o.threads = 1;
    o.host_memory_limit = LIMIT;
    o
}

/// Any options for which a context on the CPU is made, or none: a random address is no device's.
pub fn any_context(source: &mut Source<'_>) -> purlin_context_options {
    let mut o = plain_context();
    match source.below(10) {
        0 => o.backend = source.one_of(&[-1, 3, i32::MIN, i32::MAX]),
        1 => o.device = source.strange() as i32,
        2 => o.threads = source.one_of(&[1, 2, -1, i64::MIN, 5000, i64::MAX]),
        3 => o.cpu_isa = source.code(4),
        4 => o.host_memory_limit = source.strange().min(LIMIT),
        5 => o.device_memory_limit = source.strange(),
        6 => o.log_level = source.code(5),
        _ => {}
    }
    if o.host_memory_limit == 0 {
        o.host_memory_limit = 1;
    }
    o.log = source.one_of(&[None, Some(log as unsafe extern "C" fn(i32, *const c_char, *mut c_void))]);
    o.log_user = null_mut();
    o
}

/// Reads the message, as a caller's log function does.
pub unsafe extern "C" fn log(_level: i32, message: *const c_char, _user: *mut c_void) {
    // SAFETY: purlin passes a terminated text.
    assert!(!unsafe { std::ffi::CStr::from_ptr(message) }.is_empty());
}
