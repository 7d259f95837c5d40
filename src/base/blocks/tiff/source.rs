//! Pages of TIFF files as an array.

use std::fs::File;
use std::io::BufReader;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tiff::decoder::{ChunkType, Decoder, DecodingSampleType, Limits, ifd::Value};
use tiff::tags::{ByteOrder, CompressionMethod, PhotometricInterpretation, Tag};
use tiff::{ColorType, TiffResult};

use super::super::array::{ArrayInfo, Block};
use super::super::number::{Endianness, Number};
use super::super::regular::{FileNumber, open_input};
use super::super::source::{Source, file_fault, io_error, read_error};
use super::directory::{Directories, MOST_VALUES};
use super::format::{IMAGEJ, bad};
use crate::alloc;
use crate::backend::memory::{Budget, HostMemory};
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Upper bound of the ratio of any compression. A page that claims to be larger than its file could hold is refused before
/// memory is allocated for it.
const MOST_SHRINKING: u64 = 4096;

/// Grey pages of one or more files, in order: [columns, rows, pages].
///
/// Pages without compression are read row by row, others strip by strip or tile by tile. Only the rows, strips and
/// tiles that the block needs are read. Beyond 4 GiB ImageJ writes one directory alone, and the other images of the
/// stack behind the one that it describes: these are pages, too.
pub struct TiffSource {
    info: ArrayInfo,
    paths: Vec<PathBuf>,
    /// Number of each file's first page, and the number of all pages.
    starts: Vec<usize>,
    /// Whether each file has one directory for several images.
    stacked: Vec<bool>,
    open: Option<OpenFile>,
    /// Buffer for the largest strip or tile that has to be decoded.
    chunk: HostMemory,
    budget: Arc<Budget>,
}

/// The file that was read last.
struct OpenFile {
    file: usize,
    /// Index of the decoder's current page in the file.
    at: usize,
    /// Bytes from that page's samples to those of the image that is read: other than 0 only in a stack with one directory.
    behind: u64,
    pages: Decoder<BufReader<File>>,
    directories: Directories,
    raw: File,
    length: u64,
}

/// Properties that all pages must have in common, and the memory for one page.
#[derive(Clone, Copy)]
struct Page {
    number: Number,
    /// Columns and rows of a page.
    size: [usize; 2],
    /// Bytes of the page's largest strip or tile that has to be decoded; 0 for a page that is read without decoding.
    chunk: usize,
}

/// Layout of a page's samples in the file.
struct Layout {
    /// Whether samples are stored in the file without compression, in strips.
    plain: bool,
    /// Whether the decoder inverts the samples (white is 0), which use all of their bits.
    inverted: bool,
    endianness: Endianness,
    offsets: Vec<u64>,
    sizes: Vec<u64>,
    /// Columns and rows of a strip or tile.
    chunk: [usize; 2],
}

/// Runs the decoder of another crate. Any failure of it for a broken file, also a panic, becomes an error.
fn decode<R>(path: &Path, page: usize, work: impl FnOnce() -> TiffResult<R>) -> Result<R> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(bad(path, format!("page {page}: {error}"))),
        Err(_) => Err(bad(path, format!("page {page}: is broken"))),
    }
}

impl OpenFile {
    fn new(path: &Path, file: usize, budget: &Budget) -> Result<Self> {
        let (raw, length) = open_input(path)?;
        let reader = BufReader::new(raw.try_clone().map_err(|e| io_error(path, "open", &e))?);
        let mut limits = Limits::default();
        // For directories: the decoder allocates 32 bytes for each value, and there are at most as many values as bytes. It
        // frees this memory before the next page.
        let most = length.saturating_mul(32).min(MOST_VALUES).min(budget.available());
        limits.decoding_buffer_size = usize::try_from(most).unwrap_or(usize::MAX);
        let mut directories = Directories::new(&raw, most);
        directories.check_next(path, &raw, length, 0)?;
        // Memory for strips and tiles is allocated by this module, after the sizes are checked.
        limits.intermediate_buffer_size = usize::MAX;
        let pages = decode(path, 0, || Ok(Decoder::new(reader)?.with_limits(limits)))?;
        Ok(Self { file, at: 0, behind: 0, pages, directories, raw, length })
    }

