//! Rank by tolerance (Yu, Gu and Li, SIMAX 39, 2018): the basis grows until the residual is small enough. The squared norm
//! of the residual is ||A||_F^2 - ||Q^H A||_F^2, so the residual is not formed. Where that difference is only rounding error,
//! or ||A||_F is an estimate, the product of the residual with the next block's sketch estimates it.

use super::{Factors, FactorsOf, Run, estimate, finish};
use crate::dense::{Op, Svd};
use crate::error::Result;
use crate::rsvd::ops::RsvdOps;
use crate::rsvd::options::least_tolerance;
use crate::scalar::Scalar;

/// The basis so far: A is close to the sum of the blocks' q b^H.
struct Basis<M, P> {
    blocks: Vec<(P, M)>,
    rank: usize,
}

/// Factors whose error is at most the tolerance times ||A||_F, of the smallest rank that the basis allows.
pub fn adaptive<T: Scalar, O: RsvdOps<T>>(run: &mut Run<'_, T, O>) -> Result<FactorsOf<T, O>> {
    let (m, n) = (run.ops.rows(), run.ops.columns());
    let most = run.task.rank.min(m).min(n);
    let mut basis = Basis { blocks: Vec::new(), rank: 0 };
    let mut left = f64::INFINITY;
    let mut captured = 0.0;
    let mut is_exhausted = false;
    while basis.rank < most {
        let width = run.task.block_columns.min(most - basis.rank);
        let (seen, next) = next_block(run, &basis, width)?;
        let Some((q, b)) = next else {
            is_exhausted = true;
            break;
        };
        if is_sketched(run)? {
            // The estimate is of the basis before this block.
            left = seen;
            let norm2 = if run.statistics()?.is_estimate { captured + seen } else { run.statistics()?.norm2 };
            run.measure = (seen / norm2).sqrt();
            if basis.rank > 0 && SAFETY * seen <= run.task.tolerance * run.task.tolerance * norm2 {
                break;
            }
            captured += run.ops.norm2(&b)?;
            basis.rank += run.ops.shape(&b).1;
            basis.blocks.push((q, b));
            continue;
        }
        let norm2 = run.statistics()?.norm2;
        left = if left.is_finite() { left } else { norm2 } - run.ops.norm2(&b)?;
        basis.rank += run.ops.shape(&b).1;
        basis.blocks.push((q, b));
        run.measure = (left.max(0.0) / norm2).sqrt();
        if left <= (run.task.tolerance * run.task.tolerance) * norm2 {
            break;
        }
    }
    run.columns = basis.rank;
    let is_sketched = is_sketched(run)?;
    let norm2 = if run.statistics()?.is_estimate { captured } else { run.statistics()?.norm2 };
    let allowed = run.task.tolerance * run.task.tolerance * norm2 / if is_sketched { SAFETY } else { 1.0 };
    // A negative difference is only rounding error of the sums.
    let left = if left.is_finite() { left.max(0.0) } else { norm2 };
    let is_whole = is_exhausted || basis.rank == m.min(n);
    // A basis of the whole space has no residual but rounding errors. The difference of squares holds only its own.
    let left = if basis.rank == m.min(n) { 0.0 } else { left };
    run.converged = left <= allowed || is_whole;
    if basis.rank == 0 {
        return nothing(run);
    }
    let factors = combine(run, basis, left, allowed)?;
    if is_sketched || is_whole || run.task.tolerance < 100.0 * least_tolerance(T::DTYPE) {
        confirm(run, &factors, is_sketched)?;
    }
    Ok(factors)
}

/// Whether the residual is estimated by the next block's sketch. Known after the first pass.
fn is_sketched<T: Scalar, O: RsvdOps<T>>(run: &Run<'_, T, O>) -> Result<bool> {
    Ok(run.statistics()?.is_estimate || run.task.tolerance < least_tolerance(T::DTYPE))
}

/// Safety factor on an estimated squared error: it must be this many times smaller than a computed one.
const SAFETY: f64 = 2.25;

/// A block of the basis, and A^H times it.
type Block<M, P> = (P, M);

/// The sketch's estimate of the squared residual norm of the basis (0 where [`is_sketched`] is false), and the next block:
/// `None` if the residual is only rounding errors.
type Drawn<M, P> = (f64, Option<Block<M, P>>);

