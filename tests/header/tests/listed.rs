//! Lists of options that are written by hand in several texts.

use std::collections::BTreeSet;
use std::fs;

use purlin_header::interface::Kind;
use purlin_header::{Interface, header, root};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The text in one line, without the signs of comments.
fn line(text: &str) -> String {
    text.split_whitespace().filter(|word| !word.starts_with("//")).collect::<Vec<_>>().join(" ")
}

/// The text after `from` up to `to`.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).unwrap_or_else(|| panic!("{from} is in the text")).1;
    rest.split_once(to).unwrap_or_else(|| panic!("{to} comes after {from}")).0
}

/// The names in back quotes.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Where a state of the randomized SVD is saved, an option is compared, may change, or is refused.
#[test]
fn options_that_a_restart_may_change_are_the_same_in_all_texts() {
    let identity = read("src/rsvd/identity.rs");
    let head = line(between(&identity, "//! Compared", "\n\n"));
    let changeable = quoted(between(&head, "depends on.", ", and `tolerance`"));
    assert!(!changeable.is_empty());

    let c =
        line(between(&read("src/ffi/rsvd_types.rs"), "a run of the same problem and options goes on", "may differ."));
    assert_eq!(quoted(&c), changeable, "restart_path of src/ffi/rsvd_types.rs and the head of src/rsvd/identity.rs");
    let page = read("docs/rsvd.md");
    let before = page.split_once(", threads, devices, the backend").expect("the list is on the page").0;
    let paragraph = before.rsplit("\n\n").next().unwrap_or(before);
    assert_eq!(quoted(paragraph), changeable, "docs/rsvd.md and the head of src/rsvd/identity.rs");

    let interface = Interface::parse(&header::text(&root()));
    let options = interface.structs.iter().find(|s| s.name == "purlin_rsvd_options").expect("the struct is there");
    let numbers = options.fields.iter().filter(|f| f.of.stars == 0 && !matches!(f.of.kind, Kind::Callback(_)));
    for field in numbers.filter(|f| !["struct_size", "reserved"].contains(&f.name.as_str())) {
        let is_compared = identity.split('"').skip(1).step_by(2).any(|p| p.split(' ').any(|word| word == field.name));
        let is_named = quoted(&head).contains(&field.name);
        assert!(is_compared != is_named, "{}: src/rsvd/identity.rs compares it, or its head says why not", field.name);
    }
}

#[test]
fn options_that_a_basis_refuses_are_in_all_texts() {
    let unused = read("src/rsvd/unused.rs");
    let body = between(&unused, "fn expect_used_by_range", "fn expect_used_by_components");
    let refused: Vec<_> = body.split("Error::invalid(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(refused.len() > 2, "{refused:?}");
    let interface = Interface::parse(&header::text(&root()));
    let function = interface.functions.iter().find(|f| f.name == "purlin_rsvd_range").expect("the function is there");
    let texts = [
        ("@return of purlin_rsvd_range", between(&function.doc, "@return", "@pre").to_owned(), '`'),
        ("rsvd_range.m", read("bindings/matlab/+purlin/rsvd_range.m"), '\''),
        ("docs/rsvd.md", between(&read("docs/rsvd.md"), "- in `purlin_rsvd_range`:", "\n- ").to_owned(), '`'),
    ];
    for (place, text, quote) in texts {
        for option in &refused {
            assert!(text.contains(&format!("{quote}{option}{quote}")), "{place} does not name {option}");
        }
    }
}
