//! Cosine weights and the ramp filter of rows, and their place in images.

use super::super::mirrors::FdkFilterParams;
use super::super::{constants as c, product, size, small};
use super::Layout;
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};

/// Longest transform. The length is a power of two.
pub const MAX_LENGTH: usize = size(c::FDK_MAX_LENGTH);

/// F32 numbers of a view in the filter's table.
pub const FILTER_NUMBERS: usize = size(c::FDK_FILTER_VIEW);

/// A view's numbers in the filter's table: `inverse * (i, j, 1)` is the direction of the ray through pixel (i, j) of a
/// panel of `columns` by `rows`, and its weight is its cosine to `inwards` over the scale of its row. That is the
/// length of a vector that is affine in the row: its value in the panel's middle, and its change with the row. `weight`
/// counts for all rays, `table_row` is the view's row in the table of ray weights.
pub fn filter_numbers(
    inverse: &[[f64; 3]; 3],
    inwards: [f64; 3],
    [scale, slope]: [[f64; 3]; 2],
    (columns, rows): (usize, usize),
    weight: f64,
    table_row: Option<usize>,
) -> [f32; FILTER_NUMBERS] {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let (i, j) = ((columns as f64 - 1.0) / 2.0, (rows as f64 - 1.0) / 2.0);
    let centre: [f64; 3] = std::array::from_fn(|k| inverse[k][0] * i + inverse[k][1] * j + inverse[k][2]);
    // Counted from the centre and scaled to 1 there, f32 has digits to spare.
    let length = dot(centre, centre).sqrt();
    let vector = |column: usize| -> [f64; 3] { std::array::from_fn(|k| inverse[k][column] / length) };
    let (a, b, c) = (vector(0), vector(1), centre.map(|v| v / length));
    let middle = dot(scale, scale);
    let n = inwards.map(|v| v / middle.sqrt());
    // The increase of the squared scale with the row and its square: none but for rounding on a panel that is parallel
    // to the axis.
    let growth = [2.0 * dot(scale, slope) / middle, dot(slope, slope) / middle];
    let most = growth[0].abs() * rows as f64 + growth[1] * (rows as f64).powi(2);
    let [by_row, by_square] = if most > f64::from(f32::EPSILON) { growth } else { [0.0; 2] };
    let numbers = [
        dot(a, n),
        dot(b, n),
        dot(c, n),
        dot(a, a),
        2.0 * dot(a, b),
        dot(b, b),
        2.0 * dot(a, c),
        2.0 * dot(b, c),
        weight,
        table_row.map_or(-1.0, |r| r as f64),
        by_row,
        by_square,
    ];
    numbers.map(|v| v as f32)
}

/// exp(-2 pi i k / length) for every k, real and imaginary parts by turns.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn roots(length: usize) -> Result<Vec<f32>> {
    let mut roots = crate::alloc::with_capacity("roots of unity", 2 * length)?;
    for k in 0..length {
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / length as f64).sin_cos();
        roots.extend([cos as f32, -sin as f32]);
    }
    Ok(roots)
}

/// Factors of the mirror image of a row's end, sample by sample.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn falls(extrapolated: usize) -> Result<Vec<f32>> {
    let mut falls = crate::alloc::with_capacity("extrapolation", extrapolated)?;
    falls.extend((1..=extrapolated).map(|k| {
        let fall = 0.5 * (1.0 + (std::f64::consts::PI * k as f64 / (extrapolated + 1) as f64).cos());
        fall as f32
    }));
    Ok(falls)
}

/// Weights of rays: by view, and by pixel from a table.
#[derive(Debug, Clone, Copy)]
pub struct Rays<'a> {
    /// F32 [[`FILTER_NUMBERS`], scan], from [`filter_numbers`].
    pub views: Region<'a>,
    /// F32 [panel columns, rows of the table], and how many rows there are.
    pub table: Option<(Region<'a>, usize)>,
}

/// The ramp filter as its response to each frequency, for rows padded to `length`.
#[derive(Debug, Clone, Copy)]
pub struct Ramp<'a> {
    /// Length of the transforms: padded samples of a row.
    pub length: usize,
    /// F32 [length / 2 + 1], divided by the length.
    pub response: Region<'a>,
    /// F32 [2, length], from [`roots`].
    pub roots: Region<'a>,
    /// F32, from [`falls`], and how many there are.
    pub fall: Option<(Region<'a>, usize)>,
    /// Whether rows are extrapolated beyond their left end, and beyond their right one.
    pub continued: [bool; 2],
}

