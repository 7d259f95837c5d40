//! The state of a run in a file, so that a long run can continue after an interruption.
//!
//! The file is little-endian: the magic; 64-bit words; the state's numbers in f64, column by column, complex ones as pairs;
//! the checksum of everything before. The words are the version, the progress of the run, and its properties
//! ([`super::identity`]). The file is written through [`crate::blocks::provisional`], so it is complete at any time.
//!
//! A run removes its restart file when it is complete. Therefore the path must not be a symbolic link, and a file that
//! this run neither read nor wrote, or that has changed since, is neither replaced nor removed ([`super::own_file`]). A file
//! that another program gives the name between that check and the renaming or removal, which follow at once, is lost.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::identity::{CHECKSUM_START, Identity, PROPERTIES, checksum};
use super::own_file::{FileIdentity, OwnFile, PIECE, Sums, for_pieces};
use super::statistics::Statistics;
use crate::blocks::provisional::ProvisionalFile;
use crate::blocks::regular::open_input;
use crate::blocks::source::{file_fault, io_error};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::shape::to_u64;

const MAGIC: &[u8; 8] = b"PURLINRS";

/// Version of the format.
const VERSION: u64 = 3;

/// Words of the progress of a run.
const PROGRESS: usize = 9;

/// Words between the magic and the state.
const WORDS: usize = 1 + PROGRESS + PROPERTIES;

/// Bytes of a number of the state in the file.
pub fn bytes_of_number(is_complex: bool) -> usize {
    if is_complex { 16 } else { 8 }
}

/// Bytes of the magic and the words before the state.
const HEAD: usize = 8 + 8 * WORDS;

/// A try of a run: the data are multiplied by a power of two if their squares leave the range of the type, which only a try
/// without it finds out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// The power of two; 1 in the first try.
    pub factor: f64,
    /// Passes of the try before this one.
    pub earlier_passes: u64,
}

impl Default for Attempt {
    fn default() -> Self {
        Self { factor: 1.0, earlier_passes: 0 }
    }
}

/// Figures of the data from the first pass, which those of a run that goes on must equal.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figures {
    /// Largest modulus of an entry; NaN if it is not known.
    max_abs: f64,
    /// ||A||_F^2; NaN for an estimate, and for centred data, whose norm may be rounding errors.
    norm2: f64,
}

impl Figures {
    const UNKNOWN: Self = Self { max_abs: f64::NAN, norm2: f64::NAN };

    /// Whether both figures are those of `other`, where both are known, up to the rounding errors of sums whose terms have
    /// the relative error `roundoff`.
    fn agrees(&self, other: &Self, roundoff: f64) -> bool {
        let limit = 1e3 * roundoff.max(1e-12);
        let is_near =
            |x: f64, y: f64| x.is_nan() || y.is_nan() || x == y || (x - y).abs() <= limit * x.abs().max(y.abs());
        is_near(self.max_abs, other.max_abs) && is_near(self.norm2, other.norm2)
    }
}

/// The state of an interrupted run, as the head of its restart file describes it.
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

/// The head of a saved state.
#[derive(Debug, Clone, Copy)]
struct Head {
    state: State,
    /// The try that it belongs to.
    attempt: Attempt,
    figures: Figures,
}

/// A state that was saved.
pub struct Saved<'r> {
    /// The state but for its numbers.
    pub state: State,
    path: &'r Path,
    own: &'r OwnFile,
}

impl Saved<'_> {
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
        let sum = for_pieces(self.path, &self.own.file, (to_u64(HEAD), length), self.own.sums.head, |piece| {
            for (cell, to) in piece.chunks_exact(8 * parts).zip(&mut rest) {
                let part = |k: usize| cell.get(8 * k..8 * k + 8).map_or(0.0, |b| f64::from_bits(word(b)));
                *to = T::from_parts(part(0), part(1));
            }
        })?;
        if sum != self.own.sums.all {
            return Err(Error::invalid("restart_path", format!("{}: changed while it was read", self.path.display())));
        }
        Ok(())
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b))
}

/// A run's restart file: read once at the start, replaced after passes.
pub struct Restart {
    path: PathBuf,
    identity: Identity,
    saved: Option<Head>,
    /// Whether a run went on from the saved state.
    is_taken: bool,
    /// The file that this run read or wrote last.
    ours: Option<OwnFile>,
    /// The try that states are saved of.
    attempt: Attempt,
    figures: Figures,
}

