//! Entry points: eigenpairs, and the plain recurrence.

use std::sync::Arc;

use super::algorithm::cullum::{Recurrence, recurrence};
pub use super::algorithm::pairs::Vectors;

use super::algorithm::pairs::Job;
use super::algorithm::scale::{expect_scale, put};
use super::algorithm::symmetry::sample;
use super::cpu::CpuKrylov;
use super::cycles::Columns;
use super::gpu::GpuKrylov;
use super::info::Pairs;
use super::memory;
use super::operator::{Kind, Symmetric};
use super::options::Options;
use crate::alloc;
use crate::backend::Backend;
use crate::context::Context;
use crate::dense::Algebra;
use crate::dense::cpu::CpuAlgebra;
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::scalar::{Real, Scalar};
use crate::shape::to_i64;

/// Vectors and operators that the caller may supply to a solve.
pub struct SolveInputs<'a, T> {
    /// Start vector, n numbers; a random one is used if there is none.
    pub start: Option<&'a [T]>,
    /// Known eigenvectors, which the space is kept orthogonal to: n-by-j, column-major. They need not be orthonormal,
    /// but must be linearly independent.
    pub deflate: &'a [T],
    /// An operator of the caller's own that solves (A - sigma I) x = b, for
    /// [`Nearest`](super::options::Which::Nearest). It is applied without a shift.
    pub solve: Option<&'a Matrix>,
}

impl<T> Default for SolveInputs<'_, T> {
    fn default() -> Self {
        Self { start: None, deflate: &[], solve: None }
    }
}

/// k eigenpairs of a Hermitian operator. The default is thick-restart Lanczos: it takes about as many products as
/// ARPACK, memory for n (m + k) numbers, and 6 n m^2 operations of orthogonalization a cycle. If not all pairs
/// converge, the converged ones come first, and [`super::Info::converged`] is their number. [`super::Method::Plain`]
/// returns fewer than k pairs if fewer passed its test. Results depend on the seed, not on the number of threads.
///
/// A pair has converged when its residual, as the method estimates it, is at most the tolerance times the eigenvalue's
/// modulus, or a few roundings of the operator's norm. With a filter, and for the plain recurrence, the bound is the
/// tolerance times the operator's norm. With the caller's solve, the condition is that of the eigenvalue 1 / (lambda -
/// sigma). Residuals and inner products are then computed from the vectors returned. Pairs that contradict the method's
/// own residuals count as not converged ([`super::Reason::Contradicted`]).
/// By default a test shows that no copy of a wanted eigenvalue is missing ([`super::Info::verified`]). It is wrong with
/// a probability of one in a million.
///
/// # Errors
/// [`Error::InvalidArgument`] naming an option that is out of range or excludes another, a vector that is zero or not
/// finite, or a solve for another operator; [`Error::Numerical`] if products are not finite; [`Error::OutOfMemory`];
/// [`Error::Cancelled`]; errors of the caller's operators.
pub fn eigenpairs<T: Scalar>(
    context: &Arc<Context>,
    operator: &mut Symmetric<'_, T>,
    options: &Options,
    given: &SolveInputs<'_, T>,
    progress: &Progress<'_>,
) -> Result<Pairs<T>> {
    eigenpairs_to(context, operator, options, given, progress, Vectors::Returned)
}

compiled_here! {
    /// As [`eigenpairs`]; `vectors` says where the eigenvectors are written.
    ///
    /// # Errors
    /// As [`eigenpairs`]; [`Error::NotSupported`] for vectors on a device that are not column-major.
    pub fn eigenpairs_to<T: Scalar>(
        context: &Arc<Context>,
        operator: &mut Symmetric<'_, T>,
        options: &Options,
        given: &SolveInputs<'_, T>,
        progress: &Progress<'_>,
        vectors: Vectors<'_>,
    ) -> Result<Pairs<T>> = eigenpairs_of;

    /// As [`tridiagonalize`] with the seed and the start vector `from`. Progress is reported as that of one recurrence of
    /// several: its index and their number.
    ///
    /// # Errors
    /// As [`tridiagonalize`].
    pub fn tridiagonalize_within<T: Scalar>(
        context: &Arc<Context>,
        operator: &mut Symmetric<'_, T>,
        steps: usize,
        from: (u64, Option<&[T]>),
        at: (usize, usize),
        progress: &Progress<'_>,
    ) -> Result<Recurrence> = tridiagonalize_of;
}

