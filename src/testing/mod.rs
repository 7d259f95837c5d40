//! Fixtures of the tests of several families.

pub(crate) mod checksums;
pub(crate) mod sparse;

use std::path::PathBuf;

/// A file below the root of the repository: in the tree that the run names by the variable, which on another machine than
/// the compiler's is another one.
pub(crate) fn source(path: &str) -> PathBuf {
    let tree = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    tree.join(path)
}
