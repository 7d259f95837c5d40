//! Sinks of blocks: host arrays, files, callers' functions.
//!
//! Files are written through [`super::provisional`]: a run that fails, is cancelled or is killed does not change an existing
//! file of that name.

use std::path::{Path, PathBuf};

use super::array::{ArrayInfo, Block};
use super::number::Endianness;
use super::provisional::ProvisionalFile;
use crate::alloc;
use crate::error::{Error, Result};

/// An array that is written in blocks.
pub trait Sink: Send {
    /// Element type and axes of the array.
    fn info(&self) -> &ArrayInfo;

    /// Writes a block from `data`, packed with the first axis fastest, in the machine's byte order.
    ///
    /// # Errors
    /// [`Error::Internal`] for a block outside of the array; [`Error::Io`]; errors of the caller's function.
    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()>;

    /// Makes the written array final. A sink that is dropped before this leaves no output.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn finish(&mut self) -> Result<()>;

    /// Sets the spacing and the origin, in mm, one number an axis, before the first block. Formats that can store them
    /// do so, unless the creator of the sink gave other values.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn place(&mut self, _spacing: &[f64], _origin: &[f64]) -> Result<()> {
        Ok(())
    }

    /// The files that finishing creates or replaces, with links followed; none for other sinks.
    fn files(&self) -> [Option<PathBuf>; 2] {
        [None, None]
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn info(&self) -> &ArrayInfo {
        (**self).info()
    }

    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()> {
        (**self).write(block, data)
    }

    fn finish(&mut self) -> Result<()> {
        (**self).finish()
    }

    fn place(&mut self, spacing: &[f64], origin: &[f64]) -> Result<()> {
        (**self).place(spacing, origin)
    }

    fn files(&self) -> [Option<PathBuf>; 2] {
        (**self).files()
    }
}

/// Elements in host memory, packed.
pub struct HostSink<'a> {
    info: ArrayInfo,
    data: &'a mut [u8],
}

impl<'a> HostSink<'a> {
    /// The array over `data`, which must have at least the bytes of all elements.
    ///
    /// # Errors
    /// [`Error::Internal`] if `data` is shorter.
    pub fn new(info: ArrayInfo, data: &'a mut [u8]) -> Result<Self> {
        if data.len() < info.bytes() {
            return Err(Error::Internal(format!("{} bytes for an array of {}", data.len(), info.bytes())));
        }
        Ok(Self { info, data })
    }
}

impl Sink for HostSink<'_> {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()> {
        block.check(&self.info)?;
        let size = self.info.number.size();
        block.for_runs(&self.info.dims, |to, from, length| {
            self.data[to * size..(to + length) * size].copy_from_slice(&data[from * size..(from + length) * size]);
            Ok(())
        })
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A file to which an array's elements are written, from some byte on.
pub struct FileSink {
    info: ArrayInfo,
    file: ProvisionalFile,
    offset: u64,
    endianness: Endianness,
    /// A piece of a block in the file's byte order; empty if that is the machine's.
    swapped: Vec<u8>,
}

/// Number of elements that are converted to the file's byte order at a time.
const SWAPPED: usize = 1 << 14;

impl FileSink {
    /// A file whose elements begin behind `header`.
    ///
    /// # Errors
    /// As [`FileSink::create_at`].
    pub fn create(path: &Path, header: &[u8], endianness: Endianness, info: ArrayInfo) -> Result<Self> {
        let sink = Self::create_at(path, crate::shape::to_u64(header.len()), endianness, info)?;
        sink.file.write_at(header, 0)?;
        Ok(sink)
    }

    /// Replaces the header by another, which must not be shorter, before any element is written.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn replace_header(&mut self, header: &[u8]) -> Result<()> {
        self.offset = crate::shape::to_u64(header.len());
        self.file.write_at(header, 0)
    }

    /// A file whose elements begin at byte `offset`, behind zeros.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a file of more than 2^63 - 1 bytes; as [`ProvisionalFile::create`];
    /// [`Error::OutOfMemory`].
    pub fn create_at(path: &Path, offset: u64, endianness: Endianness, info: ArrayInfo) -> Result<Self> {
        // Sizes of files are signed numbers of 64 bits.
        let bytes = crate::shape::to_u64(info.bytes());
        let most = u64::MAX / 2 - bytes;
        if offset > most {
            return Err(Error::invalid("offset", format!("is {offset}, at most 2^63 - 1 - {bytes} bytes = {most}")));
        }
        let file = ProvisionalFile::create(path)?;
        // The file gets its full size now, as a sparse file, so that a full disk is reported before the work if possible.
        let size = offset + bytes;
        file.set_size(size)?;
        let bytes = if endianness == Endianness::NATIVE { 0 } else { SWAPPED * info.number.size() };
        let swapped = alloc::filled("bytes in a file's order", bytes, 0u8)?;
        Ok(Self { info, file, offset, endianness, swapped })
    }

    /// [`ProvisionalFile::has_name`].
    pub(super) fn has_name(&self) -> bool {
        self.file.has_name()
    }

    /// [`Sink::finish`] for a name that no file has.
    ///
    /// # Errors
    /// As [`Sink::finish`], and if a file of this name was created meanwhile.
    pub(super) fn finish_new(&mut self) -> Result<()> {
        self.file.finish_new()
    }
}

impl Sink for FileSink {
    fn files(&self) -> [Option<PathBuf>; 2] {
        [Some(self.file.destination()), None]
    }

    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()> {
        block.check(&self.info)?;
        let size = self.info.number.size();
        let data = &data[..block.elements() * size];
        block.for_runs(&self.info.dims, |to, from, length| {
            let place = self.offset + crate::shape::to_u64(to * size);
            let run = &data[from * size..(from + length) * size];
            if self.swapped.is_empty() {
                return self.file.write_at(run, place);
            }
            let mut place = place;
            for piece in run.chunks(self.swapped.len()) {
                let swapped = &mut self.swapped[..piece.len()];
                swapped.copy_from_slice(piece);
                self.endianness.swap_to_native(self.info.number, swapped);
                self.file.write_at(swapped, place)?;
                place += crate::shape::to_u64(piece.len());
            }
            Ok(())
        })
    }

    fn finish(&mut self) -> Result<()> {
        self.file.finish()
    }
}

/// A caller's function that receives a packed block. Its error ends the run.
pub type WriteFn<'a> = Box<dyn FnMut(&Block, &[u8]) -> Result<()> + Send + 'a>;

/// An array whose blocks a caller's function receives.
pub struct CallbackSink<'a> {
    info: ArrayInfo,
    write: WriteFn<'a>,
}

impl<'a> CallbackSink<'a> {
    /// The array whose blocks `write` receives.
    pub fn new(info: ArrayInfo, write: WriteFn<'a>) -> Self {
        Self { info, write }
    }
}

impl Sink for CallbackSink<'_> {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()> {
        block.check(&self.info)?;
        (self.write)(block, &data[..block.elements() * self.info.number.size()])
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