    /// Moves to the next page, if there is one.
    fn advance(&mut self, path: &Path) -> Result<bool> {
        if !self.pages.more_images() {
            return Ok(false);
        }
        let next = self.at + 1;
        self.directories.check_next(path, &self.raw, self.length, next)?;
        decode(path, next, || self.pages.next_image())?;
        self.at = next;
        Ok(true)
    }

    /// The properties of the decoder's current page.
    fn page(&mut self, path: &Path) -> Result<Page> {
        let at = self.at;
        let d = &mut self.pages;
        let ((columns, rows), colour) = decode(path, at, || Ok((d.dimensions()?, d.colortype()?)))?;
        let ColorType::Gray(bits) = colour else {
            return Err(bad(path, format!("page {at}: has pixels of the kind {colour:?}, grey ones are needed")));
        };
        let sample = decode(path, at, || Ok(d.image_chunk_buffer_layout(0)?.sample_type))?;
        let number = match sample {
            Some(DecodingSampleType::U8) => Number::U8,
            Some(DecodingSampleType::I8) => Number::I8,
            Some(DecodingSampleType::U16) => Number::U16,
            Some(DecodingSampleType::I16) => Number::I16,
            Some(DecodingSampleType::U32) => Number::U32,
            Some(DecodingSampleType::I32) => Number::I32,
            Some(DecodingSampleType::F16) => Number::F16,
            Some(DecodingSampleType::F32) => Number::F32,
            Some(DecodingSampleType::F64) => Number::F64,
            _ => return Err(bad(path, format!("page {at}: has samples of {bits} bits, which are not supported"))),
        };
        if usize::from(bits) != 8 * number.size() {
            return Err(bad(path, format!("page {at}: has samples of {bits} bits, which are not supported")));
        }
        let bytes = u64::from(columns).saturating_mul(rows.into()).saturating_mul(u64::from(bits) / 8);
        if bytes > self.length.saturating_mul(MOST_SHRINKING) {
            let length = self.length;
            return Err(bad(path, format!("page {at}: claims {columns} x {rows} pixels in a file of {length} bytes")));
        }
        let size = |n: u32| usize::try_from(n).map_err(|_| bad(path, format!("page {at}: is too large")));
        let size = [size(columns)?, size(rows)?];
        let (plain, [across, down]) = decode(path, at, || Ok((is_plain(d)?, chunk_size(d)?)))?;
        let chunk = if plain { 0 } else { across.min(size[0]) * down.min(size[1]) * number.size() };
        Ok(Page { number, size, chunk })
    }

    fn seek(&mut self, path: &Path, page: usize) -> Result<()> {
        if self.at != page {
            let d = &mut self.pages;
            decode(path, page, || d.seek_to_image(page))?;
            self.at = page;
        }
        Ok(())
    }

    /// Number of images of a file whose only directory has been read: more than one if ImageJ's description says so, and if
    /// they stand behind the one that the directory describes.
    fn images(&mut self, path: &Path, page: &Page) -> Result<usize> {
        let d = &mut self.pages;
        // A file without a description describes no stack, which is no error.
        let Ok(text) = decode(path, 0, || d.get_tag_ascii_string(Tag::ImageDescription)) else { return Ok(1) };
        let count = text.lines().find_map(|l| l.strip_prefix("images=")).map_or("", str::trim);
        if !text.starts_with(IMAGEJ) || count.bytes().any(|b| !b.is_ascii_digit()) || matches!(count, "" | "0" | "1") {
            return Ok(1);
        }
        let refuse = |problem: &str| Err(bad(path, format!("page 0: describes a stack of {count} images, {problem}")));
        if page.chunk > 0 {
            return refuse("which are compressed or in tiles, with one directory alone");
        }
        let layout = self.layout(path, page.number)?;
        let bytes = to_u64(page.size[0] * page.size[1] * page.number.size());
        let first = layout.offsets.first().copied().unwrap_or(0);
        let mut end = first;
        for (offset, size) in layout.offsets.iter().zip(&layout.sizes) {
            if *offset != end {
                return refuse("whose strips do not stand one behind the other");
            }
            end = end.saturating_add(*size);
        }
        let most = self.length.saturating_sub(first) / bytes.max(1);
        match count.parse::<u64>().ok().filter(|images| *images <= most).map(usize::try_from) {
            Some(Ok(images)) if bytes > 0 && end.saturating_sub(first) >= bytes => Ok(images.max(1)),
            _ => refuse(&format!("the file holds at most {most}")),
        }
    }

