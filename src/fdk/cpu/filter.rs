//! Weighting and filtering of rows, many views at a time.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::limits::fits;
use super::super::ops::{Poll, Watch};
use super::super::options::Mode;
pub use super::super::plan::Batch;
use super::super::plan::Plan;
use super::convolution::Convolution;
use super::layout::{PAD, column_stride};
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::cpu::simd::{Kernel, Lanes, Simd, dispatch};
use crate::backend::cpu::{Isa, Pool};
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::error::Result;
use crate::progress::CancelWatch;
use crate::shape::to_u64;

/// Most rows that are filtered together: the lanes of the widest vector.
const GROUP: usize = 16;

/// Samples of a group of rows that are written between two looks.
const PIECE: usize = 1 << 17;

/// Pixels of rows that are weighted or converted between two checks for a cancellation.
const UNWATCHED: usize = 1 << 14;

/// Storage order of filtered views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Row after row, `plan.columns` samples each.
    Rows,
    /// Column after column of `column_stride(rows)` samples, in which the rows follow [`PAD`] zeros: for back-projection.
    Columns,
}

impl Layout {
    /// Samples of a view with `rows` rows.
    pub fn samples(self, plan: &Plan, rows: usize) -> usize {
        match self {
            Self::Rows => plan.columns * rows,
            Self::Columns => plan.columns * column_stride(rows),
        }
    }
}

/// Response and tables of a scan, shared by all threads.
pub struct Filter {
    isa: Isa,
    convolution: Convolution,
    /// Whether rows are weighted first.
    weighs: bool,
    numbers: Vec<f32>,
    /// Factors of the extrapolation beyond the ends of a row.
    falls: Vec<f32>,
}

/// Buffers of one thread for the rows that it filters together.
struct Scratch {
    /// Rows in the interleaved order of the convolution.
    rows: Vec<f32>,
    /// One row of a view, padded to the plan's length.
    line: Vec<f32>,
    spare: Vec<f32>,
    ray_weights: Vec<f32>,
}

impl Filter {
    /// The filter of a scan.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn new(isa: Isa, plan: &Plan) -> Result<Self> {
        let convolution = Convolution::new(plan.length, &plan.response)?;
        let numbers = numbers(plan.geometry.detector.columns)?;
        Ok(Self { isa, convolution, weighs: true, numbers, falls: falls(plan.extrapolated)? })
    }

    /// The ramp filter without weighting, for rows that are weighted already.
    ///
    /// # Errors
    /// As [`Filter::new`].
    pub fn ramp_only(isa: Isa, plan: &Plan) -> Result<Self> {
        Ok(Self { weighs: false, ..Self::new(isa, plan)? })
    }

    /// Bytes of the tables and of the buffers of all threads.
    pub fn bytes(plan: &Plan, threads: usize) -> u64 {
        let [tables, spare] = Convolution::bytes(plan.length, GROUP);
        let columns = plan.geometry.detector.columns;
        let tables = tables + size_of::<f32>() * (columns + plan.extrapolated);
        let of_thread = spare + size_of::<f32>() * ((GROUP + 1) * plan.length + columns);
        to_u64(tables).saturating_add(to_u64(threads).saturating_mul(to_u64(of_thread)))
    }

    /// Charges [`Filter::bytes`] for the threads of a context.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`] with the context's limit.
    pub fn charge(context: &Context, plan: &Plan) -> Result<Charge> {
        let bytes = usize::try_from(Self::bytes(plan, context.pool().threads())).unwrap_or(usize::MAX);
        context.host_budget().charge_host("transforms of rows", bytes)
    }

    fn scratch(&self, plan: &Plan, poll: Poll<'_>) -> Result<Scratch> {
        let all = GROUP * plan.length;
        let mut rows = alloc::with_capacity("rows of a projection", all)?;
        while rows.len() < all {
            poll()?;
            rows.resize(all.min(rows.len() + GROUP * PIECE), 0.0);
        }
        Ok(Scratch {
            rows,
            line: alloc::filled("row of a projection", plan.length, 0.0)?,
            spare: alloc::filled("buffer of a transform", self.convolution.spare(GROUP), 0.0)?,
            ray_weights: alloc::filled("weights of rays", plan.geometry.detector.columns, 0.0)?,
        })
    }

    /// Filters a batch: `input` holds its views' rows one after the other, `output` receives them in `layout`. Every sample of
    /// the output is written. Returns how many pixels were not finite or beyond [`Plan::largest_pixel`]; they count as
    /// [`Options::not_finite`]. A thread looks at
    /// `watch` every few milliseconds, however long the rows are.
    ///
    /// [`Options::not_finite`]: crate::fdk::options::Options::not_finite
    ///
    /// # Errors
    /// As [`Watch::run`]; out of memory.
    pub fn run(
        &self,
        pool: &Pool,
        plan: &Plan,
        batch: Batch<'_>,
        input: &[f32],
        (layout, output): (Layout, &mut [f32]),
        watch: &mut Watch<'_>,
    ) -> Result<u64> {
        if batch.rows == 0 {
            return Ok(0);
        }
        let bad = AtomicU64::new(0);
        watch.run(pool, |poll| {
            output
                .par_chunks_mut(layout.samples(plan, batch.rows))
                .zip(input.par_chunks(plan.geometry.detector.columns * batch.rows))
                .zip(batch.views)
                .try_for_each_init(
                    || self.scratch(plan, poll),
                    |scratch, ((out, projection), &view)| {
                        let work = View { filter: self, plan, view, batch, projection, layout, out, scratch, poll };
                        bad.fetch_add(dispatch(self.isa, work)?, Ordering::Relaxed);
                        Ok(())
                    },
                )
        })?;
        Ok(bad.into_inner())
    }
}

