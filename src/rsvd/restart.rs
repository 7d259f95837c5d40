//! The state of a run in a file, so that a long run can continue after an interruption.
//!
//! The file is little-endian: the magic, then 64-bit words: version, element type, method, rows, columns, width, power
//! iterations, seed, checksum of the options, checksum of the data, iterations done, passes done, rows and columns of the
//! state; the version says which matrix the state is; the state's numbers in f64, column by column, complex ones as pairs; the checksum of everything before. It is
//! written through [`crate::blocks::provisional`], so the file is complete at any time.
//!
//! A run removes its restart file when it is complete. Therefore the path must not be a symbolic link, and a file that
//! this run neither read nor wrote is not removed.

use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::blocks::provisional::ProvisionalFile;
use crate::blocks::regular::open_input;
use crate::blocks::source::{file_fault, io_error};
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar};
use crate::shape::to_u64;

const MAGIC: &[u8; 8] = b"PURLINRS";

/// Version of files whose state is a basis W, as long as a row of the data.
const BASIS: u64 = 1;

/// Version of files whose state is a product A W.
const PRODUCT: u64 = 2;

/// Words between the magic and the state.
const WORDS: usize = 14;

/// Bytes of a number of the state in the file.
pub fn bytes_of_number(is_complex: bool) -> usize {
    if is_complex { 16 } else { 8 }
}

/// Bytes of the magic and the words before the state.
const HEAD: usize = 8 + 8 * WORDS;

/// Bytes that are read or written at a time: a multiple of a complex number's.
const PIECE: usize = 1 << 16;

/// FNV-1a, 64 bits, continued from `hash`.
pub fn checksum(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Initial value of [`checksum`], the offset basis of FNV-1a.
pub const CHECKSUM_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Properties that a run must have in common with the run whose state it continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Number of the element type.
    pub dtype: u64,
    /// Number of the method, as in the C interface.
    pub method: u64,
    /// Rows of the oriented problem.
    pub rows: u64,
    /// Columns of the oriented problem.
    pub columns: u64,
    /// Columns l of the sketch.
    pub width: u64,
    /// Power iterations q asked for.
    pub iterations: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Checksum of the other options that the result depends on.
    pub options: u64,
    /// Checksum of the data's first rows; 0 where they cannot be read.
    pub data: u64,
}

impl Identity {
    /// Whether the numbers of the state are complex.
    fn is_complex(&self) -> bool {
        [DType::CF32, DType::CF64].iter().any(|t| *t as u64 == self.dtype)
    }

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

/// A state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Whether it is a product A W; otherwise it is a basis W.
    pub is_product: bool,
    /// Iterations of the method that are done.
    pub iteration: usize,
    /// Passes that led to the state.
    pub passes: u64,
    /// Rows of the saved matrix.
    pub rows: usize,
    /// Columns of the saved matrix.
    pub columns: usize,
}

/// A state that was saved.
pub struct Saved {
    /// The state but for its numbers.
    pub state: State,
    path: PathBuf,
    file: File,
    /// The checksum of the head.
    head_sum: u64,
    /// The checksum of head and state.
    sum: u64,
}

impl Saved {
    /// Reads the numbers, column by column, into `out`, which has as many elements.
    ///
    /// # Errors
    /// [`Error::Io`], also for a file that changed since it was opened; [`Error::OutOfMemory`].
    pub fn read<T: Scalar>(&self, out: &mut [T]) -> Result<()> {
        if out.len() != crate::shape::product("restart state", self.state.rows, self.state.columns)? {
            return Err(Error::Internal(format!("{:?} for {} numbers", self.state, out.len())));
        }
        let parts = if T::IS_COMPLEX { 2 } else { 1 };
        let length = to_u64(out.len()) * 8 * parts as u64;
        let mut rest = out.iter_mut();
        let sum = for_pieces(&self.path, &self.file, length, self.head_sum, |piece| {
            for (cell, to) in piece.chunks_exact(8 * parts).zip(&mut rest) {
                let part = |k: usize| cell.get(8 * k..8 * k + 8).map_or(0.0, |b| f64::from_bits(word(b)));
                *to = T::from_parts(part(0), part(1));
            }
        })?;
        if sum != self.sum {
            return Err(Error::invalid("restart_path", format!("{}: changed while it was read", self.path.display())));
        }
        Ok(())
    }
}

/// Passes the `length` bytes after the head to `take`, piece by piece. Returns the checksum continued from `sum`.
fn for_pieces(path: &Path, file: &File, length: u64, mut sum: u64, mut take: impl FnMut(&[u8])) -> Result<u64> {
    let mut buffer = crate::alloc::filled("piece of a restart file", PIECE, 0u8)?;
    let mut done = 0;
    while done < length {
        let count = usize::try_from(length - done).unwrap_or(PIECE).min(PIECE);
        let piece = &mut buffer[..count];
        file_fault(path, "read")?;
        file.read_exact_at(piece, to_u64(HEAD) + done).map_err(|e| io_error(path, "read", &e))?;
        sum = checksum(sum, piece);
        take(piece);
        done += to_u64(count);
    }
    Ok(sum)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b))
}

/// A run's restart file: read once at the start, replaced after passes.
pub struct Restart {
    path: PathBuf,
    identity: Identity,
    saved: Option<Saved>,
    /// Whether a run went on from the saved state.
    is_taken: bool,
    /// Device and number of the file that this run read or wrote last.
    ours: Option<(u64, u64)>,
}

