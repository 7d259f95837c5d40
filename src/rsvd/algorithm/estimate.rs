//! Errors of given factors, from random probes and exactly for each triplet (reference: Halko, Martinsson and Tropp, SIAM
//! Review 53, 2011, section 4.3).

use super::{ErrorFigures, Run};
use crate::dense::Op;
use crate::dense::sketch::Sketch;
use crate::error::{Error, Result};
use crate::rng::stream;
use crate::rsvd::erased::{Dense, Tall};
use crate::rsvd::options::{ErrorKind, Method, POWER_STEPS, least_tolerance};

/// ||A - A_k||_F from the singular values alone; `None` where the difference of the squares is only rounding error.
///
/// # Errors
/// As [`Run::statistics`].
pub fn identity(run: &Run<'_>, s: &[f64]) -> Result<Option<f64>> {
    difference(run, |norm2| s.iter().fold(norm2, |left, x| left - x * x))
}

/// ||A - A_k||_F from ||A_k||_F^2, as [`identity`].
///
/// # Errors
/// As [`Run::statistics`].
pub fn rest(run: &Run<'_>, captured: f64) -> Result<Option<f64>> {
    difference(run, |norm2| norm2 - captured)
}

fn difference(run: &Run<'_>, left: impl Fn(f64) -> f64) -> Result<Option<f64>> {
    let statistics = run.statistics()?;
    if statistics.is_estimate {
        // The error of an estimated norm can be larger than the difference.
        return Ok(None);
    }
    let norm2 = statistics.norm2;
    let error = left(norm2).max(0.0).sqrt();
    Ok((norm2 == 0.0 || error > least_tolerance(run.ops.dtype()) * norm2.sqrt()).then_some(error))
}

/// Relation of A_k = U diag(s) V^H to A, which decides how ||A||_F follows from the residual R = A - A_k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// A_k is a projection of A, so that R is orthogonal to it.
    Projection,
    /// R need not be orthogonal to A_k. V has orthonormal columns.
    Orthonormal,
    /// The caller's factors: V need not have orthonormal columns.
    Given,
}

impl Relation {
    /// That of the factors of a method.
    pub fn of(method: Method) -> Self {
        if method.is_projection() { Self::Projection } else { Self::Orthonormal }
    }
}

/// The residual R = A - U diag(s) V^H applied to Gaussian probes: ||R||_F to about a fifth with ten of them, and an upper
/// bound of ||R||_2 that fails with probability 10^-probes; or, for [`ErrorKind::Power`], ||R||_2 itself.
///
/// # Errors
/// Errors of the passes; [`Error::Numerical`] if the residual or its norm is not finite.
#[inline(never)]
pub fn probe(run: &mut Run<'_>, relation: Relation, u: &Tall, s: &[f64], v: &Dense) -> Result<ErrorFigures> {
    let has_power = run.task.error == ErrorKind::Power;
    let kind = if has_power { ErrorKind::Power } else { ErrorKind::Probes };
    let mut probes = run.task.probes;
    if has_power {
        // The probes are made orthonormal, so they cannot be more than the dimension of the space.
        probes = probes.min(run.ops.rows()).min(run.ops.columns());
    }
    let sketch = Sketch::gaussian(run.task.sketch.seed, stream::PROBES);
    let mut w = run.ops.zeros("probes", run.ops.columns(), probes)?;
    // Fresh ones each time: those that contradicted an estimate once must not test the next.
    run.ops.fill(&mut w, &sketch, 0, run.probed)?;
    run.probed = run.probed.saturating_add(u32::try_from(probes).unwrap_or(u32::MAX));
    let mut p = run.ops.tall("residual", probes)?;
    run.expect(kind.passes());
    residual(run, u, s, v, &w, &mut p)?;
    let norms = run.ops.tall_column_norms(&p)?;
    // Both parts of a complex probe are standard normal, so that its variance is 2.
    let variance = if run.ops.dtype().is_complex() { 2.0 } else { 1.0 };
    let frobenius = (norms.iter().map(|x| x * x).sum::<f64>() / (variance * probes as f64)).sqrt();
    if norms.iter().any(|x| !x.is_finite()) {
        let problem = "the residual of the factors is not finite: they hold NaN or infinity, or products overflow";
        return Err(Error::Numerical(problem.into()));
    }
    if run.statistics()?.is_estimate {
        run.refined_norm2 = Some(match relation {
            Relation::Projection => s.iter().map(|x| x * x).sum::<f64>() + frobenius * frobenius,
            Relation::Orthonormal | Relation::Given => {
                // Any orthonormal columns serve; there are at most as many as columns of A.
                let mut basis = run.head(v, s.len().min(run.ops.columns()))?;
                if relation == Relation::Given {
                    run.orthonormalize(&mut basis)?;
                }
                norm2_in_two_parts(run, basis, &w)?
            }
        });
    }
    if has_power {
        return Ok(ErrorFigures { kind, frobenius, spectral: spectral(run, u, s, v, w, p)? });
    }
    let largest = norms.iter().copied().fold(0.0, f64::max);
    let bound = 10.0 * std::f64::consts::FRAC_2_PI.sqrt() * largest;
    Ok(ErrorFigures { kind, frobenius, spectral: bound })
}

