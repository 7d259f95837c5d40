//! Reads a C header into an [`Interface`].

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use crate::interface::{Constant, Function, Interface, Kind, Struct, Type, Variable};

/// Reads the text of a header. Directives other than `#define` are left out.
pub fn parse(text: &str) -> Interface {
    let mut parser = Parser {
        tokens: tokens(text).into_iter().peekable(),
        kinds: BASIC.iter().map(|(name, kind)| ((*name).to_owned(), kind.clone())).collect(),
        found: Interface::default(),
    };
    parser.declarations();
    parser.found
}

const BASIC: &[(&str, Kind)] = &[
    ("void", Kind::Void),
    ("char", Kind::Char),
    ("uint8_t", Kind::U8),
    ("int16_t", Kind::I16),
    ("int", Kind::I32),
    ("int32_t", Kind::I32),
    ("uint32_t", Kind::U32),
    ("int64_t", Kind::I64),
    ("uint64_t", Kind::U64),
    ("size_t", Kind::Size),
    ("float", Kind::F32),
    ("double", Kind::F64),
];

#[derive(Debug, PartialEq)]
enum Token {
    /// A comment that documents the next declaration.
    Doc(String),
    /// `#define NAME VALUE`.
    Define(String, String),
    /// A name or a number.
    Word(String),
    Mark(char),
}

/// The tokens of a header. Comments that are not documentation, and directives other than `#define`, are left out.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("/*") {
            let end = rest.find("*/").expect("a comment ends");
            if let Some(doc) = rest[..end].strip_prefix("/**") {
                found.push(Token::Doc(
                    doc.lines().map(|l| l.trim().trim_start_matches('*')).collect::<Vec<_>>().join("\n"),
                ));
            }
            end + 2
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '#' {
            // A line that ends with a backslash is continued.
            let mut end = rest.find('\n').unwrap_or(rest.len());
            while rest[..end].ends_with('\\') {
                end += 1 + rest[end + 1..].find('\n').unwrap_or(rest.len() - end - 1);
            }
            if let Some((name, value)) = rest[..end].strip_prefix("#define ").and_then(|l| l.split_once(' ')) {
                let value = value.split("/*").next().unwrap_or_default().trim();
                found.push(Token::Define(name.to_owned(), value.to_owned()));
            }
            end
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(Token::Word(rest[..end].to_owned()));
            end
        } else {
            found.push(Token::Mark(first));
            first.len_utf8()
        };
        rest = rest[length..].trim_start();
    }
    found
}

struct Parser {
    tokens: Peekable<IntoIter<Token>>,
    /// Names of declared types, and their kinds.
    kinds: BTreeMap<String, Kind>,
    found: Interface,
}

impl Parser {
    fn declarations(&mut self) {
        let mut doc = String::new();
        while let Some(token) = self.tokens.next() {
            let said = std::mem::take(&mut doc);
            match token {
                Token::Doc(text) => doc = text,
                Token::Define(name, value) => {
                    if let Ok(value) = value.trim_matches(['(', ')']).parse() {
                        self.found.constants.push(Constant { name, value, doc: said });
                    }
                }
                Token::Mark('}') => {}
                Token::Mark(mark) => panic!("a declaration begins with {mark}"),
                Token::Word(word) => match word.as_str() {
                    // Written before functions, after their documentation.
                    "PURLIN_MUST_USE" => doc = said,
                    "extern" => self.skip_past('{'),
                    "static_assert" => self.skip_past(';'),
                    "enum" => self.enumeration(),
                    "typedef" => self.definition(said),
                    _ => self.function(word, said),
                },
            }
        }
    }

    fn skip_past(&mut self, mark: char) {
        while self.tokens.next().expect("a declaration ends") != Token::Mark(mark) {}
    }

    fn takes(&mut self, mark: char) -> bool {
        self.tokens.next_if_eq(&Token::Mark(mark)).is_some()
    }

    fn expect(&mut self, mark: char) {
        let found = self.tokens.next();
        assert_eq!(found, Some(Token::Mark(mark)), "after {:?}", self.found.functions.last().map(|f| &f.name));
    }

    fn word(&mut self) -> String {
        match self.tokens.next() {
            Some(Token::Word(word)) => word,
            other => panic!("expected a name, found {other:?}"),
        }
    }

    /// An enum, whose name is that of an integer.
    fn enumeration(&mut self) {
        let name = self.word();
        self.kinds.insert(name, Kind::I32);
        self.skip_past('{');
        let mut doc = String::new();
        loop {
            match self.tokens.next().expect("an enum ends") {
                Token::Doc(text) => doc = text,
                Token::Word(name) => {
                    self.expect('=');
                    let is_negative = self.takes('-');
                    let value: i64 = self.word().parse().expect("an enumerator is an integer");
                    let value = if is_negative { -value } else { value };
                    self.found.constants.push(Constant { name, value, doc: std::mem::take(&mut doc) });
                }
                Token::Mark(',') => {}
                Token::Mark('}') => break self.expect(';'),
                other => panic!("{other:?} in an enum"),
            }
        }
    }