    /// The layout of the decoder's current page, whose samples are of type `number`.
    fn layout(&mut self, path: &Path, number: Number) -> Result<Layout> {
        self.directories.check_memory()?;
        let at = self.at;
        let d = &mut self.pages;
        decode(path, at, || {
            let photometric: u16 = d.find_tag_unsigned(Tag::PhotometricInterpretation)?.unwrap_or(1);
            let plain = is_plain(d)?;
            let (offsets, sizes) = if plain {
                (d.get_tag_u64_vec(Tag::StripOffsets)?, d.get_tag_u64_vec(Tag::StripByteCounts)?)
            } else {
                (Vec::new(), Vec::new())
            };
            Ok(Layout {
                plain,
                inverted: photometric == PhotometricInterpretation::WhiteIsZero.to_u16(),
                endianness: match d.byte_order() {
                    ByteOrder::LittleEndian => Endianness::Little,
                    ByteOrder::BigEndian => Endianness::Big,
                },
                offsets,
                sizes,
                chunk: chunk_size(d)?,
            })
        })
        .and_then(|layout| {
            let whole = matches!(number, Number::U8 | Number::U16 | Number::U32);
            if layout.inverted && !layout.plain && !whole {
                return Err(bad(path, format!("page {at}: has white as 0 in samples that are not unsigned")));
            }
            Ok(layout)
        })
    }
}

/// Whether samples are stored in strips that can be read without decoding.
fn is_plain(d: &mut Decoder<BufReader<File>>) -> TiffResult<bool> {
    let compression: u16 = d.find_tag_unsigned(Tag::Compression)?.unwrap_or(1);
    let predictor: u16 = d.find_tag_unsigned(Tag::Predictor)?.unwrap_or(1);
    let strips = d.get_chunk_type() == ChunkType::Strip;
    Ok(strips && compression == CompressionMethod::None.to_u16() && predictor == 1)
}

/// Columns and rows of a strip or tile.
fn chunk_size(d: &Decoder<BufReader<File>>) -> TiffResult<[usize; 2]> {
    let (across, down) = d.chunk_dimensions();
    Ok([usize::try_from(across)?.max(1), usize::try_from(down)?.max(1)])
}

impl TiffSource {
    /// [`TiffSource::open_within`] without a limit.
    ///
    /// # Errors
    /// As [`TiffSource::open_within`].
    pub fn open(paths: &[PathBuf]) -> Result<Self> {
        Self::open_within(paths, &Budget::new(0))
    }

    /// Opens files and checks all their pages. The memory for decoding is charged to `budget`.
    ///
    /// # Errors
    /// [`Error::Io`](crate::error::Error::Io) naming file and page for a file that is missing or no TIFF, and for a page
    /// that is not grey, of samples that purlin does not know, or of another size or type than the first.
    pub fn open_within(paths: &[PathBuf], budget: &Arc<Budget>) -> Result<Self> {
        let mut starts = alloc::filled("first pages", 1, 0usize)?;
        let mut stacked = alloc::with_capacity("first pages", paths.len())?;
        let mut first: Option<(Number, [usize; 2])> = None;
        let mut largest = 0;
        let mut place = (None, None);
        // Files are opened again when their pages are read, also after the process has changed its working directory.
        let mut absolute = alloc::with_capacity("paths of files", paths.len())?;
        for path in paths {
            absolute.push(std::path::absolute(path).map_err(|e| io_error(path, "open", &e))?);
        }
        for (n, path) in paths.iter().enumerate() {
            let mut file = OpenFile::new(path, n, budget)?;
            let only = file.page(path)?;
            loop {
                let Page { number, size, chunk } = if file.at == 0 { only } else { file.page(path)? };
                largest = largest.max(chunk);
                let page = (number, size);
                let (number, size) = *first.get_or_insert(page);
                if page != (number, size) {
                    let text = |p: (Number, [usize; 2])| format!("{} x {} pixels of type {:?}", p.1[0], p.1[1], p.0);
                    let (found, want) = (text(page), text((number, size)));
                    return Err(bad(path, format!("page {}: has {found}, the first page has {want}", file.at)));
                }
                if n == 0 && file.at == 0 {
                    place = read_place(path, &mut file);
                }
                if !file.advance(path)? {
                    break;
                }
            }
            let images = if file.at == 0 { file.images(path, &only)? } else { file.at + 1 };
            stacked.push(file.at == 0 && images > 1);
            starts.push(starts[n] + images);
        }
        let Some((number, [columns, rows])) = first else {
            return Err(Error::invalid("count", "is 0, at least one file is needed"));
        };
        let mut info = ArrayInfo::new(number, &[columns, rows, starts[paths.len()]])?;
        (info.spacing, info.origin) = place;
        let chunk = HostMemory::allocate("strip or tile", largest, budget)?;
        Ok(Self { info, paths: absolute, starts, stacked, open: None, chunk, budget: Arc::clone(budget) })
    }

