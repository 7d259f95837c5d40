//! Conversions between the structs of options and reports in C and those of the core.
//!
//! [`families`] lists the structs. A field is converted to the one of the same name in the core, by the types that
//! [`FromC` and `ToC`](../../src/base/choice.rs) know. `listed` has the structs of other names, the fields that have
//! another place or name in the core, and those that are converted by hand.

use std::fmt::Write as _;
use std::path::Path;

use crate::interface::{Kind, Struct, Variable};
use crate::{Generated, Interface, families};

/// A struct of the core whose fields are found by name: the file under `src`, the struct, and the path to it in the value that
/// is converted, with its dot.
type Core = (String, &'static str, &'static str);

/// A struct of C and the value of the core that it is converted to and from.
#[derive(Clone, Default)]
struct Mirror {
    /// The family in whose file the conversion is.
    family: String,
    /// The struct of C without `purlin_`.
    of: String,
    /// The type of the core's value.
    value: String,
    /// The structs that the value consists of; none where [`families`] names them.
    cores: Vec<Core>,
    /// Fields of C and their paths in the value, where that does not follow from the name.
    renamed: &'static [(&'static str, &'static str)],
    /// Sizes that are at least 1.
    positive: &'static [&'static str],
    /// Fields that `src/ffi` reads by hand, and that are written here.
    read_by_hand: &'static [&'static str],
    /// Fields that `src/ffi` converts by hand.
    by_hand: &'static [&'static str],
}

/// A struct that a family has by its name.
fn named(family: &str, of: &str) -> Mirror {
    Mirror { family: family.to_owned(), of: of.to_owned(), ..Mirror::default() }
}

/// A struct whose value consists of these structs of the core.
fn made_of(family: &str, of: &str, value: &str, cores: &[(&str, &'static str, &'static str)]) -> Mirror {
    let cores = cores.iter().map(|&(file, name, path)| (file.to_owned(), name, path)).collect();
    Mirror { value: value.to_owned(), cores, ..named(family, of) }
}

/// The exceptions that do not follow from the names of families and fields.
fn listed() -> Vec<Mirror> {
    vec![
        Mirror {
            // 0 and PURLIN_SH_TENSOR are the same.
            by_hand: &["basis"],
            ..made_of(
                "dwi",
                "dwi_options",
                "crate::dwi::Options",
                &[
                    ("dwi/options.rs", "FitOptions", "fit."),
                    ("dwi/options.rs", "CsaOptions", "csa."),
                    ("dwi/options.rs", "PeaksOptions", "peaks."),
                ],
            )
        },
        Mirror {
            renamed: &[
                ("nx", "grid.size[0]"),
                ("ny", "grid.size[1]"),
                ("nz", "grid.size[2]"),
                ("dx", "grid.spacing[0]"),
                ("dy", "grid.spacing[1]"),
                ("dz", "grid.spacing[2]"),
                ("x0", "grid.origin[0]"),
                ("y0", "grid.origin[1]"),
                ("z0", "grid.origin[2]"),
            ],
            ..named("fdk", "fdk_info")
        },
        Mirror {
            positive: &["count", "block"],
            // The order may be absent.
            by_hand: &["ordering"],
            ..made_of(
                "lanczos",
                "lanczos_options",
                "crate::lanczos::session::Problem",
                &[("lanczos/options.rs", "Options", "options."), ("lanczos/session.rs", "Problem", "")],
            )
        },
        Mirror {
            renamed: &[("part_rows", "shares.rows"), ("part_entries", "shares.entries"), ("reason", "reason.text()")],
            ..made_of(
                "lanczos",
                "lanczos_info",
                "crate::lanczos::Info",
                &[("lanczos/info.rs", "Info", ""), ("lanczos/info.rs", "Shares", "shares.")],
            )
        },
        Mirror { positive: &["max_iterations"], ..named("rpca", "rpca_options") },
        Mirror {
            // 0 means the default of these two, and is the default of one.
            read_by_hand: &["probes"],
            by_hand: &["block_columns"],
            ..named("rsvd", "rsvd_options")
        },
        // The options' unless one was given.
        Mirror { by_hand: &["sketch"], ..named("rsvd", "rsvd_info") },
        made_of("rsvd", "pca_options", "crate::rsvd::pca::PcaOptions", &[("rsvd/pca/options.rs", "PcaOptions", "")]),
        Mirror {
            renamed: &[("centered", "options.center"), ("scaled", "options.scale"), ("whitened", "options.whiten")],
            ..made_of(
                "rsvd",
                "pca_info",
                "crate::rsvd::pca::PcaInfo",
                &[("rsvd/pca/info.rs", "PcaInfo", ""), ("rsvd/pca/options.rs", "PcaOptions", "options.")],
            )
        },
        // The order may be absent.
        Mirror { by_hand: &["ordering"], ..named("spmv", "spmv_options") },
        Mirror {
            renamed: &[("short_rows", "statistics.short")],
            // The plan's options.
            by_hand: &["ordering", "kind", "degree"],
            ..made_of(
                "spmv",
                "spmv_info",
                "crate::spmv::Info",
                &[("spmv/info.rs", "Info", ""), ("spmv/info.rs", "Statistics", "statistics.")],
            )
        },
        Mirror {
            // A bond and a number of repetitions have messages of their own.
            read_by_hand: &["cut", "repeat"],
            // The kernel may be absent.
            by_hand: &["kernel"],
            ..made_of("tt", "tt_contraction_options", "crate::tt::Options", &[("tt/trains/options.rs", "Options", "")])
        },
        made_of("tt", "tt_contraction_info", "crate::tt::Info", &[("tt/trains/info.rs", "Info", "")]),
    ]
}

