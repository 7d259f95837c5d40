//! MetaImage (.mha, and .mhd beside a raw file): the format that ITK, RTK and 3D Slicer read and write.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::array::{ArrayInfo, Block};
use super::number::{Endianness, Number};
use super::provisional::ProvisionalFile;
use super::regular::{Destination, FileNumber, open_input};
use super::sink::{FileSink, Sink};
use super::source::{FileSource, Source, file_fault, io_error};
use crate::alloc;
use crate::error::{Error, Result};

/// Largest length of a header in bytes; a longer one is refused.
const LONGEST_HEADER: usize = 64 * 1024;

const TYPES: [(&str, Number); 9] = [
    ("MET_UCHAR", Number::U8),
    ("MET_CHAR", Number::I8),
    ("MET_USHORT", Number::U16),
    ("MET_SHORT", Number::I16),
    ("MET_UINT", Number::U32),
    ("MET_INT", Number::I32),
    ("MET_FLOAT", Number::F32),
    ("MET_DOUBLE", Number::F64),
    ("MET_HALF", Number::F16),
];

/// The keys of a header that decide about elements or their place. None may stand twice: readers differ in the line that
/// they take.
const KEYS: [&str; 21] = [
    "BinaryData",
    "BinaryDataByteOrderMSB",
    "CompressedData",
    "DimSize",
    "ElementByteOrderMSB",
    "ElementDataFile",
    "ElementNumberOfChannels",
    "ElementSize",
    "ElementSpacing",
    "ElementToIntensityFunctionOffset",
    "ElementToIntensityFunctionSlope",
    "ElementType",
    "HeaderSize",
    "NDims",
    "ObjectType",
    "Offset",
    "Orientation",
    "Origin",
    "Position",
    "Rotation",
    "TransformMatrix",
];

/// A MetaImage to read: elements behind the header (.mha), or in another file (.mhd).
pub struct MetaImageSource {
    data: FileSource,
    /// The file of the header.
    header: Option<FileNumber>,
}

/// The contents of a header.
struct Header {
    /// The header's own file; `None` if the system does not say.
    file: Option<FileNumber>,
    info: ArrayInfo,
    endianness: Endianness,
    data: PathBuf,
    offset: u64,
}

/// The message for a header in which two names of the same property have different values.
fn differ(first: &str, second: &str) -> String {
    format!("has different values for {first} and {second}")
}

fn bad(path: &Path, problem: String) -> Error {
    Error::Io { path: path.display().to_string(), problem }
}

impl MetaImageSource {
    /// Opens an image.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that is missing, no MetaImage, too short, compressed, of text, of several files or
    /// channels, with a key twice, with values that are to be scaled, or whose axes are rotated against the world's.
    pub fn open(path: &Path) -> Result<Self> {
        let header = read_header(path)?;
        let data = FileSource::open(&header.data, header.offset, header.endianness, header.info)?;
        Ok(Self { data, header: header.file })
    }
}

impl Source for MetaImageSource {
    fn info(&self) -> &ArrayInfo {
        self.data.info()
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        self.data.read(block, out)
    }

    fn is_from_file(&self, file: FileNumber) -> bool {
        self.header == Some(file) || self.data.is_from_file(file)
    }
}

/// The data file `name`: in the folder of the header's path, else in the folder of the file that this path links to.
fn data_file(path: &Path, name: &str) -> PathBuf {
    let beside = path.with_file_name(name);
    if exists(&beside) || !std::fs::symlink_metadata(path).is_ok_and(|f| f.is_symlink()) {
        return beside;
    }
    let real = std::fs::canonicalize(path).map(|real| real.with_file_name(name));
    real.ok().filter(|r| exists(r)).unwrap_or(beside)
}

