//! Files that repeat the declarations of the C header, made from it.
//!
//! [`header::text`] makes the header from `src/ffi`; [`Interface`] is its contents as data. Each other module makes the
//! files of one language. All are checked in. `tests/current.rs` compares them, and with `PURLIN_BLESS=1` writes them.

pub mod choices;
pub mod conversions;
pub mod cuda;
pub mod families;
pub mod fortran;
pub mod fortran_interfaces;
pub mod fortran_objects;
pub mod fortran_types;
pub mod header;
pub mod integers;
pub mod interface;
pub mod keywords;
pub mod layout;
pub mod matlab;
pub mod meanings;
mod parser;
pub mod python;
pub mod python_options;
pub mod words;

use std::path::{Path, PathBuf};

pub use interface::Interface;

/// A file that is generated, and the text that it has to have.
pub struct Generated {
    /// From the root of the repository.
    pub path: String,
    /// The text that the file must have.
    pub text: String,
}

impl Generated {
    /// A file at `path` from the root, with this text.
    pub fn new(path: impl Into<String>, text: String) -> Self {
        Self { path: path.into(), text }
    }
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All generated files of the repository.
pub fn generated() -> Vec<Generated> {
    generated_of(&root())
}

/// All generated files, from the sources under `root`.
pub fn generated_of(root: &Path) -> Vec<Generated> {
    let text = header::text(root);
    let interface = Interface::parse(&text);
    let mut files = vec![Generated::new("include/purlin.h", text)];
    files.extend(conversions::files(&interface, root));
    files.extend(fortran_types::files(&interface));
    files.extend(fortran_interfaces::files(&interface));
    files.extend(fortran_objects::files(&interface));
    files.extend(integers::files(root));
    files.extend(python::files(&interface));
    files.extend(python_options::files(&interface, root));
    files.extend(meanings::files(&interface));
    files.extend(matlab::files(&interface, root));
    files.extend(layout::files(&interface));
    files.extend(words::files(&interface));
    files.extend(cuda::files(&cuda::headers(root)));
    files
}
