//! NumPy's .npy files: a header of text in front of an array's elements (NEP 1, and versions 2 and 3 of the format).

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::array::{ArrayInfo, Block, MAX_AXES};
use super::number::{Endianness, Number};
use super::regular::{FileNumber, open_input};
use super::source::{FileSource, Source, file_fault, io_error};
use crate::alloc;
use crate::error::{Error, Result};
use crate::shape::Order;

/// Largest length of a header in bytes; a longer one is refused. NumPy itself refuses headers beyond 10 000 bytes.
const LONGEST_HEADER: usize = 64 * 1024;

const MAGIC: &[u8] = b"\x93NUMPY";

/// An array in a .npy file.
pub struct NpySource {
    file: FileSource,
    order: Order,
    conversion: Option<Conversion>,
    path: PathBuf,
}

/// Elements that are delivered as other numbers than the file's bytes say.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Conversion {
    /// Integers of 64 bits with a sign, delivered as F64.
    Signed,
    /// Integers of 64 bits without a sign, delivered as F64.
    Unsigned,
    /// Booleans, delivered as U8. Every byte other than 0 is true and becomes 1, as in NumPy.
    Boolean,
}

/// Largest integer up to which all integers are exact in F64.
const LARGEST_INTEGER: u64 = 1 << 53;

impl Conversion {
    /// Converts elements in the machine's byte order in place.
    fn convert(self, path: &Path, bytes: &mut [u8]) -> Result<()> {
        if self == Self::Boolean {
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
            return Ok(());
        }
        for word in bytes.chunks_exact_mut(8) {
            let mut copy = [0u8; 8];
            copy.copy_from_slice(word);
            let (value, size) = match self {
                Self::Signed => (i64::from_ne_bytes(copy) as f64, i64::from_ne_bytes(copy).unsigned_abs()),
                Self::Unsigned | Self::Boolean => (u64::from_ne_bytes(copy) as f64, u64::from_ne_bytes(copy)),
            };
            if size > LARGEST_INTEGER {
                let limit = "F64 holds all integers only up to 2^53";
                return Err(bad(path, format!("holds an integer of magnitude {size}, {limit}")));
            }
            word.copy_from_slice(&value.to_ne_bytes());
        }
        Ok(())
    }
}

/// The contents of a header.
#[derive(Debug, PartialEq)]
struct Header {
    number: Number,
    conversion: Option<Conversion>,
    endianness: Endianness,
    fortran_order: bool,
    shape: Vec<usize>,
}

fn bad(path: &Path, problem: impl Into<String>) -> Error {
    Error::Io { path: path.display().to_string(), problem: problem.into() }
}

impl NpySource {
    /// Opens a file of version 1, 2 or 3. Integers of 64 bits are delivered as F64, booleans as 0 and 1.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that is missing, no .npy file or too short, and for elements that are no numbers, or an
    /// array of no or more than [`MAX_AXES`] axes.
    pub fn open(path: &Path) -> Result<Self> {
        let (mut file, _) = open_input(path)?;
        let mut read = |count: usize| -> Result<Vec<u8>> {
            file_fault(path, "read")?;
            let mut bytes = alloc::with_capacity("header of a .npy file", count)?;
            let want = crate::shape::to_u64(count);
            (&mut file).take(want).read_to_end(&mut bytes).map_err(|e| io_error(path, "read", &e))?;
            Ok(bytes)
        };
        let front = read(8)?;
        if !front.starts_with(MAGIC) || front.len() < 8 {
            return Err(bad(path, "is not a .npy file: it does not begin with NumPy's mark"));
        }
        let wide = match front[6] {
            1 => false,
            2 | 3 => true,
            other => return Err(bad(path, format!("is a .npy file of version {other}, 1 to 3 are known"))),
        };
        let size = read(if wide { 4 } else { 2 })?;
        let mut word = [0u8; 4];
        word[..size.len()].copy_from_slice(&size);
        let length = usize::try_from(u32::from_le_bytes(word)).unwrap_or(usize::MAX);
        if length > LONGEST_HEADER {
            return Err(bad(path, format!("has a header of {length} bytes, at most {LONGEST_HEADER} are read")));
        }
        let text = read(length)?;
        let offset = 8 + size.len() + length;
        if text.len() < length || size.len() < if wide { 4 } else { 2 } {
            return Err(bad(path, "ends within its header"));
        }
        let text = std::str::from_utf8(&text).map_err(|_| bad(path, "has a header that is not text"))?;
        let header = parse(text).map_err(|problem| bad(path, problem))?;
        let order = if header.fortran_order { Order::ColumnMajor } else { Order::RowMajor };
        let mut dims = header.shape;
        if order == Order::RowMajor {
            dims.reverse();
        }
        if dims.is_empty() || dims.len() > MAX_AXES {
            return Err(bad(path, format!("has {} axes, 1 to {MAX_AXES} are needed", dims.len())));
        }
        let info = ArrayInfo::new(header.number, &dims).map_err(|e| bad(path, e.to_string()))?;
        let file = FileSource::open(path, crate::shape::to_u64(offset), header.endianness, info)?;
        Ok(Self { file, order, conversion: header.conversion, path: path.to_owned() })
    }

