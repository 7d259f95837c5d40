//! The call: starts in rounds until the set of pairs is complete.

use super::search::{CHUNK, Search, Site};
use super::set::PairSet;
use crate::alloc;
use crate::backend::cpu::simd::Vectorized;
use crate::choice::Value;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::{DType, Real, with_real};
use crate::shape::to_i64;
use crate::sshopm::algorithm::{Outputs, check_outputs, pairs_of};
use crate::sshopm::cpu::load::{self, exponent_of, power_of_two_times};
use crate::sshopm::info::Info;
use crate::sshopm::options::{Goal, Options, Results, Sign, StartKind, TensorStatus, Test};
use crate::sshopm::plan::{Counts, Iteration, Plan, Reduction, SignRule, Starts};
use crate::sshopm::resolve::{check, chord2, degeneracy, isotropy, level, merge_value, or_default, raised, steps};
use crate::sshopm::starts::refuse_idle_seed;
use crate::stream::{self, Stream};
use crate::tensor::{HostInput, HostOutput, Symmetric, Tensor};

/// Value of `morse_expected` if the theory predicts none: odd order in even dimension, or a degenerate pair.
pub const NO_MORSE_INFORMATION: i32 = i32::MIN;

/// Least number of starts that end at each pair of a complete set. Where a pair has fewer, pairs that as many starts would
/// reach may be missing: the tests of `few_starts.rs` have sets that lack pairs and pass the other checks.
const LEAST_STARTS: i32 = 4;

/// Default limit of the Newton steps of a start.
pub(super) const STEPS: u32 = 200;

/// Finds all real eigenpairs of every tensor of a batch.
///
/// `results` as for [`crate::sshopm::solve`], without per-start outputs; `values` are descending. `morse_sum` and
/// `morse_expected` are I32 `[T]`; the expected sum is `i32::MIN` if the theory predicts none. The status of a tensor is
///
/// - [`TensorStatus::Incomplete`] if the numbers of pairs of each kind cannot be those of a complete set (`topology`), if
///   starts ended without a pair, at singular points or out of steps, or if `max_starts` was reached before a round that
///   found nothing new or before every pair was reached by four starts;
/// - else [`TensorStatus::Degenerate`] if a pair is degenerate. The theory then predicts no sum, so completeness is not
///   tested. A continuum is one entry; three degenerate pairs with one lambda count as a continuum.
///
/// Order 2 is solved by the symmetric eigensolver, and options of the search are refused. Eigenvalues that differ by at most 8 n
/// times the rounding of the norm are one entry, like any continuum.
///
/// # Errors
/// As for [`crate::sshopm::solve`].
#[expect(clippy::too_many_arguments, reason = "two optional outputs besides the results")]
pub fn all(
    context: &Context,
    queue: Option<&Stream>,
    tensors: &Tensor,
    options: &Options,
    results: &mut Results<'_>,
    morse_sum: Option<&mut Tensor>,
    morse_expected: Option<&mut Tensor>,
    progress: &Progress<'_>,
) -> Result<Info> {
    context.check_alive()?;
    let queue = stream::select(context, queue)?;
    tensors.expect_context("tensors", context)?;
    let shape = tensors.expect_symmetric("tensors")?;
    let count = tensors.dims()[1];
    if let Some(name) = results.first_per_start() {
        return Err(Error::invalid(name, "is not available for all pairs"));
    }
    for (name, tensor) in [("morse_sum", morse_sum.as_deref()), ("morse_expected", morse_expected.as_deref())] {
        let Some(tensor) = tensor else { continue };
        tensor.expect_context(name, context)?;
        tensor.expect_dtype(name, DType::I32)?;
        tensor.expect_dims(name, &[count])?;
        tensor.check_writable(name)?;
    }
    let pairs = pairs_of(results)?;
    with_real!(tensors.dtype(), "tensors", T => {
        let search = Search::<T>::new(shape, count, options, pairs)?;
        let outputs = Outputs { results: &mut *results, peaks: None };
        check_outputs(context, &search.plan, count, &outputs)?;
        search.run_on_host(Site { context, queue }, tensors, results, (morse_sum, morse_expected), progress)
    })
}

/// Expected sum of (-1)^k over all isolated pairs.
fn expected_morse(shape: Symmetric) -> i32 {
    match (shape.order.is_multiple_of(2), shape.dimension % 2 == 1) {
        (true, odd) => i32::from(odd),
        (false, true) => 1,
        (false, false) => NO_MORSE_INFORMATION,
    }
}

