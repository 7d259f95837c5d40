//! The state of a run in a file, so that one of hours can go on where it was interrupted.
//!
//! Little-endian: the magic, then 64-bit words: version, element type, method, rows, columns, width, power iterations, seed,
//! checksum of the options, checksum of the data, iterations done, passes done, rows and columns of the state; the state's
//! numbers in f64, column by column, complex ones as pairs; the checksum of all before. It is written beside its final
//! name and renamed, so that the file is whole at any time.

use std::fs;
use std::path::{Path, PathBuf};

use crate::blocks::source::{file_fault, io_error};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::shape::to_u64;

const MAGIC: &[u8; 8] = b"PURLINRS";
const VERSION: u64 = 1;

/// Words between the magic and the state.
const WORDS: usize = 14;

/// Bytes of a number of the state in the file.
pub fn bytes_of_number(is_complex: bool) -> usize {
    if is_complex { 16 } else { 8 }
}

/// FNV-1a, 64 bits, continued from `hash`.
pub fn checksum(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// What [`checksum`] begins with.
pub const CHECKSUM_START: u64 = 0xcbf2_9ce4_8422_2325;

/// What a run must have in common with the one that it goes on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Number of the element type.
    pub dtype: u64,
    /// Number of the method.
    pub method: u64,
    /// Rows of the oriented problem.
    pub rows: u64,
    /// Its columns.
    pub columns: u64,
    /// Columns of the sketch.
    pub width: u64,
    /// Power iterations.
    pub iterations: u64,
    /// The seed.
    pub seed: u64,
    /// Checksum of the other options that the result depends on.
    pub options: u64,
    /// Checksum of the data's first rows; 0 where they cannot be read.
    pub data: u64,
}

impl Identity {
    fn words(&self) -> [(&'static str, u64); 9] {
        [
            ("type", self.dtype),
            ("method", self.method),
            ("rows", self.rows),
            ("columns", self.columns),
            ("width", self.width),
            ("power_iterations", self.iterations),
            ("seed", self.seed),
            ("options", self.options),
            ("data", self.data),
        ]
    }
}

/// A state that was saved.
pub struct Saved {
    /// Iterations done.
    pub iteration: usize,
    /// Passes done.
    pub passes: u64,
    /// Rows of the state.
    pub rows: usize,
    /// Its columns.
    pub columns: usize,
    numbers: Vec<u8>,
}

impl Saved {
    /// The numbers, column by column.
    pub fn elements<T: Scalar>(&self) -> Result<Vec<T>> {
        let count = self.rows * self.columns;
        let mut out = crate::alloc::with_capacity("restart state", count)?;
        let parts = if T::IS_COMPLEX { 2 } else { 1 };
        out.extend(self.numbers.chunks_exact(8 * parts).map(|cell| {
            let part = |k: usize| cell.get(8 * k..8 * k + 8).map_or(0.0, |b| f64::from_bits(word(b)));
            T::from_parts(part(0), part(1))
        }));
        Ok(out)
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b))
}

/// A run's restart file.
pub struct Restart {
    path: PathBuf,
    identity: Identity,
    saved: Option<Saved>,
}

impl Restart {
    /// The file at `path`; if there is one, it must be of the same problem and options.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming what does not fit; [`Error::Io`].
    pub fn open(path: &Path, identity: Identity) -> Result<Self> {
        file_fault(path, "open")?;
        let saved = match fs::read(path) {
            Ok(bytes) => Some(parse(path, &bytes, &identity)?),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => return Err(io_error(path, "read", &e)),
        };
        Ok(Self { path: path.to_owned(), identity, saved })
    }

    /// The state to go on from, once.
    pub fn take_saved(&mut self) -> Option<Saved> {
        self.saved.take()
    }

    /// Writes the state.
    ///
    /// # Errors
    /// [`Error::Io`]; the file is then as it was before.
    pub fn save<T: Scalar>(
        &mut self,
        iteration: usize,
        passes: u64,
        rows: usize,
        columns: usize,
        data: &[T],
    ) -> Result<()> {
        let parts = if T::IS_COMPLEX { 2 } else { 1 };
        let length = MAGIC.len() + 8 * (WORDS + 1 + parts * data.len());
        let mut bytes = crate::alloc::with_capacity("restart file", length)?;
        bytes.extend_from_slice(MAGIC);
        let identity = self.identity.words().map(|(_, w)| w);
        let tail = [to_u64(iteration), passes, to_u64(rows), to_u64(columns)];
        for w in [VERSION].iter().chain(&identity).chain(&tail) {
            bytes.extend_from_slice(&w.to_le_bytes());
        }
        for x in data {
            bytes.extend_from_slice(&x.re().to_le_bytes());
            if T::IS_COMPLEX {
                bytes.extend_from_slice(&x.im().to_le_bytes());
            }
        }
        let sum = checksum(CHECKSUM_START, &bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        let mut name = self.path.as_os_str().to_owned();
        name.push(".part");
        let part = PathBuf::from(name);
        let written = file_fault(&part, "write").and_then(|()| {
            fs::write(&part, &bytes).map_err(|e| io_error(&part, "write", &e))?;
            fs::rename(&part, &self.path).map_err(|e| io_error(&self.path, "rename", &e))
        });
        if written.is_err() {
            // The error that is reported is the first one.
            let _ = fs::remove_file(&part);
        }
        written
    }

    /// Removes the file of a run that is complete.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(&self) -> Result<()> {
        file_fault(&self.path, "remove")?;
        match fs::remove_file(&self.path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(io_error(&self.path, "remove", &e)),
            _ => Ok(()),
        }
    }
}

fn parse(path: &Path, bytes: &[u8], identity: &Identity) -> Result<Saved> {
    let refuse = |problem: String| Error::invalid("restart_path", format!("{}: {problem}", path.display()));
    let head = MAGIC.len() + 8 * WORDS;
    if bytes.len() < head + 8 || bytes.get(..MAGIC.len()) != Some(MAGIC) {
        return Err(refuse("is not a restart file".into()));
    }
    let (body, sum) = bytes.split_at(bytes.len() - 8);
    if checksum(CHECKSUM_START, body) != word(sum) {
        return Err(refuse("is damaged: its checksum is wrong".into()));
    }
    let words: Vec<u64> = body[MAGIC.len()..head].chunks_exact(8).map(word).collect();
    if words[0] != VERSION {
        return Err(refuse(format!("has version {}, {VERSION} is needed", words[0])));
    }
    for ((name, needed), found) in identity.words().iter().zip(&words[1..]) {
        if needed != found {
            return Err(refuse(format!("is of another run: its {name} is {found}, this one's {needed}")));
        }
    }
    let size = |w: u64| usize::try_from(w).map_err(|_| refuse(format!("holds the size {w}")));
    let (rows, columns) = (size(words[12])?, size(words[13])?);
    let state = &body[head..];
    let numbers = to_u64(state.len() / 8);
    let cells = words[12].checked_mul(words[13]);
    if !cells.is_some_and(|c| numbers == c || Some(numbers) == c.checked_mul(2)) {
        return Err(refuse(format!("holds {numbers} numbers for a state of {rows} x {columns}")));
    }
    let mut copy = crate::alloc::with_capacity("restart state", state.len())?;
    copy.extend_from_slice(state);
    Ok(Saved { iteration: size(words[10])?, passes: words[11], rows, columns, numbers: copy })
}
