//! Lengths that the arithmetic of a precision computes with.

use crate::error::{Error, Result, real};

/// A range of lengths, mm: products of two, inverses of squares, and ratios times indices neither overflow nor vanish.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lengths {
    shortest: f64,
    longest: f64,
    precision: &'static str,
}

impl Lengths {
    /// Limits of lengths of computations in f32, in the caller's unit.
    pub const SINGLE: Self = Self { shortest: 1e-12, longest: 1e12, precision: "F32" };
    /// Limits of lengths of computations in f64, which all geometries are prepared in.
    pub const DOUBLE: Self = Self { shortest: 1e-60, longest: 1e60, precision: "F64" };

    /// Refuses a length out of range, which is positive.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub fn check(self, argument: &str, length: f64) -> Result<()> {
        let Self { shortest, longest, precision } = self;
        if (shortest..=longest).contains(&length) {
            return Ok(());
        }
        let length = real(length);
        let problem =
            format!("is {length}, outside {shortest:e} to {longest:e} mm, the lengths of {precision} precision");
        Err(Error::invalid(argument, problem))
    }

    /// Refuses a coordinate beyond the longest length on either side.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub fn check_coordinate(self, argument: &str, coordinate: f64) -> Result<()> {
        let Self { longest, precision, .. } = self;
        if coordinate.abs() <= longest {
            return Ok(());
        }
        let problem = format!("is {}, beyond {longest:e} mm, the longest of {precision} precision", real(coordinate));
        Err(Error::invalid(argument, problem))
    }
}
