//! Singular values of sparse matrices and of those known by their products.
//!
//! A^H A squares the singular values: its eigenpairs have no information about those below sqrt(eps) ||A||. Its
//! eigenvectors are therefore only a start. A Rayleigh-Ritz step on both sides follows, and the residuals of both
//! equations are computed. If they are too large, Golub-Kahan-Lanczos, which squares nothing, finds the triplets.

use std::sync::Arc;

use super::algorithm::bidiagonal::{self, SmallSvd};
use super::algorithm::restart::Counts;
use super::algorithm::scale::{expect_scale_between, put};
use super::algorithm::triplets::{allowed, complete, deviations, orthonormalize, residuals, rotate};
use super::algorithm::verify::Solved;
use super::cpu::CpuKrylov;
use super::gpu::GpuKrylov;
use super::info::{Info, Pairs, Reason};
use super::operator::{Kind, Symmetric};
use super::options::{Options, Settings};
use super::sides::{Pair, Side, Sides};
pub use super::singular_plan::SingularOperator;
use super::singular_plan::{Planned, Shape, WHAT, is_of_eigenpairs, search};
use super::solve::{SolveInputs, eigenpairs};
use crate::alloc;
use crate::backend::Backend;
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::dense::Algebra;
use crate::dense::cpu::CpuAlgebra;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::scalar::Scalar;
use crate::shape::{product, to_i64};

/// A search on the columns of both sides.
type Work<'a, T> = dyn FnMut(&mut dyn Sides<T>) -> Result<Triplets<T>> + 'a;

/// The arguments of a call beside the options.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a, T> {
    /// The operator whose eigenvectors are computed first.
    pub through: SingularOperator,
    /// Start vector of min(rows, cols) numbers: a right vector if cols <= rows, else a left one. A random one is used
    /// if there is none.
    pub start: Option<&'a [T]>,
    /// Whether left and right vectors are returned.
    pub vectors: [bool; 2],
}

impl<T> Default for Request<'_, T> {
    fn default() -> Self {
        Self { through: SingularOperator::Auto, start: None, vectors: [true; 2] }
    }
}

/// Singular triplets A v = s u.
#[derive(Debug, Clone, PartialEq)]
pub struct Triplets<T> {
    /// Singular values, the largest first; with [`Which::Smallest`](super::Which::Smallest), the smallest first.
    pub values: Vec<f64>,
    /// u, rows-by-k, column-major, orthonormal; empty if not asked for.
    pub left: Vec<T>,
    /// v, cols-by-k, column-major, orthonormal; empty if not asked for.
    pub right: Vec<T>,
    /// The larger of ||A v - s u|| and ||A^H u - s v|| of each triplet, computed from the vectors.
    pub residuals: Vec<f64>,
    /// Figures of the solve. A product is one with A and one with A^H. The norm is that of A.
    pub info: Info,
}

/// The k largest singular triplets of a matrix, or the k smallest. `options` say how; `which` is
/// [`Which::Largest`](super::Which::Largest) or [`Which::Smallest`](super::Which::Smallest).
///
/// A triplet has converged when both its residuals are at most twice the tolerance times its value, or 16 sqrt(m) eps
/// ||A|| if that is larger; m is the number of vectors of the space, at least 16. [`Options::block`], `filter`, `method` and
/// `orthogonality` apply to the eigenvectors of A^H A. If one of them is set, the search begins with these
/// eigenvectors, also for the smallest values.
///
/// # Errors
/// [`Error::InvalidArgument`] for another `which`, more values than the matrix has, or a start vector that is 0, not
/// finite or of another length; [`Error::NotSupported`] for the smallest values through [`SingularOperator::Augmented`], where
/// they are in the middle of the spectrum; else as [`eigenpairs`].
pub fn singular_triplets<T: Scalar>(
    context: &Arc<Context>,
    a: &Matrix,
    request: Request<'_, T>,
    options: &Options,
    progress: &Progress<'_>,
) -> Result<Triplets<T>> {
    let planned = Planned::new::<T>(context, a, request.through, options)?;
    triplets_as_planned(context, a, request, options, &planned, progress)
}

