//! Pointers of the caller's to numbers and handles: refused where they are NULL or not aligned.
//!
//! The rest is a promise that cannot be checked: that as many elements stand there, and that nobody else writes to them
//! meanwhile.

use crate::error::{Error, Result};

fn is_null(argument: &str) -> Error {
    Error::invalid(argument, "is NULL")
}

fn check_alignment<T>(argument: &str, pointer: *const T) -> Result<()> {
    if pointer.is_aligned() {
        return Ok(());
    }
    Err(Error::invalid(argument, format!("is not aligned to {} bytes", align_of::<T>())))
}

/// A caller's array.
///
/// # Safety
/// `values` is NULL or valid for `count` elements while the result lives.
pub(super) unsafe fn list<'a, T>(argument: &str, count: usize, values: *const T) -> Result<&'a [T]> {
    if values.is_null() {
        return Err(is_null(argument));
    }
    check_alignment(argument, values)?;
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(Error::invalid(argument, format!("has {count} elements, more than 2^63 bytes")));
    }
    // SAFETY: not null, aligned and of a size that a slice may have; the caller promises the elements.
    Ok(unsafe { std::slice::from_raw_parts(values, count) })
}

/// A place for a scalar result.
///
/// # Safety
/// `target` is NULL or valid for writing and initialized.
pub(super) unsafe fn output<'a, T>(argument: &str, target: *mut T) -> Result<&'a mut T> {
    // SAFETY: as promised by the caller.
    unsafe { output_or_null(argument, target) }?.ok_or_else(|| is_null(argument))
}

/// The two elements of a complex result.
///
/// # Safety
/// `target` is NULL or valid for writing 2 initialized elements.
pub(super) unsafe fn complex_output<'a>(argument: &str, target: *mut f64) -> Result<&'a mut [f64; 2]> {
    // SAFETY: as promised by the caller.
    unsafe { output(argument, target.cast::<[f64; 2]>()) }
}

/// [`output`], or `None` for NULL.
///
/// # Safety
/// As for [`output`].
pub(super) unsafe fn output_or_null<'a, T>(argument: &str, target: *mut T) -> Result<Option<&'a mut T>> {
    check_alignment(argument, target)?;
    // SAFETY: aligned, or NULL; the rest as promised by the caller.
    Ok(unsafe { target.as_mut() })
}

/// Refuses a place for several results that is NULL or not aligned.
pub(super) fn check_outputs<T>(argument: &str, target: *mut T) -> Result<()> {
    if target.is_null() { Err(is_null(argument)) } else { check_alignment(argument, target) }
}

/// Refuses a place for several results that is not aligned.
pub(super) fn check_optional_outputs<T>(argument: &str, target: *mut T) -> Result<()> {
    check_alignment(argument, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_misaligned_and_endless_arrays_are_refused() {
        let mut numbers = [1.0f64, 2.0, 3.0];
        let shifted = numbers.as_mut_ptr().wrapping_byte_add(4);
        let text = |e: Error| e.to_string();
        // SAFETY: NULL, or numbers of this test's.
        unsafe {
            assert_eq!(list("x", 3, numbers.as_ptr()).unwrap(), [1.0, 2.0, 3.0]);
            assert_eq!(text(list("x", 2, shifted).unwrap_err()), "x: is not aligned to 8 bytes");
            assert_eq!(text(list::<f64>("x", 0, std::ptr::null()).unwrap_err()), "x: is NULL");
            let e = list("x", 1 << 60, numbers.as_ptr()).unwrap_err();
            assert_eq!(text(e), "x: has 1152921504606846976 elements, more than 2^63 bytes");
            assert_eq!(text(output("x", shifted).map(|_| ()).unwrap_err()), "x: is not aligned to 8 bytes");
            assert_eq!(text(output::<f64>("x", std::ptr::null_mut()).map(|_| ()).unwrap_err()), "x: is NULL");
            assert!(output_or_null::<f64>("x", std::ptr::null_mut()).unwrap().is_none());
            *output("x", numbers.as_mut_ptr()).unwrap() = 5.0;
        }
        assert!(check_outputs("x", shifted).is_err() && check_outputs::<f64>("x", std::ptr::null_mut()).is_err());
        assert!(check_optional_outputs("x", shifted).is_err());
        assert!(check_optional_outputs::<f64>("x", std::ptr::null_mut()).is_ok());
        assert_eq!(numbers[0], 5.0);
    }
}
