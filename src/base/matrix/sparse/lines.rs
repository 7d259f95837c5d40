//! Lines of text files, plain or compressed by gzip.

use std::fs::File;
use std::io::{self, BufRead, Read, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::alloc;
use crate::blocks::provisional::ProvisionalFile;
use crate::blocks::regular::open_input;
use crate::blocks::source::{file_fault, io_error};
use crate::error::{Error, Result};
use crate::progress::CancelWatch;
use crate::shape::to_u64;

/// Longest line that is read, in bytes; longer lines are errors.
const LONGEST: usize = 1 << 16;
/// Bytes of text that are buffered before they are written.
const HELD: usize = 1 << 20;
/// Upper bound of the length of a written line, in bytes.
const SHORT: usize = 1 << 8;
/// Bytes that are read at a time.
const CHUNK: usize = 1 << 14;

/// Largest number of bytes of text for each byte of a gzip file: deflate's limit is 1032.
const MOST_GROWTH: u64 = 1032;

/// A buffered reader. Unlike std's, its allocation returns an error.
struct Buffered<R> {
    inner: R,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
}

impl<R: Read> Buffered<R> {
    fn new(inner: R) -> Result<Self> {
        Ok(Self { inner, buffer: alloc::filled("buffer of a file", CHUNK, 0u8)?, at: 0, end: 0 })
    }
}

impl<R: Read> BufRead for Buffered<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            file_fault(Path::new(""), "read").map_err(io::Error::other)?;
            (self.at, self.end) = (0, self.inner.read(&mut self.buffer)?);
        }
        Ok(&self.buffer[self.at..self.end])
    }

    fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.end);
    }
}

impl<R: Read> Read for Buffered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

/// The text of a file.
enum Text {
    Plain(Buffered<File>),
    Packed(Buffered<MultiGzDecoder<Buffered<File>>>),
}

/// Lines that are read between two checks for a cancellation.
const WATCHED: u64 = 1 << 12;

/// The lines of a file with their numbers, from 1.
pub(super) struct Lines<'a> {
    path: &'a Path,
    cancel: CancelWatch<'a>,
    text: Text,
    line: Vec<u8>,
    number: u64,
    most_bytes: u64,
}

impl<'a> Lines<'a> {
    /// Opens a regular file; one that begins with gzip's magic bytes is decompressed while it is read. `cancel` ends the
    /// reading.
    pub(super) fn open(path: &'a Path, cancel: CancelWatch<'a>) -> Result<Self> {
        let (file, length) = open_input(path)?;
        let mut file = Buffered::new(file)?;
        let front = file.fill_buf().map_err(|e| io_error(path, "read", &e))?;
        let (text, most_bytes) = if front.starts_with(&[0x1f, 0x8b]) {
            (Text::Packed(Buffered::new(MultiGzDecoder::new(file))?), length.saturating_mul(MOST_GROWTH))
        } else {
            (Text::Plain(file), length)
        };
        let line = alloc::with_capacity("line of a file", LONGEST + 1)?;
        Ok(Self { path, cancel, text, line, number: 0, most_bytes })
    }

