//! An option or a figure of a report takes two edits: the field in the core and the one in the C struct. A family takes
//! its own files. All else follows.

use std::fs;
use std::path::{Path, PathBuf};

use purlin_header::{generated_of, root};

/// A copy of the files that the generators read.
fn scratch(name: &str) -> PathBuf {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if to.exists() {
        fs::remove_dir_all(&to).expect("the old copy can be removed");
    }
    for folder in ["src", "cuda", "bindings/fortran", "bindings/matlab"] {
        copy(&root().join(folder), &to.join(folder));
    }
    fs::copy(root().join("cbindgen.toml"), to.join("cbindgen.toml")).expect("a copy");
    to
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        // Also behind a link, as `src/base/cuda` is.
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// Adds lines to the end of a struct.
fn append(file: &Path, structure: &str, lines: &str) {
    let text = fs::read_to_string(file).expect("a source");
    let start = text.find(&format!("pub struct {structure} {{\n")).expect("the struct");
    let indent = text[..start].rsplit('\n').next().expect("a line").len();
    let end = start + text[start..].find(&format!("\n{}}}", " ".repeat(indent))).expect("its end") + 1;
    let lines: String = lines.lines().map(|line| format!("{}{line}\n", " ".repeat(indent + 4))).collect();
    fs::write(file, format!("{}{lines}{}", &text[..end], &text[end..])).expect("the copy can be written");
}

/// Makes the two edits, and checks that these generated files, and no others, have the field.
fn expect_everywhere(name: &str, core: (&str, &str, &str), c: (&str, &str, &str), field: &str, files: &[&str]) {
    let root = scratch(name);
    append(&root.join(core.0), core.1, core.2);
    append(&root.join(c.0), c.1, c.2);
    let mut found: Vec<_> =
        generated_of(&root).into_iter().filter(|file| file.text.contains(field)).map(|file| file.path).collect();
    found.sort_unstable();
    let mut files = files.to_vec();
    files.sort_unstable();
    assert_eq!(found, files);
    fs::remove_dir_all(root).expect("the copy can be removed");
}

#[test]
fn an_option_takes_two_edits() {
    expect_everywhere(
        "option",
        ("src/rsvd/options.rs", "Options", "/// How much of it.\npub novelty: usize = 3,"),
        ("src/ffi/rsvd_types.rs", "purlin_rsvd_options", "/// How much of it; default 3.\npub novelty: i64,"),
        "novelty",
        &[
            "bindings/fortran/generated/purlin_types.inc",
            "bindings/matlab/+purlin/+internal/option_names.m",
            "bindings/matlab/src/generated/options.h",
            "bindings/python/purlin/_meanings.py",
            "bindings/python/purlin/_options.py",
            "bindings/python/purlin/_structs.py",
            "docs/interface.md",
            "include/purlin.h",
            "src/ffi/generated/rsvd.rs",
            "tests/c/generated/layout.h",
            "tests/fortran/generated/layout.inc",
        ],
    );
}

#[test]
fn a_figure_of_a_report_takes_two_edits() {
    expect_everywhere(
        "figure",
        ("src/rsvd/info.rs", "Info", "/// How much there was.\npub novelty: i64 = 0,"),
        ("src/ffi/rsvd_types.rs", "purlin_rsvd_info", "/// How much there was.\npub novelty: i64,"),
        "novelty",
        &[
            "bindings/fortran/generated/purlin_types.inc",
            "bindings/matlab/src/generated/reports.h",
            "bindings/python/purlin/_meanings.py",
            "bindings/python/purlin/_reports.py",
            "bindings/python/purlin/_structs.py",
            "docs/interface.md",
            "include/purlin.h",
            "src/ffi/generated/rsvd.rs",
            "tests/c/generated/layout.h",
            "tests/fortran/generated/layout.inc",
        ],
    );
}

#[test]
fn a_choice_has_its_words_in_all_languages() {
    let constants = "/// The old way.\npub const PURLIN_RSVD_FASHION_OLD: i32 = 0;\n/// The new way.\npub const PURLIN_RSVD_FASHION_NEW: i32 = 1;\n";
    let root = scratch("choice");
    let types = root.join("src/ffi/rsvd_types.rs");
    let text = fs::read_to_string(&types).expect("a source");
    let at = text.find("/// How a matrix is decomposed.").expect("the struct");
    fs::write(&types, format!("{}{constants}\n{}", &text[..at], &text[at..])).expect("the copy can be written");
    // Two 32-bit fields fill eight bytes.
    append(
        &types,
        "purlin_rsvd_options",
        "/// Which way, one of PURLIN_RSVD_FASHION_*; default OLD.\npub fashion: i32,\n/// 1: at once; default 0.\npub at_once: i32,",
    );
    append(
        &root.join("src/rsvd/options.rs"),
        "Options",
        "/// Which way.\npub fashion: Fashion = Fashion::Old,\n/// Whether at once.\npub at_once: bool = false,",
    );
    let all = generated_of(&root);
    for (path, line) in [
        ("bindings/matlab/src/generated/words.h", "{\"new\", PURLIN_RSVD_FASHION_NEW},"),
        (
            "bindings/matlab/src/generated/options.h",
            "read_choice(given, \"fashion\", rsvd_fashion_words, &(o)->fashion); \\",
        ),
        ("bindings/python/purlin/_choices.py", "RsvdFashion = Literal[\"old\", \"new\"]"),
        ("bindings/python/purlin/_options.py", "fashion: RsvdFashion  # default \"old\""),
        ("bindings/python/purlin/_options.py", "\"fashion\": w.RSVD_FASHION,"),
        ("bindings/python/purlin/_options.py", "at_once: bool  # default False"),
        ("bindings/matlab/src/generated/options.h", "read_flag(given, \"at_once\", &(o)->at_once); \\"),
        ("src/ffi/generated/rsvd.rs", "to.fashion = FromC::from_c(\"fashion\", self.fashion)?;"),
    ] {
        let file = all.iter().find(|file| file.path == path).expect("a generated file");
        assert!(file.text.lines().any(|l| l.trim() == line), "{path}: {line}");
    }
    fs::remove_dir_all(root).expect("the copy can be removed");
}

/// Text without the indentation of this file.
fn plain(text: &str) -> String {
    text.lines().map(|line| line.trim_start().to_owned() + "\n").collect()
}

/// The files of a family that has nothing out of the ordinary.
const NOVEL: &[(&str, &str)] = &[
    ("src/novel/Cargo.toml", ""),
    ("src/novel/options.rs", "pub struct Options {\npub weight: f64 = 1.0,\npub pace: usize = 3,\n}\n"),
    ("src/novel/info.rs", "pub struct Info {\npub pace: usize,\npub total: f64,\n}\n"),
    (
        "src/ffi/novel_types.rs",
        "/// How novelty is computed. See the chapter.
        #[repr(C)]
        pub struct purlin_novel_options {
        /// Size of the struct.
        pub struct_size: usize,
        /// Weight of everything; default 1.
        pub weight: f64,
        /// Steps at a time; default 3.
        pub pace: i64,
        }
        /// Report of a computation.
        #[repr(C)]
        pub struct purlin_novel_info {
        /// Size of the struct.
        pub struct_size: usize,
        /// Steps at a time.
        pub pace: i64,
        /// Sum of everything.
        pub total: f64,
        }
        ",
    ),
    (
        "src/ffi/novel.rs",
        "/// The object.
        pub struct purlin_novel { _private: [u8; 0] }
        /// Destroys it.
        #[unsafe(no_mangle)]
        pub extern \"C\" fn purlin_novel_destroy(novel: *mut purlin_novel) -> purlin_status { 0 }
        /// The defaults.
        #[unsafe(no_mangle)]
        pub extern \"C\" fn purlin_novel_options_init(options: *mut purlin_novel_options, size: usize) -> purlin_status { 0 }
        /// An empty report.
        #[unsafe(no_mangle)]
        pub extern \"C\" fn purlin_novel_info_init(info: *mut purlin_novel_info, size: usize) -> purlin_status { 0 }
        ",
    ),
    ("bindings/fortran/purlin_c_novel.f90", "include 'generated/purlin_c_novel.inc'\n"),
    (
        "bindings/fortran/purlin_novel.f90",
        "module purlin_novel_module
        public :: novel_compute
        include 'integers/novel_generic.inc'
        contains
        subroutine novel_compute(pace, stat, errmsg)
        integer(c_int64_t), intent(in) :: pace
        integer(c_int32_t), intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        end subroutine
        include 'integers/novel.inc'
        end module
        ",
    ),
    ("bindings/matlab/src/novel.c", "READ_NOVEL_OPTIONS(options, &o);\nREPORT_NOVEL_INFO(plhs[0], &info);\n"),
    ("bindings/matlab/+purlin/novel.m", "names = purlin.internal.option_names('novel');\n"),
];

fn write_novel(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, plain(text)).expect("the copy can be written");
    }
}

