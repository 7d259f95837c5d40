//! Refusals of sinks whose files the same run needs otherwise.
//!
//! A finished sink replaces the file of its name. If the run reads that file, the replaced file may be the only copy of its
//! data. If two sinks go to one file, only one of their arrays stays.

use super::regular::FileNumber;
use super::sink::Sink;
use super::source::Source;
use crate::error::{Error, Result};

/// Refuses a sink that would replace a file of `source`, whatever name the sink has for it. The arguments are `name` and
/// `read`.
///
/// # Errors
/// [`Error::InvalidArgument`] for `name`.
pub fn refuse_file_of_source(name: &str, sink: &dyn Sink, read: &str, source: &dyn Source) -> Result<()> {
    // A name that no file has yet is that of no file that is read.
    let is_read = |path: &std::path::PathBuf| FileNumber::at(path).is_some_and(|file| source.is_from_file(file));
    match sink.files().iter().flatten().find(|path| is_read(path)) {
        Some(path) => Err(Error::invalid(name, format!("goes to a file that {read} is read from, {}", path.display()))),
        None => Ok(()),
    }
}

/// Refuses a sink that goes to a file of `other`. The arguments are `name` and `before`.
///
/// # Errors
/// [`Error::InvalidArgument`] for `name`.
pub fn refuse_file_of_sink(name: &str, sink: &dyn Sink, before: &str, other: &dyn Sink) -> Result<()> {
    let (own, others) = (sink.files(), other.files());
    match own.iter().flatten().find(|path| others.iter().flatten().any(|other| other == *path)) {
        Some(path) => Err(Error::invalid(name, format!("goes to the file of {before}, {}", path.display()))),
        None => Ok(()),
    }
}
