//! The part of the volume that every view sees.

use super::geometry::Geometry;
use super::weights::Scan;

/// Radius in mm of the disc about the z axis, at height `z`, that every view sees; negative if some view does not even see
/// the axis there. On a full circle every view sees exactly this disc.
///
/// "Left of the panel's edge" is a linear inequality a x + b y + c z + d <= 0, as w > 0. Over a circle of radius r its
/// left side is at most r hypot(a, b) + c z + d. With a half fan, the opposite views cover the narrow side, so that side
/// does not count.
pub fn seen_radius(geometry: &Geometry, scan: &Scan, z: f64) -> f64 {
    let d = &geometry.detector;
    let last = (d.columns - 1) as f64;
    let mut least = f64::INFINITY;
    for view in &geometry.views {
        let m = &view.matrix;
        let edges = [
            (0, -1.0, 0.0, scan.extra_left == 0),
            (0, 1.0, last, scan.extra_right == 0),
            (1, -1.0, 0.0, true),
            (1, 1.0, (d.rows - 1) as f64, true),
        ];
        for (r, sign, edge, counts) in edges {
            if !counts {
                continue;
            }
            let at = |c: usize| sign * (m[r][c] - edge * m[2][c]);
            let (steep, rest) = (at(0).hypot(at(1)), at(2) * z + at(3));
            let radius = if rest > 0.0 { -1.0 } else { -rest / steep };
            // A plane that is parallel to the slice and does not cut it bounds nothing.
            least = least.min(if radius.is_nan() { f64::INFINITY } else { radius });
        }
    }
    least
}
