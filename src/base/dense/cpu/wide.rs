//! Matrices with many more columns than rows: their left singular vectors without the right ones, and products.
//!
//! A A^H in double precision needs one read of A at the speed of a product, but does not resolve singular values below the
//! root of roundoff. They only matter for data in double precision. Then A^H = Q R is factorized without Q: each task adds
//! blocks of columns to its own R by reflections, and the R of the tasks are combined in order.

use super::factor;
use super::matrix::mismatch;
use super::matrix::{CpuMatrix, pieces};
use super::product::{multiply, multiply_watched};
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::{Accum, Delta, Mat, MatMut, serial};
use crate::error::Result;
use crate::instances::compiled_here;
use crate::scalar::{Scalar, is_finite};

/// Numbers of a panel that is converted to double precision at a time.
const PANEL: usize = 1 << 15;

/// Converts columns of A, from the given one on, to double precision.
type Load<'a, W> = &'a (dyn Fn(usize, &mut [W]) + Sync);

compiled_here! {
    /// Left singular vectors, m-by-m, and singular values, not increasing, of the packed m-by-n matrix A. Singular
    /// values may have errors that are small compared with `delta`. They are NaN if A has numbers that are not finite.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for another number of elements; as [`factor::svd`].
    pub fn left_vectors<T: Scalar>(
        context: &Context,
        a: &[T],
        shape: (usize, usize),
        delta: Delta,
    ) -> Result<(CpuMatrix<T>, Vec<f64>)> = left_vectors_of;
}

fn left_vectors_of<T: Scalar>(
    context: &Context,
    a: &[T],
    (rows, cols): (usize, usize),
    delta: Delta,
) -> Result<(CpuMatrix<T>, Vec<f64>)> {
    if a.len() != rows * cols {
        return Err(mismatch("left singular vectors", &[(rows, cols), (1, a.len())]));
    }
    let load = |first: usize, out: &mut [T::Wide]| {
        for (to, from) in out.iter_mut().zip(&a[first * rows..]) {
            *to = from.widen();
        }
    };
    let single = size_of::<T::Part>() == 4;
    let (wide, s) = vectors::<T::Wide>(context, (rows, cols), &load, single, delta)?;
    let mut u = CpuMatrix::zeros("left singular vectors", rows, rows, context.host_budget())?;
    u.slice_mut()?.iter_mut().zip(wide.slice()?).for_each(|(to, from)| *to = T::narrow(*from));
    Ok((u, s))
}

fn vectors<W: Scalar<Wide = W>>(
    context: &Context,
    shape: (usize, usize),
    load: Load<'_, W>,
    single: bool,
    delta: Delta,
) -> Result<(CpuMatrix<W>, Vec<f64>)> {
    let order = shape.0;
    let g = gram(context, shape, load)?;
    let diagonal = |m: &CpuMatrix<W>| -> Result<f64> { Ok(m.slice()?.iter().step_by(order + 1).map(|d| d.re()).sum()) };
    let trace = diagonal(&g)?;
    // Squares of data in single precision never leave this range. Those of data in double precision may; then A is
    // factorized.
    if trace > 1e-250 && trace < 1e250 {
        let (values, u) = factor::eigen(context, &g)?;
        if accurate(&values, trace, single, delta) {
            let mut s = alloc::with_capacity("singular values", order)?;
            s.extend(values.iter().map(|v| v.max(0.0).sqrt()));
            return Ok((u, s));
        }
    }
    let r = triangle(context, shape, load)?;
    if r.slice()?.iter().any(|x| !is_finite(*x)) {
        let u = CpuMatrix::zeros("left singular vectors", order, order, context.host_budget())?;
        return Ok((u, alloc::filled("singular values", order, f64::NAN)?));
    }
    // A = R^H Q^H has the right vectors of R as its left ones.
    let mut r = r;
    let largest = r.slice()?.iter().fold(0.0f64, |most, x| most.max(x.re().abs()).max(x.im().abs()));
    // Scaled by a power of two, which is exact: the iteration is not accurate for numbers far from 1.
    let power = 2.0f64.powi(if largest > 0.0 { (largest.log2() as i32).clamp(-1000, 1000) } else { 0 });
    r.slice_mut()?.iter_mut().for_each(|x| *x = W::from_parts(x.re() / power, x.im() / power));
    let mut svd = factor::svd(context, &r)?;
    svd.s.iter_mut().for_each(|s| *s *= power);
    Ok((svd.v, svd.s))
}

