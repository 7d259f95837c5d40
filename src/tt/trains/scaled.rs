//! Numbers with a separate exponent. Results of long trains may be far beyond the range of their type.

use std::hint::black_box;

use super::info::Outcome;
use crate::backend::cpu::flags;
use crate::scalar::{Complex, DType};

/// mantissa * 2^exponent. Either the larger of |re| and |im| is in [0.5, 1), or both and the exponent are 0, or the
/// mantissa is not finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled {
    /// The leading digits, in the normal form above.
    pub mantissa: Complex<f64>,
    /// Exponent of the power of two.
    pub exponent: i64,
}

/// The e for which x 2^-e is in [0.5, 1) in magnitude; 0 for 0 and for numbers that are not finite. Exact for
/// subnormals.
#[inline]
pub fn exponent_of(x: f64) -> i64 {
    if x == 0.0 || !x.is_finite() {
        return 0;
    }
    let field = |x: f64| i64::from(((x.to_bits() >> 52) & 0x7ff) as u16);
    match field(x) {
        // 2^54 brings every subnormal into the normal range.
        0 => field(x * 18_014_398_509_481_984.0) - 1022 - 54,
        e => e - 1022,
    }
}

/// x * 2^e, rounded once: exact unless the result is subnormal or too large. Sets the processor's underflow flag only if
/// the result has lost digits.
#[inline]
pub fn scale(x: f64, e: i64) -> f64 {
    if (-1022..=1023).contains(&e) { x * power(e) } else { scale_far(x, e) }
}

/// 2^e in the normal range.
#[inline]
fn power(e: i64) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// [`scale`] by a power beyond the range.
#[cold]
#[inline(never)]
fn scale_far(x: f64, e: i64) -> f64 {
    // x = m 2^k with |m| in [0.5, 1). Only the last product rounds.
    let k = exponent_of(x);
    let m = x * power(-(k / 2)) * power(-(k - k / 2));
    match k.saturating_add(e) {
        _ if x == 0.0 || !x.is_finite() => x,
        t if t > 1024 => x.signum() * f64::INFINITY,
        t if t < -1075 => {
            flags::hand_on(true);
            0.0f64.copysign(x)
        }
        t => {
            // The compiler takes arithmetic to be without effects. It moved such products before the branch, where they
            // set the flag for results that lose nothing.
            let m = black_box(m);
            m * power(t.div_euclid(2)) * power(t - t.div_euclid(2))
        }
    }
}

impl Scaled {
    /// The number 0, in the normal form.
    pub const ZERO: Self = Self { mantissa: Complex::new(0.0, 0.0), exponent: 0 };
    /// The number 1, in the normal form: 0.5 * 2.
    pub const ONE: Self = Self { mantissa: Complex::new(0.5, 0.0), exponent: 1 };

    /// value * 2^exponent in the normal form.
    #[inline]
    pub fn new(value: Complex<f64>, exponent: i64) -> Self {
        let largest = value.re.abs().max(value.im.abs());
        if value.re.is_nan() || value.im.is_nan() || largest.is_infinite() {
            return Self { mantissa: value, exponent: 0 };
        }
        if largest == 0.0 {
            return Self::ZERO;
        }
        let q = exponent_of(largest);
        let mantissa = Complex::new(scale(value.re, -q), scale(value.im, -q));
        Self { mantissa, exponent: exponent.saturating_add(q) }
    }

    /// NaN in the real part, and for a complex type also in the imaginary part.
    pub fn nan(dtype: DType) -> Self {
        Self { mantissa: Complex::new(f64::NAN, if dtype.is_complex() { f64::NAN } else { 0.0 }), exponent: 0 }
    }

    /// Outcome of the scaled form: [`Outcome::Ok`] or [`Outcome::NonFinite`].
    pub fn outcome(self) -> Outcome {
        if self.is_finite() { Outcome::Ok } else { Outcome::NonFinite }
    }

    /// A real number, exact.
    pub fn real(value: f64) -> Self {
        Self::new(Complex::new(value, 0.0), 0)
    }

    /// Whether the number is 0.
    #[inline]
    pub fn is_zero(self) -> bool {
        self.mantissa == Complex::new(0.0, 0.0)
    }

