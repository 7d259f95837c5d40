//! Output files that get their final name when they are complete.
//!
//! A file is written under an unpredictable name in the folder of its target, made durable, and renamed. A run that
//! fails, is cancelled or is killed does not change the target.
//!
//! - An existing target must be a regular file that this process may write to. Directories, FIFOs, sockets and devices are
//!   refused; to write to one, use a [`CallbackSink`](super::sink::CallbackSink).
//! - A symbolic link to a regular file is followed: the file it points to is replaced, the link stays. A link to nothing
//!   is refused.
//! - A file that replaces another one has its permissions, and its owner and group where this process may set them.
//!   Otherwise the permissions are those of `open` with mode 0666. Access control lists and extended attributes are not
//!   copied.
//! - If a target has several hard links, only the given name gets the new file. The others keep the old contents.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::regular::{Destination, FileNumber, create_unnamed, sync_folder};
use super::source::{file_fault, io_error};
use crate::backend::signals::without_size_signal;
use crate::error::{Error, Result};

/// A file under a provisional name. It is removed if it is dropped before [`ProvisionalFile::finish`].
#[derive(Debug)]
pub struct ProvisionalFile {
    file: Arc<File>,
    partial: PathBuf,
    /// The target as the caller named it, made absolute.
    path: PathBuf,
    destination: Destination,
    /// To detect another file under the provisional name.
    number: FileNumber,
    finished: bool,
    process: u32,
}

impl ProvisionalFile {
    /// Creates the file beside `path`.
    ///
    /// # Errors
    /// [`Error::Io`] if `path` cannot be replaced (see the module), or no file can be created in its folder.
    pub fn create(path: &Path) -> Result<Self> {
        file_fault(path, "create")?;
        let error = |e: io::Error| io_error(path, "create", &e);
        let destination = Destination::resolve(path)?;
        let existing = destination.existing()?;
        // A file that replaces another one may be private until its permissions are known.
        let mode = if existing.is_some() { 0o600 } else { 0o666 };
        let absolute = std::path::absolute(path).map_err(error)?;
        let (file, partial) = create_unnamed(&destination.folder, &destination.name, mode).map_err(error)?;
        let found = match file_fault(path, "size").and_then(|()| file.metadata().map_err(error)) {
            Ok(found) => found,
            Err(e) => {
                // The number of the file cannot be checked here. The name was created just now, so it is removed.
                let _ = fs::remove_file(&partial);
                return Err(e);
            }
        };
        let made = Self {
            file: Arc::new(file),
            partial,
            path: absolute,
            destination,
            number: FileNumber::of(&found),
            finished: false,
            process: std::process::id(),
        };
        if let Some(existing) = existing {
            made.take_over(&existing, &found).map_err(error)?;
        }
        Ok(made)
    }

    /// The path of the final file.
    pub fn destination(&self) -> PathBuf {
        self.destination.path()
    }

    /// Gives the file the owner, the group and the permissions of the one that it replaces.
    fn take_over(&self, existing: &Metadata, found: &Metadata) -> io::Result<()> {
        file_fault(&self.path, "set the permissions").map_err(io::Error::other)?;
        // Only a privileged process may change the owner. Otherwise the owner is this process.
        let owner = existing.uid() == found.uid() || fchown(&self.file, Some(existing.uid()), None).is_ok();
        let group = existing.gid() == found.gid() || fchown(&self.file, None, Some(existing.gid())).is_ok();
        let mode = existing.mode();
        self.file.set_permissions(Permissions::from_mode(match (owner, group) {
            (true, true) => mode & 0o7777,
            (false, true) => mode & 0o777,
            // The group differs, so it gets the permissions of all others.
            (_, false) => mode & 0o707 | (mode & 0o7) << 3,
        }))
    }

