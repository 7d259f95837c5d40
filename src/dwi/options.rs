//! The options of all calls.

use std::f64::consts::FRAC_PI_2;

use super::scheme::check_threshold;
use super::sh::Basis;
use crate::choice::{numbered, with_defaults};
use crate::error::{Error, Result, real};
use crate::range;
use crate::sshopm::{self, Method, StartKind, resolve};

numbered!(Weighting, Ordinary, Signal);
numbered!(Nonpositive, Clamp, Skip);
numbered!(PeaksFormat, UnitValue, Mrtrix);
numbered!(Missing, Nan, Zero);

/// Weights of the residuals. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Weighting {
    /// All residuals of the logarithms have the same weight.
    Ordinary = 0,
    /// The logarithm of a signal S has a variance proportional to 1 / S^2, so its residual is weighted with S^2.
    Signal = 1,
}

/// Treatment of signals that are not positive. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Nonpositive {
    /// Raise them to a small fraction of S0.
    Clamp = 0,
    /// Exclude them from the voxel's fit.
    Skip = 1,
}

with_defaults! {
    /// Weights of a fit of tensors, and its treatment of small signals.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct FitOptions {
        /// Weights of the residuals, if the caller passes no weights.
        pub weighting: Weighting = Weighting::Ordinary,
        /// Treatment of signals that are not positive.
        pub nonpositive: Nonpositive = Nonpositive::Clamp,
        /// Largest b-value, in s/mm^2, of a volume that counts as unweighted.
        pub b0_threshold: f64 = 50.0,
        /// Smallest signal, as a fraction of S0; 0 for 1e-6.
        pub clamp: f64 = 0.0,
    }
}

impl FitOptions {
    /// Refuses options outside their domain.
    pub(super) fn check(&self) -> Result<()> {
        check_threshold(self.b0_threshold)?;
        self.floor().map(|_| ())
    }

    /// The smallest signal as a fraction of S0.
    pub(super) fn floor(&self) -> Result<f64> {
        if self.clamp == 0.0 {
            return Ok(1e-6);
        }
        // The lower limit keeps logarithms in f32 away from subnormal numbers.
        if (1e-30..1.0).contains(&self.clamp) {
            return Ok(self.clamp);
        }
        Err(Error::invalid(
            "clamp",
            format!("is {}, 0, or at least 1e-30 and less than 1, is needed", real(self.clamp)),
        ))
    }
}

with_defaults! {
    /// Options of orientation functions in constant solid angle.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct CsaOptions {
        /// Largest b-value, in s/mm^2, of a volume that counts as unweighted.
        pub b0_threshold: f64 = 50.0,
        /// Weight of the Laplace-Beltrami penalty, at least 0.
        pub smoothing: f64 = 0.006,
        /// Smallest `S / S0`; smaller ones are raised to it. Between 0 and `maximum_signal`.
        pub minimum_signal: f64 = 0.001,
        /// Largest `S / S0`, below 1; larger ones are lowered to it.
        pub maximum_signal: f64 = 0.999,
    }
}

impl CsaOptions {
    /// Refuses options outside their domain.
    pub(super) fn check(&self) -> Result<()> {
        check_threshold(self.b0_threshold)?;
        range::not_negative("smoothing", self.smoothing)?;
        // With smaller values, 1 - S/S0 or S/S0 would have no digits left in f32.
        if !(1e-30..1.0).contains(&self.minimum_signal) {
            let problem = format!("is {}, at least 1e-30 and less than 1 is needed", real(self.minimum_signal));
            return Err(Error::invalid("minimum_signal", problem));
        }
        if !(self.minimum_signal..=0.999_999).contains(&self.maximum_signal) {
            let (least, value) = (real(self.minimum_signal), real(self.maximum_signal));
            let problem = format!("is {value}, outside minimum_signal = {least} to 0.999999");
            return Err(Error::invalid("maximum_signal", problem));
        }
        Ok(())
    }
}

