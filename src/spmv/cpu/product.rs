//! Products by the shares of a plan.

use super::super::options::Method;
use super::super::tiles::{Shares, Tile};
use super::gather::{self, Share};
use super::job::Job;
use super::rows::{Ones, Part, Row, Values};
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::backend::cpu::simd::dispatch;
use crate::backend::cpu::{Isa, prefers_loads};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::sparse::{Index, Indices};
use crate::scalar::Scalar;

/// Fewest shares for a thread.
const FEWEST: usize = 3;

/// Computes y as `job` describes, in the given shares. O(rows + entries).
///
/// # Errors
/// [`crate::error::Error::OutOfMemory`].
pub fn product<T: Scalar>(context: &Context, cut: Shares<'_>, job: &Job<'_, T>, y: &mut [T]) -> Result<()> {
    match job.rows.columns().0 {
        Indices::I32(cols) => typed(context, cut, job, cols, y),
        Indices::I64(cols) => typed(context, cut, job, cols, y),
    }
}

fn typed<T: Scalar, I: Index>(
    context: &Context,
    cut: Shares<'_>,
    job: &Job<'_, T>,
    cols: &[I],
    y: &mut [T],
) -> Result<()> {
    let (base, gathered) = (job.rows.columns().1, job.gathered);
    let grouped = match cut.info.method {
        Method::Scalar => false,
        Method::RowGroup | Method::RowBin => cut.info.row_lanes >= 4,
        _ => true,
    };
    match job.values {
        Some(values) => shares(context, cut, job, Row { cols, base, values, gathered, grouped }, y),
        None => shares(context, cut, job, Row { cols, base, values: Ones, gathered, grouped }, y),
    }
}

fn shares<T: Scalar, I: Index, V: Values<T>>(
    context: &Context,
    cut: Shares<'_>,
    job: &Job<'_, T>,
    row: Row<'_, T, I, V>,
    y: &mut [T],
) -> Result<()> {
    let tiles = cut.tiles;
    let order = (cut.info.method == Method::RowBin).then_some(cut.order);
    let count = tiles.len() - 1;
    let mut parts = alloc::with_capacity("shares of a sparse product", count)?;
    let mut carries = alloc::filled("carries of a sparse product", count, T::default())?;
    let mut rest = &mut *y;
    for (pair, carry) in tiles.windows(2).zip(&mut carries) {
        let (own, tail) = rest.split_at_mut(pair[1].row - pair[0].row);
        parts.push((pair[0], pair[1], own, carry));
        rest = tail;
    }
    let isa = context.isa();
    let on_vectors = !T::IS_COMPLEX && isa != Isa::Portable && cut.info.method != Method::Scalar;
    let gathered_by = match job.rows.columns().0 {
        Indices::I32(cols) if gather::suits(&cut.info.statistics) => Some(cols),
        _ => None,
    };
    let loads = isa == Isa::Avx512 && prefers_loads();
    let work = |(begin, end, own, carry): (Tile, Tile, &mut [T], &mut T)| {
        let order = order.map(|o| &o[begin.row..end.row]);
        let entries = Part { range: (begin, end), order, y: own };
        *carry = if on_vectors {
            dispatch(isa, Share { entries, job, cols: row.cols, gathered_by, loads })
        } else {
            entries.finish(job, &row)
        };
    };
    context.pool().run_here(|| parts.into_par_iter().with_min_len(FEWEST).for_each(work));
    for (tile, carry) in tiles[1..].iter().zip(carries) {
        if tile.row < y.len() && tile.entry > job.rows.entry(tile.row) {
            y[tile.row] += job.finish.add(tile.row, carry);
        }
    }
    Ok(())
}