/// [`singular_triplets`] after its plan.
pub(super) fn triplets_as_planned<T: Scalar>(
    context: &Arc<Context>,
    a: &Matrix,
    request: Request<'_, T>,
    options: &Options,
    planned: &Planned,
    progress: &Progress<'_>,
) -> Result<Triplets<T>> {
    if let Some(start) = request.start {
        check_start(start, planned.shape.lengths[0])?;
    }
    let call = Call { context, a, planned, shape: &planned.shape, request, options, progress };
    let mut found = call.run()?;
    let Info { method, reason, host_bytes, device_bytes, .. } = planned.info;
    found.info = Info { method, reason, host_bytes, device_bytes, ..found.info };
    // A search for copies has reported its own triplets since all had converged.
    if found.info.converged == options.count {
        progress.end(to_i64(options.count), found.info.residual)?;
    }
    Ok(found)
}

fn check_start<T: Scalar>(start: &[T], n: usize) -> Result<()> {
    if start.len() != n {
        return Err(Error::invalid("start", format!("has {} elements, {n} are needed", start.len())));
    }
    if let Some(i) = start.iter().position(|x| !(x.re().is_finite() && x.im().is_finite())) {
        return Err(Error::invalid("start", format!("element {i} is not finite")));
    }
    if start.iter().all(|x| *x == T::default()) {
        return Err(Error::invalid("start", "is 0"));
    }
    Ok(())
}

/// A call with its arguments.
struct Call<'a, T> {
    context: &'a Arc<Context>,
    a: &'a Matrix,
    planned: &'a Planned,
    shape: &'a Shape,
    request: Request<'a, T>,
    options: &'a Options,
    progress: &'a Progress<'a>,
}