/// One view of [`Filter::run`]; its output is the number of pixels that were not finite.
struct View<'a> {
    filter: &'a Filter,
    plan: &'a Plan,
    view: usize,
    batch: Batch<'a>,
    projection: &'a [f32],
    layout: Layout,
    out: &'a mut [f32],
    scratch: &'a mut Scratch,
    poll: Poll<'a>,
}

impl Kernel<f32> for View<'_> {
    type Output = Result<u64>;
    #[inline(always)]
    fn run<S: Simd<f32>>(self, simd: S) -> Result<u64> {
        let Self { filter, plan, view, batch, projection, layout, out, scratch, poll } = self;
        let (lanes, rows, stride) = (S::V::LEN.min(GROUP), batch.rows, column_stride(batch.rows));
        let Scratch { rows: group, line, spare, ray_weights } = scratch;
        let group = &mut group[..lanes * plan.length];
        weigh_columns(plan, view, ray_weights);
        if layout == Layout::Columns {
            for column in out.chunks_mut(stride) {
                column[..PAD].fill(0.0);
                column[PAD + rows..].fill(0.0);
            }
        }
        let panel = plan.geometry.detector.columns;
        // The rest of a line is zero, unless the row is extrapolated.
        let used = if plan.extrapolated == 0 { plan.left..plan.left + panel } else { 0..plan.length };
        let mut bad = 0;
        for first in (0..rows).step_by(lanes) {
            let count = lanes.min(rows - first);
            for group in group.chunks_mut(lanes * PIECE) {
                poll()?;
                group.fill(0.0);
            }
            let sources = projection[first * panel..(first + count) * panel].chunks_exact(panel);
            for (r, source) in sources.enumerate() {
                let j = batch.first_row + first + r;
                weigh_pixels(plan, view, j, ray_weights);
                bad += prepare(filter, plan, view, j, source, ray_weights, line);
                let group = &mut group[used.start * lanes..used.end * lanes];
                for (group, line) in group.chunks_mut(lanes * PIECE).zip(line[used.clone()].chunks(PIECE)) {
                    poll()?;
                    for (samples, value) in group.chunks_exact_mut(lanes).zip(line) {
                        samples[r] = *value;
                    }
                }
            }
            if plan.options.mode == Mode::Fdk {
                filter.convolution.run(simd, group, spare, poll)?;
            }
            let columns = group.chunks_exact(lanes).take(plan.columns);
            match layout {
                Layout::Rows => {
                    let out = &mut out[first * plan.columns..(first + count) * plan.columns];
                    for (i, samples) in columns.enumerate() {
                        for (r, sample) in samples[..count].iter().enumerate() {
                            out[r * plan.columns + i] = *sample;
                        }
                    }
                }
                Layout::Columns => {
                    for (column, samples) in out.chunks_exact_mut(stride).zip(columns) {
                        column[PAD + first..PAD + first + count].copy_from_slice(&samples[..count]);
                    }
                }
            }
        }
        Ok(bad)
    }
}

