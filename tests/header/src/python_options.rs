//! Words, keyword options and reports of Python: the forms of the structs of options and reports there.
//!
//! A family `x` has the class `XInfo` of all figures of `purlin_x_info`, unless `REPORTS` has a class of that struct.

use std::fmt::Write as _;
use std::path::Path;

use crate::choices::{self, Choice, Meaning};
use crate::interface::{Kind, Struct, Variable};
use crate::keywords::{fields, keywords, structure};
use crate::python::WIDTH;
use crate::words::{default, first_sentence};
use crate::{Generated, Interface, families};

/// Classes of `_reports.py` whose documentation is their own: name, struct, documentation, and fields that the class of
/// the family has in another form.
const REPORTS: &[(&str, &str, &str, &[&str])] = &[
    (
        "SshopmInfo",
        "sshopm_info",
        "The report of a call. `tolerance` is the one used, raised to the least that float32 reaches if need be.",
        &[],
    ),
    ("FdkFigures", "fdk_info", "The figures of a report.", &["nx", "ny", "nz", "dx", "dy", "dz", "x0", "y0", "z0"]),
    ("RsvdInfo", "rsvd_info", "The plan or the report of a run.", &[]),
    ("RpcaInfo", "rpca_info", "The report of a run; `residual` is ||M - L - S||_F / ||M||_F.", &[]),
    ("TtContractionInfo", "tt_contraction_info", "The plan and the report of a contraction.", &[]),
    (
        "SpmvInfo",
        "spmv_info",
        "The report of a plan: lengths of the rows, the method and its reason; shares, bytes and seconds of the plan.",
        &[],
    ),
    ("LanczosInfo", "lanczos_info", "The report of a solve.", &[]),
];

/// Structs whose options are read by hand, in addition to those that have classes.
const BY_HAND: &[&str] = &["pca_options"];

/// A class of `_reports.py`.
struct Report {
    name: String,
    /// The struct of C without `purlin_`.
    of: String,
    doc: String,
    /// Fields that the class of the family has in another form.
    others: &'static [&'static str],
}

/// The classes of `_reports.py`.
fn report_classes(interface: &Interface, root: &Path) -> Vec<Report> {
    let listed = |&(name, of, doc, others): &(&str, &str, &str, _)| Report {
        name: name.to_owned(),
        of: of.to_owned(),
        doc: doc.to_owned(),
        others,
    };
    let mut all: Vec<_> = REPORTS.iter().map(listed).collect();
    for (of, _) in families::structs(interface, root, "info") {
        if all.iter().all(|report| report.of != of) {
            let doc = first_sentence(&structure(interface, &of).doc);
            all.push(Report { name: families::class(&of), of, doc, others: &[] });
        }
    }
    all
}

