//! The library as a whole: version, build, messages, live handles.

use std::ffi::{CString, c_char};
use std::sync::OnceLock;

use super::handle::AnyTable;
use super::{guard, objects, status};

/// Major version of the header.
pub const PURLIN_VERSION_MAJOR: i32 = 0;
/// Minor version of the header.
pub const PURLIN_VERSION_MINOR: i32 = 1;
/// Patch version of the header.
pub const PURLIN_VERSION_PATCH: i32 = 0;

/// Version of the library: major * 10000 + minor * 100 + patch. A program compares it with the header's.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_version() -> i32 {
    PURLIN_VERSION_MAJOR * 10_000 + PURLIN_VERSION_MINOR * 100 + PURLIN_VERSION_PATCH
}

/// How the library was built, as one line of text: version, target, and the GPU architectures of its kernels, or that
/// it has none. Never NULL; lives as long as the library.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_build_info() -> *const c_char {
    static TEXT: OnceLock<CString> = OnceLock::new();
    TEXT.get_or_init(|| CString::new(crate::build_info()).unwrap_or_default()).as_ptr()
}

/// Name of a status, as its constant is spelled. Any integer is accepted. Never NULL.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_status_string(status: i32) -> *const c_char {
    status::name(status).as_ptr()
}

/// Message of the error in this thread's last call: one line of UTF-8 with the argument, the value found and the value
/// expected; "" after a success. At most 1024 bytes; a message that was cut ends in "...". Never NULL;
/// valid until this thread's next purlin call.
///
/// All functions may be called while a thread or the program ends: from destructors of static and thread-local objects,
/// of thread-specific data and from `atexit` handlers. Calls from there may run on a thread of their own, callbacks
/// included, and so do calls from a thread with less than 384 KiB of stack left. A call delays `pthread_cancel` (with
/// the deferred type) until it has returned.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_last_error_message() -> *const c_char {
    guard::last_message()
}

/// Number of objects that were made and not destroyed, in the whole process. A program that cleans up ends at 0.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_live_handles() -> i64 {
    guard::inside(|| objects::tables().into_iter().map(AnyTable::live).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_version_is_cargos() {
        let text = format!("{PURLIN_VERSION_MAJOR}.{PURLIN_VERSION_MINOR}.{PURLIN_VERSION_PATCH}");
        assert_eq!(text, env!("CARGO_PKG_VERSION"));
    }
}
