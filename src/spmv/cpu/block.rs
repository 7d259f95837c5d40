//! Products with blocks of a few vectors, stored row by row: each entry of the matrix is read once, and gathers
//! consecutive numbers.

use super::super::tiles::{Shares, Tile};
use super::Finish;
use super::rows::{Ones, Values};
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::sparse::{Index, Indices, Rows};
use crate::scalar::Scalar;

/// Number of vectors that are summed at once.
const LANES: usize = 8;

/// A product with a block of `width` vectors.
pub struct BlockJob<'a, T: Scalar> {
    /// Offsets and columns of the entries.
    pub rows: Rows<'a>,
    /// Values of the entries; `None` for ones.
    pub values: Option<&'a [T]>,
    /// How Y is computed from the sums.
    pub finish: Finish<'a, T>,
    /// The numbers that entries gather from, row by row, `width` numbers a row: X, or X scaled.
    pub gathered: &'a [T],
    /// X itself, for the diagonal.
    pub x: &'a [T],
    /// Vectors of the block: columns of X and Y.
    pub width: usize,
}

/// Computes Y, row by row. Shares are those of products with single vectors; each sum is added in order.
///
/// # Errors
/// [`crate::error::Error::OutOfMemory`].
pub fn product<T: Scalar>(context: &Context, cut: Shares<'_>, job: &BlockJob<'_, T>, y: &mut [T]) -> Result<()> {
    match (job.rows.columns().0, job.values) {
        (Indices::I32(cols), Some(values)) => shares(context, cut, job, cols, values, y),
        (Indices::I64(cols), Some(values)) => shares(context, cut, job, cols, values, y),
        (Indices::I32(cols), None) => shares(context, cut, job, cols, Ones, y),
        (Indices::I64(cols), None) => shares(context, cut, job, cols, Ones, y),
    }
}

fn shares<T: Scalar, I: Index, V: Values<T>>(
    context: &Context,
    cut: Shares<'_>,
    job: &BlockJob<'_, T>,
    cols: &[I],
    values: V,
    y: &mut [T],
) -> Result<()> {
    let tiles = cut.tiles;
    let (count, width, finish) = (tiles.len() - 1, job.width, &job.finish);
    let mut parts = alloc::with_capacity("shares of a sparse product", count)?;
    let mut carries = alloc::filled("carries of a sparse product", count * width, T::default())?;
    let mut rest = &mut *y;
    for (pair, carry) in tiles.windows(2).zip(carries.chunks_exact_mut(width)) {
        let (own, tail) = rest.split_at_mut((pair[1].row - pair[0].row) * width);
        parts.push((pair[0], pair[1], own, carry));
        rest = tail;
    }
    let base = job.rows.columns().1;
    let work = |(begin, end, own, carry): (Tile, Tile, &mut [T], &mut [T])| {
        let mut from = begin.entry;
        let mut sums = [T::default(); LANES];
        let row = |from: usize, to: usize, sums: &mut [T; LANES], first: usize, lanes: usize| {
            *sums = [T::default(); LANES];
            let values = values.part(from, to);
            for (k, col) in cols[from..to].iter().enumerate() {
                let at = (col.to_usize() - base as usize) * width + first;
                let x = &job.gathered[at..at + lanes];
                // Full groups of LANES vectors are compiled without a loop of variable length.
                match <&[T; LANES]>::try_from(x) {
                    Ok(x) => (0..LANES).for_each(|c| sums[c] += values.times(k, x[c])),
                    Err(_) => (0..lanes).for_each(|c| sums[c] += values.times(k, x[c])),
                }
            }
        };
        for (i, y) in (begin.row..end.row).zip(own.chunks_exact_mut(width)) {
            let to = job.rows.entry(i + 1);
            for first in (0..width).step_by(LANES) {
                let lanes = LANES.min(width - first);
                row(from, to, &mut sums, first, lanes);
                for (c, (y, sum)) in (first..).zip(y[first..first + lanes].iter_mut().zip(&sums)) {
                    *y = finish.rest_of(i, || job.x[i * width + c], *y) + finish.add(i, *sum);
                }
            }
            from = to;
        }
        for first in (0..width).step_by(LANES) {
            let lanes = LANES.min(width - first);
            row(from, end.entry, &mut sums, first, lanes);
            carry[first..first + lanes].copy_from_slice(&sums[..lanes]);
        }
    };
    context.pool().run_here(|| parts.into_par_iter().for_each(work));
    for (tile, carry) in tiles[1..].iter().zip(carries.chunks_exact(width)) {
        if tile.row < job.rows.len() && tile.entry > job.rows.entry(tile.row) {
            let y = &mut y[tile.row * width..(tile.row + 1) * width];
            y.iter_mut().zip(carry).for_each(|(y, c)| *y += finish.add(tile.row, *c));
        }
    }
    Ok(())
}
