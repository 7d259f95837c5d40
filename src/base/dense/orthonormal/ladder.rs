//! The steps of CholeskyQR, one after the other until the columns are orthonormal.

use super::{Columns, Counts, How, Kind, Need, Small, deflation};
use crate::dense::{Algebra, Op, Step};
use crate::error::{Error, Result};
use crate::scalar::{Real, Scalar};

/// Unit roundoff of double precision.
const U: f64 = f64::EPSILON / 2.0;

/// Largest number of shifted steps. Each divides the condition by about 1e4, the inverse root of the shift.
const MOST_SHIFTED: u32 = 6;

/// Largest number of plain steps. Two are usual, three if the condition was near 1 / sqrt(u) before the first.
const MOST_PLAIN: u32 = 8;

/// If the spread of R's diagonal is above this, the columns were nearly orthonormal before the step.
const NEARLY: f64 = 0.5;

/// State of the factorisation of X.
struct State<'c, T: Scalar, C: Columns<T>> {
    columns: &'c mut C,
    /// The R of X = Q R: the product of the factors of all steps.
    r: Option<Small<T, C>>,
    /// R of the last step.
    step: Small<T, C>,
    plain: u32,
    shifted: u32,
    scaled: bool,
}

impl<T: Scalar, C: Columns<T>> State<'_, T, C> {
    /// R := S R for the R = S of the last step.
    #[inline(never)]
    fn accumulate(&mut self) -> Result<()> {
        let algebra = self.columns.algebra();
        let order = algebra.shape(&self.step).0;
        let mut product = algebra.zeros("triangular factor", order, order)?;
        match &self.r {
            Some(r) => algebra.multiply(1.0, &self.step, Op::Plain, r, Op::Plain, 0.0, &mut product)?,
            None => algebra.copy_columns(&self.step, 0, order, &mut product, 0)?,
        }
        self.r = Some(product);
        Ok(())
    }

    /// Scales the columns by powers of two to norms near 1. `false` if one is 0.
    #[inline(never)]
    fn scale(&mut self, x: &mut C::X) -> Result<bool> {
        self.scaled = true;
        let norms = self.columns.norms(x)?;
        if let Some(j) = norms.iter().position(|n| !n.is_finite()) {
            return Err(Error::Numerical(format!("column {j} of a matrix without a basis has the norm {}", norms[j])));
        }
        let order = norms.len();
        let mut down = crate::alloc::filled("scales of columns", order * order, T::default())?;
        let mut up = crate::alloc::filled("scales of columns", order * order, T::default())?;
        // Norms beyond this bound are only partly scaled. The rest is harmless in double precision.
        let most = if <T::Part as Real>::EPSILON.to_f64() > 1e-10 { 100.0 } else { 1000.0 };
        for (j, norm) in norms.iter().enumerate().filter(|(_, n)| **n > 0.0) {
            let exponent = norm.log2().round().clamp(-most, most) as i32;
            down[j * (order + 1)] = T::from_parts(2.0f64.powi(-exponent), 0.0);
            up[j * (order + 1)] = T::from_parts(2.0f64.powi(exponent), 0.0);
        }
        let algebra = self.columns.algebra();
        let down = algebra.upload("scales of columns", order, order, &down, order)?;
        self.step = algebra.upload("scales of columns", order, order, &up, order)?;
        self.columns.transform(x, &down)?;
        self.accumulate()?;
        Ok(norms.iter().all(|n| *n > 0.0))
    }
}

/// See [`super::orthonormalize`].
pub fn climb<T: Scalar, C: Columns<T>>(
    columns: &mut C,
    x: &mut C::X,
    how: How,
    counts: &mut Counts,
) -> Result<Small<T, C>> {
    let (rows, order) = columns.shape(x);
    if rows < order {
        return Err(Error::Internal(format!("a basis of {order} vectors of {rows} components")));
    }
    let mut step = columns.algebra().zeros("triangular factor", order, order)?;
    if order == 0 {
        return Ok(step);
    }
    if how.kind == Kind::Householder && columns.householder(x, &mut step)? {
        counts.householder += 1;
        return Ok(step);
    }
    // In units of ||X||_F^2, an upper bound of the ||X||_2^2 of the error analysis.
    let shift = (11.0 * (rows as f64 * order as f64 + order as f64 * (order as f64 + 1.0)) * U).min(0.01);
    let mut shifting = matches!(how.kind, Kind::Scqr3 | Kind::Householder);
    let mut state = State { columns, r: None, step, plain: 0, shifted: 0, scaled: false };
    let regular = loop {
        let outcome = state.columns.cholesky_step(x, if shifting { shift } else { 0.0 }, &mut state.step)?;
        match outcome {
            Step::Done { spread } => {
                state.accumulate()?;
                if shifting {
                    state.shifted += 1;
                    counts.shifted += 1;
                    shifting = false;
                    continue;
                }
                state.plain += 1;
                counts.plain += 1;
                if is_enough::<T>(how, spread, state.plain) {
                    break true;
                }
                if state.plain >= MOST_PLAIN {
                    break false;
                }
            }
            Step::Failed => {
                if !state.scaled {
                    if !state.scale(x)? {
                        break false;
                    }
                } else if shifting || state.shifted >= MOST_SHIFTED {
                    break false;
                } else {
                    shifting = true;
                }
            }
        }
    };
    if !regular {
        return deflation::complete(state.columns, x, state.r, how.seed, counts);
    }
    state.r.ok_or_else(|| Error::Internal("a basis without a step".into()))
}

/// Whether the columns are orthonormal enough after plain step number `plain`, whose R had the `spread`. Their error is about
/// u / spread^2.
fn is_enough<T: Scalar>(how: How, spread: f64, plain: u32) -> bool {
    if how.need == Need::Span || how.kind == Kind::Cqr {
        return spread > 10.0 * U.sqrt();
    }
    // Single precision cannot represent the gain of a second step. The threshold has a margin, because the diagonal of R
    // underestimates the condition.
    let single = <T::Part as Real>::EPSILON.to_f64() > 1e-10;
    if single && how.kind == Kind::Auto && spread > 0.03 {
        return true;
    }
    plain >= 2 && spread > NEARLY
}