/// The families that have conversions, and these: of structs by name first, then of the others that are listed.
fn mirrors(interface: &Interface, root: &Path) -> Vec<(String, Vec<Mirror>)> {
    let listed = listed();
    let mut all: Vec<Mirror> = Vec::new();
    for (end, file, name) in [("options", "options.rs", "Options"), ("info", "info.rs", "Info")] {
        for (short, family) in families::structs(interface, root, end) {
            let mut mirror = listed.iter().find(|m| m.of == short).cloned().unwrap_or_else(|| named(&family, &short));
            if mirror.cores.is_empty() {
                mirror.value = format!("crate::{family}::{name}");
                mirror.cores = vec![(format!("{family}/{file}"), name, "")];
            }
            all.push(mirror);
        }
    }
    for mirror in listed {
        if all.iter().all(|other| other.of != mirror.of) {
            assert!(!mirror.cores.is_empty(), "{}: is no struct that a family has by its name", mirror.of);
            all.push(mirror);
        }
    }
    let of = |family: String| {
        let own: Vec<_> = all.iter().filter(|m| m.family == family).cloned().collect();
        (!own.is_empty()).then_some((family, own))
    };
    families::names(root).into_iter().filter_map(of).collect()
}

/// Names and types of the public fields of a struct of the core.
pub(crate) fn core_fields(root: &Path, file: &str, name: &str) -> Vec<(String, String)> {
    let path = root.join("src").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = text.lines().map(str::trim);
    let heading = format!("pub struct {name} {{");
    assert!(lines.by_ref().any(|line| line == heading), "src/{file}: has no {heading}");
    lines
        .take_while(|line| *line != "}")
        .filter_map(|line| line.strip_prefix("pub ")?.split_once(':'))
        .map(|(field, of)| (field.to_owned(), of.trim().to_owned()))
        .collect()
}

