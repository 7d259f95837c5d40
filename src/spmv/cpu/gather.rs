//! Shares of real matrices on vector units.
//!
//! Rows of uneven lengths are summed by gathers: one that fits into a vector takes no branch that depends on its length, which
//! a processor would guess wrong. Short rows of like length are summed entry by entry, which is faster where the guess is right.

use super::Job;
use crate::backend::cpu::simd::{Kernel, Lanes, Simd};
use crate::backend::memory::parts;
use crate::matrix::sparse::Index;
use crate::scalar::{Real, Scalar};
use crate::spmv::info::Statistics;
use crate::spmv::plan::Tile;

/// Rows whose offsets are read at a time.
const ROWS: usize = 256;

/// As [`super::share`].
pub(super) struct Share<'s, 'a, T: Scalar, I> {
    pub(super) job: &'s Job<'a, T>,
    pub(super) cols: &'a [I],
    /// The same columns, where they are to be gathered by.
    pub(super) gathered_by: Option<&'a [i32]>,
    pub(super) base: i64,
    pub(super) order: Option<&'s [u32]>,
    pub(super) range: (Tile, Tile),
    pub(super) y: &'s mut [T],
}

/// Whether gathers are faster than loads one by one.
pub(super) fn suits(s: &Statistics) -> bool {
    s.mean > 16.0 || s.deviation > 0.1 * s.mean
}

/// The sum of a row's entries `from .. to`.
trait RowSum<P> {
    fn sum(&self, from: usize, to: usize) -> P;
}

/// Entry by entry.
struct InOrder<'a, P, I> {
    cols: &'a [I],
    base: usize,
    values: &'a [P],
    x: &'a [P],
}

impl<P: Real, I: Index> RowSum<P> for InOrder<'_, P, I> {
    #[inline(always)]
    fn sum(&self, from: usize, to: usize) -> P {
        let mut sum = P::ZERO;
        for (col, value) in self.cols[from..to].iter().zip(&self.values[from..to]) {
            // The base is 0 or 1, and no larger than any index.
            sum = value.mul_add(self.x[col.to_usize() - self.base], sum);
        }
        sum
    }
}

/// Entry by entry of a pattern, whose values are 1.
struct OnesInOrder<'a, P, I> {
    cols: &'a [I],
    base: usize,
    x: &'a [P],
}

impl<P: Real, I: Index> RowSum<P> for OnesInOrder<'_, P, I> {
    #[inline(always)]
    fn sum(&self, from: usize, to: usize) -> P {
        let mut sum = P::ZERO;
        for col in &self.cols[from..to] {
            sum += self.x[col.to_usize() - self.base];
        }
        sum
    }
}

/// A vector of entries at a time.
struct Gathered<'a, P, S> {
    simd: S,
    cols: &'a [i32],
    base: i32,
    values: &'a [P],
    x: &'a [P],
}

impl<P: Real, S: Simd<P>> RowSum<P> for Gathered<'_, P, S> {
    #[inline(always)]
    fn sum(&self, from: usize, to: usize) -> P {
        let (mut cols, mut values) = (&self.cols[from..to], &self.values[from..to]);
        let mut sum = self.simd.splat(P::ZERO);
        loop {
            let x = self.simd.gather(self.x, cols, self.base);
            sum = self.simd.load_part(values).mul_add(x, sum);
            if cols.len() <= S::V::LEN {
                return sum.total();
            }
            (cols, values) = (&cols[S::V::LEN..], &values[S::V::LEN..]);
        }
    }
}

/// A vector of entries of a pattern at a time.
struct OnesGathered<'a, P, S> {
    simd: S,
    cols: &'a [i32],
    base: i32,
    x: &'a [P],
}

impl<P: Real, S: Simd<P>> RowSum<P> for OnesGathered<'_, P, S> {
    #[inline(always)]
    fn sum(&self, from: usize, to: usize) -> P {
        let mut cols = &self.cols[from..to];
        let mut sum = self.simd.splat(P::ZERO);
        loop {
            sum = sum.add(self.simd.gather(self.x, cols, self.base));
            if cols.len() <= S::V::LEN {
                return sum.total();
            }
            cols = &cols[S::V::LEN..];
        }
    }
}

impl<T: Scalar, I: Index> Kernel<T::Part> for Share<'_, '_, T, I> {
    type Output = T;

    #[inline(always)]
    fn run<S: Simd<T::Part>>(self, simd: S) -> T {
        let Self { job, cols, gathered_by, base, .. } = self;
        let x = parts(job.gathered);
        let (base, narrow) = (base as usize, base as i32);
        match (gathered_by, job.values.map(parts)) {
            (Some(cols), Some(values)) => rows(self, &Gathered { simd, cols, base: narrow, values, x }),
            (Some(cols), None) => rows(self, &OnesGathered { simd, cols, base: narrow, x }),
            (None, Some(values)) => rows(self, &InOrder { cols, base, values, x }),
            (None, None) => rows(self, &OnesInOrder { cols, base, x }),
        }
    }
}

/// Finishes the rows that end in the share, and returns the sum of what it has of the next.
#[inline(always)]
fn rows<T: Scalar, I: Index, R: RowSum<T::Part>>(share: Share<'_, '_, T, I>, of: &R) -> T {
    let Share { job, order, range: (begin, end), y, .. } = share;
    let plain = job.finish.is_plain();
    if let Some(order) = order {
        for &at in order {
            let i = begin.row + at as usize;
            let sum = number(of.sum(job.rows.entry(i), job.rows.entry(i + 1)));
            y[at as usize] = finished(job, plain, i, sum, y[at as usize]);
        }
        return T::default();
    }
    // Of the first row, what lies in the share; of the others all.
    let mut offsets = [begin.entry; ROWS + 1];
    let mut first = begin.row;
    for y in y.chunks_mut(ROWS) {
        for (offset, i) in offsets[1..].iter_mut().zip(first + 1..first + 1 + y.len()) {
            *offset = job.rows.entry(i);
        }
        if plain {
            for (pair, y) in offsets.windows(2).zip(&mut *y) {
                *y = job.finish.alpha * number::<T>(of.sum(pair[0], pair[1]));
            }
        } else {
            for ((i, pair), y) in (first..).zip(offsets.windows(2)).zip(&mut *y) {
                *y = finished(job, plain, i, number(of.sum(pair[0], pair[1])), *y);
            }
        }
        first += y.len();
        offsets[0] = offsets[y.len()];
    }
    number(of.sum(offsets[0], end.entry))
}

#[inline(always)]
fn number<T: Scalar>(sum: T::Part) -> T {
    T::from_parts(sum.to_f64(), 0.0)
}

#[inline(always)]
fn finished<T: Scalar>(job: &Job<'_, T>, plain: bool, i: usize, sum: T, y: T) -> T {
    if plain { job.finish.alpha * sum } else { job.finish.of(i, job.x, sum, y) }
}
