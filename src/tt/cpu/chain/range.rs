//! Keeping numbers within the range of their type, by powers of two, which change no digit.

use crate::backend::cpu::simd::Vectorised;
use crate::tt::scaled::{exponent_of, scale};

/// How a boundary pair stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Sites are left, or all went well.
    Sound,
    /// Numbers came so near the ends of the range that digits may be lost: to be repeated carefully.
    Doubtful,
    /// It is exactly 0.
    Zero,
    /// An operand is not finite.
    NotFinite,
}

/// The term of a boundary pair, (re + i im) 2^exponent once the sweep is through.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
    /// Power of two, of the environment while there is one.
    pub exponent: i64,
    /// How it stands.
    pub state: State,
}

impl Term {
    /// The environment behind the last site.
    pub(super) const START: Self = Self { re: 1.0, im: 0.0, exponent: 0, state: State::Sound };
}

const fn power(e: i64) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// Magnitudes of an environment that need no scaling: well within what a product with two ordinary cores leaves room for.
pub(super) const fn calm<T>() -> (f64, f64) {
    let e = if size_of::<T>() == 4 { 40 } else { 300 };
    (power(-e), power(e))
}

/// Where the largest number is below this, others that count may be subnormal: the smallest normal number over the
/// precision, and a little more.
const fn tiny<T>() -> f64 {
    if size_of::<T>() == 4 { power(-96) } else { power(-960) }
}

/// Largest power of two, either way, of an operand of a careful product.
const fn reach<T>() -> i64 {
    if size_of::<T>() == 4 { 100 } else { 900 }
}

/// Brings `values`, the largest of which is `largest`, to [0.5, 1).
#[cold]
pub(super) fn tame<T: Vectorised>(values: &mut [T], largest: f64, careful: bool, term: &mut Term) {
    if careful && largest == 0.0 {
        term.state = State::Zero;
    } else if !largest.is_finite() || (largest < tiny::<T>() && !careful) {
        term.state = State::Doubtful;
    } else {
        let q = exponent_of(largest);
        let factor = T::from_f64(scale(1.0, -q));
        if factor.is_finite() {
            values.iter_mut().for_each(|v| *v *= factor);
        } else {
            // Of subnormal numbers the power itself is beyond the range of the type.
            values.iter_mut().for_each(|v| *v = T::from_f64(scale(v.to_f64(), -q)));
        }
        term.exponent += q;
    }
}

/// The largest magnitude; NaN if any number is not finite.
fn largest<T: Vectorised>(values: &[T]) -> f64 {
    let most = values.iter().fold(0.0, |most: f64, v| most.max(v.to_f64().abs()));
    if values.iter().all(|v| v.is_finite()) { most } else { f64::NAN }
}

/// Scales `own`, before its product with `core`, so that the largest products lie a little below 1.
#[cold]
pub(super) fn fit<T: Vectorised>(own: &mut [T], core: &[T], term: &mut Term) {
    let (mine, other) = (largest(own), largest(core));
    if mine.is_nan() || other.is_nan() {
        term.state = State::NotFinite;
    } else if mine == 0.0 || other == 0.0 {
        term.state = State::Zero;
    } else {
        let target = (-exponent_of(other) - 8).clamp(-reach::<T>(), reach::<T>());
        let shift = target - exponent_of(mine);
        own.iter_mut().for_each(|v| *v = T::from_f64(scale(v.to_f64(), shift)));
        term.exponent -= shift;
    }
}

/// Ends the sweep of a pair with its sum.
pub(super) fn finish<T>(term: &mut Term, re: f64, im: f64, careful: bool) {
    let largest = re.abs().max(im.abs());
    (term.re, term.im) = (re, im);
    // A sum of 0 may be one of numbers that were too small.
    if !careful && (largest < tiny::<T>() || !re.is_finite() || !im.is_finite()) {
        term.state = State::Doubtful;
    }
}