fn read_header(path: &Path) -> Result<Header> {
    let (file, _) = open_input(path)?;
    let own = file.metadata().ok().map(|found| FileNumber::of(&found));
    let mut bytes = alloc::with_capacity("header of a MetaImage", LONGEST_HEADER)?;
    file_fault(path, "read")?;
    file.take(LONGEST_HEADER as u64).read_to_end(&mut bytes).map_err(|e| io_error(path, "read", &e))?;
    let mut keys: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    // The header is text and ends with the line of ElementDataFile. Any bytes may follow.
    loop {
        let line = bytes[at..].iter().position(|b| *b == b'\n').map(|n| &bytes[at..at + n]).unwrap_or(&bytes[at..]);
        let next = (at + line.len() + 1).min(bytes.len());
        // Names and comments may be in any encoding, because they are not used. The bytes of a file name are kept.
        let text = String::from_utf8_lossy(line);
        let name = line.split(|b| *b == b'=').next().unwrap_or_default();
        if matches!(text, Cow::Owned(_)) && (!name.is_ascii() || name.trim_ascii() == b"ElementDataFile") {
            return Err(bad(path, "is not a MetaImage: its header is not text".into()));
        }
        let blank = text.trim().is_empty() && next < bytes.len();
        let Some((key, value)) = text.split_once('=') else {
            if blank {
                at = next;
                continue;
            }
            return Err(bad(path, format!("is not a MetaImage: its header has the line {:?}", text.trim_end())));
        };
        let key = key.trim();
        if KEYS.contains(&key) && keys.iter().any(|k| k.0 == key) {
            return Err(bad(path, format!("has {key} twice, once is needed")));
        }
        keys.push((key.to_owned(), value.trim().to_owned()));
        at = next;
        if keys.last().is_some_and(|k| k.0 == "ElementDataFile") {
            break;
        }
        if at >= bytes.len() {
            let begin = format!(" in its first {LONGEST_HEADER} bytes");
            let within = if bytes.len() < LONGEST_HEADER { "" } else { &begin };
            return Err(bad(path, format!("is not a MetaImage: its header has no ElementDataFile{within}")));
        }
    }
    let key = |name: &str| keys.iter().find(|k| k.0 == name).map(|k| k.1.as_str());
    let numbers = |name: &str| -> Result<Option<Vec<f64>>> {
        key(name)
            .map(|v| v.split_whitespace().map(str::parse).collect::<std::result::Result<Vec<f64>, _>>())
            .transpose()
            .map_err(|_| bad(path, format!("has {name} = {:?}, which are no numbers", key(name).unwrap_or(""))))
    };
    // ITK reads only the first letter: T, t and 1 are true. Values that are neither true nor false are refused.
    let truth = |name: &str| -> Result<Option<bool>> {
        let Some(value) = key(name) else { return Ok(None) };
        match value.to_ascii_lowercase().as_str() {
            "true" | "t" | "1" => Ok(Some(true)),
            "false" | "f" | "0" => Ok(Some(false)),
            _ => Err(bad(path, format!("has {name} = {value:?}, True or False is needed"))),
        }
    };
    if truth("CompressedData")? == Some(true) {
        return Err(bad(path, "is compressed (CompressedData = True), which is not supported".into()));
    }
    if truth("BinaryData")? == Some(false) {
        return Err(bad(path, "holds its elements as text (BinaryData = False), which is not supported".into()));
    }
    if key("ElementNumberOfChannels").is_some_and(|v| v != "1") {
        return Err(bad(path, "has several channels, one is needed".into()));
    }
    let kind = key("ElementType").unwrap_or("");
    let number = TYPES
        .iter()
        .find(|t| t.0 == kind)
        .map(|t| t.1)
        .ok_or_else(|| bad(path, format!("has ElementType = {kind:?}, which is not supported")))?;
    let sizes = key("DimSize").unwrap_or("");
    let dims: Vec<usize> = sizes
        .split_whitespace()
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| bad(path, format!("has DimSize = {sizes:?}, which are no sizes")))?;
    let mut info = ArrayInfo::new(number, &dims).map_err(|e| bad(path, e.to_string()))?;
    let axes = dims.len();
    if let Some(n) = key("NDims").filter(|n| n.parse() != Ok(axes)) {
        return Err(bad(path, format!("has NDims = {n} and DimSize = {sizes}")));
    }
    // A property with several names, and finite numbers as values. Readers differ in the name that they use, so all
    // names must agree.
    let place = |names: &[&str], count: usize| -> Result<Option<Vec<f64>>> {
        let mut found: Option<(&str, Vec<f64>)> = None;
        for name in names {
            let Some(values) = numbers(name)? else { continue };
            if values.len() != count || values.iter().any(|v| !v.is_finite()) {
                let text = key(name).unwrap_or("");
                return Err(bad(path, format!("has {name} = {text:?}, {count} finite numbers are needed")));
            }
            match &found {
                Some((first, before)) if *before != values => return Err(bad(path, differ(first, name))),
                Some(_) => {}
                None => found = Some((name, values)),
            }
        }
        Ok(found.map(|(_, values)| values))
    };
    for (name, neutral) in [("ElementToIntensityFunctionSlope", 1.0), ("ElementToIntensityFunctionOffset", 0.0)] {
        if let Some(found) = place(&[name], 1)?.filter(|v| v[0] != neutral) {
            let problem = format!("has {name} = {}, values other than {neutral} are not supported", found[0]);
            return Err(bad(path, problem));
        }
    }
    info.spacing = place(&["ElementSpacing", "ElementSize"], axes)?;
    if let Some(spacing) = info.spacing.as_ref().filter(|s| s.iter().any(|v| *v <= 0.0)) {
        return Err(bad(path, format!("has a spacing of {spacing:?}, positive numbers are needed")));
    }
    info.origin = place(&["Offset", "Position", "Origin"], axes)?;
    // The rows of the matrix are the directions of the axes. Rotated volumes are not supported.
    let turned = |m: &Vec<f64>| m.iter().enumerate().any(|(k, v)| *v != f64::from(u8::from(k % (axes + 1) == 0)));
    if let Some(matrix) = place(&["TransformMatrix", "Orientation", "Rotation"], axes * axes)?.filter(turned) {
        return Err(bad(path, format!("has its axes turned (TransformMatrix = {matrix:?}), which is not supported")));
    }
    let big = match (truth("BinaryDataByteOrderMSB")?, truth("ElementByteOrderMSB")?) {
        (Some(a), Some(b)) if a != b => {
            return Err(bad(path, differ("BinaryDataByteOrderMSB", "ElementByteOrderMSB")));
        }
        (a, b) => a.or(b).unwrap_or(false),
    };
    let endianness = if big { Endianness::Big } else { Endianness::Little };
    let name = key("ElementDataFile").unwrap_or("");
    let (data, mut offset) = match name {
        "LOCAL" => (path.to_owned(), at as u64),
        name if name.is_empty() || name.starts_with("LIST") || name.contains('%') => {
            let problem = format!("has ElementDataFile = {name:?}: lists of files are not supported");
            return Err(bad(path, problem));
        }
        name => (data_file(path, name), 0),
    };
    match key("HeaderSize").map(str::parse::<i64>) {
        None | Some(Ok(0)) => {}
        Some(Ok(n)) if n > 0 && n.unsigned_abs() < offset => {
            return Err(bad(path, format!("has HeaderSize = {n}, but its header has {offset} bytes")));
        }
        Some(Ok(n)) if n > 0 => offset = n.unsigned_abs(),
        // -1: the data are the end of the file.
        Some(Ok(-1)) => {
            let length = std::fs::metadata(&data).map_err(|e| io_error(&data, "size", &e))?.len();
            offset = length.saturating_sub(crate::shape::to_u64(info.bytes()));
        }
        _ => return Err(bad(path, "has a HeaderSize that is no size".into())),
    }
    Ok(Header { file: own, info, endianness, data, offset })
}

