//! TIFF: stacks of grey images, with one page a file or many pages a file, as ImageJ and most detectors write them.

mod directory;
mod format;
mod sink;
mod source;
#[cfg(test)]
mod tests;

pub use sink::TiffSink;
pub use source::TiffSource;