/// Refuses options of [`crate::sshopm::solve`] that the search does not have.
fn refuse_options_of_solve(options: &Options) -> Result<()> {
    let default = Options::default();
    let each = |o: &Options| {
        [
            ("goal", Value::from(o.goal as i32)),
            ("method", Value::from(o.method as i32)),
            ("shift_kind", Value::from(o.shift_kind as i32)),
            ("shift", Value::from(o.shift)),
            ("test", Value::from(o.test as i32)),
            ("warmup", Value::from(o.warmup.map_or(-1, to_i64))),
            ("tau", Value::from(o.tau)),
            ("start_kind", Value::from(o.start_kind as i32)),
            ("compatibility", Value::from(o.compatibility as i32)),
            ("remove_isotropic", Value::from(o.remove_isotropic)),
        ]
    };
    match each(options).into_iter().zip(each(&default)).find(|((_, value), (_, default))| value != default) {
        Some(((name, value), _)) => {
            let problem =
                format!("is {value}, but the search for all pairs, which has its own iteration, does not use it");
            Err(Error::invalid(name, problem))
        }
        None => Ok(()),
    }
}

/// Refuses options of the search for order 2, which needs no search.
fn refuse_idle_options(shape: Symmetric, options: &Options) -> Result<()> {
    if shape.order != 2 {
        return Ok(());
    }
    let counts = [
        ("starts", Value::from(options.starts)),
        ("max_starts", Value::from(options.max_starts)),
        ("max_iterations", Value::from(options.max_iterations)),
        ("tolerance", Value::from(options.tolerance)),
        ("merge_angle", Value::from(options.merge_angle)),
        ("merge_value", Value::from(options.merge_value)),
    ];
    const REASON: &str = "the tensors are matrices, whose pairs the symmetric eigensolver finds";
    match counts.into_iter().find(|(_, value)| ![Value::Integer(0), Value::Real(0.0)].contains(value)) {
        Some((name, value)) => Err(Error::invalid(name, format!("is {value}, but {REASON}"))),
        None => refuse_idle_seed(options.seed, REASON),
    }
}

/// Number of pairs of a generic tensor, complex ones included: ((m-1)^n - 1)/(m-2), or n for order 2.
fn generic_pairs(shape: Symmetric) -> f64 {
    let (m, n) = (shape.order as f64, shape.dimension as f64);
    if shape.order == 2 { n } else { ((m - 1.0).powf(n) - 1.0) / (m - 2.0) }
}

fn default_tolerance<T: Real>() -> f64 {
    if T::DTYPE == DType::F32 { 1e-5 } else { 1e-11 }
}

impl<T: Vectorized> Search<T> {
    pub(super) fn new(shape: Symmetric, count: usize, options: &Options, pairs: usize) -> Result<Self> {
        let single = T::DTYPE == DType::F32;
        refuse_options_of_solve(options)?;
        check(options)?;
        refuse_idle_options(shape, options)?;
        let starts = match crate::shape::size("starts", options.starts, 0)? {
            0 if shape.dimension == 1 => 1,
            0 if shape.dimension <= 3 => 2000,
            0 => (50.0 * generic_pairs(shape)).clamp(2000.0, 1e5) as usize,
            n => n,
        };
        let max_starts = match crate::shape::size("max_starts", options.max_starts, 0)? {
            0 => starts.saturating_mul(32),
            n if n < starts => {
                return Err(Error::invalid("max_starts", format!("is {n}, less than starts = {starts}")));
            }
            n => n,
        };
        let max_iterations = match options.max_iterations {
            0 => STEPS,
            n => steps(n),
        };
        let wanted = or_default("tolerance", options.tolerance, default_tolerance::<T>())?;
        let (tolerance, raised) = raised(wanted, 4.0 * T::EPSILON.to_f64());
        let (multinomials, identity) = Plan::<T>::tables(shape)?;
        let degeneracy = degeneracy::<T>(options.degeneracy_tolerance)?;
        // Vectors have the rounding of their type, so a smaller angle could separate a pair from itself.
        let least_angle = 8.0 * T::EPSILON.to_f64();
        let merge_angle =
            or_default("merge_angle", options.merge_angle, if single { 1e-3 } else { 1e-5 })?.max(least_angle);
        let merge_norm = or_default("merge_value", options.merge_value, if single { 1e-3 } else { 1e-6 })?;
        let mut plan = Plan {
            shape,
            goal: Goal::Maxima,
            iteration: Iteration::Newton,
            test: Test::Residual,
            tolerance,
            absolute: false,
            tau: 0.0,
            max_iterations,
            warmup: 0,
            scale: true,
            remove_isotropic: false,
            sign: if options.sign == Sign::Raw { SignRule::Raw } else { SignRule::Canonical },
            starts: Starts::Drawn { kind: StartKind::Random, seed: options.seed, first: 0, chunks: 1 },
            start_count: starts.min(CHUNK),
            reduction: Reduction {
                pairs,
                merge_chord2: chord2(merge_angle),
                merge_value: 0.0,
                merge_norm: merge_value::<T>(merge_norm),
                degeneracy,
                level: level::<T>(degeneracy, tolerance),
                // 0 for exact multiples of the identity alone: other matrices are classified by their eigenvalues.
                isotropy: if shape.order == 2 { 0.0 } else { isotropy::<T>() },
                special_pair: true,
                saddles: true,
                absolute_threshold: None,
                relative_threshold: 0.0,
                separation_chord2: 0.0,
            },
            transform: None,
            multinomials,
            identity,
            missing: T::from_f64(f64::NAN),
            unfinished_only: true,
        };
        let rule = plan.reduction;
        // A chunk keeps every end: which of them are points of a continuum is said in f64. No two lambdas are closer than these.
        plan.reduction.level = -1.0;
        plan.reduction.merge_value = f64::NEG_INFINITY;
        Ok(Self { plan, rule, pairs, starts, max_starts, raised, seed: options.seed, count })
    }

