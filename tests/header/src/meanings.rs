//! Meanings of options and of the fields of reports in Python's `help`: the first sentences of their documentation in the
//! header. The default and the words of a choice stand beside them, so these are left out.

use std::fmt::Write as _;

use crate::choices::{self, Meaning};
use crate::interface::{Struct, Variable};
use crate::keywords::fields;
use crate::words::first_sentence;
use crate::{Generated, Interface};

/// Element types, and their names in Python.
const TYPES: &[(&str, &str)] =
    &[("CF32", "complex64"), ("CF64", "complex128"), ("F16", "float16"), ("F32", "float32"), ("F64", "float64")];

/// Reports that have no class in Python, or one with documentation of its own.
const NOT_SHOWN: &[&str] = &[
    "purlin_array_info",
    "purlin_group_info",
    "purlin_matrix_info",
    "purlin_pca_info",
    "purlin_tensor_info",
    "purlin_tt_info",
    "purlin_tt_round_info",
];

/// The words of all choices of a struct, each with its constant.
fn words(interface: &Interface, of: &Struct) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for field in fields(of).filter(|f| f.is_choice()) {
        if let Some(Meaning::Choice(choice)) = choices::find(interface, of, field) {
            found.extend(choice.words);
        }
    }
    found
}

/// The text before the constants that it ends with: `one of PURLIN_..`, or a list of them.
fn before_constants(clause: &str) -> Option<&str> {
    let before = &clause[..clause.find("PURLIN_")?];
    let before = ["one of ", "One of "].iter().find_map(|end| before.strip_suffix(end)).unwrap_or(before);
    Some(before.trim_end_matches([':', ',', ' ']))
}

/// A text with choices, by their constants or the ends of these, and element types as Python writes them.
fn in_python(text: &str, words: &[(String, String)]) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_part) {
        let end = rest[at..].find(|c| !is_part(c)).map_or(rest.len(), |n| at + n);
        let token = &rest[at..end];
        out.push_str(&rest[..at]);
        let is_it = |(word, constant): &&(String, String)| {
            let is_end = token.starts_with(|c: char| c.is_ascii_uppercase())
                && token.contains('_')
                && constant.ends_with(&format!("_{token}"));
            constant == token || is_end || (token.len() > 2 && word.to_uppercase() == token)
        };
        if let Some((word, _)) = words.iter().find(is_it) {
            let _ = write!(out, "'{word}'");
        } else {
            out.push_str(TYPES.iter().find(|t| t.0 == token).map_or(token, |t| t.1));
        }
        rest = &rest[end..];
    }
    out + rest
}

/// The meaning of an option as `help` shows it.
///
/// # Panics
/// The first sentence of its documentation says no more than constants and a default.
fn meaning(of: &Struct, field: &Variable, words: &[(String, String)]) -> String {
    let sentence = first_sentence(&field.doc);
    let names_c = |text: &str| text.to_lowercase().contains("purlin_");
    let mut kept: Vec<String> = Vec::new();
    for (k, clause) in sentence.trim_end_matches('.').split("; ").enumerate() {
        let clause = if k == 0 { before_constants(clause).unwrap_or(clause) } else { clause };
        let clause = in_python(clause, words);
        if clause.starts_with("default ") || clause.starts_with("default: ") || (k > 0 && names_c(&clause)) {
            continue;
        }
        let before_default = clause.rsplit_once(": default ").filter(|(_, value)| !value.contains(' '));
        kept.push(before_default.map_or_else(|| clause.clone(), |(text, _)| text.to_owned()));
    }
    let text = kept.join("; ");
    let says_nothing = text.is_empty() || matches!(text.as_str(), "Fit" | "Peaks" | "Orientation functions");
    assert!(
        !says_nothing && !names_c(&text) && !text.contains(" by default"),
        "{}.{}: the first sentence of its documentation has to say what it means before it names its constants: {}",
        of.name,
        field.name,
        field.doc
    );
    let flag = ["1: ", "1 (default): "].iter().find_map(|first| text.strip_prefix(first));
    flag.map_or_else(|| text.clone(), |rest| format!("True: {rest}")) + "."
}