/// Prepares panel row `j` for the filter: copies it between zeros, weights it and extrapolates it. Returns how many pixels
/// were not finite or too large.
#[inline(always)]
fn prepare(
    filter: &Filter,
    plan: &Plan,
    view: usize,
    j: usize,
    source: &[f32],
    ray_weights: &[f32],
    line: &mut [f32],
) -> u64 {
    let end = plan.left + source.len();
    line[..plan.left].fill(0.0);
    line[end..].fill(0.0);
    let inner = &mut line[plan.left..end];
    inner.copy_from_slice(source);
    // A power of two of at least 1, which f32 holds.
    let largest = plan.largest_single();
    let bad = inner.iter().map(|p| u64::from(!fits(*p, largest))).sum();
    if bad > 0 {
        let substitute = plan.options.not_finite() as f32;
        inner.iter_mut().filter(|p| !fits(**p, largest)).for_each(|p| *p = substitute);
    }
    if plan.options.mode == Mode::RabbitCt {
        return bad;
    }
    if filter.weighs {
        weigh(plan, view, j, ray_weights, &filter.numbers, inner);
    }
    extrapolate(plan, &filter.falls, line);
    bad
}

/// 0, 1, 2 ...: the columns of a panel.
fn numbers(columns: usize) -> Result<Vec<f32>> {
    let mut numbers = alloc::with_capacity("numbers of the columns", columns)?;
    numbers.extend((0..columns).map(|i| i as f32));
    Ok(numbers)
}

/// The weights of a view's rays by column, for rows with equal weights.
fn weigh_columns(plan: &Plan, view: usize, ray_weights: &mut [f32]) {
    ray_weights.iter_mut().enumerate().for_each(|(i, w)| *w = plan.ray_weight(view, i) as f32);
}

/// The weights of the rays through row `j`, if they depend on the row.
fn weigh_pixels(plan: &Plan, view: usize, j: usize, ray_weights: &mut [f32]) {
    if plan.scan.is_by_pixel {
        ray_weights.iter_mut().enumerate().for_each(|(i, w)| *w = plan.pixel_weight(view, i, j) as f32);
    }
}

/// Multiplies a row with [`View::weight`](crate::fdk::geometry::View::weight) of each ray, and with the rays' weights.
///
/// The ray through column i is affine in i, so its products with directions are affine and its squared length quadratic.
#[inline(always)]
fn weigh(plan: &Plan, view: usize, j: usize, ray_weights: &[f32], numbers: &[f32], row: &mut [f32]) {
    let v = &plan.geometry.views[view];
    let along: [f64; 3] = std::array::from_fn(|k| v.inverse[k][0]);
    let start: [f64; 3] = std::array::from_fn(|k| v.inverse[k][1] * j as f64 + v.inverse[k][2]);
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let (inwards, scale) = (v.inwards(), v.row_scale(j as f64));
    let (s1, s0) = ((dot(along, inwards) / scale) as f32, (dot(start, inwards) / scale) as f32);
    let (q2, q1) = (dot(along, along) as f32, (2.0 * dot(along, start)) as f32);
    let q0 = dot(start, start) as f32;
    // The numerator and the root stay near their values at the row's middle, so f32 is accurate enough.
    for ((p, w), i) in row.iter_mut().zip(ray_weights).zip(numbers) {
        *p *= (s1 * i + s0) / ((q2 * i + q1) * i + q0).sqrt() * w;
    }
}

