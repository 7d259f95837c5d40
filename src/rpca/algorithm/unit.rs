//! The unit that a run computes in, and entries and penalties that the computing type does not hold.

use super::solver::Solver;
use crate::dense::Algebra;
use crate::error::{Error, Result, real};
use crate::rpca::ops::Start;
use crate::rpca::output::{beyond, holds, rounded};
use crate::scalar::Scalar;

/// Exponent of the largest power of two in double precision.
const MOST_EXPONENT: f64 = 1023.0;
/// Binary digits that the search for the largest entry scales by at a time. Single precision holds the largest entry after a step
/// if it did not before.
const OVERFLOW_STEP: i32 = 250;

/// The number nearest to a power of ten, as a message that names it is read.
fn power_of_ten(exponent: f64) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::INFINITY)
}

impl<W: Scalar, A: Algebra<W>> Solver<'_, W, A> {
    /// The first pass, and the unit that entries are divided by so that their squares neither overflow nor vanish.
    pub(super) fn start(&mut self) -> Result<(Start, f64)> {
        self.ops.set_scale(self.options.scale);
        self.passes += 1;
        let start = match self.ops.begin() {
            Err(e @ Error::InvalidArgument { .. }) => return Err(self.overflow(e)),
            other => other?,
        };
        let safe = if self.ops.dtype().is_single() { 1e12 } else { 1e100 };
        if start.max_abs == 0.0 && (self.ops.dtype().is_single() || self.options.scale != 1.0) {
            self.expect_zeros()?;
        }
        if start.max_abs == 0.0 || (1.0 / safe..=safe).contains(&start.max_abs) {
            return Ok((start, 1.0));
        }
        // A power of two, so that nothing is rounded. Of subnormal numbers it is so large that its inverse is finite.
        let least = self.options.scale.abs().log2().ceil() - MOST_EXPONENT;
        // It is below the largest numbers, whose logarithm rounds up to 1024, so that its inverse is normal.
        let unit = start.max_abs.log2().floor().max(least).min(1000.0).exp2();
        self.ops.set_scale(self.options.scale / unit);
        self.passes += 1;
        Ok((self.ops.begin()?, unit))
    }

    /// The error of finite entries that the computing type does not hold. If some are not finite, it is the one of the first of
    /// these: `refusal` may be of an entry that is finite, but too large.
    fn overflow(&mut self, mut refusal: Error) -> Error {
        let (scale, dtype) = (self.options.scale, self.ops.dtype());
        for exponent in (1..=4).map(|k| f64::from(k * OVERFLOW_STEP)) {
            self.ops.set_scale(scale * (-exponent).exp2());
            self.passes += 1;
            match self.ops.begin() {
                // Whatever was refused before, it is not the size of the entries.
                Ok(start) if holds(dtype, start.max_abs * exponent.exp2()) => return refusal,
                Ok(start) => {
                    let largest = rounded(start.max_abs / scale.abs(), exponent.exp2());
                    let factor = match scale {
                        1.0 => String::new(),
                        _ => format!(" times scale = {}", real(scale)),
                    };
                    return Error::invalid(
                        "m",
                        format!("has an entry of modulus {largest}{factor}, {}", beyond(dtype)),
                    );
                }
                Err(e @ Error::InvalidArgument { .. }) => refusal = e,
                Err(e) => return e,
            }
        }
        refusal
    }

    /// The first penalty in the unit of the run, of a matrix whose 2-norm there is `norm2`. X is M - S + Y / mu, and the 2-norm of Y
    /// is about one. With a penalty that is too small the squares of X overflow, or M vanishes beside Y / mu in rounding errors.
    /// With one that is too large Y / mu vanishes beside M, and the parts are not the optimum.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a penalty that is too small or too large. Its limits are powers of ten.
    pub(super) fn first_penalty(&self, norm2: f64, unit: f64, lambda: f64) -> Result<f64> {
        let mu = self.options.mu;
        if mu == 0.0 {
            return Ok(1.25 / norm2);
        }
        let (m, n) = self.ops.size();
        let (roundoff, most) = if self.ops.dtype().is_single() { (6e-8, 1e16) } else { (1.1e-16, 1e150) };
        // No entry of Y is larger than lambda.
        let multiplier = lambda.min(1.0) * (m as f64 * n as f64).sqrt();
        let least = (roundoff / norm2).max(multiplier / most) / unit;
        let largest = 1.0 / (roundoff * norm2) / unit;
        let (least, largest) =
            (power_of_ten(least.log10().ceil()), power_of_ten(largest.log10().floor()).min(f64::MAX));
        if (least..=largest).contains(&mu) {
            return Ok(mu * unit);
        }
        let norm = rounded(norm2, unit);
        let problem = format!("is {}, outside {least:e} to {largest:e} for ||M||_2 = {norm}", real(mu));
        Err(Error::invalid("mu", problem))
    }

    /// Refuses entries that are 0 in the computing type alone: those of a wider type, and those that `scale` makes so small.
    fn expect_zeros(&mut self) -> Result<()> {
        let scale = self.options.scale * MOST_EXPONENT.exp2();
        self.ops.set_scale(scale.clamp(f64::MIN, f64::MAX));
        self.passes += 1;
        let is_zero = match self.ops.begin() {
            Ok(start) => start.max_abs == 0.0,
            // Products with the scale overflow.
            Err(Error::InvalidArgument { .. }) => false,
            Err(e) => return Err(e),
        };
        self.ops.set_scale(self.options.scale);
        if is_zero {
            return Ok(());
        }
        let factor = match self.options.scale {
            1.0 => String::new(),
            scale => format!(" times scale = {}", real(scale)),
        };
        let precision = if self.ops.dtype().is_single() { "single" } else { "double" };
        Err(Error::Numerical(format!("m: all entries{factor} vanish in {precision} precision")))
    }
}
