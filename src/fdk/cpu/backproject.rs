//! Back-projection onto columns of voxels.
//!
//! An upright panel projects a column of voxels onto one position u and onto rows that are affine in z. So the two adjacent
//! panel columns are interpolated once for the whole voxel column, with the weight included. Each voxel then needs one
//! linear interpolation along v: a vector of voxels reads its samples from a table of two vectors of rows, without gathers.

use std::ops::Range;

use super::super::ops::{Poll, Watch};
use super::super::options::Edge;
use super::super::plan::{Plan, ViewPlan};
use super::filter::{Batch, Layout};
use super::general::General;
use super::layout::{PAD, column_stride};
use super::slab::{CACHE_LINE, Slab, TILE, TilePlace, before_line};
use crate::backend::cpu::simd::{Kernel, Lanes, Simd, dispatch};
use crate::backend::cpu::{Isa, Pool};
use crate::error::Result;

/// Voxels of a column that are computed for all views before the next ones, so that a tile of them stays in the L2 cache.
pub(super) const DEPTH: usize = 256;

/// Largest step of rows between voxels for the vectorized path. A table of two vectors then holds all rows of a vector of
/// voxels, 1 + (LEN - 1) 1.9 < 2 LEN - 1, and [`PAD`] covers the rows beyond the panel's ends.
pub(super) const WIDEST_STEP: f64 = 1.9;

/// Views whose samples are added to a column together, so that it is read and written once for them.
const TOGETHER: usize = 4;

/// Rows are fixed-point numbers in units of 2^-32: integers add exactly, so a voxel's row does not depend on where a slab
/// or a vector begins.
const ROW: f64 = 4_294_967_296.0;
const ROW_BITS: u32 = 32;

/// Adds a batch of views to the slices from `first` on. `filtered` holds them one after the other as
/// [`Layout::Columns`]; the batch must have all rows that the slices need. A thread looks at `watch` every few milliseconds.
///
/// # Errors
/// As [`Watch::run`]; the slices then hold a part of the batch.
#[expect(clippy::too_many_arguments, reason = "the parts of a batch and of a slab")]
pub fn backproject(
    pool: &Pool,
    isa: Isa,
    plan: &Plan,
    batch: Batch<'_>,
    filtered: &[f32],
    first: usize,
    slab: &mut Slab,
    watch: &mut Watch<'_>,
) -> Result<()> {
    if batch.rows == 0 {
        return Ok(());
    }
    let count = slab.count();
    let upright = plan.geometry.is_vertical();
    slab.for_tiles(pool, watch, |place, tile, stride, poll| {
        let task = Task { plan, batch, filtered, first, count, place, tile, stride, poll };
        if upright { dispatch(isa, Upright(task)) } else { dispatch(isa, General(task)) }
    })
}

/// One tile and all views.
pub(super) struct Task<'a> {
    pub plan: &'a Plan,
    pub batch: Batch<'a>,
    pub filtered: &'a [f32],
    pub first: usize,
    pub count: usize,
    pub place: TilePlace,
    pub tile: &'a mut [f32],
    pub stride: usize,
    pub poll: Poll<'a>,
}

/// A task with upright panels only.
pub(super) struct Upright<'a>(pub Task<'a>);

/// The projection of a column of voxels onto the panel of a view.
#[derive(Clone, Copy)]
struct Footprint {
    /// Panel column on the left, -1 to columns - 1.
    column: isize,
    /// Interpolation weight of the column on the right, 0 to 1.
    part: f32,
    /// Weight of the view's samples at this column.
    weight: f32,
    /// Row of the voxel in slice 0 of the volume: positions do not depend on how the volume is cut.
    row: f64,
    /// First row of the batch. It is subtracted last, so that positions do not depend on it either.
    origin: f64,
    /// Rows from one voxel to the next.
    step: f64,
}

impl Footprint {
    /// The footprint of the column (i, j); `None` if it misses the panel sideways. Rows count from `first_row`.
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

    /// The slices from `first + 0` to `first + count - 1` whose rows lie within (-1, rows) of the batch's, as a range
    /// relative to `first`.
    #[inline(always)]
    fn range(&self, rows: f64, first: usize, count: usize) -> Range<usize> {
        let count = count as f64;
        let (mut low, mut high) = (0.0, count);
        let row = self.at(first) - self.origin;
        if self.step == 0.0 {
            if !(row > -1.0 && row < rows) {
                high = 0.0;
            }
        } else {
            let per_row = 1.0 / self.step;
            let (a, b) = ((-1.0 - row) * per_row, (rows - row) * per_row);
            let (near, far) = if a < b { (a, b) } else { (b, a) };
            low = near.floor().max(0.0);
            high = (far.ceil() + 1.0).min(count);
        }
        if high <= low { 0..0 } else { low as usize..high as usize }
    }
}

