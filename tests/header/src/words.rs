//! The page of the interface's names, `docs/interface.md`: each option and each number of a report with the families
//! that have it. `tests/words.rs` holds the interface to one name, one type and one default for one thing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::Generated;
use crate::interface::{Function, Interface, Kind, Struct, Type, Variable};

/// Fields that all versioned structs have.
const EVERYWHERE: &[&str] = &["struct_size", "reserved"];

/// A name, and where it is: a family's name with the field.
pub type Uses<'a> = BTreeMap<&'a str, Vec<(&'a str, &'a Variable)>>;

/// The structs whose name ends so, without their ends.
fn families<'a>(interface: &'a Interface, end: &str) -> Vec<(&'a str, &'a Struct)> {
    let of = |s: &'a Struct| Some((s.name.strip_prefix("purlin_")?.strip_suffix(end)?, s));
    interface.structs.iter().filter_map(of).collect()
}

/// The fields of all structs whose name ends so.
pub fn uses<'a>(interface: &'a Interface, end: &str) -> Uses<'a> {
    let mut uses = Uses::new();
    for (family, s) in families(interface, end) {
        for field in s.fields.iter().filter(|f| !EVERYWHERE.contains(&f.name.as_str())) {
            uses.entry(&field.name).or_default().push((family, field));
        }
    }
    uses
}

/// A type as C writes it, without the array's length.
pub fn type_text(of: &Type) -> String {
    let name = match &of.kind {
        Kind::Void => "void",
        Kind::Char => "char",
        Kind::U8 => "uint8_t",
        Kind::I16 => "int16_t",
        Kind::I32 => "int32_t",
        Kind::U32 => "uint32_t",
        Kind::I64 => "int64_t",
        Kind::U64 => "uint64_t",
        Kind::Size => "size_t",
        Kind::F32 => "float",
        Kind::F64 => "double",
        Kind::Callback(name) | Kind::Struct(name) | Kind::Object(name) => name,
    };
    let is_const = if of.is_const { "const " } else { "" };
    let stars = "*".repeat(of.stars);
    format!("{is_const}{name}{}{stars}", if stars.is_empty() { "" } else { " " })
}

