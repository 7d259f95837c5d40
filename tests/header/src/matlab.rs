//! Options and reports of the gateway for MATLAB and Octave: macros that read each option of a struct, and that add each figure
//! of an info struct to a struct of MATLAB's.
//!
//! 64-bit integers and real numbers need nothing more. A 32-bit option is a word, a flag or a number, which [`FIELDS`] says.

use std::fmt::Write as _;

use crate::interface::{Kind, Struct, Variable};
use crate::{Generated, Interface};

/// What a field is in MATLAB.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// One of the words of this list, which the file that uses the macro sees.
    Word(&'static str),
    /// True or false.
    Flag,
    /// A number.
    Number,
    /// The gateway reads or adds it by hand.
    ByHand,
}

use Meaning::{ByHand, Flag, Number, Word};

/// Structs of options that are read by a macro.
const OPTIONS: &[&str] = &[
    "context_options",
    "sshopm_options",
    "dwi_options",
    "fdk_geometry",
    "fdk_options",
    "rsvd_options",
    "pca_options",
    "rpca_options",
    "tt_contraction_options",
    "tt_round_options",
    "spmv_options",
    "lanczos_options",
];

/// Structs of figures that are reported by a macro.
const INFOS: &[&str] = &[
    "sshopm_info",
    "fdk_info",
    "rsvd_info",
    "pca_info",
    "rpca_info",
    "tt_contraction_info",
    "tt_round_info",
    "spmv_info",
    "lanczos_info",
];

/// Structs, fields, and what they are in MATLAB.
const FIELDS: &[(&str, &str, Meaning)] = &[
    ("context_options", "backend", Word("backends")),
    ("context_options", "device", Number),
    ("context_options", "cpu_isa", Word("instruction_sets")),
    ("context_options", "log_level", ByHand),
    ("sshopm_options", "goal", Word("goals")),
    ("sshopm_options", "method", Word("methods")),
    ("sshopm_options", "shift_kind", Word("shift_kinds")),
    ("sshopm_options", "test", Word("stopping_tests")),
    ("sshopm_options", "start_kind", Word("start_kinds")),
    ("sshopm_options", "sign", Word("signs")),
    ("sshopm_options", "compatibility", Word("compatibilities")),
    ("sshopm_options", "remove_isotropic", Flag),
    ("dwi_options", "weighting", Word("weightings")),
    ("dwi_options", "nonpositive", Word("nonpositives")),
    ("dwi_options", "basis", Word("peaks_bases")),
    ("dwi_options", "format", Word("formats")),
    ("dwi_options", "missing", Word("missings")),
    ("dwi_options", "start_kind", Word("start_kinds")),
    ("dwi_options", "method", Word("methods")),
    ("fdk_geometry", "views", ByHand),
    ("fdk_geometry", "allow_inside_panel", Flag),
    ("fdk_options", "window", Word("fdk_windows")),
    ("fdk_options", "redundancy", Word("fdk_redundancies")),
    ("fdk_options", "edge", Word("fdk_edges")),
    ("fdk_options", "interpolation", Word("fdk_interpolations")),
    ("fdk_options", "precision", Word("fdk_precisions")),
    ("fdk_options", "mode", Word("fdk_modes")),
    ("fdk_options", "fov_mask", Flag),
    ("fdk_options", "allow_missing", Flag),
    ("fdk_options", "allow_short_arc", Flag),
    ("fdk_options", "sanitize", Flag),
    ("rsvd_options", "rank", ByHand),
    ("rsvd_options", "dtype", ByHand),
    ("rsvd_options", "method", Word("rsvd_methods")),
    ("rsvd_options", "orthonormalization", Word("rsvd_orthonormalizations")),
    ("rsvd_options", "sketch", Word("rsvd_sketches")),
    ("rsvd_options", "center", Word("rsvd_centers")),
    ("rsvd_options", "scale", Flag),
    ("rsvd_options", "sign", Word("rsvd_signs")),
    ("rsvd_options", "right", ByHand),
    ("rsvd_options", "error", Word("rsvd_errors")),
    ("rsvd_options", "one_pass", Flag),
    ("rsvd_options", "iteration_precision", Word("rsvd_precisions")),
    ("pca_options", "samples", Word("pca_samples")),
    ("pca_options", "center", Flag),
    ("pca_options", "scale", Flag),
    ("pca_options", "whiten", Flag),
    ("rpca_options", "warm_start", Flag),
    ("rpca_options", "frames", Word("rpca_frames")),
    ("rpca_options", "dtype", ByHand),
    ("tt_contraction_options", "method", Word("tt_methods")),
    ("tt_contraction_options", "scaling", Word("scalings")),
    ("tt_contraction_options", "conjugate", Word("conjugates")),
    ("tt_contraction_options", "math", Word("maths")),
    ("tt_contraction_options", "norm_method", Word("norm_methods")),
    ("tt_contraction_options", "assume_hermitian", Flag),
    ("tt_contraction_options", "kernel", Word("kernels")),
    // Bonds count from 1 in MATLAB.
    ("tt_contraction_options", "cut", ByHand),
    ("tt_round_options", "absolute", Flag),
    ("spmv_options", "method", Word("spmv_methods")),
    ("spmv_options", "op", Word("operations")),
    ("spmv_options", "symmetric", Flag),
    ("spmv_options", "ordering", Word("reorderings")),
    ("spmv_options", "kind", Word("kinds")),
    ("lanczos_options", "count", ByHand),
    ("lanczos_options", "which", Word("whiches")),
    ("lanczos_options", "kind", Word("kinds")),
    ("lanczos_options", "verify", Word("verifications")),
    ("lanczos_options", "method", Word("ways")),
    ("lanczos_options", "orthogonalization", Word("orthogonalizations")),
    ("lanczos_options", "filter", Word("filters")),
    ("lanczos_options", "ordering", Word("reorderings")),
    ("lanczos_options", "check_symmetry", Flag),
    ("lanczos_info", "method", Word("ways")),
    // Sizes, spacings and origins come as three numbers each.
    ("fdk_info", "redundancy", ByHand),
    ("fdk_info", "nx", ByHand),
    ("fdk_info", "ny", ByHand),
    ("fdk_info", "nz", ByHand),
    ("fdk_info", "dx", ByHand),
    ("fdk_info", "dy", ByHand),
    ("fdk_info", "dz", ByHand),
    ("fdk_info", "x0", ByHand),
    ("fdk_info", "y0", ByHand),
    ("fdk_info", "z0", ByHand),
    ("rsvd_info", "method", Word("rsvd_methods")),
    ("rsvd_info", "orthonormalization", Word("rsvd_orthonormalizations")),
    ("rsvd_info", "dtype", ByHand),
    ("rsvd_info", "error_kind", Word("rsvd_errors")),
    ("rsvd_info", "sketch", Word("rsvd_sketches")),
    ("pca_info", "dtype", ByHand),
    ("pca_info", "samples", Word("pca_samples")),
    ("rpca_info", "dtype", ByHand),
    ("tt_contraction_info", "method", Word("tt_methods")),
    ("tt_contraction_info", "kernel", Word("kernels")),
    ("tt_contraction_info", "outcome", Word("outcomes")),
    ("tt_contraction_info", "cut", ByHand),
    ("spmv_info", "method", Word("spmv_methods")),
    ("spmv_info", "ordering", Word("reorderings")),
    ("spmv_info", "kind", Word("kinds")),
    ("lanczos_info", "stop_reason", Word("reasons")),
];