/// Rows of so many columns that a thread works on between two checks for a cancellation, at least one.
pub fn unwatched_rows(columns: usize) -> usize {
    (UNWATCHED / columns.max(1)).max(1)
}

/// Multiplies whole views, row after row, with the weights of their rays. Pixels that are not finite become NaN.
///
/// # Errors
/// [`Error::Cancelled`](crate::error::Error::Cancelled) within a view; out of memory.
pub fn weigh_rows(
    pool: &Pool,
    plan: &Plan,
    views: &[usize],
    input: &[f32],
    weighted: &mut [f32],
    cancel: CancelWatch<'_>,
) -> Result<()> {
    let (columns, rows) = (plan.geometry.detector.columns, plan.geometry.detector.rows);
    let (numbers, unwatched) = (numbers(columns)?, unwatched_rows(columns));
    pool.run(|| {
        let images = weighted.par_chunks_mut(columns * rows).zip(input.par_chunks(columns * rows));
        images.zip(views).try_for_each_init(
            || alloc::filled("weights of rays", columns, 0f32),
            |weights, ((image, input), &view)| {
                weigh_columns(plan, view, weights);
                for (j, (row, input)) in image.chunks_mut(columns).zip(input.chunks(columns)).enumerate() {
                    if j.is_multiple_of(unwatched) {
                        cancel.check()?;
                    }
                    row.iter_mut().zip(input).for_each(|(p, q)| *p = if q.is_finite() { *q } else { f32::NAN });
                    weigh_pixels(plan, view, j, weights);
                    weigh(plan, view, j, weights, &numbers, row);
                }
                Ok(())
            },
        )
    })
}

/// Converts the rows of one filtered view to [`Layout::Columns`].
pub fn to_columns(plan: &Plan, rows: usize, filtered: &[f32], out: &mut [f32]) {
    let stride = column_stride(rows);
    for (i, column) in out.chunks_mut(stride).enumerate() {
        column.fill(0.0);
        for (r, sample) in column[PAD..PAD + rows].iter_mut().enumerate() {
            *sample = filtered[r * plan.columns + i];
        }
    }
}

/// Factors of a row's values 1, 2 ... `width` samples beyond its end: a raised cosine.
fn falls(width: usize) -> Result<Vec<f32>> {
    let fall = |k: usize| 0.5 * (1.0 + (std::f64::consts::PI * k as f64 / (width + 1) as f64).cos());
    let mut falls = alloc::with_capacity("extrapolation", width)?;
    falls.extend((1..=width).map(|k| fall(k) as f32));
    Ok(falls)
}

/// The extrapolation of the reference implementation, in f32.
fn extrapolate(plan: &Plan, falls: &[f32], line: &mut [f32]) {
    let (panel, length) = (plan.geometry.detector.columns, plan.length);
    let (first, last) = (plan.left, plan.left + panel - 1);
    let [on_the_left, on_the_right] = plan.continued();
    for (k, fall) in (1..).zip(falls) {
        let mirror = k.min(panel - 1);
        if on_the_left {
            line[(first + length - k) % length] = line[first + mirror] * fall;
        }
        if on_the_right {
            line[(last + k) % length] = line[last - mirror] * fall;
        }
    }
}

/// [`Filter::run`] that nobody cancels.
#[cfg(test)]
pub(super) fn unwatched(
    filter: &Filter,
    pool: &Pool,
    plan: &Plan,
    batch: Batch<'_>,
    input: &[f32],
    layout: Layout,
    output: &mut [f32],
) -> Result<u64> {
    let flag = crate::progress::Progress::none().flag();
    filter.run(pool, plan, batch, input, (layout, output), &mut Watch { flag: &flag, wait: &mut || Ok(()) })
}

