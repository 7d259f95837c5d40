//! Back-projection onto columns of voxels.
//!
//! With an upright panel a column of voxels projects onto one position u of the panel and onto rows that are affine in z.
//! So the two neighbouring panel columns are blended once for the whole voxel column, the weight folded in, and what is
//! left for each voxel is a linear interpolation along v: a vector of voxels finds its samples in a table of two vectors
//! of rows, without gathers.

use super::super::options::Edge;
use super::super::plan::{Plan, ViewPlan};
use super::filter::{Batch, Layout};
use super::slab::{Slab, TILE, TilePlace};
use super::{PAD, column_stride};
use crate::backend::cpu::simd::{Kernel, Lanes, Simd, dispatch};
use crate::backend::cpu::{Isa, Pool};

/// Voxels of a column that are worked on for all views before the next ones: a tile of them stays in the second cache.
const DEPTH: usize = 256;

/// Largest number of rows from one voxel to the next for which a table of two vectors holds what a vector of voxels
/// needs: 1 + (LEN - 1) * 2 < 2 LEN.
const WIDEST_STEP: f64 = 2.0;

/// Adds a batch of views to the slices from `first` on. `filtered` holds them one after the other as
/// [`Layout::Columns`]; rows that are not there must not be needed.
pub fn backproject(
    pool: &Pool,
    isa: Isa,
    plan: &Plan,
    batch: Batch<'_>,
    filtered: &[f32],
    first: usize,
    slab: &mut Slab,
) {
    if batch.rows == 0 {
        return;
    }
    let count = slab.count();
    let upright = plan.geometry.is_vertical();
    slab.for_tiles(pool, |place, tile, stride| {
        let task = Task { plan, batch, filtered, first, count, place, tile, stride };
        if upright {
            dispatch(isa, Upright(task));
        } else {
            task.general();
        }
    });
}

/// One tile and all views.
struct Task<'a> {
    plan: &'a Plan,
    batch: Batch<'a>,
    filtered: &'a [f32],
    first: usize,
    count: usize,
    place: TilePlace,
    tile: &'a mut [f32],
    stride: usize,
}

/// A task whose panels all stand upright.
struct Upright<'a>(Task<'a>);

/// Where a column of voxels falls on the panel of a view.
#[derive(Clone, Copy)]
struct Footprint {
    /// Panel column on the left, -1 to columns - 1.
    column: isize,
    /// Part of the one on the right.
    part: f32,
    /// Weight of the samples.
    weight: f32,
    /// Row of the voxel in slice 0 of the volume: positions do not depend on how the volume is cut.
    row: f64,
    /// First row that is there. Subtracted last, so that positions do not depend on it either.
    origin: f64,
    /// Rows from one voxel to the next.
    step: f64,
}

impl Footprint {
    /// That of the column (i, j); `None` if it misses the panel sideways. Rows count from `first_row`.
    #[inline(always)]
    fn new(plan: &Plan, view: &ViewPlan, first_row: usize, i: f64, j: f64) -> Option<Self> {
        let m = &view.matrix;
        let reciprocal = 1.0 / (m[2][0] * i + m[2][1] * j + m[2][3]);
        let u = (m[0][0] * i + m[0][1] * j + m[0][3]) * reciprocal;
        let columns = plan.columns as f64;
        let inside = match plan.options.edge {
            Edge::Zero => u > -1.0 && u < columns,
            Edge::Skip => u >= 0.0 && u < columns - 1.0,
        };
        if !inside {
            return None;
        }
        let column = u.floor();
        Some(Self {
            column: column as isize,
            part: (u - column) as f32,
            weight: (view.weight * reciprocal * reciprocal) as f32,
            row: (m[1][0] * i + m[1][1] * j + m[1][3]) * reciprocal,
            origin: first_row as f64,
            step: m[1][2] * reciprocal,
        })
    }

    /// Row of slice `k`, from the panel's first.
    #[inline(always)]
    fn at(&self, k: usize) -> f64 {
        self.row + k as f64 * self.step
    }

    /// The slices `first + 0` to `first + count - 1` whose rows lie within (-1, rows) of those that are there, as a range
    /// from `first`.
    #[inline(always)]
    fn range(&self, rows: f64, first: usize, count: usize) -> std::ops::Range<usize> {
        let count = count as f64;
        let (mut low, mut high) = (0.0, count);
        let row = self.at(first) - self.origin;
        if self.step == 0.0 {
            if !(row > -1.0 && row < rows) {
                high = 0.0;
            }
        } else {
            let (a, b) = ((-1.0 - row) / self.step, (rows - row) / self.step);
            let (near, far) = if a < b { (a, b) } else { (b, a) };
            low = near.floor().max(0.0);
            high = (far.ceil() + 1.0).min(count);
        }
        if high <= low { 0..0 } else { low as usize..high as usize }
    }
}

