//! Writes the parts to the caller's matrices, sinks and compressed rows.

use std::sync::Arc;

use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::memory::{Budget, Charge, HostMemory};
use crate::blocks::array::Block;
use crate::blocks::number::{Number, encode};
use crate::blocks::sink::Sink;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{Csr, CsrParts, IndexType};
use crate::scalar::{DType, Scalar};
use crate::shape::{Order, product, to_i64};

/// Numbers that are converted for a sink at a time.
const STRETCH: usize = 512;

/// Whether a type holds a finite number, rounded. Integers are held to their range, so they take any.
pub fn holds(dtype: DType, value: f64) -> bool {
    match dtype {
        // Half of a unit in the last place above the largest number.
        DType::F16 => value.abs() < 65520.0,
        DType::F32 | DType::CF32 => (value as f32).is_finite(),
        DType::F64 | DType::CF64 => value.is_finite(),
        _ => true,
    }
}

/// Words for a number that a type does not hold: its limit.
pub fn beyond(dtype: DType) -> String {
    let name = dtype.name();
    match dtype {
        DType::F16 => format!("more than 65504, the largest number of {name}"),
        DType::F32 | DType::CF32 => format!("more than {:e}, the largest number of {name}", f32::MAX),
        _ => format!("more than {:e}, the largest number of {name}", f64::MAX),
    }
}

/// A positive number times a power of two, to six digits. The product may overflow.
pub fn rounded(value: f64, power: f64) -> String {
    let product = value * power;
    if product.is_finite() {
        // Without zeros at the end.
        let digits = format!("{product:.5e}");
        return digits.parse::<f64>().map_or(digits, |v| format!("{v:e}"));
    }
    let exponent = value.log10() + power.log10();
    format!("{:.2}e{}", 10f64.powf(exponent.fract()), exponent.trunc())
}

/// Some rows of a part: packed column-major blocks of `block` rows, the last one shorter.
pub struct Panel<'a, T> {
    /// First row of the panel in the matrix.
    pub first: usize,
    /// Rows of the panel, in one or more blocks.
    pub rows: usize,
    /// Rows of a block; the last may have fewer.
    pub block: usize,
    /// Columns n of the matrix.
    pub columns: usize,
    /// Entries, block after block; each block is packed column-major.
    pub values: &'a [T],
    /// Factor that the entries are multiplied with.
    pub unit: f64,
}