/// Format of a peak. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum PeaksFormat {
    /// Unit vector and value: x, y, z, lambda.
    UnitValue = 0,
    /// The vector times the value, as MRtrix3 writes peaks.
    Mrtrix = 1,
}

/// Value of absent peaks. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Missing {
    /// NaN, which no peak has.
    Nan = 0,
    /// 0, for programs that cannot read NaN.
    Zero = 1,
}

with_defaults! {
    /// Options of a search for peaks.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct PeaksOptions {
        /// Basis of spherical-harmonic coefficients; `None` if the input is a batch of symmetric tensors.
        pub basis: Option<Basis> = None,
        /// Format of a peak: its direction and value, or their product.
        pub format: PeaksFormat = PeaksFormat::UnitValue,
        /// Value of the components of absent peaks.
        pub missing: Missing = Missing::Nan,
        /// Start vectors of each voxel's search.
        pub start_kind: StartKind = StartKind::Auto,
        /// Limit of the iterations of a start; 0 for 500.
        pub max_iterations: usize = 0,
        /// How an iterate becomes the next.
        pub method: Method = Method::Hybrid,
        /// Starts of each voxel; 0 for 32 up to order 4 and 64 above. On real data of order 8, 64 starts miss one in a
        /// thousand of the three highest peaks of a voxel and 96 miss none; of order 4, 32 miss none.
        pub starts: i64 = 0,
        /// Seed of random starts; refused with other starts unless it is 0.
        pub seed: u64 = 0,
        /// Smallest height of a peak, at least 0; if it is 0, a peak must be higher than 0.
        pub absolute_threshold: f64 = 0.0,
        /// Smallest height of a peak relative to the highest of the voxel; 0 to 1.
        pub relative_threshold: f64 = 0.1,
        /// Angle in radians below which the lower of two peaks is dropped; 0 keeps both; at most a right angle.
        pub min_separation: f64 = 15f64.to_radians(),
        /// Relative residual; 0 for 1e-10 (F64) or 1e-5 (F32).
        pub tolerance: f64 = 0.0,
        /// Angle in radians below which ends of starts are one peak; 0 for one degree.
        pub merge_angle: f64 = 0.0,
    }
}

impl PeaksOptions {
    /// The options of the eigensolver.
    pub(super) fn solver(&self) -> sshopm::Options {
        sshopm::Options {
            method: self.method,
            max_iterations: self.max_iterations,
            start_kind: self.start_kind,
            starts: self.starts,
            seed: self.seed,
            tolerance: self.tolerance,
            merge_angle: self.merge_angle,
            ..sshopm::Options::default()
        }
    }

    /// Refuses options outside their domain.
    pub(super) fn check(&self) -> Result<()> {
        range::not_negative("absolute_threshold", self.absolute_threshold)?;
        if !(0.0..=1.0).contains(&self.relative_threshold) {
            let problem = format!("is {}, outside 0 .. 1", real(self.relative_threshold));
            return Err(Error::invalid("relative_threshold", problem));
        }
        if !(0.0..=FRAC_PI_2).contains(&self.min_separation) {
            let problem = format!("is {}, outside 0 .. pi/2", real(self.min_separation));
            return Err(Error::invalid("min_separation", problem));
        }
        // A residual is relative: with a tolerance of 1 every start would have converged.
        range::below_one("tolerance", self.tolerance)?;
        resolve::check(&self.solver()).map(|_| ())
    }
}

/// The options of all calls. Each call refuses options that only others use. `b0_threshold` belongs to fits and to
/// orientation functions, and is the same in both.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Options {
    /// Options of fits of diffusion tensors.
    pub fit: FitOptions,
    /// Options of orientation functions (constant solid angle).
    pub csa: CsaOptions,
    /// Those of peaks. The basis may be that of the orientation functions as well.
    pub peaks: PeaksOptions,
}