/// The next block of the basis.
fn next_block<T: Scalar, O: RsvdOps<T>>(
    run: &mut Run<'_, T, O>,
    basis: &Basis<O::Matrix, O::Tall>,
    width: usize,
) -> Result<Drawn<O::Matrix, O::Tall>> {
    let first = u32::try_from(basis.rank).unwrap_or(u32::MAX);
    let mut w = run.ops.zeros("sketch", run.ops.columns(), width)?;
    run.ops.fill(&mut w, &run.task.sketch, 0, first)?;
    let mut y = run.ops.tall("A W", width)?;
    run.ops.pass_multiply(&w, &mut y)?;
    run.pass_done(None)?;
    let drawn = run.ops.norm2(&w)?;
    deflate(run, basis, &w, &mut y)?;
    let seen = if is_sketched(run)? && drawn > 0.0 {
        let norms = run.ops.tall_column_norms(&y)?;
        norms.iter().map(|x| x * x).sum::<f64>() * run.ops.columns() as f64 / drawn
    } else {
        0.0
    };
    for _ in 0..run.task.iterations {
        run.orthonormalize_tall(&mut y)?;
        run.ops.pass_adjoint(&y, &mut w)?;
        run.pass_done(None)?;
        for (q, b) in &basis.blocks {
            let c = cross(run, q, &y)?;
            run.ops.multiply(-1.0, b, Op::Plain, &c, Op::Plain, 1.0, &mut w)?;
        }
        run.orthonormalize(&mut w)?;
        run.ops.pass_multiply(&w, &mut y)?;
        run.pass_done(None)?;
        deflate(run, basis, &w, &mut y)?;
    }
    // Directions below the rounding errors of the product would, once normalised, be arbitrary, and not orthogonal to
    // the basis.
    let norm = run.norm()?;
    let r = run.orthonormalize_tall(&mut y)?;
    let Svd { u, s, .. } = run.ops.svd(&r)?;
    let kept = s.iter().take_while(|x| **x > 100.0 * run.roundoff() * norm).count();
    if kept == 0 {
        return Ok((seen, None));
    }
    if kept < width {
        let u = run.head(&u, kept)?;
        run.ops.tall_transform(&mut y, &u)?;
    }
    for _ in 0..2 {
        for (q, _) in &basis.blocks {
            let c = cross(run, q, &y)?;
            run.ops.tall_multiply(-1.0, q, &c, 1.0, &mut y)?;
        }
        run.orthonormalize_tall(&mut y)?;
    }
    let mut b = run.ops.zeros("A^H Q", run.ops.columns(), kept)?;
    run.ops.pass_adjoint(&y, &mut b)?;
    run.pass_done(None)?;
    Ok((seen, Some((y, b))))
}

/// Y := Y - Q (B W).
fn deflate<T: Scalar, O: RsvdOps<T>>(
    run: &mut Run<'_, T, O>,
    basis: &Basis<O::Matrix, O::Tall>,
    w: &O::Matrix,
    y: &mut O::Tall,
) -> Result<()> {
    for (q, b) in &basis.blocks {
        let c = run.product(b, Op::Adjoint, w, Op::Plain)?;
        run.ops.tall_multiply(-1.0, q, &c, 1.0, y)?;
    }
    Ok(())
}

fn cross<T: Scalar, O: RsvdOps<T>>(run: &mut Run<'_, T, O>, p: &O::Tall, q: &O::Tall) -> Result<O::Matrix> {
    let (rows, columns) = (run.ops.tall_width(p), run.ops.tall_width(q));
    let mut c = run.ops.zeros("P^H Q", rows, columns)?;
    run.ops.tall_cross(p, q, &mut c)?;
    Ok(c)
}