/// An interpolated column of a view, ready to be sampled.
#[derive(Clone, Copy)]
struct Line {
    /// Range of voxels relative to the first of the block, in whole vectors.
    start: usize,
    end: usize,
    /// Lowest row of the vector at `start`, from the beginning of the interpolated column, and rows from one vector to
    /// the next, both in 2^-32.
    row: i64,
    step: i64,
    /// Rows from one voxel to the next.
    slope: f32,
}

const NO_LINE: Line = Line { start: 0, end: 0, row: 0, step: 0, slope: 0.0 };

impl Kernel<f32> for Upright<'_> {
    type Output = Result<()>;
    #[inline(always)]
    fn run<S: Simd<f32>>(self, simd: S) -> Result<()> {
        let task = self.0;
        let plan = task.plan;
        let samples = Layout::Columns.samples(plan, task.batch.rows);
        // Long enough for a table that begins at the last row.
        let length = column_stride(task.batch.rows) + 64;
        let mut interpolated = vec![0.0f32; TOGETHER * length + CACHE_LINE];
        let start = before_line(&interpolated);
        let interpolated = &mut interpolated[start..];
        let skip = plan.options.edge == Edge::Skip;
        for depth in (0..task.count).step_by(DEPTH) {
            let count = DEPTH.min(task.count - depth);
            let from = task.first + depth;
            for (g, views) in task.batch.views.chunks(TOGETHER).enumerate() {
                // At most 4 x 256 x 256 voxels follow.
                (task.poll)()?;
                for y in 0..task.place.ny {
                    for x in 0..task.place.nx {
                        let (i, j) = ((task.place.x + x) as f64, (task.place.y + y) as f64);
                        let at = (y * TILE + x) * task.stride + depth;
                        let out = &mut task.tile[at..at + count.next_multiple_of(16).min(task.stride - depth)];
                        let mut lines = [NO_LINE; TOGETHER];
                        let mut ready = 0;
                        for (n, &view) in views.iter().enumerate() {
                            let view = &plan.views[view];
                            let Some(foot) = Footprint::new(plan, view, task.batch.first_row, i, j) else { continue };
                            let range = foot.range(task.batch.rows as f64, from, count);
                            if range.is_empty() {
                                continue;
                            }
                            let first = (g * TOGETHER + n) * samples;
                            let filtered = &task.filtered[first..first + samples];
                            let column = &mut interpolated[ready * length..(ready + 1) * length];
                            if skip || foot.step.abs() > WIDEST_STEP {
                                // Flush first, so that views are added in their order whichever path they take.
                                flush(simd, &lines[..ready], interpolated, length, out);
                                ready = 0;
                                add_slowly(plan, task.batch, &foot, filtered, from, range, out);
                                continue;
                            }
                            lines[ready] = line(simd, plan, task.batch, &foot, filtered, from, range, column);
                            ready += 1;
                        }
                        flush(simd, &lines[..ready], interpolated, length, out);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Interpolates between the two panel columns of a voxel column into `interpolated`, for the rows that the voxels
/// `range` need.
#[allow(clippy::too_many_arguments, reason = "an inlined part of a kernel")]
#[inline(always)]
fn line<S: Simd<f32>>(
    simd: S,
    plan: &Plan,
    batch: Batch<'_>,
    foot: &Footprint,
    filtered: &[f32],
    first: usize,
    range: Range<usize>,
    interpolated: &mut [f32],
) -> Line {
    let len = S::V::LEN;
    let stride = column_stride(batch.rows);
    let (start, end) = (range.start / len * len, range.end.next_multiple_of(len));
    let step = (foot.step * ROW).round() as i64;
    let shift = (PAD as i64 - batch.first_row as i64) << ROW_BITS;
    let row = |k: usize| ((foot.row * ROW).round() as i64).wrapping_add(step.wrapping_mul(k as i64)) + shift;
    let whole = |row: i64| usize::try_from(row >> ROW_BITS).unwrap_or(0);
    let (a, b) = (row(first + start), row(first + end - 1));
    // The vectors read only rows within the zero padding: see `WIDEST_STEP`.
    let low = whole(a.min(b)) / len * len;
    let high = (whole(a.max(b)) + 2).next_multiple_of(len).min(stride);
    let left = simd.splat(foot.weight * (1.0 - foot.part));
    let right = simd.splat(foot.weight * foot.part);
    // Columns outside the panel are zero.
    let pick = |c: isize| {
        let c = usize::try_from(c).ok().filter(|c| *c < plan.columns)?;
        filtered.get(c * stride + low..c * stride + high)
    };
    let interpolated = &mut interpolated[low..high];
    match (pick(foot.column), pick(foot.column + 1)) {
        (Some(a), Some(b)) => {
            for ((a, b), out) in a.chunks_exact(len).zip(b.chunks_exact(len)).zip(interpolated.chunks_exact_mut(len)) {
                simd.load(b).mul_add(right, simd.load(a).mul(left)).store(out);
            }
        }
        (Some(a), None) => scale(simd, a, left, interpolated),
        (None, Some(b)) => scale(simd, b, right, interpolated),
        (None, None) => interpolated.fill(0.0),
    }
    // The lowest row of a vector is its first voxel's, or its last voxel's if rows fall.
    let row = row(first + start) + (step * (len as i64 - 1)).min(0);
    Line { start, end, row, step: step * len as i64, slope: foot.step as f32 }
}

#[inline(always)]
fn scale<S: Simd<f32>>(simd: S, from: &[f32], factor: S::V, to: &mut [f32]) {
    for (from, to) in from.chunks_exact(S::V::LEN).zip(to.chunks_exact_mut(S::V::LEN)) {
        simd.load(from).mul(factor).store(to);
    }
}

/// Adds lines to a column of voxels, in their order.
#[inline(always)]
fn flush<S: Simd<f32>>(simd: S, lines: &[Line], interpolated: &[f32], length: usize, out: &mut [f32]) {
    if let Ok(all) = <&[Line; TOGETHER]>::try_from(lines) {
        let start = all.iter().map(|l| l.start).fold(0, usize::max);
        let end = all.iter().map(|l| l.end).fold(usize::MAX, usize::min);
        if start < end {
            // Voxels before and after the common range are in some of the views only.
            for (n, line) in all.iter().enumerate() {
                let column = &interpolated[n * length..(n + 1) * length];
                add(simd, &[*line], [column], line.start..start, out);
                add(simd, &[*line], [column], end..line.end, out);
            }
            let columns = [0, 1, 2, 3].map(|n| &interpolated[n * length..(n + 1) * length]);
            add(simd, all, columns, start..end, out);
            return;
        }
    }
    for (n, line) in lines.iter().enumerate() {
        add(simd, &[*line], [&interpolated[n * length..(n + 1) * length]], line.start..line.end, out);
    }
}

/// Adds N lines to the voxels `range`, in whole vectors.
#[inline(always)]
fn add<S: Simd<f32>, const N: usize>(
    simd: S,
    lines: &[Line; N],
    columns: [&[f32]; N],
    range: Range<usize>,
    out: &mut [f32],
) {
    let len = S::V::LEN;
    let mut numbers = [0.0f32; 16];
    for (n, v) in numbers.iter_mut().enumerate() {
        *v = n as f32;
    }
    let (lanes, zero) = (simd.load(&numbers[..len]), simd.splat(0.0));
    let unit = simd.splat((1.0 / ROW) as f32);
    let mut ramps = [zero; N];
    let mut rows = [0i64; N];
    for n in 0..N {
        let line = &lines[n];
        // Rows of a vector's voxels, relative to the lowest one.
        let low = (line.slope * (len as f32 - 1.0)).min(0.0);
        ramps[n] = lanes.mul_add(simd.splat(line.slope), simd.splat(-low)).max(zero);
        rows[n] = line.row + line.step * ((range.start - line.start) / len) as i64;
    }
    if range.start >= range.end {
        return;
    }
    for out in out[range].chunks_exact_mut(len) {
        let mut sum = simd.load(out);
        for n in 0..N {
            let row = rows[n];
            rows[n] = row + lines[n].step;
            let table = &columns[n][usize::try_from(row >> ROW_BITS).unwrap_or(0)..];
            let part = simd.splat((row & 0xffff_ffff) as f32);
            let position = part.mul_add(unit, ramps[n]);
            sum = sum.add(simd.interpolate(simd.load(table), simd.load(&table[len..]), position));
        }
        sum.store(out);
    }
}

/// Computes single voxels: for steep columns, and for the rule that all four pixels must exist.
#[inline(never)]
fn add_slowly(
    plan: &Plan,
    batch: Batch<'_>,
    foot: &Footprint,
    filtered: &[f32],
    first: usize,
    voxels: Range<usize>,
    out: &mut [f32],
) {
    let rows = plan.geometry.detector.rows as f64;
    let stride = column_stride(batch.rows);
    let skip = plan.options.edge == Edge::Skip;
    let (left, right) = (foot.weight * (1.0 - foot.part), foot.weight * foot.part);
    let sample = |c: isize, place: usize| {
        usize::try_from(c).ok().filter(|c| *c < plan.columns).map_or(0.0, |c| filtered[c * stride + place])
    };
    for k in voxels {
        let row = foot.at(first + k);
        let inside = if skip { row >= 0.0 && row < rows - 1.0 } else { row > -1.0 && row < rows };
        if inside {
            let whole = row.floor();
            let part = (row - whole) as f32;
            let place = (whole - foot.origin + PAD as f64) as usize;
            let near = left * sample(foot.column, place) + right * sample(foot.column + 1, place);
            let far = left * sample(foot.column, place + 1) + right * sample(foot.column + 1, place + 1);
            out[k] += near + part * (far - near);
        }
    }
}