    /// Whether the file's first index is fastest (`fortran_order`) or its last. The axes of [`Source::info`] are always
    /// fastest first.
    pub fn order(&self) -> Order {
        self.order
    }
}

impl Source for NpySource {
    fn info(&self) -> &ArrayInfo {
        self.file.info()
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        self.file.read(block, out)?;
        let bytes = block.elements() * self.file.info().number.size();
        match self.conversion {
            None => Ok(()),
            Some(conversion) => conversion.convert(&self.path, &mut out[..bytes]),
        }
    }

    fn is_from_file(&self, file: FileNumber) -> bool {
        self.file.is_from_file(file)
    }
}

/// The text after a key of the header, which is a Python literal: `{'descr': '<f8', 'fortran_order': False,
/// 'shape': (3, 4), }`.
fn value<'a>(text: &'a str, key: &str) -> std::result::Result<&'a str, String> {
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let behind = quoted.iter().flat_map(|q| text.match_indices(q.as_str()).map(|(at, found)| at + found.len()));
    let mut values = behind.filter_map(|at| text[at..].trim_start().strip_prefix(':'));
    let first = values.next().ok_or_else(|| format!("has a header without {key}"))?;
    // Of a doubled key, NumPy takes the last value.
    match values.count() {
        0 => Ok(first.trim_start()),
        more => Err(format!("has a header with {} values of {key}, expected 1", more + 1)),
    }
}

fn parse(text: &str) -> std::result::Result<Header, String> {
    let descr = value(text, "descr")?;
    let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let kind = quote
        .and_then(|q| descr[1..].split_once(q))
        .map(|(kind, _)| kind)
        .ok_or_else(|| "holds structures, numbers are needed".to_owned())?;
    let (endianness, name) = match kind.as_bytes().first() {
        Some(b'<') => (Endianness::Little, &kind[1..]),
        Some(b'>') => (Endianness::Big, &kind[1..]),
        Some(b'|' | b'=') => (Endianness::NATIVE, &kind[1..]),
        _ => (Endianness::NATIVE, kind),
    };
    let conversion = match name {
        "i8" => Some(Conversion::Signed),
        "u8" => Some(Conversion::Unsigned),
        "b1" => Some(Conversion::Boolean),
        _ => None,
    };
    let number = match name {
        "b1" | "u1" => Number::U8,
        "i1" => Number::I8,
        "u2" => Number::U16,
        "i2" => Number::I16,
        "u4" => Number::U32,
        "i4" => Number::I32,
        "f2" => Number::F16,
        "f4" => Number::F32,
        // Integers of 64 bits are delivered as F64.
        "f8" | "i8" | "u8" => Number::F64,
        "c8" => Number::Cf32,
        "c16" => Number::Cf64,
        _ => return Err(format!("holds elements of type {kind:?}, which are not supported")),
    };
    let order = value(text, "fortran_order")?;
    let fortran_order = order.starts_with("True");
    if !fortran_order && !order.starts_with("False") {
        return Err("has a header whose fortran_order is neither True nor False".to_owned());
    }
    let shape = value(text, "shape")?;
    let inner = shape
        .strip_prefix('(')
        .and_then(|s| s.split_once(')'))
        .map(|(inner, _)| inner)
        .ok_or_else(|| "has a header whose shape is no tuple".to_owned())?;
    let shape = inner
        .split(',')
        .map(str::trim)
        .filter(|s| !s.is_empty())
        // Python 2 wrote 3L.
        .map(|s| s.trim_end_matches('L').parse())
        .collect::<std::result::Result<Vec<usize>, _>>()
        .map_err(|_| format!("has the shape ({inner}), which are no sizes"))?;
    Ok(Header { number, conversion, endianness, fortran_order, shape })
}

#[cfg(test)]
mod tests {
    use super::super::number::decode;
    use super::*;
    use std::path::PathBuf;

    struct Scratch(PathBuf);

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn file(name: &str, version: u8, header: &str, data: &[u8]) -> Scratch {
        let path = std::env::temp_dir().join(format!("purlin-npy-{name}-{}", std::process::id()));
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        let length = u32::try_from(header.len()).unwrap();
        bytes.extend(&length.to_le_bytes()[..if version == 1 { 2 } else { 4 }]);
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        std::fs::write(&path, bytes).unwrap();
        Scratch(path)
    }

