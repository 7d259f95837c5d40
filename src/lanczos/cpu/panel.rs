//! Products of a piece of a Krylov space with a vector, and the subtraction of such a product from a vector. Every
//! number of the space is read once. Several columns are read at a time, so that the vector is read less often.

use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::{Kernel, Lanes, Simd, dispatch};
use crate::backend::memory::{parts, parts_mut};
use crate::dense::serial::multiply;
use crate::dense::{Accum, Mat, MatMut};
use crate::scalar::{Real, Scalar};

/// Columns that are read at a time.
const COLUMNS: usize = 4;

/// SIMD vectors of w that stay in registers while columns are subtracted.
const DEPTH: usize = 4;

/// Rows of some columns of a column-major matrix.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a, T> {
    /// The numbers from the panel's first one on.
    pub data: &'a [T],
    /// Distance between columns, in numbers.
    pub stride: usize,
    /// Columns of the panel V.
    pub count: usize,
}

impl<'a, T: Scalar> Panel<'a, T> {
    fn column(&self, j: usize, rows: usize) -> &'a [T] {
        &self.data[j * self.stride..][..rows]
    }

    fn view(&self, rows: usize) -> Mat<'a, T> {
        Mat::from_columns_with_stride(self.data, rows, self.count, self.stride)
    }

    /// h = V^H w, `count` coefficients.
    pub fn coefficients(&self, isa: Isa, w: &[T], h: &mut [T]) {
        if T::IS_COMPLEX {
            let one = T::from_parts(1.0, 0.0);
            let (w, h) = (Mat::from_columns(w, w.len(), 1), MatMut::from_columns(h, self.count, 1));
            return multiply(h, Accum::Replace, self.view(w.rows()).adjoint(), w, one);
        }
        let panel = Panel { data: parts(self.data), stride: self.stride, count: self.count };
        dispatch(isa, Coefficients { panel, w: parts(w), h: parts_mut(h) });
    }

    /// w -= V h, for the panel's rows.
    pub fn subtract(&self, isa: Isa, h: &[T], w: &mut [T]) {
        if T::IS_COMPLEX {
            let rows = w.len();
            let (h, w) = (Mat::from_columns(h, self.count, 1), MatMut::from_columns(w, rows, 1));
            return multiply(w, Accum::Add, self.view(rows), h, T::from_parts(-1.0, 0.0));
        }
        let panel = Panel { data: parts(self.data), stride: self.stride, count: self.count };
        dispatch(isa, Subtract { panel, h: parts(h), w: parts_mut(w) });
    }
}

struct Coefficients<'a, P> {
    panel: Panel<'a, P>,
    w: &'a [P],
    h: &'a mut [P],
}

impl<P: Real + Scalar> Kernel<P> for Coefficients<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<P>>(self, simd: S) {
        let Self { panel, w, h } = self;
        for (group, h) in h.chunks_mut(COLUMNS).enumerate() {
            let first = group * COLUMNS;
            // If fewer than four columns are left, the last one is repeated; its extra sums are dropped.
            let column = |k: usize| panel.column((first + k).min(panel.count - 1), w.len());
            let sums = dots(simd, [column(0), column(1), column(2), column(3)], w);
            h.iter_mut().zip(sums).for_each(|(h, sum)| *h = sum);
        }
    }
}

#[inline(always)]
fn dots<P: Real, S: Simd<P>>(simd: S, v: [&[P]; COLUMNS], w: &[P]) -> [P; COLUMNS] {
    let (n, step) = (w.len(), S::V::LEN);
    let v = [&v[0][..n], &v[1][..n], &v[2][..n], &v[3][..n]];
    let zero = simd.splat(P::ZERO);
    let (mut even, mut odd) = ([zero; COLUMNS], [zero; COLUMNS]);
    let mut i = 0;
    while i + 2 * step <= n {
        let (a, b) = (simd.load(&w[i..i + step]), simd.load(&w[i + step..i + 2 * step]));
        for k in 0..COLUMNS {
            even[k] = simd.load(&v[k][i..i + step]).mul_add(a, even[k]);
            odd[k] = simd.load(&v[k][i + step..i + 2 * step]).mul_add(b, odd[k]);
        }
        i += 2 * step;
    }
    while i < n {
        let end = n.min(i + step);
        let a = simd.load_part(&w[i..end]);
        for k in 0..COLUMNS {
            even[k] = simd.load_part(&v[k][i..end]).mul_add(a, even[k]);
        }
        i = end;
    }
    let mut sums = [P::ZERO; COLUMNS];
    for k in 0..COLUMNS {
        sums[k] = even[k].add(odd[k]).total();
    }
    sums
}

