//! Converts options to a [`Plan`]: applies defaults, checks values, and raises a tolerance to the type's accuracy.

use super::options::{Compatibility, Goal, Method, Options, Shift, Sign, StartKind, Test};
use super::plan::{ConstantShift, Iteration, Plan, Reduction, SignRule, Starts};
use super::starts::{IDLE_SEED, icosahedral_count, points, refuse_idle_seed};
use crate::alloc;
use crate::error::{Error, Result, real};
use crate::instances::compiled_here;
use crate::range;
use crate::scalar::{DType, Real};
use crate::shape::product;
use crate::tensor::{Symmetric, Tensor};

/// Squared chord of an angle.
pub fn chord2(angle: f64) -> f64 {
    let s = 2.0 * (0.5 * angle).sin();
    s * s
}

/// `value`, or the default for 0.
///
/// # Errors
/// As [`range::not_negative`].
pub fn or_default(argument: &str, value: f64, default: f64) -> Result<f64> {
    Ok(if range::not_negative(argument, value)? == 0.0 { default } else { value })
}

fn is_f32<T: Real>() -> bool {
    T::DTYPE == DType::F32
}

/// The tolerance, but at least `floor`, and whether `floor` replaced it.
pub fn raised(tolerance: f64, floor: f64) -> (f64, bool) {
    if tolerance < floor { (floor, true) } else { (tolerance, false) }
}

/// The largest relative difference of lambdas that may be rounding.
fn value_rounding<T: Real>() -> f64 {
    256.0 * T::EPSILON.to_f64()
}

/// A `merge_value` other than 0: at least the rounding of lambdas, which would else make one pair many.
pub fn merge_value<T: Real>(value: f64) -> f64 {
    value.max(value_rounding::<T>())
}

/// The tolerance for eigenvalues that count as 0; a `value` of 0 means 1e-3 in F32 and 1e-7 in F64.
///
/// # Errors
/// As [`or_default`].
pub fn degeneracy<T: Real>(value: f64) -> Result<f64> {
    or_default("degeneracy_tolerance", value, if is_f32::<T>() { 1e-3 } else { 1e-7 })
}

/// Largest difference of lambdas on one continuum, relative to the norm: it covers rounding and the tolerance. Lambda is
/// stationary at an eigenvector, so its error is far below the residual.
pub fn level<T: Real>(degeneracy: f64, tolerance: f64) -> f64 {
    let rounding = if is_f32::<T>() { 3e-5 } else { 1e-9 };
    degeneracy.min(f64::max(rounding, 3.0 * tolerance))
}

/// Largest deviation from a multiple of the identity, relative to the largest entry: the rounding of a linear transform.
pub fn isotropy<T: Real>() -> f64 {
    64.0 * T::EPSILON.to_f64()
}

/// Largest number of steps: kernels count them in 32 bits with a sign.
const MOST_STEPS: usize = i32::MAX as usize;

/// A number of steps that [`check`] has accepted.
pub fn steps(count: usize) -> u32 {
    u32::try_from(count.min(MOST_STEPS)).unwrap_or(u32::MAX)
}

/// Refuses values of options that are outside their domain whatever the tensors are, and combinations without effect.
///
/// # Errors
/// [`Error::InvalidArgument`] naming the option.
pub fn check(options: &Options) -> Result<Iteration> {
    let compatible = options.compatibility == Compatibility::TensorToolbox;
    let iteration = iteration_of(options, compatible)?;
    refuse_idle_options(options, iteration, compatible)?;
    // The Tensor Toolbox's tolerance is absolute, so entries that are large may have a large one.
    if compatible {
        range::not_negative("tolerance", options.tolerance)?;
    } else {
        range::below_one("tolerance", options.tolerance)?;
    }
    for (name, value) in [
        ("merge_angle", options.merge_angle),
        ("merge_value", options.merge_value),
        ("degeneracy_tolerance", options.degeneracy_tolerance),
    ] {
        range::not_negative(name, value)?;
    }
    for (name, steps) in [("max_iterations", options.max_iterations), ("warmup", options.warmup.unwrap_or(0))] {
        if steps > MOST_STEPS {
            return Err(Error::invalid(name, format!("is {steps}, more than {MOST_STEPS}")));
        }
    }
    let counts = [("starts", options.starts, 0), ("max_starts", options.max_starts, 0)];
    match counts.into_iter().find(|(_, value, least)| value < least) {
        Some((name, value, least)) => Err(Error::invalid(name, format!("is {value}, less than {least}"))),
        None => Ok(iteration),
    }
}

compiled_here! {
    /// Resolves the options of a solve. `pairs` is K. Returns the plan and whether the tolerance was raised.
    ///
    /// # Errors
    /// As [`check`]; [`Error::InvalidArgument`] naming an option that has no effect, or `starts` that do not fit;
    /// [`Error::OutOfMemory`].
    pub fn resolve<T: Real>(
        shape: Symmetric,
        options: &Options,
        starts: Option<&Tensor>,
        pairs: usize,
    ) -> Result<(Plan<T>, bool)> = resolve_of;
}

