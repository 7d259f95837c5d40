//! Where blocks go: host arrays, files, callers' functions.
//!
//! A file is written beside its final name and renamed when all is well, so that a run that fails, is cancelled or is
//! killed leaves nothing under that name.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::array::{ArrayInfo, Block};
use super::number::Endianness;
use super::source::{file_fault, io_error};
use crate::alloc;
use crate::error::{Error, Result};

/// An array that is written in blocks.
pub trait Sink: Send {
    /// Type and sizes.
    fn info(&self) -> &ArrayInfo;

    /// Writes a block from `data`, packed with the first axis fastest, in the machine's byte order.
    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()>;

    /// Makes what was written final. A sink that is dropped without this leaves nothing behind.
    fn finish(&mut self) -> Result<()>;
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
}

/// Elements in host memory, packed.
pub struct HostSink<'a> {
    info: ArrayInfo,
    data: &'a mut [u8],
}

impl<'a> HostSink<'a> {
    /// The array over `data`, which must have room for all its elements.
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

/// A file under a provisional name.
#[derive(Debug)]
pub struct ProvisionalFile {
    file: File,
    partial: PathBuf,
    path: PathBuf,
    finished: bool,
    process: u32,
}

impl ProvisionalFile {
    /// Creates the file beside `path`.
    pub fn create(path: &Path) -> Result<Self> {
        let mut name = path
            .file_name()
            .map(ToOwned::to_owned)
            .ok_or_else(|| Error::Io { path: path.display().to_string(), problem: "is not a file's name".into() })?;
        // Neither two processes nor two sinks of one may meet in one provisional file.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        name.push(format!(".{}-{}.partial", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let partial = path.with_file_name(name);
        file_fault(path, "create")?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&partial)
            .map_err(|e| io_error(&partial, "create", &e))?;
        Ok(Self { file, partial, path: path.to_owned(), finished: false, process: std::process::id() })
    }

    /// Writes at a byte of the file.
    pub fn write_at(&self, data: &[u8], place: u64) -> Result<()> {
        file_fault(&self.path, "write")?;
        self.file.write_all_at(data, place).map_err(|e| io_error(&self.partial, "write", &e))
    }

    /// Gives the file its name.
    pub fn finish(&mut self) -> Result<()> {
        file_fault(&self.path, "rename")?;
        self.file.sync_data().map_err(|e| io_error(&self.partial, "write out", &e))?;
        std::fs::rename(&self.partial, &self.path).map_err(|e| io_error(&self.path, "rename", &e))?;
        self.finished = true;
        Ok(())
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for ProvisionalFile {
    fn drop(&mut self) {
        // A child of fork() that drops its copy leaves the parent's file alone.
        if !self.finished && self.process == std::process::id() {
            // Nothing more can be done about a file that cannot be removed.
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}

/// A file that will hold an array's elements from some byte on.
pub struct FileSink {
    info: ArrayInfo,
    file: ProvisionalFile,
    offset: u64,
    endianness: Endianness,
    swapped: Vec<u8>,
}

impl FileSink {
    /// A file whose elements begin behind `header`.
    pub fn create(path: &Path, header: &[u8], endianness: Endianness, info: ArrayInfo) -> Result<Self> {
        let sink = Self::create_at(path, crate::shape::to_u64(header.len()), endianness, info)?;
        sink.file.write_at(header, 0)?;
        Ok(sink)
    }

    /// A file whose elements begin at byte `offset`, behind zeros.
    pub fn create_at(path: &Path, offset: u64, endianness: Endianness, info: ArrayInfo) -> Result<Self> {
        let file = ProvisionalFile::create(path)?;
        // A sparse file of the full size now: a disk without room for it should say so before the work, where it can.
        let size = offset.saturating_add(crate::shape::to_u64(info.bytes()));
        file.file().set_len(size).map_err(|e| io_error(path, "set the size", &e))?;
        Ok(Self { info, file, offset, endianness, swapped: Vec::new() })
    }
}

impl Sink for FileSink {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()> {
        block.check(&self.info)?;
        let size = self.info.number.size();
        let data = &data[..block.elements() * size];
        let data = if self.endianness == Endianness::NATIVE {
            data
        } else {
            self.swapped = alloc::copied("bytes in a file's order", data)?;
            self.endianness.swap_to_native(self.info.number, &mut self.swapped);
            &self.swapped
        };
        block.for_runs(&self.info.dims, |to, from, length| {
            let place = self.offset + crate::shape::to_u64(to * size);
            self.file.write_at(&data[from * size..(from + length) * size], place)
        })
    }

    fn finish(&mut self) -> Result<()> {
        self.file.finish()
    }
}

/// A caller's function: takes a packed block. Its error ends the run.
pub type WriteFn<'a> = Box<dyn FnMut(&Block, &[u8]) -> Result<()> + Send + 'a>;

/// An array that a caller's function takes.
pub struct CallbackSink<'a> {
    info: ArrayInfo,
    write: WriteFn<'a>,
}

impl<'a> CallbackSink<'a> {
    /// The array that `write` takes.
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
