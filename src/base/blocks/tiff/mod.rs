//! TIFF: stacks of grey images, with one page a file or many pages a file, as ImageJ and most detectors write them.

mod directory;
mod sink;
mod source;
#[cfg(test)]
mod tests;

pub use sink::TiffSink;
pub use source::TiffSource;

use std::path::Path;

use crate::error::Error;

/// Start of the description in which ImageJ and compatible programs store a stack's spacing and origin.
const IMAGEJ: &str = "ImageJ=";

fn bad(path: &Path, problem: String) -> Error {
    Error::Io { path: path.display().to_string(), problem }
}
