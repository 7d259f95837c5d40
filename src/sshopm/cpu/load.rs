//! Prepares one tensor for the iterations: transform, checks, scale, isotropic part.

use super::engine::{Engine, Vectors};
use super::flight::Job;
use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::{Kernel, Lanes, Simd, Vectorized, dispatch};
use crate::scalar::Real;
use crate::sshopm::options::{TensorStatus, Test};
use crate::sshopm::plan::{ConstantShift, Iteration, Plan};

/// A prepared tensor. Working units: A' = direction * (A - c E) / 2^e.
#[derive(Debug, Clone, Copy)]
pub struct Loaded<T> {
    /// Parameters of the iterations, in working units.
    pub job: Job<T>,
    /// The power of two that the tensor was divided by, as two factors, because the type may not hold their product.
    pub up: (T, T),
    /// +1 for maxima, -1 for minima.
    pub direction: T,
    /// Frobenius norm of the scaled tensor, c E included.
    pub norm: T,
}

impl<T: Real> Loaded<T> {
    /// A value without a tensor.
    pub fn none() -> Self {
        let zero = T::ZERO;
        let job = Job { isotropic: zero, floor2: zero, shift: zero, tau: zero, limit: zero };
        Self { job, up: (T::ONE, T::ONE), direction: T::ONE, norm: zero }
    }

    /// Converts a working lambda to the tensor's own units.
    #[inline]
    pub fn value(&self, lambda: T) -> T {
        self.direction * self.length(lambda + self.job.isotropic)
    }

    /// Converts a working length (residual, shift) to the tensor's own units.
    #[inline]
    pub fn length(&self, length: T) -> T {
        length * self.up.0 * self.up.1
    }
}

/// x 2^e, by two multiplications: 2^e alone may overflow even if the product does not.
#[inline]
pub fn power_of_two_times<T: Real>(x: T, e: i32) -> T {
    if e == 0 {
        return x;
    }
    let half = e / 2;
    x * power_of_two::<T>(half) * power_of_two::<T>(e - half)
}

/// 2^e for |e| <= 600 (f64) or 100 (f32).
#[inline]
fn power_of_two<T: Real>(e: i32) -> T {
    T::from_f64(f64::from_bits(u64::from((1023 + e).unsigned_abs()) << 52))
}

/// e with |x| in [2^(e-1), 2^e), for nonzero x.
pub fn exponent_of(x: f64) -> i32 {
    let biased = ((x.to_bits() >> 52) & 0x7ff) as i32;
    if biased == 0 {
        // Subnormal: 2^64 x is normal.
        return exponent_of(x * 18_446_744_073_709_551_616.0) - 64;
    }
    biased - 1022
}

/// Computes the tensor's entries: a copy of the input, or its transform. `columns` are those of the plan's transform;
/// each is padded to the length of `out`, a whole number of vectors.
pub fn entries<T: Vectorized>(isa: Isa, columns: &[T], input: &[T], out: &mut [T]) {
    if columns.is_empty() {
        out[..input.len()].copy_from_slice(input);
    } else {
        dispatch(isa, Transform { columns, input, out });
    }
}

/// A product of a matrix with a vector.
struct Transform<'a, T> {
    columns: &'a [T],
    input: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Kernel<T> for Transform<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let size = self.out.len();
        for at in (0..size).step_by(S::V::LEN) {
            let mut sum = simd.splat(T::ZERO);
            for (column, x) in self.columns.chunks_exact(size).zip(self.input) {
                sum = simd.load(&column[at..]).mul_add(simd.splat(*x), sum);
            }
            sum.store(&mut self.out[at..]);
        }
    }
}

/// Checks for tensors that need no iterations. Returns the largest magnitude.
///
/// # Errors
/// The status of such a tensor, and its value in its own units.
pub fn inspect<T: Real>(plan: &Plan<T>, a: &[T]) -> Result<T, (TensorStatus, T)> {
    let mut largest = T::ZERO;
    let mut finite = true;
    for x in a {
        let x = x.abs();
        finite &= x.is_finite();
        largest = if x > largest { x } else { largest };
    }
    if !finite {
        return Err((TensorStatus::Nonfinite, T::from_f64(f64::NAN)));
    }
    if largest == T::ZERO {
        return Err((TensorStatus::Zero, T::ZERO));
    }
    // In dimension 1 every tensor is a multiple of the identity, but has only one pair.
    if !plan.identity.is_empty() && plan.shape.dimension > 1 {
        // For A = c E the entry of x_1^m is c.
        let c = a[0];
        let limit = T::from_f64(plan.reduction.isotropy) * largest;
        if a.iter().zip(&plan.identity).all(|(a, e)| (*a - c * *e).abs() <= limit) {
            return Err((TensorStatus::Isotropic, c));
        }
    }
    Ok(largest)
}