#[cfg(test)]
mod tests {
    use super::super::super::options::Options;
    use super::super::super::reference;
    use super::super::super::tests::golden::{GRID, case};
    use super::*;
    use crate::error::Error;

    #[test]
    fn rows_agree_with_the_reference_in_both_layouts() {
        let pool = Pool::new(2).unwrap();
        for (name, truncation) in [("full", 0.0), ("short", 0.3), ("displaced", 0.0), ("displaced", 0.4), ("carm", 1.0)]
        {
            let case = case(name);
            let plan = Plan::new(case.geometry, GRID, Options { truncation, ..Options::default() }).unwrap();
            let filter = Filter::new(Isa::detect(), &plan).unwrap();
            let views = [3usize, 0, 50];
            let panel = plan.panel_pixels();
            let input: Vec<f32> = views
                .iter()
                .flat_map(|v| case.projections[v * panel..(v + 1) * panel].iter().map(|p| *p as f32))
                .collect();
            let rows = plan.geometry.detector.rows;
            let mut by_rows = vec![f32::NAN; 3 * Layout::Rows.samples(&plan, rows)];
            let mut by_columns = vec![f32::NAN; 3 * Layout::Columns.samples(&plan, rows)];
            let batch = Batch { views: &views, first_row: 0, rows };
            assert_eq!(unwatched(&filter, &pool, &plan, batch, &input, Layout::Rows, &mut by_rows).unwrap(), 0);
            unwatched(&filter, &pool, &plan, batch, &input, Layout::Columns, &mut by_columns).unwrap();
            let mut want = vec![0.0; plan.filtered_pixels()];
            for (n, &view) in views.iter().enumerate() {
                reference::filter_view(&plan, view, &case.projections[view * panel..(view + 1) * panel], &mut want)
                    .unwrap();
                let scale = want.iter().fold(0f64, |m, w| m.max(w.abs()));
                for (p, w) in want.iter().enumerate() {
                    let (i, j) = (p % plan.columns, p / plan.columns);
                    let a = by_rows[n * plan.filtered_pixels() + p];
                    let stride = column_stride(rows);
                    let b = by_columns[n * Layout::Columns.samples(&plan, rows) + i * stride + PAD + j];
                    assert_eq!(a, b);
                    // An f32 transform of length L errs by a few eps log2(L) of the row's largest value.
                    assert!((f64::from(a) - w).abs() <= 2e-6 * scale, "{name}: {a} {w}");
                }
            }
            let stride = column_stride(rows);
            assert!(by_columns.chunks(stride).all(|c| c[..PAD].iter().chain(&c[PAD + rows..]).all(|s| *s == 0.0)));
        }
    }

    #[test]
    fn a_half_fan_is_continued_on_its_long_side_alone() {
        // The left side is the short one: beyond it nothing is truncated, the other side of the circle measures it.
        let case = case("displaced");
        let filtered = |impulse: usize, truncation: f64| {
            let options = Options { truncation, fft_length: 256, ..Options::default() };
            let plan = Plan::new(case.geometry.clone(), GRID, options).unwrap();
            assert!((plan.scan.extra_left, plan.scan.extra_right) == (48, 0) && plan.length == 256);
            let filter = Filter::ramp_only(Isa::detect(), &plan).unwrap();
            let rows = plan.geometry.detector.rows;
            let mut input = vec![0f32; plan.panel_pixels()];
            (0..rows).for_each(|j| input[j * 48 + impulse] = 1.0);
            let mut out = vec![f32::NAN; plan.filtered_pixels()];
            let batch = Batch { views: &[0], first_row: 0, rows };
            unwatched(&filter, &Pool::new(1).unwrap(), &plan, batch, &input, Layout::Rows, &mut out).unwrap();
            out
        };
        assert!(filtered(5, 0.3) == filtered(5, 0.0));
        assert!(filtered(42, 0.3) != filtered(42, 0.0));
    }