fn meaning(of: &str, field: &str) -> Option<Meaning> {
    FIELDS.iter().find(|f| f.0 == of && f.1 == field).map(|f| f.2)
}

/// Fields that a macro has to do with: not the size, what is reserved, pointers or functions.
fn fields<'a>(of: &'a Struct, short: &'a str) -> impl Iterator<Item = &'a Variable> {
    of.fields.iter().filter(move |f| {
        let is_plain = f.of.stars == 0 && !matches!(f.of.kind, Kind::Callback(_) | Kind::Size);
        is_plain && f.name != "reserved" && meaning(short, &f.name) != Some(ByHand)
    })
}

fn structure<'a>(interface: &'a Interface, short: &str) -> &'a Struct {
    interface.structure(&format!("purlin_{short}")).unwrap_or_else(|| panic!("purlin_{short}: is not in the header"))
}

/// A macro of statements.
fn macro_of(out: &mut String, heading: &str, statements: &[String]) {
    let _ = writeln!(out, "\n#define {heading} \\\n  do {{ \\");
    for statement in statements {
        let _ = writeln!(out, "    {statement}; \\");
    }
    out.push_str("  } while (0)\n");
}

fn options(interface: &Interface) -> String {
    let mut text = String::from(
        "/* Reads the options that a struct of MATLAB's has into one of purlin.h. Generated by tests/header: do not edit. */\n\
         #ifndef PURLIN_GENERATED_OPTIONS_H\n#define PURLIN_GENERATED_OPTIONS_H\n",
    );
    for short in OPTIONS {
        let statement = |field: &Variable| {
            let name = &field.name;
            let (reader, list) = match (&field.of.kind, meaning(short, name)) {
                (Kind::I32, Some(Word(list))) => ("choice", format!("{list}, ")),
                (Kind::I32, Some(Flag)) => ("flag", String::new()),
                (Kind::I32, Some(Number)) => ("int32", String::new()),
                (Kind::I64, None) => ("int64", String::new()),
                (Kind::U64, None) => ("seed", String::new()),
                (Kind::F64, None) => ("double", String::new()),
                _ => panic!("{short}.{name}: FIELDS of matlab.rs has to say whether it is a word, a flag or a number"),
            };
            format!("read_{reader}(given, \"{name}\", {list}&(o)->{name})")
        };
        let statements: Vec<_> = fields(structure(interface, short), short).map(statement).collect();
        macro_of(&mut text, &format!("READ_{}(given, o)", short.to_uppercase()), &statements);
    }
    text + "\n#endif\n"
}

