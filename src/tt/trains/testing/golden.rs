//! Golden data of trains: their files, JSON texts and arrays.

use std::path::PathBuf;

use super::plain::C;
use crate::testing::source;

/// The path of a file of golden data.
pub fn golden(name: &str) -> PathBuf {
    source("tests/golden/tt").join(name)
}

/// A value of a JSON text.
#[derive(Debug, Clone)]
pub enum Json {
    /// A number.
    Number(f64),
    /// A string, without its quotation marks.
    Text(String),
    /// `true` or `false`.
    Bool(bool),
    /// An array.
    List(Vec<Json>),
    /// An object: keys and values in their order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a file of golden data.
    pub fn read(path: &str) -> Self {
        let path = golden(path);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self::parse(text.trim(), &mut 0)
    }

    fn parse(text: &str, at: &mut usize) -> Self {
        let bytes = text.as_bytes();
        let skip = |at: &mut usize| {
            while bytes[*at].is_ascii_whitespace() || bytes[*at] == b',' || bytes[*at] == b':' {
                *at += 1;
            }
        };
        skip(at);
        match bytes[*at] {
            b'[' | b'{' => {
                let object = bytes[*at] == b'{';
                *at += 1;
                let (mut list, mut fields) = (Vec::new(), Vec::new());
                loop {
                    skip(at);
                    if matches!(bytes[*at], b']' | b'}') {
                        *at += 1;
                        return if object { Self::Object(fields) } else { Self::List(list) };
                    }
                    let value = Self::parse(text, at);
                    match (object, value) {
                        (true, Self::Text(key)) => fields.push((key, Self::parse(text, at))),
                        (_, value) => list.push(value),
                    }
                }
            }
            b'"' => {
                let end = *at + 1 + text[*at + 1..].find('"').unwrap();
                let value = text[*at + 1..end].to_string();
                *at = end + 1;
                Self::Text(value)
            }
            _ => {
                let length = text[*at..].find([',', ']', '}']).unwrap();
                let word = text[*at..*at + length].trim();
                *at += length;
                match word {
                    "true" | "false" => Self::Bool(word == "true"),
                    _ => Self::Number(word.parse().unwrap()),
                }
            }
        }
    }

    /// The value of a key; `None` if this is no object or lacks the key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The value of a key.
    pub fn at(&self, key: &str) -> &Self {
        self.get(key).unwrap_or_else(|| panic!("no {key}"))
    }

    /// The values of an array.
    pub fn list(&self) -> &[Self] {
        if let Self::List(list) = self { list } else { panic!("{self:?} is no list") }
    }

    /// A number, also one that is written as a string.
    pub fn number(&self) -> f64 {
        match self {
            Self::Number(x) => *x,
            Self::Text(t) => t.parse().unwrap(),
            other => panic!("{other:?} is no number"),
        }
    }

    /// A string.
    pub fn text(&self) -> &str {
        if let Self::Text(t) = self { t } else { panic!("{self:?} is no text") }
    }

    /// `true` or `false`.
    pub fn bool(&self) -> bool {
        if let Self::Bool(b) = self { *b } else { panic!("{self:?} is no bool") }
    }

    /// An array of numbers.
    pub fn numbers(&self) -> Vec<f64> {
        self.list().iter().map(Self::number).collect()
    }

    /// A complex number given by its parts.
    pub fn complex(&self) -> C {
        C::new(self.at("re").number(), self.at("im").number())
    }

    /// Shape and entries of a core.
    pub fn core(&self) -> (Vec<usize>, Vec<C>) {
        let shape = self.at("shape").numbers().iter().map(|&v| v as usize).collect();
        let re = self.at("re").numbers();
        let im = self.get("im").map_or_else(|| vec![0.0; re.len()], Self::numbers);
        (shape, re.iter().zip(im).map(|(&re, im)| C::new(re, im)).collect())
    }
}

/// The numbers of a .npy file of little-endian f64.
pub fn npy(name: &str) -> Vec<f64> {
    let bytes = std::fs::read(golden(name)).unwrap();
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let head = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[10 + head..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}
