//! Files of any contents: MetaImage and NumPy headers that were assembled from right and wrong parts or are no headers
//! at all, raw files, and images that the library itself wrote.

use std::fs;
use std::path::{Path, PathBuf};

use purlin::blocks::array::{ArrayInfo, Block};
use purlin::blocks::metaimage::{MetaImageSink, MetaImageSource};
use purlin::blocks::npy::NpySource;
use purlin::blocks::number::{Endianness, Number, decode};
use purlin::blocks::sink::Sink;
use purlin::blocks::source::{FileSource, Source as _};
use purlin::error::{Error, Result};

use crate::program::Tally;
use crate::source::Source;

/// Bytes of the largest array that is read whole.
const LARGEST: usize = 1 << 16;

const NUMBERS: [Number; 9] =
    [Number::U8, Number::I8, Number::U16, Number::I16, Number::U32, Number::I32, Number::F16, Number::F32, Number::F64];
/// Those that a raw file may hold besides.
const COMPLEX: [Number; 2] = [Number::Cf32, Number::Cf64];

/// A folder of this process that is removed when the value is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        let path = std::env::temp_dir().join(format!("purlin-readers-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    fn file(&self, name: &str, contents: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, contents).expect("a temporary file");
        path
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Reads one file, or writes one and reads it back.
pub fn run(bytes: &[u8], folder: &Folder, tally: &mut Tally) {
    let mut s = Source::new(bytes);
    let outcome = match s.below(10) {
        8 => npy(&mut s, folder),
        9 => NpySource::open(&folder.file("any.npy", bytes.get(1..).unwrap_or_default()))
            .and_then(|mut array| read_blocks(&mut array, &mut s)),
        0 => read_image(&folder.file("any.mha", bytes.get(1..).unwrap_or_default()), &mut s),
        1 | 2 => raw(&mut s, folder),
        3 => there_and_back(&mut s, folder),
        _ => assembled(&mut s, folder),
    };
    tally.programs += 1;
    tally.calls += 1;
    match outcome {
        Ok(()) => tally.successes += 1,
        Err(Error::Io { path, .. }) => assert!(!path.is_empty()),
        Err(Error::InvalidArgument { .. }) => {}
        // A MetaImage has no half precision.
        Err(Error::NotSupported(problem)) if problem.starts_with("dtype is F16") => {}
        Err(other) => panic!("{other}"),
    }
}

/// Opens an image and reads it in several ways.
fn read_image(path: &Path, s: &mut Source<'_>) -> Result<()> {
    let mut image = MetaImageSource::open(path)?;
    read_blocks(&mut image, s)
}

/// The array as a whole, and blocks of it, which must be the same numbers; a block outside is refused.
fn read_blocks(array: &mut dyn purlin::blocks::source::Source, s: &mut Source<'_>) -> Result<()> {
    let info = array.info().clone();
    for place in [&info.spacing, &info.origin].into_iter().flatten() {
        assert_eq!(place.len(), info.dims.len());
    }
    let size = info.number.size();
    let mut whole = Vec::new();
    if info.bytes() <= LARGEST {
        whole = vec![0u8; info.bytes()];
        array.read(&Block::whole(&info), &mut whole)?;
        let mut values = vec![0f64; info.elements()];
        decode(info.number, &whole, &mut values);
    }
    for _ in 0..4 {
        let (mut block, mut inside) = (Block::whole(&info), true);
        for (axis, d) in info.dims.iter().copied().enumerate() {
            let (first, count) = if s.once_in(12) {
                (s.strange() as usize, s.strange() as usize)
            } else {
                let first = s.byte() as usize % d.saturating_add(1);
                (first, s.byte() as usize % (d - first).saturating_add(1))
            };
            block = block.along(axis, first, count);
            inside &= first.checked_add(count).is_some_and(|end| end <= d);
        }
        assert_eq!(block.check(&info).is_ok(), inside);
        if !inside {
            // `read` checks the block before it touches the buffer, here an empty one.
            assert!(array.read(&block, &mut []).is_err());
            continue;
        }
        if block.elements() * size > LARGEST {
            continue;
        }
        let mut part = vec![0u8; block.elements() * size];
        array.read(&block, &mut part)?;
        if !whole.is_empty() {
            compare(&info, &block, &whole, &part);
        }
    }
    Ok(())
}

