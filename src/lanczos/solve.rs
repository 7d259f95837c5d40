//! The calls.

use std::sync::Arc;
use std::time::Instant;

use super::algorithm::cullum::{Recurrence, recurrence};
use super::algorithm::finite;
use super::algorithm::verify::{columns, solve};
use super::cpu::CpuKrylov;
use super::info::{Info, Pairs};
use super::krylov::Krylov;
use super::operator::Symmetric;
use super::options::{Filter, Method, Options, Orthogonality, Which};
use crate::alloc;
use crate::backend::Backend;
use crate::context::Context;
use crate::dense::Algebra;
use crate::dense::cpu::CpuAlgebra;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::scalar::{Real, Scalar};
use crate::shape::to_i64;

/// What is known before a solve.
pub struct Given<'a, T> {
    /// Start vector, n; random if there is none.
    pub start: Option<&'a [T]>,
    /// Vectors to keep out of the space, n-by-j, column-major: eigenvectors that are known. They need not be orthonormal,
    /// but have to be independent.
    pub deflate: &'a [T],
    /// What solves (A - sigma I) x = b, for [`Which::Nearest`]: an operator of the caller's own, applied as it is.
    pub solve: Option<&'a Matrix>,
}

impl<T> Default for Given<'_, T> {
    fn default() -> Self {
        Self { start: None, deflate: &[], solve: None }
    }
}

fn on_cpu(context: &Context) -> Result<()> {
    match context.backend() {
        Backend::Cpu => Ok(()),
        Backend::Gpu(_) => Err(Error::NotSupported("a: eigenvalues on a GPU".into())),
    }
}

fn check_vector<T: Scalar>(argument: &str, v: &[T], n: usize) -> Result<()> {
    if v.len() != n {
        return Err(Error::invalid(argument, format!("has {} elements, {n} are needed", v.len())));
    }
    match v.iter().position(|x| !(x.re().is_finite() && x.im().is_finite())) {
        Some(i) => Err(Error::invalid(argument, format!("element {i} is not finite"))),
        None => Ok(()),
    }
}

/// k eigenpairs of a Hermitian operator by thick-restart Lanczos: about as many products as ARPACK, n (m + k + 1) numbers
/// of memory, 6 n m^2 operations of orthogonalisation a cycle. Where not all pairs converge, those that did come first;
/// [`Info::converged`] counts them. Results depend on the seed, not on the number of threads.
///
/// # Errors
/// [`Error::InvalidArgument`] naming an option out of range or a vector that is zero or not finite; [`Error::Numerical`] for
/// products that are not finite; [`Error::OutOfMemory`]; [`Error::Cancelled`]; what the caller's operator reports.
pub fn eigenpairs<T: Scalar>(
    context: &Arc<Context>,
    operator: &mut Symmetric<'_, T>,
    options: &Options,
    given: &Given<'_, T>,
    progress: &Progress<'_>,
) -> Result<Pairs<T>> {
    let begin = Instant::now();
    on_cpu(context)?;
    let n = operator.order();
    let later = [
        ("method", options.method != Method::ThickRestart),
        ("block", options.block > 1),
        ("orthogonality", options.orthogonality != Orthogonality::Full),
        ("filter", options.filter != Filter::Off),
        ("which", options.which == Which::Nearest),
        ("solve", given.solve.is_some()),
    ];
    if let Some((name, _)) = later.iter().find(|(_, asked)| *asked) {
        return Err(Error::NotSupported(format!("{name}: not in this version")));
    }
    if !given.deflate.len().is_multiple_of(n) {
        return Err(Error::invalid(
            "deflate",
            format!("has {} elements, a multiple of {n} is needed", given.deflate.len()),
        ));
    }
    let known = given.deflate.len() / n;
    let settings = options.settle(n, known, T::DTYPE)?;
    let mut krylov = CpuKrylov::new(context, operator, columns(&settings, known))?;
    for (j, column) in given.deflate.chunks_exact(n).enumerate() {
        check_vector("deflate", column, n)?;
        lock(&mut krylov, "deflate", column, j)?;
    }
    if let Some(start) = given.start {
        check_vector("start", start, n)?;
        lock(&mut krylov, "start", start, known)?;
    }
    let mut algebra = CpuAlgebra::new(context);
    let mut small = |order: usize, t: &[f64]| -> Result<(Vec<f64>, Vec<f64>)> {
        let t: <CpuAlgebra as Algebra<f64>>::Matrix = algebra.upload("projected matrix", order, order, t, order)?;
        let (values, vectors) = Algebra::<f64>::eigen(&mut algebra, &t)?;
        Ok((values, alloc::copied("projected matrix", vectors.slice()?)?))
    };
    let mut report = |converged: usize, worst: f64| {
        progress.report(to_i64(converged), to_i64(settings.count), worst)?;
        progress.check()
    };
    let solved = solve(&mut krylov, &settings, known, given.start.is_some(), &mut small, &mut report)?;
    let count = solved.values.len();
    let mut residuals = alloc::with_capacity("residuals", count)?;
    let mut vectors = alloc::with_capacity("eigenvectors", n * count)?;
    let work = known + count;
    for (i, &value) in solved.values.iter().enumerate() {
        krylov.apply(known + i, work)?;
        residuals.push(finite(krylov.distance(work, value, known + i)?, "a residual")?);
        vectors.extend_from_slice(krylov.column(known + i)?);
    }
    vectors.chunks_exact_mut(n).for_each(orient);
    let info = Info {
        reason: solved.reason,
        converged: solved.converged,
        products: solved.counts.products,
        restarts: solved.counts.restarts,
        breakdowns: solved.counts.breakdowns,
        recovered: solved.recovered,
        basis: settings.basis,
        degree: 0,
        norm: solved.counts.norm,
        seconds: begin.elapsed().as_secs_f64(),
    };
    Ok(Pairs { values: solved.values, vectors, residuals, info })
}

