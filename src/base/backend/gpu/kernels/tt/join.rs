//! Sums of products of two environments.

use super::super::mirrors::TtJoinParams;
use super::super::{constants as c, suffix_of};
use super::sizes::{RESULT_WORDS, STATE_BYTES, SUM_SHARED, sum_blocks};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::to_i64;

/// Partial sums, [`sum_blocks`] of them, of `left[j] * right[j]`, or of `left[j]` alone. With `places` (as
/// [`super::grid()`] leaves them) each environment is one of two, `stride` elements apart.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn join(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    left: Region<'_>,
    right: Option<Region<'_>>,
    (count, stride): (usize, usize),
    states: Region<'_>,
    places: Option<Region<'_>>,
    (conjugate_right, unscaled): (bool, bool),
    results: Region<'_>,
) -> Result<()> {
    let blocks = sum_blocks(count);
    let reach = if places.is_some() { stride.saturating_add(count) } else { count };
    let flag = |on: bool, bit: i32| if on { i64::from(bit) } else { 0 };
    let parameters = TtJoinParams {
        left: left.array("left", reach, dtype.size())?,
        right: right.map_or(Ok(0), |r| r.array("right", reach, dtype.size()))?,
        states: states.array("states", 2 * STATE_BYTES / 8, 8)?,
        places: places.map_or(Ok(0), |p| p.array("places", 2, 4))?,
        results: results.array("results", blocks * RESULT_WORDS, 8)?,
        stride: to_i64(stride),
        count: to_i64(count),
        flags: flag(conjugate_right, c::TT_JOIN_CONJUGATE) | flag(unscaled, c::TT_UNSCALED),
    };
    let kernel = gpu.kernel("tt", &format!("purlin_tt_join_{}", suffix_of(dtype)?))?;
    let grid = Grid::row(u32::try_from(blocks).unwrap_or(1), c::TT_SUM_THREADS.unsigned_abs(), SUM_SHARED);
    // SAFETY: every array was checked; `places` holds 0 or 1, as `grid` wrote them.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}
