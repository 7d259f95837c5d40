//! Errors of file operations, with the path and the operation, and their fault points.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};

/// An error of a file operation.
pub fn io_error(path: &Path, what: &str, error: &std::io::Error) -> Error {
    Error::Io { path: path.display().to_string(), problem: format!("{what}: {error}") }
}

/// The error of a read that needs `needed` bytes of the file. One that has become shorter is reported with its size.
pub fn read_error(path: &Path, what: &str, file: &File, needed: u64, error: &std::io::Error) -> Error {
    match file.metadata() {
        Ok(found) if error.kind() == ErrorKind::UnexpectedEof && found.len() < needed => {
            let problem = format!("{what}: has {} bytes, {needed} are needed", found.len());
            Error::Io { path: path.display().to_string(), problem }
        }
        _ => io_error(path, what, error),
    }
}

/// Fault point: a test can make a file operation fail here.
///
/// # Errors
/// [`Error::Io`] if a test asks for it.
#[cfg(feature = "fault-injection")]
#[track_caller]
pub fn file_fault(path: &Path, what: &'static str) -> Result<()> {
    if crate::fault::fails(crate::fault::Kind::File, what) {
        return Err(io_error(path, what, &std::io::Error::other("an injected fault")));
    }
    Ok(())
}

/// Fault point: nothing without the feature.
///
/// # Errors
/// None: only a build with the feature has faults.
#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub fn file_fault(_: &Path, _: &'static str) -> Result<()> {
    Ok(())
}