fn resolve_of<T: Real>(
    shape: Symmetric,
    options: &Options,
    starts: Option<&Tensor>,
    pairs: usize,
) -> Result<(Plan<T>, bool)> {
    let compatible = options.compatibility == Compatibility::TensorToolbox;
    let test = if compatible { Test::Lambda } else { options.test };
    let iteration = check(options)?;
    if options.max_starts != 0 {
        let problem = format!("is {}, but only the search for all pairs has rounds of starts", options.max_starts);
        return Err(Error::invalid("max_starts", problem));
    }
    let default = match (compatible, is_f32::<T>()) {
        (true, _) => 1e-15,
        (false, true) => 1e-5,
        (false, false) => 1e-10,
    };
    let wanted = or_default("tolerance", options.tolerance, default)?;
    let floor = if compatible && !is_f32::<T>() { 0.0 } else { test.accuracy() * T::EPSILON.to_f64() };
    let (tolerance, was_raised) = raised(wanted, floor);
    let max_iterations = match options.max_iterations {
        0 if compatible => 1000,
        0 => 500,
        n => steps(n),
    };
    let warmup = steps(options.warmup.unwrap_or(0));
    // The hybrid in dimension 3 takes the same steps with and without a multiple of the identity.
    let indifferent = iteration == Iteration::Hybrid && shape.dimension == 3 && warmup == 0;
    let (start_set, start_count) = starts_of::<T>(shape, options, starts)?;
    let (multinomials, identity) = Plan::<T>::tables(shape)?;
    let (goal, sign) = goal_and_sign(shape, options, compatible);
    let degeneracy = degeneracy::<T>(options.degeneracy_tolerance)?;
    let plan = Plan {
        shape,
        goal,
        iteration,
        test,
        tolerance,
        absolute: compatible,
        tau: or_default("tau", options.tau, 1e-6)?,
        max_iterations,
        warmup,
        scale: !compatible,
        remove_isotropic: options.remove_isotropic && !compatible && !indifferent,
        sign,
        starts: start_set,
        start_count,
        reduction: Reduction {
            pairs,
            merge_chord2: chord2(or_default("merge_angle", options.merge_angle, 1f64.to_radians())?),
            merge_value: match range::not_negative("merge_value", options.merge_value)? {
                0.0 => 0.0,
                value => merge_value::<T>(value),
            },
            merge_norm: 0.0,
            degeneracy,
            level: level::<T>(degeneracy, tolerance),
            isotropy: isotropy::<T>(),
            special_pair: true,
            saddles: false,
            absolute_threshold: None,
            relative_threshold: 0.0,
            separation_chord2: 0.0,
        },
        transform: None,
        multinomials,
        identity,
        missing: T::from_f64(f64::NAN),
        unfinished_only: false,
    };
    Ok((plan, was_raised))
}

/// Passes and sign rule. For odd order (lambda, x) and (-lambda, -x) are one pair, a maximum and a minimum. With one
/// goal the pair is written as the start found it, with that sign. Both goals with the canonical sign need one pass,
/// because the maxima with lambda < 0 are the minima (-lambda, -x).
fn goal_and_sign(shape: Symmetric, options: &Options, compatible: bool) -> (Goal, SignRule) {
    let raw = compatible || options.sign == Sign::Raw;
    match options.goal {
        // In dimension 1 the only pair is both a maximum and a minimum: list it once for both goals.
        Goal::Both if shape.dimension == 1 => (Goal::Maxima, if raw { SignRule::Raw } else { SignRule::Canonical }),
        goal if raw => (goal, SignRule::Raw),
        goal if shape.order.is_multiple_of(2) || shape.dimension == 1 => (goal, SignRule::Canonical),
        Goal::Both => (Goal::Maxima, SignRule::Canonical),
        goal => (goal, SignRule::Raw),
    }
}

/// Refuses options that have no effect with the others.
fn refuse_idle_options(options: &Options, iteration: Iteration, compatible: bool) -> Result<()> {
    let refuse = |name: &str, problem: String| Err(Error::invalid(name, problem));
    if options.shift != 0.0 && options.shift_kind != Shift::Fixed {
        return refuse("shift", format!("is {}, but shift_kind is not FIXED", real(options.shift)));
    }
    if options.warmup.unwrap_or(0) > 0 && !matches!(iteration, Iteration::Hybrid | Iteration::HybridConstant(_)) {
        return refuse("warmup", format!("is {}, but all steps are power steps", options.warmup.unwrap_or(0)));
    }
    if range::not_negative("tau", options.tau)? != 0.0 && iteration != Iteration::Adaptive {
        return refuse(
            "tau",
            format!("is {}, but only POWER with the ADAPTIVE shift has this margin", real(options.tau)),
        );
    }
    if compatible && options.test == Test::Step {
        return refuse("test", "is STEP, but compatibility TENSOR_TOOLBOX tests lambda".into());
    }
    Ok(())
}

