//! Centring and scaling by corrections to products, for sparse matrices and operators.
//!
//! With A' = (A - 1 mu^T - nu 1^T) G, G the diagonal of the gains times the units: A' W = A (G W) - 1 (mu^T G W) - nu
//! (1^T G W) and A'^H P = G (A^H P - conj(mu) (1^T P) - 1 (nu^H P)). G is applied to the entries of a sparse matrix in
//! double precision. Neither G W nor A^H P need then be in the range of the type.

use std::sync::Arc;

use super::panel::Transform;
use super::work::{LeftFactor, Work};
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::Algebra;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar};

/// How a product applies the gains and the factor of a [`Transform`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Gains {
    /// `apply` multiplies each entry by those of its column, in double precision, before it is summed.
    Inside,
    /// The factors W and the products A^H P are multiplied, because the entries are not known.
    Outside,
}

/// The correction of a product for the means: shape_i sums_j is subtracted from entry (i, j). An empty shape is all ones.
pub struct Correction<'c> {
    shape: &'c [Complex<f64>],
    /// The factor of the shape.
    units: Units<'c>,
    /// Whether the conjugate of the shape is used.
    conjugate: bool,
    sums: Vec<Complex<f64>>,
}

/// Powers of two, one for each column of the data, or the same number for all lines.
#[derive(Clone, Copy)]
enum Units<'c> {
    Own(&'c Transform),
    All(f64),
}

impl Units<'_> {
    fn at(self, i: usize) -> f64 {
        match self {
            Self::Own(transform) => transform.unit(i),
            Self::All(unit) => unit,
        }
    }
}

/// `(adjoint, x, y, correction)`: y = A x, or A^H x, minus the correction.
pub type Apply<'f, T> = dyn FnMut(bool, &CpuMatrix<T>, &mut CpuMatrix<T>, Option<&Correction<'_>>) -> Result<()> + 'f;

impl<'c> Correction<'c> {
    /// The sums of the columns of `from`, weighted by `weight` of the row.
    fn sums<T: Scalar>(
        context: &Context,
        from: &CpuMatrix<T>,
        weight: impl Fn(usize) -> Complex<f64> + Sync,
    ) -> Result<Vec<Complex<f64>>> {
        let mut sums = crate::alloc::filled("sums of columns", from.cols(), Complex::default())?;
        let (rows, source) = (from.rows(), from.slice()?);
        if rows > 0 {
            context.pool().run(|| {
                sums.par_iter_mut().zip(source.par_chunks_exact(rows)).for_each(|(sum, from)| {
                    *sum = from.iter().enumerate().map(|(i, x)| wide(*x) * weight(i)).sum();
                });
            });
        }
        Ok(sums)
    }

    /// The correction of P = A X, or with `adjoint` of A^H X. For gains outside, X of P = A X is multiplied by them already;
    /// A^H X is multiplied by them afterwards, and for gains inside its entries have their units alone.
    pub fn new<T: Scalar>(
        context: &Context,
        transform: &'c Transform,
        x: &CpuMatrix<T>,
        adjoint: bool,
        gains: Gains,
    ) -> Result<Option<Self>> {
        let inside = gains == Gains::Inside && transform.multiplies();
        let (means, of_columns) = match (&transform.means[..], &transform.row_means[..]) {
            ([], []) => return Ok(None),
            (means, []) => (means, true),
            (_, rows) => (rows, false),
        };
        // A transform of rows has no gains.
        let units = match (inside, of_columns) {
            (false, _) => Units::All(1.0),
            (true, true) => Units::Own(transform),
            (true, false) => Units::All(transform.factor),
        };
        if of_columns == adjoint {
            let sums = Self::sums(context, x, |_| Complex::new(1.0, 0.0))?;
            return Ok(Some(Self { shape: means, units, conjugate: adjoint, sums }));
        }
        let weight = |i: usize| {
            let gain = if inside && of_columns { transform.gain(i) } else { 1.0 };
            let mean = means[i] * units.at(i) * gain;
            if adjoint { mean.conj() } else { mean }
        };
        let sums = Self::sums(context, x, weight)?;
        Ok(Some(Self { shape: &[], units: Units::All(1.0), conjugate: adjoint, sums }))
    }

    /// The number that is subtracted from entry (i, j).
    pub fn at(&self, i: usize, j: usize) -> Complex<f64> {
        match self.shape.get(i) {
            None => self.sums[j],
            Some(shape) => {
                let shape = *shape * self.units.at(i);
                self.sums[j] * if self.conjugate { shape.conj() } else { shape }
            }
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
    gains: Gains,
    apply: &mut Apply<'_, T>,
    w: &CpuMatrix<T>,
    p: &mut CpuMatrix<T>,
) -> Result<()> {
    if !transform.multiplies() || gains == Gains::Inside {
        let correction = Correction::new(context, transform, w, false, gains)?;
        return apply(false, w, p, correction.as_ref());
    }
    let mut gained = CpuMatrix::zeros("scaled factor", w.rows(), w.cols(), context.host_budget())?;
    gained.slice_mut()?.copy_from_slice(w.slice()?);
    gain_rows(context, transform, &mut gained)?;
    let correction = Correction::new(context, transform, &gained, false, gains)?;
    apply(false, &gained, p, correction.as_ref())
}

/// T = A'^H P, where A' is the centred and scaled A.
fn backward<T: Scalar>(
    context: &Context,
    transform: &Transform,
    gains: Gains,
    apply: &mut Apply<'_, T>,
    p: &CpuMatrix<T>,
    t: &mut CpuMatrix<T>,
) -> Result<()> {
    let correction = Correction::new(context, transform, p, true, gains)?;
    apply(true, p, t, correction.as_ref())?;
    if gains == Gains::Outside { gain_rows(context, transform, t) } else { Ok(()) }
}

/// The products of `work` by `apply`, with corrections for the transform.
pub fn pass<T: Scalar>(
    context: &Arc<Context>,
    (m, n): (usize, usize),
    transform: Option<&Transform>,
    gains: Gains,
    mut work: Work<'_, T>,
    apply: &mut Apply<'_, T>,
) -> Result<()> {
    work.check(m, n)?;
    let transform = transform.ok_or_else(|| Error::Internal("a pass without a survey".into()))?;
    let budget = context.host_budget();
    let mut own = None;
    if let Some(w) = work.w {
        if let Some(p) = &mut work.p {
            forward(context, transform, gains, apply, w, p)?;
        } else {
            let mut p = CpuMatrix::zeros("A W", m, w.cols(), budget)?;
            forward(context, transform, gains, apply, w, &mut p)?;
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
            forward(context, transform, gains, apply, &w, &mut p)?;
            backward(context, transform, gains, apply, &p, &mut w)?;
            g.slice_mut()?[first * n..(first + count) * n].copy_from_slice(w.slice()?);
        }
    }
    let Some(t) = work.t else { return Ok(()) };
    let drawn;
    let left = match work.left {
        LeftFactor::None => return Ok(()),
        LeftFactor::Given(p) => p,
        LeftFactor::Product => own
            .as_ref()
            .or(work.p.as_deref())
            .ok_or_else(|| Error::Internal("a fused pass without a product".into()))?,
        LeftFactor::Drawn(sketch) => {
            let mut rows = CpuMatrix::zeros("sketch", m, t.cols(), budget)?;
            CpuAlgebra::new(context).fill(&mut rows, &sketch, 0, 0)?;
            drawn = rows;
            &drawn
        }
    };
    backward(context, transform, gains, apply, left, t)
}