impl<T: Scalar> Panel<'_, T> {
    fn scaled(&self, v: T) -> T {
        if self.unit == 1.0 { v } else { T::from_parts(v.re() * self.unit, v.im() * self.unit) }
    }

    /// The blocks, and the first row of each within the panel.
    fn blocks(&self) -> impl Iterator<Item = (usize, &[T])> {
        let size = (self.block * self.columns).max(1);
        self.values.chunks(size).enumerate().map(|(k, values)| (k * self.block, values))
    }

    /// Writes to memory in which entry (i, j) of the whole is element `i * row_stride + j * column_stride`.
    pub fn write_dense(&self, context: &Context, out: &mut [T], row_stride: usize, column_stride: usize) {
        let columns = self.columns;
        if self.values.is_empty() {
            return;
        }
        context.pool().run(|| {
            if row_stride == 1 {
                let stride = if columns == 1 { out.len() } else { column_stride };
                out.par_chunks_mut(stride).take(columns).enumerate().for_each(|(j, column)| {
                    let column = &mut column[self.first..self.first + self.rows];
                    for (from, values) in self.blocks() {
                        let rows = values.len() / columns;
                        let to = &mut column[from..from + rows];
                        to.iter_mut().zip(&values[j * rows..]).for_each(|(to, v)| *to = self.scaled(*v));
                    }
                });
                return;
            }
            let out = &mut out[self.first * row_stride..];
            let size = (self.block * columns).max(1);
            out.par_chunks_mut(row_stride * self.block).zip(self.values.par_chunks(size)).for_each(|(out, values)| {
                let rows = values.len() / columns;
                for (i, row) in out.chunks_mut(row_stride).take(rows).enumerate() {
                    for j in 0..columns {
                        row[j * column_stride] = self.scaled(values[j * rows + i]);
                    }
                }
            });
        });
    }

    /// Writes to a sink whose axes are [rows, columns] (`ColumnMajor`) or [columns, rows] (`RowMajor`).
    pub fn write_sink(&self, context: &Context, sink: &mut dyn Sink, order: Order) -> Result<()> {
        const WHAT: &str = "panel of a sink";
        let elements = self.rows * self.columns;
        let number = sink.info().number;
        let _charge = context.host_budget().charge_host(WHAT, elements * (size_of::<T>() + number.size()))?;
        let mut packed = alloc::filled(WHAT, elements, T::default())?;
        let whole = Panel { first: 0, ..*self };
        match order {
            Order::ColumnMajor => whole.write_dense(context, &mut packed, 1, self.rows),
            Order::RowMajor => whole.write_dense(context, &mut packed, self.columns, 1),
        }
        let mut bytes = alloc::filled(WHAT, elements * number.size(), 0u8)?;
        let (part, parts) = match number.dtype() {
            DType::CF32 => (Number::F32, 2),
            DType::CF64 => (Number::F64, 2),
            _ => (number, 1),
        };
        if T::IS_COMPLEX && parts == 1 {
            let name = number.dtype().name();
            return Err(Error::NotSupported(format!("sink: takes {name}, the parts are {}", T::DTYPE.name())));
        }
        let stretch = STRETCH * number.size();
        for (values, bytes) in packed.chunks(STRETCH).zip(bytes.chunks_mut(stretch)) {
            let mut numbers = [0.0f64; 2 * STRETCH];
            for (k, v) in values.iter().enumerate() {
                numbers[parts * k] = v.re();
                if parts == 2 {
                    numbers[2 * k + 1] = v.im();
                }
            }
            encode(part, &numbers[..parts * values.len()], bytes);
        }
        let axis = usize::from(order == Order::RowMajor);
        sink.write(&Block::whole(sink.info()).along(axis, self.first, self.rows), &bytes)
    }

    /// Calls `entry(i, j, value)` for the entries of modulus over `threshold`, row by row.
    fn for_entries(&self, threshold: f64, mut entry: impl FnMut(usize, usize, T) -> Result<()>) -> Result<()> {
        for (from, values) in self.blocks() {
            let rows = values.len() / self.columns;
            for i in 0..rows {
                for j in 0..self.columns {
                    let v = self.scaled(values[j * rows + i]);
                    let modulus = if T::IS_COMPLEX { v.re().hypot(v.im()) } else { v.re().abs() };
                    if modulus > threshold {
                        entry(self.first + from + i, j, v)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Builds compressed rows in two passes: the first counts the entries of all panels, the second fills them in.
pub struct CsrBuilder<T> {
    rows: usize,
    cols: usize,
    /// Whether the rows of the panels are the columns of the result.
    transposed: bool,
    threshold: f64,
    /// For each row first the number of its entries, then the index of its next entry.
    places: Vec<usize>,
    columns: Vec<i64>,
    values: Vec<T>,
    budget: Arc<Budget>,
    charges: Vec<Charge>,
}

impl<T: Scalar> CsrBuilder<T> {
    /// An empty rows-by-cols matrix for entries over `threshold`.
    pub fn new(budget: &Arc<Budget>, (rows, cols): (usize, usize), transposed: bool, threshold: f64) -> Result<Self> {
        const WHAT: &str = "rows of the sparse part";
        let charges = vec![budget.charge_host(WHAT, product(WHAT, rows, size_of::<usize>())?)?];
        let places = alloc::filled(WHAT, rows, 0)?;
        let (columns, values, budget) = (Vec::new(), Vec::new(), Arc::clone(budget));
        Ok(Self { rows, cols, transposed, threshold, places, columns, values, budget, charges })
    }

    /// Counts a panel's entries over the threshold, by row or column.
    pub fn count(&mut self, panel: &Panel<'_, T>) -> Result<()> {
        panel.for_entries(self.threshold, |i, j, _| {
            self.places[if self.transposed { j } else { i }] += 1;
            Ok(())
        })
    }

    /// Allocates memory for the counted entries.
    pub fn reserve(&mut self) -> Result<()> {
        let mut total = 0;
        for place in &mut self.places {
            total += std::mem::replace(place, total);
        }
        let entry = size_of::<i64>() + size_of::<T>();
        let bytes = product("entries of the sparse part", total, entry)?;
        self.charges.push(self.budget.charge_host("entries of the sparse part", bytes)?);
        self.columns = alloc::filled("columns of the sparse part", total, 0)?;
        self.values = alloc::filled("values of the sparse part", total, T::default())?;
        Ok(())
    }

    /// Fills in a panel's entries. Panels must come in the order of their rows.
    pub fn fill(&mut self, panel: &Panel<'_, T>) -> Result<()> {
        panel.for_entries(self.threshold, |i, j, v| {
            let (row, column) = if self.transposed { (j, i) } else { (i, j) };
            let place = self.places[row];
            let missing = || Error::Internal("more entries than were counted".into());
            *self.columns.get_mut(place).ok_or_else(missing)? = to_i64(column);
            *self.values.get_mut(place).ok_or_else(missing)? = v;
            self.places[row] += 1;
            Ok(())
        })
    }

    /// The matrix: 64-bit offsets, 32-bit columns where they suffice.
    pub fn finish(self, context: &Context) -> Result<Csr> {
        let budget = context.host_budget();
        let nnz = self.values.len();
        let mut row_ptr = HostMemory::allocate("rows of the sparse part", product("rows", self.rows + 1, 8)?, budget)?;
        // After filling in, each place is the start of the next row.
        for (to, from) in row_ptr.as_mut_slice::<i64>()?[1..].iter_mut().zip(&self.places) {
            *to = to_i64(*from);
        }
        let narrow = i32::try_from(self.cols).is_ok();
        let col_idx_type = if narrow { IndexType::I32 } else { IndexType::I64 };
        let width = col_idx_type.dtype().size();
        let mut col_idx = HostMemory::allocate("columns of the sparse part", product("nnz", nnz, width)?, budget)?;
        if narrow {
            for (to, from) in col_idx.as_mut_slice::<i32>()?.iter_mut().zip(&self.columns) {
                *to = i32::try_from(*from).unwrap_or(i32::MAX);
            }
        } else {
            col_idx.as_mut_slice::<i64>()?.copy_from_slice(&self.columns);
        }
        let bytes = product("nnz", nnz, size_of::<T>())?;
        let mut values = HostMemory::allocate("values of the sparse part", bytes, budget)?;
        values.as_mut_slice::<T>()?.copy_from_slice(&self.values);
        let parts = CsrParts {
            row_ptr,
            row_ptr_type: IndexType::I64,
            col_idx,
            col_idx_type,
            values: Some(crate::backend::memory::Memory::Host(values)),
        };
        Csr::new(parts, self.rows, self.cols, nnz, 0)
    }
}
