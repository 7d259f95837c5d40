//! The unit of data whose squares leave the range of the type.

use crate::error::{Error, Result};
use crate::rsvd::statistics::Statistics;
use crate::scalar::DType;

/// The power of two that brings numbers of modulus up to `max_abs` into the range in which squares of sums can be formed in
/// the type; `None` if they are in it.
fn safe_factor(dtype: DType, max_abs: f64) -> Option<f64> {
    let bound = if dtype.is_single() { 1e15 } else { 1e150 };
    let is_safe = max_abs == 0.0 || (1.0 / bound..=bound).contains(&max_abs);
    (!is_safe).then(|| unit_factor(max_abs))
}

/// The power of two that brings numbers of modulus up to `max_abs`, which is not 0, to 1.
fn unit_factor(max_abs: f64) -> f64 {
    // The logarithm of a subnormal number is exact enough. The exponent is clamped so that the power of two is normal.
    (-max_abs.log2().floor()).clamp(-1000.0, 1000.0).exp2()
}

/// The power of two that a repeated run multiplies the data by, because squares of numbers up to `size` overflow or vanish;
/// `None` if they do not.
pub fn repeated_with(dtype: DType, statistics: &Statistics, size: f64) -> Option<f64> {
    // A deviation is compared with the largest entry, so that the unit of the data does not matter.
    let unit = || statistics.lost.map(|_| unit_factor(statistics.max_abs));
    // The sum of many squares may overflow where each of them is in range.
    let sum = || (!statistics.norm2.is_finite()).then(|| unit_factor(size));
    safe_factor(dtype, size).or_else(unit).or_else(sum).filter(|factor| *factor != 1.0)
}

/// Refuses an operator or data of another size in a run that is repeated with `factor`, which brings the products or the
/// entries of the first run to about 1.
///
/// # Errors
/// [`Error::Numerical`].
pub fn expect_same_data(factor: f64, statistics: &Statistics) -> Result<()> {
    let Statistics { size, read, max_abs, is_estimate, .. } = *statistics;
    // The factor fits one of these. Of an operator all are the norms of products.
    let sizes = [size, read, max_abs * factor];
    if factor == 1.0 || sizes.iter().any(|size| (1e-10..1e10).contains(size)) {
        return Ok(());
    }
    Err(Error::Numerical(if is_estimate {
        format!("a: products with the same vectors are {size:.1e} times as large when they are computed again")
    } else {
        let before = 1.0 / factor;
        format!("a: entries of up to about {before:.1e} are at most {max_abs:.1e} when they are read again")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_whose_squares_cannot_be_summed_are_multiplied() {
        let found = |dtype, size, norm2, lost| {
            let statistics = Statistics { norm2, lost, max_abs: 8.0, ..Statistics::default() };
            repeated_with(dtype, &statistics, size)
        };
        assert_eq!(found(DType::F64, 1.0, 1e6, None), None);
        assert_eq!(found(DType::F64, 2f64.powi(600), f64::INFINITY, None), Some(2f64.powi(-600)));
        assert_eq!(found(DType::F32, 2f64.powi(60), 1e40, None), Some(2f64.powi(-60)));
        assert_eq!(found(DType::F64, 8.0, 1e6, Some(3)), Some(0.125));
        // 2^30 squares of numbers of 1e150, each of which is in range.
        assert_eq!(found(DType::F64, 2f64.powi(498), f64::INFINITY, None), Some(2f64.powi(-498)));
    }

    #[test]
    fn data_that_are_repeated_have_the_same_size() {
        let of = |size, max_abs| Statistics { size, max_abs, ..Statistics::default() };
        expect_same_data(1.0, &of(4.0, 4.0)).unwrap();
        expect_same_data(1e-200, &of(1.5, 1.5e200)).unwrap();
        // Centred data of 1e-160 beside means of 1e-130.
        expect_same_data(1e160, &of(1.0, 1e-130)).unwrap();
        let e = expect_same_data(1e-200, &of(4e-200, 4.0)).unwrap_err();
        assert_eq!(
            e.to_string(),
            "numerical failure: a: entries of up to about 1.0e200 are at most 4.0e0 when they are read again"
        );
        expect_same_data(1e-200, &of(0.0, 0.0)).unwrap_err();
    }
}
