//! The mark of ImageJ's descriptions, and errors of files.

use std::path::Path;

use crate::error::Error;

/// Start of the description in which ImageJ and compatible programs store a stack's spacing and origin.
pub(super) const IMAGEJ: &str = "ImageJ=";

pub(super) fn bad(path: &Path, problem: String) -> Error {
    Error::Io { path: path.display().to_string(), problem }
}