impl Kernel<f32> for Upright<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd<f32>>(self, simd: S) {
        let task = self.0;
        let rows = task.batch.rows;
        let samples = Layout::Columns.samples(task.plan, rows);
        // The blended column: the rows between zeros, and room for a table that begins at the last of them.
        let mut blended = vec![0.0f32; column_stride(rows) + 4 * S::V::LEN];
        let mut numbers = [0.0f32; 16];
        numbers.iter_mut().enumerate().for_each(|(n, v)| *v = n as f32);
        let lanes = simd.load(&numbers[..S::V::LEN]);
        for depth in (0..task.count).step_by(DEPTH) {
            let count = DEPTH.min(task.count - depth);
            for (n, &view) in task.batch.views.iter().enumerate() {
                let filtered = &task.filtered[n * samples..(n + 1) * samples];
                for y in 0..task.place.ny {
                    for x in 0..task.place.nx {
                        let (i, j) = ((task.place.x + x) as f64, (task.place.y + y) as f64);
                        let plan = task.plan;
                        let Some(foot) = Footprint::new(plan, &plan.views[view], task.batch.first_row, i, j) else {
                            continue;
                        };
                        let at = (y * TILE + x) * task.stride + depth;
                        let column = &mut task.tile[at..at + count.next_multiple_of(16).min(task.stride - depth)];
                        let from = task.first + depth;
                        add_column(simd, lanes, plan, task.batch, &foot, filtered, &mut blended, from, count, column);
                    }
                }
            }
        }
    }
}

/// Adds one view to one column of voxels.
#[allow(clippy::too_many_arguments, reason = "an inlined part of a kernel")]
#[inline(always)]
fn add_column<S: Simd<f32>>(
    simd: S,
    lanes: S::V,
    plan: &Plan,
    batch: Batch<'_>,
    foot: &Footprint,
    filtered: &[f32],
    blended: &mut [f32],
    first: usize,
    count: usize,
    out: &mut [f32],
) {
    let rows = batch.rows;
    let stride = column_stride(rows);
    let len = S::V::LEN;
    let range = foot.range(rows as f64, first, count);
    if range.is_empty() {
        return;
    }
    let start = range.start / len * len;
    // Rows that the range touches, clipped to the panel and its zeros.
    let ends = [foot.at(first + start) - foot.origin, foot.at(first + range.end - 1) - foot.origin];
    let clip = |v: f64| (v + PAD as f64).clamp(0.0, (stride - 1) as f64) as usize;
    let low = clip(ends[0].min(ends[1])).saturating_sub(2 * len) / len * len;
    let high = (clip(ends[0].max(ends[1])) + 2 * len + 2).next_multiple_of(len).min(stride);
    blend(simd, foot, filtered, stride, plan.columns, low, high, blended);

    let steep = foot.step.abs() > WIDEST_STEP;
    let skip = plan.options.edge == Edge::Skip;
    let step = simd.splat(foot.step as f32);
    let one = simd.splat(1.0);
    let span = (len - 1) as f64 * foot.step;
    let mut k = start;
    while k < range.end {
        let row = foot.at(first + k);
        let base = row.min(row + span).floor();
        let place = base - foot.origin + PAD as f64;
        if steep || place < 0.0 || place + 2.0 * len as f64 > blended.len() as f64 || skip {
            add_slowly(foot, plan.geometry.detector.rows, skip, blended, first, k..(k + len).min(count), out);
        } else {
            let place = place as usize;
            // Positions relative to the table are small, so f32 has digits to spare.
            let position = lanes.mul_add(step, simd.splat((row - base) as f32));
            let whole = simd.floor(position);
            let table = (simd.load(&blended[place..]), simd.load(&blended[place + len..]));
            let near = simd.lookup(table.0, table.1, whole);
            let far = simd.lookup(table.0, table.1, whole.add(one));
            let value = position.sub(whole).mul_add(far.sub(near), near);
            let sum = simd.load(&out[k..]).add(value);
            sum.store(&mut out[k..]);
        }
        k += len;
    }
}