impl Restart {
    /// Opens the restart file at `path`. If the file exists, it must belong to the same problem and options. If states could
    /// not be written to `path`, this fails. `checksum_of_data` is called after all other properties were compared.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the property that differs, and for a symbolic link; [`Error::Io`].
    pub fn open(path: &Path, identity: Identity, checksum_of_data: &mut dyn FnMut() -> Result<u64>) -> Result<Self> {
        let exists = match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => {
                let problem = "is a symbolic link, which would be removed at the end";
                return Err(refused(path, problem));
            }
            Err(e) if e.kind() == ErrorKind::NotFound => false,
            _ => true,
        };
        // A file that cannot be written is refused now, not after the first pass.
        drop(ProvisionalFile::create(path)?);
        let mut found = None;
        if exists {
            found = Some(parse(path, open_input(path)?.0, &identity)?);
        }
        let identity = identity.with_data(checksum_of_data()?);
        if let Some((_, _, properties)) = &found {
            compare(path, &identity, properties, true)?;
        }
        let (saved, ours) = found.map(|(saved, own, _)| (saved, own)).unzip();
        let attempt = saved.map_or(Attempt::default(), |saved: Head| saved.attempt);
        Ok(Self { path: path.to_owned(), identity, saved, is_taken: false, ours, attempt, figures: Figures::UNKNOWN })
    }

    /// The try that a run has to make: that of the saved state.
    pub fn attempt(&self) -> Attempt {
        self.attempt
    }

    /// Begins another try.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a run went on from the saved state: its data did not need that.
    pub fn begin(&mut self, attempt: Attempt) -> Result<()> {
        if attempt != self.attempt && self.is_taken && self.saved.is_some() {
            return Err(self.of_other_data());
        }
        self.attempt = attempt;
        Ok(())
    }

    /// The saved state, the first time; then `None`.
    pub fn take_saved(&mut self) -> Option<Saved<'_>> {
        if std::mem::replace(&mut self.is_taken, true) {
            return None;
        }
        Some(Saved { state: self.saved?.state, path: &self.path, own: self.ours.as_ref()? })
    }

    /// Notes the statistics of the data, which have to be those of the saved state's data.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if they are not.
    pub fn note(&mut self, statistics: &Statistics, roundoff: f64) -> Result<()> {
        let has_norm = !statistics.is_estimate && !self.identity.is_centred();
        let max_abs = if statistics.is_estimate { f64::NAN } else { statistics.max_abs };
        self.figures = Figures { max_abs, norm2: if has_norm { statistics.norm2 } else { f64::NAN } };
        match &self.saved {
            Some(saved) if !saved.figures.agrees(&self.figures, roundoff) => Err(self.of_other_data()),
            _ => Ok(()),
        }
    }

    fn of_other_data(&self) -> Error {
        refused(&self.path, "is of another run: its data differ behind the first MiB")
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
        let mut head_sum = None;
        let mut pass = |piece: &mut Vec<u8>| -> Result<()> {
            file.write_at(piece, place)?;
            place += to_u64(piece.len());
            sum = checksum(sum, piece);
            // The head is the first piece.
            head_sum.get_or_insert(sum);
            piece.clear();
            Ok(())
        };
        piece.extend_from_slice(MAGIC);
        let progress: [u64; PROGRESS] = [
            u64::from(state.is_product),
            to_u64(state.iteration),
            state.passes,
            to_u64(state.rows),
            to_u64(state.columns),
            self.attempt.factor.to_bits(),
            self.attempt.earlier_passes,
            self.figures.max_abs.to_bits(),
            self.figures.norm2.to_bits(),
        ];
        for w in [VERSION].iter().chain(&progress).chain(self.identity.words()) {
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
        file_fault(&self.path, "size")?;
        let written = file.file().metadata().map_err(|e| io_error(&self.path, "size", &e))?;
        let outcome = self.put(&mut file);
        if file.has_name() {
            let sums = Sums { head_bytes: HEAD, head: head_sum.unwrap_or(sum), all: sum };
            self.ours = Some(OwnFile::new(file.shared(), &written, sums));
        }
        outcome
    }

    /// Gives the complete file its name, if no file has it or the one that this run read or wrote last.
    fn put(&self, file: &mut ProvisionalFile) -> Result<()> {
        let Some(ours) = &self.ours else { return file.finish_new() };
        // Before the check: it may take seconds until the file is on the disk.
        file.seal()?;
        match ours.found_at(&self.path)? {
            FileIdentity::Own => file.rename(),
            FileIdentity::Nothing => file.finish_new(),
            FileIdentity::Foreign => {
                let problem = "is not the file that this run wrote before, and is not replaced";
                Err(Error::Io { path: self.path.display().to_string(), problem: problem.into() })
            }
        }
    }

    /// Removes the file of a run that is complete, if it is the one that this run read or wrote last.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(&self) -> Result<()> {
        file_fault(&self.path, "remove")?;
        match &self.ours {
            Some(ours) if ours.found_at(&self.path)? == FileIdentity::Own => {
                fs::remove_file(&self.path).map_err(|e| io_error(&self.path, "remove", &e))
            }
            _ => Ok(()),
        }
    }
}

