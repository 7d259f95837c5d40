//! Symmetric matrices of directed graphs.

use std::sync::Arc;

use super::entries::{Entries, WHAT, charge_indices, csr, offsets, restart_rows, sort_rows, value_at, values};
use super::index::Rows;
use crate::alloc;
use crate::choice::numbered;
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::matrix::Matrix;
use crate::progress::CancelWatch;
use crate::scalar::{Scalar, is_finite, with_scalar};

/// How a square matrix A is made symmetric (Hermitian if complex). The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Symmetrize {
    /// Entries of A or A^H; the larger one where both have an entry. Loops count once.
    Union = 0,
    /// A + A^H. Loops count twice.
    Sum = 1,
    /// (A + A^H) / 2.
    Average = 2,
    /// Entries that both A and A^H have; the smaller one of the two.
    Intersection = 3,
    /// A has each pair once, in one triangle; the other triangle becomes its mirror image. Loops count once.
    Mirror = 4,
}

numbered!(Symmetrize, Union, Sum, Average, Intersection, Mirror);

/// Entries of A and A^H together: `source` counts those of A from 0 and those of A^H from nnz on.
fn both(rows: &Rows<'_>, nnz: usize, cancel: CancelWatch<'_>) -> Result<Entries> {
    let n = rows.len();
    let mut row_ptr = alloc::filled(WHAT, n + 1, 0usize)?;
    let mut paced = cancel.paced();
    for i in 0..n {
        paced.step(rows.row(i).len())?;
        row_ptr[i + 1] += rows.row(i).len();
        for k in rows.row(i) {
            row_ptr[rows.col(k) + 1] += 1;
        }
    }
    offsets(&mut row_ptr);
    let mut col_idx = alloc::filled(WHAT, 2 * nnz, 0usize)?;
    let mut source = alloc::filled(WHAT, 2 * nnz, 0usize)?;
    let mut put = |row: usize, col: usize, from: usize| {
        let place = row_ptr[row];
        (col_idx[place], source[place]) = (col, from);
        row_ptr[row] += 1;
    };
    for i in 0..n {
        paced.step(rows.row(i).len())?;
        rows.row(i).for_each(|k| put(i, rows.col(k), k));
    }
    for i in 0..n {
        paced.step(rows.row(i).len())?;
        rows.row(i).for_each(|k| put(rows.col(k), i, nnz + k));
    }
    restart_rows(&mut row_ptr);
    Ok(Entries { rows: n, cols: n, row_ptr, col_idx, source })
}

/// A symmetric matrix from a square one without duplicates; O(nnz log(longest row)). For a pattern, `Union`,
/// `Intersection` and `Mirror` give patterns; `Sum` and `Average` compute with ones. For a complex matrix, the diagonal
/// becomes real; if both entries are equally large, `Union` and `Intersection` use that of the upper triangle.
///
/// # Errors
/// [`Error::InvalidArgument`] for a matrix that is not square, duplicates, or with `Mirror` entries in both triangles or a
/// diagonal that is not real;
/// [`Error::NotSupported`] for another storage or values on a device; [`Error::OutOfMemory`];
/// [`Error::Cancelled`].
pub fn symmetrize(context: &Arc<Context>, a: &Matrix, rule: Symmetrize) -> Result<Matrix> {
    let (from, cancel) = (csr("a", a)?, context.cancel_watch());
    a.expect_size("a", a.rows(), a.rows())?;
    let nnz = from.nnz();
    // Charge offsets, columns and sources of both matrices, and the partners.
    let _charge = charge_indices(context, &[a.rows() + 1, 2 * nnz, 2 * nnz, 2 * nnz])?;
    let mut entries = both(&Rows::new(from)?, nnz, cancel)?;
    sort_rows(context, &mut entries, cancel)?;
    let partners = pair(&mut entries, nnz, rule, cancel)?;
    let held = values("a", a)?;
    let pattern = held.is_none() && !matches!(rule, Symmetrize::Sum | Symmetrize::Average);
    entries.into_matrix(context, a.dtype(), pattern, cancel, |entries, out| {
        with_scalar!(a.dtype(), "a", T => {
            let held = held.as_ref().map(|h| h.as_slice::<T>()).transpose()?;
            combine(entries, &partners, nnz, rule, held, out.as_mut_slice::<T>()?, cancel)
        })
    })
}