fn eigenpairs_of<T: Scalar>(
    context: &Arc<Context>,
    operator: &mut Symmetric<'_, T>,
    options: &Options,
    given: &SolveInputs<'_, T>,
    progress: &Progress<'_>,
    vectors: Vectors<'_>,
) -> Result<Pairs<T>> {
    let n = operator.order();
    let job = Job::new(options, n, given.start, given.deflate, given.solve.is_some())?;
    let mut inverse = given.solve.map(|a| Symmetric::new(context, a, Kind::Matrix, 0.0)).transpose()?;
    if let Some(found) = inverse.as_ref().map(Symmetric::order).filter(|found| *found != n) {
        return Err(Error::invalid("solve", format!("is of order {found}, {n} is needed")));
    }
    if options.check_symmetry {
        operator.sample_symmetry();
    }
    let returned = if matches!(vectors, Vectors::Returned) { n.saturating_mul(job.count()) } else { 0 };
    let mut of = memory::products(context, operator, job.width())?;
    if let Some(inverse) = &inverse {
        of.copies = of.copies.then(memory::products(context, inverse, 1)?.copies);
    }
    let bytes = memory::eigenpairs(context, &job, &of, returned)?;
    bytes.expect(context, memory::EIGENPAIRS)?;
    let tests = operator.expect_usable()?;
    let found = match context.backend() {
        Backend::Cpu => {
            let is_sampled = operator.take_sampled();
            CpuKrylov::new(context, &mut *operator, inverse, job.columns().max(3)).and_then(|mut krylov| {
                if is_sampled {
                    sample(&mut krylov)?;
                }
                run_job(context, &job, &mut krylov, vectors, progress)
            })
        }
        Backend::Gpu(_) => GpuKrylov::new(context, &mut *operator, inverse.as_mut(), job.columns())
            .and_then(|mut krylov| run_job(context, &job, &mut krylov, vectors, progress)),
    };
    let mut found = found.map_err(|error| operator.explained(error))?;
    (found.info.host_bytes, found.info.device_bytes) = (bytes.host, bytes.device);
    found.info.products += tests + operator.expect_adjoint_still()?;
    // Of products that are all 0 a solve says that they converged.
    if found.info.norm == 0.0 {
        operator.expect_products(false)?;
        found.info.products += usize::from(operator.is_own());
    }
    Ok(found)
}

/// Runs a job. The dense algebra of `context` solves its projected problems.
pub(super) fn run_job<T: Scalar>(
    context: &Arc<Context>,
    job: &Job<'_, T>,
    krylov: &mut Columns<'_, T>,
    vectors: Vectors<'_>,
    progress: &Progress<'_>,
) -> Result<Pairs<T>> {
    let mut algebra = CpuAlgebra::new(context);
    let mut small = |order: usize, t: &[T::Wide]| -> Result<(Vec<f64>, Vec<T::Wide>)> {
        let t: <CpuAlgebra as Algebra<T::Wide>>::Matrix = algebra.upload("projected matrix", order, order, t, order)?;
        let (values, vectors) = Algebra::<T::Wide>::eigen(&mut algebra, &t)?;
        Ok((values, alloc::copied("projected matrix", vectors.slice()?)?))
    };
    let wanted = to_i64(job.count());
    // Charge the vectors that are returned.
    let numbers = if matches!(vectors, Vectors::Returned) { krylov.order().saturating_mul(job.count()) } else { 0 };
    let _charge = context.host_budget().charge_host("eigenvectors", numbers.saturating_mul(size_of::<T>()))?;
    let mut last = None;
    let mut report = |converged: usize, worst: f64| {
        // Inner searches may look for more pairs than the caller asked for.
        let now = (to_i64(converged).min(wanted), wanted, worst);
        // Between two restarts the numbers do not change. Do not call the caller's function at every step.
        if last.replace(now) == Some(now) {
            return progress.repeat(now);
        }
        progress.report(now.0, now.1, now.2)?;
        progress.check()
    };
    let pairs = job.run(krylov, vectors, &mut small, &mut report)?;
    // A search for copies has reported its own pairs since all had converged.
    if pairs.info.converged == job.count() {
        progress.end(wanted, pairs.info.residual)?;
    }
    Ok(pairs)
}

