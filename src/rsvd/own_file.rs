//! The restart file that a run read or wrote last, and whether it still is the file under the run's path.
//!
//! Device and inode number do not show that: another program may have written to the file in place, and a system gives the
//! number of a removed file to a new one. So the run keeps its file open, which keeps the number from being given away, and
//! compares the length, both ends of the contents, and the times of the last change. Where only the times differ - after a
//! change of permissions, with a new hard link, on file systems that round times - it compares the checksum of all contents.

use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Arc;

use super::identity::{CHECKSUM_START, checksum};
use crate::blocks::source::{file_fault, io_error};
use crate::error::Result;
use crate::shape::to_u64;

/// Bytes that are read or written at a time: a multiple of a complex number's.
pub const PIECE: usize = 1 << 16;

/// Passes `length` bytes from byte `start` on to `take`, piece by piece. Returns the checksum continued from `sum`.
///
/// # Errors
/// [`Error::Io`](crate::error::Error::Io), also for a file that ends before; out of memory.
pub fn for_pieces(
    path: &Path,
    file: &File,
    (start, length): (u64, u64),
    mut sum: u64,
    mut take: impl FnMut(&[u8]),
) -> Result<u64> {
    let mut buffer = crate::alloc::filled("piece of a restart file", PIECE, 0u8)?;
    let mut done = 0;
    while done < length {
        let count = usize::try_from(length - done).unwrap_or(PIECE).min(PIECE);
        let piece = &mut buffer[..count];
        file_fault(path, "read")?;
        file.read_exact_at(piece, start + done).map_err(|e| io_error(path, "read", &e))?;
        sum = checksum(sum, piece);
        take(piece);
        done += to_u64(count);
    }
    Ok(sum)
}

/// Checksums of a restart file.
#[derive(Debug, Clone, Copy)]
pub struct Sums {
    /// Bytes of the head: all before the state.
    pub head_bytes: usize,
    /// Checksum of the head alone.
    pub head: u64,
    /// Checksum of the head and the state, which the last 8 bytes hold.
    pub all: u64,
}

/// The file that a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileIdentity {
    /// No file is there.
    Nothing,
    /// The run's file, with the contents that the run read or wrote.
    Own,
    /// Another file, or the run's with other contents.
    Foreign,
}

/// The times of the last changes of contents and of status, seconds and nanoseconds.
fn times(written: &Metadata, linked: &Metadata) -> [(i64, i64); 2] {
    [(written.mtime(), written.mtime_nsec()), (linked.ctime(), linked.ctime_nsec())]
}

/// A file that a run read or wrote.
pub struct OwnFile {
    pub(super) file: Arc<File>,
    /// Device and inode number.
    number: (u64, u64),
    length: u64,
    /// `None` if they are not known.
    times: Option<[(i64, i64); 2]>,
    pub(super) sums: Sums,
}

impl OwnFile {
    /// A file that was complete when the system said `written` of it. It may have got its name since.
    pub fn new(file: Arc<File>, written: &Metadata, sums: Sums) -> Self {
        // A new name is a change of the status.
        let times = file.metadata().ok().map(|linked| times(written, &linked));
        Self { file, number: (written.dev(), written.ino()), length: written.len(), times, sums }
    }

    /// Whether `path` names this file.
    ///
    /// # Errors
    /// [`Error::Io`](crate::error::Error::Io) if that cannot be found out; out of memory.
    pub fn found_at(&self, path: &Path) -> Result<FileIdentity> {
        let found = match fs::symlink_metadata(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(FileIdentity::Nothing),
            found => found.map_err(|e| io_error(path, "size", &e))?,
        };
        let is_same = found.is_file() && (found.dev(), found.ino()) == self.number && found.len() == self.length;
        if !is_same || !self.has_own_ends(path)? {
            return Ok(FileIdentity::Foreign);
        }
        if self.times == Some(times(&found, &found)) {
            return Ok(FileIdentity::Own);
        }
        let head = to_u64(self.sums.head_bytes);
        let state = (head, self.length.saturating_sub(head + 8));
        let all = for_pieces(path, &self.file, state, self.sums.head, |_| ())?;
        Ok(if all == self.sums.all { FileIdentity::Own } else { FileIdentity::Foreign })
    }

    /// Whether the head and the checksum at the end are those that the run read or wrote.
    fn has_own_ends(&self, path: &Path) -> Result<bool> {
        let end = self.length.saturating_sub(8);
        let error = |e: std::io::Error| io_error(path, "read", &e);
        file_fault(path, "read")?;
        let (mut head, mut last) = (crate::alloc::filled("head of a restart file", self.sums.head_bytes, 0u8)?, [0; 8]);
        let read = self.file.read_exact_at(&mut head, 0).and_then(|()| self.file.read_exact_at(&mut last, end));
        match read {
            // The file has become shorter since it was looked at.
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(false),
            read => {
                read.map_err(error)?;
                Ok(checksum(CHECKSUM_START, &head) == self.sums.head && u64::from_le_bytes(last) == self.sums.all)
            }
        }
    }
}
