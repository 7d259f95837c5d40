//! Fixtures of the tests of several families.

pub mod cancel;
pub mod checksums;
mod source;
pub mod sparse;

pub use source::source;