    #[test]
    fn pixels_that_are_not_finite_are_replaced_and_counted() {
        let case = case("full");
        let plan = Plan::new(case.geometry, GRID, Options { sanitize: true, ..Options::default() }).unwrap();
        let mut input: Vec<f32> = case.projections[..plan.panel_pixels()].iter().map(|p| *p as f32).collect();
        input[100] = f32::NAN;
        input[2000] = f32::INFINITY;
        let mut out = vec![f32::NAN; plan.filtered_pixels()];
        let filter = Filter::new(Isa::detect(), &plan).unwrap();
        let pool = Pool::new(1).unwrap();
        let batch = Batch { views: &[0], first_row: 0, rows: plan.geometry.detector.rows };
        assert_eq!(unwatched(&filter, &pool, &plan, batch, &input, Layout::Rows, &mut out).unwrap(), 2);
        assert!(out.iter().all(|v| v.is_finite()));
    }

    #[test]
    fn some_rows_are_filtered_as_all_are() {
        let case = case("carm");
        let plan = Plan::new(case.geometry, GRID, Options::default()).unwrap();
        let (pool, filter) = (Pool::new(1).unwrap(), Filter::new(Isa::detect(), &plan).unwrap());
        let (panel, rows) = (plan.geometry.detector.columns, plan.geometry.detector.rows);
        let input: Vec<f32> = case.projections[..plan.panel_pixels()].iter().map(|p| *p as f32).collect();
        let mut all = vec![f32::NAN; plan.filtered_pixels()];
        unwatched(&filter, &pool, &plan, Batch { views: &[0], first_row: 0, rows }, &input, Layout::Rows, &mut all)
            .unwrap();
        let mut some = vec![f32::NAN; 7 * plan.columns];
        let batch = Batch { views: &[0], first_row: 20, rows: 7 };
        unwatched(&filter, &pool, &plan, batch, &input[20 * panel..27 * panel], Layout::Rows, &mut some).unwrap();
        assert!(some == all[20 * plan.columns..27 * plan.columns]);
    }

    #[test]
    fn a_cancellation_is_heard_within_a_view() {
        let case = case("full");
        let plan = Plan::new(case.geometry, GRID, Options { fft_length: 4096, ..Options::default() }).unwrap();
        let input: Vec<f32> = case.projections[..plan.panel_pixels()].iter().map(|p| *p as f32).collect();
        let rows = plan.geometry.detector.rows;
        let batch = Batch { views: &[0], first_row: 0, rows };
        let filter = Filter::new(Isa::detect(), &plan).unwrap();
        let run = |poll: Poll<'_>, out: &mut [f32]| {
            let mut scratch = filter.scratch(&plan, poll)?;
            let (layout, scratch) = (Layout::Rows, &mut scratch);
            let view =
                View { filter: &filter, plan: &plan, view: 0, batch, projection: &input, layout, out, scratch, poll };
            dispatch(filter.isa, view)
        };
        let mut want = vec![f32::NAN; plan.filtered_pixels()];
        unwatched(&filter, &Pool::new(1).unwrap(), &plan, batch, &input, Layout::Rows, &mut want).unwrap();
        let mut out = vec![f32::NAN; plan.filtered_pixels()];
        let looks = AtomicU64::new(0);
        let count = || {
            looks.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        assert_eq!(run(&count, &mut out), Ok(0));
        assert!(out == want);
        // Once for each row and for each pass of a transform of 2048 complex numbers there and back.
        let all = looks.swap(0, Ordering::Relaxed);
        let groups = rows.div_ceil(GROUP);
        assert!(all > to_u64(rows + 2 * 6 * groups), "{all}");
        // No look follows one that says that the run is cancelled.
        for last in (1..=all).step_by(7) {
            let cancel = || {
                let is_last = looks.fetch_add(1, Ordering::Relaxed) + 1 == last;
                if is_last { Err(Error::Cancelled) } else { Ok(()) }
            };
            assert_eq!(run(&cancel, &mut out), Err(Error::Cancelled));
            assert_eq!(looks.swap(0, Ordering::Relaxed), last);
        }
    }
}
