//! Options and reports of the gateway for MATLAB and Octave: macros that read each option of a struct, and that add
//! each figure of an info struct to a struct of MATLAB's.
//!
//! A struct has a macro if the gateway uses it. A class of keyword options has a list of its names if the gateway reads
//! its struct. A family without functions in MATLAB has neither.
//!
//! 64-bit integers and real numbers need nothing more. [`choices`] decides whether a 32-bit field is a word, a flag or a
//! number.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::choices::{self, Choice, Meaning};
use crate::interface::{Kind, Struct, Variable};
use crate::keywords::{Keywords, keywords, structure};
use crate::python::WIDTH;
use crate::{Generated, Interface};

/// Fields that the gateway reads or adds by hand: other words, sizes of arrays, three numbers at once, bonds that count
/// from 1.
const BY_HAND: &[(&str, &str)] = &[
    ("context_options", "log_level"),
    ("fdk_geometry", "views"),
    ("rsvd_options", "rank"),
    ("rsvd_options", "dtype"),
    ("rsvd_options", "right"),
    ("rpca_options", "dtype"),
    ("tt_contraction_options", "cut"),
    ("lanczos_options", "count"),
    ("fdk_info", "nx"),
    ("fdk_info", "ny"),
    ("fdk_info", "nz"),
    ("fdk_info", "dx"),
    ("fdk_info", "dy"),
    ("fdk_info", "dz"),
    ("fdk_info", "x0"),
    ("fdk_info", "y0"),
    ("fdk_info", "z0"),
    ("rsvd_info", "dtype"),
    ("pca_info", "dtype"),
    ("rpca_info", "dtype"),
    ("tt_contraction_info", "cut"),
];

/// Words of other names in MATLAB: the list, and the word there and here.
const WORDS: &[(&str, &str, &str)] = &[("fdk_precision", "f32", "single"), ("fdk_precision", "f64", "double")];

/// Further words of MATLAB, which reports do not use: the list, the word and its constant.
const FURTHER: &[(&str, &str, &str)] = &[
    ("starts", "hemisphere", "PURLIN_STARTS_FIBONACCI_HEMISPHERE"),
    ("starts", "sphere", "PURLIN_STARTS_FIBONACCI_SPHERE"),
];

/// How a function of `+purlin` requests a list of names.
const LIST: (&str, &str) = ("option_names('", "'");

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The words between a beginning and an end in the files of a folder of the MATLAB binding, in lower case, and a file
/// that has each.
fn words_between(
    root: &Path,
    folder: &str,
    extension: &str,
    (beginning, end): (&str, &str),
) -> BTreeMap<String, String> {
    let folder = root.join("bindings/matlab").join(folder);
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != extension) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        for (at, _) in text.match_indices(beginning).filter(|(at, _)| !text[..*at].ends_with(is_of_a_name)) {
            let rest = &text[at + beginning.len()..];
            let (word, rest) = rest.split_at(rest.find(|c| !is_of_a_name(c)).unwrap_or(rest.len()));
            if rest.starts_with(end) {
                found.entry(word.to_lowercase()).or_insert_with(|| path.display().to_string());
            }
        }
    }
    found
}

/// The structs without `purlin_` that the gateway reads or reports by a macro, in the order of the header.
fn used(interface: &Interface, root: &Path, macro_of: &str) -> Vec<String> {
    let words = words_between(root, "src", "c", (macro_of, "("));
    let shorts = interface.structs.iter().map(|s| s.name.trim_start_matches("purlin_").to_owned());
    let found: Vec<_> = shorts.filter(|short| words.contains_key(short)).collect();
    for (word, file) in &words {
        assert!(found.contains(word), "{file}: {macro_of}{} is of no struct of the header", word.to_uppercase());
    }
    found
}

/// Fields that a macro reads: not the size, reserved members, pointers or functions.
fn fields<'a>(of: &'a Struct, short: &'a str) -> impl Iterator<Item = &'a Variable> {
    of.fields.iter().filter(move |f| {
        let is_plain = f.of.stars == 0 && !matches!(f.of.kind, Kind::Callback(_) | Kind::Size);
        is_plain && f.name != "reserved" && !BY_HAND.contains(&(short, f.name.as_str()))
    })
}

/// The list of a choice. The library refuses the words that reports alone have.
fn list(choice: &Choice) -> String {
    format!("{}_words", choice.name.trim_end_matches("_option"))
}

/// Writes a macro of several statements.
fn macro_of(out: &mut String, heading: &str, statements: &[String]) {
    let _ = writeln!(out, "\n#define {heading} \\\n  do {{ \\");
    for statement in statements {
        let _ = writeln!(out, "    {statement}; \\");
    }
    out.push_str("  } while (0)\n");
}

