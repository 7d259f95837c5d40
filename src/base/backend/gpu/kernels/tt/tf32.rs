//! The kernel of `cuda/tt_tf32.cu`: f32 matrices as sums of two that TF32 has.

use super::super::mirrors::TtTf32SplitParams;
use super::super::{constants as c, filling, product, size};
use crate::backend::gpu::launch::launch;
use crate::backend::gpu::{Gpu, GpuStream, View};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

/// Writes f32 numbers as `high` + `low`, packed matrices of the same shape.
///
/// # Errors
/// [`Error::Internal`] for parts that are not packed or of another shape; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn split(gpu: &Gpu, stream: &GpuStream, numbers: View<'_>, [high, low]: [View<'_>; 2]) -> Result<()> {
    let (rows, cols) = (numbers.rows, numbers.cols);
    for part in [&high, &low] {
        if (part.rows, part.cols, part.ld) != (rows, cols, rows) {
            let (m, n) = (part.rows, part.cols);
            return Err(Error::Internal(format!("{rows} x {cols} numbers split into {m} x {n}")));
        }
    }
    let count = product("numbers", &[rows, cols])?;
    if count == 0 {
        return Ok(());
    }
    let parameters = TtTf32SplitParams {
        input: numbers.address(DType::F32, "numbers")?,
        high: high.address(DType::F32, "high")?,
        low: low.address(DType::F32, "low")?,
        ld: to_i64(numbers.ld),
        rows: to_i64(rows),
        cols: to_i64(cols),
    };
    let kernel = gpu.kernel("tt_tf32", "purlin_tt_tf32_split")?;
    let grid = filling(&kernel, count.div_ceil(size(c::TT_TF32_THREADS)), c::TT_TF32_THREADS, 0)?;
    // SAFETY: all three matrices were checked.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}
