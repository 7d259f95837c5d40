//! Sparse products on the threads of a context.
//!
//! A share sums its entries row by row. A row that ends in the share is finished there. The sum of a row that continues
//! in the next share is carried, and added in order after all shares are done.

pub mod block;
mod gather;
mod rows;

use super::options::Method;
use super::tiles::{Shares, Tile};
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::backend::cpu::simd::dispatch;
use crate::backend::cpu::{Isa, prefers_loads};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::sparse::{Index, Indices, Rows};
use crate::scalar::Scalar;
use gather::Share;
use rows::{Ones, Part, Row, Values};

/// How y is computed from the sum of a row: y_i = alpha r_i (A x)_i + (shift + weight d_i) x_i + beta y_i.
#[derive(Clone, Copy)]
pub struct Finish<'a, T: Scalar> {
    /// Factor alpha of the product.
    pub alpha: T,
    /// beta; with 0, y is not read.
    pub beta: T,
    /// Factors r of the rows; `None` for ones.
    pub row_scale: Option<&'a [T::Part]>,
    /// Factor of x, the same in every row.
    pub shift: T,
    /// Numbers d of the rows; `None` for zeros.
    pub diagonal: Option<&'a [T::Part]>,
    /// Factor of d, before it multiplies x.
    pub weight: T,
}

impl<T: Scalar> Finish<'_, T> {
    /// y = alpha A x + beta y.
    pub fn plain(alpha: T, beta: T) -> Self {
        Self { alpha, beta, row_scale: None, shift: T::default(), diagonal: None, weight: T::from_parts(1.0, 0.0) }
    }

    /// Whether y = alpha A x.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.beta == T::default() && self.row_scale.is_none() && !self.is_diagonal()
    }

    /// Whether there is a term (shift + weight d_i) x_i.
    #[inline(always)]
    pub fn is_diagonal(&self) -> bool {
        self.shift != T::default() || self.diagonal.is_some()
    }

    /// The new y_i from the row's sum `sum` and the old `y`. `x` is the vector of the diagonal term; it is not read
    /// without one.
    #[inline(always)]
    pub fn of(&self, i: usize, x: &[T], sum: T, y: T) -> T {
        self.rest(i, x, y) + self.add(i, sum)
    }

    #[inline(always)]
    pub(super) fn add(&self, i: usize, sum: T) -> T {
        let scaled = self.alpha * sum;
        self.row_scale.map_or(scaled, |r| T::from_parts(r[i].re(), 0.0) * scaled)
    }

    /// y_i without the sum's term. `x` is the vector of the diagonal term; it is not read without one.
    #[inline(always)]
    pub(super) fn rest(&self, i: usize, x: &[T], y: T) -> T {
        self.rest_of(i, || x[i], y)
    }

    /// As [`Finish::rest`]; `x` returns x_i.
    #[inline(always)]
    pub(super) fn rest_of(&self, i: usize, x: impl FnOnce() -> T, y: T) -> T {
        let zero = T::default();
        let mut out = if self.beta == zero { zero } else { self.beta * y };
        if self.is_diagonal() {
            let d = self.diagonal.map_or(zero, |d| self.weight * T::from_parts(d[i].re(), 0.0));
            out += (self.shift + d) * x();
        }
        out
    }
}

/// Fewest shares for a thread.
const FEWEST: usize = 3;

/// The arguments of a product.
pub struct Job<'a, T: Scalar> {
    /// Offsets and columns of the entries.
    pub rows: Rows<'a>,
    /// Values of the entries; `None` for ones.
    pub values: Option<&'a [T]>,
    /// How y is computed from the sums.
    pub finish: Finish<'a, T>,
    /// The vector that entries gather from: x, or x scaled.
    pub gathered: &'a [T],
    /// x itself, for the diagonal.
    pub x: &'a [T],
}

/// Computes y as `job` describes, in the given shares. O(rows + entries).
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
