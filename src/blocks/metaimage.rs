//! MetaImage (.mha, and .mhd beside a raw file): the format that ITK, RTK and 3D Slicer read and write.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::array::{ArrayInfo, Block};
use super::number::{Endianness, Number};
use super::sink::{FileSink, ProvisionalFile, Sink};
use super::source::{FileSource, Source, file_fault, io_error};
use crate::error::{Error, Result};

/// A header longer than this is none.
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

/// A MetaImage to read.
pub struct MetaImageSource(FileSource);

/// What a header says.
struct Header {
    info: ArrayInfo,
    endianness: Endianness,
    data: PathBuf,
    offset: u64,
}

fn bad(path: &Path, problem: String) -> Error {
    Error::Io { path: path.display().to_string(), problem }
}

impl MetaImageSource {
    /// Opens an image.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that is missing, no MetaImage, too short, compressed, or of several channels.
    pub fn open(path: &Path) -> Result<Self> {
        let header = read_header(path)?;
        FileSource::open(&header.data, header.offset, header.endianness, header.info).map(Self)
    }
}

impl Source for MetaImageSource {
    fn info(&self) -> &ArrayInfo {
        self.0.info()
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        self.0.read(block, out)
    }
}

fn read_header(path: &Path) -> Result<Header> {
    file_fault(path, "open")?;
    let file = std::fs::File::open(path).map_err(|e| io_error(path, "open", &e))?;
    let mut bytes = Vec::new();
    file.take(LONGEST_HEADER as u64).read_to_end(&mut bytes).map_err(|e| io_error(path, "read", &e))?;
    let mut keys: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    // The header is text and ends with the line of ElementDataFile; what follows may be anything.
    loop {
        let line = bytes[at..].iter().position(|b| *b == b'\n').map(|n| &bytes[at..at + n]).unwrap_or(&bytes[at..]);
        let next = (at + line.len() + 1).min(bytes.len());
        let text =
            std::str::from_utf8(line).map_err(|_| bad(path, "is not a MetaImage: its header is not text".into()))?;
        let Some((key, value)) = text.split_once('=') else {
            return Err(bad(path, format!("is not a MetaImage: its header has the line {:?}", text.trim_end())));
        };
        keys.push((key.trim().to_owned(), value.trim().to_owned()));
        at = next;
        if keys.last().is_some_and(|k| k.0 == "ElementDataFile") {
            break;
        }
        if at >= bytes.len() {
            return Err(bad(path, "is not a MetaImage: its header has no ElementDataFile".into()));
        }
    }
    let key = |name: &str| keys.iter().find(|k| k.0 == name).map(|k| k.1.as_str());
    let numbers = |name: &str| -> Result<Option<Vec<f64>>> {
        key(name)
            .map(|v| v.split_whitespace().map(str::parse).collect::<std::result::Result<Vec<f64>, _>>())
            .transpose()
            .map_err(|_| bad(path, format!("has {name} = {:?}, which are no numbers", key(name).unwrap_or(""))))
    };
    let truth = |name: &str| key(name).is_some_and(|v| v.eq_ignore_ascii_case("true"));
    if truth("CompressedData") {
        return Err(bad(path, "is compressed, which is not supported".into()));
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
    let fits = |v: Vec<f64>| (v.len() == dims.len()).then_some(v);
    info.spacing = numbers("ElementSpacing")?.or(numbers("ElementSize")?).and_then(fits);
    info.origin = numbers("Offset")?.or(numbers("Position")?).or(numbers("Origin")?).and_then(fits);
    let big = truth("BinaryDataByteOrderMSB") || truth("ElementByteOrderMSB");
    let endianness = if big { Endianness::Big } else { Endianness::Little };
    let name = key("ElementDataFile").unwrap_or("");
    let (data, mut offset) = match name {
        "LOCAL" => (path.to_owned(), at as u64),
        "LIST" => return Err(bad(path, "is a list of files, which is not supported".into())),
        name => (path.with_file_name(name), 0),
    };
    match key("HeaderSize").map(str::parse::<i64>) {
        None | Some(Ok(0)) => {}
        Some(Ok(n)) if n > 0 => offset = n.unsigned_abs(),
        // -1: the data are the end of the file.
        Some(Ok(-1)) => {
            let length = std::fs::metadata(&data).map_err(|e| io_error(&data, "size", &e))?.len();
            offset = length.saturating_sub(crate::shape::to_u64(info.bytes()));
        }
        _ => return Err(bad(path, "has a HeaderSize that is no size".into())),
    }
    Ok(Header { info, endianness, data, offset })
}

/// A MetaImage to write: one .mha file, or for a name that ends in .mhd a header beside a .raw file.
pub struct MetaImageSink {
    data: FileSink,
    header: Option<(PathBuf, String)>,
}

impl MetaImageSink {
    /// Creates an image; spacing and origin are those of `info`.
    ///
    /// # Errors
    /// [`Error::Io`] if a file cannot be created.
    pub fn create(path: &Path, info: ArrayInfo) -> Result<Self> {
        let detached = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mhd"));
        let raw = path.with_extension("raw");
        let name = match raw.file_name().and_then(|n| n.to_str()) {
            Some(name) if detached => name.to_owned(),
            None if detached => return Err(bad(path, "has a name that is not UTF-8".into())),
            _ => "LOCAL".to_owned(),
        };
        let header = header_text(&info, &name);
        let native = Endianness::NATIVE;
        Ok(if detached {
            let data = FileSink::create(&raw, &[], native, info)?;
            Self { data, header: Some((path.to_owned(), header)) }
        } else {
            Self { data: FileSink::create(path, header.as_bytes(), native, info)?, header: None }
        })
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
    fn info(&self) -> &ArrayInfo {
        self.data.info()
    }

    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()> {
        self.data.write(block, data)
    }

    fn finish(&mut self) -> Result<()> {
        // The header last: with it in place the image is whole.
        self.data.finish()?;
        if let Some((path, text)) = &self.header {
            let mut file = ProvisionalFile::create(path)?;
            file.write_at(text.as_bytes(), 0)?;
            file.finish()?;
        }
        Ok(())
    }
}
