//! Back-projection for panels that are not upright: every voxel has its own position in u and in v.
//!
//! Along a column of voxels the position changes slowly, so a vector of voxels projects onto few panel columns. Each of
//! these is interpolated along v for the whole vector, from a table and without gathers, and is weighted with the hat
//! function of its distance in u. Together that is bilinear interpolation.
//!
//! `backproject.rs` and `general.rs` import each other: the back-projection of upright panels hands others to this one,
//! which shares its task.

use std::ops::Range;

use super::super::options::Edge;
use super::super::plan::{Plan, ViewPlan};
use super::backproject::{DEPTH, Task, WIDEST_STEP};
use super::filter::{Batch, Layout};
use super::layout::{PAD, column_stride};
use super::slab::TILE;
use crate::backend::cpu::simd::{Kernel, Lanes, Simd};
use crate::error::Result;

/// A task with any panels.
pub(super) struct General<'a>(pub Task<'a>);

/// Projection of a column of voxels: column w, row w and w, affine in the index of the slice.
#[derive(Clone, Copy)]
struct Ray {
    start: [f64; 3],
    step: [f64; 3],
}

impl Ray {
    #[inline(always)]
    fn new(view: &ViewPlan, i: f64, j: f64) -> Self {
        let m = &view.matrix;
        let row = |r: usize| m[r][0] * i + m[r][1] * j + m[r][3];
        Self { start: [row(0), row(1), row(2)], step: [m[0][2], m[1][2], m[2][2]] }
    }

    #[inline(always)]
    fn at(&self, r: usize, k: f64) -> f64 {
        self.start[r] + k * self.step[r]
    }

    /// The slices from `first + 0` to `first + count - 1` that project onto the panel, and possibly a few more at the ends.
    /// The position is a ratio with w > 0, so each edge of the panel is a linear inequality.
    #[inline(always)]
    fn range(&self, columns: f64, rows: Range<f64>, first: usize, count: usize) -> Range<usize> {
        let (mut low, mut high) = (0.0, count as f64);
        for (r, sign, edge) in [(0, 1.0, -1.0), (0, -1.0, columns), (1, 1.0, rows.start - 1.0), (1, -1.0, rows.end)] {
            let slope = sign * (self.step[r] - edge * self.step[2]);
            let value = sign * (self.at(r, first as f64) - edge * self.at(2, first as f64));
            if slope > 0.0 {
                low = f64::max(low, (-value / slope).floor());
            } else if slope < 0.0 {
                high = f64::min(high, (-value / slope).ceil() + 1.0);
            } else if value <= 0.0 {
                return 0..0;
            }
        }
        if high <= low { 0..0 } else { low as usize..high as usize }
    }
}