/// Puts a vector into column `j`, orthogonal to those before it and of norm 1.
fn lock<T: Scalar>(krylov: &mut CpuKrylov<'_, '_, T>, argument: &str, v: &[T], j: usize) -> Result<()> {
    krylov.column_mut(j)?.copy_from_slice(v);
    let p = krylov.orthogonalise(j, j)?;
    // Rounding alone leaves this much of a vector that depends on the others.
    if p.after <= 1e-6 * p.before || p.before == 0.0 {
        let problem = if p.before == 0.0 { "is 0" } else { "depends on the vectors before it" };
        return Err(Error::invalid(argument, format!("vector {j} {problem}")));
    }
    krylov.scale(j, 1.0 / p.after)?;
    let again = krylov.orthogonalise(j, j)?;
    krylov.scale(j, 1.0 / again.after)
}

fn epsilon<T: Scalar>() -> f64 {
    T::Part::EPSILON.to_f64()
}

/// Makes the entry of largest modulus real and positive, the first of those that are about as large.
fn orient<T: Scalar>(v: &mut [T]) {
    let size = |x: &T| x.re().hypot(x.im());
    let largest = v.iter().map(size).fold(0.0, f64::max);
    let near = largest * (1.0 - 8.0 * epsilon::<T>());
    if let Some(&x) = v.iter().find(|x| size(x) >= near) {
        let modulus = size(&x);
        if modulus > 0.0 {
            let turn = T::from_parts(x.re() / modulus, -x.im() / modulus);
            v.iter_mut().for_each(|v| *v = turn * *v);
        }
    }
}

/// `steps` steps of the plain three-term recurrence from a random start vector, or a given one: for
/// [`super::algorithm::cullum::filter`], spectral densities and functions of matrices. Three vectors of memory; no
/// reorthogonalisation, so the coefficients are those of rounding as well.
///
/// # Errors
/// As [`eigenpairs`].
pub fn tridiagonalise<T: Scalar>(
    context: &Arc<Context>,
    operator: &mut Symmetric<'_, T>,
    steps: usize,
    seed: u64,
    start: Option<&[T]>,
    progress: &Progress<'_>,
) -> Result<Recurrence> {
    on_cpu(context)?;
    let n = operator.order();
    if steps == 0 {
        return Err(Error::invalid("steps", "is 0, at least 1 is needed"));
    }
    let mut krylov = CpuKrylov::new(context, operator, 3)?;
    match start {
        Some(start) => {
            check_vector("start", start, n).and_then(|()| krylov.column_mut(0).map(|c| c.copy_from_slice(start)))?
        }
        None => krylov.random(seed, 0, 0)?,
    }
    let norm = krylov.orthogonalise(0, 0)?.after;
    if norm == 0.0 {
        return Err(Error::invalid("start", "is 0"));
    }
    krylov.scale(0, 1.0 / norm)?;
    recurrence(&mut krylov, steps, epsilon::<T>(), &mut |step| progress.report(to_i64(step), to_i64(steps), 0.0))
}