fn reports(interface: &Interface) -> String {
    let mut text = String::from(
        "/* Adds the figures of a struct of purlin.h to one of MATLAB's. Generated by tests/header: do not edit. */\n\
         #ifndef PURLIN_GENERATED_REPORTS_H\n#define PURLIN_GENERATED_REPORTS_H\n",
    );
    for short in INFOS {
        // Words first, and why they were chosen.
        let (mut words, mut texts, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for field in fields(structure(interface, short), short) {
            let name = &field.name;
            match (&field.of.kind, meaning(short, name)) {
                (Kind::I32, Some(Word(list))) => words.push(format!("add_word(to, \"{name}\", {list}, (i)->{name})")),
                (Kind::Char, None) => texts.push(format!("add_text(to, \"{name}\", (i)->{name})")),
                (_, None) => numbers.push(format!("add_number(to, \"{name}\", (double)(i)->{name})")),
                _ => panic!("{short}.{name}: is a word, or a number without an entry in FIELDS"),
            }
        }
        macro_of(&mut text, &format!("REPORT_{}(to, i)", short.to_uppercase()), &[words, texts, numbers].concat());
    }
    text + "\n#endif\n"
}

/// `options.h` and `reports.h` of the gateway.
pub fn files(interface: &Interface) -> Vec<Generated> {
    vec![
        Generated::new("bindings/matlab/src/generated/options.h", options(interface)),
        Generated::new("bindings/matlab/src/generated/reports.h", reports(interface)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{header, root};

    #[test]
    fn every_entry_is_of_a_field() {
        let interface = Interface::parse(&header::text(&root()));
        for (short, field, _) in FIELDS.iter().copied() {
            assert!(OPTIONS.contains(&short) || INFOS.contains(&short), "{short} has a macro");
            assert!(
                structure(&interface, short).fields.iter().any(|f| f.name == field),
                "{short}.{field} is in the header"
            );
        }
    }

    #[test]
    fn options_and_figures_are_read_and_added_by_their_types() {
        let interface = Interface::parse(&header::text(&root()));
        let text = options(&interface);
        for line in [
            "#define READ_RSVD_OPTIONS(given, o) \\",
            "read_int64(given, \"oversampling\", &(o)->oversampling); \\",
            "read_seed(given, \"seed\", &(o)->seed); \\",
            "read_choice(given, \"method\", rsvd_methods, &(o)->method); \\",
            "read_flag(given, \"center\", &(o)->center); \\",
        ] {
            assert!(text.lines().any(|l| l.trim() == line), "{line}");
        }
        assert!(!text.contains("struct_size") && !text.contains("reserved") && !text.contains("progress"), "{text}");
        let text = reports(&interface);
        for line in ["add_text(to, \"reason\", (i)->reason); \\", "add_number(to, \"rank\", (double)(i)->rank); \\"] {
            assert!(text.lines().any(|l| l.trim() == line), "{line}");
        }
    }

    #[test]
    #[should_panic(expected = "rsvd_options.novel: FIELDS of matlab.rs has to say")]
    fn a_short_option_needs_an_entry() {
        let mut interface = Interface::parse(&header::text(&root()));
        let at = interface.structs.iter().position(|s| s.name == "purlin_rsvd_options").expect("the struct");
        let mut novel = interface.structs[at].fields.iter().find(|f| f.of.kind == Kind::I32).expect("a field").clone();
        novel.name = "novel".to_owned();
        interface.structs[at].fields.push(novel);
        options(&interface);
    }
}
