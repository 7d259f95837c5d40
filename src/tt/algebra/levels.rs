//! Chooses powers of two for the cores of a train such that no core loses small entries.
//!
//! The powers may be distributed over the cores as long as their sum is right. A core with entries near the smallest
//! number of its type cannot be divided, and a core with entries near the largest number cannot be multiplied. Within
//! these bounds, the largest entries of the cores are made as equal as possible.
//!
//! `levels.rs`, `structure.rs` and `sum.rs` import each other: sums level their trains first, and conversions to single
//! precision do as sums do.

use super::place::Place;
use super::structure::parts_mut;
use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::{DType, Real};
use crate::tensor::train::TensorTrain;
use crate::trains::balance;
use crate::trains::scaled::exponent_of;

const WHAT: &str = "exponents of cores";

/// Magnitudes of the nonzero entries of a core.
struct Span {
    /// Exponents of the smallest nonzero entry and of the largest one.
    low: i64,
    high: i64,
    /// Binary logarithm of the largest entry.
    size: f64,
}

/// Magnitudes of the cores of a host train, and the range of the type to which they will be converted.
pub(super) struct Levels {
    spans: Vec<Span>,
    least: i64,
    most: i64,
    /// Whether the type is that of the train. Then subnormal entries may stay subnormal.
    same: bool,
}

impl Levels {
    /// Examines the cores; `None` if a core is zero.
    pub(super) fn new(at: &Place<'_>, x: &TensorTrain, dtype: DType) -> Result<Option<Self>> {
        let mut spans = alloc::with_capacity(WHAT, x.shape().len())?;
        for k in 0..x.shape().len() {
            at.cancel.check()?;
            let (low, high) = balance::ends(x, k, at.context.isa())?;
            if high == 0.0 {
                return Ok(None);
            }
            spans.push(match high.is_finite() {
                true => Span { low: exponent_of(low), high: exponent_of(high), size: high.log2() },
                false => Span { low: 0, high: 0, size: 0.0 },
            });
        }
        let same = dtype.is_single() == x.dtype().is_single();
        // Rounding to another type may raise the largest number to the next power.
        let most = dtype.largest_exponent() - i64::from(!same);
        Ok(Some(Self { spans, least: dtype.least_exponent(), most, same }))
    }

    /// The smallest and the largest exponent by which a core may be multiplied.
    fn bounds(&self, span: &Span) -> [i64; 2] {
        let low = self.least - span.low;
        [if self.same { low.min(0) } else { low }, self.most - span.high]
    }

    /// Exponents for the cores whose sum is `exponent` and with which no core loses an entry; `None` if there are none.
    pub(super) fn shifts(&self, exponent: i64) -> Result<Option<Vec<i64>>> {
        let shift = |span: &Span, level: i64| {
            let [low, high] = self.bounds(span);
            (level - span.high).clamp(low, high)
        };
        let sum = |level: i64| self.spans.iter().map(|span| shift(span, level)).sum::<i64>();
        if self.spans.iter().any(|span| self.bounds(span)[0] > self.bounds(span)[1]) {
            return Ok(None);
        }
        // At the lowest level every core has its smallest exponent, at the highest level its largest.
        let level = |span: &Span, end: usize| self.bounds(span)[end] + span.high;
        let mut below = self.spans.iter().map(|span| level(span, 0)).min().unwrap_or(0);
        let mut above = self.spans.iter().map(|span| level(span, 1)).max().unwrap_or(0);
        if !(sum(below)..=sum(above)).contains(&exponent) {
            return Ok(None);
        }
        while below < above {
            let middle = below + (above - below + 1) / 2;
            if sum(middle) <= exponent { below = middle } else { above = middle - 1 }
        }
        let mut rest = exponent - sum(below);
        let mut shifts = alloc::with_capacity(WHAT, self.spans.len())?;
        for span in &self.spans {
            let more = (shift(span, below + 1) - shift(span, below)).min(rest);
            rest -= more;
            shifts.push(shift(span, below) + more);
        }
        Ok(Some(shifts))
    }

    /// Whether core k loses small entries when it is multiplied by 2^shift.
    pub(super) fn is_lossy(&self, k: usize, shift: i64) -> bool {
        shift < self.bounds(&self.spans[k])[0]
    }

    /// Returns an error if a core, multiplied by its power of two, loses an entry that matters: one that may contribute
    /// to an entry of the tensor within the range of the type. Cores of `lost` have already lost entries below the
    /// smallest normal number.
    pub(super) fn expect_held(
        &self,
        at: &Place<'_>,
        argument: &str,
        x: &mut TensorTrain,
        shifts: &[i64],
        lost: &[bool],
    ) -> Result<()> {
        let all = self.spans.iter().zip(shifts).map(|(span, shift)| span.size + *shift as f64).sum::<f64>();
        for (k, (span, &shift)) in self.spans.iter().zip(shifts).enumerate() {
            let mut most = lost.get(k).filter(|lost| **lost).map(|_| self.least - 1);
            if self.is_lossy(k, shift) {
                let below = self.least - shift;
                let found = if x.dtype().is_single() {
                    largest_below::<f32>(at, x, k, below)?
                } else {
                    largest_below::<f64>(at, x, k, below)?
                };
                most = most.max(found);
            }
            let Some(most) = most else { continue };
            // The largest product of such an entry with entries of the other cores.
            if most as f64 - span.size + all > self.least as f64 {
                return Err(Error::Numerical(format!(
                    "{argument}: core {k} would have numbers that count below the range of {}",
                    x.dtype().name()
                )));
            }
        }
        Ok(())
    }
}

/// The exponent of the largest part of core k whose exponent is less than `below`.
fn largest_below<P: Real>(at: &Place<'_>, x: &mut TensorTrain, k: usize, below: i64) -> Result<Option<i64>> {
    let parts = parts_mut::<P>(x, k)?;
    let exponents = || parts.iter().map(|x| x.to_f64()).filter(|x| *x != 0.0 && x.is_finite()).map(exponent_of);
    Ok(at.context.pool().run(|| exponents().filter(|e| *e < below).max()))
}