/// The two panel columns under a column of voxels, mixed and weighted, for the padded rows `low` to `high`.
#[allow(clippy::too_many_arguments, reason = "an inlined part of a kernel")]
#[inline(always)]
fn blend<S: Simd<f32>>(
    simd: S,
    foot: &Footprint,
    filtered: &[f32],
    stride: usize,
    columns: usize,
    low: usize,
    high: usize,
    blended: &mut [f32],
) {
    let len = S::V::LEN;
    let left = simd.splat(foot.weight * (1.0 - foot.part));
    let right = simd.splat(foot.weight * foot.part);
    let zero = simd.splat(0.0);
    // Columns outside the panel are zeros.
    let pick =
        |c: isize| usize::try_from(c).ok().filter(|c| *c < columns).map(|c| &filtered[c * stride..(c + 1) * stride]);
    let (a, b) = (pick(foot.column), pick(foot.column + 1));
    let mut j = low;
    while j < high {
        let mut mixed = zero;
        if let Some(a) = a {
            mixed = simd.load(&a[j..]).mul_add(left, mixed);
        }
        if let Some(b) = b {
            mixed = simd.load(&b[j..]).mul_add(right, mixed);
        }
        mixed.store(&mut blended[j..]);
        j += len;
    }
}

/// Voxels one by one: steep columns, and the rule that all four pixels must exist.
#[inline(never)]
fn add_slowly(
    foot: &Footprint,
    rows: usize,
    skip: bool,
    blended: &[f32],
    first: usize,
    voxels: std::ops::Range<usize>,
    out: &mut [f32],
) {
    for k in voxels {
        let row = foot.at(first + k);
        let inside = if skip { row >= 0.0 && row < rows as f64 - 1.0 } else { row > -1.0 && row < rows as f64 };
        if inside {
            let whole = row.floor();
            let part = (row - whole) as f32;
            let place = (whole - foot.origin + PAD as f64) as usize;
            out[k] += blended[place] + part * (blended[place + 1] - blended[place]);
        }
    }
}