fn iteration_of(options: &Options, compatible: bool) -> Result<Iteration> {
    let constant = match options.shift_kind {
        Shift::Adaptive => None,
        Shift::Guaranteed => Some(ConstantShift::Guaranteed),
        Shift::Fixed => {
            let shift = range::finite("shift", options.shift)?;
            if shift < 0.0 && options.goal == Goal::Maxima {
                return Err(Error::invalid("shift", format!("is {}, negative, for maxima", real(shift))));
            }
            if shift > 0.0 && options.goal == Goal::Minima {
                return Err(Error::invalid("shift", format!("is {}, positive, for minima", real(shift))));
            }
            Some(ConstantShift::Value(shift.abs()))
        }
    };
    Ok(match (compatible || options.method == Method::Power, constant) {
        (true, None) => Iteration::Adaptive,
        (true, Some(shift)) => Iteration::Power(shift),
        (false, None) => Iteration::Hybrid,
        (false, Some(shift)) => Iteration::HybridConstant(shift),
    })
}

/// Limit of the bytes of start vectors, more than any machine has. All sizes below it fit their integer types.
const MOST_START_BYTES: u64 = 1 << 47;

/// The start vectors and their number: the caller's, or those that the options ask for.
fn starts_of<T: Real>(shape: Symmetric, options: &Options, given: Option<&Tensor>) -> Result<(Starts<T>, usize)> {
    let n = shape.dimension;
    if let Some(tensor) = given {
        let (starts, count) = callers_starts(n, tensor)?;
        if options.start_kind != StartKind::Auto {
            let problem = format!("is {}, but start vectors are given", options.start_kind as i32);
            return Err(Error::invalid("start_kind", problem));
        }
        if options.starts != 0 && options.starts != crate::shape::to_i64(count) {
            let problem = format!("is {}, but {count} start vectors are given", options.starts);
            return Err(Error::invalid("starts", problem));
        }
        refuse_idle_seed(options.seed, "start vectors are given")?;
        return Ok((starts, count));
    }
    let even = shape.order.is_multiple_of(2);
    let kind = match options.start_kind {
        StartKind::Auto if n == 3 && even => StartKind::FibonacciHemisphere,
        StartKind::Auto if n == 3 => StartKind::FibonacciSphere,
        StartKind::Auto => StartKind::Random,
        other => other,
    };
    if !matches!(kind, StartKind::Random | StartKind::RandomCube) {
        refuse_idle_seed(options.seed, IDLE_SEED)?;
    }
    let wanted = crate::shape::size("starts", options.starts, 0)?;
    let count = match wanted {
        0 => {
            let half = match (n, shape.order) {
                (1, _) => 1,
                (3, m) if m <= 4 => 32,
                (3, _) => 64,
                _ => 20 * n,
            };
            let count = if n == 3 && !even { 2 * half } else { half };
            match kind {
                StartKind::Icosahedral => {
                    (1..100).map(|f| icosahedral_count(f, even)).find(|c| *c >= count).unwrap_or(count)
                }
                _ => count,
            }
        }
        given => given,
    };
    let bytes = crate::shape::to_u64(n.saturating_mul(count).saturating_mul(size_of::<T>()));
    if bytes > MOST_START_BYTES {
        return Err(Error::OutOfMemory { what: "start vectors", bytes, limit: None });
    }
    match kind {
        StartKind::Random | StartKind::RandomCube => {
            Ok((Starts::Drawn { kind, seed: options.seed, first: 0, chunks: 1 }, count))
        }
        _ => Ok((Starts::Shared(points(("start_kind", kind), options.seed, n, count)?), count)),
    }
}

/// Copies the caller's starts [n, V] and normalizes them in f64.
fn callers_starts<T: Real>(n: usize, tensor: &Tensor) -> Result<(Starts<T>, usize)> {
    tensor.expect_dtype("starts", T::DTYPE)?;
    let &[rows, count] = tensor.dims() else {
        return Err(Error::invalid("starts", format!("has dimensions {:?}, [{n}, V] are needed", tensor.dims())));
    };
    if rows != n {
        return Err(Error::invalid("starts", format!("has dimensions {:?}, [{n}, V] are needed", tensor.dims())));
    }
    if count == 0 {
        return Err(Error::invalid("starts", "has no columns"));
    }
    let view = tensor.view::<T>("starts")?;
    let mut out = alloc::filled("start vectors", product("starts", n, count)?, T::ZERO)?;
    for (v, x) in out.chunks_exact_mut(n).enumerate() {
        view.read_column(&[v], x);
        if x.iter().any(|c| !c.is_finite()) {
            return Err(Error::invalid("starts", format!("column {v} has a component that is not finite")));
        }
        let largest = x.iter().fold(0.0f64, |m, c| m.max(c.to_f64().abs()));
        if largest == 0.0 {
            return Err(Error::invalid("starts", format!("column {v} is zero")));
        }
        let norm = x.iter().map(|c| (c.to_f64() / largest).powi(2)).sum::<f64>().sqrt();
        for c in x.iter_mut() {
            *c = T::from_f64(c.to_f64() / largest / norm);
        }
    }
    Ok((Starts::Shared(out), count))
}
