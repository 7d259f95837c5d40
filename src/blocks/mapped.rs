//! Files that are read through the system's memory mapping.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::array::{ArrayInfo, Block};
use super::number::Endianness;
use super::regular::open_input;
use super::source::{Source, file_fault, io_error};
use crate::backend::mapping::Mapping;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// A file that holds an array's elements from some byte on, mapped into memory: pages that the system still has from an
/// earlier pass are not read again.
pub struct MappedSource {
    info: ArrayInfo,
    path: PathBuf,
    file: File,
    mapping: Mapping,
    offset: usize,
    endianness: Endianness,
}

impl MappedSource {
    /// Opens `path`; the elements begin at byte `offset`.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be opened or mapped, or is too short; both sizes are named.
    pub fn open(path: &Path, offset: u64, endianness: Endianness, info: ArrayInfo) -> Result<Self> {
        let (file, _) = open_input(path)?;
        let needed = to_u64(info.bytes()).saturating_add(offset);
        let length = check_length(path, &file, needed, &info)?;
        let bytes = usize::try_from(needed).ok().filter(|n| isize::try_from(*n).is_ok()).ok_or_else(|| Error::Io {
            path: path.display().to_string(),
            problem: format!("has {length} bytes, more than memory has addresses for"),
        })?;
        file_fault(path, "map")?;
        let mapping = Mapping::new(&file, bytes).map_err(|e| io_error(path, "map", &e))?;
        let offset = bytes - info.bytes();
        Ok(Self { info, path: path.to_owned(), file, mapping, offset, endianness })
    }
}

/// The file's length, which is at least `needed`.
fn check_length(path: &Path, file: &File, needed: u64, info: &ArrayInfo) -> Result<u64> {
    let length = file.metadata().map_err(|e| io_error(path, "size", &e))?.len();
    if length < needed {
        let problem = format!("has {length} bytes, {needed} are needed for {:?} {:?}", info.dims, info.number);
        return Err(Error::Io { path: path.display().to_string(), problem });
    }
    Ok(length)
}

impl Source for MappedSource {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        block.check(&self.info)?;
        // A file that was cut short since would end the process; this finds all but a cut during the copy.
        file_fault(&self.path, "read")?;
        check_length(&self.path, &self.file, to_u64(self.offset + self.info.bytes()), &self.info)?;
        let size = self.info.number.size();
        block.for_runs(&self.info.dims, |from, to, length| {
            let part = &mut out[to * size..(to + length) * size];
            match self.mapping.read(self.offset + from * size, part) {
                true => Ok(()),
                false => Err(Error::Internal("a block outside of a mapped file".into())),
            }
        })?;
        self.endianness.swap_to_native(self.info.number, &mut out[..block.elements() * size]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::number::{Number, decode};
    use super::*;

    #[test]
    fn a_mapped_file_reads_as_it_lies_and_a_short_one_is_refused() {
        let path = std::env::temp_dir().join(format!("purlin-mapped-{}", std::process::id()));
        let mut bytes = vec![0x55u8; 7];
        bytes.extend((0..12i16).flat_map(i16::to_be_bytes));
        std::fs::write(&path, &bytes).unwrap();
        let info = ArrayInfo::new(Number::I16, &[4, 3]).unwrap();
        let mut source = MappedSource::open(&path, 7, Endianness::Big, info.clone()).unwrap();
        let block = Block::whole(&info).along(0, 1, 2).along(1, 1, 2);
        let (mut out, mut values) = ([0u8; 8], [0f64; 4]);
        source.read(&block, &mut out).unwrap();
        decode(Number::I16, &out, &mut values);
        assert_eq!(values, [5.0, 6.0, 9.0, 10.0]);

        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(20).unwrap();
        let e = source.read(&block, &mut out).unwrap_err().to_string();
        assert!(e.contains("has 20 bytes, 31 are needed"), "{e}");
        let e = MappedSource::open(&path, 0, Endianness::Big, info).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains("has 20 bytes, 24 are needed"), "{e}");
        let empty = ArrayInfo::new(Number::I16, &[0, 3]).unwrap();
        let mut source = MappedSource::open(&path, 20, Endianness::Big, empty.clone()).unwrap();
        source.read(&Block::whole(&empty), &mut []).unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}
