//! FDK in double precision, written from the formulas. Tests compare the fast kernels with it, and it computes the results
//! of a caller who asks for f64.

use realfft::RealFftPlanner;

use super::ops::Poll;
use super::options::{Edge, Mode};
use super::plan::Plan;
use crate::alloc;
use crate::error::{Error, Result};

/// Weights and filters one view. `projection` holds the panel row by row; `filtered` receives the rows with their added
/// columns.
///
/// # Errors
/// As [`filter_rows`].
pub fn filter_view(plan: &Plan, view: usize, projection: &[f64], filtered: &mut [f64]) -> Result<()> {
    filter_rows(plan, view, 0, projection, filtered, &|| Ok(()))
}

/// The same for the panel rows from `first` on. Looks before and after each transform.
///
/// # Errors
/// The error of `poll`; [`Error::OutOfMemory`]; [`Error::Internal`] if a transform fails.
pub fn filter_rows(
    plan: &Plan,
    view: usize,
    first: usize,
    projection: &[f64],
    filtered: &mut [f64],
    poll: Poll<'_>,
) -> Result<()> {
    let panel = plan.geometry.detector.columns;
    if plan.options.mode == Mode::RabbitCt {
        filtered.copy_from_slice(projection);
        return Ok(());
    }
    let mut planner = RealFftPlanner::<f64>::new();
    let (forward, backward) = (planner.plan_fft_forward(plan.length), planner.plan_fft_inverse(plan.length));
    let mut line = alloc::filled("row of a projection", plan.length, 0.0)?;
    let mut spectrum = forward.make_output_vec();
    let failed = |e: realfft::FftError| Error::Internal(format!("transform of a row: {e}"));
    for (j, (row, out)) in projection.chunks(panel).zip(filtered.chunks_mut(plan.columns)).enumerate() {
        poll()?;
        line.fill(0.0);
        for (i, p) in row.iter().enumerate() {
            let weight = plan.geometry.views[view].weight(i as f64, (first + j) as f64);
            line[plan.left + i] = p * weight * plan.pixel_weight(view, i, first + j);
        }
        extrapolate(plan, &mut line);
        poll()?;
        forward.process(&mut line, &mut spectrum).map_err(failed)?;
        poll()?;
        spectrum.iter_mut().zip(&plan.response).for_each(|(s, r)| *s *= r);
        real_ends(&mut spectrum);
        poll()?;
        backward.process(&mut spectrum, &mut line).map_err(failed)?;
        out.copy_from_slice(&line[..plan.columns]);
    }
    Ok(())
}

/// Makes both ends of a spectrum real. For real samples they are real already; a pixel that is not finite makes them
/// complex, and the inverse transform would return an error instead of passing the NaN on.
fn real_ends(spectrum: &mut [num_complex::Complex64]) {
    if let Some(first) = spectrum.first_mut() {
        first.im = 0.0;
    }
    if let Some(last) = spectrum.last_mut() {
        last.im = 0.0;
    }
}

/// Continues a row smoothly beyond the ends of the panel where the object may be truncated: its mirror image times a falling
/// cosine, stored cyclically.
pub(super) fn extrapolate(plan: &Plan, line: &mut [f64]) {
    let (panel, width, length) = (plan.geometry.detector.columns, plan.extrapolated, plan.length);
    let [on_the_left, on_the_right] = plan.continued();
    for k in 1..=width {
        let fall = 0.5 * (1.0 + (std::f64::consts::PI * k as f64 / (width + 1) as f64).cos());
        let mirror = k.min(panel - 1);
        let (first, last) = (plan.left, plan.left + panel - 1);
        if on_the_left {
            line[(first + length - k) % length] = line[first + mirror] * fall;
        }
        if on_the_right {
            line[(last + k) % length] = line[last - mirror] * fall;
        }
    }
}

/// Voxels that are computed between two looks.
const UNWATCHED: usize = 1 << 14;

/// Adds the back-projection of one filtered view to the slices `first` to `first + count - 1` of the volume, x fastest.
/// Looks every 16 384 voxels.
///
/// # Errors
/// The error of `poll`.
pub fn backproject_view(
    plan: &Plan,
    view: usize,
    filtered: &[f64],
    first: usize,
    volume: &mut [f64],
    poll: Poll<'_>,
) -> Result<()> {
    let [nx, ny, _] = plan.grid.size;
    let (columns, rows) = (plan.columns, plan.geometry.detector.rows);
    let v = &plan.views[view];
    let sample = |i: i64, j: i64| -> Option<f64> {
        let (i, j) = (usize::try_from(i).ok()?, usize::try_from(j).ok()?);
        (i < columns && j < rows).then(|| filtered[j * columns + i])
    };
    for (p, value) in volume.iter_mut().enumerate() {
        if p.is_multiple_of(UNWATCHED) {
            poll()?;
        }
        let voxel = [(p % nx) as f64, (p / nx % ny) as f64, (first + p / (nx * ny)) as f64];
        let w = v.apply(2, voxel);
        let (iu, iv) = (v.apply(0, voxel) / w, v.apply(1, voxel) / w);
        let (i, j) = (iu.floor(), iv.floor());
        let (a, b) = (iu - i, iv - j);
        let taps = [
            (sample(i as i64, j as i64), (1.0 - a) * (1.0 - b)),
            (sample(i as i64 + 1, j as i64), a * (1.0 - b)),
            (sample(i as i64, j as i64 + 1), (1.0 - a) * b),
            (sample(i as i64 + 1, j as i64 + 1), a * b),
        ];
        if plan.options.edge == Edge::Skip && taps.iter().any(|t| t.0.is_none()) {
            continue;
        }
        let sum: f64 = taps.iter().map(|(s, weight)| s.unwrap_or(0.0) * weight).sum();
        *value += v.weight / (w * w) * sum;
    }
    Ok(())
}
