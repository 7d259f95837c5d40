//! Reads the matrix in blocks of rows, oriented so that its longer axis is the rows.

use std::sync::{Arc, Mutex};

use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::memory::Memory;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::{Number, decode};
use crate::blocks::source::Source;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar};
use crate::shape::Order;

/// A source that one device reads at a time.
type Shared<'a> = Arc<Mutex<&'a mut (dyn Source + 'a)>>;

/// Where the entries of the rows from `first` on lie.
pub enum Entries<'a> {
    /// In memory: entry (i, j) of the whole is element `i * row_stride + j * column_stride`. One stride is 1.
    Memory {
        /// The memory, which begins with entry (0, 0).
        memory: &'a Memory,
        /// Type of the entries in memory.
        dtype: DType,
        /// First row of these entries in the whole matrix.
        first: usize,
        /// Elements from one row to the next.
        row_stride: usize,
        /// Elements from one column to the next.
        column_stride: usize,
    },
    /// Read in blocks: a source of [rows, columns] (`ColumnMajor`) or [columns, rows] (`RowMajor`).
    Streamed {
        /// The source, which one device reads at a time.
        source: Shared<'a>,
        /// Type and sizes of the source.
        info: ArrayInfo,
        /// First row of these entries in the whole matrix.
        first: usize,
        /// Whether a column or a row is contiguous.
        order: Order,
    },
}

impl<'a> Entries<'a> {
    /// All entries of a source.
    pub fn streamed(source: &'a mut (dyn Source + 'a), order: Order) -> Self {
        let info = source.info().clone();
        Self::Streamed { source: Arc::new(Mutex::new(source)), info, first: 0, order }
    }

    /// The rows from `row` on.
    #[must_use]
    pub fn from_row(&self, row: usize) -> Self {
        match self {
            Self::Memory { memory, dtype, first, row_stride, column_stride } => {
                let (dtype, row_stride, column_stride) = (*dtype, *row_stride, *column_stride);
                Self::Memory { memory, dtype, first: first + row, row_stride, column_stride }
            }
            Self::Streamed { source, info, first, order } => {
                let (source, info) = (Arc::clone(source), info.clone());
                Self::Streamed { source, info, first: first + row, order: *order }
            }
        }
    }

    /// Whether a row is contiguous; else a column is.
    pub fn is_by_rows(&self) -> bool {
        match self {
            Self::Memory { row_stride, column_stride, .. } => *column_stride == 1 && *row_stride != 1,
            Self::Streamed { order, .. } => *order == Order::RowMajor,
        }
    }

    /// All entries, with rows and columns exchanged.
    #[must_use]
    pub fn transposed(self) -> Self {
        match self {
            Self::Memory { memory, dtype, row_stride, column_stride, .. } => {
                Self::Memory { memory, dtype, first: 0, row_stride: column_stride, column_stride: row_stride }
            }
            Self::Streamed { source, info, order, .. } => {
                let order = match order {
                    Order::ColumnMajor => Order::RowMajor,
                    Order::RowMajor => Order::ColumnMajor,
                };
                Self::Streamed { source, info, first: 0, order }
            }
        }
    }

    /// Type of the entries, in memory or in the source.
    pub fn dtype(&self) -> DType {
        match self {
            Self::Memory { dtype, .. } => *dtype,
            Self::Streamed { info, .. } => info.number.dtype(),
        }
    }

    /// Bytes of `rows` rows in a packed buffer; 0 for entries in memory, which need no buffer.
    pub fn panel_bytes(&self, rows: usize, columns: usize) -> usize {
        match self {
            Self::Memory { .. } => 0,
            Self::Streamed { info, .. } => rows * columns * info.number.size(),
        }
    }

    /// Whether the entries are in device memory.
    pub fn is_device(&self) -> bool {
        matches!(self, Self::Memory { memory: Memory::Device(_), .. })
    }

    /// A window on the entries, and a reader for entries of a source.
    ///
    /// # Errors
    /// [`Error::NotSupported`] naming `argument` for entries in device memory.
    pub fn split(&self, argument: &str) -> Result<(Window<'a>, Option<Reader<'a>>)> {
        match self {
            Self::Memory { memory, dtype, first, row_stride, column_stride } => {
                let bytes: &[u8] = memory.host(argument)?.as_slice()?;
                let bytes = bytes.get(first * row_stride * dtype.size()..).unwrap_or_default();
                let (row_stride, column_stride) = (*row_stride, *column_stride);
                let strided = Strided { bytes, dtype: *dtype, row_stride, column_stride };
                Ok((Window::Memory(strided), None))
            }
            Self::Streamed { source, info, first, order } => {
                let (source, info, axis) = (Arc::clone(source), info.clone(), usize::from(*order == Order::RowMajor));
                let dtype = info.number.dtype();
                Ok((Window::Buffer { dtype, order: *order }, Some(Reader { source, info, axis, first: *first })))
            }
        }
    }
}