    /// Upper bound of the bytes of text in a file of its length.
    pub(super) fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// The next line without its end and the blanks around it; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<&str>> {
        if self.number.is_multiple_of(WATCHED) {
            self.cancel.check()?;
        }
        self.line.clear();
        let limit = to_u64(LONGEST + 1);
        let reader: &mut dyn BufRead = match &mut self.text {
            Text::Plain(reader) => reader,
            Text::Packed(reader) => reader,
        };
        // Does not allocate: the line has this capacity.
        let count = reader.take(limit).read_until(b'\n', &mut self.line).map_err(|e| self.read_error(&e))?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        if count > LONGEST {
            return Err(self.wrong(format!("is longer than {LONGEST} bytes")));
        }
        // Refuse files whose lines end in CR only: all lines would be read as one.
        if self.line.trim_ascii().contains(&b'\r') {
            return Err(self.wrong("has a carriage return in it, lines end in a line feed"));
        }
        match std::str::from_utf8(&self.line) {
            Ok(text) => Ok(Some(text.trim())),
            // A comment may be in another encoding than UTF-8; its text is not used.
            Err(_) if self.line.trim_ascii_start().starts_with(b"%") => Ok(Some("%")),
            Err(_) if self.line.trim_ascii_start().starts_with(b"#") => Ok(Some("#")),
            Err(_) => Err(self.wrong("is not text")),
        }
    }

    /// An error of reading. A decoder that has no header after text is behind the end of a member, and the bytes there are
    /// not another member.
    fn read_error(&self, error: &io::Error) -> Error {
        let is_behind_member = match &self.text {
            Text::Plain(_) => false,
            Text::Packed(reader) => {
                let has_text = self.number > 0 || !self.line.is_empty();
                has_text && reader.inner.header().is_none()
            }
        };
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput if is_behind_member => {
                self.bad("has bytes behind its last whole gzip member")
            }
            _ => io_error(self.path, "read", error),
        }
    }

    /// Path of the file, for messages.
    pub(super) fn path(&self) -> &Path {
        self.path
    }

    /// An error that names the line read last.
    pub(super) fn wrong(&self, problem: impl std::fmt::Display) -> Error {
        self.bad(format!("line {}: {problem}", self.number))
    }

    /// An error that names the file.
    pub(super) fn bad(&self, problem: impl Into<String>) -> Error {
        Error::Io { path: self.path.display().to_string(), problem: problem.into() }
    }
}

/// A text file that is written sequentially, with gzip if its name ends in `.gz`. The file gets its name only when it
/// is complete.
pub(super) struct TextFile<'a> {
    path: &'a Path,
    cancel: CancelWatch<'a>,
    file: ProvisionalFile,
    place: u64,
    text: Vec<u8>,
    packer: Option<GzEncoder<Vec<u8>>>,
}

impl<'a> TextFile<'a> {
    /// Begins a file, which is removed if `cancel` ends the writing.
    pub(super) fn create(path: &'a Path, cancel: CancelWatch<'a>) -> Result<Self> {
        let text = alloc::with_capacity("text of a file", HELD + SHORT)?;
        let packed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
        let packer = match packed {
            false => None,
            // Incompressible text grows by a few bytes a block.
            true => Some(GzEncoder::new(
                alloc::with_capacity("compressed text of a file", HELD + HELD / 8)?,
                Compression::default(),
            )),
        };
        Ok(Self { path, cancel, file: ProvisionalFile::create(path)?, place: 0, text, packer })
    }

    /// The buffer for the next line. Call [`TextFile::spill`] after each line, or the buffer may overflow its capacity.
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Writes the buffered text if it is long.
    pub(super) fn spill(&mut self) -> Result<()> {
        if self.text.len() > HELD { self.pass() } else { Ok(()) }
    }

    /// Writes the remaining text and completes the file.
    pub(super) fn finish(mut self) -> Result<()> {
        self.pass()?;
        if let Some(packer) = self.packer.take() {
            let rest = packer.finish().map_err(|e| io_error(self.path, "write", &e))?;
            self.write(&rest)?;
        }
        self.file.finish()
    }

    fn pass(&mut self) -> Result<()> {
        self.cancel.check()?;
        let mut text = std::mem::take(&mut self.text);
        match &mut self.packer {
            None => self.write(&text)?,
            Some(packer) => {
                packer.write_all(&text).map_err(|e| io_error(self.path, "write", &e))?;
                let mut packed = std::mem::take(packer.get_mut());
                let outcome = self.write(&packed);
                packed.clear();
                if let Some(packer) = &mut self.packer {
                    *packer.get_mut() = packed;
                }
                outcome?;
            }
        }
        text.clear();
        self.text = text;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_at(bytes, self.place)?;
        self.place += to_u64(bytes.len());
        Ok(())
    }
}
