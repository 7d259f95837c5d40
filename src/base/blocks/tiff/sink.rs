//! A stack of grey pages as one TIFF file.
//!
//! All directories are before the pixels, and the pages follow each other without gaps. Blocks can therefore be written in
//! any order, and programs that read a stack as one raw array (ImageJ) can read it.

use std::path::{Path, PathBuf};

use super::super::array::{ArrayInfo, Block};
use super::super::number::{Endianness, Number};
use super::super::sink::{FileSink, Sink};
use super::format::{IMAGEJ, bad};
use crate::alloc;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// A TIFF file to write, of one page for each slice; BigTIFF where it passes 4 GiB.
pub struct TiffSink(FileSink);

impl TiffSink {
    /// Creates a file for the array [width, height, pages]; spacing and origin, mm, go into a description as ImageJ's.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there are two or three axes, none empty; [`Error::NotSupported`] for complex
    /// elements; [`Error::Io`] if the file cannot be created.
    pub fn create(path: &Path, info: ArrayInfo) -> Result<Self> {
        let header = header(path, &info)?;
        Ok(Self(FileSink::create(path, &header, Endianness::NATIVE, info)?))
    }
}

impl Sink for TiffSink {
    fn info(&self) -> &ArrayInfo {
        self.0.info()
    }

    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()> {
        self.0.write(block, data)
    }

    fn finish(&mut self) -> Result<()> {
        self.0.finish()
    }

    fn files(&self) -> [Option<PathBuf>; 2] {
        self.0.files()
    }
}

/// Entries of each page's directory that is written.
const ENTRIES: u16 = 14;
/// Pixels begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// TIFF's codes of types of values.
const ASCII: u16 = 2;
const SHORT: u16 = 3;
const LONG: u16 = 4;
const RATIONAL: u16 = 5;
const LONG8: u16 = 16;

/// Writes the numbers of a classic TIFF or of a BigTIFF.
struct Words {
    big: bool,
    bytes: Vec<u8>,
}

impl Words {
    fn short(&mut self, value: u16) {
        self.bytes.extend(value.to_ne_bytes());
    }

    fn long(&mut self, value: u32) {
        self.bytes.extend(value.to_ne_bytes());
    }

    /// Writes an offset or a count, in 64 bits for a BigTIFF, else in 32.
    fn wide(&mut self, value: u64) {
        if self.big {
            self.bytes.extend(value.to_ne_bytes());
        } else {
            // The kind was chosen so that all of them fit.
            self.long(u32::try_from(value).unwrap_or(u32::MAX));
        }
    }

    /// Writes an entry. `value` is the value itself, or its offset in the file.
    fn entry(&mut self, tag: u16, kind: u16, count: u64, value: u64) {
        self.short(tag);
        self.short(kind);
        self.wide(count);
        let start = self.bytes.len();
        match kind {
            SHORT => self.short(u16::try_from(value).unwrap_or(u16::MAX)),
            LONG => self.long(u32::try_from(value).unwrap_or(u32::MAX)),
            _ => self.wide(value),
        }
        self.bytes.resize(start + if self.big { 8 } else { 4 }, 0);
    }
}

/// `1 / length` as a fraction of two 32-bit numbers, exact for lengths of up to nine digits.
fn reciprocal(length: f64) -> Option<(u32, u32)> {
    let fits = |v: f64| (v >= 1.0 && v <= f64::from(u32::MAX)).then_some(v as u32);
    (0..10).rev().map(|digits| 10f64.powi(digits)).find_map(|n| Some((fits(n)?, fits((length * n).round())?)))
}

