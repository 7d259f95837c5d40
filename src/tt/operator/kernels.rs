//! Kernels of a step on the CPU: copies of cores, products, sums of columns, powers of two.

use super::gather::{Gather, Term};
use super::ops::CoreView;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _};
use crate::dense::cpu::matrix::{pieces, split_columns};
use crate::dense::{Accum, Mat, MatMut, serial};
use crate::scalar::{Element, Real, Scalar};
use crate::trains::scaled::{exponent_of, scale};

/// Least number of columns of a product for each thread. With fewer, most time is spent on reading the other factor.
pub(super) const COLUMNS: usize = 64;

/// Exponent of the largest |re| or |im| of a core if its magnitude is beyond `limit`; otherwise 0.
pub(super) fn exponent_beyond<T: Scalar>(core: &[T], limit: Option<i64>) -> i64 {
    let Some(limit) = limit else { return 0 };
    let exponent = exponent_of(peak(core));
    if exponent.abs() > limit { exponent } else { 0 }
}

/// Largest |re| or |im|; NaN if a number is NaN.
pub(super) fn peak<T: Scalar>(values: &[T]) -> f64 {
    values.iter().fold(0.0f64, |most, x| {
        let size = x.re().abs().max(x.im().abs());
        // `max` would ignore a NaN, also in one part of a complex number.
        let size = if x.re().is_nan() || x.im().is_nan() { f64::NAN } else { size };
        if size > most || size.is_nan() { size } else { most }
    })
}

/// x 2^e, exact unless it overflows or underflows.
pub(super) fn shifted<T: Scalar>(x: T, e: i64) -> T {
    if e == 0 { x } else { T::from_parts(scale(x.re(), e), scale(x.im(), e)) }
}

/// Side of the squares in which a matrix is transposed, so that both fit in the cache.
const TILE: usize = 32;

/// Copies a core, with its bonds exchanged if `mirrored`.
pub(super) fn copy_core<S: Element, T>(
    core: &[S],
    view: &CoreView<'_>,
    mirrored: bool,
    to: &mut [T],
    convert: impl Fn(S) -> T,
) {
    if !mirrored {
        to.iter_mut().zip(core).for_each(|(to, &from)| *to = convert(from));
        return;
    }
    let [left, n, right] = view.dims;
    for j in 0..n {
        for first in (0..right).step_by(TILE) {
            for a in 0..left {
                for b in first..right.min(first + TILE) {
                    to[b + right * (j + n * a)] = convert(core[a + left * (j + n * b)]);
                }
            }
        }
    }
}

/// C = A B, by the calling thread.
pub(super) fn product<T: Scalar>(a: Mat<'_, T>, b: Mat<'_, T>, c: MatMut<'_, T>) {
    serial::multiply(c, Accum::Replace, a, b, T::from_parts(1.0, 0.0));
}

/// C = A B by all threads, in bands of columns.
pub(super) fn product_in_bands<T: Scalar>(a: Mat<'_, T>, b: Mat<'_, T>, c: MatMut<'_, T>) {
    let band = pieces(c.cols(), COLUMNS);
    split_columns(c, band).into_par_iter().enumerate().for_each(|(at, c)| {
        product(a, b.subcols(at * band, c.cols()), c);
    });
}

/// out = sum of columns of `from`, each `column` elements long; the column of term (q, j) begins at
/// column (q + stride j).
fn sum_columns<T: Scalar>(terms: &[Term], from: &[T], stride: usize, out: &mut [T]) {
    let column = out.len();
    let input = |t: &Term| {
        let at = column * (t.slot as usize + stride * t.column as usize);
        &from[at..at + column]
    };
    let Some((first, rest)) = terms.split_first() else {
        out.fill(T::default());
        return;
    };
    if terms.iter().all(|t| t.value.im == 0.0) {
        let real = |t: &Term| T::Part::from_f64(t.value.re);
        let h = real(first);
        if first.value.re == 1.0 {
            out.copy_from_slice(input(first));
        } else {
            out.iter_mut().zip(input(first)).for_each(|(o, x)| *o = x.scaled(h));
        }
        let mut pairs = rest.chunks_exact(2);
        for pair in &mut pairs {
            let (g, h) = (real(&pair[0]), real(&pair[1]));
            let columns = input(&pair[0]).iter().zip(input(&pair[1]));
            out.iter_mut().zip(columns).for_each(|(o, (x, y))| *o = *o + x.scaled(g) + y.scaled(h));
        }
        for t in pairs.remainder() {
            let h = real(t);
            out.iter_mut().zip(input(t)).for_each(|(o, x)| *o += x.scaled(h));
        }
        return;
    }
    let value = |t: &Term| T::from_parts(t.value.re, t.value.im);
    let h = value(first);
    out.iter_mut().zip(input(first)).for_each(|(o, x)| *o = *x * h);
    for t in rest {
        let h = value(t);
        out.iter_mut().zip(input(t)).for_each(|(o, x)| *o += *x * h);
    }
}

/// U[c, i, q', p] for one index of the trailing dimensions, from T[c, q, p, j], whose columns c have length `column`.
pub(super) fn sum_block<T: Scalar>(gather: &Gather, column: usize, pairs: usize, from: &[T], out: &mut [T]) {
    let count = gather.rows * gather.outputs;
    for (p, out) in out.chunks_exact_mut(column * count).enumerate() {
        let from = &from[column * gather.inputs * p..];
        for (to, out) in out.chunks_exact_mut(column).enumerate() {
            sum_columns(gather.of(to), from, gather.inputs * pairs, out);
        }
    }
}

/// Multiplies each of `values` by 2^e.
pub(super) fn shift_all<T: Scalar>(values: &mut [T], e: i64) {
    if e == 0 {
        return;
    }
    // Within these bounds, f64 holds the power and the exact product with any f32.
    if (-1000..=1000).contains(&e) {
        let power = scale(1.0, e);
        values.iter_mut().for_each(|x| *x = T::from_parts(x.re() * power, x.im() * power));
    } else {
        values.iter_mut().for_each(|x| *x = shifted(*x, e));
    }
}