impl Mirror {
    /// The fields that are neither the size, reserved, pointers nor functions.
    fn fields<'a>(&self, of: &'a Struct) -> impl Iterator<Item = &'a Variable> {
        let by_hand = self.by_hand;
        of.fields.iter().filter(move |f| {
            let is_plain = f.of.stars == 0 && !matches!(f.of.kind, Kind::Callback(_) | Kind::Size);
            is_plain && f.name != "reserved" && !by_hand.contains(&f.name.as_str())
        })
    }

    /// The places of a field in the core's value.
    fn paths(&self, field: &str, cores: &[(Core, Vec<(String, String)>)]) -> Vec<String> {
        if let Some((_, path)) = self.renamed.iter().find(|r| r.0 == field) {
            return vec![(*path).to_owned()];
        }
        let has = |fields: &[(String, String)]| fields.iter().any(|f| f.0 == field);
        let paths: Vec<_> = cores.iter().filter(|c| has(&c.1)).map(|c| format!("{}{field}", c.0.2)).collect();
        let names: Vec<_> = self.cores.iter().map(|c| format!("{} of src/{}", c.1, c.0)).collect();
        assert!(
            !paths.is_empty(),
            "purlin_{}.{field}: {} has no such field, and `listed` of conversions.rs does not name it",
            self.of,
            names.join(", ")
        );
        paths
    }

    fn write(&self, out: &mut String, interface: &Interface, root: &Path) {
        let name = format!("purlin_{}", self.of);
        let of = interface.structure(&name).unwrap_or_else(|| panic!("{name}: is not in the header"));
        let listed = [self.by_hand, self.read_by_hand, self.positive].concat();
        for field in listed.iter().chain(self.renamed.iter().map(|(field, _)| field)) {
            assert!(of.fields.iter().any(|f| f.name == *field), "{name}.{field}: is not in the header");
        }
        let cores: Vec<_> = self.cores.iter().map(|core| (core.clone(), core_fields(root, &core.0, core.1))).collect();
        let (mut set, mut read) = (String::new(), String::new());
        if of.fields.iter().any(|f| f.name == "reserved") {
            read.push_str("        expect_zero(\"reserved\", self.reserved)?;\n");
        }
        for field in self.fields(of) {
            let paths = self.paths(&field.name, &cores);
            let name = &field.name;
            let _ = match field.of.kind {
                Kind::Char => {
                    let is_reference = |f: &(String, String)| f.0 == *name && f.1.starts_with('&');
                    let is_borrowed = paths[0].ends_with(')') || cores.iter().any(|c| c.1.iter().any(is_reference));
                    let borrow = if is_borrowed { "" } else { "&" };
                    writeln!(set, "        self.{name} = fill_text({borrow}from.{});", paths[0])
                }
                _ => writeln!(set, "        self.{name} = from.{}.to_c();", paths[0]),
            };
            let value = match self.positive.contains(&name.as_str()) {
                true => format!("shape::size(\"{name}\", self.{name}, 1)?"),
                false => format!("FromC::from_c(\"{name}\", self.{name})?"),
            };
            if self.read_by_hand.contains(&name.as_str()) {
                continue;
            }
            for path in &paths {
                let _ = writeln!(read, "        to.{path} = {value};");
            }
        }
        let but = |fields: &[&str]| match fields {
            [] => String::new(),
            fields => format!(" but `{}`", fields.join("`, `")),
        };
        let _ = write!(
            out,
            "\nimpl {name} {{\n    /// Sets the fields of the core's value{}.\n    pub(in crate::ffi) fn set(&mut self, from: &{}) {{\n{set}    }}\n",
            but(self.by_hand),
            self.value
        );
        if self.of.ends_with("_options") {
            let _ = write!(
                out,
                "\n    /// Reads the fields of the core's value{}.\n    pub(in crate::ffi) fn read_into(&self, to: &mut {}) -> Result<()> {{\n{read}        Ok(())\n    }}\n",
                but(&[self.read_by_hand, self.by_hand].concat()),
                self.value
            );
        }
        out.push_str("}\n");
    }
}

