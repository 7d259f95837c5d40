//! Sums of rows, and the rows of a share.

use super::job::Job;
use crate::matrix::sparse::Index;
use crate::scalar::Scalar;
use crate::spmv::tiles::Tile;

/// Rows whose offsets are read at a time.
const ROWS: usize = 256;

/// The sum of a row's entries `from .. to`.
pub(super) trait RowSum<T> {
    fn sum(&self, from: usize, to: usize) -> T;
}

/// The part of the work that a thread sums at a time: a share.
pub(super) struct Part<'s, T> {
    /// Its start, and the start of the next share.
    pub(super) range: (Tile, Tile),
    /// The rows in the order in which they are summed; `None` for ascending order.
    pub(super) order: Option<&'s [u32]>,
    /// y for the rows that end in the share.
    pub(super) y: &'s mut [T],
}

impl<T: Scalar> Part<'_, T> {
    /// Finishes the rows that end in the share. Returns the sum of its entries of the row that ends in a later share.
    #[inline(always)]
    pub(super) fn finish<R: RowSum<T>>(self, job: &Job<'_, T>, of: &R) -> T {
        let Self { range: (begin, end), order, y } = self;
        if let Some(order) = order {
            for &at in order {
                let i = begin.row + at as usize;
                let sum = of.sum(job.rows.entry(i), job.rows.entry(i + 1));
                y[at as usize] = job.finish.of(i, job.x, sum, y[at as usize]);
            }
            return T::default();
        }
        let plain = job.finish.is_plain();
        // The first row may begin before the share; only its entries in the share are summed.
        let mut offsets = [begin.entry; ROWS + 1];
        let mut first = begin.row;
        for y in y.chunks_mut(ROWS) {
            for (offset, i) in offsets[1..].iter_mut().zip(first + 1..first + 1 + y.len()) {
                *offset = job.rows.entry(i);
            }
            if plain {
                for (pair, y) in offsets.windows(2).zip(&mut *y) {
                    *y = job.finish.alpha * of.sum(pair[0], pair[1]);
                }
            } else {
                for ((i, pair), y) in (first..).zip(offsets.windows(2)).zip(&mut *y) {
                    *y = job.finish.of(i, job.x, of.sum(pair[0], pair[1]), *y);
                }
            }
            first += y.len();
            offsets[0] = offsets[y.len()];
        }
        of.sum(offsets[0], end.entry)
    }
}

/// The values of a matrix.
pub(super) trait Values<T>: Copy + Sync {
    /// Value `k` times `x`; `x` itself for a pattern.
    fn times(self, k: usize, x: T) -> T;
    /// Values `from .. to`, numbered from 0 again.
    fn part(self, from: usize, to: usize) -> Self;
}

impl<T: Scalar> Values<T> for &[T] {
    #[inline(always)]
    fn times(self, k: usize, x: T) -> T {
        self[k] * x
    }
    #[inline(always)]
    fn part(self, from: usize, to: usize) -> Self {
        &self[from..to]
    }
}

/// The values of a pattern, all 1.
#[derive(Clone, Copy)]
pub(super) struct Ones;

impl<T: Scalar> Values<T> for Ones {
    #[inline(always)]
    fn times(self, _: usize, x: T) -> T {
        x
    }
    #[inline(always)]
    fn part(self, _: usize, _: usize) -> Self {
        self
    }
}

/// The entries of all rows, and the vector that they gather from.
#[derive(Clone, Copy)]
pub(super) struct Row<'a, T, I, V> {
    pub(super) cols: &'a [I],
    pub(super) base: i64,
    pub(super) values: V,
    pub(super) gathered: &'a [T],
    /// Whether entries are added in [`SUMS`] sums, not one after another.
    pub(super) grouped: bool,
}

impl<T: Scalar, I: Index, V: Values<T>> RowSum<T> for Row<'_, T, I, V> {
    #[inline(always)]
    fn sum(&self, from: usize, to: usize) -> T {
        if self.grouped { self.in_groups(from, to) } else { self.in_order(from, to) }
    }
}

/// Independent sums of a row, which hide the latency of an addition.
const SUMS: usize = 4;

impl<T: Scalar, I: Index, V: Values<T>> Row<'_, T, I, V> {
    #[inline(always)]
    fn at(&self, col: I) -> T {
        // The base is 0 or 1, and no larger than any index.
        self.gathered[col.to_usize() - self.base as usize]
    }

    /// Entries `from .. to`, added one after another.
    #[inline(always)]
    fn in_order(&self, from: usize, to: usize) -> T {
        let values = self.values.part(from, to);
        let mut sum = T::default();
        for (k, &col) in self.cols[from..to].iter().enumerate() {
            sum += values.times(k, self.at(col));
        }
        sum
    }

    /// Entries `from .. to` in [`SUMS`] sums.
    #[inline(always)]
    fn in_groups(&self, from: usize, to: usize) -> T {
        let values = self.values.part(from, to);
        let mut sums = [T::default(); SUMS];
        let chunks = self.cols[from..to].chunks_exact(SUMS);
        let (rest, first) = (chunks.remainder(), (to - from) / SUMS * SUMS);
        for (chunk, cols) in chunks.enumerate() {
            for lane in 0..SUMS {
                sums[lane] += values.times(chunk * SUMS + lane, self.at(cols[lane]));
            }
        }
        for (lane, &col) in rest.iter().enumerate() {
            sums[lane] += values.times(first + lane, self.at(col));
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }
}
