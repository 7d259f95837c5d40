//! The declarations of a C header, as data.

use crate::parser;

/// A type without its stars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `void`.
    Void,
    /// `char`.
    Char,
    /// `uint8_t`.
    U8,
    /// `int16_t`.
    I16,
    /// `int32_t`, and the types that represent it.
    I32,
    /// `uint32_t`.
    U32,
    /// `int64_t`.
    I64,
    /// `uint64_t`.
    U64,
    /// `size_t`.
    Size,
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// A pointer to a function, by the name of its type.
    Callback(String),
    /// A struct whose fields are declared.
    Struct(String),
    /// An opaque type, by its name: a handle.
    Object(String),
}

impl Kind {
    /// Bytes of a scalar on the 64-bit systems that purlin supports, which is also its alignment; none of a struct.
    pub fn bytes(&self) -> Option<usize> {
        match self {
            Self::Char | Self::U8 => Some(1),
            Self::I16 => Some(2),
            Self::I32 | Self::U32 | Self::F32 => Some(4),
            Self::I64 | Self::U64 | Self::Size | Self::F64 | Self::Callback(_) => Some(8),
            Self::Void | Self::Struct(_) | Self::Object(_) => None,
        }
    }
}

/// The type of a field, a parameter or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The type without its stars.
    pub kind: Kind,
    /// Levels of pointers: 0 for a value.
    pub stars: usize,
    /// Whether the target of the outermost pointer is `const`.
    pub is_const: bool,
    /// Elements of an array; `None` for other types.
    pub length: Option<usize>,
}

/// A field of a struct, or a parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name of the field or parameter.
    pub name: String,
    /// Type of the field or parameter.
    pub of: Type,
    /// Its documentation, in one line.
    pub doc: String,
    /// Whether the documentation marks it as an output.
    pub is_output: bool,
}

impl Variable {
    /// Whether a field may be a choice or a flag: a single `int32_t`.
    pub fn is_choice(&self) -> bool {
        self.of.kind == Kind::I32 && self.of.stars == 0 && self.of.length.is_none() && self.name != "reserved"
    }

    /// Whether the documentation of a parameter speaks of NULL.
    pub fn is_nullable(&self) -> bool {
        self.doc.contains("NULL")
    }
}

/// The name of a struct in languages that write `TtRoundInfo` for `purlin_tt_round_info`.
pub fn type_name(name: &str) -> String {
    let words = name.trim_start_matches("purlin_").split('_');
    words.map(|w| w[..1].to_uppercase() + &w[1..]).collect()
}

/// A struct with its fields.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Name with its prefix, `purlin_tt_info`.
    pub name: String,
    /// Documentation as written, without its stars.
    pub doc: String,
    /// Fields in the order of the header.
    pub fields: Vec<Variable>,
}

/// A function, or the type of a callback.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name with its prefix, `purlin_tt_create`.
    pub name: String,
    /// Documentation as written, `@param` and `@return` included.
    pub doc: String,
    /// Parameters in the order of the header.
    pub parameters: Vec<Variable>,
    /// Type of the result; `void` for none.
    pub result: Type,
}

/// A macro or an enumerator that is an integer.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Name with its prefix, `PURLIN_F64`.
    pub name: String,
    /// Value, which fits `int64_t`.
    pub value: i64,
    /// Documentation as written, without its stars.
    pub doc: String,
}

/// The declarations of a header, each kind in the order of the header.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// Structs whose fields are declared.
    pub structs: Vec<Struct>,
    /// Functions, callbacks left out.
    pub functions: Vec<Function>,
    /// Macros and enumerators that are integers.
    pub constants: Vec<Constant>,
    /// Types of pointers to functions.
    pub callbacks: Vec<Function>,
}

impl Interface {
    /// Reads the C that cbindgen and the launch headers of `cuda/` consist of, and panics at anything else.
    pub fn parse(text: &str) -> Self {
        parser::parse(text)
    }

    /// The struct of that name.
    pub fn structure(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|s| s.name == name)
    }

    /// Where a struct's fields are. Padding is refused: both kinds of headers fill it with fields.
    pub fn layout(&self, of: &Struct) -> Layout {
        let (mut offsets, mut bytes, mut most) = (Vec::new(), 0, 1);
        for field in &of.fields {
            let (size, alignment) = match &field.of.kind {
                _ if field.of.stars > 0 => (8, 8),
                Kind::Struct(name) => {
                    let inner = self.layout(self.structure(name).unwrap_or_else(|| panic!("{name}: is elsewhere")));
                    (inner.bytes, inner.alignment)
                }
                kind => kind.bytes().map_or_else(|| panic!("{}.{}: has no size", of.name, field.name), |b| (b, b)),
            };
            assert_eq!(bytes % alignment, 0, "{}.{}: has padding before it", of.name, field.name);
            offsets.push(bytes);
            bytes += size * field.of.length.unwrap_or(1);
            most = most.max(alignment);
        }
        assert_eq!(bytes % most, 0, "{}: has padding at its end", of.name);
        Layout { offsets, bytes, alignment: most }
    }
}

/// Where the fields of a struct are, in bytes.
pub struct Layout {
    /// Bytes from the struct's beginning to each field.
    pub offsets: Vec<usize>,
    /// Bytes of the struct, without padding at its end.
    pub bytes: usize,
    /// Largest alignment of a field, in bytes.
    pub alignment: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "x.at: has padding before it")]
    fn padding_is_refused() {
        let found = Interface::parse("typedef struct x { int32_t a; uint64_t at; } x;");
        found.layout(&found.structs[0]);
    }
}
