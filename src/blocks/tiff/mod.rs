//! TIFF: stacks of grey images, as one file a page or as many pages a file; what ImageJ and most detectors write.

mod directory;
mod sink;
mod source;
#[cfg(test)]
mod tests;

pub use sink::TiffSink;
pub use source::TiffSource;

use std::path::Path;

use crate::error::Error;

/// What starts the description by which ImageJ, and those who follow it, tell a stack's place in space.
const IMAGEJ: &str = "ImageJ=";

fn bad(path: &Path, problem: String) -> Error {
    Error::Io { path: path.display().to_string(), problem }
}