    /// The search takes one tensor at a time, so that the batch and its results are the host's: arrays on a device are
    /// copied from and to it as a whole.
    fn run_on_host(
        self,
        site: Site<'_>,
        tensors: &Tensor,
        results: &mut Results<'_>,
        morse: (Option<&mut Tensor>, Option<&mut Tensor>),
        progress: &Progress<'_>,
    ) -> Result<Info> {
        let queue = site.queue;
        let tensors = HostInput::new(queue, "tensors", tensors)?;
        let mut sum = HostOutput::optional("morse_sum", morse.0)?;
        let mut expected = HostOutput::optional("morse_expected", morse.1)?;
        macro_rules! with_results {
            ($($name:ident),*) => {{
                $(let mut $name = HostOutput::optional(stringify!($name), results.$name.as_deref_mut())?;)*
                let mut here =
                    Results { $($name: $name.as_mut().map(HostOutput::tensor),)* ..Results::default() };
                let morse = (sum.as_mut().map(HostOutput::tensor), expected.as_mut().map(HostOutput::tensor));
                let info = self.run(site, &tensors, &mut here, morse, progress)?;
                for output in [$($name,)* sum, expected].into_iter().flatten() {
                    output.finish(queue)?;
                }
                Ok(info)
            }};
        }
        with_results!(count, values, vectors, residuals, classes, hessian, basins, status, found)
    }

    pub(super) fn run(
        mut self,
        site: Site<'_>,
        tensors: &Tensor,
        results: &mut Results<'_>,
        mut morse: (Option<&mut Tensor>, Option<&mut Tensor>),
        progress: &Progress<'_>,
    ) -> Result<Info> {
        let started = std::time::Instant::now();
        let count = tensors.dims()[1];
        let packed = self.plan.shape.count();
        let entries = tensors.view::<T>("tensors")?;
        let expected = expected_morse(self.plan.shape);
        let mut info = Info { tensors: to_i64(count), starts: to_i64(self.starts), ..Info::default() };
        let mut a = alloc::filled("packed entries", packed, T::ZERO)?;
        let mut done = Counts::default();
        for t in 0..count {
            progress.report(to_i64(t), to_i64(count), 0.0)?;
            entries.read_column(&[t], &mut a);
            let (set, status, counts) = self.tensor(site, t, &mut a, progress)?;
            done = done.plus(counts);
            let sum = set.morse_sum();
            let expected = if set.has_degenerate() { NO_MORSE_INFORMATION } else { expected };
            info.truncated_tensors += i64::from(set.write(results, t, self.pairs, status)?);
            if let Some(m) = morse.0.as_deref_mut() {
                m.view_mut::<i32>("morse_sum")?.set(&[t], sum);
            }
            if let Some(m) = morse.1.as_deref_mut() {
                m.view_mut::<i32>("morse_expected")?.set(&[t], expected);
            }
            info.chunks += 1;
        }
        progress.report(to_i64(count), to_i64(count), 1.0)?;
        info.converged_starts = i64::try_from(done.converged).unwrap_or(i64::MAX);
        info.iterations = i64::try_from(done.iterations).unwrap_or(i64::MAX);
        info.skipped_tensors = i64::try_from(done.skipped).unwrap_or(i64::MAX);
        info.unconverged_tensors = i64::try_from(done.unconverged).unwrap_or(i64::MAX);
        info.tolerance = self.plan.tolerance;
        info.tolerance_raised = self.raised;
        info.seconds = started.elapsed().as_secs_f64();
        Ok(info)
    }

