//! Fortran procedures for default integers.
//!
//! A hand-written procedure takes sizes, counts and indices as `integer(c_int64_t)`. From its declarations this makes
//! `NAME_i4`, which takes them as `integer(c_int32_t)`: default integers of either size then fit every call. The
//! hand-written source includes the generated files: generic names, and procedures. A file of procedures is made from
//! the source that includes it, and from the sources that this one includes or is included by.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::Generated;
use crate::fortran::statement;

/// 64-bit whatever a default integer is: addresses, exponents, and lists that are borrowed in place, which have procedures
/// of their own for either size.
const STAYS_WIDE: &[&str] = &[
    "address",
    "cuda_stream",
    "exponent",
    "exponents",
    "row_ptr",
    "col_ptr",
    "row_idx",
    "col_idx",
    "values",
    "bytes",
    "array",
    "addresses",
    "memory",
];

/// Declarations of one statement: type, attributes, and names with their bounds.
struct Declaration {
    kind: String,
    attributes: Vec<String>,
    entities: Vec<(String, String)>,
}

impl Declaration {
    fn has(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|a| a == attribute)
    }
}

struct Procedure {
    name: String,
    prefix: String,
    is_function: bool,
    arguments: Vec<String>,
    result: Option<String>,
    declarations: Vec<Declaration>,
    /// Interface blocks of procedure arguments, as they are.
    interfaces: Vec<String>,
}

/// Generic names with their procedures.
type Generics = Vec<(String, Vec<String>)>;

#[derive(Default)]
struct Unit {
    /// Names of types and the generic names bound to them.
    types: Vec<(String, Generics)>,
    /// Generic names of the module itself, which no type has.
    generics: Generics,
    public: Vec<String>,
    procedures: BTreeMap<String, Procedure>,
}

/// Splits at commas outside parentheses.
fn list(text: &str) -> Vec<String> {
    let (mut depth, mut items, mut item) = (0, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                items.push(std::mem::take(&mut item).trim().to_owned());
                continue;
            }
            _ => {}
        }
        item.push(c);
    }
    if !item.trim().is_empty() {
        items.push(item.trim().to_owned());
    }
    items
}

/// Statements without comments, continuation lines joined.
fn statements(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_continued = false;
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('!')) {
        let (body, more) = line.strip_suffix('&').map_or((line, false), |body| (body.trim_end(), true));
        match found.last_mut() {
            Some(last) if is_continued => {
                last.push(' ');
                last.push_str(body);
            }
            _ => found.push(body.to_owned()),
        }
        is_continued = more;
    }
    found
}

fn declaration(statement: &str) -> Option<Declaration> {
    const TYPES: &[&str] = &["integer", "real", "complex", "logical", "character", "type(", "class(", "procedure("];
    if !TYPES.iter().any(|t| statement.starts_with(t)) {
        return None;
    }
    let (head, names) = statement.split_once("::")?;
    let mut attributes = list(head);
    let kind = attributes.remove(0);
    let entities = list(names)
        .into_iter()
        .map(|entity| {
            let entity = entity.split('=').next().unwrap_or_default().trim();
            let at = entity.find('(').unwrap_or(entity.len());
            (entity[..at].to_owned(), entity[at..].to_owned())
        })
        .collect();
    Some(Declaration { kind, attributes, entities })
}

/// A procedure's heading: prefix, whether a function, name, arguments, result.
fn heading(statement: &str) -> Option<Procedure> {
    if statement.starts_with("end ") || statement.starts_with("module procedure") {
        return None;
    }
    let (at, word) = ["subroutine ", "function "]
        .iter()
        .filter_map(|word| statement.find(word).map(|at| (at, *word)))
        .find(|(at, _)| ["", "pure ", "impure elemental ", "elemental "].contains(&&statement[..*at]))?;
    let rest = &statement[at + word.len()..];
    let (name, rest) = rest.split_once('(')?;
    let (arguments, rest) = rest.split_once(')')?;
    let result = rest.trim().strip_prefix("result(").and_then(|r| r.strip_suffix(')')).map(str::to_owned);
    Some(Procedure {
        name: name.trim().to_owned(),
        prefix: statement[..at].to_owned(),
        is_function: word.starts_with("function"),
        arguments: list(arguments),
        result,
        declarations: Vec::new(),
        interfaces: Vec::new(),
    })
}

