//! The natural logarithm of many values at once.
//!
//! Fits spend most of their time in logarithms, and the system's function takes one value per call. This function is a loop
//! without branches or calls, which the compiler vectorizes.

use crate::scalar::Real;

/// Logarithms by argument reduction: `x = 2^e m` with `m` in [sqrt(1/2), sqrt(2)), and `ln m = 2 atanh(s)` with
/// `s = (m - 1) / (m + 1)`. As `s^2 < 0.0295`, the series to s^11 (f32) or s^21 (f64) is exact to rounding.
pub(crate) trait Logarithm: Real {
    /// Replaces positive, finite, normal values by their logarithms; the results for other values are meaningless.
    fn ln_all(values: &mut [Self]);
}

impl Logarithm for f32 {
    fn ln_all(values: &mut [Self]) {
        const ROOT: u32 = std::f32::consts::FRAC_1_SQRT_2.to_bits();
        for v in values {
            // Relative to sqrt(1/2), the exponent field is e and the mantissa field is that of m.
            let shifted = v.to_bits().wrapping_sub(ROOT);
            let exponent = (shifted.cast_signed() >> 23) as f32;
            let m = Self::from_bits((shifted & 0x007f_ffff).wrapping_add(ROOT));
            let s = (m - 1.0) / (m + 1.0);
            let t = s * s;
            let series = t * (1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0 + t * (1.0 / 9.0 + t * (1.0 / 11.0)))));
            *v = exponent * std::f32::consts::LN_2 + 2.0 * (s + s * series);
        }
    }
}

impl Logarithm for f64 {
    fn ln_all(values: &mut [Self]) {
        const ROOT: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
        // 2^52 + 2^51: adding a small integer to its bits adds it to its value. The direct conversion of 64-bit integers has
        // no vector instruction before AVX-512.
        const SHIFT: f64 = 6_755_399_441_055_744.0;
        for v in values {
            let shifted = v.to_bits().wrapping_sub(ROOT);
            let exponent = Self::from_bits(SHIFT.to_bits().wrapping_add_signed(shifted.cast_signed() >> 52)) - SHIFT;
            let m = Self::from_bits((shifted & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT));
            let s = (m - 1.0) / (m + 1.0);
            let t = s * s;
            let far = 1.0 / 13.0 + t * (1.0 / 15.0 + t * (1.0 / 17.0 + t * (1.0 / 19.0 + t * (1.0 / 21.0))));
            let near = 1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0 + t * (1.0 / 9.0 + t * (1.0 / 11.0 + t * far))));
            *v = exponent * std::f64::consts::LN_2 + 2.0 * (s + s * (t * near));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest error of `ln_all` in units of `epsilon * max(|ln x|, |x - 1|)`, the scale of the answer and of its
    /// condition at 1.
    fn worst<T: Logarithm>(points: impl Iterator<Item = f64>) -> f64 {
        points
            .map(|x| {
                let mut v = [T::from_f64(x)];
                let exact = v[0].to_f64().ln();
                T::ln_all(&mut v);
                (v[0].to_f64() - exact).abs() / (exact.abs() * T::EPSILON.to_f64()).max(f64::MIN_POSITIVE)
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn logarithms_are_exact_to_a_few_roundings() {
        let points = || (1..40_000).map(|k| f64::from(k) * 2.7e-4).chain((-30..30).map(|k| 2.0f64.powi(k)));
        assert!(worst::<f32>(points()) < 4.0, "{}", worst::<f32>(points()));
        assert!(worst::<f64>(points()) < 4.0, "{}", worst::<f64>(points()));
        let near_one = || (1..1000).flat_map(|k| [1.0 + f64::from(k) * 1e-6, 1.0 - f64::from(k) * 1e-6]);
        assert!(worst::<f32>(near_one()) < 4.0 && worst::<f64>(near_one()) < 4.0);
    }
}
