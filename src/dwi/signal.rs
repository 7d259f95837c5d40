//! Signals of a block of voxels as fractions of the unweighted signal, and the status of each voxel.

use super::scheme::Scheme;
use super::voxels::{Block, LANES, Number, Source};
use crate::alloc;
use crate::error::Result;
use crate::sshopm::TensorStatus;

/// Limits of `S / S0`, inside the domain of the logarithms that follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    /// Smallest value; smaller ones are raised to it.
    pub low: f64,
    /// Largest value; larger ones are lowered to it.
    pub high: f64,
    /// A voxel with a value at or below this counts as clamped.
    pub flag: f64,
}

/// Scratch memory of [`Attenuation::read`] for one block.
pub(crate) struct Attenuation<T> {
    sum: Vec<f64>,
    row: Vec<T>,
    inverse: Vec<T>,
    poison: Vec<T>,
    flagged: Vec<T>,
}

impl<T: Number> Attenuation<T> {
    pub fn new() -> Result<Self> {
        let lanes = || alloc::filled("block of signals", LANES, T::ZERO);
        Ok(Self {
            sum: alloc::filled("block of signals", LANES, 0.0)?,
            row: lanes()?,
            inverse: lanes()?,
            poison: lanes()?,
            flagged: lanes()?,
        })
    }

    /// Fills `out`, N rows of lanes, with `S_j / S0` of the weighted volumes, within `range`, and the block's `s0` and
    /// `status`. All of `out` is finite and positive, whatever the signals are.
    pub fn read(
        &mut self,
        signals: &Source<'_>,
        scheme: &Scheme,
        voxels: &[usize],
        range: Range,
        out: &mut [T],
        block: &mut Block<T>,
    ) {
        self.sum.fill(0.0);
        self.poison.fill(T::ZERO);
        self.flagged.fill(T::ZERO);
        for volume in &scheme.unweighted {
            signals.gather(*volume, voxels, &mut self.row);
            for ((sum, poison), x) in self.sum.iter_mut().zip(&mut self.poison).zip(&self.row) {
                *sum += x.to_f64();
                // Adds 0 for finite numbers, NaN for NaN and the infinities.
                *poison += *x * T::ZERO;
            }
        }
        let share = 1.0 / scheme.unweighted.len() as f64;
        for ((s0, inverse), sum) in block.s0.iter_mut().zip(&mut self.inverse).zip(&self.sum) {
            let mean = sum * share;
            *s0 = T::from_f64(mean);
            let i = T::from_f64(1.0 / mean);
            *inverse = if mean > 0.0 && i.is_finite() { i } else { T::ZERO };
        }
        let [low, high, flag] = [range.low, range.high, range.flag].map(T::from_f64);
        for (row, volume) in out.chunks_exact_mut(LANES).zip(&scheme.weighted) {
            signals.gather(*volume, voxels, row);
            for (((x, inverse), poison), flagged) in
                row.iter_mut().zip(&self.inverse).zip(&mut self.poison).zip(&mut self.flagged)
            {
                *poison += *x * T::ZERO;
                let e = *x * *inverse;
                *flagged += if e <= flag { T::ONE } else { T::ZERO };
                let e = if e > low { e } else { low };
                *x = if e < high { e } else { high };
            }
        }
        for (lane, status) in block.status.iter_mut().enumerate().take(voxels.len()) {
            *status = if !self.poison[lane].is_finite() || !block.s0[lane].is_finite() {
                TensorStatus::Nonfinite
            } else if self.inverse[lane] == T::ZERO {
                TensorStatus::Signal
            } else if self.flagged[lane] > T::ZERO {
                TensorStatus::Clamped
            } else {
                TensorStatus::Ok
            };
            if *status == TensorStatus::Nonfinite {
                block.s0[lane] = T::ZERO;
            }
        }
    }
}