/// The meaning of a field of a report as `help` shows it.
fn report_meaning(field: &Variable, words: &[(String, String)]) -> String {
    // The CPU of other fields is no word of a choice.
    let is_word = |(word, _): &&(String, String)| word != "cpu" || field.name == "backend";
    let words: Vec<_> = words.iter().filter(is_word).cloned().collect();
    let line = field.doc.split_whitespace().collect::<Vec<_>>().join(" ");
    // A point between spaces is a product.
    let end = line.match_indices(". ").find(|(at, _)| !line[..*at].ends_with(' ')).map_or(line.len(), |(at, _)| at);
    let mut kept: Vec<String> = Vec::new();
    for (k, clause) in line[..end].trim_end_matches('.').split("; ").enumerate() {
        // Of strings in C.
        if matches!(clause, "terminated" | "ends with a NUL") {
            continue;
        }
        let is_list = clause.to_lowercase().contains("one of purlin_");
        let clause = if is_list { before_constants(clause).unwrap_or(clause) } else { clause };
        let first_word =
            clause.split_once(' ').filter(|(first, _)| k == 0 && first.starts_with("PURLIN_") && first.ends_with("_*"));
        let clause = first_word.map_or_else(|| clause.to_owned(), |(_, rest)| format!("The one {rest}"));
        let function = |word: &str| match word.strip_prefix("purlin_").and_then(|name| name.split_once('_')) {
            Some((_, name)) if k == 0 => format!("`{name}`"),
            _ => word.to_owned(),
        };
        let clause = clause.trim_end_matches(", terminated").split(' ').map(function).collect::<Vec<_>>().join(" ");
        let clause = in_python(&clause, &words);
        if !clause.is_empty() && !clause.to_lowercase().contains("purlin_") {
            kept.push(clause);
        }
    }
    let text = if kept.is_empty() { "The one that was used".to_owned() } else { kept.join("; ") };
    let flag = ["1 if ", "1 unless "].iter().find(|first| text.starts_with(**first));
    flag.map_or_else(
        || text.clone(),
        |first| format!("True {} {}", first[2..].trim_end(), &text[first.len()..]).replace("; 0 if ", "; False if "),
    ) + "."
}

/// The file `_meanings.py`.
pub fn files(interface: &Interface) -> Vec<Generated> {
    let mut text = String::from(
        "\"\"\"Meanings of the options and of the fields of reports, for `help`. Generated by tests/header: do not edit.\"\"\"\n\n\
         # By structs: the first sentence of purlin.h about each option.\nMEANINGS: dict[str, dict[str, str]] = {\n",
    );
    // A struct may have no option yet.
    let has_options = |s: &&Struct| s.name.ends_with("_options") && fields(s).next().is_some();
    for of in interface.structs.iter().filter(has_options) {
        let words = words(interface, of);
        let _ = writeln!(text, "    \"{}\": {{", of.name.trim_start_matches("purlin_"));
        for field in fields(of) {
            let _ = writeln!(text, "        \"{}\": {:?},", field.name, meaning(of, field, &words));
        }
        text.push_str("    },\n");
    }
    text.push_str(
        "}\n\n# By structs: the first sentence of purlin.h about each field of a report.\n\
         REPORTS: dict[str, dict[str, str]] = {\n",
    );
    let is_shown = |s: &&Struct| s.name.ends_with("_info") && !NOT_SHOWN.contains(&s.name.as_str());
    for of in interface.structs.iter().filter(is_shown) {
        let words = words(interface, of);
        let _ = writeln!(text, "    \"{}\": {{", of.name.trim_start_matches("purlin_"));
        for field in fields(of) {
            let _ = writeln!(text, "        \"{}\": {:?},", field.name, report_meaning(field, &words));
        }
        text.push_str("    },\n");
    }
    vec![Generated::new("bindings/python/purlin/_meanings.py", text + "}\n")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{header, root};

    fn said(doc: &str) -> String {
        let interface = Interface::parse(&header::text(&root()));
        let of = interface.structure("purlin_lanczos_options").expect("the struct");
        let mut field = of.fields.iter().find(|f| f.name == "which").expect("the field").clone();
        field.doc = doc.to_owned();
        meaning(of, &field, &words(&interface, of))
    }

    #[test]
    fn defaults_and_constants_are_left_out() {
        assert_eq!(said("Rows at a time; 0, the default, for all. More."), "Rows at a time; 0, the default, for all.");
        assert_eq!(said("Window of the ramp, one of PURLIN_X_*; default NONE."), "Window of the ramp.");
        assert_eq!(said("Those wanted: PURLIN_X_A, the default, or B."), "Those wanted.");
        assert_eq!(said("Seed of the start: default 0."), "Seed of the start.");
        assert_eq!(said("1: rows first; default 0."), "True: rows first.");
        assert_eq!(said("Contexts to use; begins with that of purlin_x_create."), "Contexts to use.");
        assert_eq!(said("Where to look, with NEAREST, in F64."), "Where to look, with 'nearest', in float64.");
        assert_eq!(said("Steps; 5 with PURLIN_LANCZOS_SMALLEST."), "Steps; 5 with 'smallest'.");
    }

    #[test]
    fn reports_have_words_of_python() {
        let interface = Interface::parse(&header::text(&root()));
        let of = interface.structure("purlin_rsvd_info").expect("the struct");
        let said = |name: &str| {
            let field = of.fields.iter().find(|f| f.name == name).expect("the field");
            report_meaning(field, &words(&interface, of))
        };
        assert_eq!(said("method"), "The method in force, not 'auto'; 'range' with a tolerance.");
        assert_eq!(said("restarted"), "True if the run went on from a restart file.");
        assert_eq!(said("converged"), "True unless a tolerance was not met within the largest rank.");
        assert_eq!(said("error_kind"), "How the error below was found.");
        assert_eq!(said("reason"), "Why this method was chosen, and remarks on the run.");
        assert!(said("error_spectral").contains("; with 'power' an estimate from below;"));
    }

    #[test]
    #[should_panic(expected = "has to say what it means")]
    fn constants_alone_are_no_meaning() {
        said("One of PURLIN_LANCZOS_METHOD_*; default AUTO.");
    }
}
