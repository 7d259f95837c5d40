//! The generated files agree with the sources.
//!
//! `PURLIN_BLESS=1 cargo test -p purlin-header` writes them, and removes those that nothing makes any more.

use std::collections::BTreeSet;
use std::fs;

use purlin_header::{Interface, generated, header, root};

/// Folders whose files are all generated.
const FOLDERS: &[&str] = &[
    "bindings/fortran/generated",
    "bindings/fortran/integers",
    "bindings/matlab/src/generated",
    "src/ffi/generated",
    "tests/c/generated",
    "tests/fortran/generated",
];

#[test]
fn the_generated_files_are_current() {
    let bless = std::env::var_os("PURLIN_BLESS").is_some();
    let files = generated();
    let mut stale = Vec::new();
    for file in &files {
        let path = root().join(&file.path);
        if fs::read_to_string(&path).unwrap_or_default() == file.text {
            continue;
        }
        if bless {
            fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
            fs::write(&path, &file.text).expect("the file can be written");
        } else {
            stale.push(file.path.clone());
        }
    }
    let made: BTreeSet<_> = files.iter().map(|file| file.path.clone()).collect();
    for folder in FOLDERS {
        for entry in fs::read_dir(root().join(folder)).expect("a folder of generated files") {
            let entry = entry.expect("an entry");
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if made.contains(&path) {
                continue;
            }
            if bless {
                fs::remove_file(entry.path()).expect("the file can be removed");
            } else {
                stale.push(path);
            }
        }
    }
    assert!(stale.is_empty(), "{stale:?}: run PURLIN_BLESS=1 cargo test -p purlin-header");
}

#[test]
fn no_file_is_made_twice() {
    let mut made = BTreeSet::new();
    for file in generated() {
        assert!(made.insert(file.path.clone()), "{} is made twice", file.path);
    }
}

#[test]
fn the_header_declares_only_names_of_purlin() {
    let interface = Interface::parse(&header::text(&root()));
    let functions = interface.functions.iter().chain(&interface.callbacks).map(|f| &f.name);
    let names: Vec<_> = functions.chain(interface.structs.iter().map(|s| &s.name)).collect();
    assert!(names.len() > 300, "{} names", names.len());
    for name in names {
        assert!(name.starts_with("purlin_"), "the header declares {name}, which belongs to another library");
    }
    for constant in &interface.constants {
        assert!(constant.name.starts_with("PURLIN_"), "the header defines {}", constant.name);
    }
    for (name, value) in [("PURLIN_ERROR_BUSY", -3), ("PURLIN_F64", 1)] {
        assert!(interface.constants.iter().any(|c| c.name == name && c.value == value), "{name} is {value}");
    }
}