    /// Finds all pairs of one tensor. Its entries are first divided by a power of two, so that no intermediate result overflows
    /// or underflows.
    pub(super) fn tensor(
        &mut self,
        site: Site<'_>,
        index: usize,
        a: &mut [T],
        progress: &Progress<'_>,
    ) -> Result<(PairSet<T>, TensorStatus, Counts)> {
        let n = self.plan.shape.dimension;
        let empty = || PairSet::new(self.plan.shape, self.plan.sign, site.context.host_budget());
        let (mut set, first) = (empty(), a[0]);
        match load::inspect(&self.plan, a) {
            Err((status, value)) => {
                if status != TensorStatus::Nonfinite {
                    set.push_special(value)?;
                }
                return Ok((set, status, Counts { skipped: 1, ..Counts::default() }));
            }
            Ok(largest) => {
                let exponent = exponent_of(largest.to_f64());
                a.iter_mut().for_each(|x| *x = power_of_two_times(*x, -exponent));
                set.set_exponent(exponent);
            }
        }
        let a: &[T] = a;
        let norm = load::frobenius(a, &self.plan.multinomials);
        let flat = self.plan.reduction.degeneracy * norm;
        if self.plan.shape.order == 2 {
            // `degeneracy_tolerance` decides the class of an eigenvalue near another one. Pairs that differ by rounding
            // alone are one entry.
            let equal = super::matrix::rounding::<T>(n, norm);
            let spread = site.context.pool().run(|| super::matrix::pairs(n, a, flat.max(equal), &mut set))?;
            if n > 1 && spread <= equal {
                let mut set = empty();
                set.push_special(first)?;
                return Ok((set, TensorStatus::Isotropic, Counts { skipped: 1, ..Counts::default() }));
            }
            set.collapse(equal, 2)?;
            let status = if set.has_degenerate() { TensorStatus::Degenerate } else { TensorStatus::Ok };
            return Ok((set, status, Counts::default()));
        }
        let (approach, _charge) = alloc::limited(site.context.host_budget(), || {
            super::approach::Approach::new(self.plan.shape, a, &self.plan.multinomials)
        })?;
        let check = super::end_check::EndCheck {
            shape: self.plan.shape,
            rule: self.rule,
            approach: &approach,
            norm,
            varying: super::end_check::varying(&self.plan, a, norm),
            epsilon: T::EPSILON.to_f64(),
            accepted: default_tolerance::<T>(),
        };
        let count = self.count;
        let mut search =
            super::rounds::OneTensor { site, index, a, norm, set: &mut set, check, lost: 0, progress, count };
        let mut total = if n > 1 { self.extrema(&mut search)? } else { super::rounds::Ended::default() };
        let (mut drawn, mut round) = (0, self.starts);
        let complete = loop {
            progress.check()?;
            let before = search.set.len();
            total.add(self.random(&mut search, drawn, round)?);
            drawn += round;
            let set = &*search.set;
            // Nothing is known beside a degenerate pair.
            let fulfilled = set.has_degenerate()
                || super::topology::is_possible(set.shape(), &set.counts_by_index()?)
                    && set.least_basin() >= LEAST_STARTS;
            let is_stable = drawn > self.starts && set.len() == before;
            let left = self.max_starts - drawn;
            if (fulfilled && is_stable) || left == 0 || n == 1 {
                break n == 1 || (fulfilled && is_stable);
            }
            // A doubling: as many starts as so far.
            round = drawn.min(left);
        };
        let lost = total.lost + search.lost;
        let status = match () {
            () if set.len() == 0 => TensorStatus::NoPair,
            () if !complete || lost > 0 => TensorStatus::Incomplete,
            () if set.has_degenerate() => TensorStatus::Degenerate,
            () => TensorStatus::Ok,
        };
        // Starts that used up their steps have gone on; those that ended without a pair count.
        Ok((set, status, Counts { unconverged: u64::from(lost > 0), ..total.counts }))
    }
}
