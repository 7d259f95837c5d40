//! The matrix whose factors are sought, as the backends read it.

use crate::backend::memory::Memory;
use crate::blocks::source::Source;
use crate::choice::{FromC, ToC};
use crate::error::Result;
use crate::matrix::Csr;
pub use crate::matrix::Operator;
use crate::scalar::{DType, Scalar};
use crate::shape::Order;

/// Where the entries are, or how products are formed.
pub enum Data<'a, T: Scalar> {
    /// In memory, on the host or the first context's device. Entry (i, j) is element `i * row_stride +
    /// j * column_stride`; one of the two is 1.
    Dense {
        /// The memory, which begins with entry (0, 0).
        memory: &'a Memory,
        /// Type of the entries: T's own, or another that is converted; complex entries only to a complex T.
        dtype: DType,
        /// Elements from one row to the next.
        row_stride: usize,
        /// Elements from one column to the next.
        column_stride: usize,
    },
    /// Read in blocks; converted to T.
    Streamed {
        /// The array, [columns, rows] where a row is contiguous, [rows, columns] where a column is.
        source: &'a mut (dyn Source + 'a),
        /// Whether a row (`RowMajor`) or a column is contiguous.
        order: Order,
    },
    /// Compressed sparse rows; entries that are not stored are 0.
    Csr(&'a Csr),
    /// Known only by its products.
    Operator(&'a mut (dyn Operator<T> + 'a)),
}

/// The matrix of a problem, oriented so that it is cut into blocks of rows.
pub struct Problem<'a, T: Scalar> {
    /// Rows, the axis that is cut.
    pub rows: usize,
    /// Columns, which no block divides.
    pub columns: usize,
    /// Whether rows and columns are those of the transpose of the caller's matrix.
    pub transposed: bool,
    /// The entries, not yet centred or scaled.
    pub data: Data<'a, T>,
}

impl<'a, T: Scalar> Problem<'a, T> {
    /// The caller's matrix of `rows` and `columns`, not transposed.
    pub fn new(rows: usize, columns: usize, data: Data<'a, T>) -> Self {
        Self { rows, columns, transposed: false, data }
    }
}

/// The means that are subtracted from the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Center {
    /// No means: entries are used as they are.
    None,
    /// The mean of each column of the oriented problem.
    Columns,
    /// The mean of each row of the oriented problem. A block holds whole rows, so this needs no earlier pass.
    Rows,
}

/// Rows of the data that stay on the device between passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resident {
    /// As many rows as fit into device memory.
    Auto,
    /// At most this many rows.
    AtMost(usize),
}

impl Setting {
    /// Data as they are, in blocks that the memory decides, without a tall matrix.
    pub fn plain() -> Self {
        Self {
            block_rows: 0,
            resident: Resident::Auto,
            alternate: false,
            center: Center::None,
            scale: false,
            factor: 1.0,
            tall_columns: 0,
            long: LongColumns::default(),
            small_elements: 0,
            panel_rows: 0,
        }
    }

    /// The factor by which the singular values are too large: 1 if columns are scaled, which removes it.
    pub fn result_factor(&self) -> f64 {
        if self.scale { 1.0 } else { self.factor }
    }
}

impl FromC<i64> for Resident {
    fn from_c(argument: &str, value: i64) -> Result<Self> {
        Ok(Option::from_c(argument, value)?.map_or(Self::Auto, Self::AtMost))
    }
}

impl ToC<i64> for Resident {
    fn to_c(&self) -> i64 {
        match self {
            Self::Auto => -1,
            Self::AtMost(rows) => rows.to_c(),
        }
    }
}

/// Columns of the matrices that a GPU keeps beside tall ones, which are as long as the data or as a block.
#[derive(Debug, Clone, Copy, Default)]
pub struct LongColumns {
    /// Columns of the widest tall matrix that is replaced by a product, which is formed beside it.
    pub replaced: usize,
    /// Columns of products that no tall matrix receives, such as those of a fused pass that gives A^H A W alone.
    pub scratch: usize,
    /// Columns of a result on its way to the caller, where these matrices still exist.
    pub result: usize,
    /// Columns of the products of a block that is merged, before there is a tall matrix.
    pub merged: usize,
    /// Upper bound of the columns of one product with the data.
    pub product: usize,
}

/// How the data are cut and read.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Rows of a block, 0 to choose.
    pub block_rows: usize,
    /// Rows that stay on the device.
    pub resident: Resident,
    /// Whether every second pass runs backwards, so that the blocks read last are used first (FIFO).
    pub alternate: bool,
    /// The means that are subtracted.
    pub center: Center,
    /// Whether each column is divided by its standard deviation (of m - 1).
    pub scale: bool,
    /// Power of two that every entry is multiplied by; not 1 only where squares would overflow or vanish. With `scale` the
    /// deviations are multiplied by it too, so that it cancels.
    pub factor: f64,
    /// Upper bound of the columns of all tall matrices together, for planning.
    pub tall_columns: usize,
    /// Columns of other matrices as long as the data or a block, for planning.
    pub long: LongColumns,
    /// Upper bound of the elements of all other matrices together, for planning.
    pub small_elements: usize,
    /// Rows that the CPU multiplies at once, 0 to choose.
    pub panel_rows: usize,
}