impl Restart {
    /// Opens the restart file at `path`. If the file exists, it must belong to the same problem and options.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the property that differs, and for a symbolic link; [`Error::Io`].
    pub fn open(path: &Path, identity: Identity) -> Result<Self> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => {
                let problem = format!("{}: is a symbolic link, which would be removed at the end", path.display());
                return Err(Error::invalid("restart_path", problem));
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {
                file_fault(path, "open")?;
                return Ok(Self { path: path.to_owned(), identity, saved: None, is_taken: false, ours: None });
            }
            _ => {}
        }
        let (file, length) = open_input(path)?;
        let found = file.metadata().map_err(|e| io_error(path, "size", &e))?;
        let saved = parse(path, file, length, &identity)?;
        let ours = Some(number(&found));
        Ok(Self { path: path.to_owned(), identity, saved: Some(saved), is_taken: false, ours })
    }

    /// The saved state, the first time; then `None`.
    pub fn take_saved(&mut self) -> Option<&Saved> {
        if std::mem::replace(&mut self.is_taken, true) { None } else { self.saved.as_ref() }
    }

    /// Gives the saved state once more, to a run that is repeated with scaled data.
    pub fn rewind(&mut self) {
        self.is_taken = false;
    }

    /// Writes the state.
    ///
    /// # Errors
    /// [`Error::Io`]; the file is then unchanged.
    pub fn save<T: Scalar>(&mut self, state: State, data: &[T]) -> Result<()> {
        let parts = if T::IS_COMPLEX { 2 } else { 1 };
        let mut file = ProvisionalFile::create(&self.path)?;
        let mut piece = crate::alloc::with_capacity("piece of a restart file", PIECE)?;
        let (mut place, mut sum) = (0, CHECKSUM_START);
        let mut pass = |piece: &mut Vec<u8>| -> Result<()> {
            file.write_at(piece, place)?;
            place += to_u64(piece.len());
            sum = checksum(sum, piece);
            piece.clear();
            Ok(())
        };
        piece.extend_from_slice(MAGIC);
        let identity = self.identity.words().map(|(_, w)| w);
        let tail = [to_u64(state.iteration), state.passes, to_u64(state.rows), to_u64(state.columns)];
        let version = if state.is_product { PRODUCT } else { BASIS };
        for w in [version].iter().chain(&identity).chain(&tail) {
            piece.extend_from_slice(&w.to_le_bytes());
        }
        pass(&mut piece)?;
        for numbers in data.chunks(PIECE / (8 * parts)) {
            for x in numbers {
                piece.extend_from_slice(&x.re().to_le_bytes());
                if T::IS_COMPLEX {
                    piece.extend_from_slice(&x.im().to_le_bytes());
                }
            }
            pass(&mut piece)?;
        }
        file.write_at(&sum.to_le_bytes(), place)?;
        let outcome = file.finish();
        if file.has_name() {
            self.ours = Some(file.identity());
        }
        outcome
    }

    /// Removes the file of a run that is complete, if it is the one that this run read or wrote last.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(&self) -> Result<()> {
        file_fault(&self.path, "remove")?;
        let error = |e: std::io::Error| io_error(&self.path, "remove", &e);
        match fs::symlink_metadata(&self.path) {
            Ok(found) if Some(number(&found)) == self.ours => fs::remove_file(&self.path).map_err(error),
            Err(e) if e.kind() != ErrorKind::NotFound => Err(error(e)),
            _ => Ok(()),
        }
    }
}

fn number(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// The state in a file of `length` bytes. Its numbers are not kept: only their checksum is compared.
fn parse(path: &Path, file: File, length: u64, identity: &Identity) -> Result<Saved> {
    let refuse = |problem: String| Error::invalid("restart_path", format!("{}: {problem}", path.display()));
    let mut head = [0u8; HEAD];
    let least = to_u64(HEAD) + 8;
    if length >= least {
        file_fault(path, "read")?;
        file.read_exact_at(&mut head, 0).map_err(|e| io_error(path, "read", &e))?;
    }
    if !head.starts_with(MAGIC) {
        return Err(refuse("is not a restart file".into()));
    }
    let bytes = length - least;
    let head_sum = checksum(CHECKSUM_START, &head);
    let sum = for_pieces(path, &file, bytes, head_sum, |_| ())?;
    let mut last = [0u8; 8];
    file_fault(path, "read")?;
    file.read_exact_at(&mut last, length - 8).map_err(|e| io_error(path, "read", &e))?;
    if sum != word(&last) {
        return Err(refuse("is damaged: its checksum is wrong".into()));
    }
    let mut words = [0u64; WORDS];
    for (w, bytes) in words.iter_mut().zip(head[MAGIC.len()..].chunks_exact(8)) {
        *w = word(bytes);
    }
    if ![BASIS, PRODUCT].contains(&words[0]) {
        return Err(refuse(format!("has version {}, {BASIS} or {PRODUCT} is needed", words[0])));
    }
    for ((name, needed), found) in identity.words().iter().zip(&words[1..]) {
        if needed != found {
            return Err(refuse(format!("is of another run: its {name} is {found}, this one's {needed}")));
        }
    }
    let size = |w: u64| usize::try_from(w).map_err(|_| refuse(format!("holds the size {w}")));
    let (rows, columns) = (size(words[12])?, size(words[13])?);
    let parts = if identity.is_complex() { 2 } else { 1 };
    let cells = words[12].checked_mul(words[13]).and_then(|c| c.checked_mul(8 * parts));
    if cells != Some(bytes) {
        return Err(refuse(format!("holds {bytes} bytes for a state of {rows} x {columns}")));
    }
    let (iteration, is_product) = (size(words[10])?, words[0] == PRODUCT);
    let state = State { is_product, iteration, passes: words[11], rows, columns };
    Ok(Saved { state, path: path.to_owned(), file, head_sum, sum })
}