fn refused(path: &Path, problem: impl std::fmt::Display) -> Error {
    Error::invalid("restart_path", format!("{}: {problem}", path.display()))
}

fn compare(path: &Path, identity: &Identity, properties: &[u64], with_data: bool) -> Result<()> {
    match identity.difference(properties, with_data) {
        Some(difference) => Err(refused(path, format!("is of another run: {difference}"))),
        None => Ok(()),
    }
}

/// The state in a file, the file, and the properties of its run, which must be those of `identity` but for the data.
/// The state's numbers are not kept: only their checksum is compared.
fn parse(path: &Path, file: File, identity: &Identity) -> Result<(Head, OwnFile, [u64; PROPERTIES])> {
    file_fault(path, "size")?;
    let written = file.metadata().map_err(|e| io_error(path, "size", &e))?;
    let length = written.len();
    let refuse = |problem: String| refused(path, problem);
    let mut head = [0u8; HEAD];
    let begin = usize::try_from(length).map_or(HEAD, |length| length.min(HEAD));
    file_fault(path, "read")?;
    file.read_exact_at(&mut head[..begin], 0).map_err(|e| io_error(path, "read", &e))?;
    if !head.starts_with(MAGIC) || begin < MAGIC.len() + 8 {
        return Err(refuse("is not a restart file".into()));
    }
    let mut words = [0u64; WORDS];
    for (w, bytes) in words.iter_mut().zip(head[MAGIC.len()..].chunks_exact(8)) {
        *w = word(bytes);
    }
    if (1..VERSION).contains(&words[0]) {
        return Err(refuse(format!("has version {}, which this library does not read: {VERSION} is needed", words[0])));
    }
    let least = to_u64(HEAD) + 8;
    let Some(bytes) = length.checked_sub(least) else { return Err(refuse("is not a restart file".into())) };
    let head_sum = checksum(CHECKSUM_START, &head);
    let sum = for_pieces(path, &file, (to_u64(HEAD), bytes), head_sum, |_| ())?;
    let mut last = [0u8; 8];
    file_fault(path, "read")?;
    file.read_exact_at(&mut last, length - 8).map_err(|e| io_error(path, "read", &e))?;
    if sum != word(&last) {
        return Err(refuse("is damaged: its checksum is wrong".into()));
    }
    if words[0] != VERSION {
        return Err(refuse(format!("has version {}, {VERSION} is needed", words[0])));
    }
    let [_, is_product, iteration, passes, rows, columns, factor, earlier_passes, max_abs, norm2, properties @ ..] =
        words;
    compare(path, identity, &properties, false)?;
    let size = |w: u64| usize::try_from(w).map_err(|_| refuse(format!("holds the size {w}")));
    let cells = rows.checked_mul(columns).and_then(|c| c.checked_mul(to_u64(bytes_of_number(identity.is_complex()))));
    if cells != Some(bytes) {
        return Err(refuse(format!("holds {bytes} bytes for a state of {rows} x {columns}")));
    }
    let state = State {
        is_product: is_product != 0,
        iteration: size(iteration)?,
        passes,
        rows: size(rows)?,
        columns: size(columns)?,
    };
    let attempt = Attempt { factor: f64::from_bits(factor), earlier_passes };
    let figures = Figures { max_abs: f64::from_bits(max_abs), norm2: f64::from_bits(norm2) };
    let sums = Sums { head_bytes: HEAD, head: head_sum, all: sum };
    Ok((Head { state, attempt, figures }, OwnFile::new(Arc::new(file), &written, sums), properties))
}
