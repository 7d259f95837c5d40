//! The half fan: a panel shifted sideways on a full circle, whose two halves see the object from opposite sides.
//!
//! `half_fan.rs` and `weights.rs` import each other: a scan takes these weights, and their overlap is checked for a scan.

use std::f64::consts::FRAC_PI_2;

use super::fan::Fan;
use super::geometry::{Detector, Geometry};
use super::weights::Scan;
use crate::error::{Error, Result};

/// Largest accepted [`overlap_error`]: a scan with more is refused.
const WORST_ERROR: f64 = 0.1;

/// Largest [`overlap_error`] without a warning.
const NOTABLE_ERROR: f64 = 0.02;

/// Least overlap of a half fan, columns, however narrow the panel is.
const LEAST_OVERLAP: f64 = 3.0;

/// Estimate of the largest error of a density near the axis, in units of the density of an object that fills the scan,
/// `width` columns from the axis to its rim, for a half fan whose weights rise over `overlap` columns on each side of
/// the axis.
///
/// The filtered row has a feature as narrow as that rise, and as high as the line integral over its width.
/// Interpolation between columns errs there, by the inverse of the third power of the width. Opposite views cancel each
/// other's feature but not these errors, which add up on circles about the axis. The factor is empirical;
/// `tests/narrow.rs` compares it with an ellipsoid.
fn overlap_error(width: f64, overlap: f64) -> f64 {
    0.1 * width / overlap.powi(3)
}

/// Columns that the short side of a half fan has to have beyond the axis. `width` is the number of columns from the
/// axis to the rim of an object that fills the scan.
pub fn least_overlap(width: f64) -> f64 {
    (0.1 * width / WORST_ERROR).cbrt().max(LEAST_OVERLAP)
}

/// Half-fan weight at a fan angle. It rises from 0 to 1 towards the long side, across the strip of half width `reach` that
/// both sides see.
pub fn weight(angle: f64, reach: f64, long_side: f64) -> f64 {
    if angle.abs() >= reach {
        return if angle * long_side > 0.0 {
            1.0
        } else if angle == 0.0 {
            0.5
        } else {
            0.0
        };
    }
    (1.0 + long_side * (FRAC_PI_2 * angle / reach).sin()) / 2.0
}

impl Scan {
    /// Adds columns for a half fan on the panel's short side, because the tails of the ramp filter reach beyond it. The
    /// panel's own width is enough: it covers the mirror image of the long side.
    pub(super) fn extend_half_fan(&mut self, geometry: &Geometry, is_arc: bool) -> Result<()> {
        let refuse = |problem: String| Err(Error::invalid("redundancy", format!("is half fan, {problem}")));
        if is_arc {
            let gap = self.largest_gap.to_degrees();
            return refuse(format!("with a gap of {gap:.1} degrees; a full circle is needed"));
        }
        let ascending = self.fans[0].reach(&geometry.detector).is_ascending;
        for (n, fan) in self.fans.iter().enumerate() {
            let r = fan.reach(&geometry.detector);
            if r.negative < 0.0 || r.positive < 0.0 {
                let (from, to) = (-r.negative, r.positive);
                return refuse(format!(
                    "but view {n} does not see the axis in every row: its panel spans {from:.3} to {to:.3} mm from it"
                ));
            }
            if r.is_ascending != ascending {
                return refuse(format!("but the columns of view {n} run against those of view 0"));
            }
        }
        self.check_overlap(&geometry.detector)?;
        // The short side, by the sign of its angles and as columns.
        let is_negative_short = self.reach[0] <= self.reach[1];
        let extra = geometry.detector.columns;
        if is_negative_short == ascending {
            self.extra_left = extra;
        } else {
            self.extra_right = extra;
        }
        Ok(())
    }

    /// Refuses a half fan whose weights rise within too few columns, and warns of one within few.
    fn check_overlap(&mut self, detector: &Detector) -> Result<()> {
        let [near, far] = [self.reach[0].min(self.reach[1]), self.reach[0].max(self.reach[1])];
        // Both as columns of a panel through the axis, which is where they are as far apart as at the axis.
        let columns = |fan: &Fan, reach: f64| {
            fan.radius * (reach / fan.radius).clamp(-1.0, 1.0).asin().tan() / fan.pitch_at_axis(detector)
        };
        let overlaps = self.fans.iter().map(|fan| columns(fan, near)).enumerate();
        // The first of views that differ by rounding.
        let smaller =
            |least: (usize, f64), this: (usize, f64)| if this.1 < least.1 * (1.0 - 1e-9) { this } else { least };
        let (view, overlap) = overlaps.fold((0, f64::INFINITY), smaller);
        let width = far / self.fans[view].pitch_at_axis(detector);
        let least = least_overlap(width);
        if overlap < least * (1.0 - 1e-9) {
            let problem = format!(
                "is half fan, but the panel of view {view} reaches {overlap:.3} columns beyond the axis, less than {least:.3}"
            );
            return Err(Error::invalid("redundancy", problem));
        }
        let error = overlap_error(width, overlap);
        if error > NOTABLE_ERROR {
            let percent = 100.0 * error;
            self.warn(format!(
                "the panel reaches only {overlap:.1} columns beyond the axis: densities within them may be off by \
                 {percent:.0} % of that of an object as wide as the scan"
            ))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conjugate_rays_of_a_half_fan_weigh_one_together() {
        for angle in [-0.03, -0.029, -0.01, 0.0, 0.004, 0.03, 0.08, -0.08] {
            let sum = weight(angle, 0.03, 1.0) + weight(-angle, 0.03, 1.0);
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert_eq!(weight(0.08, 0.03, 1.0), 1.0);
        assert_eq!(weight(0.08, 0.03, -1.0), 0.0);
    }
}