impl Task<'_> {
    /// Any panel: each voxel has a position of its own.
    fn general(self) {
        let plan = self.plan;
        let rows = plan.geometry.detector.rows;
        let (samples, stride) = (Layout::Columns.samples(plan, self.batch.rows), column_stride(self.batch.rows));
        let origin = PAD as f64 - self.batch.first_row as f64;
        let skip = plan.options.edge == Edge::Skip;
        let (columns_f, rows_f) = (plan.columns as f64, rows as f64);
        for (n, &view) in self.batch.views.iter().enumerate() {
            let filtered = &self.filtered[n * samples..(n + 1) * samples];
            let v = &plan.views[view];
            let sample = |c: isize, place: usize| -> f32 {
                usize::try_from(c).ok().filter(|c| *c < plan.columns).map_or(0.0, |c| filtered[c * stride + place])
            };
            for y in 0..self.place.ny {
                for x in 0..self.place.nx {
                    let at = (y * TILE + x) * self.stride;
                    let start = [(self.place.x + x) as f64, (self.place.y + y) as f64, self.first as f64];
                    let begin: [f64; 3] = std::array::from_fn(|r| v.apply(r, start));
                    for (k, out) in self.tile[at..at + self.count].iter_mut().enumerate() {
                        let k = k as f64;
                        let reciprocal = 1.0 / (begin[2] + k * v.matrix[2][2]);
                        let u = (begin[0] + k * v.matrix[0][2]) * reciprocal;
                        let row = (begin[1] + k * v.matrix[1][2]) * reciprocal;
                        let inside = if skip {
                            u >= 0.0 && u < columns_f - 1.0 && row >= 0.0 && row < rows_f - 1.0
                        } else {
                            u > -1.0 && u < columns_f && row > -1.0 && row < rows_f
                        };
                        if !inside {
                            continue;
                        }
                        let (c, r) = (u.floor(), row.floor());
                        let (a, b) = ((u - c) as f32, (row - r) as f32);
                        let (c, place) = (c as isize, (r + origin) as usize);
                        let near = (1.0 - a) * sample(c, place) + a * sample(c + 1, place);
                        let far = (1.0 - a) * sample(c, place + 1) + a * sample(c + 1, place + 1);
                        *out += (v.weight * reciprocal * reciprocal) as f32 * (near + b * (far - near));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::geometry::Grid;
    use super::super::super::options::Options;
    use super::super::super::reference;
    use super::super::super::tests::{GRID, case, npy, seen_by_all};
    use super::super::filter::Filter;

    use super::*;

    /// The whole volume, cut into slabs of `depth` slices and batches of `batch` views.
    fn volume(plan: &Plan, projections: &[f64], isa: Isa, depth: usize, batch: usize, threads: usize) -> Vec<f32> {
        let pool = Pool::new(threads).unwrap();
        let filter = Filter::new(plan).unwrap();
        let panel = plan.panel_pixels();
        let input: Vec<f32> = projections.iter().map(|p| *p as f32).collect();
        let mut out = vec![f32::NAN; plan.voxels()];
        let slice = plan.grid.size[0] * plan.grid.size[1];
        let mut slab = Slab::new(&plan.grid, depth).unwrap();
        for first in (0..plan.grid.size[2]).step_by(depth) {
            let count = depth.min(plan.grid.size[2] - first);
            slab.reset(count);
            for start in (0..plan.views.len()).step_by(batch) {
                let views: Vec<usize> = (start..(start + batch).min(plan.views.len())).collect();
                // Only the rows that the slab needs.
                let windows = views.iter().map(|v| plan.row_window(*v, first, count));
                let rows = windows.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap();
                let batch = Batch { views: &views, first_row: rows.start, rows: rows.len() };
                let columns = plan.geometry.detector.columns;
                let part: Vec<f32> = views
                    .iter()
                    .flat_map(|v| input[v * panel + rows.start * columns..v * panel + rows.end * columns].to_vec())
                    .collect();
                let mut filtered = vec![f32::NAN; views.len() * Layout::Columns.samples(plan, rows.len())];
                filter.run(&pool, plan, batch, &part, Layout::Columns, &mut filtered).unwrap();
                backproject(&pool, isa, plan, batch, &filtered, first, &mut slab);
            }
            slab.store(&pool, 0, 1.0, 0.0, &mut out[first * slice..(first + count) * slice]);
        }
        out
    }

    fn worst(a: &[f32], b: &[f64], at: impl Fn(usize) -> bool) -> f64 {
        a.iter()
            .zip(b)
            .enumerate()
            .filter(|(p, _)| at(*p))
            .map(|(_, (x, y))| (f64::from(*x) - y).abs())
            .fold(0.0, f64::max)
    }

    fn isas() -> impl Iterator<Item = Isa> {
        [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|i| *i <= Isa::detect())
    }

    #[test]
    fn golden_cases_agree_with_rtk_on_every_instruction_set() {
        for (name, tolerance) in [("full", 2e-5), ("short", 2e-5), ("displaced", 2e-5), ("carm", 2e-4)] {
            let case = case(name);
            let options = Options { edge: Edge::Skip, ..Options::default() };
            let plan = Plan::new(case.geometry, GRID, options).unwrap();
            let golden = npy(&format!("{name}_rtk.npy"));
            let seen = seen_by_all(&plan);
            for isa in isas() {
                let got = volume(&plan, &case.projections, isa, 36, 32, 2);
                let worst = worst(&got, &golden, |p| name != "carm" || seen[p]);
                assert!(worst < tolerance, "{name} {isa:?}: {worst:e}");
            }
        }
    }

    #[test]
    fn both_edge_rules_agree_with_the_reference_path() {
        // Voxels well outside the panel's view, steep columns (dz of several rows) and an odd grid.
        let grid = Grid { size: [37, 21, 19], spacing: [5.0, 7.0, 9.5], origin: [-91.0, -70.0, -85.0] };
        for name in ["full", "carm"] {
            for (edge, dz) in [(Edge::Zero, 9.5), (Edge::Skip, 9.5), (Edge::Zero, 2.0), (Edge::Zero, 0.1)] {
                let case = case(name);
                let grid = Grid { spacing: [5.0, 7.0, dz], ..grid };
                let plan = Plan::new(case.geometry, grid, Options { edge, ..Options::default() }).unwrap();
                let mut want = vec![0.0; plan.voxels()];
                let mut filtered = vec![0.0; plan.filtered_pixels()];
                for (n, p) in case.projections.chunks(plan.panel_pixels()).enumerate() {
                    reference::filter_view(&plan, n, p, &mut filtered).unwrap();
                    reference::backproject_view(&plan, n, &filtered, 0, &mut want);
                }
                let scale = want.iter().fold(0f64, |m, w| m.max(w.abs()));
                for isa in isas() {
                    let got = volume(&plan, &case.projections, isa, 19, 90, 2);
                    let worst = worst(&got, &want, |_| true);
                    // Positions in f32 within a table err by 1e-6 of a row; edges of the phantom are steep.
                    assert!(worst < 2e-5 * scale.max(1.0), "{name} {edge:?} {dz} {isa:?}: {worst:e}");
                }
            }
        }
    }

    #[test]
    fn slabs_batches_and_threads_change_no_bit() {
        let case = case("full");
        let plan = Plan::new(case.geometry, GRID, Options::default()).unwrap();
        let isa = Isa::detect();
        let whole = volume(&plan, &case.projections, isa, 36, 90, 1);
        for (depth, batch, threads) in [(36, 90, 3), (36, 7, 2)] {
            assert!(volume(&plan, &case.projections, isa, depth, batch, threads) == whole, "{depth} {batch} {threads}");
        }
        // A slab that starts elsewhere rounds positions elsewhere.
        let cut = volume(&plan, &case.projections, isa, 16, 90, 2);
        let difference = cut.iter().zip(&whole).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        assert!(difference == 0.0, "{difference:e}");
    }
}