/// Reads rows into packed buffers.
pub struct Reader<'a> {
    source: Shared<'a>,
    info: ArrayInfo,
    axis: usize,
    first: usize,
}

impl Reader<'_> {
    /// Reads `rows` rows from `first` on. Waits while another reader uses the source.
    ///
    /// # Errors
    /// Errors of the source; [`Error::Internal`] if it panicked before.
    pub fn read(&mut self, first: usize, rows: usize, buffer: &mut [u8]) -> Result<()> {
        let block = Block::whole(&self.info).along(self.axis, self.first + first, rows);
        let bytes = block.elements() * self.info.number.size();
        let mut source = self.source.lock().map_err(|_| Error::Internal("a source panicked".into()))?;
        source.read(&block, &mut buffer[..bytes])
    }
}

/// Access to entries on the host.
#[derive(Clone, Copy)]
pub enum Window<'a> {
    /// All of them in memory.
    Memory(Strided<'a>),
    /// Some rows in a buffer that a [`Reader`] filled.
    Buffer {
        /// Type of the entries in the buffer.
        dtype: DType,
        /// Whether a column or a row is contiguous.
        order: Order,
    },
}

impl<'a> Window<'a> {
    /// The `rows` rows from `first` on. For a source, `buffer` holds them.
    pub fn rows(self, first: usize, rows: usize, columns: usize, buffer: &'a [u8]) -> Strided<'a> {
        match self {
            Self::Memory(whole) => {
                let begin = first * whole.row_stride * whole.dtype.size();
                Strided { bytes: whole.bytes.get(begin..).unwrap_or_default(), ..whole }
            }
            Self::Buffer { dtype, order } => {
                let (row_stride, column_stride) = match order {
                    Order::ColumnMajor => (1, rows),
                    Order::RowMajor => (columns, 1),
                };
                Strided { bytes: buffer, dtype, row_stride, column_stride }
            }
        }
    }
}

/// Entries in host memory, with strides for rows and columns.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    bytes: &'a [u8],
    dtype: DType,
    row_stride: usize,
    column_stride: usize,
}

/// Lines, and entries of each, that [`Strided::block`] converts at a time. Lines that are rows are written across the
/// columns of the block, some rows of a column at once.
const TILE: (usize, usize) = (16, 64);

