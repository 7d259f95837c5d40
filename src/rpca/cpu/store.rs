//! An array with as many rows as the matrix, in host memory or in an unnamed file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::backend::memory::{Budget, HostMemory};
use crate::backend::signals::without_size_signal;
use crate::blocks::regular::create_unnamed;
use crate::blocks::source::{file_fault, io_error};
use crate::error::Result;
use crate::scalar::Element;
use crate::shape::{product, to_u64};

/// An array of elements of one type, initially zero.
pub(super) enum Store {
    /// In host memory, charged to the context's budget.
    Memory(HostMemory),
    /// In a temporary file without a name.
    File(Scratch),
}

impl Store {
    /// In memory if the budget allows it.
    pub(super) fn memory<T: Element>(what: &'static str, elements: usize, budget: &Arc<Budget>) -> Result<Self> {
        let bytes = product(what, elements, size_of::<T>())?;
        Ok(Self::Memory(HostMemory::allocate(what, bytes, budget)?))
    }

    /// An array of zeros in a temporary file.
    pub(super) fn file<T: Element>(what: &'static str, elements: usize) -> Result<Self> {
        Ok(Self::File(Scratch::create(to_u64(product(what, elements, size_of::<T>())?))?))
    }

    /// `count` elements from `first` on: a slice of the memory, or `buffer` filled from the file.
    pub(super) fn load<'a, T: Element>(
        &'a mut self,
        first: usize,
        count: usize,
        buffer: &'a mut HostMemory,
    ) -> Result<&'a mut [T]> {
        match self {
            Self::Memory(memory) => Ok(&mut memory.as_mut_slice()?[first..first + count]),
            Self::File(file) => {
                file.read(first * size_of::<T>(), &mut buffer.as_mut_slice::<u8>()?[..count * size_of::<T>()])?;
                Ok(&mut buffer.as_mut_slice()?[..count])
            }
        }
    }

    /// Writes the elements that [`Store::load`] returned back to the file. Does nothing for memory.
    pub(super) fn save<T: Element>(&mut self, first: usize, count: usize, buffer: &HostMemory) -> Result<()> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::File(file) => file.write(first * size_of::<T>(), &buffer.as_slice::<u8>()?[..count * size_of::<T>()]),
        }
    }
}

/// A file that no other process can open, and that is freed when this process ends.
pub(super) struct Scratch {
    file: File,
    path: PathBuf,
}

impl Scratch {
    fn create(bytes: u64) -> Result<Self> {
        let folder = std::env::temp_dir();
        file_fault(&folder, "create")?;
        let stem = std::ffi::OsStr::new("purlin-rpca");
        // Only this process may read the file: its mode excludes others, and its name is removed at once.
        let (file, path) = create_unnamed(&folder, stem, 0o600).map_err(|e| io_error(&folder, "create", &e))?;
        std::fs::remove_file(&path).map_err(|e| io_error(&path, "remove", &e))?;
        file_fault(&path, "set the size")?;
        // A sparse file of zeros, which occupies no disk space until it is written.
        without_size_signal(|| file.set_len(bytes)).map_err(|e| io_error(&path, "size", &e))?;
        Ok(Self { file, path })
    }

    fn read(&self, offset: usize, out: &mut [u8]) -> Result<()> {
        file_fault(&self.path, "read")?;
        self.file.read_exact_at(out, to_u64(offset)).map_err(|e| io_error(&self.path, "read", &e))
    }

    fn write(&self, offset: usize, data: &[u8]) -> Result<()> {
        file_fault(&self.path, "write")?;
        without_size_signal(|| self.file.write_all_at(data, to_u64(offset)))
            .map_err(|e| io_error(&self.path, "write", &e))
    }
}
