//! The sources of a result's entries, and their values.
//!
//! `copies.rs` and `entries.rs` import each other: entries on a device are copied to the host first, and a copy in
//! another form is made of entries.

use std::ops::Deref;
use std::sync::Arc;

use super::super::csr::{Csr, CsrParts, IndexType};
use super::super::{Matrix, Storage};
use super::copies::on_host;
use super::index::Index;
use crate::alloc;
use crate::backend::memory::{Charge, HostMemory, Memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::CancelWatch;
use crate::scalar::{DType, Element, Scalar, with_scalar};
use crate::shape::product;

pub(super) const WHAT: &str = "sparse matrix";

/// The entries of a result, row by row. Entry k comes from entry `source[k]` of the input, or is a sum of several
/// entries.
pub(super) struct Entries {
    pub(super) rows: usize,
    pub(super) cols: usize,
    /// `rows + 1` offsets, from 0.
    pub(super) row_ptr: Vec<usize>,
    pub(super) col_idx: Vec<usize>,
    pub(super) source: Vec<usize>,
}

/// The sparse storage of a matrix.
pub(super) fn csr<'a>(argument: &str, matrix: &'a Matrix) -> Result<&'a Csr> {
    match matrix.storage() {
        Storage::Csr(csr) => Ok(csr),
        other => Err(Error::NotSupported(format!("{argument}: is {}, a sparse matrix is needed", other.name()))),
    }
}

/// Values of a sparse matrix in host memory: its own, or a copy of those on a device.
pub enum Values<'a> {
    /// The matrix's own values on the host.
    Own(&'a HostMemory),
    /// A copy of values on a device.
    Copied(HostMemory),
}

impl Deref for Values<'_> {
    type Target = HostMemory;

    fn deref(&self) -> &HostMemory {
        match self {
            Self::Own(memory) => memory,
            Self::Copied(memory) => memory,
        }
    }
}

/// The values of a sparse matrix in host memory, copied there if they are on a device; `None` for a pattern.
///
/// # Errors
/// [`Error::NotSupported`] for another storage; [`Error::OutOfMemory`], [`Error::Cuda`] for a copy.
pub fn values<'a>(argument: &str, a: &'a Matrix) -> Result<Option<Values<'a>>> {
    let csr = csr(argument, a)?;
    let Some(memory) = &csr.parts().values else { return Ok(None) };
    Ok(Some(match memory {
        Memory::Host(memory) => Values::Own(memory),
        Memory::Device(_) => {
            let bytes = product(WHAT, csr.nnz(), a.dtype().size())?;
            Values::Copied(on_host(a.context(), memory, bytes)?)
        }
    }))
}

/// Charges lists of indices that a construction needs beside its result; `counts` are their lengths. Must be called
/// before the lists are allocated.
pub(super) fn charge_indices(context: &Context, counts: &[usize]) -> Result<Charge> {
    let count = counts.iter().fold(0usize, |sum, c| sum.saturating_add(*c));
    context.host_budget().charge_host(WHAT, count.saturating_mul(size_of::<usize>()))
}

/// Restores the offsets in `row_ptr` after entries were put into rows, which moved each offset from the begin of its
/// row to the end.
pub(super) fn restart_rows(row_ptr: &mut [usize]) {
    let rows = row_ptr.len().saturating_sub(1);
    row_ptr.copy_within(..rows, 1);
    row_ptr[0] = 0;
}

/// Offsets from the lengths of the rows, in place: `lengths[i + 1]` becomes the end of row i.
pub(super) fn offsets(lengths: &mut [usize]) {
    let mut end = 0;
    for l in lengths {
        end += *l;
        *l = end;
    }
}

fn stored<I: Index>(context: &Context, values: &[usize], cancel: CancelWatch<'_>) -> Result<HostMemory> {
    let bytes = product(WHAT, values.len(), size_of::<I>())?;
    let mut memory = HostMemory::allocate(WHAT, bytes, context.host_budget())?;
    let out = memory.as_mut_slice::<I>()?;
    for block in cancel.blocks(0..values.len()) {
        let block = block?;
        for (out, v) in out[block.clone()].iter_mut().zip(&values[block]) {
            *out = I::from_usize(*v);
        }
    }
    Ok(memory)
}

/// Bytes of an index in a list whose largest is `largest`. It must also fit one-based, so that a copy with another base
/// keeps the type.
pub(super) fn narrowest_size(largest: usize) -> usize {
    if largest < i32::MAX as usize { size_of::<i32>() } else { size_of::<i64>() }
}

fn narrowest(
    context: &Context,
    values: &[usize],
    largest: usize,
    cancel: CancelWatch<'_>,
) -> Result<(HostMemory, IndexType)> {
    Ok(if narrowest_size(largest) == size_of::<i32>() {
        (stored::<i32>(context, values, cancel)?, IndexType::I32)
    } else {
        (stored::<i64>(context, values, cancel)?, IndexType::I64)
    })
}