/// Whether the eigenvalues of A A^H, whose errors are the roundoff of their sum, are accurate enough for `delta`.
fn accurate(values: &[f64], trace: f64, single: bool, delta: Delta) -> bool {
    let noise = f64::EPSILON * trace;
    let delta2 = delta.of(trace.sqrt()).powi(2);
    let least = values.last().copied().unwrap_or(0.0);
    // Data in single precision have no values below the noise. Else `delta` has to be well above the noise, or all values
    // have to be well above both.
    single || delta2 >= 500.0 * noise || (least >= 500.0 * noise && delta2 < 0.25 * least)
}

/// Columns of a panel of about [`PANEL`] entries: 16 to 2048.
fn panel_width(rows: usize) -> usize {
    (PANEL / rows.max(1)).clamp(16, 2048)
}

/// The lower triangle of A A^H.
fn gram<W: Scalar<Wide = W>>(
    context: &Context,
    (rows, cols): (usize, usize),
    load: Load<'_, W>,
) -> Result<CpuMatrix<W>> {
    let what = "Gram matrix of an unfolding";
    let size = rows * rows;
    let width = panel_width(rows);
    // Partial sums together are no larger than half the matrix.
    let chunk = pieces(cols, (2 * rows).max(width));
    let count = cols.div_ceil(chunk).max(1);
    let _charge = context.host_budget().charge_host(what, size * count * size_of::<W>())?;
    let mut partial = alloc::filled(what, size * count, W::default())?;
    let one = W::from_parts(1.0, 0.0);
    context.pool().run(|| {
        partial.par_chunks_exact_mut(size).enumerate().try_for_each(|(i, part)| -> Result<()> {
            let (begin, end) = (i * chunk, cols.min((i + 1) * chunk));
            let mut panel = alloc::filled(what, rows * width.min(end - begin), W::default())?;
            let mut sum = MatMut::from_columns(part, rows, rows);
            for first in (begin..end).step_by(width) {
                let count = width.min(end - first);
                let panel = &mut panel[..rows * count];
                load(first, panel);
                let p = Mat::from_columns(panel, rows, count);
                if rows <= 32 {
                    serial::multiply(sum.as_mut(), Accum::Add, p, p.adjoint(), one);
                } else {
                    serial::add_lower::<W>(sum.as_mut(), p, p.adjoint());
                }
            }
            Ok(())
        })
    })?;
    let mut g = CpuMatrix::zeros(what, rows, rows, context.host_budget())?;
    let total = g.slice_mut()?;
    context.pool().run(|| {
        for part in partial.chunks_exact(size) {
            total.iter_mut().zip(part).for_each(|(s, p)| *s += *p);
        }
    });
    Ok(g)
}

/// R of A^H = Q R, an upper triangle of the order of A's rows.
fn triangle<W: Scalar>(context: &Context, (rows, cols): (usize, usize), load: Load<'_, W>) -> Result<CpuMatrix<W>> {
    let what = "triangle of an unfolding";
    let size = rows * rows;
    // Each block is factorized together with the triangle. Blocks of eight times its rows make this an extra eighth of work.
    let width = panel_width(rows).max(8 * rows).min(cols);
    let chunk = pieces(cols, width);
    let count = cols.div_ceil(chunk).max(1);
    let _charge = context.host_budget().charge_host(what, size * count * size_of::<W>())?;
    let mut partial = alloc::filled(what, size * count, W::default())?;
    context.pool().run(|| {
        partial.par_chunks_exact_mut(size).enumerate().try_for_each(|(i, part)| -> Result<()> {
            let (begin, end) = (i * chunk, cols.min((i + 1) * chunk));
            let mut panel = alloc::filled(what, rows * width.min(end - begin), W::default())?;
            let mut stack = Stack::new(rows, width.min(end - begin))?;
            for first in (begin..end).step_by(width) {
                let count = width.min(end - first);
                load(first, &mut panel[..rows * count]);
                stack.absorb(context, count, |row, column| panel[row + rows * column].conjugate())?;
            }
            stack.write(part);
            Ok(())
        })
    })?;
    let mut stack = Stack::new(rows, rows)?;
    context.pool().run(|| {
        partial.chunks_exact(size).try_for_each(|part| stack.absorb(context, rows, |row, i| part[i + rows * row]))
    })?;
    let mut r = CpuMatrix::zeros(what, rows, rows, context.host_budget())?;
    stack.write(r.slice_mut()?);
    Ok(r)
}

