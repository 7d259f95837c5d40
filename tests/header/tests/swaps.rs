//! Two fields or two arguments that change places are seen in every language.

use purlin_header::interface::{Function, Struct};
use purlin_header::{Generated, Interface, cuda, fortran_interfaces, fortran_types, header, layout, python, root};

/// Files that repeat the fields of structs.
fn of_structs(interface: &Interface) -> Vec<Generated> {
    let mut files = fortran_types::files(interface);
    files.extend(python::files(interface));
    files.extend(layout::files(interface));
    const REPEATED: &[&str] = &["purlin_types.inc", "_structs.py", "layout.h", "layout.inc"];
    files.retain(|file| REPEATED.iter().any(|name| file.path.ends_with(&format!("/{name}"))));
    assert_eq!(files.len(), REPEATED.len());
    files
}

fn expect_all_changed(before: &[Generated], after: &[Generated], what: &str) {
    assert_eq!(before.len(), after.len());
    for (a, b) in before.iter().zip(after) {
        assert!(a.text != b.text, "{}: {what} changed places unseen", a.path);
    }
}

/// Indices of fields that can be swapped with the next one without a change of any size.
fn neighbours(of: &Struct) -> Vec<usize> {
    let alike = |at: &usize| {
        let (a, b) = (&of.fields[*at].of, &of.fields[at + 1].of);
        a.stars == b.stars && a.length == b.length && a.kind.bytes() == b.kind.bytes()
    };
    (0..of.fields.len().saturating_sub(1)).filter(alike).collect()
}

#[test]
fn swapped_fields_of_one_size_are_seen_in_every_language() {
    let interface = Interface::parse(&header::text(&root()));
    let before = of_structs(&interface);
    let mut swaps = 0;
    for at in 0..interface.structs.len() {
        let of = &interface.structs[at];
        for field in neighbours(of) {
            let mut swapped = interface.clone();
            swapped.structs[at].fields.swap(field, field + 1);
            let what = format!("{}.{} and {}", of.name, of.fields[field].name, of.fields[field + 1].name);
            expect_all_changed(&before, &of_structs(&swapped), &what);
            swaps += 1;
        }
    }
    assert!(swaps > 300, "{swaps} swaps");
}

#[test]
fn swapped_members_of_kernels_parameters_are_seen_in_rust() {
    let headers = cuda::headers(&root());
    let before = cuda::files(&headers);
    let mut swaps = 0;
    for (file, (name, header)) in headers.iter().enumerate() {
        for (at, of) in header.structs.iter().enumerate() {
            if !before[0].text.contains(&format!("`{}`", of.name)) {
                continue;
            }
            for field in neighbours(of) {
                let mut swapped = headers.clone();
                swapped[file].1.structs[at].fields.swap(field, field + 1);
                let what = format!("{name}: {}.{} and the next", of.name, of.fields[field].name);
                expect_all_changed(&before, &cuda::files(&swapped), &what);
                swaps += 1;
            }
        }
    }
    assert!(swaps > 500, "{swaps} swaps");
}

#[test]
fn swapped_arguments_are_seen_in_fortran() {
    let interface = Interface::parse(&header::text(&root()));
    let before = fortran_interfaces::files(&interface);
    let mut swaps = 0;
    let is_bound = |f: &Function| before.iter().any(|file| file.text.contains(&format!("'{}'", f.name)));
    for at in 0..interface.functions.len() {
        let of = &interface.functions[at];
        // The arguments of `_init` functions have names of their own.
        if !is_bound(of) || of.name.ends_with("_init") {
            continue;
        }
        for argument in 0..of.parameters.len().saturating_sub(1) {
            // One function represents all of its module.
            let mut swapped = Interface { functions: vec![of.clone()], ..Interface::default() };
            let text = |interface: &Interface| -> String {
                fortran_interfaces::files(interface).into_iter().map(|file| file.text).collect()
            };
            let was = text(&swapped);
            swapped.functions[0].parameters.swap(argument, argument + 1);
            assert!(was != text(&swapped), "{}: arguments {argument} and the next changed places unseen", of.name);
            swaps += 1;
        }
    }
    assert!(swaps > 800, "{swaps} swaps");
}
