//! The range form in q + 1 passes. Each pass computes A^H A W; the last one also computes A W, and Q^H A follows from both.

use super::{Factors, Run, finish, power, range};
use crate::dense::orthonormal::BasisAccuracy;
use crate::dense::{Op, Svd};
use crate::error::Result;
use crate::rsvd::erased::Dense;

/// P = A W and T = A^H P. With P = Q R, Q^H A = R^-H T^H, or with R = L S Z^H, (Q L)^H A = S^-1 Z^H T^H.
///
/// Row i of this product has an error of u sigma_1^2 / sigma_i. Rows with sigma_i below u^(1/4) sigma_1 are not used,
/// because their relative error would exceed sqrt(u). If the result needs such rows, one more pass computes Q^H A itself.
pub fn fused(run: &mut Run<'_>) -> Result<Factors> {
    let w = power::iterate(run, BasisAccuracy::Span)?;
    let width = run.ops.shape(&w).1;
    let mut p = run.ops.tall("A W", width)?;
    let mut t = run.ops.zeros("A^H A W", run.ops.columns(), width)?;
    run.look()?;
    run.ops.pass_fused(&w, Some(&mut p), &mut t)?;
    run.pass_done(None)?;
    drop(w);
    let r = run.orthonormalize_tall(&mut p)?;
    if let Some(inverse) = harmless_inverse(run, &r)? {
        let mut b = run.product(&t, Op::Plain, &inverse, Op::Plain)?;
        drop(t);
        return finish::range(run, p, &mut b);
    }
    let Svd { u: left, s, v: z } = run.ops.svd(&r)?;
    let limit = run.roundoff().sqrt().sqrt() * s.first().copied().unwrap_or(0.0);
    let usable = s.iter().take_while(|x| **x > limit).count();
    // Without a power iteration the values of A W are not those of A: a small one may contain a part of a large one.
    let wanted = if run.task.iterations == 0 { s.len() } else { run.task.rank.min(s.len()) };
    if usable < wanted {
        // This also happens for data of lower rank than was asked for, although they have no more values to resolve.
        run.remarks.push(format!("one more pass, as {usable} values alone are within u^(1/4) of the largest"));
        run.expect(1);
        run.ops.pass_adjoint(&p, &mut t)?;
        run.pass_done(None)?;
        let depends = run.task.iterations == 0 && run.may_have_missed(&s);
        return range::project(run, p, t, depends);
    }
    let mut z = run.head(&z, usable)?;
    let inverse = crate::alloc::collected("inverse values", s[..usable].iter().map(|x| 1.0 / x))?;
    run.ops.scale_columns(&mut z, &inverse)?;
    let mut b = run.product(&t, Op::Plain, &z, Op::Plain)?;
    drop(t);
    let r = run.orthonormalize(&mut b)?;
    let Svd { u, s, v } = run.ops.svd(&r)?;
    let left = run.head(&left, usable)?;
    let left = run.product(&left, Op::Plain, &v, Op::Plain)?;
    finish::assemble(run, p, left, s, &b, u)
}

/// R^-1, if the backend has it already and every row of R^-H T^H is accurate enough to be used. Column j of T R^-1 has an
/// error of u sigma_1^2 times the norm of column j of R^-1.
fn harmless_inverse(run: &mut Run<'_>, r: &Dense) -> Result<Option<Dense>> {
    let Some(inverse) = run.ops.inverse(r)? else { return Ok(None) };
    // Unlike f64::max, this comparison propagates a NaN.
    let largest = |norms: Vec<f64>| norms.into_iter().fold(0.0f64, |most, n| if n <= most { most } else { n });
    let spread = largest(run.ops.column_norms(r)?) * largest(run.ops.column_norms(&inverse)?);
    Ok((spread <= 1.0 / run.roundoff().sqrt().sqrt()).then_some(inverse))
}