impl Strided<'_> {
    /// The rows from `first` on as a packed column-major block of as many rows as `out` has for `columns` columns, each
    /// entry times `scale`.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for integers of 64 bits; [`Error::Internal`] for rows beyond the end of the matrix.
    pub fn block<T: Scalar>(&self, first: usize, columns: usize, scale: f64, out: &mut [T]) -> Result<()> {
        let rows = out.len() / columns.max(1);
        if rows == 0 {
            return Ok(());
        }
        let parts = if self.dtype.is_complex() { 2 } else { 1 };
        let number = match self.dtype {
            DType::CF32 => Number::F32,
            DType::CF64 => Number::F64,
            real => Number::of("m", real)?,
        };
        let size = self.dtype.size();
        let by_column = self.row_stride == 1 || (self.column_stride != 1 && rows > 1);
        let (lines, length, line_stride) =
            if by_column { (columns, rows, self.column_stride) } else { (rows, columns, self.row_stride) };
        let (most_lines, most) = if by_column { (1, TILE.0 * TILE.1) } else { TILE };
        let mut numbers = [0.0f64; 2 * TILE.0 * TILE.1];
        for line in (0..lines).step_by(most_lines) {
            let beside = most_lines.min(lines - line);
            for from in (0..length).step_by(most) {
                let count = most.min(length - from);
                for i in 0..beside {
                    let begin = first * self.row_stride + (line + i) * line_stride + from;
                    let bytes = self.bytes.get(begin * size..(begin + count) * size).ok_or_else(|| {
                        Error::Internal(format!("rows {first} to {} pass the end of the matrix", first + rows))
                    })?;
                    decode(number, bytes, &mut numbers[i * parts * count..][..parts * count]);
                }
                let value = |at: usize| -> T {
                    let im = if parts == 2 { numbers[2 * at + 1] } else { 0.0 };
                    T::from_parts(numbers[parts * at] * scale, im * scale)
                };
                if by_column {
                    let to = &mut out[line * rows + from..][..count];
                    to.iter_mut().enumerate().for_each(|(k, x)| *x = value(k));
                } else {
                    for k in 0..count {
                        let to = &mut out[(from + k) * rows + line..][..beside];
                        to.iter_mut().enumerate().for_each(|(i, x)| *x = value(i * count + k));
                    }
                }
            }
        }
        Ok(())
    }

    /// The bytes of `rows` rows from `first` on, packed with the columns contiguous (`by_rows`) or the rows.
    ///
    /// # Errors
    /// [`Error::Internal`] for rows beyond the end of the matrix, and for an `out` that does not hold them.
    pub fn pack(
        &self,
        context: &Context,
        first: usize,
        (rows, columns): (usize, usize),
        by_rows: bool,
        out: &mut [u8],
    ) -> Result<()> {
        let size = self.dtype.size();
        let (fast, fast_stride, slow_stride) = match by_rows {
            true => (columns, self.column_stride, self.row_stride),
            false => (rows, self.row_stride, self.column_stride),
        };
        if rows == 0 || columns == 0 {
            return Ok(());
        }
        let begin = first * self.row_stride;
        let reach = begin + (rows - 1) * self.row_stride + (columns - 1) * self.column_stride + 1;
        if self.bytes.len() < reach * size || out.len() < rows * columns * size {
            return Err(Error::Internal(format!("rows {first} to {} pass the end of the matrix", first + rows)));
        }
        let line = |(slow, out): (usize, &mut [u8])| {
            let from = &self.bytes[(begin + slow * slow_stride) * size..];
            if fast_stride == 1 {
                out.copy_from_slice(&from[..fast * size]);
                return;
            }
            for (k, out) in out.chunks_exact_mut(size).enumerate() {
                out.copy_from_slice(&from[k * fast_stride * size..][..size]);
            }
        };
        let whole = &mut out[..rows * columns * size];
        context.pool().run(|| whole.par_chunks_mut(fast * size).with_min_len(16).enumerate().for_each(line));
        Ok(())
    }

    /// As [`Strided::block`] for a mask: the bytes are not 0 where an entry is observed.
    ///
    /// # Errors
    /// [`Error::Internal`] for rows beyond the end of the mask.
    pub fn flags(&self, first: usize, columns: usize, out: &mut [u8]) -> Result<()> {
        let rows = out.len() / columns.max(1);
        for i in 0..rows {
            for j in 0..columns {
                let at = (first + i) * self.row_stride + j * self.column_stride;
                out[j * rows + i] = *self.bytes.get(at).ok_or_else(|| {
                    Error::Internal(format!("rows {first} to {} pass the end of the mask", first + rows))
                })?;
            }
        }
        Ok(())
    }
}