/// A MetaImage to write: one .mha file, or for a name that ends in .mhd a header beside a .raw file.
pub struct MetaImageSink {
    data: FileSink,
    /// Type, sizes, and spacing and origin if they are known.
    info: ArrayInfo,
    /// Value of ElementDataFile in the header.
    name: String,
    /// The .mhd file under its provisional name, and the final paths of both files.
    header: Option<(ProvisionalFile, Detached)>,
}

impl MetaImageSink {
    /// Creates an image; spacing and origin are those of `info`.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for complex elements and half precision; [`Error::Io`] if a file cannot be created, and
    /// for a .raw file that is there while the .mhd file is not, or is no image whose data it holds: it belongs to
    /// something else; for a link beside which another file has the name of the .raw file; for a .mhd file whose name a
    /// header cannot hold: not UTF-8, with blanks at its start, control characters, a %, or LIST at its start.
    pub fn create(path: &Path, info: ArrayInfo) -> Result<Self> {
        info.number.expect_real("dtype")?;
        if info.number == Number::F16 {
            return Err(Error::NotSupported("dtype is F16, which ITK's MetaImages do not have".into()));
        }
        // Links are followed, so the .raw file belongs to the header file that is written.
        let destination = Destination::resolve(path)?;
        let is_link = std::fs::symlink_metadata(path).is_ok_and(|f| f.is_symlink());
        // Absolute, because both files are looked for again when they are complete.
        let written = destination.path();
        let stem = stem_of_header(&destination.name);
        let name = match stem.map(|s| std::str::from_utf8(s)) {
            Some(Ok(stem)) => format!("{stem}.raw"),
            Some(Err(_)) => return Err(bad(path, "has a name that is not UTF-8".into())),
            None => "LOCAL".to_owned(),
        };
        // The header is read line by line, without the blanks around a name; a % means a numbered list of files.
        if name.trim() != name || name.contains(|c: char| c == '%' || c.is_control()) || name.starts_with("LIST") {
            return Err(bad(path, format!("has a name that the header of a MetaImage cannot hold: {name:?}")));
        }
        let header = header_text(&info, &name);
        let native = Endianness::NATIVE;
        if stem.is_none() {
            let data = FileSink::create(path, header.as_bytes(), native, info.clone())?;
            return Ok(Self { data, info, name, header: None });
        }
        let raw = written.with_file_name(&name);
        let detached = Detached { raw, header: written };
        if is_link {
            detached.expect_one_raw(path, &name)?;
        }
        if exists(&detached.raw) && !exists(path) {
            let problem = format!("exists without {}, and is not replaced", path.display());
            return Err(bad(&detached.raw, problem));
        }
        let data = FileSink::create(&detached.raw, &[], native, info.clone())?;
        detached.expect_own()?;
        let file = ProvisionalFile::create(path)?;
        if !file.replaces(&destination) {
            return Err(bad(path, "names another file than just before".into()));
        }
        file.write_at(header.as_bytes(), 0)?;
        Ok(Self { data, info, name, header: Some((file, detached)) })
    }
}