/// The choices that have words in Python: those of all classes.
fn choices_of_classes(interface: &Interface, root: &Path) -> Vec<Choice> {
    let options = keywords(interface, root).into_iter().map(|k| k.of);
    let structs = options.chain(report_classes(interface, root).into_iter().map(|r| r.of));
    let structs: Vec<_> = structs.chain(BY_HAND.iter().map(|&of| of.to_owned())).collect();
    choices::all(interface, &structs.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A name that is not a word of Python.
fn keyword(name: &str) -> String {
    if name == "lambda" { "lambda_".to_owned() } else { name.to_owned() }
}

fn camel(name: &str) -> String {
    name.split('_').map(|w| w[..1].to_uppercase() + &w[1..]).collect()
}

/// The type of an option.
fn option_type(interface: &Interface, of: &Struct, field: &Variable) -> String {
    match (&field.of.kind, field.of.stars) {
        (Kind::Object(name), 1) if name == "purlin_group" => "Group".to_owned(),
        (Kind::Char, 1) => "str | os.PathLike[str]".to_owned(),
        (Kind::I64 | Kind::U64, 0) => "int".to_owned(),
        (Kind::F64, 0) => "float".to_owned(),
        (Kind::I32, 0) => match choices::meaning(interface, of, field) {
            Meaning::Choice(choice) => camel(&choice.name),
            Meaning::Flag => "bool".to_owned(),
            Meaning::DType => "npt.DTypeLike".to_owned(),
            Meaning::Number => "int".to_owned(),
        },
        other => panic!("{}.{}: {other:?} is no type of an option in Python", of.name, field.name),
    }
}

/// The default as Python writes it, in a comment. NULL is nothing in it.
fn comment(interface: &Interface, of: &Struct, field: &Variable) -> String {
    let value = match default(&field.doc) {
        Some("NULL") | None => return String::new(),
        Some(value) => value,
    };
    let value = match field.is_choice().then(|| choices::meaning(interface, of, field)) {
        // No choice.
        Some(Meaning::Choice(_)) if value == "0" => return String::new(),
        Some(Meaning::Choice(choice)) => {
            let is_it = |(word, constant): &&(String, String)| constant == value || word.to_uppercase() == *value;
            let word = choice.words.iter().find(is_it).map(|(word, _)| format!("\"{word}\""));
            word.unwrap_or_else(|| panic!("{}.{}: {value} is none of its words", of.name, field.name))
        }
        Some(Meaning::Flag) => if value == "0" { "False" } else { "True" }.to_owned(),
        Some(Meaning::DType) => "None".to_owned(),
        Some(Meaning::Number) | None => value.to_owned(),
    };
    format!("  # default {value}")
}

/// The type of a figure of a report.
fn report_type(interface: &Interface, of: &Struct, field: &Variable) -> &'static str {
    match field.of.kind {
        Kind::Char => "str",
        Kind::F64 => "float",
        Kind::I32 => match choices::meaning(interface, of, field) {
            Meaning::Choice(_) => "str",
            Meaning::Flag => "bool",
            Meaning::DType => "np.dtype[Any]",
            Meaning::Number => "int",
        },
        _ => "int",
    }
}

/// Constants of `_choices.py` are named like the words' list.
fn list(name: &str) -> String {
    name.to_uppercase()
}

/// A list on one line, or an entry a line where that is too long.
fn write_list(out: &mut String, first: &str, entries: &[String], last: &str) {
    let line = format!("{first}{}{last}", entries.join(", "));
    if line.len() <= WIDTH {
        out.push_str(&line);
    } else {
        let _ = write!(out, "{first}\n    {},\n{last}", entries.join(",\n    "));
    }
    out.push('\n');
}

fn words(interface: &Interface, root: &Path) -> String {
    let mut text = String::from(
        "\"\"\"Words of the options and reports, and their numbers in purlin.h. Generated by tests/header: do not edit.\"\"\"\n\n\
         from typing import Final, Literal\n\nfrom . import _constants as c\n",
    );
    for choice in choices_of_classes(interface, root) {
        let pairs = choice.words.iter().map(|(word, c)| format!("\"{word}\": c.{}", c.trim_start_matches("PURLIN_")));
        text.push('\n');
        write_list(&mut text, &format!("{}: Final = {{", list(&choice.name)), &pairs.collect::<Vec<_>>(), "}");
        let words: Vec<_> = choice.words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        write_list(&mut text, &format!("{} = Literal[", camel(&choice.name)), &words, "]");
    }
    text
}

fn options(interface: &Interface, root: &Path) -> String {
    let mut body = String::new();
    let classes = keywords(interface, root);
    for keywords in &classes {
        let of = structure(interface, &keywords.of);
        let base = if keywords.base.is_empty() { "TypedDict" } else { keywords.base };
        let _ =
            write!(body, "\n\nclass {}({base}, total=False):\n    \"\"\"{}\"\"\"\n\n", keywords.name, keywords.doc());
        for field in keywords.fields(of, root) {
            let comment = comment(interface, of, field);
            let _ = writeln!(body, "    {}: {}{comment}", keyword(&field.name), option_type(interface, of, field));
        }
    }
    body.push_str("\n\n# By structs: the words of their choices.\nWORDS: dict[str, dict[str, dict[str, int]]] = {\n");
    let mut seen = Vec::new();
    for of in classes.iter().map(|k| k.of.as_str()) {
        if seen.contains(&of) {
            continue;
        }
        seen.push(of);
        let _ = writeln!(body, "    \"{of}\": {{");
        let of = structure(interface, of);
        for field in fields(of).filter(|f| f.is_choice()) {
            if let Meaning::Choice(choice) = choices::meaning(interface, of, field) {
                let _ = writeln!(body, "        \"{}\": w.{},", field.name, list(&choice.name));
            }
        }
        body.push_str("    },\n");
    }
    body.push_str("}\n");
    let choice_types: Vec<_> = choices_of_classes(interface, root)
        .into_iter()
        .map(|c| camel(&c.name))
        .filter(|name| ['\n', ' '].iter().any(|end| body.contains(&format!(": {name}{end}"))))
        .collect();
    let mut text = String::from(
        "\"\"\"Keyword options of the families. Generated by tests/header: do not edit.\"\"\"\n\n\
         from __future__ import annotations\n\nimport os\nfrom typing import TypedDict\n\nimport numpy.typing as npt\n\n\
         from . import _choices as w\nfrom ._choices import (\n",
    );
    for name in choice_types {
        let _ = writeln!(text, "    {name},");
    }
    text + ")\nfrom ._context import Group\n" + &body
}

fn reports(interface: &Interface, root: &Path) -> String {
    let mut body = String::new();
    let (mut flags, mut lists) = (String::new(), String::new());
    for Report { name, of, doc, others } in report_classes(interface, root) {
        let of = structure(interface, &of);
        let _ = write!(body, "\n\n@dataclass(frozen=True)\nclass {name}:\n    \"\"\"{doc}\"\"\"\n\n");
        let (mut own_flags, mut own_lists) = (Vec::new(), String::new());
        for field in fields(of).filter(|f| !others.contains(&f.name.as_str())) {
            let _ = writeln!(body, "    {}: {}", keyword(&field.name), report_type(interface, of, field));
            if !field.is_choice() {
                continue;
            }
            match choices::meaning(interface, of, field) {
                Meaning::Choice(choice) => {
                    let _ = writeln!(own_lists, "        \"{}\": w.{},", field.name, list(&choice.name));
                }
                Meaning::Flag => own_flags.push(format!("\"{}\"", field.name)),
                Meaning::DType | Meaning::Number => {}
            }
        }
        let _ = writeln!(flags, "    \"{name}\": {{{}}},", own_flags.join(", "));
        let _ = write!(lists, "    \"{name}\": {{\n{own_lists}    }},\n");
    }
    // An empty pair of braces is a dictionary.
    let flags = flags.replace("{}", "set()");
    let lists = lists.replace("{\n    }", "{}");
    format!(
        "\"\"\"Reports of the families, and how they are read. Generated by tests/header: do not edit.\"\"\"\n\n\
         from __future__ import annotations\n\nfrom dataclasses import dataclass\nfrom typing import Any\n\nimport numpy as np\n\n\
         from . import _choices as w\n{body}\n\n\
         # By classes: the fields that are true or false.\nFLAGS: dict[str, set[str]] = {{\n{flags}}}\n\n\
         # By classes: the words of their choices.\nWORDS: dict[str, dict[str, dict[str, int]]] = {{\n{lists}}}\n"
    )
}

/// The files `_choices.py`, `_options.py` and `_reports.py`.
pub fn files(interface: &Interface, root: &Path) -> Vec<Generated> {
    let texts = [
        ("_choices", words(interface, root)),
        ("_options", options(interface, root)),
        ("_reports", reports(interface, root)),
    ];
    texts.map(|(name, text)| Generated::new(format!("bindings/python/purlin/{name}.py"), text)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{header, root};

    #[test]
    fn options_and_reports_have_the_types_of_python() {
        let interface = Interface::parse(&header::text(&root()));
        let text: String = files(&interface, &root()).into_iter().map(|file| file.text).collect();
        for line in [
            "    oversampling: int  # default 10",
            "    method: RsvdMethod  # default \"auto\"",
            "    goal: SshopmGoal  # default \"maxima\"",
            "    warm_start: bool  # default True",
            "    scale: bool  # default False",
            "    restart_path: str | os.PathLike[str]",
            "    group: Group",
            "    lambda_: float",
            "    dtype: np.dtype[Any]",
            "RsvdSign = Literal[\"none\", \"v_max\", \"u_max\"]",
            "    \"row_fused\": c.RSVD_METHOD_ROW_FUSED,",
            "    \"RsvdInfo\": {\"transposed\", \"converged\", \"restarted\"},",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}");
        }
        assert!(!text.contains("struct_size") && !text.contains("progress"), "{text}");
    }
}
