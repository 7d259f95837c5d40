//! Checks of a file's directories before the decoder reads them.
//!
//! The decoder allocates as much memory as an entry claims, and it prints to the host's standard error if a text claims more
//! than is allowed. An entry that claims more than the file can hold is therefore refused here.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::format::bad;
use crate::alloc;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Upper bound of the bytes that the decoder may allocate for the values of a directory entry.
pub(super) const MOST_VALUES: u64 = 1 << 26;

/// Largest number of entries of a directory: the maximum of a classic TIFF's count.
const MOST_ENTRIES: u64 = 65_535;

/// Largest length of a text in bytes.
pub(super) const MOST_TEXT: u64 = 1 << 24;

/// TIFF's code of the type of texts.
const ASCII: u16 = 2;

/// Entries that are read: bits of a sample, description, offsets and sizes of strips, colours, offsets and sizes of tiles,
/// sample format, tables of JPEG.
const READ: [u64; 9] = [258, 270, 273, 279, 320, 324, 325, 339, 347];

/// Bytes that the decoder allocates for a number: for the file's form, its own form, and the caller's.
const NUMBER: u64 = 8 + 32 + 8;

/// Allocations below this number of bytes are not checked, because the allocator's reserve suffices for them.
const SMALL: usize = 4096;

/// Position of the next directory of a file, and limits of its entries.
pub(super) struct Directories {
    big: bool,
    little: bool,
    next: u64,
    /// Upper bound of the bytes of values that the decoder accepts.
    limit: u64,
    /// Bytes that the decoder allocates for the largest entry of the pages so far.
    largest: u64,
}

impl Directories {
    /// The directories of a file. The decoder accepts at most `limit` bytes of values. A file that is not a TIFF has no
    /// directories here; the decoder reports it.
    pub(super) fn new(file: &File, limit: u64) -> Self {
        let mut head = [0u8; 16];
        let count = (8..=16).rev().step_by(8).find(|n| file.read_exact_at(&mut head[..*n], 0).is_ok()).unwrap_or(0);
        let little = head.starts_with(b"II");
        let mut found = Self { big: false, little, next: 0, limit, largest: 0 };
        if count > 0 && (little || head.starts_with(b"MM")) {
            found.big = found.number(&head[2..4]) == 43;
            found.next = if found.big { found.number(&head[8..16]) } else { found.number(&head[4..8]) };
        }
        found
    }

    /// An unsigned number in the file's byte order.
    fn number(&self, bytes: &[u8]) -> u64 {
        let fold = |number: u64, b: &u8| number << 8 | u64::from(*b);
        if self.little { bytes.iter().rev().fold(0, fold) } else { bytes.iter().fold(0, fold) }
    }

    /// Checks the next directory, that of `page`, in a file of `length` bytes. A truncated directory is not refused here,
    /// because the decoder reports it.
    pub(super) fn check_next(&mut self, path: &Path, file: &File, length: u64, page: usize) -> Result<()> {
        let at = std::mem::take(&mut self.next);
        let (head, entry) = if self.big { (8, 20) } else { (2, 12) };
        let mut bytes = [0u8; 20];
        let mut read = |place: u64, count: usize| -> Option<[u8; 20]> {
            file.read_exact_at(&mut bytes[..count], place).ok().map(|()| bytes)
        };
        let Some(found) = (at > 0).then(|| read(at, head)).flatten() else { return Ok(()) };
        let entries = self.number(&found[..head]);
        if entries > MOST_ENTRIES {
            let problem = format!("page {page}: has a directory of {entries} entries, at most {MOST_ENTRIES} are read");
            return Err(bad(path, problem));
        }
        let mut place = at.saturating_add(to_u64(head));
        for _ in 0..entries {
            let Some(found) = read(place, entry) else { return Ok(()) };
            let (tag, kind) = (self.number(&found[..2]), self.number(&found[2..4]));
            let count = self.number(&found[4..if self.big { 12 } else { 8 }]);
            let most = length.min(MOST_TEXT);
            let is_text = kind == u64::from(ASCII);
            if READ.contains(&tag) {
                self.largest = self.largest.max(count.saturating_mul(if is_text { 2 } else { NUMBER }));
            }
            if is_text && count > most {
                let problem = format!("page {page}: tag {tag} claims a text of {count} bytes, at most {most} are read");
                return Err(bad(path, problem));
            }
            if is_text && count > self.limit {
                return Err(Error::OutOfMemory { what: "text of a TIFF file", bytes: count, limit: Some(self.limit) });
            }
            place = place.saturating_add(to_u64(entry));
        }
        let wide = if self.big { 8 } else { 4 };
        self.next = read(place, wide).map_or(0, |found| self.number(&found[..wide]));
        self.check_memory()
    }

    /// Refuses to go on if there is no memory for the largest entry: the decoder would end the process.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn check_memory(&self) -> Result<()> {
        // The decoder itself refuses larger entries.
        match usize::try_from(self.largest.min(2 * MOST_VALUES)) {
            Ok(bytes) if bytes < SMALL => Ok(()),
            Ok(bytes) => alloc::with_capacity::<u8>("values of a TIFF directory", bytes).map(drop),
            Err(_) => Ok(()),
        }
    }
}