fn options(interface: &Interface, root: &Path) -> String {
    let mut text = String::from(
        "/* Reads the options that a struct of MATLAB's has into one of purlin.h. Generated by tests/header: do not edit. */\n\
         #ifndef PURLIN_GENERATED_OPTIONS_H\n#define PURLIN_GENERATED_OPTIONS_H\n",
    );
    for short in &used(interface, root, "READ_") {
        let of = structure(interface, short);
        let statement = |field: &Variable| {
            let name = &field.name;
            let (reader, list) = match &field.of.kind {
                Kind::I32 => match choices::meaning(interface, of, field) {
                    Meaning::Choice(choice) => ("choice", format!("{}, ", list(&choice))),
                    Meaning::Flag => ("flag", String::new()),
                    Meaning::Number => ("int32", String::new()),
                    Meaning::DType => panic!("{short}.{name}: BY_HAND of matlab.rs has to name it"),
                },
                Kind::I64 => ("int64", String::new()),
                Kind::U64 => ("seed", String::new()),
                Kind::F64 => ("double", String::new()),
                other => panic!("{short}.{name}: {other:?} is no type of an option in MATLAB"),
            };
            format!("read_{reader}(given, \"{name}\", {list}&(o)->{name})")
        };
        let statements: Vec<_> = fields(of, short).map(statement).collect();
        macro_of(&mut text, &format!("READ_{}(given, o)", short.to_uppercase()), &statements);
    }
    text + "\n#endif\n"
}

