//! Checks of real arguments against a range. All refuse NaN.

use crate::error::{Error, Result, real};

fn expect(holds: bool, argument: &str, value: f64, need: &str) -> Result<f64> {
    if holds { Ok(value) } else { Err(Error::invalid(argument, format!("is {}, {need} is needed", real(value)))) }
}

/// Refuses NaN and infinities.
///
/// # Errors
/// [`Error::InvalidArgument`].
pub fn finite(argument: &str, value: f64) -> Result<f64> {
    expect(value.is_finite(), argument, value, "a finite number")
}

/// Refuses NaN, infinities and negative numbers.
///
/// # Errors
/// [`Error::InvalidArgument`].
pub fn not_negative(argument: &str, value: f64) -> Result<f64> {
    expect(value.is_finite() && value >= 0.0, argument, value, "a finite number of at least 0")
}

/// Refuses NaN, infinities, 0 and negative numbers.
///
/// # Errors
/// [`Error::InvalidArgument`].
pub fn positive(argument: &str, value: f64) -> Result<f64> {
    expect(value.is_finite() && value > 0.0, argument, value, "a finite number above 0")
}

/// Refuses NaN and negative numbers; infinity is accepted.
///
/// # Errors
/// [`Error::InvalidArgument`].
pub fn at_least_zero(argument: &str, value: f64) -> Result<f64> {
    expect(value >= 0.0, argument, value, "at least 0")
}

/// Refuses numbers outside the half-open interval from 0 to 1.
///
/// # Errors
/// [`Error::InvalidArgument`].
pub fn below_one(argument: &str, value: f64) -> Result<f64> {
    expect((0.0..1.0).contains(&value), argument, value, "at least 0 and less than 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_outside_a_range_are_named_with_the_range() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let text = |result: Result<f64>| result.unwrap_err().to_string();
        assert_eq!(text(finite("x", -inf)), "x: is -inf, a finite number is needed");
        assert_eq!(text(not_negative("x", inf)), "x: is inf, a finite number of at least 0 is needed");
        assert_eq!(text(not_negative("x", -1e-300)), "x: is -1e-300, a finite number of at least 0 is needed");
        assert_eq!(text(positive("x", 0.0)), "x: is 0, a finite number above 0 is needed");
        assert_eq!(text(at_least_zero("x", nan)), "x: is NaN, at least 0 is needed");
        assert_eq!(text(below_one("x", 1.0)), "x: is 1, at least 0 and less than 1 is needed");
        assert!(at_least_zero("x", inf).is_ok() && not_negative("x", 0.0).is_ok() && below_one("x", 0.0).is_ok());
    }
}
