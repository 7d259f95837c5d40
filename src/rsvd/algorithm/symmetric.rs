//! Eigenpairs of Hermitian matrices, from a basis of their range.

use super::finish::turn;
use super::task::check_finite;
use super::{Factors, Phase, Run, finish, power};
use crate::dense::orthonormal::BasisAccuracy;
use crate::dense::{Op, Svd};
use crate::error::{Error, Result};
use crate::matrix::adjoint;
use crate::rsvd::erased::{Dense, Tall};
use crate::rsvd::options::Method;

/// The leading eigenpairs by modulus: values (which may be negative) as `s`, vectors as `u`. q + 1 passes; Rayleigh-Ritz
/// with q = 0 takes two.
///
/// # Errors
/// [`Error::InvalidArgument`] naming `a` if its projection W^H A W is not Hermitian; [`Error::Numerical`] if it is not
/// semidefinite, for Nystroem.
pub fn symmetric(run: &mut Run<'_>) -> Result<Factors> {
    let w = basis(run)?;
    let width = run.ops.shape(&w).1;
    let mut p = run.ops.tall("A W", width)?;
    run.ops.pass_multiply(&w, &mut p)?;
    run.pass_done(None)?;
    let tall = run.tall_of(&w)?;
    drop(w);
    let mut core = run.ops.zeros("W^H A W", width, width)?;
    run.ops.tall_cross(&tall, &p, &mut core)?;
    check_hermitian(run, &core)?;
    let factors = match run.task.method {
        Method::Nystrom => nystrom(run, &tall, p, core),
        _ => {
            drop(p);
            rayleigh(run, tall, &core)
        }
    }?;
    check_finite(&factors.s)?;
    Ok(factors)
}

/// The basis after the power iterations. Without any, Rayleigh-Ritz still needs one product, because the sketch itself is
/// independent of A.
fn basis(run: &mut Run<'_>) -> Result<Dense> {
    if run.task.iterations > 0 || run.task.method == Method::Nystrom {
        return power::iterate(run, BasisAccuracy::Basis);
    }
    if let Some((_, w)) = run.resume()? {
        return Ok(w);
    }
    let mut w = run.omega(run.task.columns, 0)?;
    run.complete_sketch(&mut w)?;
    let tall = run.tall_of(&w)?;
    // A^H Omega, which is A Omega for a Hermitian A.
    run.ops.pass_adjoint(&tall, &mut w)?;
    drop(tall);
    run.check_range()?;
    run.orthonormalize(&mut w)?;
    run.pass_done(Some((1, &w)))?;
    Ok(w)
}

/// Rayleigh-Ritz: eigenpairs of W^H A W.
fn rayleigh(run: &mut Run<'_>, w: Tall, core: &Dense) -> Result<Factors> {
    let (values, vectors) = run.ops.eigen(core)?;
    let k = run.task.rank.min(values.len());
    let mut order = crate::alloc::collected("order of eigenvalues", 0..values.len())?;
    // Equal moduli keep their order. An unstable sort with this tie break needs no memory.
    order.sort_unstable_by(|a, b| values[*b].abs().total_cmp(&values[*a].abs()).then(a.cmp(b)));
    let mut small = run.ops.zeros("leading eigenvectors", values.len(), k)?;
    for (to, from) in order.iter().take(k).enumerate() {
        run.ops.copy_columns(&vectors, *from, 1, &mut small, to)?;
    }
    let s = crate::alloc::collected("eigenvalues", order.iter().take(k).map(|j| values[*j]))?;
    eigenpairs(run, w, &small, s)
}

/// Nystroem with a shift that keeps the core positive definite (Tropp, Yurtsever, Udell and Cevher, NIPS 2017):
/// (A W) (W^H A W)^-1 (A W)^H, which is closer to A than the projection on W.
fn nystrom(run: &mut Run<'_>, w: &Tall, mut p: Tall, mut core: Dense) -> Result<Factors> {
    let width = run.ops.tall_width(&p);
    let norm = run.ops.tall_column_norms(&p)?.iter().map(|x| x * x).sum::<f64>().sqrt();
    let shift = (run.ops.rows() as f64).sqrt() * run.roundoff() * norm;
    let eye = run.identity(width, width)?;
    run.ops.tall_multiply(shift, w, &eye, 1.0, &mut p)?;
    run.ops.tall_cross(w, &p, &mut core)?;
    let (values, mut vectors) = run.ops.eigen(&core)?;
    let least = values.last().copied().unwrap_or(0.0);
    if least < -10.0 * shift {
        let problem = format!("a has a negative eigenvalue, {least:.3e} or less");
        return Err(Error::Numerical(format!("{problem}; Nystroem needs a semidefinite matrix")));
    }
    let floor = 0.1 * shift;
    let root = |x: &f64| if *x > floor { 1.0 / x.sqrt() } else { 0.0 };
    let roots = crate::alloc::collected("roots of eigenvalues", values.iter().map(root))?;
    run.ops.scale_columns(&mut vectors, &roots)?;
    run.ops.tall_transform(&mut p, &vectors)?;
    let r = run.orthonormalize_tall(&mut p)?;
    let Svd { u, s, .. } = run.ops.svd(&r)?;
    let k = run.task.rank.min(s.len());
    let small = run.head(&u, k)?;
    let s = crate::alloc::collected("eigenvalues", s.iter().take(k).map(|x| (x * x - shift).max(0.0)))?;
    eigenpairs(run, p, &small, s)
}

fn eigenpairs(run: &mut Run<'_>, mut q: Tall, small: &Dense, s: Vec<f64>) -> Result<Factors> {
    run.ops.tall_transform(&mut q, small)?;
    if run.task.phase != Phase::Free {
        let turns = finish::turns(&run.ops.tall_column_peaks(&q)?)?;
        let mut diagonal = run.identity(turns.len(), turns.len())?;
        turn(run, &mut diagonal, &turns)?;
        run.ops.tall_transform(&mut q, &diagonal)?;
    }
    Ok(Factors { u: Some(q), s, v: None })
}

/// Refuses A if W^H A W is not Hermitian up to rounding.
fn check_hermitian(run: &mut Run<'_>, core: &Dense) -> Result<()> {
    let width = run.ops.shape(core).0;
    let eye = run.identity(width, width)?;
    let mut difference = run.head(core, width)?;
    run.ops.multiply(-1.0, core, Op::Adjoint, &eye, Op::Plain, 1.0, &mut difference)?;
    let (found, norm) = (run.ops.norm2(&difference)?.sqrt(), run.norm()?);
    let mut limit = 1e3 * run.roundoff() * (run.ops.rows() as f64).sqrt() * norm;
    // Of a caller's operator, whose functions may compute in a lower precision, the norm is an estimate.
    if run.statistics()?.is_estimate {
        let [lower, _] = adjoint::roundings(run.ops.dtype(), 0);
        limit = limit.max(lower * norm);
    }
    if found > limit {
        let problem = format!("is not Hermitian: W^H (A - A^H) W has norm {found:.3e} for ||A|| = {norm:.3e}");
        return Err(Error::invalid("a", problem));
    }
    Ok(())
}