    /// Whether both parts are finite.
    #[inline]
    pub fn is_finite(self) -> bool {
        self.mantissa.re.is_finite() && self.mantissa.im.is_finite()
    }

    /// The complex conjugate, with the same exponent.
    pub fn conj(self) -> Self {
        Self { mantissa: self.mantissa.conj(), ..self }
    }

    /// The number times 2^e, exact; the exponent saturates.
    #[inline]
    pub fn shifted(self, e: i64) -> Self {
        if self.is_zero() || !self.is_finite() {
            return self;
        }
        Self { exponent: self.exponent.saturating_add(e), ..self }
    }

    /// The real part; NaN if either part is not finite.
    pub fn re(self) -> Self {
        if !self.is_finite() {
            return Self::nan(DType::F64);
        }
        Self::new(Complex::new(self.mantissa.re, 0.0), self.exponent)
    }

    /// Sum: the smaller number is shifted to the exponent of the larger.
    #[inline]
    pub fn plus(self, other: Self) -> Self {
        if !self.is_finite() && !other.is_finite() {
            return Self { mantissa: self.mantissa + other.mantissa, exponent: 0 };
        }
        if self.is_zero() || !other.is_finite() {
            return other;
        }
        if other.is_zero() || !self.is_finite() {
            return self;
        }
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let shift = small.exponent.saturating_sub(large.exponent);
        // The smaller number is far below the last digit of the larger. Adding it would only set the CPU's underflow
        // flag.
        if shift < -900 {
            return large;
        }
        let aligned = Complex::new(scale(small.mantissa.re, shift), scale(small.mantissa.im, shift));
        Self::new(large.mantissa + aligned, large.exponent)
    }

    /// The product, rounded to double precision; exponents saturate.
    #[inline]
    pub fn times(self, other: Self) -> Self {
        Self::new(self.mantissa * other.mantissa, self.exponent.saturating_add(other.exponent))
    }

    /// The number to the power of `exponent`, by repeated squaring.
    pub fn power(self, exponent: u64) -> Self {
        let (mut result, mut square, mut rest) = (Self::ONE, self, exponent);
        while rest > 0 {
            if rest & 1 == 1 {
                result = result.times(square);
            }
            square = square.times(square);
            rest >>= 1;
        }
        result
    }

    /// Quotient; `None` if `other` is 0.
    pub fn over(self, other: Self) -> Option<Self> {
        // Normal mantissas neither overflow nor underflow here.
        (!other.is_zero())
            .then(|| Self::new(self.mantissa / other.mantissa, self.exponent.saturating_sub(other.exponent)))
    }

    /// Square root of the real part, 0 if that is negative; NaN if either part is not finite.
    pub fn sqrt(self) -> Self {
        if !self.is_finite() {
            return Self::nan(DType::F64);
        }
        let odd = self.exponent.rem_euclid(2);
        let root = scale(self.mantissa.re.max(0.0), odd).sqrt();
        Self::new(Complex::new(root, 0.0), (self.exponent - odd) / 2)
    }

    /// Natural logarithm of the modulus; minus infinity for 0.
    pub fn log_abs(self) -> f64 {
        self.mantissa.norm().ln() + self.exponent as f64 * std::f64::consts::LN_2
    }

    /// The number divided by its modulus; 0 for 0.
    pub fn phase(self) -> Complex<f64> {
        let modulus = self.mantissa.norm();
        if modulus == 0.0 { self.mantissa } else { self.mantissa / modulus }
    }