/// Rows of a batch of views that are weighted, filtered and placed in images.
#[derive(Debug, Clone, Copy)]
pub struct Filter<'a> {
    /// F32 [columns, stored rows, views].
    pub input: Region<'a>,
    /// I32: numbers of the views in the scan, below `scan`.
    pub index: Region<'a>,
    /// Views that are filtered: those of `input` and `index`.
    pub batch: usize,
    /// Views of the whole scan, rows of the table [`Rays::views`].
    pub scan: usize,
    /// Columns of the panel and of `input`.
    pub columns: usize,
    /// Rows of the whole panel. A batch may have a range of them.
    pub panel_rows: usize,
    /// Columns added on the left of the panel's.
    pub added_left: usize,
    /// Weights; `None` leaves them at 1.
    pub rays: Option<Rays<'a>>,
    /// Ramp; `None` only places the rows.
    pub ramp: Option<Ramp<'a>>,
    /// Largest modulus of a pixel; a larger one counts as NaN, as one that is not finite does.
    pub largest: f32,
    /// F32: an image of `layout` for each view.
    pub output: Region<'a>,
    /// How they lie. Everything around the rows is set to 0.
    pub layout: Layout,
}

impl Filter<'_> {
    /// Enqueues the filter of all rows of the batch; does not wait.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a length that is not a power of two from 16 to [`MAX_LENGTH`]; [`Error::Internal`]
    /// for rows that do not fit into the transforms, the panel or the images; as for every
    /// [launch](crate::backend::gpu::kernels#errors).
    pub fn run(&self, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        self.layout.check()?;
        let l = &self.layout;
        let (length, extrapolated) =
            self.ramp.as_ref().map_or((0, 0), |r| (r.length, r.fall.as_ref().map_or(0, |f| f.1)));
        if self.ramp.is_some() && (!length.is_power_of_two() || !(16..=MAX_LENGTH).contains(&length)) {
            return Err(Error::NotSupported(format!(
                "fft_length: is {length}, the GPU takes powers of two from 16 to {MAX_LENGTH}"
            )));
        }
        let fits = self.added_left + self.columns <= l.columns
            && (self.ramp.is_none() || l.columns + 2 * extrapolated <= length)
            && l.first_row + l.rows <= self.panel_rows;
        if !fits || self.columns == 0 {
            return Err(Error::Internal("rows that do not fit into the filter's".into()));
        }
        let numbers = |r: &Rays<'_>| r.views.array("views", product("views", &[FILTER_NUMBERS, self.scan])?, 4);
        let table = |r: &Rays<'_>| {
            r.table
                .as_ref()
                .map_or(Ok(0), |t| t.0.array("ray weights", product("ray weights", &[self.columns, t.1])?, 4))
        };
        let [on_the_left, on_the_right] = self.ramp.as_ref().map_or([false; 2], |r| r.continued);
        let flags = [
            (self.rays.is_some(), c::FDK_WEIGH),
            (on_the_left, c::FDK_CONTINUE_LEFT),
            (on_the_right, c::FDK_CONTINUE_RIGHT),
        ];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum();
        let parameters = FdkFilterParams {
            input: self.input.array("projections", product("projections", &[self.columns, l.rows, self.batch])?, 4)?,
            output: self.output.array("filtered", product("filtered", &[l.samples(), self.batch])?, 4)?,
            index: self.index.array("index", self.batch, 4)?,
            views: self.rays.as_ref().map_or(Ok(0), numbers)?,
            ray_weights: self.rays.as_ref().map_or(Ok(0), table)?,
            response: self.ramp.as_ref().map_or(Ok(0), |r| r.response.array("response", length / 2 + 1, 4))?,
            roots: self.ramp.as_ref().map_or(Ok(0), |r| r.roots.array("roots", length, 8))?,
            fall: self
                .ramp
                .as_ref()
                .and_then(|r| r.fall.as_ref())
                .map_or(Ok(0), |f| f.0.array("extrapolation", f.1, 4))?,
            columns: small("detector_columns", self.columns)?,
            panel_rows: small("detector_rows", self.panel_rows)?,
            first_row: small("first row", l.first_row)?,
            rows: small("rows", l.rows)?,
            output_columns: small("columns", l.columns)?,
            added_left: small("added columns", self.added_left)?,
            extrapolated: small("extrapolation", extrapolated)?,
            length: small("fft_length", length)?,
            left: small("border", l.left)?,
            top: small("border", l.top)?,
            pitch: small("pitch", l.pitch)?,
            height: small("height", l.height)?,
            batch: small("batch", self.batch)?,
            flags,
            largest: self.largest,
            reserved: 0,
        };
        let blocks = |n: usize| {
            let problem =
                || Error::NotSupported(format!("projections: {n} rows or views in a launch, at most {}", u32::MAX));
            u32::try_from(n).map_err(|_| problem())
        };
        let (pairs, views) = (l.height.div_ceil(2), blocks(self.batch)?);
        let (name, grid) = if length == 0 {
            let grid = Grid { blocks: [blocks(pairs)?, views, 1], threads: c::FDK_THREADS.unsigned_abs(), shared: 0 };
            ("purlin_fdk_place".into(), grid)
        } else {
            let groups = blocks(pairs.div_ceil(size(c::FDK_FILTER_PAIRS)))?;
            let threads = u32::try_from(length / 16).unwrap_or(u32::MAX).max(32);
            let response = if length <= size(c::FDK_FILTER_STORED) { 4 * length } else { 0 };
            let grid = Grid { blocks: [groups, views, 1], threads, shared: 8 * (length + length / 16) + response };
            (format!("purlin_fdk_filter_{}", length.ilog2()), grid)
        };
        let kernel = gpu.kernel("fdk", &name)?;
        // SAFETY: every array was checked against the kernel's extents; the numbers of the views are below `scan` and those
        // of table rows inside the table by the caller's word.
        unsafe { launch(&kernel, stream, grid, &parameters) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_s_numbers_give_the_weights_of_its_rays() {
        // A panel 1000 mm from the source at (500, 0, 0), pixels of 2 mm, 5 columns by 3 rows: upright, and turned about its
        // middle row and then about its normal.
        let inwards = [-1.0, 0.0, 0.0];
        for (pitch, roll) in [(0.0f64, 0.0f64), (0.4, 0.0), (-0.3, 0.2)] {
            let ((sp, cp), (sr, cr)) = (pitch.sin_cos(), roll.sin_cos());
            let (flat, up) = ([0.0, 1.0, 0.0], [-sp, 0.0, cp]);
            let u: [f64; 3] = std::array::from_fn(|k| 2.0 * (cr * flat[k] + sr * up[k]));
            let v: [f64; 3] = std::array::from_fn(|k| 2.0 * (cr * up[k] - sr * flat[k]));
            let pixel = |i: f64, j: f64| -> [f64; 3] {
                std::array::from_fn(|k| 1000.0 * inwards[k] + (i - 2.0) * u[k] + (j - 1.0) * v[k])
            };
            // Rays of length 1 along the panel's normal.
            let depth = 1000.0 * cp;
            let inverse: [[f64; 3]; 3] = std::array::from_fn(|k| [u[k], v[k], pixel(0.0, 0.0)[k]].map(|x| x / depth));
            // Scales of a panel that is turned about its rows and then about its normal: the row as seen from the source on
            // a panel across the line to the axis.
            let step = |j: f64| -> [f64; 3] {
                let (p, q) = (pixel(0.0, j), pixel(1.0, j));
                [0.0, p[0] * q[1] - p[1] * q[0], p[0] * q[2] - p[2] * q[0]].map(|x| x / (2.0 * depth))
            };
            let (first, middle) = (step(0.0), step(1.0));
            let terms = [middle, std::array::from_fn(|k| middle[k] - first[k])];
            let n = filter_numbers(&inverse, inwards, terms, (5, 3), 0.5, Some(7));
            for (i, j) in [(0.0f64, 0.0f64), (4.0, 2.0), (1.0, 0.0), (2.0, 1.0)] {
                let ray = pixel(i, j);
                let length = ray.iter().map(|r| r * r).sum::<f64>().sqrt();
                let scale = step(j).iter().map(|r| r * r).sum::<f64>().sqrt();
                let want = -ray[0] / length / scale;
                let (x, y) = ((i - 2.0) as f32, (j - 1.0) as f32);
                let along = n[0] * x + n[1] * y + n[2];
                let square = n[3] * x * x + n[4] * x * y + n[5] * y * y + n[6] * x + n[7] * y + 1.0;
                let got = along / square.sqrt() / (1.0 + n[10] * y + n[11] * y * y).sqrt();
                assert!((f64::from(got) - want).abs() < 1e-6, "{pitch} {roll}: {got} for {want}");
            }
            assert_eq!((n[8], n[9], n[10] == 0.0), (0.5, 7.0, pitch == 0.0));
        }
    }

    #[test]
    fn tables_are_what_they_say() {
        let r = roots(8).unwrap();
        assert_eq!((r[0], r[1], r[5]), (1.0, 0.0, -1.0));
        assert!((r[2] - 0.5f32.sqrt()).abs() < 1e-7 && (r[3] + 0.5f32.sqrt()).abs() < 1e-7);
        let f = falls(3).unwrap();
        assert!((f[1] - 0.5).abs() < 1e-7 && f[0] > f[1] && f[1] > f[2] && f[2] > 0.0);
    }
}