    /// The declaration behind `typedef`: an opaque type, a struct, another name of an integer, or the type of a
    /// callback.
    fn definition(&mut self, doc: String) {
        let first = self.word();
        if first == "enum" {
            return self.skip_past(';');
        }
        if first == "struct" {
            let name = self.word();
            if !self.takes('{') {
                self.kinds.insert(name.clone(), Kind::Object(name));
                return self.skip_past(';');
            }
            let mut fields = Vec::new();
            while !self.takes('}') {
                let doc = match self.tokens.next_if(|t| matches!(t, Token::Doc(_))) {
                    Some(Token::Doc(doc)) => doc.split_whitespace().collect::<Vec<_>>().join(" "),
                    _ => String::new(),
                };
                let first = self.word();
                let mut field = self.variable(first);
                field.doc = doc;
                fields.push(field);
                self.expect(';');
            }
            self.skip_past(';');
            self.kinds.insert(name.clone(), Kind::Struct(name.clone()));
            self.found.structs.push(Struct { name, doc, fields });
            return;
        }
        let result = self.kind(first);
        if !self.takes('(') {
            let name = self.word();
            self.kinds.insert(name, result.kind);
            return self.expect(';');
        }
        self.expect('*');
        let name = self.word();
        self.expect(')');
        let parameters = self.parameters(&doc);
        self.kinds.insert(name.clone(), Kind::Callback(name.clone()));
        self.found.callbacks.push(Function { name, doc, parameters, result });
    }

    fn function(&mut self, first: String, doc: String) {
        let result = self.kind(first);
        let name = self.word();
        let parameters = self.parameters(&doc);
        self.found.functions.push(Function { name, doc, parameters, result });
    }

    /// A list of parameters and the semicolon.
    fn parameters(&mut self, doc: &str) -> Vec<Variable> {
        let documented = documented(doc);
        let mut found = Vec::new();
        self.expect('(');
        while !self.takes(')') {
            let first = self.word();
            let mut parameter = self.variable(first);
            if let Some((doc, is_output)) = documented.get(&parameter.name) {
                (parameter.doc, parameter.is_output) = (doc.clone(), *is_output);
            }
            // `(void)` is an empty list.
            if !parameter.name.is_empty() {
                found.push(parameter);
            }
            self.takes(',');
        }
        self.expect(';');
        found
    }

    /// A type, its name and the length of an array.
    fn variable(&mut self, first: String) -> Variable {
        let mut of = self.kind(first);
        let name = match self.tokens.next_if(|t| matches!(t, Token::Word(_))) {
            Some(Token::Word(name)) => name,
            _ => String::new(),
        };
        if self.takes('[') {
            let word = self.word();
            let constant = self.found.constants.iter().find(|c| c.name == word).map(|c| c.value.to_string());
            of.length = Some(constant.unwrap_or(word).parse().expect("a length is an integer"));
            self.expect(']');
        }
        Variable { name, of, doc: String::new(), is_output: false }
    }

    /// A type that begins with `word`.
    fn kind(&mut self, mut word: String) -> Type {
        let mut before = false;
        while matches!(word.as_str(), "const" | "struct" | "enum") {
            before |= word == "const";
            word = self.word();
        }
        let kind = self.kinds.get(&word).unwrap_or_else(|| panic!("{word}: is no type")).clone();
        let (mut stars, mut is_const) = (0, false);
        loop {
            if self.takes('*') {
                stars += 1;
                is_const = std::mem::take(&mut before);
            } else if self.tokens.next_if(|t| *t == Token::Word("const".to_owned())).is_some() {
                before = true;
            } else {
                return Type { kind, stars, is_const, length: None };
            }
        }
    }
}