/// Compares each element of a block with the same element of the whole.
fn compare(info: &ArrayInfo, block: &Block, whole: &[u8], part: &[u8]) {
    let size = info.number.size();
    for (k, found) in part.chunks_exact(size).enumerate() {
        let (mut rest, mut place, mut step) = (k, 0, 1);
        for (axis, d) in info.dims.iter().enumerate() {
            place += (block.first()[axis] + rest % block.count()[axis]) * step;
            rest /= block.count()[axis];
            step *= d;
        }
        assert_eq!(found, &whole[place * size..(place + 1) * size], "element {k} of {block:?} in {info:?}");
    }
}

fn dims(s: &mut Source<'_>) -> Vec<usize> {
    let axes = if s.once_in(10) { s.below(7) } else { 1 + s.below(4) };
    (0..axes).map(|_| if s.once_in(30) { s.strange() as usize } else { s.byte() as usize % 9 }).collect()
}

/// A raw file of some length, read as an array of any kind from any byte on.
fn raw(s: &mut Source<'_>, folder: &Folder) -> Result<()> {
    let number = if s.once_in(6) { s.one_of(&COMPLEX) } else { s.one_of(&NUMBERS) };
    let info = ArrayInfo::new(number, &dims(s))?;
    let offset = if s.once_in(8) { s.strange() as u64 } else { u64::from(s.byte() % 32) };
    let length = if s.below(4) == 0 { s.bits() as usize % 4096 } else { info.bytes().min(LARGEST) + 32 };
    let contents: Vec<u8> = (0..length).map(|k| (k * 37 + k / 251) as u8).collect();
    let endianness = s.one_of(&[Endianness::Little, Endianness::Big]);
    let path = folder.file("any.raw", &contents);
    read_blocks(&mut FileSource::open(&path, offset, endianness, info)?, s)
}

/// A NumPy header of parts that are mostly right, and data behind it.
fn npy(s: &mut Source<'_>, folder: &Folder) -> Result<()> {
    let wild = if s.once_in(3) { 6 } else { 60 };
    let dims = dims(s);
    let types = ["<f8", ">f4", "|u1", "<c16", ">c8", "<f2", "|b1", "=i4", ">u2", "<i2"];
    let kind = if s.once_in(wild) { s.one_of(&["|O", "<i8", "", "f", "<f16", "'"]) } else { s.one_of(&types) };
    let order = if s.once_in(wild) { "Maybe" } else { s.one_of(&["False", "True"]) };
    let comma = if s.once_in(wild) { "" } else { "," };
    let sizes = dims.iter().map(|d| format!("{d}{comma} ")).collect::<String>();
    let mut parts = [format!("'descr': '{kind}'"), format!("'fortran_order': {order}"), format!("'shape': ({sizes})")];
    if s.once_in(4) {
        parts.reverse();
    }
    let mut text = format!("{{{}, }}", parts.join(", "));
    text += &" ".repeat(s.below(32));
    text.push('\n');
    let (version, length) = (if s.once_in(wild) { s.byte() } else { 1 + s.byte() % 3 }, text.len() as u32);
    let length = if s.once_in(wild) { s.bits() as u32 } else { length };
    let mut contents = b"\x93NUMPY".to_vec();
    contents.extend([version, 0]);
    contents.extend(&length.to_le_bytes()[..if version == 1 { 2 } else { 4 }]);
    contents.extend(text.as_bytes());
    if s.once_in(wild) {
        let place = s.bits() as usize % contents.len();
        contents[place] = s.byte();
    }
    let data = s.below(256) * s.below(128);
    contents.extend((0..data).map(|k| (k * 43 + k / 241) as u8));
    let mut array = NpySource::open(&folder.file("any.npy", &contents))?;
    read_blocks(&mut array, s)
}

