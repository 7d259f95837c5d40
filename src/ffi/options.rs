//! Reading options and writing info structs of callers that may be older or newer than this library.
//!
//! Every such struct starts with `size_t struct_size`, holds integers, floats and nullable pointers only, so that any
//! bits are a valid value, and grows at its end alone.

use crate::choice::FromC as _;
use crate::error::{Error, Result};

/// Nobody means a struct larger than this; the size was never initialized.
const LARGEST: usize = 1024;

/// An options or info struct.
///
/// # Safety
/// The type is `#[repr(C)]`, starts with `struct_size: usize`, and any bits are a valid value of it.
pub(super) unsafe trait Struct: Copy {
    /// Size of its first released form.
    const FIRST_SIZE: usize;
    /// The defaults, with `struct_size` set.
    fn defaults() -> Self;

    /// Zeros, NULL and no function, with `struct_size` set.
    fn zeroed() -> Self {
        // SAFETY: any bits are a valid value, and the struct starts with its size.
        unsafe {
            let mut made: Self = std::mem::zeroed();
            (&raw mut made).cast::<usize>().write(size_of::<Self>());
            made
        }
    }
}

fn check_size<T: Struct>(argument: &str, size: usize) -> Result<()> {
    if size < T::FIRST_SIZE || size > LARGEST {
        return Err(Error::invalid(
            argument,
            format!("struct_size is {size}, outside {} to {LARGEST}: call its init function first", T::FIRST_SIZE),
        ));
    }
    Ok(())
}

/// Writes the defaults into the caller's struct of `size` bytes.
///
/// # Safety
/// `target` is NULL or valid for `size` writable bytes.
pub(super) unsafe fn init<T: Struct>(argument: &str, target: *mut T, size: usize) -> Result<()> {
    if target.is_null() {
        return Err(Error::invalid(argument, "is NULL"));
    }
    check_size::<T>(argument, size)?;
    let defaults = T::defaults();
    let known = size.min(size_of::<T>());
    // SAFETY: the caller promises `size` bytes; `known` is no more than that and than the source.
    unsafe {
        target.cast::<u8>().write_bytes(0, size);
        target.cast::<u8>().copy_from_nonoverlapping((&raw const defaults).cast(), known);
        target.cast::<usize>().write_unaligned(size);
    }
    Ok(())
}

/// The caller's options; NULL means the defaults.
///
/// # Safety
/// `source` is NULL or points to a struct whose `struct_size` is true.
pub(super) unsafe fn read<T: Struct>(argument: &str, source: *const T) -> Result<T> {
    let mut value = T::defaults();
    if source.is_null() {
        return Ok(value);
    }
    // SAFETY: every such struct starts with its size.
    let size = unsafe { source.cast::<usize>().read_unaligned() };
    check_size::<T>(argument, size)?;
    let known = size.min(size_of::<T>());
    // SAFETY: the caller promises `size` bytes at `source`.
    unsafe {
        for k in known..size {
            if source.cast::<u8>().add(k).read() != 0 {
                return Err(Error::NotSupported(format!(
                    "{argument}: sets an option that this version of the library does not know"
                )));
            }
        }
        (&raw mut value).cast::<u8>().copy_from_nonoverlapping(source.cast(), known);
    }
    Ok(value)
}

/// Writes as much of `value` as the caller's struct holds; NULL is ignored.
///
/// # Safety
/// As for [`read`], and the struct is writable.
pub(super) unsafe fn write<T: Struct>(argument: &str, target: *mut T, value: T) -> Result<()> {
    if target.is_null() {
        return Ok(());
    }
    // SAFETY: every such struct starts with its size.
    let size = unsafe { target.cast::<usize>().read_unaligned() };
    check_size::<T>(argument, size)?;
    let known = size.min(size_of::<T>());
    // SAFETY: the caller promises `size` bytes; the size field in front stays the caller's.
    unsafe {
        let skip = size_of::<usize>();
        target.cast::<u8>().add(skip).copy_from_nonoverlapping((&raw const value).cast::<u8>().add(skip), known - skip);
    }
    Ok(())
}

/// Refuses an info struct that [`write`] would refuse, before the work is done.
///
/// # Safety
/// As for [`read`].
pub(super) unsafe fn check<T: Struct>(argument: &str, target: *const T) -> Result<()> {
    if target.is_null() {
        return Ok(());
    }
    // SAFETY: every such struct starts with its size.
    check_size::<T>(argument, unsafe { target.cast::<usize>().read_unaligned() })
}

