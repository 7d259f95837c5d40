//! Files as memory.

use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// A file's bytes, mapped for reading from the front to the back.
///
/// The pages belong to the system's cache of files: they count against no budget and go when memory is short.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is only read.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// The first `bytes` bytes of `file`, which has as many.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(file: &File, bytes: usize) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self { start: NonNull::dangling(), bytes });
        }
        // SAFETY: a new mapping at an address of the system's choice; nothing that exists is replaced.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(Error::last_os_error)?;
        // SAFETY: the mapping of above. This is advice: a system that does not take it reads less far ahead.
        unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_SEQUENTIAL) };
        Ok(Self { start, bytes })
    }

    /// Copies the bytes from `first` on. What lies outside of the mapping is not copied, and `false`.
    ///
    /// The file must not have been made shorter since: what is no longer there cannot be read, and the system ends the
    /// process that tries.
    pub fn read(&self, first: usize, out: &mut [u8]) -> bool {
        let inside = first.checked_add(out.len()).is_some_and(|end| end <= self.bytes);
        if inside {
            // SAFETY: inside of the mapping, and `out` is the caller's own memory. A copy, not a slice: another process
            // may write to the file meanwhile, and then the bytes are either's.
            unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr().add(first), out.as_mut_ptr(), out.len()) };
        }
        inside
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: the mapping of `new`, unmapped once. It cannot fail for arguments that were mapped.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
        }
    }
}