fn parse(text: &str) -> Unit {
    let mut unit = Unit::default();
    let mut lines = statements(text).into_iter();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("type").and_then(|l| l.split_once(":: ")).map(|(_, name)| name.to_owned())
            && !line.starts_with("type(")
        {
            let mut generics = Vec::new();
            for line in lines.by_ref().take_while(|l| !l.starts_with("end type")) {
                if let Some((generic, names)) = line.strip_prefix("generic :: ").and_then(|l| l.split_once("=>")) {
                    generics.push((generic.trim().to_owned(), list(names)));
                } else if let Some((own, name)) = line.strip_prefix("procedure :: ").and_then(|l| l.split_once("=>")) {
                    // Not generic: nothing to add to, which is checked where a procedure is found to need it.
                    generics.push((format!("={}", own.trim()), list(name)));
                }
            }
            unit.types.push((name, generics));
        } else if let Some(name) = line.strip_prefix("interface ") {
            let names = lines
                .by_ref()
                .take_while(|l| !l.starts_with("end interface"))
                .flat_map(|l| l.strip_prefix("module procedure").map(list).unwrap_or_default());
            unit.generics.push((name.trim().to_owned(), names.collect()));
        } else if let Some(names) = line.strip_prefix("public :: ") {
            unit.public.extend(list(names));
        } else if let Some(mut procedure) = heading(&line) {
            let end = if procedure.is_function { "end function" } else { "end subroutine" };
            while let Some(line) = lines.next() {
                if line.starts_with(end) {
                    break;
                }
                if line == "interface" {
                    let block: Vec<String> = lines.by_ref().take_while(|l| !l.starts_with("end interface")).collect();
                    procedure.interfaces.extend(block);
                } else if let Some(declaration) = declaration(&line) {
                    procedure.declarations.push(declaration);
                }
            }
            unit.procedures.insert(procedure.name.clone(), procedure);
        }
    }
    unit
}

/// One procedure to be made: its suffix, the arguments that change, and an optional one that has to be there.
struct Variant {
    suffix: String,
    changed: Vec<String>,
    forced: Option<String>,
}

impl Procedure {
    fn declared(&self, name: &str) -> Option<(&Declaration, &str)> {
        self.declarations.iter().find_map(|d| d.entities.iter().find(|e| e.0 == name).map(|e| (d, e.1.as_str())))
    }

    fn arguments_where(&self, test: impl Fn(&Declaration, &str) -> bool) -> Vec<String> {
        let fits = |name: &&String| self.declared(name).is_some_and(|(d, _)| test(d, name));
        self.arguments.iter().filter(fits).cloned().collect()
    }

    fn variants(&self) -> Vec<Variant> {
        let wide = self.arguments_where(|d, name| {
            d.kind == "integer(c_int64_t)" && (d.has("allocatable") || !STAYS_WIDE.contains(&name))
        });
        let is_optional = |name: &String| self.declared(name).is_some_and(|(d, _)| d.has("optional"));
        let mut found = Vec::new();
        if !wide.is_empty() && wide.iter().all(is_optional) {
            // Procedures that differ in optional arguments alone are ambiguous: in each one of them has to be there, and
            // those before it stay wide.
            for (at, first) in wide.iter().enumerate() {
                found.push(Variant {
                    suffix: if at == 0 { "_i4".to_owned() } else { format!("_{first}_i4") },
                    changed: wide[at..].to_vec(),
                    forced: Some(first.clone()),
                });
            }
        } else if !wide.is_empty() {
            found.push(Variant { suffix: "_i4".to_owned(), changed: wide, forced: None });
        }
        found
    }