    #[test]
    fn versions_orders_and_byte_orders_are_read() {
        let little: Vec<u8> = (0..6).flat_map(|v| f64::from(v).to_le_bytes()).collect();
        let big: Vec<u8> = (0..6).flat_map(|v| f64::from(v).to_be_bytes()).collect();
        for (version, header, data, dims, order) in [
            (1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }   \n", &little, [3, 2], Order::RowMajor),
            (2, "{'descr': '>f8', 'fortran_order': True, 'shape': (2, 3), }\n", &big, [2, 3], Order::ColumnMajor),
            (3, "{\"shape\": (2L, 3L), \"descr\": \">f8\", \"fortran_order\": False}", &big, [3, 2], Order::RowMajor),
        ] {
            let scratch = file("good", version, header, data);
            let mut source = NpySource::open(&scratch.0).unwrap();
            assert_eq!((&source.info().dims[..], source.order()), (&dims[..], order));
            let (mut out, mut values) = ([0u8; 48], [0f64; 6]);
            let block = Block::whole(source.info());
            source.read(&block, &mut out).unwrap();
            decode(Number::F64, &out, &mut values);
            assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        }
    }

    #[test]
    fn integers_of_64_bits_are_read_as_f64_or_refused() {
        let read = |descr: &str, bytes: Vec<u8>| {
            let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (3,), }}");
            let scratch = file("integers", 1, &header, &bytes);
            let mut source = NpySource::open(&scratch.0).unwrap();
            assert_eq!(source.info().number, Number::F64);
            let (mut out, mut values) = ([0u8; 24], [0f64; 3]);
            source.read(&Block::whole(&source.info().clone()), &mut out).map(|()| {
                decode(Number::F64, &out, &mut values);
                values
            })
        };
        let signed = |v: [i64; 3]| v.into_iter().flat_map(i64::to_le_bytes).collect::<Vec<u8>>();
        assert_eq!(read("<i8", signed([-5, 0, 1 << 53])).unwrap(), [-5.0, 0.0, 9007199254740992.0]);
        assert_eq!(
            read(">u8", [1u64, 2, 3].into_iter().flat_map(u64::to_be_bytes).collect()).unwrap(),
            [1.0, 2.0, 3.0]
        );
        let e = read("<i8", signed([1, i64::MIN, 2])).unwrap_err().to_string();
        assert!(e.contains("integer of magnitude 9223372036854775808"), "{e}");
    }

    #[test]
    fn booleans_are_read_as_0_and_1() {
        let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3), }";
        let scratch = file("booleans", 1, header, &[0, 1, 2, 255, 0, 128]);
        let mut source = NpySource::open(&scratch.0).unwrap();
        assert_eq!(source.info().number, Number::U8);
        let mut out = [9u8; 6];
        source.read(&Block::whole(&source.info().clone()), &mut out).unwrap();
        assert_eq!(out, [0, 1, 1, 1, 0, 1]);
    }

    #[test]
    fn files_that_are_not_arrays_of_numbers_are_refused() {
        let problem = |version, header: &str, data: &[u8]| {
            let scratch = file("bad", version, header, data);
            NpySource::open(&scratch.0).map(|_| ()).unwrap_err().to_string()
        };
        let with = |descr: &str, shape: &str| {
            problem(1, &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"), &[0; 64])
        };
        assert!(with("'|O'", "(2,)").contains("holds elements of type \"|O\""));
        assert!(with("'<f16'", "(2,)").contains("holds elements of type \"<f16\""));
        assert!(with("[('x', '<f4')]", "(2,)").contains("holds structures"));
        assert!(with("'<f8'", "()").contains("has 0 axes"));
        assert!(with("'<f8'", "(1, 1, 1, 1, 1)").contains("has 5 axes"));
        assert!(with("'<f8'", "(-2, 3)").contains("which are no sizes"));
        assert!(with("'<f8'", "(18446744073709551615, 9)").contains("more than 2^63 bytes"));
        assert!(with("'<f8'", "(9,)").contains("has "), "72 bytes of which 64 are there");
        assert!(with("'<f8'", "7").contains("no tuple"));
        assert!(problem(1, "{'descr': '<f8', 'shape': (1,)}", &[0; 8]).contains("without fortran_order"));
        assert!(problem(1, "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", &[0; 8]).contains("neither True"));
        let doubled = |text: &str| problem(1, &format!("{{'descr': '<f8', 'shape': (1,), {text}}}"), &[0; 16]);
        let order = "'fortran_order': False";
        assert!(
            doubled(&format!("{order}, 'descr': '<i8'")).contains("has a header with 2 values of descr, expected 1")
        );
        assert!(doubled(&format!("\"shape\" : (2,), {order}")).contains("has a header with 2 values of shape"));
        assert!(doubled(&format!("{order}, {order}, 'fortran_order':True")).contains("with 3 values of fortran_order"));
        assert!(problem(7, "", &[]).contains("version 7"));
        let scratch = file("cut", 1, "{'descr': '<f8'", &[]);
        std::fs::OpenOptions::new().write(true).open(&scratch.0).unwrap().set_len(14).unwrap();
        assert!(NpySource::open(&scratch.0).map(|_| ()).unwrap_err().to_string().contains("ends within its header"));
        std::fs::write(&scratch.0, b"\x93NUM").unwrap();
        assert!(NpySource::open(&scratch.0).map(|_| ()).unwrap_err().to_string().contains("is not a .npy file"));
    }
}
