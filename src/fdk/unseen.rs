//! Voxels that some view does not see.

use super::fov::seen_radius;
use super::plan::Plan;
use crate::blocks::number::{Number, encode};

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