/// Whether there is anything under a name.
fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// The name of a header beside a .raw file, without its ending.
fn stem_of_header(name: &OsStr) -> Option<&[u8]> {
    let (stem, ending) = name.as_bytes().split_at_checked(name.len().checked_sub(4)?)?;
    ending.eq_ignore_ascii_case(b".mhd").then_some(stem)
}

/// The two files of an image with a separate data file, with links to the header resolved.
struct Detached {
    header: PathBuf,
    raw: PathBuf,
}

impl Detached {
    /// Refuses a .raw file that is not the data of this header.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn expect_own(&self) -> Result<()> {
        // A .raw file beside a header is its data only if the header names it.
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let is_own = |h: Header| h.data == self.raw || real(&self.raw).is_some_and(|raw| real(&h.data) == Some(raw));
        if exists(&self.raw) && !read_header(&self.header).is_ok_and(is_own) {
            let problem = format!("is not the data file of {}, and is not replaced", self.header.display());
            return Err(bad(&self.raw, problem));
        }
        Ok(())
    }

    /// Refuses another file of the data's name beside the link `link` to the header: programs that read the image through
    /// the link would use that file.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn expect_one_raw(&self, link: &Path, name: &str) -> Result<()> {
        let beside = link.with_file_name(name);
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        if exists(&beside) && real(&beside).is_none_or(|b| real(&self.raw) != Some(b)) {
            let (header, link) = (self.header.display(), link.display());
            let problem = format!("would be read as the data of {link}, which is a link to {header}");
            return Err(bad(&beside, problem));
        }
        Ok(())
    }
}