/// Declares a struct's defaults and its init function's needs in one place. The defaults are zeros, or those of the value
/// `of` the core. Fields that the core has in another form are named with theirs.
macro_rules! versioned {
    ($name:ident, first = $first:expr $(, of = $core:ty)? $(; $($field:ident: $default:expr),+)?) => {
        // SAFETY: `repr(C)`, `struct_size` first, and integers, floats and nullable pointers only.
        unsafe impl $crate::ffi::options::Struct for $name {
            const FIRST_SIZE: usize = $first;
            fn defaults() -> Self {
                #[allow(unused_mut, reason = "most structs are all zeros")]
                let mut made = Self::zeroed();
                $(made.set(&<$core>::default());)?
                $($(made.$field = $default;)+)?
                made
            }
        }
    };
}
pub(super) use versioned;

/// A choice of yes or no.
pub(super) fn flag(argument: &str, value: i32) -> Result<bool> {
    bool::from_c(argument, value)
}

/// Refuses a field that no version uses yet unless it is 0, so that a later version may give it a meaning.
pub(super) fn expect_zero(argument: &str, value: i32) -> Result<()> {
    if value == 0 { Ok(()) } else { Err(Error::invalid(argument, format!("is {value}, 0 is needed"))) }
}

/// Copies text into a fixed array of C characters, cut to fit, always terminated.
pub(super) fn fill_text<const N: usize>(text: &str) -> [std::ffi::c_char; N] {
    let mut out = [0; N];
    let mut end = text.len().min(N.saturating_sub(1));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    for (o, b) in out.iter_mut().zip(text.as_bytes().iter().take(end)) {
        // `c_char` is signed on x86-64 and unsigned on aarch64.
        *o = std::ffi::c_char::from_ne_bytes([*b]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Old {
        struct_size: usize,
        a: i64,
    }
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct New {
        struct_size: usize,
        a: i64,
        b: i64,
    }
    versioned!(Old, first = 16; a: 1);
    versioned!(New, first = 16; a: 1, b: 2);

    #[test]
    fn an_older_caller_gets_defaults_for_what_it_does_not_know() {
        let o = Old { struct_size: 16, a: 9 };
        // SAFETY: the size is true.
        let n = unsafe { read::<New>("o", (&raw const o).cast()) }.unwrap();
        assert_eq!((n.a, n.b), (9, 2));
    }

    #[test]
    fn a_newer_caller_is_understood_unless_it_sets_what_is_unknown() {
        let mut n = New { struct_size: 24, a: 9, b: 0 };
        // SAFETY: the size is true.
        assert_eq!(unsafe { read::<Old>("o", (&raw const n).cast()) }.unwrap().a, 9);
        n.b = 1;
        // SAFETY: the size is true.
        let e = unsafe { read::<Old>("o", (&raw const n).cast()) }.unwrap_err();
        assert!(matches!(e, Error::NotSupported(_)));
    }

    #[test]
    fn sizes_that_nobody_set_are_refused() {
        for size in [0, 8, 15, 1025, usize::MAX] {
            let n = New { struct_size: size, a: 0, b: 0 };
            // SAFETY: a wrong size is refused before anything else is read.
            assert!(unsafe { read::<New>("o", &raw const n) }.is_err(), "{size}");
        }
    }

    #[test]
    fn init_zeroes_a_longer_struct_and_info_keeps_the_callers_size() {
        let mut n = New { struct_size: 7, a: 7, b: 7 };
        // SAFETY: 24 bytes are there.
        unsafe { init::<Old>("o", (&raw mut n).cast(), 24) }.unwrap();
        assert_eq!(n, New { struct_size: 24, a: 1, b: 0 });
        let mut old = Old { struct_size: 16, a: 0 };
        // SAFETY: the size is true.
        unsafe { write::<New>("i", (&raw mut old).cast(), New { struct_size: 24, a: 5, b: 6 }) }.unwrap();
        assert_eq!(old, Old { struct_size: 16, a: 5 });
    }

    #[test]
    fn text_is_cut_at_a_character() {
        let t: [std::ffi::c_char; 4] = fill_text("aäb");
        assert_eq!(t.map(i8::cast_unsigned), [b'a', 0xc3, 0xa4, 0]);
        let t: [std::ffi::c_char; 3] = fill_text("aäb");
        assert_eq!(t.map(i8::cast_unsigned), [b'a', 0, 0]);
    }
}