/// The library reads the files that it writes.
fn there_and_back(s: &mut Source<'_>, folder: &Folder) -> Result<()> {
    let mut info = ArrayInfo::new(s.one_of(&NUMBERS), &dims(s))?;
    if info.bytes() > LARGEST {
        return Ok(());
    }
    let axes = info.dims.len();
    let finite = |s: &mut Source<'_>| Some(s.float()).filter(|x| x.is_finite()).unwrap_or(0.5);
    info.spacing = Some((0..axes).map(|_| finite(s)).collect());
    info.origin = Some((0..axes).map(|_| finite(s)).collect());
    let path = folder.0.join(s.one_of(&["written.mha", "written.mhd"]));
    let contents: Vec<u8> = (0..info.bytes()).map(|k| (k * 41 + k / 239) as u8).collect();
    let mut sink = MetaImageSink::create(&path, info.clone())?;
    let slab = info.bytes() / info.dims[axes - 1].max(1);
    // An array without elements may have very many rows of none.
    for k in 0..if slab == 0 { 0 } else { info.dims[axes - 1] } {
        sink.write(&Block::whole(&info).along(axes - 1, k, 1), &contents[k * slab..(k + 1) * slab])?;
    }
    sink.finish()?;
    let mut image = MetaImageSource::open(&path)?;
    assert_eq!(image.info(), &info);
    let mut found = vec![0u8; info.bytes()];
    image.read(&Block::whole(&info), &mut found)?;
    assert!(found == contents, "{info:?} differs from the contents written");
    read_blocks(&mut image, s)
}

/// A header of lines that are mostly right, with the data behind it or in another file.
fn assembled(s: &mut Source<'_>, folder: &Folder) -> Result<()> {
    let wild = if s.once_in(3) { 6 } else { 60 };
    let mut header: Vec<u8> = Vec::new();
    let list = |s: &mut Source<'_>, n: usize| (0..n).map(|_| s.float().to_string()).collect::<Vec<_>>().join(" ");
    let dims = dims(s);
    let sizes = dims.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let kinds = ["MET_UCHAR", "MET_CHAR", "MET_USHORT", "MET_SHORT", "MET_UINT", "MET_INT", "MET_FLOAT", "MET_DOUBLE"];
    let data = s.one_of(&["LOCAL", "LOCAL", "LOCAL", "any.raw", "none.raw", "LIST", "", "..", "a\0b"]);
    let (spacing, offset) = (list(s, dims.len()), list(s, dims.len()));
    let lines = [
        ("ObjectType", "Image".to_owned()),
        ("NDims", dims.len().to_string()),
        ("BinaryDataByteOrderMSB", s.one_of(&["False", "True", "true", "2"]).to_owned()),
        ("CompressedData", s.one_of(&["False", "False", "False", "False", "False", "True"]).to_owned()),
        ("ElementNumberOfChannels", s.one_of(&["1", "1", "1", "1", "3", ""]).to_owned()),
        ("ElementSpacing", spacing),
        ("Offset", offset),
        ("HeaderSize", s.one_of(&["0", "0", "0", "-1", "7", "-2", "9223372036854775807", "1e3"]).to_owned()),
        ("DimSize", sizes),
        ("ElementType", if s.once_in(20) { "MET_LONG_LONG" } else { s.one_of(&kinds) }.to_owned()),
        ("ElementDataFile", data.to_owned()),
    ];
    for (name, value) in lines {
        if s.once_in(wild) {
            continue;
        }
        let between = if s.once_in(wild) { "" } else { " = " };
        header.extend_from_slice(format!("{name}{between}{value}").as_bytes());
        if s.once_in(wild) {
            header.push(s.byte());
        }
        header.extend_from_slice(if s.once_in(wild) { b"\r\n" } else { b"\n" });
    }
    let length = s.below(256) * s.below(128);
    let contents: Vec<u8> = (0..length).map(|k| (k * 43 + k / 241) as u8).collect();
    folder.file("any.raw", &contents);
    header.extend_from_slice(&contents);
    read_image(&folder.file("assembled.mha", &header), s)
}