/// `steps` steps of the plain three-term recurrence from a random start vector, or a given one: for
/// [`super::algorithm::cullum::filter`], spectral densities and functions of matrices. Needs memory for three vectors.
/// Vectors are not reorthogonalized, so the coefficients show the loss of orthogonality.
/// # Errors
/// As [`eigenpairs`].
pub fn tridiagonalize<T: Scalar>(
    context: &Arc<Context>,
    operator: &mut Symmetric<'_, T>,
    steps: usize,
    seed: u64,
    start: Option<&[T]>,
    progress: &Progress<'_>,
) -> Result<Recurrence> {
    tridiagonalize_within(context, operator, steps, (seed, start), (0, 1), progress)
}

fn tridiagonalize_of<T: Scalar>(
    context: &Arc<Context>,
    operator: &mut Symmetric<'_, T>,
    steps: usize,
    (seed, start): (u64, Option<&[T]>),
    (at, all): (usize, usize),
    progress: &Progress<'_>,
) -> Result<Recurrence> {
    let n = operator.order();
    let report = |step: usize| {
        let (step, steps) = (at.saturating_mul(steps).saturating_add(step), all.saturating_mul(steps));
        progress.report(to_i64(step), to_i64(steps), 0.0)?;
        progress.check()
    };
    if steps == 0 {
        return Err(Error::invalid("steps", "is 0, at least 1 is needed"));
    }
    if let Some(start) = start.filter(|s| s.len() != n) {
        return Err(Error::invalid("start", format!("has {} elements, {n} are needed", start.len())));
    }
    if at == 0 {
        operator.expect_usable()?;
    }
    let found = match context.backend() {
        Backend::Cpu => {
            let is_sampled = operator.take_sampled();
            CpuKrylov::new(context, &mut *operator, None, 3).and_then(|mut krylov| {
                if is_sampled {
                    sample(&mut krylov)?;
                }
                run(&mut krylov, steps, seed, start, &report)
            })
        }
        Backend::Gpu(_) => GpuKrylov::new(context, &mut *operator, None, 3)
            .and_then(|mut krylov| run(&mut krylov, steps, seed, start, &report)),
    };
    let found = found.map_err(|error| operator.explained(error))?;
    if at + 1 == all {
        operator.expect_adjoint_still()?;
    }
    if found.alpha.iter().chain(&found.beta).all(|v| *v == 0.0) {
        operator.expect_products(false)?;
    }
    // The recurrence may have ended early; report all steps as done.
    report(steps)?;
    Ok(found)
}

fn run<T: Scalar>(
    krylov: &mut Columns<'_, T>,
    steps: usize,
    seed: u64,
    start: Option<&[T]>,
    report: &dyn Fn(usize) -> Result<()>,
) -> Result<Recurrence> {
    match start {
        Some(start) => put(krylov, start, 0)?,
        None => krylov.random(seed, 0, 0)?,
    }
    let norm = krylov.orthogonalize(0, 0)?.after;
    if !norm.is_finite() || norm == 0.0 {
        return Err(Error::invalid("start", if norm == 0.0 { "is 0" } else { "is not finite" }));
    }
    krylov.scale(0, 1.0 / norm)?;
    let found = recurrence(krylov, 0, steps, T::Part::EPSILON.to_f64(), None, &mut |step| report(step))?;
    let norm = found.alpha.iter().chain(&found.beta).fold(0.0f64, |most, v| most.max(v.abs()));
    expect_scale(krylov, norm, 0)?;
    Ok(found)
}
