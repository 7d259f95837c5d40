//! Operations on the columns and on all elements of a matrix.

use super::matrix::{CpuMatrix, mismatch, pieces, split_rows};
use super::sums::squares;
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::sketch::Sketch;
use crate::error::Result;
use crate::instances::compiled_here;
use crate::scalar::Scalar;
use crate::shape::to_u64;

/// Elements of a sum that one task adds up.
const STRETCH: usize = 1 << 14;

compiled_here! {
    /// Multiplies each of `values` by a real `factor`.
    pub(super) fn scale_all<T: Scalar>(context: &Context, values: &mut [T], factor: f64) = scale_all_of;

    /// [`crate::dense::Algebra::scale_columns`].
    pub(super) fn scale<T: Scalar>(context: &Context, m: &mut CpuMatrix<T>, factors: &[f64]) -> Result<()> = scale_of;

    /// [`crate::dense::Algebra::fill`].
    pub(super) fn fill<T: Scalar>(
        context: &Context,
        m: &mut CpuMatrix<T>,
        sketch: &Sketch,
        first_row: u64,
        first_column: u32,
    ) -> Result<()> = fill_of;

    /// [`crate::dense::Algebra::norm2`].
    pub(super) fn norm2<T: Scalar>(context: &Context, m: &CpuMatrix<T>) -> Result<f64> = norm2_of;

    /// [`crate::dense::Algebra::column_norms`].
    pub(super) fn norms<T: Scalar>(context: &Context, m: &CpuMatrix<T>) -> Result<Vec<f64>> = norms_of;

    /// [`crate::dense::Algebra::column_peaks`].
    pub(super) fn peaks<T: Scalar>(context: &Context, m: &CpuMatrix<T>) -> Result<Vec<(f64, f64)>> = peaks_of;
}

fn scale_all_of<T: Scalar>(context: &Context, values: &mut [T], factor: f64) {
    context.pool().run(|| {
        values
            .par_chunks_mut(STRETCH)
            .for_each(|part| part.iter_mut().for_each(|x| *x = T::from_parts(x.re() * factor, x.im() * factor)));
    });
}

fn scale_of<T: Scalar>(context: &Context, m: &mut CpuMatrix<T>, factors: &[f64]) -> Result<()> {
    let (rows, cols) = m.shape();
    if factors.len() != cols {
        return Err(mismatch("a scaling", &[(rows, cols), (1, factors.len())]));
    }
    if rows == 0 {
        return Ok(());
    }
    let values = m.slice_mut()?;
    context.pool().run(|| {
        values.par_chunks_mut(rows).zip(factors).for_each(|(column, &factor)| {
            column.iter_mut().for_each(|x| *x = T::from_parts(x.re() * factor, x.im() * factor));
        });
    });
    Ok(())
}

fn fill_of<T: Scalar>(
    context: &Context,
    m: &mut CpuMatrix<T>,
    sketch: &Sketch,
    first_row: u64,
    first_column: u32,
) -> Result<()> {
    let chunk = pieces(m.rows(), 2048);
    let parts = split_rows(m.view_mut()?, chunk);
    context.pool().run(|| {
        parts.into_par_iter().enumerate().for_each(|(i, mut part)| {
            let first = first_row + to_u64(i * chunk);
            let (cols, mut j) = (part.cols(), 0);
            let mut column = first_column;
            while j < cols {
                let pair = j + 1 < cols && column.is_multiple_of(2);
                let (left, right) = part.as_mut().subcols(j, if pair { 2 } else { 1 }).split_at_col(1);
                match (left.into_column(0), pair.then_some(right).and_then(|right| right.into_column(0))) {
                    (Some(left), Some(right)) => sketch.fill_pair(first, column, left, right),
                    (Some(left), None) => sketch.fill_column(first, column, left),
                    (None, _) => {}
                }
                let step = if pair { 2 } else { 1 };
                (j, column) = (j + step, column + if pair { 2 } else { 1 });
            }
        });
    });
    Ok(())
}

fn norm2_of<T: Scalar>(context: &Context, m: &CpuMatrix<T>) -> Result<f64> {
    let values = m.slice()?;
    Ok(context.pool().run(|| in_stretches(values, squares)))
}

fn norms_of<T: Scalar>(context: &Context, m: &CpuMatrix<T>) -> Result<Vec<f64>> {
    let mut norms = alloc::filled("norms of columns", m.cols(), 0.0)?;
    if m.rows() > 0 {
        let values = m.slice()?;
        context.pool().run(|| {
            values.par_chunks(m.rows()).zip(&mut norms).for_each(|(column, n)| *n = norm(column));
        });
    }
    Ok(norms)
}

fn peaks_of<T: Scalar>(context: &Context, m: &CpuMatrix<T>) -> Result<Vec<(f64, f64)>> {
    let mut peaks = alloc::filled("peaks of columns", m.cols(), (0.0, 0.0))?;
    if m.rows() > 0 {
        let values = m.slice()?;
        context.pool().run(|| {
            values.par_chunks(m.rows()).zip(&mut peaks).for_each(|(column, peak)| {
                let mut most = 0.0;
                for x in column {
                    let size = x.re() * x.re() + x.im() * x.im();
                    if size > most {
                        (most, *peak) = (size, (x.re(), x.im()));
                    }
                }
            });
        });
    }
    Ok(peaks)
}

/// Sum over equal stretches of `values`, each by `sum`, added in order.
fn in_stretches<T: Scalar>(values: &[T], sum: impl Fn(&[T]) -> f64 + Sync) -> f64 {
    let length = values.len().div_ceil(1024).max(STRETCH);
    let parts: Vec<f64> = values.par_chunks(length).map(&sum).collect();
    parts.iter().sum()
}

/// Euclidean norm, without overflow or underflow on the way.
fn norm<T: Scalar>(values: &[T]) -> f64 {
    let sum = in_stretches(values, squares);
    if sum > 1e-280 && sum < 1e280 {
        return sum.sqrt();
    }
    let largest = values.iter().fold(0.0f64, |most, x| {
        // The modulus of a finite number may overflow, and `max` would lose a NaN.
        let (re, im) = (x.re().abs(), x.im().abs());
        let size = if re > im || re.is_nan() { re } else { im };
        if size > most || size.is_nan() { size } else { most }
    });
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    // By a power of two no number loses digits; two steps, as the inverse of a subnormal number is infinite.
    let scale = 2.0f64.powi(-(largest.log2().floor() as i32) / 2);
    let sum = in_stretches(values, |part| {
        part.iter().map(|x| (x.re() * scale * scale).powi(2) + (x.im() * scale * scale).powi(2)).sum()
    });
    sum.sqrt() / scale / scale
}
