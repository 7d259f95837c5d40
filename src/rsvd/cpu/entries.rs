//! The entries of a sparse matrix, row by row and column by column.

use crate::alloc;
use crate::backend::memory::{Charge, HostMemory};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::{Csr, IndexType};
use crate::scalar::{Complex, Scalar};

/// Column indices of either type, with the matrix's base.
#[derive(Clone, Copy)]
enum Index<'c> {
    Short(&'c [i32]),
    Long(&'c [i64]),
}

impl Index<'_> {
    /// Element k. Indices were checked to lie in the matrix when it was created.
    fn at(self, k: usize) -> usize {
        match self {
            Self::Short(v) => usize::try_from(v[k]).unwrap_or(0),
            Self::Long(v) => usize::try_from(v[k]).unwrap_or(0),
        }
    }
}

/// A sparse matrix row by row.
#[derive(Clone, Copy)]
pub struct Rows<'c, T> {
    offsets: Index<'c>,
    columns: Index<'c>,
    values: Option<&'c [T]>,
    base: usize,
    pub(super) count: usize,
}

impl<'c, T: Scalar> Rows<'c, T> {
    /// The rows of `csr`, whose values are of type `T`.
    pub fn new(csr: &'c Csr) -> Result<Self> {
        let parts = csr.parts();
        let index = |memory: &'c HostMemory, of: IndexType| -> Result<Index<'c>> {
            Ok(match of {
                IndexType::I32 => Index::Short(memory.as_slice()?),
                IndexType::I64 => Index::Long(memory.as_slice()?),
            })
        };
        let values = match &parts.values {
            Some(memory) => Some(memory.host("a")?.as_slice::<T>()?),
            None => None,
        };
        Ok(Self {
            offsets: index(&parts.row_ptr, parts.row_ptr_type)?,
            columns: index(&parts.col_idx, parts.col_idx_type)?,
            values,
            base: usize::try_from(csr.index_base()).unwrap_or(0),
            count: csr.rows(),
        })
    }

    /// Column and value of each entry of row i.
    pub(super) fn row(self, i: usize) -> impl Iterator<Item = (usize, T)> + 'c {
        let (first, end) = (self.offsets.at(i) - self.base, self.offsets.at(i + 1) - self.base);
        (first..end).map(move |k| {
            let value = self.values.map_or(T::from_parts(1.0, 0.0), |v| v[k]);
            (self.columns.at(k) - self.base, value)
        })
    }
}

/// The entries column by column, so that A^H P can be formed one row after the other in a fixed order.
pub struct Columns<T> {
    /// Where each column begins in `entries`, and the end.
    offsets: Vec<usize>,
    /// Row and value of each entry.
    entries: Vec<(usize, T)>,
    _charge: Charge,
}

impl<T: Scalar> Columns<T> {
    pub(super) fn new(context: &Context, rows: Rows<'_, T>, columns: usize, nnz: usize) -> Result<Self> {
        let what = "columns of a sparse matrix";
        let bytes = (columns + 1) * size_of::<usize>() + nnz * size_of::<(usize, T)>();
        let charge = context.host_budget().charge_host(what, bytes)?;
        let mut offsets = alloc::filled(what, columns + 1, 0usize)?;
        for i in 0..rows.count {
            rows.row(i).for_each(|(j, _)| offsets[j + 1] += 1);
        }
        for j in 0..columns {
            offsets[j + 1] += offsets[j];
        }
        let mut entries = alloc::filled(what, nnz, (0usize, T::default()))?;
        for i in 0..rows.count {
            for (j, value) in rows.row(i) {
                entries[offsets[j]] = (i, value);
                offsets[j] += 1;
            }
        }
        // Each offset has advanced to the start of the next column.
        offsets.copy_within(0..columns, 1);
        offsets[0] = 0;
        Ok(Self { offsets, entries, _charge: charge })
    }

    pub(super) fn column(&self, j: usize) -> &[(usize, T)] {
        &self.entries[self.offsets[j]..self.offsets[j + 1]]
    }

    /// Row and value of each stored place of column j. Entries stored twice for one place are adjacent, because the rows
    /// ascend. They are added, as products do.
    pub(super) fn places(&self, j: usize) -> impl Iterator<Item = (usize, Complex<f64>)> {
        let wide = |x: T| Complex::new(x.re(), x.im());
        self.column(j).chunk_by(|a, b| a.0 == b.0).map(move |same| match same {
            [(i, x)] => (*i, wide(*x)),
            _ => (same[0].0, same.iter().map(|(_, x)| wide(*x)).sum()),
        })
    }
}

/// The stored places of a row: the sum of their squared distances from the mean, times the square of the factor, their
/// number, the largest distance, and the largest part of an entry.
#[derive(Clone, Copy, Default)]
pub(super) struct RowSums {
    pub(super) squares: f64,
    pub(super) stored: usize,
    pub(super) size: f64,
    pub(super) read: f64,
}