/// ||A||_F^2 = ||A V||_F^2 + ||A (I - V V^H)||_F^2 for orthonormal columns V: the first term from the products with V, the
/// second from those with the `probes` less their parts along V. One pass.
fn norm2_in_two_parts(run: &mut Run<'_>, v: Dense, probes: &Dense) -> Result<f64> {
    let ((n, count), k) = (run.ops.shape(probes), run.ops.shape(&v).1);
    let along = run.product(&v, Op::Adjoint, probes, Op::Plain)?;
    let mut rest = run.head(probes, count)?;
    run.ops.multiply(-1.0, &v, Op::Plain, &along, Op::Plain, 1.0, &mut rest)?;
    let mut x = run.ops.zeros("probes and V", n, count + k)?;
    run.ops.copy_columns(&rest, 0, count, &mut x, 0)?;
    run.ops.copy_columns(&v, 0, k, &mut x, count)?;
    drop((along, rest, v));
    let mut p = run.ops.tall("products with probes", count + k)?;
    run.expect(1);
    run.ops.pass_multiply(&x, &mut p)?;
    run.pass_done(None)?;
    let norms = run.ops.tall_column_norms(&p)?;
    let squares = |norms: &[f64]| norms.iter().map(|x| x * x).sum::<f64>();
    let variance = if run.ops.dtype().is_complex() { 2.0 } else { 1.0 };
    Ok(squares(&norms[count..]) + squares(&norms[..count]) / (variance * count as f64))
}

/// P = (A - U diag(s) V^H) W. One pass.
fn residual(run: &mut Run<'_>, u: &Tall, s: &[f64], v: &Dense, w: &Dense, p: &mut Tall) -> Result<()> {
    run.ops.pass_multiply(w, p)?;
    run.pass_done(None)?;
    let mut scaled = run.head(v, s.len())?;
    run.ops.scale_columns(&mut scaled, s)?;
    let c = run.product(&scaled, Op::Adjoint, w, Op::Plain)?;
    run.ops.tall_multiply(-1.0, u, &c, 1.0, p)
}

/// ||R||_2 for R = A - U diag(s) V^H by power iteration on R^H R, which starts from P = R W. The estimate is from below, and
/// much closer than the bound. Two passes a step.
fn spectral(run: &mut Run<'_>, u: &Tall, s: &[f64], v: &Dense, mut w: Dense, mut p: Tall) -> Result<f64> {
    let probes = run.ops.shape(&w).1;
    for _ in 0..POWER_STEPS {
        run.orthonormalize_tall(&mut p)?;
        run.ops.pass_adjoint(&p, &mut w)?;
        run.pass_done(None)?;
        let mut c = run.ops.zeros("U^H P", s.len(), probes)?;
        run.ops.tall_cross(u, &p, &mut c)?;
        let mut scaled = run.head(v, s.len())?;
        run.ops.scale_columns(&mut scaled, s)?;
        run.ops.multiply(-1.0, &scaled, Op::Plain, &c, Op::Plain, 1.0, &mut w)?;
        run.orthonormalize(&mut w)?;
        residual(run, u, s, v, &w, &mut p)?;
    }
    let r = run.orthonormalize_tall(&mut p)?;
    let largest = run.ops.svd(&r)?.s.first().copied().unwrap_or(0.0);
    if !largest.is_finite() {
        return Err(Error::Numerical(format!("the spectral norm of the residual is {largest}")));
    }
    Ok(largest)
}

/// ||A v_j - s_j u_j|| and ||A^H u_j - s_j v_j|| for each j. Two passes.
///
/// # Errors
/// Errors of the passes.
pub fn residuals(run: &mut Run<'_>, u: &Tall, s: &[f64], v: &Dense) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut diagonal = run.identity(s.len(), s.len())?;
    run.ops.scale_columns(&mut diagonal, s)?;
    let mut p = run.ops.tall("A V", s.len())?;
    run.ops.pass_multiply(v, &mut p)?;
    run.pass_done(None)?;
    run.ops.tall_multiply(-1.0, u, &diagonal, 1.0, &mut p)?;
    let left = run.ops.tall_column_norms(&p)?;
    drop(p);
    let mut t = run.ops.zeros("A^H U", run.ops.columns(), s.len())?;
    run.ops.pass_adjoint(u, &mut t)?;
    run.pass_done(None)?;
    run.ops.multiply(-1.0, v, Op::Plain, &diagonal, Op::Plain, 1.0, &mut t)?;
    Ok((left, run.ops.column_norms(&t)?))
}
