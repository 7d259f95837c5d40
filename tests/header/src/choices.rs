//! The meaning of the 32-bit fields of options and reports, from their documentation: choices with their words, flags,
//! element types and numbers.
//!
//! `.. one of PURLIN_RSVD_METHOD_*` is a choice among the constants of that beginning; so is `PURLIN_RPCA_FRAMES_COLUMNS, the
//! default, or ...`, whose constants have the same beginning. `1: ...` and `1 if ...` are flags. `GROUPS` lists
//! the constants whose beginnings they share with others.

use crate::Interface;
use crate::interface::{Struct, Variable};

/// A list of words and their constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Name of the list in the bindings, as `rsvd_method`.
    pub name: String,
    /// Words and the names of their constants, in the order of the header.
    pub words: Vec<(String, String)>,
    /// Whether it lacks words that reports alone have; its name then ends in `_option`.
    pub is_part: bool,
}

/// The meaning of a field of type `int32_t`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A word of a list, as a constant.
    Choice(Choice),
    /// 0 or 1; the documentation begins with "1".
    Flag,
    /// An element type: `PURLIN_F32`, ...
    DType,
    /// A number without a list of words.
    Number,
}

/// Choices whose constants begin like others: name, beginning, the rest of each.
const GROUPS: &[(&str, &str, &[&str])] = &[
    ("sshopm_goal", "SSHOPM_", &["MAXIMA", "MINIMA", "BOTH"]),
    ("sshopm_method", "SSHOPM_", &["HYBRID", "POWER"]),
    ("dwi_weighting", "DWI_", &["OLS", "WLS"]),
    ("dwi_nonpositive", "DWI_", &["CLAMP", "SKIP"]),
    ("peaks_format", "PEAKS_", &["UNIT_VALUE", "MRTRIX"]),
    ("spmv_op", "SPMV_", &["PLAIN", "TRANSPOSE", "ADJOINT"]),
    ("lanczos_which", "LANCZOS_", &["LARGEST", "SMALLEST", "LARGEST_MAGNITUDE", "BOTH_ENDS", "NEAREST"]),
    ("lanczos_stop_reason", "LANCZOS_", &["CONVERGED", "RESTARTS", "EXHAUSTED", "CONTRADICTED"]),
    ("rsvd_right", "RSVD_", &["V", "VH"]),
    (
        "lanczos_kind",
        "LANCZOS_",
        &[
            "MATRIX",
            "LAPLACIAN",
            "NORMALIZED_LAPLACIAN",
            "SIGNLESS_LAPLACIAN",
            "NORMALIZED_ADJACENCY",
            "MODULARITY",
            "GRAM",
            "OUTER_GRAM",
            "AUGMENTED",
            "RANDOM_WALK_LAPLACIAN",
        ],
    ),
];

/// Constants that reports alone have: the struct of options, and the constant.
const NOT_OPTIONS: &[(&str, &str)] =
    &[("rsvd_options", "SKETCH_GIVEN"), ("lanczos_options", "LANCZOS_RANDOM_WALK_LAPLACIAN")];

/// Fields that are numbers although their type is that of choices: struct and field.
const NUMBERS: &[(&str, &str)] = &[("context_options", "device")];

/// Beginnings of the documentation of flags.
const FLAGS: &[&str] = &["1 if ", "1 unless ", "1: ", "1 (default): "];

fn is_constant(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'
}

/// The first constant that a text names, without `PURLIN_`; with a `*` at its end if it is a beginning.
fn first_constant(doc: &str) -> Option<String> {
    let rest = doc.split_once("PURLIN_")?.1;
    let end = rest.find(|c| !is_constant(c)).unwrap_or(rest.len());
    let star = if rest[end..].starts_with('*') { "*" } else { "" };
    Some(format!("{}{star}", &rest[..end]))
}

/// The name and the beginning of the choice that a constant belongs to, and whether a constant is one of it.
fn group(constant: &str) -> (String, &str, impl Fn(&str) -> bool + '_) {
    let listed = GROUPS.iter().find(|g| constant.strip_prefix(g.1).is_some_and(|rest| g.2.contains(&rest)));
    let first = match listed {
        Some(group) => group.1,
        None => constant.strip_suffix('*').unwrap_or_else(|| &constant[..=constant.rfind('_').unwrap_or(0)]),
    };
    let name = listed.map_or_else(|| first.trim_end_matches('_').to_lowercase(), |g| g.0.to_owned());
    (name, first, move |rest: &str| listed.is_none_or(|g| g.2.contains(&rest)))
}