impl<T: Scalar> Call<'_, T> {
    /// Triplets by eigenvectors, and where these do not suffice by Golub-Kahan-Lanczos.
    fn run(&self) -> Result<Triplets<T>> {
        let mut earlier = Info::default();
        if let Some(kind) = self.planned.first {
            match self.by_eigenvectors(kind) {
                Ok((found, has_ended)) => {
                    if found.info.converged == self.options.count || (self.options.restarts > 0 && !has_ended) {
                        return Ok(found);
                    }
                    earlier = found.info;
                }
                // The squares of the values may overflow or underflow although the values do not.
                Err(Error::Numerical(_))
                    if self.request.through == SingularOperator::Auto && !is_of_eigenpairs(self.options) => {}
                Err(error) => return Err(error),
            }
        }
        let mut found = self.by_bidiagonalization(self.planned.first.is_some())?;
        let info = &mut found.info;
        info.products += earlier.products;
        info.restarts += earlier.restarts;
        info.breakdowns += earlier.breakdowns;
        info.recovered += earlier.recovered;
        info.seconds += earlier.seconds;
        Ok(found)
    }

    /// Triplets from the eigenvectors of the operator of `kind`, and whether all these eigenvectors had converged.
    fn by_eigenvectors(&self, kind: Kind) -> Result<(Triplets<T>, bool)> {
        let begin = std::time::Instant::now();
        let [n, long] = self.shape.lengths;
        let augmented = kind == Kind::Augmented;
        let order = if augmented { n + long } else { n };
        // The right vectors are the last numbers of the augmented matrix's vectors.
        let first = if augmented && self.shape.is_tall { long } else { 0 };
        let mut padded = alloc::filled(WHAT, if self.request.start.is_some() { order } else { 0 }, T::default())?;
        if let Some(start) = self.request.start {
            padded[first..first + n].copy_from_slice(start);
        }
        let given = SolveInputs { start: self.request.start.map(|_| &*padded), ..SolveInputs::default() };
        let mut operator = Symmetric::<T>::new(self.context, self.a, kind, 0.0)?;
        let pairs = eigenpairs(self.context, &mut operator, self.options, &given, self.progress)?;
        // Copies of a matrix that is not the library's own are made anew for each operator.
        let operator = (!augmented).then_some(operator);
        let Pairs { values, vectors, info, .. } = pairs;
        let has_ended = info.converged == self.options.count;
        let count = values.len();
        let settings = Options { count: count.max(1), ..search(self.options) }.resolve(n, 0, T::DTYPE)?;
        let _held = self.charge(vectors.len())?;
        let mut made = self.between(count + 1, (operator, true), &mut |sides| {
            let mut counts = Counts { drawn: settings.drawn, ..Counts::default() };
            for (j, x) in vectors.chunks_exact(order).enumerate() {
                sides.side(Side::Short).write(&x[first..first + n], j)?;
                if augmented {
                    let size = sides.side(Side::Short).distance(j, 0.0, j)?;
                    let factor = if size > 0.0 { 1.0 / size } else { 1.0 };
                    sides.side(Side::Short).scale(j, factor)?;
                }
            }
            complete(sides, count, &settings, &mut counts)?;
            self.finish(sides, count, &settings, (info, counts.norm))
        })?;
        made.info.converged = made.info.converged.min(info.converged);
        made.info.seconds = begin.elapsed().as_secs_f64();
        Ok((made, has_ended))
    }

    /// Triplets by Golub-Kahan-Lanczos, without the square of the matrix. Eigenvectors before may have tested the adjoint.
    fn by_bidiagonalization(&self, is_tested: bool) -> Result<Triplets<T>> {
        let begin = std::time::Instant::now();
        let settings = self.planned.settings;
        let mut algebra = CpuAlgebra::new(self.context);
        let mut svd = |order: usize, b: &[f64]| small_svd(&mut algebra, order, b);
        let svd: &mut SmallSvd<'_> = &mut svd;
        let wanted = to_i64(settings.count);
        let mut report = |converged: usize, worst: f64| {
            self.progress.report(to_i64(converged), wanted, worst)?;
            self.progress.check()
        };
        let columns = bidiagonal::columns(&settings);
        let mut made = self.between(columns, (None, is_tested), &mut |sides| {
            if let Some(start) = self.request.start {
                let short = sides.side(Side::Short);
                put(short, start, 0)?;
                let size = short.distance(0, 0.0, 0)?;
                short.scale(0, 1.0 / size)?;
            }
            let (mut within, mut started) = (settings, self.request.start.is_some());
            let mut before = Counts::default();
            loop {
                let Solved { values, converged, reason, recovered, verified, counts } =
                    bidiagonal::solve(sides, &within, started, svd, &mut report)?;
                let info = Info {
                    stop_reason: reason,
                    count: values.len(),
                    converged,
                    products: before.products + counts.products,
                    restarts: before.restarts + counts.restarts,
                    breakdowns: before.breakdowns + counts.breakdowns,
                    recovered,
                    verified,
                    residual: 0.0,
                    orthogonality: 0.0,
                    asymmetry: 0.0,
                    coupling: 0.0,
                    basis: settings.basis,
                    degree: 0,
                    norm: counts.norm,
                    ..Info::default()
                };
                orthonormalize(sides, values.len())?;
                let made = self.finish(sides, values.len(), &settings, (info, counts.norm))?;
                // The residual that is allowed for a large value may be too large for a small value found beside it.
                let finer = within.finer();
                let is_contradicted = converged == settings.count && made.info.converged < converged;
                if !is_contradicted || finer >= within.tolerance || within.tolerance < settings.tolerance {
                    return Ok(made);
                }
                let Info { products, restarts, breakdowns, .. } = made.info;
                before = Counts { products, restarts, breakdowns, ..before };
                within = Settings { tolerance: finer, drawn: counts.drawn, ..within };
                started = false;
            }
        })?;
        made.info.seconds = begin.elapsed().as_secs_f64();
        Ok(made)
    }

    /// Charges `numbers` numbers in host memory.
    fn charge(&self, numbers: usize) -> Result<Charge> {
        self.context.host_budget().charge_host(WHAT, numbers.saturating_mul(size_of::<T>()))
    }

    /// Runs `work` on newly allocated columns of both sides, beside the vectors that are returned. Without the Gram operator
    /// on the short side it makes one, and tests its adjoint first unless that is tested.
    fn between(
        &self,
        columns: usize,
        (operator, is_tested): (Option<Symmetric<'_, T>>, bool),
        work: &mut Work<'_, T>,
    ) -> Result<Triplets<T>> {
        let (context, columns) = (self.context, columns.max(3));
        let [wants_left, wants_right] = self.request.vectors;
        let lengths = [(wants_left, self.a.rows()), (wants_right, self.a.cols())];
        let length: usize = lengths.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, n)| n).sum();
        let _returned = self.charge(length.saturating_mul(self.options.count))?;
        let made = || Symmetric::<T>::new(context, self.a, self.shape.kind, 0.0);
        let mut operator = operator.map_or_else(made, Ok)?;
        let tests = if is_tested { 0 } else { operator.expect_adjoint()? };
        let mut longer = Symmetric::<T>::columns_alone(context, self.shape.lengths[1])?;
        let found = match context.backend() {
            Backend::Cpu => CpuKrylov::new(context, &mut operator, None, columns).and_then(|short| {
                work(&mut Pair { short, long: CpuKrylov::new(context, &mut longer, None, columns)? })
            }),
            Backend::Gpu(_) => GpuKrylov::new(context, &mut operator, None, columns).and_then(|short| {
                work(&mut Pair { short, long: GpuKrylov::new(context, &mut longer, None, columns)? })
            }),
        };
        let mut found = found.map_err(|error| operator.explained(error))?;
        found.info.products += tests;
        Ok(found)
    }

    /// The triplets of the spaces of the first `count` columns. A triplet counts as converged only if both its
    /// residuals are small and its vectors are orthonormal.
    fn finish(
        &self,
        sides: &mut dyn Sides<T>,
        count: usize,
        settings: &Settings,
        (info, norm): (Info, f64),
    ) -> Result<Triplets<T>> {
        let values = rotate(sides, count, settings.which, count)?;
        let residuals = residuals(sides, &values, count)?;
        let norm = values.iter().fold(norm, |most, v| most.max(*v));
        expect_scale_between(sides, norm, count)?;
        let deviations = deviations(sides, count)?;
        let orthogonality = deviations.iter().fold(0.0f64, |most, d| most.max(*d));
        let small = |i: usize| residuals[i] <= allowed(settings, values[i], norm);
        let good = (0..count).take_while(|&i| small(i)).count();
        let orthonormal = deviations.iter().take_while(|d| **d <= settings.epsilon.sqrt()).count();
        let converged = good.min(info.converged).min(orthonormal);
        let stop_reason = match info.stop_reason {
            Reason::Converged if converged < settings.count => Reason::Contradicted,
            reason => reason,
        };
        let [left, right] = self.read(sides, count)?;
        let verified = info.verified && converged == settings.count;
        let residual = residuals.iter().take(converged).fold(0.0f64, |most, r| most.max(*r));
        let info =
            Info { count: values.len(), converged, stop_reason, norm, verified, residual, orthogonality, ..info };
        Ok(Triplets { values, left, right, residuals, info })
    }

    /// The requested vectors. Each pair is multiplied by a number of modulus 1 that makes the entry of largest modulus
    /// on the short side real and positive.
    fn read(&self, sides: &mut dyn Sides<T>, count: usize) -> Result<[Vec<T>; 2]> {
        let [wants_left, wants_right] = self.request.vectors;
        let wanted = if self.shape.is_tall { [wants_right, wants_left] } else { [wants_left, wants_right] };
        let [n, long] = self.shape.lengths;
        let memory = |n: usize, is_wanted: bool| {
            alloc::filled(WHAT, if is_wanted { product(WHAT, n, count)? } else { 0 }, T::default())
        };
        let (mut near, mut far) = (memory(n, wanted[0])?, memory(long, wanted[1])?);
        if wanted != [false; 2] {
            let mut x = alloc::filled(WHAT, n, T::default())?;
            for j in 0..count {
                sides.side(Side::Short).read(j, &mut x)?;
                let phase = super::phase::phase(&x);
                let turn = |v: &mut [T]| v.iter_mut().for_each(|v| *v = phase * *v);
                if let Some(to) = near.get_mut(j * n..(j + 1) * n) {
                    to.copy_from_slice(&x);
                    turn(to);
                }
                if let Some(to) = far.get_mut(j * long..(j + 1) * long) {
                    sides.side(Side::Long).read(j, to)?;
                    turn(to);
                }
            }
        }
        Ok(if self.shape.is_tall { [far, near] } else { [near, far] })
    }
}

/// Computes P, s and Q of a real matrix on the host.
fn small_svd(algebra: &mut CpuAlgebra, order: usize, b: &[f64]) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>)> {
    let held: <CpuAlgebra as Algebra<f64>>::Matrix = algebra.upload("projected matrix", order, order, b, order)?;
    let found = Algebra::<f64>::svd(algebra, &held)?;
    let copy = |m: &<CpuAlgebra as Algebra<f64>>::Matrix| alloc::copied("projected matrix", m.slice()?);
    Ok((copy(&found.u)?, found.s, copy(&found.v)?))
}
