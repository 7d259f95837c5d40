//! Products of matrices that fit the first caches, in tiles of registers. Nothing is packed or allocated: the operands are
//! read in place.
//!
//! All arithmetic is real. A complex matrix is its interleaved parts: rows and steps then count parts, columns and indices
//! of the sum count numbers. For a complex B, the sums of A with the real parts and with the imaginary parts of B are
//! separate, and are combined at the end: A (b_r + i b_i) = A b_r + i (A b_i). This needs no additional multiplications.

use super::simd::{Lanes, Simd};
use crate::scalar::Real;

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;

/// C[m, c] = sum_k A[m, k] B[k, c], where k runs over `outer` times `inner` values.
#[derive(Debug, Clone, Copy)]
pub struct Product<'a, T> {
    /// A, whose rows are contiguous.
    pub a: &'a [T],
    /// From one column of A to the next: within `inner`, and from one value of `outer` to the next.
    pub a_step: [usize; 2],
    /// B, at the steps below.
    pub b: &'a [T],
    /// From one row of B to the next: within `inner`, and from one value of `outer` to the next. If B is contiguous
    /// along `inner` this is 1, or 2 for a complex B.
    pub b_step: [usize; 2],
    /// From one column of B to the next; 1, or 2 for a complex B, if B is contiguous along its columns.
    pub b_column: usize,
    /// Values of the inner part of k, at least 1.
    pub inner: usize,
    /// Values of the outer part of k, at least 1.
    pub outer: usize,
    /// Rows of A and C, at least 1.
    pub rows: usize,
    /// Columns of B and C, at least 1.
    pub columns: usize,
    /// From one column of C to the next. Where there are fewer rows than a vector has lanes, whole vectors are written,
    /// with zeros behind the rows.
    pub c_column: usize,
    /// Whether B is complex, and then whether it is conjugated.
    pub complex: Option<bool>,
    /// Whether B is contiguous along its columns (else along `inner`).
    pub adjacent: bool,
}