/// A triangle above a block of rows that will be added to it.
struct Stack<W> {
    values: Vec<W>,
    coefficients: Vec<W>,
    order: usize,
    height: usize,
}

impl<W: Scalar> Stack<W> {
    fn new(order: usize, block: usize) -> Result<Self> {
        let what = "triangle of an unfolding";
        let height = order + block;
        Ok(Self {
            values: alloc::filled(what, height * order, W::default())?,
            coefficients: alloc::filled(what, serial::coefficient_rows(order) * order, W::default())?,
            order,
            height,
        })
    }

    /// Replaces the triangle by the R of the triangle above `count` rows. Entry (i, column) of the rows is
    /// `entry(column, i)`.
    fn absorb(&mut self, context: &Context, count: usize, entry: impl Fn(usize, usize) -> W) -> Result<()> {
        let order = self.order;
        for (j, column) in self.values.chunks_exact_mut(self.height).enumerate() {
            // Clears the reflections below the diagonal.
            column[j + 1..order].fill(W::default());
            for (i, x) in column[order..order + count].iter_mut().enumerate() {
                *x = entry(j, i);
            }
        }
        let whole = MatMut::from_columns(&mut self.values, self.height, order);
        let rows = serial::coefficient_rows(order);
        let coefficients = MatMut::from_columns(&mut self.coefficients, rows, order);
        factor::reflect(context, whole.subrows(0, order + count), coefficients)
    }

    /// The triangle, with zeros below it.
    fn write(&self, out: &mut [W]) {
        let order = self.order;
        for (j, (to, from)) in out.chunks_exact_mut(order).zip(self.values.chunks_exact(self.height)).enumerate() {
            to.fill(W::default());
            to[..=j].copy_from_slice(&from[..=j]);
        }
    }
}

compiled_here! {
    /// U^H A for a packed A.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for sizes that do not fit; [`crate::error::Error::OutOfMemory`].
    pub fn project<T: Scalar>(
        context: &Context,
        u: &CpuMatrix<T>,
        a: &[T],
        shape: (usize, usize),
    ) -> Result<CpuMatrix<T>> = project_of;
}

fn project_of<T: Scalar>(
    context: &Context,
    u: &CpuMatrix<T>,
    a: &[T],
    (rows, cols): (usize, usize),
) -> Result<CpuMatrix<T>> {
    if a.len() != rows * cols {
        return Err(mismatch("a projection", &[u.shape(), (rows, cols), (1, a.len())]));
    }
    let mut out = CpuMatrix::zeros("projection", u.cols(), cols, context.host_budget())?;
    let a = Mat::from_columns(a, rows, cols);
    multiply(context, 1.0, u.view()?.adjoint(), a, Accum::Replace, out.view_mut()?)?;
    Ok(out)
}

compiled_here! {
    /// C = alpha A B^H into packed memory, which a cancel of the context ends with a part of C written.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for sizes that do not fit; [`crate::error::Error::Cancelled`];
    /// [`crate::error::Error::OutOfMemory`].
    pub fn product_to<T: Scalar>(
        context: &Context,
        alpha: f64,
        a: &CpuMatrix<T>,
        b: &CpuMatrix<T>,
        c: &mut [T],
    ) -> Result<()> = product_to_of;
}

fn product_to_of<T: Scalar>(
    context: &Context,
    alpha: f64,
    a: &CpuMatrix<T>,
    b: &CpuMatrix<T>,
    c: &mut [T],
) -> Result<()> {
    let (rows, cols) = (a.rows(), b.rows());
    let shape = (c.len(), 1);
    let Some(c) = c.get_mut(..rows * cols) else {
        return Err(mismatch("a product", &[a.shape(), b.shape(), shape]));
    };
    let (factors, c) = ((a.view()?, b.view()?.adjoint()), MatMut::from_columns(c, rows, cols));
    multiply_watched(context, alpha, factors, c, context.cancel_watch())
}
