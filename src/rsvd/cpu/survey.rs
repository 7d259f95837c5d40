//! The survey of the data in the first pass: norms, means and spreads.

use super::panel::{Findings, Transform};
use crate::error::Result;
use crate::rsvd::statistics::{Compensated, Moments, Statistics, constants_of, scaling};

/// The findings of the first pass so far.
#[derive(Default)]
pub struct Survey {
    norm2: Compensated,
    most: f64,
    size: f64,
}

impl Survey {
    /// Adds the findings of some rows.
    pub fn add(&mut self, found: Findings) {
        self.norm2.add(found.squares);
        self.most = self.most.max(found.most);
        self.size = self.size.max(found.size);
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
        let norm2 = self.norm2.value().max(0.0);
        let (max_abs, lost) = (self.most, transform.lost);
        let constants = constants_of(transform.gains.iter().copied())?;
        // Differences of entries may overflow.
        let size = if transform.is_centred() && scales.is_empty() { self.size } else { max_abs * transform.factor };
        let size = size.min(f64::MAX);
        Ok(Statistics { norm2, max_abs, size, means, scales, constants, lost, ..Statistics::default() })
    }
}

/// Means and spreads of columns, merged over blocks of rows.
pub struct ColumnMoments {
    columns: Vec<Moments>,
    rows: usize,
}

impl ColumnMoments {
    /// The moments of no rows.
    pub fn new(columns: usize) -> Result<Self> {
        Ok(Self { columns: crate::alloc::filled("moments of columns", columns, Moments::default())?, rows: 0 })
    }

    /// Merges the moments of `count` more rows, whose spreads are those of the entries times `factor`.
    pub fn merge(&mut self, new: &[Moments], count: usize, factor: f64) {
        for (column, other) in self.columns.iter_mut().zip(new) {
            column.merge(self.rows, other, count, factor);
        }
        self.rows += count;
    }

    /// Writes the transform that follows from the moments.
    pub fn write(self, transform: &mut Transform, centred: bool, scaled: bool, factor: f64) -> Result<()> {
        let count = self.columns.len();
        transform.factor = factor;
        if centred {
            transform.means = crate::alloc::with_capacity("means of columns", count)?;
            transform.means.extend(self.columns.iter().map(|column| column.mean));
        }
        if scaled {
            transform.scales = crate::alloc::with_capacity("scales of columns", count)?;
            transform.gains = crate::alloc::with_capacity("factors of columns", count)?;
            for (j, column) in self.columns.iter().enumerate() {
                let scaling = scaling(column, self.rows, factor, centred);
                transform.scales.push(scaling.divisor);
                transform.gains.push(scaling.gain);
                transform.lost = transform.lost.or(scaling.is_lost.then_some(j));
            }
        }
        Ok(())
    }
}
