//! Centring and scaling by corrections to products, for sparse matrices and operators.
//!
//! With A' = (A - 1 mu^T - nu 1^T) G, G the diagonal of the gains times the factor:
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

/// The correction of a product for the means: shape_i sums_j is subtracted from entry (i, j). An empty shape is all ones.
pub struct Correction<'c> {
    shape: &'c [Complex<f64>],
    /// Whether the conjugate of the shape is used.
    conjugate: bool,
    sums: Vec<Complex<f64>>,
}

/// `(adjoint, x, y, correction)`: y = A x, or A^H x, minus the correction.
pub type Apply<'f, T> = dyn FnMut(bool, &CpuMatrix<T>, &mut CpuMatrix<T>, Option<&Correction<'_>>) -> Result<()> + 'f;

impl<'c> Correction<'c> {
    /// The correction with the sums of the columns of `from`, weighted by `weights` (all ones if they are empty).
    fn new<T: Scalar>(
        context: &Context,
        from: &CpuMatrix<T>,
        weights: &[Complex<f64>],
        shape: &'c [Complex<f64>],
        conjugate: bool,
    ) -> Result<Self> {
        let mut sums = crate::alloc::filled("sums of columns", from.cols(), Complex::default())?;
        let (rows, source) = (from.rows(), from.slice()?);
        let turned = |w: &Complex<f64>| if conjugate { w.conj() } else { *w };
        if rows > 0 {
            context.pool().run(|| {
                sums.par_iter_mut().zip(source.par_chunks_exact(rows)).for_each(|(sum, from)| {
                    *sum = match weights {
                        [] => from.iter().map(|x| wide(*x)).sum(),
                        _ => from.iter().zip(weights).map(|(x, w)| wide(*x) * turned(w)).sum(),
                    };
                });
            });
        }
        Ok(Self { shape, conjugate, sums })
    }

    /// The correction of P = A W, where W is multiplied by the gains already.
    pub fn of_product<T: Scalar>(
        context: &Context,
        transform: &'c Transform,
        w: &CpuMatrix<T>,
    ) -> Result<Option<Self>> {
        let (means, row_means) = (&transform.means[..], &transform.row_means[..]);
        match (means, row_means) {
            ([], []) => Ok(None),
            (_, []) => Self::new(context, w, means, &[], false).map(Some),
            _ => Self::new(context, w, &[], row_means, false).map(Some),
        }
    }

    /// The correction of A^H P, before the gains are applied.
    fn of_adjoint<T: Scalar>(context: &Context, transform: &'c Transform, p: &CpuMatrix<T>) -> Result<Option<Self>> {
        let (means, row_means) = (&transform.means[..], &transform.row_means[..]);
        match (means, row_means) {
            ([], []) => Ok(None),
            (_, []) => Self::new(context, p, &[], means, true).map(Some),
            _ => Self::new(context, p, row_means, &[], true).map(Some),
        }
    }

    /// The number that is subtracted from entry (i, j).
    pub fn at(&self, i: usize, j: usize) -> Complex<f64> {
        match self.shape.get(i) {
            None => self.sums[j],
            Some(shape) => self.sums[j] * if self.conjugate { shape.conj() } else { *shape },
        }
    }

    /// Subtracts the correction from a finished product.
    pub fn subtract<T: Scalar>(&self, context: &Context, y: &mut CpuMatrix<T>) -> Result<()> {
        let rows = y.rows();
        if rows == 0 {
            return Ok(());
        }
        let target = y.slice_mut()?;
        context.pool().run(|| {
            target.par_chunks_exact_mut(rows).enumerate().for_each(|(j, column)| {
                column.iter_mut().enumerate().for_each(|(i, x)| *x = narrow(wide(*x) - self.at(i, j)));
            });
        });
        Ok(())
    }
}

fn wide<T: Scalar>(x: T) -> Complex<f64> {
    Complex::new(x.re(), x.im())
}

fn narrow<T: Scalar>(x: Complex<f64>) -> T {
    T::from_parts(x.re, x.im)
}

/// Multiplies row i by gain i and the factor.
pub fn gain_rows<T: Scalar>(context: &Context, transform: &Transform, m: &mut CpuMatrix<T>) -> Result<()> {
    let rows = m.rows();
    if !transform.multiplies() || rows == 0 {
        return Ok(());
    }
    let values = m.slice_mut()?;
    context.pool().run(|| {
        values.par_chunks_exact_mut(rows).for_each(|column| {
            for (j, x) in column.iter_mut().enumerate() {
                let gain = transform.gain(j) * transform.factor;
                *x = T::from_parts(x.re() * gain, x.im() * gain);
            }
        });
    });
    Ok(())
}

/// P = A' W, where A' is the centred and scaled A.
fn forward<T: Scalar>(
    context: &Context,
    transform: &Transform,
    apply: &mut Apply<'_, T>,
    w: &CpuMatrix<T>,
    p: &mut CpuMatrix<T>,
) -> Result<()> {
    if !transform.multiplies() {
        let correction = Correction::of_product(context, transform, w)?;
        return apply(false, w, p, correction.as_ref());
    }
    let mut gained = CpuMatrix::zeros("scaled factor", w.rows(), w.cols(), context.host_budget())?;
    gained.slice_mut()?.copy_from_slice(w.slice()?);
    gain_rows(context, transform, &mut gained)?;
    let correction = Correction::of_product(context, transform, &gained)?;
    apply(false, &gained, p, correction.as_ref())
}

/// T = A'^H P, where A' is the centred and scaled A.
fn backward<T: Scalar>(
    context: &Context,
    transform: &Transform,
    apply: &mut Apply<'_, T>,
    p: &CpuMatrix<T>,
    t: &mut CpuMatrix<T>,
) -> Result<()> {
    let correction = Correction::of_adjoint(context, transform, p)?;
    apply(true, p, t, correction.as_ref())?;
    gain_rows(context, transform, t)
}

/// The products of `work` by `apply`, with corrections for the transform.
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
            backward(context, transform, apply, &p, &mut w)?;
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
    backward(context, transform, apply, left, t)
}
