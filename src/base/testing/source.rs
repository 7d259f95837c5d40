//! Paths of files of the repository, wherever the tests run.

use std::path::PathBuf;

/// A file below the root of the repository. The variable `CARGO_MANIFEST_DIR` of the run names the root, which on another
/// machine than the compiler's is another folder, or a member below it, where cargo runs the tests.
pub fn source(path: &str) -> PathBuf {
    let named = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let root = named.ancestors().find(|folder| folder.join("tests/golden").is_dir()).unwrap_or(&named);
    root.join(path)
}