/// The default that an option's documentation names: the word before `, the default`, `by default` or `(default)`, or
/// the one after `default`.
pub fn default(doc: &str) -> Option<&str> {
    let last_word = |text: &'_ str| text.rfind([' ', '(']).map_or(0, |at| at + 1);
    for mark in [", the default", " by default", " (default)"] {
        if let Some(at) = doc.find(mark) {
            let before = &doc[..at];
            return Some(&before[last_word(before)..]);
        }
    }
    let at =
        ["default: ", "default ", "Default ", "Default: "].iter().find_map(|m| doc.find(m).map(|at| at + m.len()))?;
    let word = doc[at..].split([' ', ';', ',', ':', ')']).next()?;
    Some(word.trim_end_matches('.'))
}

/// The first sentence of a documentation, in one line.
pub fn first_sentence(doc: &str) -> String {
    let line = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    line[..line.find(". ").map_or(line.len(), |at| at + 1)].to_owned()
}

/// The first sentence of a documentation, as a cell of a table.
fn cell(doc: &str) -> String {
    first_sentence(doc).replace('|', "\\|").replace('*', "\\*")
}

fn table(text: &mut String, uses: &Uses<'_>, has_defaults: bool) {
    let (head, line) = if has_defaults { (" default |", " --- |") } else { ("", "") };
    let _ = writeln!(text, "| name | type |{head} in | meaning |\n| --- | --- |{line} --- | --- |");
    for (name, places) in uses {
        // Families whose fields read the same share a row.
        let mut rows: Vec<(Vec<&str>, &Variable)> = Vec::new();
        for (family, field) in places {
            match rows.iter_mut().find(|(_, f)| f.doc == field.doc && f.of == field.of) {
                Some((families, _)) => families.push(family),
                None => rows.push((vec![family], field)),
            }
        }
        for (families, field) in rows {
            let default = match default(&field.doc) {
                _ if !has_defaults => String::new(),
                Some(word) => format!(" `{word}` |"),
                None => " |".into(),
            };
            let (kind, families) = (type_text(&field.of), families.join(", "));
            let _ = writeln!(text, "| `{name}` | `{kind}` |{default} {families} | {} |", cell(&field.doc));
        }
    }
}

/// Names of functions without the prefix and the object, each with the objects that have it: more than one.
fn verbs(interface: &Interface) -> BTreeMap<&str, Vec<&str>> {
    let made = interface.functions.iter().filter_map(|f| f.name.strip_prefix("purlin_")?.strip_suffix("_destroy"));
    // A device is no object that is made, but has functions as one.
    let objects: Vec<&str> = made.chain(["device"]).collect();
    let mut verbs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Function { name, .. } in &interface.functions {
        let Some(rest) = name.strip_prefix("purlin_") else { continue };
        // Init functions belong to a struct, which need not be one of an object.
        let init = ["options_init", "info_init"].into_iter().find_map(|verb| Some((verb, rest.strip_suffix(verb)?)));
        if let Some((verb, owner)) = init {
            verbs.entry(verb).or_default().push(owner.trim_end_matches('_'));
            continue;
        }
        // The longest object's name that it begins with: tt_contraction before tt.
        let owner = objects.iter().filter(|o| rest.strip_prefix(**o).is_some_and(|r| r.starts_with('_')));
        if let Some(owner) = owner.max_by_key(|o| o.len()) {
            verbs.entry(&rest[owner.len() + 1..]).or_default().push(owner);
        }
    }
    verbs.retain(|_, owners| owners.len() > 1);
    verbs
}

fn page(interface: &Interface) -> String {
    let mut text = String::from(
        "# Names of the interface\n\n<!-- Made from the header by the tests of tests/header; PURLIN_BLESS=1 writes it. -->\n\n\
         One thing has one name in all families and all languages. The tables are made from the C header; C++, Fortran, Python and\n\
         MATLAB use the same names. Tests refuse a name that has two types or two defaults without a reason, words that another\n\
         word stands for, and other names of options in C++, Python and MATLAB, but for these:\n\n\
         - C++: `on_progress` and `on_log` are functions that take the place of `progress` and `log`; `restart_path` is a string.\n\
         - Fortran: `restart_path` is an argument of `create`.\n\
         - Python: `lambda` is a word of the language; the option is `lambda_`. A source's report, `blocks.SourceInfo`, has `shape` in\n  \
         place of `dims`.\n\
         - MATLAB: `devices`, a list of ordinals, makes the `group`. `dtype` is 'single' or 'double' and `complex` is an option beside\n  \
         it; `layout` says along which extent the signals of a voxel run, where other languages have strides.\n\
         - Python and MATLAB: `rank` and `count` are the argument k. The voxels of cone-beam CT are a `grid` of `size`, `spacing` and\n  \
         `origin`, also in reports: (nx, ny, nz), (dx, dy, dz) and (x0, y0, z0).\n\n## Functions that several objects have\n\n| function | objects |\n| --- | --- |\n",
    );
    for (verb, owners) in verbs(interface) {
        let _ = writeln!(text, "| `purlin_X_{verb}` | {} |", owners.join(", "));
    }
    text.push_str("\nA function whose name ends in `_once` makes an object for one call.\n\n## Options\n\n\
         A field whose meaning begins with 1 answers yes (1) or no (0) in C, C++ and Fortran; other numbers are refused.\n\n");
    table(&mut text, &uses(interface, "_options"), true);
    text.push_str("\n## Reports\n\n");
    table(&mut text, &uses(interface, "_info"), false);
    text
}

/// The page `docs/interface.md`, with its text.
pub fn files(interface: &Interface) -> Vec<Generated> {
    vec![Generated::new("docs/interface.md", page(interface))]
}