impl Kernel<f32> for General<'_> {
    type Output = Result<()>;
    #[inline(always)]
    fn run<S: Simd<f32>>(self, simd: S) -> Result<()> {
        let task = self.0;
        let plan = task.plan;
        let samples = Layout::Columns.samples(plan, task.batch.rows);
        let rows = task.batch.first_row as f64..(task.batch.first_row + task.batch.rows) as f64;
        for depth in (0..task.count).step_by(DEPTH) {
            let count = DEPTH.min(task.count - depth);
            let from = task.first + depth;
            for (n, &view) in task.batch.views.iter().enumerate() {
                let filtered = &task.filtered[n * samples..(n + 1) * samples];
                let view = &plan.views[view];
                for y in 0..task.place.ny {
                    // A vector of voxels may take samples of all panel columns, so a whole tile may take long.
                    (task.poll)()?;
                    for x in 0..task.place.nx {
                        let ray = Ray::new(view, (task.place.x + x) as f64, (task.place.y + y) as f64);
                        let range = ray.range(plan.columns as f64, rows.clone(), from, count);
                        if range.is_empty() {
                            continue;
                        }
                        let at = (y * TILE + x) * task.stride + depth;
                        let out = &mut task.tile[at..at + count.next_multiple_of(16).min(task.stride - depth)];
                        add_column(simd, plan, task.batch, view.weight, &ray, filtered, from, range, count, out);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Adds one view to the voxels `range` of a column.
#[allow(clippy::too_many_arguments, reason = "an inlined part of a kernel")]
#[inline(always)]
fn add_column<S: Simd<f32>>(
    simd: S,
    plan: &Plan,
    batch: Batch<'_>,
    weight: f64,
    ray: &Ray,
    filtered: &[f32],
    first: usize,
    range: Range<usize>,
    count: usize,
    out: &mut [f32],
) {
    let len = S::V::LEN;
    let stride = column_stride(batch.rows);
    let mut numbers = [0.0f32; 16];
    for (n, v) in numbers.iter_mut().enumerate() {
        *v = n as f32;
    }
    let lanes = simd.load(&numbers[..len]);
    let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
    let factor = simd.splat(weight as f32);
    let skip = plan.options.edge == Edge::Skip;
    let origin = PAD as f64 - batch.first_row as f64;
    let last_column = plan.columns as f64 - 1.0;
    let mut k = range.start / len * len;
    while k < range.end {
        let (near, far) = ((first + k) as f64, (first + k + len - 1) as f64);
        let (w, w_far) = (ray.at(2, near), ray.at(2, far));
        let (to_near, to_far) = (1.0 / w, 1.0 / w_far);
        let (v, v_far) = (ray.at(1, near) * to_near, ray.at(1, far) * to_far);
        let (u, u_far) = (ray.at(0, near) * to_near, ray.at(0, far) * to_far);
        // Positions along the vector lie between those of its two ends.
        let (row, column) = (v.min(v_far).floor(), u.min(u_far).floor());
        let place = row + origin;
        let steep = (v - v_far).abs() > (len - 1) as f64 * WIDEST_STEP;
        if skip || steep || place < 0.0 || w_far <= 0.0 || place + 2.0 * len as f64 > stride as f64 {
            add_slowly(plan, batch, weight, ray, filtered, first, k..(k + len).min(count), out);
        } else {
            // Relative to the nearest whole row and column, f32 is accurate enough.
            let depth = lanes.mul_add(simd.splat(ray.step[2] as f32), simd.splat(w as f32));
            let reciprocal = one.div(depth);
            let rise = (ray.step[1] - row * ray.step[2]) as f32;
            let start = (ray.at(1, near) - row * w) as f32;
            let position = lanes.mul_add(simd.splat(rise), simd.splat(start)).mul(reciprocal).max(zero);
            let rise = (ray.step[0] - column * ray.step[2]) as f32;
            let start = (ray.at(0, near) - column * w) as f32;
            let mut distance = lanes.mul_add(simd.splat(rise), simd.splat(start)).mul(reciprocal);
            let mut sum = zero;
            let mut c = column;
            let end = (u.max(u_far).floor() + 1.0).min(last_column);
            while c <= end {
                // Columns outside the panel are zero.
                if c >= 0.0 {
                    let table = &filtered[c as usize * stride + place as usize..];
                    let value = simd.interpolate(simd.load(table), simd.load(&table[len..]), position);
                    let hat = one.sub(distance.abs()).max(zero);
                    sum = value.mul_add(hat, sum);
                }
                distance = distance.sub(one);
                c += 1.0;
            }
            let factor = factor.mul(reciprocal).mul(reciprocal);
            sum.mul_add(factor, simd.load(&out[k..])).store(&mut out[k..]);
        }
        k += len;
    }
}

/// Computes single voxels: for steep columns, and for the rule that all four pixels must exist.
#[allow(clippy::too_many_arguments, reason = "as of the vectors")]
#[inline(never)]
fn add_slowly(
    plan: &Plan,
    batch: Batch<'_>,
    weight: f64,
    ray: &Ray,
    filtered: &[f32],
    first: usize,
    voxels: Range<usize>,
    out: &mut [f32],
) {
    let stride = column_stride(batch.rows);
    let origin = PAD as f64 - batch.first_row as f64;
    let skip = plan.options.edge == Edge::Skip;
    let (columns, rows) = (plan.columns as f64, plan.geometry.detector.rows as f64);
    let sample = |c: isize, place: usize| -> f32 {
        usize::try_from(c).ok().filter(|c| *c < plan.columns).map_or(0.0, |c| filtered[c * stride + place])
    };
    for k in voxels {
        let slice = (first + k) as f64;
        let reciprocal = 1.0 / ray.at(2, slice);
        let (u, row) = (ray.at(0, slice) * reciprocal, ray.at(1, slice) * reciprocal);
        let inside = if skip {
            u >= 0.0 && u < columns - 1.0 && row >= 0.0 && row < rows - 1.0
        } else {
            u > -1.0 && u < columns && row > -1.0 && row < rows
        };
        if !inside {
            continue;
        }
        let (c, r) = (u.floor(), row.floor());
        let (a, b) = ((u - c) as f32, (row - r) as f32);
        let (c, place) = (c as isize, (r + origin) as usize);
        let near = (1.0 - a) * sample(c, place) + a * sample(c + 1, place);
        let far = (1.0 - a) * sample(c, place + 1) + a * sample(c + 1, place + 1);
        out[k] += (weight * reciprocal * reciprocal) as f32 * (near + b * (far - near));
    }
}
