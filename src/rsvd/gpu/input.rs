//! Location and layout of the data, and their copies into page-locked memory.

use std::sync::Mutex;

use super::cut::Span;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::{DeviceMemory, Rows};
use crate::backend::memory::Memory;
use crate::blocks::array::Block as Box;
use crate::blocks::source::Source;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::Order;

/// Dense data: lines of contiguous entries, which are rows or columns.
pub(super) struct Input<'a> {
    pub(super) columns: usize,
    /// Type of the entries in the data.
    pub(super) dtype: DType,
    /// Whether rows are contiguous; else columns are.
    pub(super) row_major: bool,
    pub(super) place: DataLocation<'a>,
}

/// Where the data are, and the distance of their lines.
pub(super) enum DataLocation<'a> {
    /// In host memory; elements from one line to the next.
    Host(&'a [u8], usize),
    /// On the first device; elements from one line to the next.
    Device(&'a DeviceMemory, usize),
    /// In a source, which one reader uses at a time.
    Source(Mutex<&'a mut (dyn Source + 'a)>),
}

impl<'a> Input<'a> {
    /// The data of a matrix in host or device memory.
    pub(super) fn dense(
        columns: usize,
        memory: &'a Memory,
        dtype: DType,
        (row_stride, column_stride): (usize, usize),
    ) -> Result<Self> {
        if row_stride != 1 && column_stride != 1 {
            return Err(Error::NotSupported(format!(
                "a: strides {row_stride} and {column_stride}, one of which has to be 1 on a GPU"
            )));
        }
        let row_major = column_stride == 1;
        let stride = if row_major { row_stride } else { column_stride };
        let place = match memory {
            Memory::Host(memory) => DataLocation::Host(memory.as_slice::<u8>()?, stride),
            Memory::Device(memory) => DataLocation::Device(memory, stride),
        };
        Ok(Self { columns, dtype, row_major, place })
    }

    /// A matrix that is read in blocks.
    pub(super) fn source(
        (rows, columns): (usize, usize),
        source: &'a mut (dyn Source + 'a),
        order: Order,
    ) -> Result<Self> {
        let row_major = order == Order::RowMajor;
        source.info().expect_dims("a", &if row_major { [columns, rows] } else { [rows, columns] })?;
        let dtype = source.info().number.dtype();
        Ok(Self { columns, dtype, row_major, place: DataLocation::Source(Mutex::new(source)) })
    }

    /// Bytes of `rows` rows, packed.
    pub(super) fn bytes(&self, rows: usize) -> usize {
        rows * self.columns * self.dtype.size()
    }

    /// Elements of a line, and the number of lines, of `rows` rows.
    pub(super) fn lines(&self, rows: usize) -> (usize, usize) {
        if self.row_major { (self.columns, rows) } else { (rows, self.columns) }
    }

    /// The bytes of rows in memory whose lines are `stride` elements apart.
    pub(super) fn stretches(&self, span: Span, stride: usize) -> Rows {
        let size = self.dtype.size();
        let (inner, outer) = self.lines(span.rows);
        let offset = size * if self.row_major { span.first * stride } else { span.first };
        if inner == stride || outer <= 1 {
            // Without gaps one copy suffices.
            let width = inner * outer * size;
            return Rows { offset, pitch: width, width, count: 1 };
        }
        Rows { offset, pitch: stride * size, width: inner * size, count: outer }
    }

    /// Reads rows, packed, from a source.
    pub(super) fn read(source: &mut dyn Source, row_major: bool, span: Span, out: &mut [u8]) -> Result<()> {
        let axis = usize::from(row_major);
        let block = Box::whole(source.info()).along(axis, span.first, span.rows);
        source.read(&block, out)
    }
}

/// Packs the bytes from the `from`-th on of some rows in host memory into `out`; runs on the calling pool's threads.
pub(super) fn pack(source: &[u8], rows: Rows, from: usize, out: &mut [u8]) {
    const PIECE: usize = 256 << 10;
    out.par_chunks_mut(PIECE).enumerate().for_each(|(k, mut out)| {
        let mut at = from + k * PIECE;
        while !out.is_empty() {
            let (line, within) = (at / rows.width, at % rows.width);
            let length = (rows.width - within).min(out.len());
            let begin = rows.offset + line * rows.pitch + within;
            let (head, rest) = out.split_at_mut(length);
            head.copy_from_slice(&source[begin..begin + length]);
            (out, at) = (rest, at + length);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_packed_from_any_byte_on() {
        let source: Vec<u8> = (0..200).collect();
        let rows = Rows { offset: 3, pitch: 20, width: 7, count: 8 };
        let whole: Vec<u8> = (0..8).flat_map(|r| source[3 + 20 * r..10 + 20 * r].to_vec()).collect();
        for from in 0..56 {
            let mut out = vec![0; 56 - from];
            pack(&source, rows, from, &mut out);
            assert_eq!(out, whole[from..], "{from}");
        }
    }

    #[test]
    fn stretches_are_those_of_the_order() {
        let data = [0u8; 0];
        let input = |row_major| Input { columns: 4, dtype: DType::F32, row_major, place: DataLocation::Host(&data, 0) };
        let span = Span { first: 2, rows: 3 };
        assert_eq!(input(true).stretches(span, 4), Rows { offset: 32, pitch: 48, width: 48, count: 1 });
        assert_eq!(input(true).stretches(span, 5), Rows { offset: 40, pitch: 20, width: 16, count: 3 });
        assert_eq!(input(false).stretches(span, 10), Rows { offset: 8, pitch: 40, width: 12, count: 4 });
        let all = Span { first: 0, rows: 10 };
        assert_eq!(input(false).stretches(all, 10), Rows { offset: 0, pitch: 160, width: 160, count: 1 });
    }
}
