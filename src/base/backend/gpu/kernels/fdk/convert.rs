//! Numbers as they come to line integrals.

use super::super::mirrors::FdkConvertParams;
use super::super::{constants as c, optional, product, size};
use super::{COUNTERS, Raw};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::shape::to_i64;

/// Counts of every pixel of a panel.
#[derive(Debug, Clone, Copy)]
pub struct CountImage<'a> {
    /// [columns, panel rows] of F64 or F32.
    pub pixels: Region<'a>,
    /// Whether the pixels are F64. The conversion then computes in double precision.
    pub is_double: bool,
}

/// How counts become line integrals: `p = -ln(max(I - dark, least) / max(open - dark, least))`.
#[derive(Debug, Clone, Copy)]
pub struct Counts<'a> {
    /// Counts without an object, where there is no image of them.
    pub open: f64,
    /// The same by pixel.
    pub open_image: Option<CountImage<'a>>,
    /// Counts without radiation.
    pub dark_image: Option<CountImage<'a>>,
    /// Least count that a logarithm is taken of.
    pub least: f64,
    /// Rows of the whole panel. The call may convert only some of them.
    pub panel_rows: usize,
}

/// Numbers of a view in the table of [`PixelWeights`].
pub const RAY_NUMBERS: usize = size(c::FDK_RAY);

/// Weights of rays that are measured twice, pixel by pixel.
#[derive(Debug, Clone, Copy)]
pub struct PixelWeights<'a> {
    /// F32 `[RAY_NUMBERS, scan]`.
    pub rays: Region<'a>,
    /// Views of the whole scan, rows of the table `rays`.
    pub scan: usize,
    /// I32 `[views]`: the number of each view in the scan.
    pub index: Region<'a>,
    /// Rows of the whole panel. The numbers may be a range of them.
    pub panel_rows: usize,
    /// Parker's weights: half of the excess of the arc over half a circle. Half fan: half width of the strip that both
    /// sides see. Rad.
    pub ramp: f64,
    /// Half fan: the sign of angles on the long side; 0 for Parker's weights.
    pub long_side: f64,
}

/// Measured numbers of some rows and views, on their way to weighted line integrals.
#[derive(Debug, Clone, Copy)]
pub struct Convert<'a> {
    /// [columns, rows, views], packed.
    pub source: Region<'a>,
    /// Type of the numbers of `source`.
    pub number: Raw,
    /// Whether the bytes of each number stand in the other order.
    pub swap: bool,
    /// Columns of the panel. Each row has all of them.
    pub columns: usize,
    /// First row of those that are there.
    pub first_row: usize,
    /// Rows that are there, from `first_row` on.
    pub rows: usize,
    /// Views, of `columns` by `rows` numbers each.
    pub views: usize,
    /// Conversion of counts; `None` if the numbers are line integrals.
    pub counts: Option<Counts<'a>>,
    /// Replace numbers that are not finite by 0.
    pub sanitize: bool,
    /// Largest modulus of a line integral; a larger one is too large, and counts as not finite.
    pub largest: f32,
    /// Weights that multiply the line integrals, if any.
    pub weights: Option<PixelWeights<'a>>,
    /// F32 [columns, rows, views]; may be the source if that is F32. `None` only counts numbers that are not finite.
    pub output: Option<Region<'a>>,
    /// U64 `[COUNTERS]`: the counts of numbers not finite, clamped, too bright and too large are added to these.
    pub counters: Region<'a>,
}

/// Whether an image is there, in double precision.
fn is_double(image: &Option<CountImage<'_>>) -> bool {
    image.is_some_and(|i| i.is_double)
}

impl Convert<'_> {
    /// Enqueues the conversion; does not wait.
    ///
    /// # Errors
    /// [`Error::Internal`] for rows beyond the panel; as for every [launch](crate::backend::gpu::kernels#errors).
    pub fn run(&self, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        let elements = product("projections", &[self.columns, self.rows, self.views])?;
        if self.counts.is_some_and(|k| self.first_row + self.rows > k.panel_rows) {
            return Err(Error::Internal("rows beyond the panel".into()));
        }
        let panel = |k: &Counts<'_>| product("panel", &[self.columns, k.panel_rows]);
        let (mut open_image, mut dark_image) = (0, 0);
        if let Some(k) = &self.counts {
            let image = |name, image: Option<CountImage<'_>>| {
                let bytes = if is_double(&image) { size_of::<f64>() } else { size_of::<f32>() };
                optional(bytes, name, image.map(|i| i.pixels), panel(k)?)
            };
            open_image = image("i0_image", k.open_image)?;
            dark_image = image("dark", k.dark_image)?;
        }
        let (mut rays, mut index) = (0, 0);
        if let Some(w) = &self.weights {
            if self.first_row + self.rows > w.panel_rows {
                return Err(Error::Internal("rows beyond the panel".into()));
            }
            rays = w.rays.array("weights of views", product("weights of views", &[RAY_NUMBERS, w.scan])?, 4)?;
            index = w.index.array("numbers of views", self.views, 4)?;
        }
        let output = self.output.map_or(Ok(0), |o| o.array("line integrals", elements, 4))?;
        let flag = |on, bit| if on { bit } else { 0 };
        let (open_double, dark_double) =
            self.counts.map_or((false, false), |k| (is_double(&k.open_image), is_double(&k.dark_image)));
        // Single precision would round a count of more than 24 bits, or an image in double precision, before the
        // subtraction.
        let is_wide = matches!(self.number, Raw::U32 | Raw::I32 | Raw::F64) || open_double || dark_double;
        let name = match self.counts {
            Some(_) if is_wide => "purlin_fdk_convert_double",
            _ => "purlin_fdk_convert",
        };
        let parameters = FdkConvertParams {
            source: self.source.array("projections", elements, self.number.bytes())?,
            output,
            open_image,
            dark_image,
            counters: self.counters.array("counters", COUNTERS, 8)?,
            rays,
            index,
            columns: to_i64(self.columns),
            rows: to_i64(self.rows),
            views: to_i64(self.views),
            first_row: to_i64(self.first_row),
            panel_rows: self.weights.map_or(0, |w| to_i64(w.panel_rows)),
            ramp: self.weights.map_or(0.0, |w| w.ramp),
            long_side: self.weights.map_or(0.0, |w| w.long_side),
            open: self.counts.map_or(1.0, |k| k.open),
            least: self.counts.map_or(0.0, |k| k.least),
            largest: self.largest,
            reserved: 0,
            number: self.number as i32,
            flags: flag(self.swap, c::FDK_SWAP)
                | flag(self.counts.is_some(), c::FDK_COUNTS)
                | flag(self.sanitize, c::FDK_SANITIZE)
                | flag(open_double, c::FDK_OPEN_DOUBLE)
                | flag(dark_double, c::FDK_DARK_DOUBLE),
        };
        let kernel = gpu.kernel("fdk", name)?;
        let threads = c::FDK_THREADS.unsigned_abs();
        let wanted = Grid::covering(elements.div_ceil(8), threads)?;
        let blocks = wanted.blocks[0].min(kernel.resident_blocks(threads, 0)?);
        // SAFETY: every array was checked against the kernel's extents.
        unsafe { launch(&kernel, stream, Grid::row(blocks, threads, 0), &parameters) }
    }
}
