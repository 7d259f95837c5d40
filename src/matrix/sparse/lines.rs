//! Lines of text files, plain or compressed by gzip.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::alloc;
use crate::blocks::sink::ProvisionalFile;
use crate::blocks::source::{file_fault, io_error};
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// A line longer than this is no line of numbers.
const LONGEST: usize = 1 << 16;
/// Text that is held before it goes to its file.
const HELD: usize = 1 << 20;
/// A line that is written is shorter.
const SHORT: usize = 1 << 8;
/// What is read at a time: a fixed size, which cannot fail and is small for that.
const CHUNK: usize = 1 << 14;

/// The lines of a file with their numbers, from 1.
pub(super) struct Lines<'a> {
    path: &'a Path,
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
    number: u64,
}

impl<'a> Lines<'a> {
    /// Opens a file; one that begins as gzip does is expanded while it is read.
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        file_fault(path, "open")?;
        let file = File::open(path).map_err(|e| io_error(path, "open", &e))?;
        let mut reader = BufReader::with_capacity(CHUNK, file);
        file_fault(path, "read")?;
        let front = reader.fill_buf().map_err(|e| io_error(path, "read", &e))?;
        let reader: Box<dyn BufRead> = if front.starts_with(&[0x1f, 0x8b]) {
            Box::new(BufReader::with_capacity(CHUNK, flate2::bufread::MultiGzDecoder::new(reader)))
        } else {
            Box::new(reader)
        };
        Ok(Self { path, reader, line: Vec::new(), number: 0 })
    }

    /// The next line without its end and the blanks around it; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<&str>> {
        self.line.clear();
        let limit = to_u64(LONGEST + 1);
        let count = self
            .reader
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut self.line)
            .map_err(|e| io_error(self.path, "read", &e))?;
        if count == 0 {
            return Ok(None);
        }
        self.number += 1;
        if count > LONGEST {
            return Err(self.wrong(format!("is longer than {LONGEST} bytes")));
        }
        match std::str::from_utf8(&self.line) {
            Ok(text) => Ok(Some(text.trim())),
            Err(_) => Err(self.wrong("is not text")),
        }
    }

    /// The file.
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

/// A text file that is written from its beginning to its end, by gzip if its name ends in `.gz`. It has its name once all of
/// it is there.
pub(super) struct TextFile<'a> {
    path: &'a Path,
    file: ProvisionalFile,
    place: u64,
    text: Vec<u8>,
    packer: Option<GzEncoder<Vec<u8>>>,
}

impl<'a> TextFile<'a> {
    pub(super) fn create(path: &'a Path) -> Result<Self> {
        let text = alloc::with_capacity("text of a file", HELD + SHORT)?;
        let packed = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz"));
        let packer = packed.then(|| GzEncoder::new(Vec::new(), Compression::default()));
        Ok(Self { path, file: ProvisionalFile::create(path)?, place: 0, text, packer })
    }

    /// Where to put a line; [`TextFile::spill`] is to be called before the next, or there is no room for it.
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Writes the text that is held, if it has become much.
    pub(super) fn spill(&mut self) -> Result<()> {
        if self.text.len() > HELD { self.pass() } else { Ok(()) }
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> Result<()> {
        self.pass()?;
        if let Some(packer) = self.packer.take() {
            let rest = packer.finish().map_err(|e| io_error(self.path, "write", &e))?;
            self.write(&rest)?;
        }
        self.file.finish()
    }

    fn pass(&mut self) -> Result<()> {
        let mut text = std::mem::take(&mut self.text);
        match &mut self.packer {
            None => self.write(&text)?,
            Some(packer) => {
                packer.write_all(&text).map_err(|e| io_error(self.path, "write", &e))?;
                let packed = std::mem::take(packer.get_mut());
                self.write(&packed)?;
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
