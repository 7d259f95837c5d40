//! Complex numbers from real ones.

use super::super::mirrors::TtPromoteParams;
use super::super::{constants as c, suffix_of};
use super::sizes::over;
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::to_i64;

/// Complex numbers with the given real parts, which are of type `dtype`.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn promote(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    count: usize,
    input: Region<'_>,
    output: Region<'_>,
) -> Result<()> {
    let parameters = TtPromoteParams {
        input: input.array("input", count, dtype.size())?,
        output: output.array("output", count, 2 * dtype.size())?,
        count: to_i64(count),
    };
    let kernel = gpu.kernel("tt", &format!("purlin_tt_promote_{}", suffix_of(dtype)?))?;
    let grid = Grid { blocks: over(count), threads: c::TT_SUM_THREADS.unsigned_abs(), shared: 0 };
    // SAFETY: both arrays were checked.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}
