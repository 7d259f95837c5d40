//! The survey of the data in the first pass: norms, means and spreads.

use super::panel::{Findings, Transform};
use crate::error::{Error, Result};
use crate::rsvd::statistics::{LEAST_SPREAD, Statistics, divisor, gain, is_constant, unless_lost};
use crate::scalar::Complex;

/// A compensated sum: the second number is the sum of the rounding errors of the additions.
#[derive(Default)]
struct Compensated(f64, f64);

impl Compensated {
    fn add(&mut self, x: f64) {
        let sum = self.0 + x;
        let rounded = if self.0.abs() >= x.abs() { (self.0 - sum) + x } else { (x - sum) + self.0 };
        // An infinite sum has no rounding error to add.
        (self.0, self.1) = (sum, if rounded.is_finite() { self.1 + rounded } else { self.1 });
    }
}

/// The findings of the first pass so far.
#[derive(Default)]
pub struct Survey {
    norm2: Compensated,
    most: f64,
}

impl Survey {
    /// Adds the findings of `count` rows from `first` on.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the rows if they hold numbers that are not finite.
    pub fn add(&mut self, found: Findings, first: usize, count: usize) -> Result<()> {
        if !found.most.is_finite() {
            let last = first + count.max(1) - 1;
            return Err(Error::invalid("a", format!("holds a number that is not finite in rows {first} to {last}")));
        }
        self.norm2.add(found.squares);
        self.most = self.most.max(found.most);
        Ok(())
    }

    /// The statistics, with the means and scales of `transform`.
    pub fn finish(self, transform: &Transform, complex: bool) -> Result<Statistics> {
        let count = transform.means.len();
        let mut means = crate::alloc::with_capacity("means of columns", count * if complex { 2 } else { 1 })?;
        means.extend(transform.means.iter().map(|m| m.re));
        if complex {
            means.extend(transform.means.iter().map(|m| m.im));
        }
        let mut scales = crate::alloc::with_capacity("scales of columns", transform.scales.len())?;
        scales.extend_from_slice(&transform.scales);
        // Compensation may leave a sum of zeros just below 0.
        let norm2 = (self.norm2.0 + self.norm2.1).max(0.0);
        Ok(Statistics { norm2, is_estimate: false, max_abs: self.most, means, scales, constants: Vec::new() })
    }
}

/// Means and spreads of columns, merged over blocks of rows (Chan, Golub and LeVeque, The American Statistician 37, 1983).
pub struct Moments {
    columns: Vec<(Complex<f64>, f64)>,
    rows: usize,
}

impl Moments {
    /// The moments of no rows.
    pub fn new(columns: usize) -> Result<Self> {
        let none = (Complex::default(), 0.0);
        Ok(Self { columns: crate::alloc::filled("moments of columns", columns, none)?, rows: 0 })
    }

    /// Merges the moments of `count` more rows.
    pub fn merge(&mut self, new: &[(Complex<f64>, f64)], count: usize) {
        let total = self.rows + count;
        let share = count as f64 / (total as f64).max(1.0);
        for ((mean, spread), (other, more)) in self.columns.iter_mut().zip(new) {
            let step = *other - *mean;
            *mean += step * share;
            let square = step.norm_sqr() * (self.rows as f64 * share);
            *spread += more + unless_lost(square, square == 0.0 && self.rows > 0 && step != Complex::default());
        }
        self.rows = total;
    }

    /// Refuses columns whose deviation is lost: its squares underflow beside those of the largest entry.
    fn expect_spreads(&self) -> Result<()> {
        let most = LEAST_SPREAD.sqrt();
        let is_lost = |(mean, spread): &(Complex<f64>, f64)| {
            *spread > 0.0 && *spread < LEAST_SPREAD && !is_constant(most, mean.norm(), self.rows)
        };
        match self.columns.iter().position(is_lost) {
            None => Ok(()),
            Some(j) => {
                let problem = "is too small beside the largest entry to be computed";
                Err(Error::Numerical(format!("scale: the deviation of column {j} (from 0) {problem}")))
            }
        }
    }

    /// Writes the transform that follows from the moments, which are those of the entries times `factor`.
    pub fn write(self, transform: &mut Transform, centred: bool, scaled: bool, factor: f64) -> Result<()> {
        let count = self.columns.len();
        if centred {
            transform.means = crate::alloc::with_capacity("means of columns", count)?;
            transform.means.extend(self.columns.iter().map(|(mean, _)| *mean / factor));
        }
        let freedom = self.rows.saturating_sub(1).max(1) as f64;
        let sizes = |(mean, spread): &(Complex<f64>, f64)| ((spread / freedom).sqrt() / factor, mean.norm() / factor);
        if scaled {
            self.expect_spreads()?;
            transform.scales = crate::alloc::with_capacity("scales of columns", count)?;
            // A constant column is not scaled.
            transform
                .scales
                .extend(self.columns.iter().map(sizes).map(|(deviation, mean)| divisor(deviation, mean, self.rows)));
        }
        if scaled || factor != 1.0 {
            transform.gains = crate::alloc::with_capacity("factors of columns", count)?;
            // The centred entries of a constant column are rounding errors that grow with its mean: they become 0.
            let factor_of =
                |(deviation, mean)| factor * if scaled { gain(deviation, mean, self.rows, centred) } else { 1.0 };
            transform.gains.extend(self.columns.iter().map(sizes).map(factor_of));
        }
        Ok(())
    }
}