    /// The procedure in other integers: declarations, conversions, the call of this one.
    fn text(&self, variant: &Variant) -> String {
        let word = if self.is_function { "function" } else { "subroutine" };
        let result = self.result.as_ref().map_or(String::new(), |r| format!(" result({r})"));
        let mut out = String::new();
        let title =
            format!("{}{word} {}{}({}){result}", self.prefix, self.name, variant.suffix, self.arguments.join(", "));
        statement(&mut out, 2, &title);
        for d in &self.declarations {
            let kept = |name: &String| self.arguments.contains(name) || self.result.as_ref() == Some(name);
            for changed in [false, true] {
                let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
                for (name, bounds) in &d.entities {
                    if !kept(name) || variant.changed.contains(name) != changed {
                        continue;
                    }
                    let mut attributes = vec![if changed { "integer(c_int32_t)".to_owned() } else { d.kind.clone() }];
                    let is_forced = variant.forced.as_ref() == Some(name);
                    attributes.extend(
                        d.attributes
                            .iter()
                            .filter(|a| {
                                !(changed && (*a == "target" || *a == "contiguous") || is_forced && *a == "optional")
                            })
                            .cloned(),
                    );
                    let entity = format!("{name}{bounds}");
                    match groups.iter_mut().find(|g| g.0 == attributes) {
                        Some(group) => group.1.push(entity),
                        None => groups.push((attributes, vec![entity])),
                    }
                }
                for (attributes, entities) in groups {
                    statement(&mut out, 4, &format!("{} :: {}", attributes.join(", "), entities.join(", ")));
                }
            }
        }
        if !self.interfaces.is_empty() {
            statement(&mut out, 4, "interface");
            for line in &self.interfaces {
                statement(&mut out, 6, line);
            }
            statement(&mut out, 4, "end interface");
        }
        let (mut before, mut after, mut given) = (Vec::new(), Vec::new(), Vec::new());
        for name in &self.arguments {
            if !variant.changed.contains(name) {
                given.push(format!("{name}={name}"));
                continue;
            }
            let (d, bounds) = self.declared(name).expect("an argument that changes is declared");
            let is_optional = d.has("optional") && variant.forced.as_ref() != Some(name);
            let local = format!("wide_{name}");
            if d.has("intent(in)") && !is_optional {
                given.push(format!("{name}=int({name}, c_int64_t)"));
                continue;
            }
            given.push(format!("{name}={local}"));
            let rank = if bounds.is_empty() { 0 } else { list(&bounds[1..bounds.len() - 1]).len() };
            let colons = if rank == 0 { String::new() } else { format!("({})", vec![":"; rank].join(", ")) };
            let allocatable = if rank > 0 || is_optional { ", allocatable" } else { "" };
            let target = if d.has("allocatable") && d.has("target") { ", target" } else { "" };
            statement(&mut out, 4, &format!("integer(c_int64_t){allocatable}{target} :: {local}{colons}"));
            let only = if is_optional { format!("if (present({name})) ") } else { String::new() };
            if d.has("intent(in)") {
                before.push(format!("{only}{local} = int({name}, c_int64_t)"));
                continue;
            }
            if !d.has("allocatable") {
                before.push(if rank > 0 {
                    format!("{only}call widen(o, '{name}', {name}, {local})")
                } else if d.has("intent(out)") {
                    format!("{only}{local} = 0")
                } else {
                    format!("{only}{local} = int({name}, c_int64_t)")
                });
            }
            let narrow = if d.has("allocatable") { "narrow_new" } else { "narrow" };
            after.push(format!("{only}call {narrow}(o, '{name}', {local}, {name})"));
        }
        let is_checked = !after.is_empty();
        if is_checked {
            assert!(self.arguments.iter().any(|a| a == "stat"), "{}: has outputs and no stat", self.name);
            statement(&mut out, 4, "type(outcome) :: o");
            for each in &mut given {
                match each.as_str() {
                    "stat=stat" => "stat=o%status".clone_into(each),
                    "errmsg=errmsg" => "errmsg=o%message".clone_into(each),
                    _ => {}
                }
            }
        }
        before.iter().for_each(|line| statement(&mut out, 4, line));
        let call = match &self.result {
            Some(result) => format!("{result} = {}({})", self.name, given.join(", ")),
            None => format!("call {}({})", self.name, given.join(", ")),
        };
        let only = if is_checked { "if (o%status == PURLIN_SUCCESS) " } else { "" };
        statement(&mut out, 4, &format!("{only}{call}"));
        after.iter().for_each(|line| statement(&mut out, 4, line));
        if is_checked {
            statement(&mut out, 4, "call finish(o, stat, errmsg)");
        }
        statement(&mut out, 2, &format!("end {word}"));
        out
    }
}

/// The files that a source includes.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("include '")?.strip_suffix('\''))
}