fn reports(interface: &Interface, root: &Path) -> String {
    let mut text = String::from(
        "/* Adds the figures of a struct of purlin.h to one of MATLAB's. Generated by tests/header: do not edit. */\n\
         #ifndef PURLIN_GENERATED_REPORTS_H\n#define PURLIN_GENERATED_REPORTS_H\n",
    );
    for short in &used(interface, root, "REPORT_") {
        // Words first, and why they were chosen.
        let (mut words, mut texts, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let of = structure(interface, short);
        for field in fields(of, short) {
            let name = &field.name;
            let meaning = field.is_choice().then(|| choices::meaning(interface, of, field));
            match (&field.of.kind, meaning) {
                (_, Some(Meaning::Choice(c))) => {
                    words.push(format!("add_word(to, \"{name}\", {}, (i)->{name})", list(&c)));
                }
                (_, Some(Meaning::DType)) => panic!("{short}.{name}: BY_HAND of matlab.rs has to name it"),
                (Kind::Char, _) => texts.push(format!("add_text(to, \"{name}\", (i)->{name})")),
                _ => numbers.push(format!("add_number(to, \"{name}\", (double)(i)->{name})")),
            }
        }
        macro_of(&mut text, &format!("REPORT_{}(to, i)", short.to_uppercase()), &[words, texts, numbers].concat());
    }
    text + "\n#endif\n"
}

/// Lists of the words of choices, which `arguments.c` defines.
fn words(interface: &Interface, root: &Path) -> String {
    let structs = [used(interface, root, "READ_"), used(interface, root, "REPORT_")].concat();
    let mut choices = choices::all(interface, &structs.iter().map(String::as_str).collect::<Vec<_>>());
    choices.retain(|c| !c.is_part);
    let names: Vec<_> = choices.iter().map(|c| format!("{}[]", list(c))).collect();
    let mut text = format!(
        "/* The words of choices, whose values come from purlin.h. Generated by tests/header: do not edit. */\n\
         #ifndef PURLIN_GENERATED_WORDS_H\n#define PURLIN_GENERATED_WORDS_H\n\n\
         extern const choice {};\n\n#ifdef PURLIN_DEFINE_WORDS\n",
        names.join(",\n  ")
    );
    for choice in &choices {
        let _ = writeln!(text, "\nconst choice {}[] = {{", list(choice));
        for (word, constant) in &choice.words {
            let other = WORDS.iter().find(|w| w.0 == choice.name && w.1 == word);
            let _ = writeln!(text, "  {{\"{}\", {constant}}},", other.map_or(word.as_str(), |w| w.2));
        }
        for (_, word, constant) in FURTHER.iter().filter(|f| f.0 == choice.name) {
            let _ = writeln!(text, "  {{\"{word}\", {constant}}},");
        }
        text.push_str("  {NULL, 0}};\n");
    }
    text + "\n#endif\n\n#endif\n"
}

/// `option_names.m`: the options of calls, for the functions that refuse other names.
fn option_names(interface: &Interface, root: &Path) -> String {
    let mut text = String::from(
        "function names = option_names(of, without)\n\
         %OPTION_NAMES  The options of a family, but those in the cell WITHOUT. Generated by tests/header: do not edit.\n  \
         switch of\n",
    );
    let own = |of: &Struct, keywords: &Keywords| -> Vec<String> {
        let fields = keywords.fields(of, root).into_iter().filter(|f| f.of.stars == 0 || f.of.kind == Kind::Char);
        fields.map(|f| format!("'{}'", f.name)).collect()
    };
    let all = keywords(interface, root);
    let word = |keywords: &Keywords| keywords.name.trim_end_matches("Options").to_lowercase();
    let read = used(interface, root, "READ_");
    let has_list = |keywords: &&Keywords| read.contains(&keywords.of);
    let mut asked = words_between(root, "+purlin", "m", LIST);
    asked.extend(words_between(root, "+purlin/+internal", "m", LIST));
    for (name, file) in &asked {
        assert!(all.iter().filter(has_list).any(|k| word(k) == *name), "{file}: option_names has no list {name}");
    }
    for keywords in all.iter().filter(has_list) {
        let bases = all.iter().filter(|k| keywords.base.split(", ").any(|base| base == k.name));
        let names: Vec<_> = bases.chain([keywords]).flat_map(|k| own(structure(interface, &k.of), k)).collect();
        let _ = writeln!(text, "    case '{}'", word(keywords));
        let mut line = String::from("      names = {");
        for (at, name) in names.iter().enumerate() {
            let end = if at + 1 == names.len() { "};" } else { ", " };
            if line.len() + name.len() + end.len() + 4 > WIDTH {
                let _ = writeln!(text, "{line}...");
                line = " ".repeat(15);
            }
            line += name;
            line += end;
        }
        let _ = writeln!(text, "{line}");
    }
    text + "    otherwise\n      error('purlin:internal', 'option_names: there is no family %s', of);\n  end\n  \
            if nargin > 1\n    names = names(~ismember(names, without));\n  end\nend\n"
}

/// `options.h`, `reports.h` and `words.h` of the gateway, and `option_names.m`.
pub fn files(interface: &Interface, root: &Path) -> Vec<Generated> {
    vec![
        Generated::new("bindings/matlab/src/generated/options.h", options(interface, root)),
        Generated::new("bindings/matlab/src/generated/reports.h", reports(interface, root)),
        Generated::new("bindings/matlab/src/generated/words.h", words(interface, root)),
        Generated::new("bindings/matlab/+purlin/+internal/option_names.m", option_names(interface, root)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{header, root};

    #[test]
    fn every_entry_is_of_a_field() {
        let interface = Interface::parse(&header::text(&root()));
        let entries = BY_HAND.iter().copied();
        for (short, field) in entries {
            let macro_of = if short.ends_with("_info") { "REPORT_" } else { "READ_" };
            assert!(used(&interface, &root(), macro_of).iter().any(|of| of == short), "{short} has a macro");
            assert!(
                structure(&interface, short).fields.iter().any(|f| f.name == field),
                "{short}.{field} is in the header"
            );
        }
    }

    #[test]
    fn options_and_figures_are_read_and_added_by_their_types() {
        let interface = Interface::parse(&header::text(&root()));
        let text = options(&interface, &root());
        for line in [
            "#define READ_RSVD_OPTIONS(given, o) \\",
            "read_int64(given, \"oversampling\", &(o)->oversampling); \\",
            "read_seed(given, \"seed\", &(o)->seed); \\",
            "read_choice(given, \"method\", rsvd_method_words, &(o)->method); \\",
            "read_flag(given, \"center\", &(o)->center); \\",
        ] {
            assert!(text.lines().any(|l| l.trim() == line), "{line}");
        }
        assert!(!text.contains("struct_size") && !text.contains("reserved") && !text.contains("progress"), "{text}");
        let text = reports(&interface, &root());
        for line in ["add_text(to, \"reason\", (i)->reason); \\", "add_number(to, \"rank\", (double)(i)->rank); \\"] {
            assert!(text.lines().any(|l| l.trim() == line), "{line}");
        }
    }

    #[test]
    fn words_and_names_are_those_of_the_header() {
        let interface = Interface::parse(&header::text(&root()));
        let text: String = files(&interface, &root()).into_iter().map(|file| file.text).collect();
        for line in [
            "{\"row_fused\", PURLIN_RSVD_METHOD_ROW_FUSED},",
            "{\"single\", PURLIN_FDK_PRECISION_F32},",
            "{\"sphere\", PURLIN_STARTS_FIBONACCI_SPHERE},",
            "case 'rsvd'",
            "names = {'b0_threshold', 'smoothing', 'minimum_signal', 'maximum_signal'};",
        ] {
            assert!(text.lines().any(|l| l.trim() == line), "{line}");
        }
        assert!(!text.contains("{\"f32\""), "{text}");
    }
}