    /// The number in `dtype` (rounded to f32 for an f32 type), and the outcome of the conversion.
    pub fn plain(self, dtype: DType) -> (Complex<f64>, Outcome) {
        if !self.is_finite() {
            return (Self::nan(dtype).mantissa, Outcome::NonFinite);
        }
        let part = |x: f64| {
            let wide = scale(x, self.exponent);
            if dtype.is_single() { f64::from(wide as f32) } else { wide }
        };
        let value = Complex::new(part(self.mantissa.re), if dtype.is_complex() { part(self.mantissa.im) } else { 0.0 });
        let outcome = if value.re.is_infinite() || value.im.is_infinite() {
            Outcome::Overflow
        } else if value == Complex::new(0.0, 0.0) && !self.is_zero() {
            Outcome::Underflow
        } else {
            Outcome::Ok
        };
        (value, outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complex(re: f64, im: f64) -> Complex<f64> {
        Complex::new(re, im)
    }

    #[test]
    fn exponents_and_scaling_are_exact_to_the_ends_of_the_range() {
        for x in [1.0, 0.75, -3.5, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.5e-310] {
            let e = exponent_of(x);
            let m = scale(x, -e);
            assert!((0.5..1.0).contains(&m.abs()), "{x}: {m}");
            assert_eq!(scale(m, e), x);
        }
        assert_eq!(scale(1.0, 5000), f64::INFINITY);
        assert_eq!(scale(-1.0, -5000), -0.0);
        assert_eq!(scale(1.0, -1074), 5e-324);
        assert_eq!(scale(0.0, i64::MAX), 0.0);
        assert_eq!(scale(f64::MAX, -2000), scale(scale(f64::MAX, -1000), -1000));
    }

    #[test]
    fn only_results_that_lose_digits_set_the_underflow_flag() {
        let lost = |x: f64, e: i64| flags::watch(|| black_box(scale(black_box(x), black_box(e)))).1;
        for x in [0.0, 1.0, -3.0, 0.1, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY] {
            for e in [0, 1, -1, 900, 1024, 3000, 1 << 40] {
                assert!(x == 5e-324 && e == -1 || !lost(x, e) && !lost(x, -exponent_of(x)), "{x:e} {e}");
            }
        }
        assert!(!lost(0.0, -5000) && !lost(1.0, -1074) && !lost(f64::MAX, -2040));
        if flags::IS_READABLE {
            assert!(lost(1.0, -1080) && lost(-1.0, -5000) && lost(0.1, -1060) && lost(5e-324, -1));
        }
        // As it is inlined where results are formed.
        for value in [complex(3.0, -1.0), complex(0.1, 0.0), complex(1e-300, 1e300)] {
            let ((), is_lost) = flags::watch(|| {
                black_box(Scaled::new(black_box(value), 7));
            });
            assert_eq!(is_lost, value.re == 1e-300, "{value:?}");
        }
    }

    #[test]
    fn arithmetic_reaches_beyond_the_range_of_the_type() {
        let big = Scaled::new(complex(3.0, -1.0), 100_000);
        assert_eq!(big, Scaled { mantissa: complex(0.75, -0.25), exponent: 100_002 });
        assert_eq!(big.plus(big), Scaled { exponent: 100_003, ..big });
        assert_eq!(big.plus(Scaled::new(complex(-3.0, 1.0), 100_000)), Scaled::ZERO);
        assert_eq!(big.plus(Scaled::ONE), big);
        assert_eq!(big.times(big).over(big), Some(big));
        assert_eq!(Scaled::real(-3.0).power(5), Scaled::real(-243.0));
        assert_eq!(big.power(0), Scaled::ONE);
        assert_eq!(big.over(Scaled::ZERO), None);
        assert_eq!(Scaled::new(complex(9.0, 0.0), 2001).sqrt(), Scaled::new(complex(18f64.sqrt(), 0.0), 1000));
        assert!((big.log_abs() - (10f64.sqrt().ln() + 100_000.0 * 2f64.ln())).abs() < 1e-10);
        assert_eq!(Scaled::real(-2.0).phase(), complex(-1.0, 0.0));
        assert_eq!(Scaled::ZERO.log_abs(), f64::NEG_INFINITY);
    }

    #[test]
    fn plain_results_say_what_became_of_them() {
        assert_eq!(Scaled::real(3.0).plain(DType::F64), (complex(3.0, 0.0), Outcome::Ok));
        assert_eq!(Scaled::real(1e300).plain(DType::F32), (complex(f64::INFINITY, 0.0), Outcome::Overflow));
        assert_eq!(Scaled::real(-1e-300).plain(DType::F32).1, Outcome::Underflow);
        assert_eq!(Scaled::ZERO.plain(DType::F32), (complex(0.0, 0.0), Outcome::Ok));
        assert_eq!(Scaled::new(complex(f64::NAN, 0.0), 0).plain(DType::CF64).1, Outcome::NonFinite);
    }
}
