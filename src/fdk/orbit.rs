//! A circular orbit, as the caller gives it.

use super::lengths::Lengths;
use crate::error::{Error, Result, real};
use crate::range;

/// A circular orbit about the z axis with a flat panel perpendicular to the line from source to axis.
///
/// At angle b the source is at `SID (cos b, sin b, 0)`, the panel's axes are `e_u = (-sin b, cos b, 0)` and
/// `e_v = (0, 0, 1)`; b grows counter-clockwise seen from +z. The centre of pixel (i, j) lies at
/// `u = (i - (columns - 1) / 2) column_pitch + column_offset`, likewise v, from the foot of the perpendicular.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orbit {
    /// Source to axis (SID), mm.
    pub source_to_axis: f64,
    /// Source to panel (SDD), mm.
    pub source_to_detector: f64,
    /// Shift of the panel along e_u, mm.
    pub column_offset: f64,
    /// Shift of the panel along e_v, mm.
    pub row_offset: f64,
    /// Accept a panel between source and axis.
    pub allow_inside_panel: bool,
}

/// Largest shift of a panel, in units of its distance from the source. Rays beyond run along the panel, and their directions
/// lose their digits.
const MOST_SHIFT: f64 = 1e3;

impl Orbit {
    /// Checks the lengths for a panel of the given pitches of columns and rows.
    pub(super) fn check(&self, pitches: [f64; 2]) -> Result<()> {
        range::positive("source_to_axis", self.source_to_axis)?;
        range::positive("source_to_detector", self.source_to_detector)?;
        let (sid, sdd) = (self.source_to_axis, self.source_to_detector);
        if sdd < sid && !self.allow_inside_panel {
            let problem =
                format!("is {}, less than source_to_axis = {}: a panel between source and axis", real(sdd), real(sid));
            return Err(Error::invalid("source_to_detector", problem));
        }
        self.check_lengths(pitches, Lengths::DOUBLE)?;
        for (name, offset) in [("column_offset", self.column_offset), ("row_offset", self.row_offset)] {
            range::finite(name, offset)?;
            if offset.abs() > MOST_SHIFT * sdd {
                let problem =
                    format!("is {}, more than {MOST_SHIFT} times source_to_detector = {}", real(offset), real(sdd));
                return Err(Error::invalid(name, problem));
            }
        }
        Ok(())
    }

    /// Refuses lengths out of a range.
    pub(super) fn check_lengths(&self, [column, row]: [f64; 2], lengths: Lengths) -> Result<()> {
        lengths.check("column_pitch", column)?;
        lengths.check("row_pitch", row)?;
        lengths.check("source_to_axis", self.source_to_axis)?;
        lengths.check("source_to_detector", self.source_to_detector)
    }
}
