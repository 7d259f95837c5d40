//! Sources of blocks: host arrays, raw files, callers' functions.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::array::{ArrayInfo, Block};
pub use super::failure::{file_fault, io_error, read_error};
use super::number::Endianness;
use super::read_ahead::ReadAhead;
use super::regular::{FileNumber, open_input};
use crate::error::{Error, Result};

/// An array that is read in blocks.
pub trait Source: Send {
    /// Element type and axes of the array.
    fn info(&self) -> &ArrayInfo;

    /// Reads a block into `out`, packed with the first axis fastest, in the machine's byte order.
    ///
    /// # Errors
    /// [`Error::Io`] naming the file, or the error of a caller's function.
    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()>;

    /// Whether the array, or a header that describes it, is in this file.
    fn is_from_file(&self, _file: FileNumber) -> bool {
        false
    }

    /// Address and bytes of the elements in host memory; `None` for other sources.
    fn host_range(&self) -> Option<(u64, usize)> {
        None
    }
}

impl<S: Source + ?Sized> Source for &mut S {
    fn info(&self) -> &ArrayInfo {
        (**self).info()
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        (**self).read(block, out)
    }

    fn is_from_file(&self, file: FileNumber) -> bool {
        (**self).is_from_file(file)
    }

    fn host_range(&self) -> Option<(u64, usize)> {
        (**self).host_range()
    }
}

/// Elements in host memory, packed.
pub struct HostSource<'a> {
    info: ArrayInfo,
    data: &'a [u8],
}

impl<'a> HostSource<'a> {
    /// The array over `data`, which must hold all its elements.
    ///
    /// # Errors
    /// [`Error::Internal`] if `data` is shorter.
    pub fn new(info: ArrayInfo, data: &'a [u8]) -> Result<Self> {
        if data.len() < info.bytes() {
            return Err(Error::Internal(format!("{} bytes for an array of {}", data.len(), info.bytes())));
        }
        Ok(Self { info, data })
    }
}

impl Source for HostSource<'_> {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        block.check(&self.info)?;
        let size = self.info.number.size();
        block.for_runs(&self.info.dims, |from, to, length| {
            out[to * size..(to + length) * size].copy_from_slice(&self.data[from * size..(from + length) * size]);
            Ok(())
        })
    }
}

/// A file that holds an array's elements from some byte on.
pub struct FileSource {
    info: ArrayInfo,
    path: PathBuf,
    file: File,
    ahead: ReadAhead,
    offset: u64,
    endianness: Endianness,
}

impl FileSource {
    /// Opens `path`; the elements begin at byte `offset`.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be opened or is too short; both sizes are named.
    pub fn open(path: &Path, offset: u64, endianness: Endianness, info: ArrayInfo) -> Result<Self> {
        let (file, length) = open_input(path)?;
        let needed = crate::shape::to_u64(info.bytes()).saturating_add(offset);
        if length < needed {
            let problem = format!("has {length} bytes, {needed} are needed for {:?} {:?}", info.dims, info.number);
            return Err(Error::Io { path: path.display().to_string(), problem });
        }
        let ahead = ReadAhead::default();
        Ok(Self { info, path: path.to_owned(), file, ahead, offset, endianness })
    }
}

impl Source for FileSource {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        block.check(&self.info)?;
        let size = self.info.number.size();
        let needed = self.offset + crate::shape::to_u64(self.info.bytes());
        self.ahead.forget();
        block.for_runs(&self.info.dims, |from, to, length| {
            file_fault(&self.path, "read")?;
            let place = self.offset + crate::shape::to_u64(from * size);
            self.ahead
                .read(&self.file, &mut out[to * size..(to + length) * size], place)
                .map_err(|e| read_error(&self.path, "read", &self.file, needed, &e))
        })?;
        self.endianness.swap_to_native(self.info.number, &mut out[..block.elements() * size]);
        Ok(())
    }

    fn is_from_file(&self, file: FileNumber) -> bool {
        self.file.metadata().is_ok_and(|found| FileNumber::of(&found) == file)
    }
}

/// A caller's function: fills the packed block. Its error ends the run.
pub type ReadFn<'a> = Box<dyn FnMut(&Block, &mut [u8]) -> Result<()> + Send + 'a>;

/// An array that a caller's function reads.
pub struct CallbackSource<'a> {
    info: ArrayInfo,
    read: ReadFn<'a>,
}

impl<'a> CallbackSource<'a> {
    /// The array that `read` reads.
    pub fn new(info: ArrayInfo, read: ReadFn<'a>) -> Self {
        Self { info, read }
    }
}

impl Source for CallbackSource<'_> {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        block.check(&self.info)?;
        (self.read)(block, &mut out[..block.elements() * self.info.number.size()])
    }
}

#[cfg(test)]
mod tests {
    use super::super::number::{Number, decode};
    use super::*;

    #[test]
    fn a_file_reads_as_it_lies_and_a_short_one_is_refused() {
        let path = std::env::temp_dir().join(format!("purlin-file-{}", std::process::id()));
        let mut bytes = vec![0x55u8; 7];
        bytes.extend((0..12i16).flat_map(i16::to_be_bytes));
        std::fs::write(&path, &bytes).unwrap();
        let info = ArrayInfo::new(Number::I16, &[4, 3]).unwrap();
        let mut source = FileSource::open(&path, 7, Endianness::Big, info.clone()).unwrap();
        let block = Block::whole(&info).along(0, 1, 2).along(1, 1, 2);
        let (mut out, mut values) = ([0u8; 8], [0f64; 4]);
        source.read(&block, &mut out).unwrap();
        decode(Number::I16, &out, &mut values);
        assert_eq!(values, [5.0, 6.0, 9.0, 10.0]);

        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(20).unwrap();
        let e = source.read(&block, &mut out).unwrap_err();
        assert!(e.to_string().ends_with("read: has 20 bytes, 31 are needed"), "{e}");
        let e = FileSource::open(&path, 0, Endianness::Big, info).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains("has 20 bytes, 24 are needed"), "{e}");
        let empty = ArrayInfo::new(Number::I16, &[0, 3]).unwrap();
        let mut source = FileSource::open(&path, 20, Endianness::Big, empty.clone()).unwrap();
        source.read(&Block::whole(&empty), &mut []).unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}