    /// Writes at a byte of the file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_at(&self, data: &[u8], place: u64) -> Result<()> {
        file_fault(&self.path, "write")?;
        without_size_signal(|| self.file.write_all_at(data, place)).map_err(|e| io_error(&self.partial, "write", &e))
    }

    /// Sets the size of the file, which is zero where nothing was written.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn set_size(&self, bytes: u64) -> Result<()> {
        file_fault(&self.path, "set the size")?;
        without_size_signal(|| self.file.set_len(bytes)).map_err(|e| io_error(&self.path, "set the size", &e))
    }

    /// Makes the contents durable, and checks that the file may still be renamed.
    ///
    /// # Errors
    /// [`Error::Io`]; the target is unchanged.
    pub fn seal(&self) -> Result<()> {
        file_fault(&self.path, "write out")?;
        self.file.sync_all().map_err(|e| io_error(&self.partial, "write out", &e))?;
        let changed = |what: &str| Error::Io { path: self.path.display().to_string(), problem: what.into() };
        if Destination::resolve(&self.path)? != self.destination {
            return Err(changed("names another file than when it was created"));
        }
        self.expect_in_place()
    }

    /// # Errors
    /// [`Error::Io`] if another file has the provisional name, or none.
    fn expect_in_place(&self) -> Result<()> {
        if self.is_in_place() {
            return Ok(());
        }
        let problem = "its provisional file was removed or replaced".into();
        Err(Error::Io { path: self.path.display().to_string(), problem })
    }

    /// Gives the file its final name.
    ///
    /// # Errors
    /// [`Error::Io`]. The target is unchanged, unless the system reports that it could not make the new name durable.
    pub fn finish(&mut self) -> Result<()> {
        self.seal()?;
        self.rename()
    }

    /// The last step of [`ProvisionalFile::finish`], after [`ProvisionalFile::seal`].
    ///
    /// # Errors
    /// As [`ProvisionalFile::finish`].
    pub fn rename(&mut self) -> Result<()> {
        file_fault(&self.path, "rename")?;
        // Another file of the caller may have become durable since this one was sealed, which takes long.
        self.expect_in_place()?;
        fs::rename(&self.partial, self.destination.path()).map_err(|e| io_error(&self.path, "rename", &e))?;
        self.finished = true;
        self.sync_name()
    }

    /// Makes the new name durable.
    fn sync_name(&self) -> Result<()> {
        file_fault(&self.path, "write out its folder")?;
        sync_folder(&self.destination.folder).map_err(|e| io_error(&self.path, "write out its folder", &e))
    }

    /// [`ProvisionalFile::finish`], but for a name that no file has.
    ///
    /// # Errors
    /// As [`ProvisionalFile::finish`], and [`Error::Io`] if the name exists by now; the existing file is not changed.
    pub fn finish_new(&mut self) -> Result<()> {
        self.seal()?;
        let target = self.destination.path();
        file_fault(&self.path, "link")?;
        match fs::hard_link(&self.partial, &target) {
            Ok(()) => {
                self.finished = true;
                // The file has its final name. A provisional name that cannot be removed is harmless.
                if self.is_in_place() {
                    let _ = fs::remove_file(&self.partial);
                }
                self.sync_name()
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(self.came_meanwhile()),
            // A file system without hard links. A file that is created between this check and the renaming is replaced.
            Err(_) if fs::symlink_metadata(&target).is_ok() => Err(self.came_meanwhile()),
            Err(_) => self.rename(),
        }
    }

    fn came_meanwhile(&self) -> Error {
        let problem = "came into being meanwhile, and is not replaced".into();
        Error::Io { path: self.path.display().to_string(), problem }
    }

    /// Whether `destination` is the file that will be replaced or created.
    pub(super) fn replaces(&self, destination: &Destination) -> bool {
        self.destination == *destination
    }

    /// Whether the file has its final name, even if the system could not make the name durable.
    pub fn has_name(&self) -> bool {
        self.finished
    }

    /// The open file, whichever of its two names it has.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// [`ProvisionalFile::file`], to keep it open.
    pub fn shared(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Whether the provisional name is still this file's.
    fn is_in_place(&self) -> bool {
        fs::symlink_metadata(&self.partial).is_ok_and(|found| FileNumber::of(&found) == self.number)
    }
}

impl Drop for ProvisionalFile {
    fn drop(&mut self) {
        // A child of fork() that drops its copy must not remove the parent's file.
        if !self.finished && self.process == std::process::id() && self.is_in_place() {
            // A file that cannot be removed stays.
            let _ = fs::remove_file(&self.partial);
        }
    }
}