/// Merges entries of equal columns: `source` is from A or A^H, its partner from A^H; `usize::MAX` for no partner.
fn pair(entries: &mut Entries, nnz: usize, rule: Symmetrize, cancel: CancelWatch<'_>) -> Result<Vec<usize>> {
    let mut partners = alloc::with_capacity(WHAT, entries.col_idx.len())?;
    let (mut kept, mut begin, mut paced) = (0, 0, cancel.paced());
    for row in 0..entries.rows {
        let end = entries.row_ptr[row + 1];
        paced.step(end - begin)?;
        let mut k = begin;
        while k < end {
            let (col, source) = (entries.col_idx[k], entries.source[k]);
            let mut partner = usize::MAX;
            let equal = (k + 1..end).take_while(|&j| entries.col_idx[j] == col).count();
            if equal > 0 {
                partner = entries.source[k + 1];
                let one_of_each = equal == 1 && source < nnz && partner >= nnz;
                if !one_of_each {
                    return Err(Error::invalid("a", format!("has row {row}, column {col} (from 0) more than once")));
                }
                if rule == Symmetrize::Mirror && row != col {
                    let problem = format!("has row {row}, column {col} (from 0) and its mirror image: one is needed");
                    return Err(Error::invalid("a", problem));
                }
            }
            k += 1 + equal;
            if rule == Symmetrize::Intersection && partner == usize::MAX {
                continue;
            }
            (entries.col_idx[kept], entries.source[kept]) = (col, source);
            partners.push(partner);
            kept += 1;
        }
        begin = end;
        entries.row_ptr[row + 1] = kept;
    }
    entries.col_idx.truncate(kept);
    entries.source.truncate(kept);
    Ok(partners)
}

fn combine<T: Scalar>(
    entries: &Entries,
    partners: &[usize],
    nnz: usize,
    rule: Symmetrize,
    held: Option<&[T]>,
    out: &mut [T],
    cancel: CancelWatch<'_>,
) -> Result<()> {
    let value = |k: usize| if k < nnz { value_at(held, k) } else { value_at::<T>(held, k - nnz).conjugate() };
    let size = |v: T| if T::IS_COMPLEX { v.re().hypot(v.im()) } else { v.re() };
    let half = |a: T| T::from_parts(0.5 * a.re(), 0.5 * a.im());
    // Halves lose a bit of the smallest numbers, and the sum of the largest is infinite.
    let mean = |a: T, b: T| if is_finite(a + b) { half(a + b) } else { half(a) + half(b) };
    let mut paced = cancel.paced();
    for row in 0..entries.rows {
        let own = entries.row_ptr[row]..entries.row_ptr[row + 1];
        paced.step(own.len())?;
        for o in own {
            let (a, partner) = (value(entries.source[o]), partners[o]);
            let b = (partner != usize::MAX).then(|| value(partner));
            // If both are equally large, use the entry of the upper triangle, so that the result is Hermitian.
            let upper = entries.col_idx[o] >= row;
            let chosen = match (rule, b) {
                (Symmetrize::Average, None) => half(a),
                (_, None) | (Symmetrize::Mirror, _) => a,
                (Symmetrize::Sum, Some(b)) => a + b,
                (Symmetrize::Average, Some(b)) => mean(a, b),
                (Symmetrize::Union, Some(b)) if size(a) == size(b) => [b, a][usize::from(upper)],
                (Symmetrize::Union, Some(b)) => [a, b][usize::from(size(b) > size(a))],
                (Symmetrize::Intersection, Some(b)) if size(a) == size(b) => [b, a][usize::from(upper)],
                (Symmetrize::Intersection, Some(b)) => [a, b][usize::from(size(b) < size(a))],
            };
            // A Hermitian matrix has real numbers on its diagonal.
            let on_diagonal = T::IS_COMPLEX && entries.col_idx[o] == row;
            if on_diagonal && rule == Symmetrize::Mirror && chosen.im() != 0.0 {
                let imaginary = real(chosen.im());
                let problem = format!(
                    "has an imaginary part of {imaginary} in row {row}, column {row} (from 0): a Hermitian \
                                       matrix has none on its diagonal"
                );
                return Err(Error::invalid("a", problem));
            }
            out[o] = if on_diagonal { T::from_parts(chosen.re(), 0.0) } else { chosen };
        }
    }
    Ok(())
}