    /// Moves to a page of the array, opening its file if another one is.
    fn page(&mut self, page: usize) -> Result<()> {
        let file = self.starts.partition_point(|s| *s <= page) - 1;
        let path = &self.paths[file];
        if self.open.as_ref().is_none_or(|o| o.file != file) {
            self.open = None;
            self.open = Some(OpenFile::new(path, file, &self.budget)?);
        }
        if let Some(open) = &mut self.open {
            let image = page - self.starts[file];
            let [width, height, _] = [0, 1, 2].map(|axis| self.info.dims[axis]);
            open.behind = if self.stacked[file] { to_u64(image * width * height * self.info.number.size()) } else { 0 };
            open.seek(path, if self.stacked[file] { 0 } else { image })?;
        }
        Ok(())
    }
}

/// Spacing and origin from ImageJ's description.
fn read_place(path: &Path, file: &mut OpenFile) -> (Option<Vec<f64>>, Option<Vec<f64>>) {
    let d = &mut file.pages;
    let read = || -> TiffResult<_> {
        let text = d.get_tag_ascii_string(Tag::ImageDescription)?;
        Ok((text, d.get_tag(Tag::XResolution)?, d.get_tag(Tag::YResolution)?))
    };
    // A file without them has no place, which is no error.
    let Ok((text, Value::Rational(xn, xd), Value::Rational(yn, yd))) = decode(path, 0, read) else {
        return (None, None);
    };
    let key = |name: &str| text.lines().find_map(|l| l.split_once('=').filter(|(k, _)| k.trim() == name)).map(|l| l.1);
    let number = |name: &str| key(name).and_then(|v| v.trim().parse::<f64>().ok());
    let unit = key("unit").map(str::trim);
    if !text.starts_with(IMAGEJ) || unit != Some("mm") {
        return (None, None);
    }
    let z = number("spacing").unwrap_or(1.0);
    let spacing = vec![f64::from(xd) / f64::from(xn), f64::from(yd) / f64::from(yn), z];
    if !spacing.iter().all(|s| s.is_finite() && *s > 0.0) {
        return (None, None);
    }
    let origin: Option<Vec<f64>> = ["xorigin", "yorigin", "zorigin"]
        .iter()
        .zip(&spacing)
        .map(|(name, s)| number(name).filter(|o| o.is_finite()).map(|o| -o * s))
        .collect();
    (Some(spacing), origin)
}

impl Source for TiffSource {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        block.check(&self.info)?;
        let (first, count) = (block.first(), block.count());
        let size = self.info.number.size();
        let bytes = count[0] * count[1] * size;
        if bytes == 0 {
            return Ok(());
        }
        let window = Window {
            number: self.info.number,
            width: self.info.dims[0],
            height: self.info.dims[1],
            columns: first[0]..first[0] + count[0],
            rows: first[1]..first[1] + count[1],
        };
        for (n, out) in out[..bytes * count[2]].chunks_exact_mut(bytes).enumerate() {
            self.page(first[2] + n)?;
            let Some(open) = &mut self.open else { continue };
            let path = &self.paths[open.file];
            file_fault(path, "read")?;
            let layout = open.layout(path, self.info.number)?;
            if open.behind > 0 && !layout.plain {
                return Err(bad(path, "page 0: is stored in another way than when it was opened".into()));
            }
            if layout.plain {
                window.read_plain(open, path, &layout, out)?;
            } else if let Err(error) = window.read_chunks(open, path, &layout, self.chunk.as_mut_slice()?, out) {
                // After a failure the decoder may stand anywhere.
                self.open = None;
                return Err(error);
            }
        }
        Ok(())
    }

    fn is_from_file(&self, file: FileNumber) -> bool {
        // Files are opened again as their pages are read, so the names count.
        self.paths.iter().any(|path| FileNumber::at(path) == Some(file))
    }
}

