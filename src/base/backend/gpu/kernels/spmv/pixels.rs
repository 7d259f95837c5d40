//! Products with the graph of neighbouring pixels.

use super::super::constants as c;
use super::super::mirrors::SpmvPixelsParams;
use super::Finish;
use super::multiply::kernel;
use crate::backend::gpu::kernels::product;
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::to_i64;

/// Weights of the pairs of neighbouring pixels on the device.
#[derive(Clone, Copy)]
pub struct Pixels<'a> {
    /// For each kind of pair and pixel the weight of the pair that it makes with the pixel ahead, real numbers; 0 where
    /// there is none.
    pub weights: Region<'a>,
    /// I32: rows down and columns to the right of the pixel ahead, for each kind of pair.
    pub offsets: Region<'a>,
    /// Kinds of pairs: columns of `weights`, pairs of numbers in `offsets`.
    pub pairs: usize,
    /// Rows and columns of the image.
    pub size: (usize, usize),
}

/// Computes `finish` of W times `gathered`.
///
/// # Errors
/// [`crate::error::Error::Internal`] for a shift or diagonal in `finish` without x; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn pixels(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    image: Pixels<'_>,
    gathered: Region<'_>,
    finish: &Finish<'_>,
) -> Result<()> {
    let (height, width) = image.size;
    let count = product("pixels", &[height, width])?;
    let weights = product("weights", &[image.pairs, count])?;
    let p = SpmvPixelsParams {
        weights: image.weights.array("weights", weights, dtype.part_size())?,
        offsets: image.offsets.array("offsets", product("offsets", &[2, image.pairs])?, 4)?,
        gathered: gathered.array("x", count, dtype.size())?,
        height: to_i64(height),
        width: to_i64(width),
        pairs: to_i64(image.pairs),
        finish: finish.params(dtype, count)?,
    };
    let function = kernel(dtype, gpu, "pixels", None, false)?;
    // SAFETY: every array was checked against the kernel's extents, and the kernel follows no offset out of the image.
    unsafe { launch(&function, stream, Grid::covering(count, c::SPMV_THREADS.unsigned_abs())?, &p) }
}
