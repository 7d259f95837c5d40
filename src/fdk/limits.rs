//! Pixels, lengths and output values that the arithmetic of a precision takes without overflow.

use super::geometry::{Geometry, Grid, Trajectory};
use super::lengths::Lengths;
use super::options::{Mode, Options, Precision};
use super::plan::Plan;
use crate::blocks::number::Number;
use crate::error::{Error, Result, real};

/// Spare factor of the bounds: sums of complex numbers, and both rows of a transform.
const SPARE: f64 = 16.0;

impl Geometry {
    /// Refuses lengths of the geometry and the grid out of the range of the precision. Geometries are checked for f64 when they
    /// are made.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub(super) fn check_lengths(&self, grid: &Grid, options: &Options) -> Result<()> {
        let lengths = match options.precision {
            Precision::F32 => Lengths::SINGLE,
            Precision::F64 => Lengths::DOUBLE,
        };
        match &self.trajectory {
            Trajectory::Orbit(orbit) => {
                orbit.check_lengths([self.detector.column_pitch, self.detector.row_pitch], lengths)?;
            }
            // In RabbitCT mode a view is a matrix alone.
            Trajectory::Matrices if options.mode == Mode::RabbitCt => {}
            Trajectory::Matrices => {
                lengths.check("column_pitch", self.detector.column_pitch)?;
                for (n, view) in self.views.iter().enumerate() {
                    let name = |what: &str| format!("matrices, view {n}: the source's distance from the {what}");
                    lengths.check(&name("isocentre"), view.source_distance())?;
                    lengths.check(&name("panel"), view.source_to_detector)?;
                }
            }
        }
        for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
            lengths.check(&format!("d{axis}"), grid.spacing[k])?;
            lengths.check_coordinate(&format!("{axis}0"), grid.origin[k])?;
        }
        Ok(())
    }
}

impl Plan {
    /// The largest number of the arithmetic.
    fn largest_number(&self) -> f64 {
        match self.options.precision {
            Precision::F32 => f64::from(f32::MAX),
            Precision::F64 => f64::MAX,
        }
    }

    /// Sets [`Plan::largest_pixel`] for the length of the transforms.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if even pixels of 1 may overflow: the grid almost touches a source, or the given matrices
    /// are too small.
    pub(super) fn set_largest_pixel(&mut self) -> Result<()> {
        let filter = match self.options.mode {
            Mode::Fdk => self.filter_gain(),
            Mode::RabbitCt => 1.0,
        };
        let gains = (0..self.views.len()).map(|n| self.view_gain(n).0);
        let back = gains.sum::<f64>();
        let bound = self.largest_number() / SPARE / (filter.max(1.0) * back.max(1.0));
        // NaN and infinite gains give no range either.
        if bound >= 1.0 && bound.is_finite() {
            self.largest_pixel = 2f64.powi(bound.log2().floor() as i32);
            return Ok(());
        }
        let gain = |n: &usize| self.view_gain(*n).0;
        let worst = (0..self.views.len()).max_by(|a, b| gain(a).total_cmp(&gain(b))).unwrap_or(0);
        let precision = self.precision_name();
        Err(match self.options.mode {
            Mode::Fdk => {
                let depth = real(self.view_gain(worst).1);
                let problem = format!(
                    "reaches to {depth} mm before the source of view {worst}, where {precision} precision holds no weights"
                );
                Error::invalid("grid", problem)
            }
            Mode::RabbitCt => {
                let problem = "has a third row of a size whose inverse square is out of the range of the arithmetic";
                self.geometry.refusal(worst, problem)
            }
        })
    }

    /// Bound of a filtered sample and of the numbers that a transform passes through, for pixels of 1.
    fn filter_gain(&self) -> f64 {
        let rows = self.geometry.detector.rows;
        // Cosines and redundancy weights are at most 1.
        let scale = self.geometry.views.iter().map(|v| v.row_scales(rows)[0]).fold(1.0, f64::min);
        let most = self.response.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
        let length = self.length as f64;
        length / scale * (length * most).max(1.0)
    }

    /// Bound of the contribution of a filtered sample of 1 in view `n` to a voxel, with the least depth of the voxels.
    fn view_gain(&self, n: usize) -> (f64, f64) {
        let (view, size) = (&self.views[n], self.grid.size);
        // The depth is affine in the voxel's indices.
        let depth = |corner: usize| {
            let end = |axis: usize| if corner >> axis & 1 == 1 { (size[axis] - 1) as f64 } else { 0.0 };
            view.apply(2, [end(0), end(1), end(2)])
        };
        let least = (0..8).map(depth).fold(f64::INFINITY, f64::min);
        // Kernels multiply the weight and both inverse depths before the sample: with lengths in a large unit an inverse square
        // depth alone may be far larger than this.
        (view.weight.abs() / (least * least), least)
    }

    /// [`Plan::largest_pixel`] of steps that compute in F32, whatever the precision of reconstructions is.
    pub(super) fn largest_single(&self) -> f32 {
        self.largest_pixel.min(f64::from(f32::MAX)) as f32
    }

    /// Whether voxels are written without scale, offset and mask.
    pub(super) fn is_plain(&self) -> bool {
        let o = &self.options;
        o.output_scale == 1.0 && o.output_offset == 0.0 && !o.fov_mask
    }

    /// The name of the precision in messages.
    pub(super) fn precision_name(&self) -> &'static str {
        match self.options.precision {
            Precision::F32 => "F32",
            Precision::F64 => "F64",
        }
    }

    /// Refuses a scale and an offset that the arithmetic of a volume of type `number` does not hold. Those of F64 volumes are
    /// applied in f64.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub(super) fn check_output(&self, number: Number) -> Result<()> {
        if number == Number::F64 || self.options.precision == Precision::F64 {
            return Ok(());
        }
        for (name, value) in
            [("output_scale", self.options.output_scale), ("output_offset", self.options.output_offset)]
        {
            if value != 0.0 && !(value as f32).is_normal() {
                let (least, most) = (f32::MIN_POSITIVE, f32::MAX);
                let volume = number.dtype().name();
                let problem =
                    format!("is {}, a volume of {volume} takes 0 and moduli of {least:e} to {most:e}", real(value));
                return Err(Error::invalid(name, problem));
            }
        }
        Ok(())
    }

    /// The error of a volume in which `overflown` voxels are beyond the range of its type.
    ///
    /// # Errors
    /// [`Error::Numerical`] if there are any.
    pub(super) fn check_overflow(&self, number: Number, overflown: u64) -> Result<()> {
        if overflown == 0 {
            return Ok(());
        }
        let volume = number.dtype().name();
        let (scale, offset) = (real(self.options.output_scale), real(self.options.output_offset));
        let options = format!("output_scale = {scale} and output_offset = {offset}");
        Err(Error::Numerical(format!("volume: {overflown} voxels are beyond the range of {volume}, with {options}")))
    }
}

/// Whether a pixel is finite and at most `largest`.
#[inline(always)]
pub(super) fn fits<T: crate::scalar::Real>(pixel: T, largest: T) -> bool {
    pixel.abs() <= largest
}