/// The choice that a text names the constants of.
fn choice(interface: &Interface, short: &str, doc: &str) -> Option<Choice> {
    let constant = first_constant(doc)?;
    let (name, first, is_of) = group(&constant);
    let all = interface.constants.iter().filter_map(|c| {
        let constant = c.name.strip_prefix("PURLIN_")?;
        constant.strip_prefix(first).filter(|rest| is_of(rest)).map(|rest| (constant, rest))
    });
    let (out, words): (Vec<_>, Vec<_>) = all.partition(|c| NOT_OPTIONS.contains(&(short, c.0)));
    let words: Vec<_> = words.iter().map(|(c, rest)| (rest.to_lowercase(), format!("PURLIN_{c}"))).collect();
    let is_part = !out.is_empty();
    let name = if is_part { format!("{name}_option") } else { name };
    (words.len() > 1).then_some(Choice { name, words, is_part })
}

/// The meaning of a field of a struct; `None` if its documentation does not state it.
pub fn find(interface: &Interface, of: &Struct, field: &Variable) -> Option<Meaning> {
    let short = of.name.trim_start_matches("purlin_");
    let names = (short, field.name.as_str());
    if field.name == "dtype" {
        return Some(Meaning::DType);
    }
    if NUMBERS.contains(&names) {
        return Some(Meaning::Number);
    }
    if FLAGS.iter().any(|first| field.doc.starts_with(first)) {
        return Some(Meaning::Flag);
    }
    if let Some(found) = choice(interface, short, &field.doc) {
        return Some(Meaning::Choice(found));
    }
    let family = short.strip_suffix("_info")?;
    // A report has the choice of the option of its name; all else is a number.
    let options = interface.structure(&format!("purlin_{family}_options"));
    let option = options.and_then(|o| o.fields.iter().find(|f| f.name == field.name).map(|f| (o, f)));
    Some(option.and_then(|(o, f)| find(interface, o, f)).unwrap_or(Meaning::Number))
}

/// As [`find`].
///
/// # Panics
/// The documentation does not state the meaning.
pub fn meaning(interface: &Interface, of: &Struct, field: &Variable) -> Meaning {
    find(interface, of, field).unwrap_or_else(|| {
        panic!(
            "{}.{}: its documentation has to begin with '1:', or to name its constants: {}",
            of.name, field.name, field.doc
        )
    })
}

/// The choices of the options and reports, each once, by name.
pub fn all(interface: &Interface, structs: &[&str]) -> Vec<Choice> {
    let mut found: Vec<Choice> = Vec::new();
    for short in structs {
        let of = interface.structure(&format!("purlin_{short}")).unwrap_or_else(|| panic!("{short}: is not declared"));
        for field in of.fields.iter().filter(|f| f.is_choice()) {
            let Some(Meaning::Choice(choice)) = find(interface, of, field) else { continue };
            match found.iter().find(|c| c.name == choice.name) {
                Some(other) => assert_eq!(*other, choice, "{short}.{}: has other words", field.name),
                None => found.push(choice),
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{header, root};

    fn words(short: &str, field: &str) -> Vec<String> {
        let interface = Interface::parse(&header::text(&root()));
        let of = interface.structure(&format!("purlin_{short}")).expect("the struct");
        let field = of.fields.iter().find(|f| f.name == field).expect("the field");
        match meaning(&interface, of, field) {
            Meaning::Choice(choice) => choice.words.into_iter().map(|w| w.0).collect(),
            other => vec![format!("{other:?}")],
        }
    }

    #[test]
    fn words_follow_from_the_documentation() {
        assert_eq!(
            words("rsvd_options", "orthonormalization"),
            ["auto", "householder", "cholesky2", "shifted_cholesky3"]
        );
        assert_eq!(words("rpca_options", "frames"), ["columns", "rows"]);
        assert_eq!(words("sshopm_options", "method"), ["hybrid", "power"]);
        assert_eq!(words("rsvd_info", "method").len(), words("rsvd_options", "method").len());
        assert_eq!(words("rsvd_options", "sketch").len() + 1, words("rsvd_info", "sketch").len());
        assert_eq!(words("rsvd_options", "scale"), ["Flag"]);
        assert_eq!(words("rsvd_info", "converged"), ["Flag"]);
        assert_eq!(words("rsvd_info", "dtype"), ["DType"]);
        assert_eq!(words("context_options", "device"), ["Number"]);
        assert_eq!(words("lanczos_info", "stop_reason"), ["converged", "restarts", "exhausted", "contradicted"]);
    }

    #[test]
    #[should_panic(expected = "purlin_rsvd_options.novel: its documentation has to begin with '1:'")]
    fn an_option_whose_documentation_says_nothing_is_refused() {
        let interface = Interface::parse(&header::text(&root()));
        let of = interface.structure("purlin_rsvd_options").expect("the struct");
        let mut novel = of.fields.iter().find(|f| f.name == "scale").expect("a field").clone();
        (novel.name, novel.doc) = ("novel".to_owned(), "A number of something.".to_owned());
        meaning(&interface, of, &novel);
    }
}