impl Entries {
    /// A matrix with these entries. `fill` writes the values; it is not called for a pattern.
    pub(super) fn into_matrix(
        self,
        context: &Arc<Context>,
        dtype: DType,
        pattern: bool,
        cancel: CancelWatch<'_>,
        fill: impl FnOnce(&Self, &mut HostMemory) -> Result<()>,
    ) -> Result<Matrix> {
        let nnz = self.col_idx.len();
        let values = match pattern {
            true => None,
            false => {
                let bytes = product(WHAT, nnz, dtype.size())?;
                let mut memory = HostMemory::allocate(WHAT, bytes, context.host_budget())?;
                fill(&self, &mut memory)?;
                Some(Memory::Host(memory))
            }
        };
        let (row_ptr, row_ptr_type) = narrowest(context, &self.row_ptr, nnz, cancel)?;
        let (col_idx, col_idx_type) = narrowest(context, &self.col_idx, self.cols, cancel)?;
        let parts = CsrParts { row_ptr, row_ptr_type, col_idx, col_idx_type, values };
        let csr = Csr::watched(parts, (self.rows, self.cols, nnz), 0, cancel)?;
        Ok(Matrix::from_csr(context, dtype, csr, false))
    }

    /// A matrix whose values are copied from the source entries; a pattern if the source is one.
    pub(super) fn gathered(
        self,
        context: &Arc<Context>,
        dtype: DType,
        values: Option<&HostMemory>,
        conjugate: bool,
        cancel: CancelWatch<'_>,
    ) -> Result<Matrix> {
        let Some(values) = values else {
            return self.into_matrix(context, dtype, true, cancel, |_, _| Ok(()));
        };
        self.into_matrix(context, dtype, false, cancel, |entries, out| {
            if conjugate && dtype.is_complex() {
                return with_scalar!(dtype, "values", T => {
                    let from = values.as_slice::<T>()?;
                    gather(entries, out.as_mut_slice::<T>()?, |k| from[k].conjugate(), cancel)
                });
            }
            // A plain copy depends on the size of the type only.
            match dtype.size() {
                4 => copy::<u32>(entries, values, out, cancel),
                8 => copy::<i64>(entries, values, out, cancel),
                _ => with_scalar!(dtype, "values", T => copy::<T>(entries, values, out, cancel)),
            }
        })
    }
}

/// Writes the value of each entry's source.
pub(super) fn gather<T: Copy>(
    entries: &Entries,
    out: &mut [T],
    value: impl Fn(usize) -> T,
    cancel: CancelWatch<'_>,
) -> Result<()> {
    for block in cancel.blocks(0..entries.source.len()) {
        let block = block?;
        for (o, &k) in out[block.clone()].iter_mut().zip(&entries.source[block]) {
            *o = value(k);
        }
    }
    Ok(())
}

fn copy<T: Element>(
    entries: &Entries,
    values: &HostMemory,
    out: &mut HostMemory,
    cancel: CancelWatch<'_>,
) -> Result<()> {
    let from = values.as_slice::<T>()?;
    gather(entries, out.as_mut_slice::<T>()?, |k| from[k], cancel)
}

/// Sorts the entries of every row by column, and entries of equal columns by source.
pub(super) fn sort_rows(context: &Context, entries: &mut Entries, cancel: CancelWatch<'_>) -> Result<()> {
    use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
    // Entries in the rows of a task, about.
    const TASK: usize = 1 << 16;
    let mut tasks = Vec::new();
    let (mut cols, mut source) = (&mut entries.col_idx[..], &mut entries.source[..]);
    let (mut first, mut row) = (0, 0);
    while row < entries.rows {
        let begin = entries.row_ptr[row];
        while row < entries.rows && entries.row_ptr[row] - begin <= TASK {
            row += 1;
        }
        let length = entries.row_ptr[row] - begin;
        let (c, c_rest) = cols.split_at_mut(length);
        let (s, s_rest) = source.split_at_mut(length);
        alloc::push(WHAT, &mut tasks, (&entries.row_ptr[first..=row], c, s))?;
        (cols, source, first) = (c_rest, s_rest, row);
    }
    let work = |(row_ptr, cols, source): (&[usize], &mut [usize], &mut [usize])| -> Result<()> {
        cancel.check()?;
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        // Renewed only for a longer row, so that threads seldom contend for the budget.
        let mut charge = None;
        for ends in row_ptr.windows(2) {
            let range = ends[0] - row_ptr[0]..ends[1] - row_ptr[0];
            let (c, s) = (&mut cols[range.clone()], &mut source[range]);
            if c.is_sorted() {
                continue;
            }
            pairs.clear();
            if c.len() > pairs.capacity() {
                drop(charge.take());
                charge = Some(charge_indices(context, &[c.len(), c.len()])?);
            }
            alloc::refusable(|| pairs.try_reserve_exact(c.len()))
                .map_err(|_| alloc::out_of_memory(WHAT, c.len() * 16))?;
            pairs.extend(c.iter().copied().zip(s.iter().copied()));
            // Sources are distinct, so the order is total, and an unstable sort gives the stable result.
            pairs.sort_unstable();
            for ((c, s), pair) in c.iter_mut().zip(s.iter_mut()).zip(&pairs) {
                (*c, *s) = *pair;
            }
        }
        drop(charge);
        Ok(())
    };
    context.pool().run(|| tasks.into_par_iter().map(work).collect())
}

/// The values of `memory` as `T`, or ones for a pattern.
pub(super) fn value_at<T: Scalar>(values: Option<&[T]>, k: usize) -> T {
    values.map_or(T::from_parts(1.0, 0.0), |v| v[k])
}
