//! Sums of rows.

use crate::matrix::sparse::Index;
use crate::scalar::Scalar;

/// The values of a matrix.
pub(super) trait Values<T>: Copy + Sync {
    /// Value `k` times `x`.
    fn times(self, k: usize, x: T) -> T;
    /// Values `from .. to`.
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

/// The values of a pattern.
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

/// The entries of all rows, and the vector that they are multiplied with.
#[derive(Clone, Copy)]
pub(super) struct Row<'a, T, I, V> {
    pub(super) cols: &'a [I],
    pub(super) base: i64,
    pub(super) values: V,
    pub(super) gathered: &'a [T],
}

/// Independent sums of a row, which hide the latency of an addition.
const SUMS: usize = 4;

impl<T: Scalar, I: Index, V: Values<T>> Row<'_, T, I, V> {
    #[inline(always)]
    fn at(&self, col: I) -> T {
        // The base is 0 or 1, and no smaller than any index.
        self.gathered[col.to_usize() - self.base as usize]
    }

    /// Entries `from .. to`, added one after another.
    #[inline(always)]
    pub(super) fn in_order(&self, from: usize, to: usize) -> T {
        let values = self.values.part(from, to);
        let mut sum = T::default();
        for (k, &col) in self.cols[from..to].iter().enumerate() {
            sum += values.times(k, self.at(col));
        }
        sum
    }

    /// Entries `from .. to` in [`SUMS`] sums.
    #[inline(always)]
    pub(super) fn grouped(&self, from: usize, to: usize) -> T {
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