impl<T: Real> Product<'_, T> {
    /// Number of elements of A, B and C that are accessed with vectors of `lanes`; `None` if the count overflows.
    fn extents(&self, lanes: usize) -> Option<[usize; 3]> {
        let parts = if self.complex.is_some() { 2 } else { 1 };
        let contiguous = if self.adjacent { self.b_column } else { self.b_step[0] };
        if self.inner == 0 || self.outer == 0 || self.rows == 0 || self.columns == 0 || contiguous != parts {
            return None;
        }
        let last = |step: [usize; 2]| {
            (self.inner - 1).checked_mul(step[0])?.checked_add((self.outer - 1).checked_mul(step[1])?)
        };
        let columns = |step: usize| (self.columns - 1).checked_mul(step);
        let a = last(self.a_step)?.checked_add(self.rows)?;
        let b = last(self.b_step)?.checked_add(columns(self.b_column)?)?.checked_add(parts)?;
        let c = columns(self.c_column)?.checked_add(self.rows.max(lanes))?;
        Some([a, b, c])
    }

    /// Computes C, and returns for each lane the largest magnitude of the written numbers and of `most`. If the product
    /// exceeds the operands, which is an error of the caller, nothing is computed and `most` is returned.
    #[inline(always)]
    pub fn run<S: Simd<T>>(&self, simd: S, c: &mut [T], most: S::V) -> S::V {
        let inside = self
            .extents(S::V::LEN)
            .is_some_and(|[ea, eb, ec]| ea <= self.a.len() && eb <= self.b.len() && ec <= c.len());
        debug_assert!(inside, "a small product outside its operands");
        if !inside {
            return most;
        }
        match (self.adjacent, self.complex) {
            (false, None) => self.tiles::<S, false, false>(simd, c, most),
            (false, Some(_)) => self.tiles::<S, false, true>(simd, c, most),
            (true, None) => self.tiles::<S, true, false>(simd, c, most),
            (true, Some(_)) => self.tiles::<S, true, true>(simd, c, most),
        }
    }

    /// Covers C with tiles. Those at the lower and right edge overlap their neighbours: the same numbers are computed
    /// again, rather than fewer at a time.
    #[inline(always)]
    fn tiles<S: Simd<T>, const ADJACENT: bool, const COMPLEX: bool>(
        &self,
        simd: S,
        c: &mut [T],
        mut most: S::V,
    ) -> S::V {
        let lanes = S::V::LEN;
        // Tiles of 3 x 8 vectors need the 32 registers of AVX-512.
        let wide = lanes * size_of::<T>() == 64;
        let width = if wide { 8 } else { 4 } / if COMPLEX { 2 } else { 1 };
        let vectors = self.rows.div_ceil(lanes);
        let mut column = 0;
        while column < self.columns {
            let left = self.columns - column;
            // Half a tile's width suffices for up to half the columns.
            let take = [width, width / 2, width / 4, 1]
                .into_iter()
                .find(|&w| w > 0 && (w <= left || (w / 2 < left && w <= self.columns)))
                .unwrap_or(1);
            let at = column.min(self.columns - take);
            let mut vector = 0;
            while vector < vectors {
                let high = match vectors - vector {
                    4 => 2,
                    n => n.min(3),
                };
                let rows = |v: usize| ((vector + v) * lanes).min(self.rows.saturating_sub(lanes));
                let (one, two, three) = ([rows(0)], [rows(0), rows(1)], [rows(0), rows(1), rows(2)]);
                macro_rules! tile {
                    ($rows:ident, $columns:literal) => {{
                        // SAFETY: `run` has checked the extents; tiles lie within rows and columns.
                        most = unsafe { self.tile::<S, _, $columns, ADJACENT, COMPLEX>(simd, $rows, at, c, most) }
                    }};
                }
                match (high, take) {
                    (1, 8) if wide && !COMPLEX => tile!(one, 8),
                    (2, 8) if wide && !COMPLEX => tile!(two, 8),
                    (3, 8) if wide && !COMPLEX => tile!(three, 8),
                    (1, 4) if wide || !COMPLEX => tile!(one, 4),
                    (2, 4) if wide || !COMPLEX => tile!(two, 4),
                    (3, 4) if wide || !COMPLEX => tile!(three, 4),
                    (1, 2) => tile!(one, 2),
                    (2, 2) => tile!(two, 2),
                    (3, 2) => tile!(three, 2),
                    (1, _) => tile!(one, 1),
                    (2, _) => tile!(two, 1),
                    _ => tile!(three, 1),
                }
                vector += high;
            }
            column += take;
        }
        most
    }

    /// HIGH vectors of rows times WIDE columns.
    ///
    /// # Safety
    /// The product lies within its operands and `c`; so do the tile's rows, where there are as many as lanes, and its
    /// columns.
    #[inline(always)]
    unsafe fn tile<S: Simd<T>, const HIGH: usize, const WIDE: usize, const ADJACENT: bool, const COMPLEX: bool>(
        &self,
        simd: S,
        rows: [usize; HIGH],
        column: usize,
        c: &mut [T],
        mut most: S::V,
    ) -> S::V {
        let lanes = S::V::LEN;
        let parts = if COMPLEX { 2 } else { 1 };
        let (b_step, b_column) = if ADJACENT { (self.b_step[0], parts) } else { (parts, self.b_column) };
        let narrow = self.rows < lanes;
        let zero = simd.splat(T::ZERO);
        let (mut re, mut im) = ([[zero; HIGH]; WIDE], [[zero; HIGH]; WIDE]);
        for outer in 0..self.outer {
            let mut a_at = outer * self.a_step[1];
            let mut b_at = outer * self.b_step[1] + column * b_column;
            for _ in 0..self.inner {
                let mut a = [zero; HIGH];
                for v in 0..HIGH {
                    if HIGH == 1 && narrow {
                        // SAFETY: the column of A has `rows` elements.
                        let from = unsafe { self.a.get_unchecked(a_at..a_at + self.rows) };
                        a[v] = simd.load_part(from);
                    } else {
                        // SAFETY: and here it has a whole vector from `rows[v]` on.
                        let from = unsafe { self.a.get_unchecked(a_at + rows[v]..a_at + rows[v] + lanes) };
                        a[v] = simd.load(from);
                    }
                }
                for w in 0..WIDE {
                    // SAFETY: within the rows and columns of B.
                    let b = simd.splat(unsafe { *self.b.get_unchecked(b_at + w * b_column) });
                    for v in 0..HIGH {
                        re[w][v] = a[v].mul_add(b, re[w][v]);
                    }
                    if COMPLEX {
                        // SAFETY: its imaginary part follows.
                        let b = simd.splat(unsafe { *self.b.get_unchecked(b_at + w * b_column + 1) });
                        for v in 0..HIGH {
                            im[w][v] = a[v].mul_add(b, im[w][v]);
                        }
                    }
                }
                a_at += self.a_step[0];
                b_at += b_step;
            }
        }
        let signs = if COMPLEX { signs(simd, self.complex == Some(true)) } else { zero };
        for w in 0..WIDE {
            for v in 0..HIGH {
                let sum = if COMPLEX { simd.swap_pairs(im[w][v]).mul_add(signs, re[w][v]) } else { re[w][v] };
                most = most.max(sum.abs());
                let at = (column + w) * self.c_column + rows[v];
                // SAFETY: C has a whole vector there.
                sum.store(unsafe { c.get_unchecked_mut(at..at + lanes) });
            }
        }
        most
    }
}

/// Prefetches `values` to the first cache, some time before they are needed. It affects speed only.
#[inline(always)]
pub fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(CACHE_LINE / size_of::<T>()) {
        // SAFETY: every x86-64 processor has the instruction, which does not fault.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}

/// The signs of the exchanged parts of i A b_i: alternately - and +, or + and - if b is conjugated.
#[inline(always)]
fn signs<T: Real, S: Simd<T>>(simd: S, conjugate: bool) -> S::V {
    let (even, odd) = if conjugate { (T::ONE, -T::ONE) } else { (-T::ONE, T::ONE) };
    let mut pattern = [even; 2 * 16];
    let mut k = 1;
    while k < pattern.len() {
        pattern[k] = odd;
        k += 2;
    }
    simd.load(&pattern)
}
