//! The families, and the names derived from a family's name: its structs of options and of the report in C and in the
//! core.
//!
//! A family is a folder of `src` that is a crate, or whose folders are crates; base and comm are none. `purlin_x_options` of C is
//! `Options` of its `options.rs`, `purlin_x_info` is `Info` of its `info.rs`. Python then has the classes `XOptions` and
//! `XInfo`. The tables of the other modules list the exceptions.

use std::path::Path;

use crate::Interface;
use crate::interface::type_name;

/// Structs that end in `_info` and are no report of a run.
const NO_REPORTS: &[&str] = &["tt_info"];

/// Whether a folder, or one in it, is a crate.
fn has_crate(folder: &Path) -> bool {
    let inner = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path());
    folder.join("Cargo.toml").exists() || inner.into_iter().any(|path| path.join("Cargo.toml").exists())
}

/// Names of the families, in alphabetical order.
pub fn names(root: &Path) -> Vec<String> {
    let folders = std::fs::read_dir(root.join("src")).expect("src");
    let mut names: Vec<_> = folders
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| has_crate(path) && !path.ends_with("base") && !path.ends_with("comm"))
        .map(|path| path.file_name().expect("its name").to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    names
}

/// The structs of C without `purlin_` that the families have by their names with this end, `options` or `info`, and the
/// family.
pub fn structs(interface: &Interface, root: &Path, end: &str) -> Vec<(String, String)> {
    let of = |family: String| (format!("{family}_{end}"), family);
    let is_declared = |(short, _): &(String, String)| interface.structure(&format!("purlin_{short}")).is_some();
    let all = names(root).into_iter().map(of).filter(is_declared);
    all.filter(|(short, _)| !NO_REPORTS.contains(&short.as_str())).collect()
}

/// The class of a struct in Python.
pub fn class(short: &str) -> String {
    type_name(&format!("purlin_{short}"))
}

/// The file of `src/ffi` that declares a struct, without its extension.
///
/// # Panics
/// None does.
pub fn module(root: &Path, name: &str) -> String {
    let heading = format!("pub struct {name} {{");
    let files = std::fs::read_dir(root.join("src/ffi")).expect("src/ffi").map(|entry| entry.expect("an entry").path());
    let declares = |path: &std::path::PathBuf| {
        path.is_file() && std::fs::read_to_string(path).expect("a source").lines().any(|line| line == heading)
    };
    let found = files.into_iter().find(declares).unwrap_or_else(|| panic!("{name}: no file of src/ffi declares it"));
    found.file_stem().expect("a file").to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{header, root};

    #[test]
    fn families_have_structs_by_their_names() {
        let root = root();
        let names = names(&root);
        let has = |name: &str| names.iter().any(|n| n == name);
        assert!(has("rsvd") && has("tt") && !has("base") && !has("comm") && !has("ffi"), "{names:?}");
        let interface = Interface::parse(&header::text(&root));
        let found = structs(&interface, &root, "info");
        assert!(found.contains(&("fdk_info".to_owned(), "fdk".to_owned())), "{found:?}");
        assert!(found.iter().all(|(short, _)| short != "tt_info"), "{found:?}");
        assert_eq!(class("spmv_info"), "SpmvInfo");
        assert_eq!(module(&root, "purlin_pca_info"), "pca_types");
        for short in NO_REPORTS {
            assert!(interface.structure(&format!("purlin_{short}")).is_some(), "{short} is in the header");
        }
    }
}