/// The factors of the blocks' sum, without the trailing ones that the tolerance does not need.
fn combine<T: Scalar, O: RsvdOps<T>>(
    run: &mut Run<'_, T, O>,
    basis: Basis<O::Matrix, O::Tall>,
    left: f64,
    allowed: f64,
) -> Result<FactorsOf<T, O>> {
    let (n, rank) = (run.ops.columns(), basis.rank);
    let mut all = run.ops.zeros("A^H Q", n, rank)?;
    let mut q = run.ops.tall("Q", rank)?;
    let mut at = 0;
    for (block, b) in basis.blocks {
        let width = run.ops.shape(&b).1;
        run.ops.copy_columns(&b, 0, width, &mut all, at)?;
        let mut place = crate::alloc::filled("place of a block", width * rank, T::from_parts(0.0, 0.0))?;
        for j in 0..width {
            place[(at + j) * width + j] = T::from_parts(1.0, 0.0);
        }
        let place = run.ops.upload("place of a block", width, rank, &place, width)?;
        let beta = if at == 0 { 0.0 } else { 1.0 };
        run.ops.tall_multiply(1.0, &block, &place, beta, &mut q)?;
        at += width;
    }
    let r = run.orthonormalize(&mut all)?;
    let Svd { u, s, v } = run.ops.svd(&r)?;
    let mut error = left;
    let mut kept = s.len();
    while kept > 1 && error + s[kept - 1] * s[kept - 1] <= allowed {
        error += s[kept - 1] * s[kept - 1];
        kept -= 1;
    }
    let s = crate::alloc::copied("singular values", &s[..kept])?;
    finish::assemble(run, q, v, s, &all, u)
}

/// The factors of a matrix of zeros.
fn nothing<T: Scalar, O: RsvdOps<T>>(run: &mut Run<'_, T, O>) -> Result<FactorsOf<T, O>> {
    let n = run.ops.columns();
    let u = if run.task.left { Some(run.ops.tall("U", 0)?) } else { None };
    let v = if run.task.right { Some(run.ops.zeros("V", n, 0)?) } else { None };
    Ok(Factors { u, s: Vec::new(), v })
}

/// Checks the tolerance with probes. If they find a larger error, the run has not converged. If they `decide`, it has
/// otherwise.
fn confirm<T: Scalar, O: RsvdOps<T>>(run: &mut Run<'_, T, O>, factors: &FactorsOf<T, O>, decide: bool) -> Result<()> {
    let (Some(u), Some(v)) = (&factors.u, &factors.v) else { return Ok(()) };
    let found = estimate::probe(run, u, &factors.s, v)?;
    let norm = match run.refined_norm2 {
        Some(norm2) => norm2.sqrt(),
        None => run.norm()?,
    };
    // Ten probes estimate the error to within a fifth: they do not contradict a difference of squares that is closer.
    let margin = if decide { 1.0 } else { 1.25 };
    let relative = if found.frobenius > 0.0 { found.frobenius / norm } else { 0.0 };
    let is_met = relative <= margin * run.task.tolerance;
    run.measure = relative;
    run.confirmed = Some(found);
    if decide {
        run.converged = is_met;
    }
    if !is_met {
        run.converged = false;
        run.remarks.push(format!("probes find a relative error of {relative:.1e}"));
    }
    Ok(())
}

/// Allocates as much as `adaptive` at its peak, for a backend that counts bytes. The basis is held in two blocks: only its
/// bytes matter, not the number of blocks.
pub fn rehearse<T: Scalar, O: RsvdOps<T>>(run: &mut Run<'_, T, O>) -> Result<FactorsOf<T, O>> {
    let (m, n) = (run.ops.rows(), run.ops.columns());
    let most = run.task.rank.min(m).min(n);
    let width = run.task.block_columns.min(most);
    let mut basis = Basis { blocks: Vec::new(), rank: most - width };
    if basis.rank > 0 {
        basis.blocks.push((run.ops.tall("Q", basis.rank)?, run.ops.zeros("A^H Q", n, basis.rank)?));
    }
    if let (_, Some(block)) = next_block(run, &basis, width)? {
        basis.rank += run.ops.shape(&block.1).1;
        basis.blocks.push(block);
    }
    let rank = basis.rank;
    let mut all = run.ops.zeros("A^H Q", n, rank)?;
    let q = run.ops.tall("Q", rank)?;
    {
        let _place = run.ops.zeros("place of a block", width, rank)?;
    }
    drop(basis);
    let r = run.orthonormalize(&mut all)?;
    let Svd { u, v, .. } = run.ops.svd(&r)?;
    let s = crate::alloc::filled("singular values", rank, 1.0)?;
    let factors = finish::assemble(run, q, v, s, &all, u)?;
    drop(all);
    confirm(run, &factors, true)?;
    Ok(factors)
}
