//! Rank by tolerance (Yu, Gu and Li, SIMAX 39, 2018): the basis grows until the residual is small enough. The squared norm
//! of the residual is ||A||_F^2 - ||Q^H A||_F^2, so the residual is not formed. Where that difference is only rounding error,
//! or ||A||_F is an estimate, the product of the residual with the next block's sketch estimates it.

use super::{ErrorFigures, Factors, Run, estimate, finish};
use crate::dense::sketch::Sketch;
use crate::dense::{Op, Svd};
use crate::error::{Error, Result};
use crate::rsvd::erased::{Dense, Tall};
use crate::rsvd::options::{ErrorKind, least_tolerance, resolved};

/// The basis so far: A is close to the sum of the blocks' q b^H.
struct Basis {
    blocks: Vec<Block>,
    rank: usize,
    /// ||Q^H A||_F^2, the part of ||A||_F^2 in the span.
    captured: f64,
    /// Squared norm of the residual, infinite before it is known.
    left: f64,
    /// Whether the residual of a block's sketch was only rounding errors.
    is_exhausted: bool,
    /// Columns of the sketch that were drawn.
    drawn: usize,
    /// Whether columns were taken that may be rounding errors, and not in the range of A.
    is_forced: bool,
}

impl Basis {
    fn new() -> Self {
        Self {
            blocks: Vec::new(),
            rank: 0,
            captured: 0.0,
            left: f64::INFINITY,
            is_exhausted: false,
            drawn: 0,
            is_forced: false,
        }
    }
}

/// Factors whose error is at most the tolerance times ||A||_F, of the smallest rank that the basis allows.
///
/// An estimate from a block of few columns may be too small by chance. Where probes contradict it, the basis grows on,
/// each time towards half the tolerance, until they agree, the largest rank is reached or rounding errors alone are left.
pub fn adaptive(run: &mut Run<'_>) -> Result<Factors> {
    let whole = run.ops.rows().min(run.ops.columns());
    let most = run.task.rank.min(whole);
    let mut basis = Basis::new();
    let mut tolerance = run.task.tolerance;
    loop {
        grow(run, &mut basis, most, tolerance)?;
        run.columns = basis.rank;
        let is_sketched = is_sketched(run)?;
        let norm2 = if run.statistics()?.is_estimate { basis.captured } else { run.statistics()?.norm2 };
        // As many columns as A has span its range, if they are products of A with independent vectors.
        let is_whole = basis.rank == run.ops.rows() || (basis.rank == whole && !basis.is_forced);
        let goal = if is_whole { run.task.tolerance } else { tolerance };
        let allowed = goal * goal * norm2 / if is_sketched { SAFETY } else { 1.0 };
        // A basis of the whole space has no residual but rounding errors. The difference of squares holds only its own,
        // and a negative one is only rounding error of the sums.
        let left = match basis.left {
            _ if is_whole => 0.0,
            left if left.is_finite() => left.max(0.0),
            _ => norm2,
        };
        run.converged = left <= allowed || is_whole || basis.is_exhausted;
        if basis.rank == 0 {
            return nothing(run);
        }
        let rank = basis.rank;
        let Basis { drawn, is_exhausted, is_forced, .. } = basis;
        let (factors, dropped) = combine(run, basis, left, allowed)?;
        let is_doubtful = is_sketched || is_whole || is_exhausted;
        let mut is_rounding = false;
        if is_doubtful || run.task.tolerance < 100.0 * least_tolerance(run.ops.dtype()) {
            let relative = confirm(run, &factors, is_sketched, is_whole.then_some(dropped.sqrt()))?;
            is_rounding = is_exhausted && relative <= 2.0 * resolved(run.ops.dtype());
        }
        if run.converged || is_whole || rank == most || is_rounding {
            return Ok(factors);
        }
        let found = run.measure;
        run.remarks.pop();
        run.remarks.push(format!("more blocks, as probes found a relative error of {found:.1e}"));
        tolerance /= 2.0;
        basis = Basis { drawn, is_forced, ..reopened(run, factors)? };
    }
}