struct Subtract<'a, P> {
    panel: Panel<'a, P>,
    h: &'a [P],
    w: &'a mut [P],
}

impl<P: Real + Scalar> Kernel<P> for Subtract<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<P>>(self, simd: S) {
        let Self { panel, h, w } = self;
        let mut first = 0;
        // Few columns at a time, so that the processor can prefetch each of them; w stays in the L1 cache meanwhile.
        while first + 8 <= h.len() {
            subtract::<8, P, S>(simd, panel, first, h, w);
            first += 8;
        }
        if first + 4 <= h.len() {
            subtract::<4, P, S>(simd, panel, first, h, w);
            first += 4;
        }
        while first < h.len() {
            subtract::<1, P, S>(simd, panel, first, h, w);
            first += 1;
        }
    }
}

/// Subtracts `N` columns from `first` on from w, one after another.
#[inline(always)]
fn subtract<const N: usize, P: Real + Scalar, S: Simd<P>>(
    simd: S,
    panel: Panel<'_, P>,
    first: usize,
    h: &[P],
    w: &mut [P],
) {
    let (n, step) = (w.len(), S::V::LEN);
    let mut v: [&[P]; N] = [&[]; N];
    let mut factors = [simd.splat(P::ZERO); N];
    for k in 0..N {
        v[k] = panel.column(first + k, n);
        factors[k] = simd.splat(h[first + k]);
    }
    let mut i = 0;
    while i + DEPTH * step <= n {
        let mut sums = [simd.splat(P::ZERO); DEPTH];
        for (d, sum) in sums.iter_mut().enumerate() {
            *sum = simd.load(&w[i + d * step..][..step]);
        }
        for k in 0..N {
            let v = &v[k][i..i + DEPTH * step];
            for (d, sum) in sums.iter_mut().enumerate() {
                *sum = simd.load(&v[d * step..]).neg_mul_add(factors[k], *sum);
            }
        }
        for (d, sum) in sums.iter().enumerate() {
            sum.store(&mut w[i + d * step..][..step]);
        }
        i += DEPTH * step;
    }
    for k in 0..N {
        w[i..].iter_mut().zip(&v[k][i..]).for_each(|(w, v)| *w -= *v * h[first + k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Complex;

    /// Whole numbers, so that sums are exact in any order.
    fn check<T: Scalar>(isa: Isa, rows: usize, count: usize) {
        let number = |k: usize, m: usize| T::from_parts((k * 7 % m) as f64 - 3.0, (k * 5 % 3) as f64);
        let stride = rows + 3;
        let data: Vec<T> = (0..stride * count).map(|k| number(k, 11)).collect();
        let panel = Panel { data: &data, stride, count };
        let w: Vec<T> = (0..rows).map(|k| number(k, 5)).collect();
        let mut h = vec![T::from_parts(99.0, 0.0); count];
        panel.coefficients(isa, &w, &mut h);
        let mut left = w.clone();
        for j in 0..count {
            let mut sum = T::default();
            (0..rows).for_each(|i| sum += data[j * stride + i].conjugate() * w[i]);
            assert_eq!(h[j], sum, "{isa:?} {rows} x {count}, column {j}");
            (0..rows).for_each(|i| left[i] -= data[j * stride + i] * h[j]);
        }
        let mut got = w;
        panel.subtract(isa, &h, &mut got);
        assert_eq!(got, left, "{isa:?} {rows} x {count}");
    }

    #[test]
    fn coefficients_and_remainders_are_right_at_every_size() {
        for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|i| *i <= Isa::detect()) {
            for rows in [1, 2, 7, 31, 64, 65, 100, 257] {
                for count in [1, 2, 3, 4, 5, 9, 13] {
                    check::<f32>(isa, rows, count);
                    check::<f64>(isa, rows, count);
                    check::<Complex<f64>>(isa, rows, count);
                }
            }
        }
    }
}