fn file(interface: &Interface, root: &Path, family: &str, mirrors: &[Mirror]) -> String {
    let mut body = String::new();
    mirrors.iter().for_each(|mirror| mirror.write(&mut body, interface, root));
    let mut text = format!(
        "//! Options and reports of {family}, from C to the core and back. Generated by tests/header: do not edit.\n\n"
    );
    let names = mirrors.iter().map(|m| format!("purlin_{}", m.of));
    let structs: Vec<_> = names.map(|name| (families::module(root, &name), name)).collect();
    let mut uses = Vec::new();
    for (module, name) in &structs {
        match uses.iter_mut().find(|(m, _): &&mut (&String, Vec<&str>)| *m == module) {
            Some((_, names)) => names.push(name),
            None => uses.push((module, vec![name.as_str()])),
        }
    }
    let mut lines: Vec<_> = uses
        .into_iter()
        .map(|(module, mut names)| {
            names.sort_unstable();
            match names[..] {
                [name] => format!("use crate::ffi::{module}::{name};"),
                _ => format!("use crate::ffi::{module}::{{{}}};", names.join(", ")),
            }
        })
        .collect();
    lines.push("use crate::choice::{FromC, ToC as _};".to_owned());
    let (zero, text_of) = (body.contains("expect_zero("), body.contains("fill_text("));
    match (zero, text_of) {
        (true, true) => lines.push("use crate::ffi::options::{expect_zero, fill_text};".to_owned()),
        (true, false) => lines.push("use crate::ffi::options::expect_zero;".to_owned()),
        (false, true) => lines.push("use crate::ffi::options::fill_text;".to_owned()),
        (false, false) => {}
    }
    for (word, line) in [("Result<", "use crate::error::Result;"), ("shape::", "use crate::shape;")] {
        if body.contains(word) {
            lines.push(line.to_owned());
        }
    }
    lines.sort_unstable();
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text + &body
}

/// The files of `src/ffi/generated`, with their texts.
pub fn files(interface: &Interface, root: &Path) -> Vec<Generated> {
    let mut index = String::from("//! Conversions of options and reports. Generated by tests/header: do not edit.\n\n");
    let mut made = Vec::new();
    for (family, mirrors) in &mirrors(interface, root) {
        let _ = writeln!(index, "mod {family};");
        made.push(Generated::new(format!("src/ffi/generated/{family}.rs"), file(interface, root, family, mirrors)));
    }
    made.push(Generated::new("src/ffi/generated/mod.rs", index));
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{header, root};

    fn interface() -> Interface {
        Interface::parse(&header::text(&root()))
    }

    fn text(interface: &Interface) -> String {
        files(interface, &root()).into_iter().map(|file| file.text).collect()
    }

    #[test]
    fn fields_are_converted_by_name() {
        let text = text(&interface());
        for line in [
            "self.oversampling = from.oversampling.to_c();",
            "to.oversampling = FromC::from_c(\"oversampling\", self.oversampling)?;",
            "to.options.count = shape::size(\"count\", self.count, 1)?;",
            "to.fit.b0_threshold = FromC::from_c(\"b0_threshold\", self.b0_threshold)?;",
            "to.csa.b0_threshold = FromC::from_c(\"b0_threshold\", self.b0_threshold)?;",
            "self.reason = fill_text(&from.reason);",
            "self.reason = fill_text(from.reason);",
            "self.part_rows = from.shares.rows.to_c();",
        ] {
            assert!(text.lines().any(|l| l.trim() == line), "{line}");
        }
        assert!(text.lines().all(|line| line.len() <= 120), "rustfmt would break a line");
    }

    #[test]
    #[should_panic(expected = "purlin_rsvd_options.novel: Options of src/rsvd/options.rs has no such field")]
    fn a_field_that_the_core_lacks_is_refused() {
        let mut interface = interface();
        let at = interface.structs.iter().position(|s| s.name == "purlin_rsvd_options").expect("the struct");
        let mut novel = interface.structs[at].fields.iter().find(|f| f.of.kind == Kind::I64).expect("a field").clone();
        novel.name = "novel".to_owned();
        interface.structs[at].fields.push(novel);
        text(&interface);
    }
}
