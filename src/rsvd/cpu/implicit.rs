//! Centring and scaling by corrections to products, for data whose entries are not to be touched.
//!
//! With A' = (A - 1 mu^T - nu 1^T) G, G the diagonal of the gains:
//! A' W = A (G W) - 1 (mu^T G W) - nu (1^T G W) and A'^H P = G (A^H P - conj(mu) (1^T P) - 1 (nu^H P)).

use std::sync::Arc;

use super::panel::Transform;
use super::pass::{Left, Work};
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::Algebra;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar};

/// `(adjoint, x, y)`: y = A x, or A^H x.
pub type Apply<'f, T> = dyn FnMut(bool, &CpuMatrix<T>, &mut CpuMatrix<T>) -> Result<()> + 'f;

fn wide<T: Scalar>(x: T) -> Complex<f64> {
    Complex::new(x.re(), x.im())
}

fn narrow<T: Scalar>(x: Complex<f64>) -> T {
    T::from_parts(x.re, x.im)
}

/// Multiplies row i by gain i.
pub fn gain_rows<T: Scalar>(context: &Context, transform: &Transform, m: &mut CpuMatrix<T>) -> Result<()> {
    let rows = m.rows();
    if transform.gains.is_empty() || rows == 0 {
        return Ok(());
    }
    let values = m.slice_mut()?;
    context.pool().run(|| {
        values.par_chunks_exact_mut(rows).for_each(|column| {
            for (x, gain) in column.iter_mut().zip(&transform.gains) {
                *x = T::from_parts(x.re() * gain, x.im() * gain);
            }
        });
    });
    Ok(())
}

/// `to` -= (from's row-wise sums with `weights`) times `shape`, column by column: c_j = sum_i weights_i from_ij, then
/// to_ij -= shape_i c_j. Empty weights or an empty shape are all ones.
fn subtract<T: Scalar>(
    context: &Context,
    from: &CpuMatrix<T>,
    weights: &[Complex<f64>],
    shape: &[Complex<f64>],
    to: &mut CpuMatrix<T>,
) -> Result<()> {
    let (source_rows, rows) = (from.rows(), to.rows());
    if source_rows == 0 || rows == 0 {
        return Ok(());
    }
    let (source, target) = (from.slice()?, to.slice_mut()?);
    context.pool().run(|| {
        target.par_chunks_exact_mut(rows).zip(source.par_chunks_exact(source_rows)).for_each(|(to, from)| {
            let sum: Complex<f64> = match weights {
                [] => from.iter().map(|x| wide(*x)).sum(),
                _ => from.iter().zip(weights).map(|(x, w)| wide(*x) * w).sum(),
            };
            match shape {
                [] => to.iter_mut().for_each(|x| *x = narrow(wide(*x) - sum)),
                _ => to.iter_mut().zip(shape).for_each(|(x, s)| *x = narrow(wide(*x) - s * sum)),
            }
        });
    });
    Ok(())
}

/// Takes the means out of P = A W, where W has its gains.
pub fn center_product<T: Scalar>(
    context: &Context,
    transform: &Transform,
    w: &CpuMatrix<T>,
    p: &mut CpuMatrix<T>,
) -> Result<()> {
    if !transform.means.is_empty() {
        subtract(context, w, &transform.means, &[], p)?;
    }
    if !transform.row_means.is_empty() {
        subtract(context, w, &[], &transform.row_means, p)?;
    }
    Ok(())
}

/// Takes the means out of T = A^H P, and multiplies by the gains.
pub fn center_adjoint<T: Scalar>(
    context: &Context,
    transform: &Transform,
    p: &CpuMatrix<T>,
    t: &mut CpuMatrix<T>,
) -> Result<()> {
    let conjugates = |values: &[Complex<f64>]| -> Result<Vec<Complex<f64>>> {
        let mut all = crate::alloc::with_capacity("means", values.len())?;
        all.extend(values.iter().map(Complex::conj));
        Ok(all)
    };
    if !transform.means.is_empty() {
        subtract(context, p, &[], &conjugates(&transform.means)?, t)?;
    }
    if !transform.row_means.is_empty() {
        subtract(context, p, &conjugates(&transform.row_means)?, &[], t)?;
    }
    gain_rows(context, transform, t)
}

/// P = A' W.
fn forward<T: Scalar>(
    context: &Context,
    transform: &Transform,
    apply: &mut Apply<'_, T>,
    w: &CpuMatrix<T>,
    p: &mut CpuMatrix<T>,
) -> Result<()> {
    if transform.is_nothing() {
        return apply(false, w, p);
    }
    let mut gained = CpuMatrix::zeros("scaled factor", w.rows(), w.cols(), context.host_budget())?;
    gained.slice_mut()?.copy_from_slice(w.slice()?);
    gain_rows(context, transform, &mut gained)?;
    apply(false, &gained, p)?;
    center_product(context, transform, &gained, p)
}

/// The products of `work` by `apply(adjoint, x, y)`, which sets y to A x or A^H x, and corrections for the transform.
pub fn pass<T: Scalar>(
    context: &Arc<Context>,
    (m, n): (usize, usize),
    transform: Option<&Transform>,
    mut work: Work<'_, T>,
    apply: &mut Apply<'_, T>,
) -> Result<()> {
    work.check(m, n)?;
    let transform = transform.ok_or_else(|| Error::Internal("a pass without a survey".into()))?;
    let budget = context.host_budget();
    let mut own = None;
    if let Some(w) = work.w {
        if let Some(p) = &mut work.p {
            forward(context, transform, apply, w, p)?;
        } else {
            let mut p = CpuMatrix::zeros("A W", m, w.cols(), budget)?;
            forward(context, transform, apply, w, &mut p)?;
            own = Some(p);
        }
    }
    let identity_band = if work.gram.is_some() { 64.min(n) } else { 0 };
    if let Some(g) = &mut work.gram {
        for first in (0..n).step_by(identity_band.max(1)) {
            let count = identity_band.min(n - first);
            let mut w = CpuMatrix::<T>::zeros("columns of the identity", n, count, budget)?;
            for k in 0..count {
                w.slice_mut()?[k * n + first + k] = T::from_parts(1.0, 0.0);
            }
            let mut p = CpuMatrix::zeros("columns of the data", m, count, budget)?;
            forward(context, transform, apply, &w, &mut p)?;
            apply(true, &p, &mut w)?;
            center_adjoint(context, transform, &p, &mut w)?;
            g.slice_mut()?[first * n..(first + count) * n].copy_from_slice(w.slice()?);
        }
    }
    let Some(t) = work.t else { return Ok(()) };
    let drawn;
    let left = match work.left {
        Left::None => return Ok(()),
        Left::Given(p) => p,
        Left::Product => own
            .as_ref()
            .or(work.p.as_deref())
            .ok_or_else(|| Error::Internal("a fused pass without a product".into()))?,
        Left::Drawn(sketch) => {
            let mut rows = CpuMatrix::zeros("sketch", m, t.cols(), budget)?;
            CpuAlgebra::new(context).fill(&mut rows, &sketch, 0, 0)?;
            drawn = rows;
            &drawn
        }
    };
    apply(true, left, t)?;
    center_adjoint(context, transform, left, t)
}