/// A part of a page.
struct Window {
    number: Number,
    width: usize,
    height: usize,
    columns: Range<usize>,
    rows: Range<usize>,
}

impl Window {
    /// Reads rows as they stand in the file.
    fn read_plain(&self, open: &OpenFile, path: &Path, layout: &Layout, out: &mut [u8]) -> Result<()> {
        let size = self.number.size();
        let row_bytes = self.columns.len() * size;
        let per_strip = layout.chunk[1].min(self.height);
        let at = open.at;
        let mut row = self.rows.start;
        let mut rest = &mut *out;
        while row < self.rows.end {
            let (strip, within) = (row / per_strip, row % per_strip);
            // Rows that are taken whole are read together.
            let whole = self.columns.len() == self.width;
            let count = if whole { (per_strip - within).min(self.rows.end - row) } else { 1 };
            let place = (within * self.width + self.columns.start) * size;
            let end = to_u64(place + count * row_bytes);
            let (Some(offset), Some(stored)) = (layout.offsets.get(strip), layout.sizes.get(strip)) else {
                return Err(bad(path, format!("page {at}: has no strip {strip}")));
            };
            if end > *stored {
                return Err(bad(path, format!("page {at}: strip {strip} has {stored} bytes, {end} are needed")));
            }
            let (part, behind) = rest.split_at_mut(count * row_bytes);
            let from = offset.saturating_add(to_u64(place)).saturating_add(open.behind);
            let needed = from.saturating_add(to_u64(part.len()));
            let failed = |e| read_error(path, &format!("page {at}: read"), &open.raw, needed, &e);
            open.raw.read_exact_at(part, from).map_err(failed)?;
            rest = behind;
            row += count;
        }
        layout.endianness.swap_to_native(self.number, out);
        Ok(())
    }

    /// Decodes the strips or tiles that the window touches, one after the other.
    fn read_chunks(
        &self,
        open: &mut OpenFile,
        path: &Path,
        layout: &Layout,
        chunk: &mut [u8],
        out: &mut [u8],
    ) -> Result<()> {
        let size = self.number.size();
        let [across, down] = layout.chunk;
        let row_bytes = self.columns.len() * size;
        for y in self.rows.start / down..=(self.rows.end - 1) / down {
            for x in self.columns.start / across..=(self.columns.end - 1) / across {
                let index = y * self.width.div_ceil(across) + x;
                // The last strips or tiles of a row and of a column are cut off at the edge of the page.
                let left = [x * across, y * down];
                let [columns, rows] = [across.min(self.width - left[0]), down.min(self.height - left[1])];
                let bytes = columns * rows * size;
                let (at, pages) = (open.at, &mut open.pages);
                let changed = || bad(path, format!("page {at}: has larger strips or tiles than when it was opened"));
                let part = chunk.get_mut(..bytes).ok_or_else(changed)?;
                decode(path, at, || pages.read_chunk_bytes(u32::try_from(index)?, part))?;
                if layout.inverted {
                    part.iter_mut().for_each(|b| *b = !*b);
                }
                let from = self.columns.start.max(left[0])..self.columns.end.min(left[0] + columns);
                for row in self.rows.start.max(left[1])..self.rows.end.min(left[1] + rows) {
                    let source = ((row - left[1]) * columns + from.start - left[0]) * size;
                    let target = (row - self.rows.start) * row_bytes + (from.start - self.columns.start) * size;
                    let length = from.len() * size;
                    out[target..target + length].copy_from_slice(&part[source..source + length]);
                }
            }
        }
        Ok(())
    }
}
