//! Launches of the kernels of trains that need no shared memory.

use super::super::{constants as c, suffix_of};
use crate::backend::gpu::launch::{Grid, Parameters, launch};
use crate::backend::gpu::{Gpu, GpuStream};
use crate::error::Result;
use crate::scalar::DType;

/// Launches a kernel without shared memory.
///
/// # Safety
/// As for [`launch`].
pub(super) unsafe fn launch_plain<P: Parameters>(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    name: &str,
    blocks: [u32; 3],
    parameters: &P,
) -> Result<()> {
    let kernel = gpu.kernel("tt", &format!("purlin_tt_{name}_{}", suffix_of(dtype)?))?;
    let grid = Grid { blocks, threads: c::TT_SUM_THREADS.unsigned_abs(), shared: 0 };
    // SAFETY: the caller's promise is the same.
    unsafe { launch(&kernel, stream, grid, parameters) }
}