/// Adds blocks, at least one, until the residual seems to be at most `tolerance` times ||A||_F.
fn grow(run: &mut Run<'_>, basis: &mut Basis, most: usize, tolerance: f64) -> Result<()> {
    let begun = basis.rank;
    while basis.rank < most {
        let width = run.task.block_columns.min(most - basis.rank);
        let (seen, next) = next_block(run, basis, width, begun > 0 && basis.rank == begun)?;
        let Some((q, b)) = next else {
            basis.left = if is_sketched(run)? { seen } else { basis.left };
            basis.is_exhausted = true;
            return Ok(());
        };
        let is_sketched = is_sketched(run)?;
        if is_sketched {
            // The estimate is of the basis before this block.
            basis.left = seen;
            let norm2 = if run.statistics()?.is_estimate { basis.captured + seen } else { run.statistics()?.norm2 };
            run.measure = (seen / norm2).sqrt();
            if basis.rank > begun && SAFETY * seen <= tolerance * tolerance * norm2 {
                return Ok(());
            }
        }
        basis.captured += run.ops.norm2(&b)?;
        basis.rank += run.ops.shape(&b).1;
        basis.blocks.push((q, b));
        if !is_sketched {
            let norm2 = run.statistics()?.norm2;
            basis.left = norm2 - basis.captured;
            run.measure = (basis.left.max(0.0) / norm2).sqrt();
            if basis.left <= tolerance * tolerance * norm2 {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The basis of factors: U, with the rows of S V^H.
fn reopened(run: &mut Run<'_>, factors: Factors) -> Result<Basis> {
    let mut basis = Basis::new();
    let Factors { u: Some(u), s, v: Some(mut b) } = factors else {
        return Err(Error::Internal("a tolerance without both factors".into()));
    };
    run.ops.scale_columns(&mut b, &s)?;
    basis.rank = s.len();
    basis.captured = s.iter().map(|x| x * x).sum();
    basis.blocks.push((u, b));
    Ok(basis)
}

/// Whether the residual is estimated by the next block's sketch. Known after the first pass.
fn is_sketched(run: &Run<'_>) -> Result<bool> {
    Ok(run.statistics()?.is_estimate || run.task.tolerance < least_tolerance(run.ops.dtype()))
}

/// Safety factor on an estimated squared error: it must be this many times smaller than a computed one.
const SAFETY: f64 = 2.25;

/// A block of the basis, and A^H times it.
type Block = (Tall, Dense);

/// The sketch's estimate of the squared residual norm of the basis (0 where [`is_sketched`] is false), and the next block:
/// `None` if the residual is only rounding errors.
type Drawn = (f64, Option<Block>);

/// The next block of the basis. If it `must` come, columns that may be rounding errors are taken as well.
fn next_block(run: &mut Run<'_>, basis: &mut Basis, width: usize, must: bool) -> Result<Drawn> {
    let sketch = run.task.sketch.of_columns(basis.drawn, width);
    let drawn = sampled(run, basis, width, &sketch, must)?;
    if drawn.1.is_some() || !sketch.may_be_singular() {
        return Ok(drawn);
    }
    // Signs may add up to 0 in every row of a residual that is not 0.
    sampled(run, basis, width, &sketch.never_singular(), must)
}

/// [`next_block`] by a sketch of its own.
fn sampled(run: &mut Run<'_>, basis: &mut Basis, width: usize, sketch: &Sketch, must: bool) -> Result<Drawn> {
    let first = u32::try_from(basis.drawn).unwrap_or(u32::MAX);
    basis.drawn = basis.drawn.saturating_add(width);
    let mut w = run.ops.zeros("sketch", run.ops.columns(), width)?;
    run.ops.fill(&mut w, sketch, 0, first)?;
    let mut y = run.ops.tall("A W", width)?;
    run.ops.pass_multiply(&w, &mut y)?;
    run.pass_done(None)?;
    let drawn = run.ops.norm2(&w)?;
    deflate(run, basis, &w, &mut y)?;
    let is_sketched = is_sketched(run)?;
    let seen = if is_sketched && drawn > 0.0 {
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
    // Directions below the rounding errors of the product would, once normalized, be arbitrary, and not orthogonal to
    // the basis.
    let (norm, cut) = (run.norm()?, resolved(run.ops.dtype()));
    let r = run.orthonormalize_tall(&mut y)?;
    let Svd { u, s, .. } = run.ops.svd(&r)?;
    let kept = s.iter().take_while(|x| **x > cut * norm).count();
    // Many directions below the cut may add up to more than rounding errors. The difference of squares, where it counts,
    // is far above them.
    let is_rounding = norm == 0.0 || (is_sketched && seen <= cut * cut * norm * norm);
    if kept == 0 && (sketch.may_be_singular() || (is_rounding && !must)) {
        return Ok((seen, None));
    }
    basis.is_forced |= kept == 0;
    let kept = if kept == 0 { width } else { kept };
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
fn deflate(run: &mut Run<'_>, basis: &Basis, w: &Dense, y: &mut Tall) -> Result<()> {
    for (q, b) in &basis.blocks {
        let c = run.product(b, Op::Adjoint, w, Op::Plain)?;
        run.ops.tall_multiply(-1.0, q, &c, 1.0, y)?;
    }
    Ok(())
}

fn cross(run: &mut Run<'_>, p: &Tall, q: &Tall) -> Result<Dense> {
    let (rows, columns) = (run.ops.tall_width(p), run.ops.tall_width(q));
    let mut c = run.ops.zeros("P^H Q", rows, columns)?;
    run.ops.tall_cross(p, q, &mut c)?;
    Ok(c)
}

/// The factors of the blocks' sum, without the trailing ones that the tolerance does not need, and the sum of the squares of
/// these.
fn combine(run: &mut Run<'_>, basis: Basis, left: f64, allowed: f64) -> Result<(Factors, f64)> {
    let (n, rank) = (run.ops.columns(), basis.rank);
    let mut all = run.ops.zeros("A^H Q", n, rank)?;
    let mut q = run.ops.tall("Q", rank)?;
    let mut at = 0;
    for (block, b) in basis.blocks {
        let width = run.ops.shape(&b).1;
        run.ops.copy_columns(&b, 0, width, &mut all, at)?;
        let mut ones = (0..width).map(|j| (j, at + j, (1.0, 0.0)));
        let place = run.ops.entries("place of a block", width, rank, &mut ones)?;
        let beta = if at == 0 { 0.0 } else { 1.0 };
        run.ops.tall_multiply(1.0, &block, &place, beta, &mut q)?;
        at += width;
    }
    let r = run.orthonormalize(&mut all)?;
    let Svd { u, s, v } = run.ops.svd(&r)?;
    let mut dropped = 0.0;
    let mut kept = s.len();
    while kept > 1 && left + dropped + s[kept - 1] * s[kept - 1] <= allowed {
        dropped += s[kept - 1] * s[kept - 1];
        kept -= 1;
    }
    let s = crate::alloc::copied("singular values", &s[..kept])?;
    Ok((finish::assemble(run, q, v, s, &all, u)?, dropped))
}

/// The factors of a matrix of zeros.
fn nothing(run: &mut Run<'_>) -> Result<Factors> {
    let n = run.ops.columns();
    let u = if run.task.left { Some(run.ops.tall("U", 0)?) } else { None };
    let v = if run.task.right { Some(run.ops.zeros("V", n, 0)?) } else { None };
    Ok(Factors { u, s: Vec::new(), v })
}

/// Checks the tolerance with probes; returns the relative error. If they find a larger error, the run has not
/// converged. If they `decide`, it has otherwise. Ten probes estimate an error to within a fifth. So an error that is
/// `known`, but for rounding errors, gives way only to an estimate of more than three times it.
fn confirm(run: &mut Run<'_>, factors: &Factors, decide: bool, known: Option<f64>) -> Result<f64> {
    let (Some(u), Some(v)) = (&factors.u, &factors.v) else {
        return Err(Error::Internal("a tolerance without both factors".into()));
    };
    let mut found = estimate::probe(run, estimate::Relation::Projection, u, &factors.s, v)?;
    let norm = match run.refined_norm2 {
        Some(norm2) => norm2.sqrt(),
        None => run.norm()?,
    };
    if let Some(known) = known
        && found.frobenius <= 3.0 * known
    {
        found = ErrorFigures { kind: ErrorKind::Identity, frobenius: known, spectral: found.spectral };
    }
    // Probes do not contradict a difference of squares that is closer.
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
    Ok(relative)
}

/// Allocates as much as `adaptive` at its peak, for a backend that counts bytes. The basis is held in two blocks: only its
/// bytes matter, not the number of blocks.
///
/// # Errors
/// Errors of the passes; [`Error::Internal`] for a task without both factors.
pub fn rehearse(run: &mut Run<'_>) -> Result<Factors> {
    let (m, n) = (run.ops.rows(), run.ops.columns());
    let most = run.task.rank.min(m).min(n);
    let width = run.task.block_columns.min(most);
    let mut basis = Basis { rank: most - width, ..Basis::new() };
    if basis.rank > 0 {
        basis.blocks.push((run.ops.tall("Q", basis.rank)?, run.ops.zeros("A^H Q", n, basis.rank)?));
    }
    if let (_, Some(block)) = next_block(run, &mut basis, width, false)? {
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
    confirm(run, &factors, true, None)?;
    Ok(factors)
}
