//! Shares of real matrices on vector units.
//!
//! Rows of uneven lengths are summed with gathers. A row that fits into one vector then needs no branch that depends on
//! its length, which the processor would mispredict. Short rows of similar length are summed entry by entry; this is
//! faster where the prediction is right.

use super::job::Job;
use super::rows::{Part, RowSum};
use crate::backend::cpu::simd::{Kernel, Lanes, Simd, prefetch};
use crate::backend::memory::parts;
use crate::matrix::sparse::Index;
use crate::scalar::{Real, Scalar};
use crate::spmv::info::Statistics;

/// A share's entries, and how they are summed.
pub(super) struct Share<'s, 'a, T: Scalar, I> {
    pub(super) entries: Part<'s, T>,
    pub(super) job: &'s Job<'a, T>,
    pub(super) cols: &'a [I],
    /// The same columns, if gathers are to be used.
    pub(super) gathered_by: Option<&'a [i32]>,
    /// Whether single loads are faster than gathers on this processor.
    pub(super) loads: bool,
}

/// Whether sums with gathers are faster than sums entry by entry, for these row lengths.
pub(super) fn suits(s: &Statistics) -> bool {
    s.mean > 16.0 || s.deviation > 0.1 * s.mean
}

/// Distance of prefetches, in entries.
const AHEAD: usize = 256;

/// Sums the entries of a row from the first to the last.
struct InOrder<'a, P, I> {
    cols: &'a [I],
    base: usize,
    values: &'a [P],
    x: &'a [P],
    asks: bool,
}

impl<T: Scalar, I: Index> RowSum<T> for InOrder<'_, T::Part, I> {
    #[inline(always)]
    fn sum(&self, from: usize, to: usize) -> T {
        if self.asks {
            prefetch(self.cols, from + AHEAD);
            prefetch(self.values, from + AHEAD);
        }
        let mut sum = T::Part::ZERO;
        for (col, value) in self.cols[from..to].iter().zip(&self.values[from..to]) {
            // The base is 0 or 1, and no larger than any index.
            sum = value.mul_add(self.x[col.to_usize() - self.base], sum);
        }
        number(sum)
    }
}

/// Sums entry by entry for a pattern, whose values are 1.
struct OnesInOrder<'a, P, I> {
    cols: &'a [I],
    base: usize,
    x: &'a [P],
    asks: bool,
}

impl<T: Scalar, I: Index> RowSum<T> for OnesInOrder<'_, T::Part, I> {
    #[inline(always)]
    fn sum(&self, from: usize, to: usize) -> T {
        if self.asks {
            prefetch(self.cols, from + AHEAD);
        }
        let mut sum = T::Part::ZERO;
        for col in &self.cols[from..to] {
            sum += self.x[col.to_usize() - self.base];
        }
        number(sum)
    }
}

/// Sums one SIMD vector of entries at a time: with gathers or, with `LOADS`, with single loads. Both give the same
/// bits.
struct Gathered<'a, P, S, const LOADS: bool> {
    simd: S,
    cols: &'a [i32],
    base: i32,
    values: &'a [P],
    x: &'a [P],
}

impl<T: Scalar, S: Simd<T::Part>, const LOADS: bool> RowSum<T> for Gathered<'_, T::Part, S, LOADS> {
    #[inline(always)]
    fn sum(&self, from: usize, to: usize) -> T {
        let (mut cols, mut values) = (&self.cols[from..], &self.values[from..to]);
        let mut sum = self.simd.splat(T::Part::ZERO);
        loop {
            let x = if LOADS {
                prefetch(cols, AHEAD);
                prefetch(values, AHEAD);
                self.simd.pick(self.x, cols, values.len(), self.base)
            } else {
                self.simd.gather(self.x, &cols[..values.len()], self.base)
            };
            sum = self.simd.load_part(values).mul_add(x, sum);
            if values.len() <= S::V::LEN {
                return number(sum.total());
            }
            (cols, values) = (&cols[S::V::LEN..], &values[S::V::LEN..]);
        }
    }
}

/// As [`Gathered`], for a pattern.
struct OnesGathered<'a, P, S, const LOADS: bool> {
    simd: S,
    cols: &'a [i32],
    base: i32,
    x: &'a [P],
}

impl<T: Scalar, S: Simd<T::Part>, const LOADS: bool> RowSum<T> for OnesGathered<'_, T::Part, S, LOADS> {
    #[inline(always)]
    fn sum(&self, from: usize, to: usize) -> T {
        let (mut cols, mut left) = (&self.cols[from..], to - from);
        let mut sum = self.simd.splat(T::Part::ZERO);
        loop {
            let x = if LOADS {
                prefetch(cols, AHEAD);
                self.simd.pick(self.x, cols, left, self.base)
            } else {
                self.simd.gather(self.x, &cols[..left], self.base)
            };
            sum = sum.add(x);
            if left <= S::V::LEN {
                return number(sum.total());
            }
            (cols, left) = (&cols[S::V::LEN..], left - S::V::LEN);
        }
    }
}

impl<T: Scalar, I: Index> Kernel<T::Part> for Share<'_, '_, T, I> {
    type Output = T;

    #[inline(always)]
    fn run<S: Simd<T::Part>>(self, simd: S) -> T {
        let Self { entries, job, cols, gathered_by, loads } = self;
        let x = parts(job.gathered);
        let base = job.rows.columns().1;
        let (narrow, base) = (base as i32, base as usize);
        match (gathered_by, job.values.map(parts), loads) {
            (Some(cols), Some(values), false) => {
                entries.finish(job, &Gathered::<_, _, false> { simd, cols, base: narrow, values, x })
            }
            (Some(cols), Some(values), true) => {
                entries.finish(job, &Gathered::<_, _, true> { simd, cols, base: narrow, values, x })
            }
            (Some(cols), None, false) => {
                entries.finish(job, &OnesGathered::<_, _, false> { simd, cols, base: narrow, x })
            }
            (Some(cols), None, true) => {
                entries.finish(job, &OnesGathered::<_, _, true> { simd, cols, base: narrow, x })
            }
            (None, Some(values), asks) => entries.finish(job, &InOrder { cols, base, values, x, asks }),
            (None, None, asks) => entries.finish(job, &OnesInOrder { cols, base, x, asks }),
        }
    }
}

#[inline(always)]
fn number<T: Scalar>(sum: T::Part) -> T {
    T::from_parts(sum.to_f64(), 0.0)
}