#[test]
fn a_family_takes_no_entry_in_a_table() {
    let root = scratch("family");
    write_novel(&root, NOVEL);
    let all = generated_of(&root);
    for (path, line) in [
        ("include/purlin.h", "typedef struct purlin_novel_options {"),
        ("src/ffi/generated/mod.rs", "mod novel;"),
        ("src/ffi/generated/novel.rs", "pub(in crate::ffi) fn set(&mut self, from: &crate::novel::Options) {"),
        ("src/ffi/generated/novel.rs", "to.pace = FromC::from_c(\"pace\", self.pace)?;"),
        ("src/ffi/generated/novel.rs", "use crate::ffi::novel_types::{purlin_novel_info, purlin_novel_options};"),
        ("bindings/fortran/generated/purlin_types.inc", "type, bind(c) :: purlin_novel_info"),
        (
            "bindings/fortran/generated/purlin_c_novel.inc",
            "function c_novel_destroy(novel) bind(c, name='purlin_novel_destroy') result(s)",
        ),
        ("bindings/fortran/integers/novel.inc", "subroutine novel_compute_i4(pace, stat, errmsg)"),
        ("bindings/fortran/integers/novel_generic.inc", "module procedure novel_compute, novel_compute_i4"),
        ("bindings/python/purlin/_options.py", "class NovelOptions(TypedDict, total=False):"),
        (
            "bindings/python/purlin/_options.py",
            "\"\"\"How novelty is computed; those left out keep the library's defaults.\"\"\"",
        ),
        ("bindings/python/purlin/_options.py", "pace: int  # default 3"),
        ("bindings/python/purlin/_reports.py", "class NovelInfo:"),
        ("bindings/python/purlin/_structs.py", "class NovelInfo(Struct):"),
        ("bindings/matlab/src/generated/options.h", "read_double(given, \"weight\", &(o)->weight); \\"),
        ("bindings/matlab/src/generated/reports.h", "add_number(to, \"total\", (double)(i)->total); \\"),
        ("bindings/matlab/+purlin/+internal/option_names.m", "names = {'weight', 'pace'};"),
        ("tests/c/generated/layout.h", "SIZE(purlin_novel_info, 24);"),
    ] {
        let file = all.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path} is generated"));
        assert!(file.text.lines().any(|l| l.trim() == line), "{path}: {line}\n{}", file.text);
    }
    fs::remove_dir_all(root).expect("the copy can be removed");
}

#[test]
fn a_family_without_functions_in_matlab_has_no_names_there() {
    let root = scratch("foreign");
    let is_of_matlab = |path: &str| path.starts_with("bindings/matlab");
    let others: Vec<_> = NOVEL.iter().copied().filter(|(path, _)| !is_of_matlab(path)).collect();
    write_novel(&root, &others);
    for file in generated_of(&root).into_iter().filter(|file| is_of_matlab(&file.path)) {
        assert!(!file.text.to_lowercase().contains("novel"), "{}: {}", file.path, file.text);
    }
    fs::remove_dir_all(root).expect("the copy can be removed");
}