/// The parameters in the documentation of a function: text in one line, and whether it is an output.
fn documented(doc: &str) -> BTreeMap<String, (String, bool)> {
    let mut found = BTreeMap::new();
    for part in doc.split('@') {
        let Some(part) = part.strip_prefix("param") else { continue };
        let (is_output, part) = match part.split_once(']') {
            Some((direction, rest)) if direction.starts_with('[') => (direction == "[out", rest),
            _ => (false, part),
        };
        // An empty line ends the documentation of a parameter.
        let part = part.split("\n\n").next().unwrap_or_default();
        let mut words = part.split_whitespace();
        if let Some(name) = words.next() {
            found.insert(name.to_owned(), (words.collect::<Vec<_>>().join(" "), is_output));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"
/* A comment. */
#ifndef X_H
#define X_H
#if defined(__GNUC__)
#define PURLIN_MUST_USE __attribute__((warn_unused_result))
#endif
/**
 * A constant.
 */
#define X_ONE 1
#define X_MINUS (-1) /* in parentheses */

/**
 * Status.
 */
enum x_status
#if defined(__cplusplus)
  : int32_t
#endif // defined(__cplusplus)
 {
  /**
   * Done.
   */
  X_DONE = 0,
  X_FAILED = -3,
};
#ifndef __cplusplus
typedef enum x_status x_status;
#else
typedef int32_t x_status;
#endif

typedef struct x_object x_object;
typedef int32_t x_flags;
typedef double (*x_call_fn)(double at,
                            void *user);
/**
 * A struct.
 */
typedef struct x_info {
  /**
   * Size, in
   * bytes.
   */
  size_t struct_size;
  x_flags flags; /* a comment */
  int32_t reserved;
  const struct x_object *const *others;
  char reason[128];
  x_call_fn call;
  uint64_t words[X_ONE];
} x_info;
static_assert(sizeof(x_info) == X_ONE, "size");

#ifdef __cplusplus
extern "C" {
#endif  // __cplusplus

/**
 * Does it.
 *
 * @param      a     the first,
 *                   or NULL.
 * @param[out] info  results.
 * @return done.
 *
 * @pre Never NULL.
 */
PURLIN_MUST_USE
x_status x_do(const struct x_object *a,
              struct x_object **b,
              const char *const *names,
              struct x_info *info);

const char *x_text(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
#endif  /* X_H */
"#;

    fn of(kind: Kind, stars: usize, is_const: bool) -> Type {
        Type { kind, stars, is_const, length: None }
    }

    #[test]
    fn constants_are_macros_and_enumerators() {
        let found = parse(HEADER).constants;
        let pairs: Vec<_> = found.iter().map(|c| (c.name.as_str(), c.value)).collect();
        assert_eq!(pairs, [("X_ONE", 1), ("X_MINUS", -1), ("X_DONE", 0), ("X_FAILED", -3)]);
        assert_eq!(found[0].doc.trim(), "A constant.");
    }

    #[test]
    fn fields_have_kind_stars_length_and_documentation() {
        let found = parse(HEADER);
        let info = found.structure("x_info").expect("the struct is found");
        assert_eq!(info.doc.trim(), "A struct.");
        let names: Vec<_> = info.fields.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["struct_size", "flags", "reserved", "others", "reason", "call", "words"]);
        assert_eq!(info.fields[0].doc, "Size, in bytes.");
        assert_eq!(info.fields[1].of, of(Kind::I32, 0, false));
        assert_eq!(info.fields[3].of, of(Kind::Object("x_object".into()), 2, true));
        assert_eq!(info.fields[4].of, Type { length: Some(128), ..of(Kind::Char, 0, false) });
        assert_eq!(info.fields[5].of, of(Kind::Callback("x_call_fn".into()), 0, false));
        assert_eq!(info.fields[6].of, Type { length: Some(1), ..of(Kind::U64, 0, false) });
    }

    #[test]
    fn parameters_have_direction_and_nullability() {
        let found = parse(HEADER);
        let names: Vec<_> = found.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["x_do", "x_text"]);
        let [a, b, names, info] = &found.functions[0].parameters[..] else { panic!("four parameters") };
        assert_eq!(a.of, of(Kind::Object("x_object".into()), 1, true));
        assert_eq!((a.doc.as_str(), a.is_nullable(), a.is_output), ("the first, or NULL.", true, false));
        assert_eq!(b.of, of(Kind::Object("x_object".into()), 2, false));
        assert_eq!(names.of, of(Kind::Char, 2, true));
        assert_eq!(info.of, of(Kind::Struct("x_info".into()), 1, false));
        assert!(info.is_output && !info.is_nullable());
        assert_eq!(found.functions[1].result, of(Kind::Char, 1, true));
        assert!(found.functions[1].parameters.is_empty());
        assert_eq!(found.callbacks[0].parameters.len(), 2);
    }

    #[test]
    #[should_panic(expected = "x_unknown: is no type")]
    fn an_unknown_type_is_refused() {
        parse("void f(x_unknown *a);");
    }

    #[test]
    fn fields_are_where_the_sizes_before_them_end() {
        let found = parse(HEADER);
        let layout = found.layout(&found.structs[0]);
        assert_eq!((layout.bytes, layout.alignment), (168, 8));
        assert_eq!(layout.offsets, [0, 8, 12, 16, 24, 152, 160]);
    }
}
