//! Every option is drawn at random by the fuzz program.
//!
//! The sources of `tests/fuzz` are read as text: in the functions that name a struct, the members of its variable `o`
//! that are assigned to.

use std::collections::BTreeSet;
use std::fs;

use purlin_header::interface::{Kind, Struct, Variable};
use purlin_header::{Interface, header, root};

/// Fields that no function draws by name, and the reasons.
const NOT_DRAWN: &[(&str, &str)] = &[
    ("struct_size", "`StructMemory::of` draws it, for every struct"),
    ("reserved", "must be 0; `disturb` of `structs.rs` draws it"),
    ("progress_user", "is only passed on to the caller's function"),
];

/// A function of the fuzz program: its text from its name on.
fn functions(source: &str) -> Vec<&str> {
    let mut texts: Vec<_> = source.split("\nfn ").flat_map(|text| text.split("\npub fn ")).collect();
    // Uses and constants come before the first function.
    texts.remove(0);
    texts
}

/// The sources of the fuzz program, those that change all words of a struct with `whole`, else the others.
fn sources(whole: bool) -> String {
    let files = fs::read_dir(root().join("tests/fuzz")).expect("tests/fuzz");
    let paths = files.map(|entry| entry.expect("an entry").path());
    let wanted = paths.filter(|path| path.ends_with("structs.rs") == whole);
    wanted.map(|path| fs::read_to_string(path).expect("a source")).collect::<Vec<_>>().join("\n")
}

/// The names behind `o.` on the left of the assignments of a function.
fn assigned(function: &str) -> BTreeSet<&str> {
    let left = function.lines().filter_map(|line| line.split_once(" = ")).map(|(left, _)| left);
    let members = left.flat_map(|left| {
        left.match_indices("o.").filter_map(|(at, dot)| {
            let is_variable = !left[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let rest = &left[at + dot.len()..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            is_variable.then_some(&rest[..end])
        })
    });
    members.collect()
}

/// Whether a text has a name that is not a part of a longer one.
fn names(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

/// The options that the functions which name their struct do not assign to.
fn missing<'a>(of: &'a Struct, functions: &[&str], fields: &'a [Variable]) -> Vec<&'a str> {
    let own = functions.iter().filter(|text| names(text, &of.name));
    let drawn: BTreeSet<_> = own.flat_map(|text| assigned(text)).collect();
    let all = fields.iter().map(|field| field.name.as_str());
    all.filter(|name| !drawn.contains(name) && NOT_DRAWN.iter().all(|(known, _)| known != name)).collect()
}

fn structs() -> Vec<Struct> {
    let all = Interface::parse(&header::text(&root())).structs;
    all.into_iter().filter(|of| of.name.ends_with("_options")).collect()
}

#[test]
fn every_option_is_drawn() {
    let (text, structs) = (sources(false), structs());
    let functions = functions(&text);
    assert!(structs.iter().any(|of| of.name == "purlin_rsvd_options"));
    for of in &structs {
        let missing = missing(of, &functions, &of.fields);
        assert!(missing.is_empty(), "tests/fuzz: no function with {} assigns to o.{missing:?}", of.name);
    }
    for (name, _) in NOT_DRAWN {
        assert!(structs.iter().any(|of| of.fields.iter().any(|f| f.name == *name)), "{name} is no option any more");
    }
}

/// `disturb` changes all words up to a field; those behind it that are no pointers are set by name.
#[test]
fn every_option_behind_disturbed_words_is_drawn() {
    let (text, structs) = (sources(true), structs());
    let (mut seen, functions) = (0, functions(&text));
    for of in &structs {
        let end = format!("disturb(s, &mut o, offset_of!({}, ", of.name);
        for function in functions.iter().filter(|text| text.contains(&end)) {
            let last = function.split_once(&end).and_then(|(_, rest)| rest.split_once(')')).expect("a field").0;
            let at = of.fields.iter().position(|f| f.name == last).expect("a field of the struct");
            let is_number = |f: &&Variable| f.of.stars == 0 && !matches!(f.of.kind, Kind::Callback(_));
            let numbers: Vec<_> = of.fields[at..].iter().filter(is_number).cloned().collect();
            let missing = missing(of, &[function], &numbers);
            assert!(missing.is_empty(), "tests/fuzz/structs.rs: {} behind {last}: o.{missing:?}", of.name);
            seen += 1;
        }
    }
    assert!(seen >= 8, "disturb is called in {seen} functions");
}

#[test]
fn an_option_without_an_arm_is_found() {
    let with = "\nuse purlin::ffi::*;\nfn any() -> purlin_x_options {\n    match n {\n        0 => o.rank = 1,\n        \
                1 if two.seed == 3 => (o.lower, o.upper) = (0, 1),\n    }\n}\npub fn other() {\n    o.seed = 3;\n}";
    let functions = functions(with);
    assert_eq!(functions.len(), 2);
    assert_eq!(assigned(functions[0]).into_iter().collect::<Vec<_>>(), ["lower", "rank", "upper"]);
    let text =
        "typedef struct purlin_x_options {\n  int64_t rank;\n  uint64_t seed;\n  double lower;\n} purlin_x_options;\n";
    let interface = Interface::parse(text);
    let of = interface.structure("purlin_x_options").expect("the struct");
    assert_eq!(missing(of, &functions, &of.fields), ["seed"]);
}
