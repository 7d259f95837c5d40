//! Buffered reads of many short pieces of a file that lie close together.

use std::fs::File;
use std::io::Result;
use std::os::unix::fs::FileExt;

use crate::alloc;
use crate::shape::to_u64;

/// Pieces of at least this many bytes are read directly into the caller's memory.
const LONG: usize = 16 << 10;
/// Pieces at most this many bytes apart are read together, because the system copies whole pages anyway.
const NEAR: u64 = 4096;
/// Smallest and largest number of bytes that are read at once. The number doubles with each read.
const FIRST: usize = 16 << 10;
const MOST: usize = 1 << 20;

/// A buffer of bytes that were read ahead. The file is read and not mapped: if it has become shorter, the system returns an
/// error instead of ending the process.
#[derive(Default)]
pub struct ReadAhead {
    buffer: Vec<u8>,
    /// Offset of the buffer's first byte in the file, and the number of valid bytes.
    first: u64,
    held: usize,
    /// End of the last piece in the file, and the number of bytes to read next.
    end: Option<u64>,
    next: usize,
}

impl ReadAhead {
    /// Discards the buffer, because the file's owner may change the file meanwhile.
    pub fn forget(&mut self) {
        (self.held, self.end, self.next) = (0, None, FIRST);
    }

    /// Fills `out` from byte `place` on.
    ///
    /// # Errors
    /// Errors of the system; an unexpected end of file if the file ends before.
    pub fn read(&mut self, file: &File, out: &mut [u8], place: u64) -> Result<()> {
        let end = place.saturating_add(to_u64(out.len()));
        let follows = self.end.is_some_and(|last| place >= last && place - last <= NEAR);
        self.end = Some(end);
        if out.len() >= LONG {
            return file.read_exact_at(out, place);
        }
        if self.copy(out, place) {
            return Ok(());
        }
        if follows && self.fill(file, place)? && self.copy(out, place) {
            return Ok(());
        }
        file.read_exact_at(out, place)
    }

    /// Copies a piece that the buffer holds.
    fn copy(&self, out: &mut [u8], place: u64) -> bool {
        let piece = place.checked_sub(self.first).and_then(|at| usize::try_from(at).ok()).and_then(|at| {
            let held = self.buffer.get(..self.held)?;
            held.get(at..at.checked_add(out.len())?)
        });
        piece.map(|piece| out.copy_from_slice(piece)).is_some()
    }

    /// Fills the buffer from `place` on, up to the end of the file; `false` if the buffer cannot be allocated.
    fn fill(&mut self, file: &File, place: u64) -> Result<bool> {
        if self.buffer.is_empty() {
            match alloc::filled("read buffer", MOST, 0u8) {
                Ok(buffer) => self.buffer = buffer,
                Err(_) => return Ok(false),
            }
        }
        (self.first, self.held) = (place, 0);
        let wanted = self.next.clamp(FIRST, MOST);
        while self.held < wanted {
            match file.read_at(&mut self.buffer[self.held..wanted], place + to_u64(self.held)) {
                Ok(0) => break,
                Ok(n) => self.held += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.next = wanted.saturating_mul(2).min(MOST);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_near_and_far_are_as_in_the_file() {
        let path = std::env::temp_dir().join(format!("purlin-read-ahead-{}", std::process::id()));
        let bytes: Vec<u8> = (0..300_000u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let file = File::open(&path).unwrap();
        let mut ahead = ReadAhead::default();
        for (step, length) in [(16usize, 4usize), (5000, 8), (20_000, 17_000), (3000, 2999), (1, 1)] {
            ahead.forget();
            let mut place = 0;
            while place + length <= bytes.len() {
                let mut out = vec![0; length];
                ahead.read(&file, &mut out, to_u64(place)).unwrap();
                assert_eq!(out, bytes[place..place + length], "{step} {length} {place}");
                place += step;
            }
            let mut out = vec![0; 10];
            assert!(ahead.read(&file, &mut out, to_u64(bytes.len() - 5)).is_err());
        }
        std::fs::remove_file(&path).unwrap();
    }
}
