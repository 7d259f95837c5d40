//! The part of the volume that every view sees.

use super::geometry::Geometry;
use super::plan::Plan;
use super::weights::Scan;
use crate::blocks::number::{Number, encode};

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

impl Plan {
    /// Radius in slice `k` that every view sees, mm: see [`seen_radius`].
    pub fn seen_radius(&self, k: usize) -> f64 {
        seen_radius(&self.geometry, &self.scan, self.grid.position(2, k))
    }

    /// Sets the voxels that some view does not see to the output offset, which is the output value of 0. `out` holds slices
    /// from `first` on, elements in the machine's byte order.
    pub fn mask_unseen(&self, first: usize, number: Number, out: &mut [u8]) {
        let [nx, ny, _] = self.grid.size;
        let size = number.size();
        let mut zero = [0u8; 8];
        encode(number, &[self.options.output_offset], &mut zero[..size]);
        let blank = |part: &mut [u8]| part.chunks_exact_mut(size).for_each(|v| v.copy_from_slice(&zero[..size]));
        for (k, slice) in out.chunks_exact_mut(nx * ny * size).enumerate() {
            let radius = self.seen_radius(first + k);
            for (j, row) in slice.chunks_exact_mut(nx * size).enumerate() {
                let y = self.grid.position(1, j);
                // NaN where the row misses the disc.
                let half = if radius < 0.0 { f64::NAN } else { (radius * radius - y * y).sqrt() };
                let index = |x: f64| ((x - self.grid.origin[0]) / self.grid.spacing[0]).clamp(-1.0, nx as f64);
                let (low, high) = (index(-half).ceil(), index(half).floor());
                if low <= high {
                    let (left, rest) = row.split_at_mut((low.max(0.0) as usize).min(nx) * size);
                    blank(left);
                    let kept = (high + 1.0 - low.max(0.0)).max(0.0) as usize;
                    let behind = (kept * size).min(rest.len());
                    blank(&mut rest[behind..]);
                } else {
                    blank(row);
                }
            }
        }
    }
}
