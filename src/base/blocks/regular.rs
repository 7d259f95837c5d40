//! Checks that inputs, and files that outputs replace, are regular files.
//!
//! A path can name a folder, a FIFO, a socket or a device. Opening a FIFO waits for its other end, reading a device may
//! never end, and renaming a file over one of these destroys it. All of them are refused here, before they are opened.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::failure::{file_fault, io_error};
use crate::error::{Error, Result};

fn refuse(path: &Path, problem: impl Into<String>) -> Error {
    Error::Io { path: path.display().to_string(), problem: problem.into() }
}

/// Device and inode number of a file: the same for all its names, hard and symbolic links included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileNumber {
    device: u64,
    inode: u64,
}

impl FileNumber {
    /// The number of the file that `found` describes.
    pub fn of(found: &Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino() }
    }

    /// The number of the file that `path` names, links followed; `None` if there is none, or the system does not say.
    pub fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|found| Self::of(&found))
    }
}

/// Name of a kind of file, with its article, for messages.
fn kind_name(kind: FileType) -> &'static str {
    match kind {
        k if k.is_file() => "a regular file",
        k if k.is_dir() => "a directory",
        k if k.is_fifo() => "a FIFO",
        k if k.is_socket() => "a socket",
        k if k.is_char_device() => "a character device",
        k if k.is_block_device() => "a block device",
        k if k.is_symlink() => "a symbolic link",
        _ => "no regular file",
    }
}

fn expect_regular(path: &Path, found: &Metadata) -> Result<()> {
    if found.is_file() {
        return Ok(());
    }
    Err(refuse(path, format!("is {}, a regular file is needed", kind_name(found.file_type()))))
}

/// Opens a file under a descriptor that is not one of the three standard streams.
///
/// A program may have closed its standard streams. The system would then give their numbers to the opened file, and
/// messages of the program or of its libraries would be written to it.
fn open_apart(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let is_standard = |file: &File| file.as_raw_fd() <= libc::STDERR_FILENO;
    // The free numbers are occupied while the file is opened. Messages of other threads are lost meanwhile, as before.
    let mut taken = [None, None, None];
    for place in &mut taken {
        match File::open("/dev/null") {
            Ok(file) if is_standard(&file) => *place = Some(file),
            _ => break,
        }
    }
    let file = options.open(path)?;
    // Only if /dev/null cannot be opened. A clone never gets one of the three numbers.
    if is_standard(&file) { file.try_clone() } else { Ok(file) }
}

/// Opens a regular file for reading and returns it with its length. Symbolic links are followed.
///
/// # Errors
/// [`Error::Io`] if it cannot be opened, or is not a regular file. It is then not opened: a FIFO would block until
/// somebody writes to it, and opening a device may change its state.
pub fn open_input(path: &Path) -> Result<(File, u64)> {
    file_fault(path, "open")?;
    let error = |e: io::Error| io_error(path, "open", &e);
    expect_regular(path, &fs::metadata(path).map_err(error)?)?;
    // Non-blocking, because the name may belong to another file since the check above.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = open_apart(OpenOptions::new().read(true).custom_flags(flags), path).map_err(error)?;
    file_fault(path, "size")?;
    let found = file.metadata().map_err(|e| io_error(path, "size", &e))?;
    expect_regular(path, &found)?;
    Ok((file, found.len()))
}

/// The destination of an output file: the file that its path names, with symbolic links resolved.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Destination {
    /// The folder, absolute and without symbolic links.
    pub(super) folder: PathBuf,
    pub(super) name: OsString,
}

impl Destination {
    /// Resolves `path`, which names no file, a regular file, or a symbolic link to a regular file.
    ///
    /// # Errors
    /// [`Error::Io`] for anything else, for a link to nothing and for a folder that is not there.
    pub(super) fn resolve(path: &Path) -> Result<Self> {
        let error = |e: io::Error| io_error(path, "create", &e);
        // `file_name` ignores a trailing slash, but for the system it means a folder.
        if path.as_os_str().as_bytes().ends_with(b"/") || path.file_name().is_none() {
            return Err(refuse(path, "is not a file's name"));
        }
        let target = match fs::symlink_metadata(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => path.to_owned(),
            Err(e) => return Err(error(e)),
            Ok(found) if found.is_symlink() => {
                let target = fs::canonicalize(path).map_err(|e| match e.kind() {
                    ErrorKind::NotFound => refuse(path, "is a symbolic link to no file"),
                    _ => error(e),
                })?;
                expect_regular(path, &fs::symlink_metadata(&target).map_err(error)?)?;
                target
            }
            Ok(found) => {
                expect_regular(path, &found)?;
                path.to_owned()
            }
        };
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Absolute, so that the file is found again after the process has changed its working directory.
        let folder = fs::canonicalize(folder).map_err(error)?;
        let name = target.file_name().ok_or_else(|| refuse(path, "is not a file's name"))?.to_owned();
        Ok(Self { folder, name })
    }

    /// The path of the file.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// Metadata of the file that would be replaced; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that it may not write to, and for one that is not a regular file.
    pub(super) fn existing(&self) -> Result<Option<Metadata>> {
        let path = self.path();
        // Opened for writing, so that a file that this process may not write to is refused. Nothing is written.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = match open_apart(OpenOptions::new().write(true).custom_flags(flags), &path) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(io_error(&path, "replace", &e)),
        };
        let found = file.metadata().map_err(|e| io_error(&path, "size", &e))?;
        expect_regular(&path, &found)?;
        Ok(Some(found))
    }
}

/// Longest part of a file's name that a temporary name repeats; the system's limit is 255 bytes.
const LONGEST_STEM: usize = 200;

/// Creates a file for reading and writing in `folder` under an unpredictable name that begins with `stem`. Neither an
/// existing file nor a symbolic link is ever opened.
///
/// # Errors
/// As the system says.
pub fn create_unnamed(folder: &Path, stem: &OsStr, mode: u32) -> io::Result<(File, PathBuf)> {
    let stem = &stem.as_bytes()[..stem.len().min(LONGEST_STEM)];
    let mut tries = 0u32;
    loop {
        // The name comes from a keyed hash whose key is a random number of the system.
        let mut hasher = std::hash::RandomState::new().build_hasher();
        hasher.write_u32(tries);
        hasher.write_u32(std::process::id());
        let mut name = stem.to_owned();
        name.extend_from_slice(format!(".{:016x}.partial", hasher.finish()).as_bytes());
        let path = folder.join(OsString::from_vec(name));
        // `create_new` does not follow links on most systems; the flag makes sure of it.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(mode).custom_flags(libc::O_NOFOLLOW);
        match open_apart(&options, &path) {
            // A child of fork() starts with its parent's key, so it may try names that the parent has used.
            Err(e) if e.kind() == ErrorKind::AlreadyExists && tries < 100 => tries += 1,
            Err(e) => return Err(e),
            Ok(file) => return Ok((file, path)),
        }
    }
}

/// Waits until the entries of `folder` are on the disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    // A folder may be writable but not readable. It is then not synchronized, and the system writes its entries later.
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_DIRECTORY | libc::O_NONBLOCK);
    let Ok(open) = open_apart(&options, folder) else {
        return Ok(());
    };
    match open.sync_all() {
        // Errors of file systems that cannot synchronize folders.
        Err(e) if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::ENOTSUP | libc::ENOSYS)) => Ok(()),
        outcome => outcome,
    }
}
