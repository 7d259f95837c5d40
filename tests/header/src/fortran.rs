//! Shared by the generators of Fortran: types, and statements in lines of limited length.

use std::fmt::Write as _;

use crate::interface::{Kind, Type};

/// The interoperable type, and its name in `iso_c_binding`, of a field or an argument that is passed by value.
pub fn interoperable(of: &Type) -> (String, &'static str) {
    let number = |intrinsic: &str, kind| (format!("{intrinsic}({kind})"), kind);
    if of.stars > 0 {
        return ("type(c_ptr)".to_owned(), "c_ptr");
    }
    match &of.kind {
        Kind::I32 | Kind::U32 => number("integer", "c_int32_t"),
        Kind::I64 | Kind::U64 => number("integer", "c_int64_t"),
        Kind::Size => number("integer", "c_size_t"),
        Kind::F32 => number("real", "c_float"),
        Kind::F64 => number("real", "c_double"),
        Kind::Char => ("character(kind=c_char)".to_owned(), "c_char"),
        Kind::Callback(_) => ("type(c_funptr)".to_owned(), "c_funptr"),
        other => panic!("{other:?}: has no interoperable type"),
    }
}

/// Declarations of the same type in one statement each.
#[derive(Default)]
pub struct Declarations {
    groups: Vec<(String, Vec<String>)>,
}

impl Declarations {
    /// Adds a name to those of its type.
    pub fn add(&mut self, of: String, name: String) {
        match self.groups.iter_mut().find(|group| group.0 == of) {
            Some(group) => group.1.push(name),
            None => self.groups.push((of, vec![name])),
        }
    }

    /// Adds a name to the last statement if that has its type.
    pub fn append(&mut self, of: String, name: String) {
        match self.groups.last_mut().filter(|group| group.0 == of) {
            Some(group) => group.1.push(name),
            None => self.groups.push((of, vec![name])),
        }
    }

    /// Writes the statements and forgets them.
    pub fn write(&mut self, out: &mut String, indent: usize) {
        for (of, names) in self.groups.drain(..) {
            statement(out, indent, &format!("{of} :: {}", names.join(", ")));
        }
    }
}

/// Writes a statement, in lines of at most 120 characters.
pub fn statement(out: &mut String, indent: usize, text: &str) {
    let mut line = " ".repeat(indent);
    let mut is_first = true;
    for word in text.split_inclusive(", ") {
        if !is_first && line.len() + word.trim_end().len() > 118 {
            let _ = writeln!(out, "{} &", line.trim_end());
            line = " ".repeat(indent + 2);
        }
        line.push_str(word);
        is_first = false;
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

/// Writes a comment, in lines of at most 120 characters.
pub fn comment(out: &mut String, indent: usize, text: &str) {
    let start = format!("{}!>", " ".repeat(indent));
    let mut line = start.clone();
    for word in text.split_whitespace() {
        if line.len() + word.len() >= 120 {
            let _ = writeln!(out, "{line}");
            line = start.clone();
        }
        let _ = write!(line, " {word}");
    }
    let _ = writeln!(out, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_statements_go_on_in_the_next_line() {
        let names: Vec<_> = (0..40).map(|i| format!("name_{i}")).collect();
        let mut text = String::new();
        statement(&mut text, 4, &format!("integer :: {}", names.join(", ")));
        assert!(text.lines().count() > 2 && text.lines().all(|l| l.len() <= 120), "{text}");
        assert_eq!(text.replace(" &\n     ", "").trim(), format!("integer :: {}", names.join(", ")));
        let mut text = String::new();
        comment(&mut text, 2, &"word ".repeat(60));
        assert!(
            text.lines().count() == 3 && text.lines().all(|l| l.len() <= 120 && l.starts_with("  !> word")),
            "{text}"
        );
    }

    #[test]
    fn names_are_grouped_by_type() {
        let add = |d: &mut Declarations, by: fn(&mut Declarations, String, String)| {
            for (of, name) in [("integer", "a"), ("real", "x"), ("integer", "b")] {
                by(d, of.to_owned(), name.to_owned());
            }
        };
        let (mut text, mut all) = (String::new(), Declarations::default());
        add(&mut all, Declarations::add);
        all.write(&mut text, 0);
        assert_eq!(text, "integer :: a, b\nreal :: x\n");
        text.clear();
        add(&mut all, Declarations::append);
        all.write(&mut text, 0);
        assert_eq!(text, "integer :: a\nreal :: x\ninteger :: b\n");
    }
}