/// Frobenius norm of packed entries, without overflow.
pub fn frobenius<T: Real>(a: &[T], multinomials: &[T]) -> f64 {
    let largest = a.iter().fold(0.0f64, |m, x| m.max(x.to_f64().abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let square = |x: f64| x * x;
    largest * a.iter().zip(multinomials).map(|(a, w)| w.to_f64() * square(a.to_f64() / largest)).sum::<f64>().sqrt()
}

/// The smallest number. It compares several at a time, because single comparisons would each wait for the previous one.
fn least<T: Real>(values: &[T]) -> T {
    let mut least = [values[0]; 16];
    let smaller = |a: T, b: T| if b < a { b } else { a };
    let chunks = values.chunks_exact(least.len());
    let rest = chunks.remainder();
    for chunk in chunks {
        for (l, v) in least.iter_mut().zip(chunk) {
            *l = smaller(*l, *v);
        }
    }
    least.into_iter().chain(rest.iter().copied()).reduce(smaller).unwrap_or(values[0])
}

/// Largest constant shifts in working units, F32 and F64: their squares do not overflow, and no larger one moves an iterate
/// any less.
const MOST_SHIFT: [f64; 2] = [1e18, 1e150];

/// [`Job::limit`] of a relative test, and [`Job::floor2`].
///
/// A power step with a constant shift moves an iterate by about |r| / (shift + lambda). The tolerances of lambda and of the step
/// are meant for a sufficient shift, at most (m - 1) times the norm. With f times as much a step is f times shorter at the same
/// residual, and so is the change of lambda. The tolerance is therefore divided by f. Below the accuracy of the type a short
/// step shows nothing.
fn thresholds<T: Real>(plan: &Plan<T>, norm: T, shift: T) -> (T, T) {
    // Rounding alone leaves a residual of about 4 eps times the norm.
    let rounding = 4.0 * T::EPSILON.to_f64();
    let square = |x: f64| (T::from_f64(x) * norm) * (T::from_f64(x) * norm);
    if plan.test == Test::Residual {
        let tolerance = if plan.iteration == Iteration::Newton { plan.tolerance } else { 1e-3 * plan.tolerance };
        return (T::ZERO, square(tolerance.max(rounding)));
    }
    let never = T::ZERO - T::ONE;
    let excess = match plan.iteration {
        Iteration::Power(ConstantShift::Value(_)) | Iteration::HybridConstant(ConstantShift::Value(_)) => {
            shift.to_f64() / (plan.shape.order as f64 * norm.to_f64())
        }
        _ => 0.0,
    };
    let tolerance = plan.tolerance / excess.max(1.0);
    if excess > 1.0 && !plan.absolute && tolerance < plan.test.accuracy() * T::EPSILON.to_f64() {
        return (never, square(rounding));
    }
    let limit = T::from_f64(tolerance);
    (if plan.test == Test::Step { limit * limit } else { limit }, never)
}

/// Scales the entries in `a` for one pass and computes its parameters. `x` are the starts; `values` is scratch memory with
/// one number for each.
pub fn prepare<T: Real>(
    engine: &mut dyn Engine<T>,
    plan: &Plan<T>,
    minima: bool,
    largest: T,
    a: &mut [T],
    starts: Vectors<'_, T>,
    values: &mut [T],
) -> Loaded<T> {
    let exponent = if plan.scale { exponent_of(largest.to_f64()) } else { 0 };
    let direction = if minima { T::ZERO - T::ONE } else { T::ONE };
    let half = -exponent / 2;
    let (first, second) = (power_of_two::<T>(half) * direction, power_of_two::<T>(-exponent - half));
    let mut norm2 = T::ZERO;
    for (a, w) in a.iter_mut().zip(&plan.multinomials) {
        *a = *a * first * second;
        norm2 += *w * *a * *a;
    }
    let norm = norm2.sqrt();
    let mut isotropic = T::ZERO;
    if plan.remove_isotropic && !plan.identity.is_empty() {
        engine.contract(a, starts, 0, values);
        let least = least(&values[..plan.start_count]);
        // A value below 0 would only increase the shift.
        isotropic = T::from_f64(0.9) * least;
        if isotropic > T::ZERO {
            for (a, e) in a.iter_mut().zip(&plan.identity) {
                *a -= isotropic * *e;
            }
        } else {
            isotropic = T::ZERO;
        }
    }
    let shift = match plan.iteration {
        Iteration::Power(s) | Iteration::HybridConstant(s) => match s {
            ConstantShift::Value(v) => {
                let shift = power_of_two_times(T::from_f64(v.abs()), -exponent);
                let most = T::from_f64(MOST_SHIFT[usize::from(size_of::<T>() == 8)]);
                if plan.scale && shift > most { most } else { shift }
            }
            // Slightly more than the bound, to allow for rounding.
            ConstantShift::Guaranteed => T::from_f64((plan.shape.order - 1) as f64 * 1.001) * norm,
        },
        _ => T::ZERO,
    };
    let own_units = |x: f64| power_of_two_times(T::from_f64(x), -exponent);
    let (limit, floor2) = thresholds(plan, norm, shift);
    let job = Job {
        isotropic,
        floor2,
        shift,
        tau: if plan.absolute { own_units(plan.tau) } else { T::from_f64(plan.tau) * norm },
        limit: if plan.absolute { own_units(plan.tolerance) } else { limit },
    };
    let up = (power_of_two(exponent / 2), power_of_two(exponent - exponent / 2));
    Loaded { job, up, direction, norm }
}