/// The names of the generated files, and the names and texts of their sources, a source before those that it includes.
/// A source without procedures of its own is left out.
fn units(folder: &Path) -> BTreeMap<String, Vec<(String, String)>> {
    let mut texts = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("bindings/fortran") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "f90" || e == "inc") {
            let name = path.file_name().expect("its name").to_string_lossy().into_owned();
            texts.insert(name, std::fs::read_to_string(&path).expect("a source of the Fortran module"));
        }
    }
    fn add<'a>(all: &mut Vec<&'a str>, name: &'a str, texts: &'a BTreeMap<String, String>) {
        if !all.contains(&name) {
            all.push(name);
            let hand_written = included(&texts[name]).filter(|name| texts.contains_key(*name));
            hand_written.for_each(|name| add(all, name, texts));
        }
    }
    let mut units = BTreeMap::new();
    for outermost in texts.keys().filter(|name| name.ends_with(".f90")) {
        let mut sources = Vec::new();
        add(&mut sources, outermost, &texts);
        let made = sources.iter().flat_map(|name| included(&texts[*name]));
        let names = made.filter_map(|file| file.strip_prefix("integers/")?.strip_suffix(".inc"));
        let Some(unit) = names.into_iter().find(|name| !name.ends_with("_bound") && !name.ends_with("_generic")) else {
            continue;
        };
        let with_text = sources.iter().map(|name| ((*name).to_owned(), texts[*name].clone()));
        let own = with_text.filter(|(_, text)| !parse(text).procedures.is_empty()).collect();
        units.insert(unit.to_owned(), own);
    }
    units
}

/// The files in `bindings/fortran/integers`, with their texts.
pub fn files(root: &Path) -> Vec<Generated> {
    let mut found = Vec::new();
    for (name, sources) in units(&root.join("bindings/fortran")) {
        let (sources, texts): (Vec<_>, Vec<_>) = sources.into_iter().unzip();
        let unit = parse(&texts.concat());
        let note = format!("! Generated by tests/header from {}: do not edit.\n", sources.join(" and "));
        let mut procedures = note.clone();
        let mut made = BTreeMap::new();
        let mut variants = |generic: &str, names: &[String]| -> Vec<String> {
            let mut added = Vec::new();
            for procedure in names.iter().filter_map(|n| unit.procedures.get(n)) {
                for variant in procedure.variants() {
                    assert!(!generic.starts_with('='), "{generic} of {sources:?} has to be generic");
                    let own = format!("{}{}", procedure.name, variant.suffix);
                    if made.insert(own.clone(), ()).is_none() {
                        procedures.push('\n');
                        procedures.push_str(&procedure.text(&variant));
                    }
                    added.push(own);
                }
            }
            added
        };
        for (of, generics) in &unit.types {
            let mut text = note.clone();
            for (generic, names) in generics {
                let added = variants(generic, names);
                if !added.is_empty() {
                    statement(&mut text, 4, &format!("procedure, private :: {}", added.join(", ")));
                    statement(&mut text, 4, &format!("generic :: {generic} => {}", added.join(", ")));
                }
            }
            if text != note {
                found.push(Generated::new(
                    format!("bindings/fortran/integers/{}_bound.inc", of.trim_start_matches("purlin_")),
                    text,
                ));
            }
        }
        let mut text = note.clone();
        let single =
            unit.public.iter().filter(|p| unit.procedures.contains_key(*p)).map(|p| (p.clone(), vec![p.clone()]));
        let all: Vec<_> = unit.generics.iter().cloned().chain(single).collect();
        for (generic, names) in &all {
            let mut added = variants(generic, names);
            if added.is_empty() {
                continue;
            }
            if names.contains(generic) {
                added.insert(0, generic.clone());
            }
            let _ = writeln!(text, "  interface {generic}");
            statement(&mut text, 4, &format!("module procedure {}", added.join(", ")));
            let _ = writeln!(text, "  end interface");
        }
        if text != note {
            found.push(Generated::new(format!("bindings/fortran/integers/{name}_generic.inc"), text));
        }
        assert!(procedures != note, "nothing is made of {sources:?}");
        assert!(procedures.lines().count() <= 600, "{name}: more than 600 lines are made");
        found.push(Generated::new(format!("bindings/fortran/integers/{name}.inc"), procedures));
    }
    found
}
