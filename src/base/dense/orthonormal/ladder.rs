//! The steps of CholeskyQR, one after the other until the columns are orthonormal.

use super::erased::Operations;
use super::{BasisAccuracy, BasisMethod, Counts, Kind, deflation};
use crate::dense::Step;
use crate::dense::erased::Dense;
use crate::erased::Value;
use crate::error::{Error, Result};

/// Unit roundoff of double precision.
const U: f64 = f64::EPSILON / 2.0;

/// Largest number of shifted steps. Each divides the condition by about 1e4, the inverse root of the shift.
const MOST_SHIFTED: u32 = 6;

/// Largest number of plain steps. Two are usual, three if the condition was near 1 / sqrt(u) before the first.
const MOST_PLAIN: u32 = 8;

/// If the spread of R's diagonal is above this, the columns were nearly orthonormal before the step.
const NEARLY: f64 = 0.5;

/// State of the factorization of X.
struct State<'c> {
    columns: &'c mut dyn Operations,
    /// The R of X = Q R: the product of the factors of all steps.
    r: Option<Dense>,
    /// R of the last step.
    step: Dense,
    plain: u32,
    shifted: u32,
    scaled: bool,
}

impl State<'_> {
    /// R := S R for the R = S of the last step.
    fn accumulate(&mut self) -> Result<()> {
        let order = self.columns.small_shape(&self.step)?.0;
        let product = match &self.r {
            Some(r) => {
                let mut product = self.columns.zeros("triangular factor", order, order)?;
                self.columns.small_product(&self.step, r, 0.0, &mut product)?;
                product
            }
            None => self.columns.head("triangular factor", &self.step, order)?,
        };
        self.r = Some(product);
        Ok(())
    }

    /// Scales the columns by powers of two to norms near 1. `false` if one is 0.
    fn scale(&mut self, x: &mut dyn Value) -> Result<bool> {
        self.scaled = true;
        let norms = self.columns.norms(x)?;
        if let Some(j) = norms.iter().position(|n| !n.is_finite()) {
            // The columns are vectors of a basis, not those of a caller's matrix.
            let problem = format!("a product with the data is beyond the range of {}", self.columns.dtype().name());
            return Err(Error::Numerical(format!("{problem}: a vector of it has the norm {}", norms[j])));
        }
        let order = norms.len();
        // Norms beyond this bound are only partly scaled. The rest is harmless in double precision.
        let most = if self.columns.dtype().is_single() { 100.0 } else { 1000.0 };
        let exponent = |norm: f64| if norm > 0.0 { norm.log2().round().clamp(-most, most) as i32 } else { 0 };
        let mut scales = |sign: i32| {
            let scaled = norms.iter().enumerate().filter(|(_, norm)| **norm > 0.0);
            let mut scaled = scaled.map(|(j, norm)| (j, j, 2.0f64.powi(sign * exponent(*norm))));
            self.columns.entries("scales of columns", order, order, &mut scaled)
        };
        let (down, up) = (scales(-1)?, scales(1)?);
        self.step = up;
        self.columns.transform(x, &down)?;
        self.accumulate()?;
        Ok(norms.iter().all(|n| *n > 0.0))
    }
}

/// See [`super::orthonormalize`].
pub fn climb(
    columns: &mut dyn Operations,
    x: &mut dyn Value,
    method: BasisMethod,
    counts: &mut Counts,
) -> Result<Dense> {
    let (rows, order) = columns.shape(x)?;
    let is_single = columns.dtype().is_single();
    if rows < order {
        return Err(Error::Internal(format!("a basis of {order} vectors of {rows} components")));
    }
    let mut step = columns.zeros("triangular factor", order, order)?;
    if order == 0 {
        return Ok(step);
    }
    if method.kind == Kind::Householder && columns.householder(x, &mut step)? {
        counts.householder += 1;
        return Ok(step);
    }
    // In units of ||X||_F^2, an upper bound of the ||X||_2^2 of the error analysis.
    let shift = (11.0 * (rows as f64 * order as f64 + order as f64 * (order as f64 + 1.0)) * U).min(0.01);
    let mut shifting = matches!(method.kind, Kind::Scqr3 | Kind::Householder);
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
                if is_enough(method, is_single, spread, state.plain) {
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
        return deflation::complete(state.columns, x, state.r, method, counts);
    }
    state.r.ok_or_else(|| Error::Internal("a basis without a step".into()))
}

/// Whether the columns are orthonormal enough after plain step number `plain`, whose R had the `spread`. Their error is about
/// u / spread^2.
fn is_enough(method: BasisMethod, is_single: bool, spread: f64, plain: u32) -> bool {
    if method.need == BasisAccuracy::Span || method.kind == Kind::Cqr {
        return spread > 10.0 * U.sqrt();
    }
    // Single precision cannot represent the gain of a second step. The threshold has a margin, because the diagonal of R
    // underestimates the condition.
    if is_single && method.kind == Kind::Auto && spread > 0.03 {
        return true;
    }
    plain >= 2 && spread > NEARLY
}
