//! Exact scaling by powers of two, which keeps environments within the range of their type.

use crate::backend::cpu::simd::Vectorized;
use crate::trains::scaled::{exponent_of, scale};

/// State of a boundary pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// All numbers were within the safe range so far.
    Sound,
    /// Numbers came so near the ends of the range that digits may be lost. The pair must be repeated with care.
    Doubtful,
    /// The term is exactly 0.
    Zero,
    /// An operand is not finite.
    NotFinite,
}

/// The term of a boundary pair: (re + i im) 2^exponent after the sweep.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    /// Real part, without the power of two.
    pub re: f64,
    /// Imaginary part, without the power of two.
    pub im: f64,
    /// Exponent of the power of two; during the sweep that of the environment.
    pub exponent: i64,
    /// Whether the sweep kept all digits of the term.
    pub state: State,
}

impl Term {
    /// The environment behind the last site, where the sweep starts: the number 1.
    pub(super) const START: Self = Self { re: 1.0, im: 0.0, exponent: 0, state: State::Sound };
}

const fn power(e: i64) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// Range of the largest magnitude of an environment that is not scaled. Its product with two cores near 1 stays within
/// the type's range.
pub(super) const fn safe_range<T>() -> (f64, f64) {
    let e = if size_of::<T>() == 4 { 40 } else { 300 };
    (power(-e), power(e))
}

/// Smallest magnitude with all digits safe: if the largest number is below, smaller ones with significant digits may be
/// subnormal. It is the smallest normal number divided by the unit of roundoff, and a little more.
const fn safe_minimum<T>() -> f64 {
    if size_of::<T>() == 4 { power(-96) } else { power(-960) }
}

/// Largest magnitude of the exponents of operands of a product in a careful sweep.
const fn exponent_limit<T>() -> i64 {
    if size_of::<T>() == 4 { 100 } else { 900 }
}

/// Scales `values` to [0.5, 1), where `largest` is their largest magnitude, or sets the state if that is not possible.
#[cold]
pub(super) fn rescale<T: Vectorized>(values: &mut [T], largest: f64, careful: bool, term: &mut Term) {
    if careful && largest == 0.0 {
        term.state = State::Zero;
    } else if !largest.is_finite() || (largest < safe_minimum::<T>() && !careful) {
        term.state = State::Doubtful;
    } else {
        let q = exponent_of(largest);
        let factor = T::from_f64(scale(1.0, -q));
        if factor.is_finite() {
            values.iter_mut().for_each(|v| *v *= factor);
        } else {
            // If the values are subnormal, 2^-q is beyond the range of the type.
            values.iter_mut().for_each(|v| *v = T::from_f64(scale(v.to_f64(), -q)));
        }
        term.exponent += q;
    }
}

/// The largest magnitude; NaN if any number is not finite.
fn largest<T: Vectorized>(values: &[T]) -> f64 {
    let most = values.iter().fold(0.0, |most: f64, v| most.max(v.to_f64().abs()));
    if values.iter().all(|v| v.is_finite()) { most } else { f64::NAN }
}

/// Scales `own` before its product with `core`, so that the largest terms of the product are a little below 1.
#[cold]
pub(super) fn scale_operand<T: Vectorized>(own: &mut [T], core: &[T], term: &mut Term) {
    let (mine, other) = (largest(own), largest(core));
    if mine.is_nan() || other.is_nan() {
        term.state = State::NotFinite;
    } else if mine == 0.0 || other == 0.0 {
        term.state = State::Zero;
    } else {
        let target = (-exponent_of(other) - 8).clamp(-exponent_limit::<T>(), exponent_limit::<T>());
        let shift = target - exponent_of(mine);
        own.iter_mut().for_each(|v| *v = T::from_f64(scale(v.to_f64(), shift)));
        term.exponent -= shift;
    }
}

/// Stores the sum of a pair and ends its sweep.
pub(super) fn finish<T>(term: &mut Term, re: f64, im: f64, careful: bool) {
    let largest = re.abs().max(im.abs());
    (term.re, term.im) = (re, im);
    // The terms of a sum of 0 may have underflowed.
    if !careful && (largest < safe_minimum::<T>() || !re.is_finite() || !im.is_finite()) {
        term.state = State::Doubtful;
    }
}