fn header_text(info: &ArrayInfo, data: &str) -> String {
    let axes = info.dims.len();
    let list = |values: &mut dyn Iterator<Item = String>| values.collect::<Vec<_>>().join(" ");
    let identity = list(&mut (0..axes * axes).map(|k| u8::from(k % (axes + 1) == 0).to_string()));
    let ones = vec![1.0; axes];
    let zeros = vec![0.0; axes];
    let kind = TYPES.iter().find(|t| t.1 == info.number).map_or("MET_OTHER", |t| t.0);
    let big = if Endianness::NATIVE == Endianness::Big { "True" } else { "False" };
    let mut text = String::new();
    // Writing into a string cannot fail. The order of the keys is the one that ITK writes; the last one must be last.
    let _ = write!(
        text,
        "ObjectType = Image\nNDims = {axes}\nBinaryData = True\nBinaryDataByteOrderMSB = {big}\n\
         CompressedData = False\nTransformMatrix = {identity}\nOffset = {}\nCenterOfRotation = {}\n\
         ElementSpacing = {}\nDimSize = {}\nElementType = {kind}\nElementDataFile = {data}\n",
        list(&mut info.origin.as_ref().unwrap_or(&zeros).iter().map(f64::to_string)),
        list(&mut zeros.iter().map(f64::to_string)),
        list(&mut info.spacing.as_ref().unwrap_or(&ones).iter().map(f64::to_string)),
        list(&mut info.dims.iter().map(usize::to_string)),
    );
    text
}

impl Sink for MetaImageSink {
    fn files(&self) -> [Option<PathBuf>; 2] {
        let [data, _] = self.data.files();
        [data, self.header.as_ref().map(|(header, _)| header.destination())]
    }

    fn info(&self) -> &ArrayInfo {
        self.data.info()
    }

    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()> {
        self.data.write(block, data)
    }

    fn finish(&mut self) -> Result<()> {
        // The header is renamed last, because it completes the image. Nothing is renamed before both files are durable.
        let Some((header, detached)) = &mut self.header else { return self.data.finish() };
        header.seal()?;
        // Meanwhile the .raw file may have been created, or the header that names it may have changed.
        let is_new = !exists(&detached.raw);
        detached.expect_own()?;
        let outcome = if is_new { self.data.finish_new() } else { self.data.finish() };
        // If the data have their final name, the header gets its name too, even if the data's name is not durable.
        if self.data.has_name() { header.rename().and(outcome) } else { outcome }
    }

    fn place(&mut self, spacing: &[f64], origin: &[f64]) -> Result<()> {
        if spacing.len() != self.info.dims.len() || origin.len() != self.info.dims.len() {
            return Ok(());
        }
        if self.info.spacing.is_some() && self.info.origin.is_some() {
            return Ok(());
        }
        self.info.spacing.get_or_insert_with(|| spacing.to_vec());
        self.info.origin.get_or_insert_with(|| origin.to_vec());
        // The new header is not shorter than the old one, whose numbers had one digit, so it overwrites all of it.
        let text = header_text(&self.info, &self.name);
        match &self.header {
            Some((header, _)) => header.write_at(text.as_bytes(), 0),
            None => self.data.replace_header(text.as_bytes()),
        }
    }
}