/// The bytes before the first pixel: header, directories, resolutions, description and padding.
fn header(path: &Path, info: &ArrayInfo) -> Result<Vec<u8>> {
    info.number.expect_real("dtype")?;
    let (width, height, pages) = match *info.dims {
        [w, h] => (w, h, 1),
        [w, h, n] => (w, h, n),
        _ => {
            return Err(Error::invalid("ndim", format!("is {}, a TIFF file has 2 or 3", info.dims.len())));
        }
    };
    let (sizes, most) = ([width, height, pages], u32::MAX);
    if sizes.iter().any(|n| *n == 0 || u32::try_from(*n).is_err()) {
        return Err(Error::invalid("dims", format!("{:?} has a size outside 1 to {most}", info.dims)));
    }
    let page_bytes = to_u64(width * height * info.number.size());
    let text = description(info, pages);
    let [x, y] = [0, 1].map(|k| info.spacing.as_ref().and_then(|s| reciprocal(*s.get(k)?)).unwrap_or((1, 1)));
    // The sizes of all parts depend on the kind of TIFF, and the kind on the sizes. The classic kind is tried first.
    let places = |big: bool| {
        let (start, count, entry, next) = if big { (16, 8, 20, 8) } else { (8, 2, 12, 4) };
        let directory = count + usize::from(ENTRIES) * entry + next;
        let after = start + pages * directory;
        let pixels = (after + 16 + text.len()).next_multiple_of(ALIGNMENT);
        (start, directory, after, pixels)
    };
    let all = info.bytes();
    let big = u32::try_from(to_u64(places(false).3).saturating_add(to_u64(all))).is_err();
    let (start, directory, after, pixels) = places(big);
    if to_u64(pixels).checked_add(to_u64(all)).is_none() {
        return Err(bad(path, format!("{:?} is more than a file can hold", info.dims)));
    }

    let mut words = Words { big, bytes: alloc::with_capacity("directories of a TIFF file", pixels)? };
    words.bytes.extend(if Endianness::NATIVE == Endianness::Little { b"II" } else { b"MM" });
    words.short(if big { 43 } else { 42 });
    if big {
        words.short(8);
        words.short(0);
    }
    words.wide(to_u64(start));
    let format = match info.number {
        Number::U8 | Number::U16 | Number::U32 => 1,
        Number::I8 | Number::I16 | Number::I32 => 2,
        Number::F16 | Number::F32 | Number::F64 => 3,
        Number::Cf32 | Number::Cf64 => 6,
    };
    let offset_kind = if big { LONG8 } else { LONG };
    for page in 0..pages {
        if big {
            words.wide(ENTRIES.into());
        } else {
            words.short(ENTRIES);
        }
        words.entry(256, LONG, 1, to_u64(width));
        words.entry(257, LONG, 1, to_u64(height));
        words.entry(258, SHORT, 1, to_u64(8 * info.number.size()));
        words.entry(259, SHORT, 1, 1);
        words.entry(262, SHORT, 1, 1);
        words.entry(270, ASCII, to_u64(text.len()), to_u64(after + 16));
        words.entry(273, offset_kind, 1, to_u64(pixels) + to_u64(page) * page_bytes);
        words.entry(277, SHORT, 1, 1);
        words.entry(278, LONG, 1, to_u64(height));
        words.entry(279, offset_kind, 1, page_bytes);
        resolution(&mut words, 282, x, after);
        resolution(&mut words, 283, y, after + 8);
        words.entry(296, SHORT, 1, 1);
        words.entry(339, SHORT, 1, format);
        let next = if page + 1 < pages { start + (page + 1) * directory } else { 0 };
        words.wide(to_u64(next));
    }
    for part in [x.0, x.1, y.0, y.1] {
        words.long(part);
    }
    words.bytes.extend(text.as_bytes());
    words.bytes.resize(pixels, 0);
    Ok(words.bytes)
}

/// A fraction fits a BigTIFF's entry, and lies at `place` in a classic file.
fn resolution(words: &mut Words, tag: u16, value: (u32, u32), place: usize) {
    if words.big {
        let mut both = [0u8; 8];
        both[..4].copy_from_slice(&value.0.to_ne_bytes());
        both[4..].copy_from_slice(&value.1.to_ne_bytes());
        words.entry(tag, RATIONAL, 1, u64::from_ne_bytes(both));
    } else {
        words.entry(tag, RATIONAL, 1, to_u64(place));
    }
}

/// Number of pages and place in space, as ImageJ writes them; ends with a zero.
fn description(info: &ArrayInfo, pages: usize) -> String {
    let mut text = format!("{IMAGEJ}1.11a\nimages={pages}\nslices={pages}\nloop=false\n");
    if let Some(spacing) = &info.spacing {
        let depth = spacing.get(2).copied().unwrap_or(1.0);
        text += &format!("unit=mm\nspacing={depth}\n");
        if let Some(origin) = &info.origin {
            for (name, (o, s)) in ["x", "y", "z"].iter().zip(origin.iter().zip(spacing)) {
                text += &format!("{name}origin={}\n", -o / s);
            }
        }
    }
    text.push('\0');
    text
}
