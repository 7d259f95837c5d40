//! The kernel of `cuda/selftest.cu`.

use crate::backend::gpu::launch::{Grid, Parameters, launch};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::error::{Error, Result};
use crate::shape::to_u64;

#[derive(Clone, Copy)]
#[repr(C)]
struct SelftestParams {
    output: u64,
    count: u64,
    scale: u32,
    words: u32,
}

const _: () = assert!(size_of::<SelftestParams>() == 24);

// SAFETY: the same members in the same order as in cuda/selftest.cu, without padding.
unsafe impl Parameters for SelftestParams {}

/// Runs a kernel that kills the device's context, to test purlin's messages afterwards.
#[cfg(test)]
pub(in crate::backend::gpu) fn trap(gpu: &Gpu, stream: &GpuStream) -> Result<()> {
    let parameters = SelftestParams { output: 0, count: 0, scale: 1, words: 0 };
    let kernel = gpu.kernel("selftest", "purlin_selftest_trap")?;
    // SAFETY: the kernel touches no memory.
    unsafe { launch(&kernel, stream, Grid::row(1, 1, 0), &parameters) }
}

/// Writes `scale * i + threads * (threads - 1) / 2`, modulo 2^32, to each of `count` numbers of 32 bits; the blocks have
/// `shared` bytes of dynamic shared memory, at least 4 a thread.
///
/// # Errors
/// [`Error::InvalidArgument`] for `shared` over 16 GB or too small for the threads, and for a `count` that is too
/// large; as for every [launch](crate::backend::gpu::kernels#errors).
pub fn selftest(
    gpu: &Gpu,
    stream: &GpuStream,
    output: &mut DeviceMemory,
    count: usize,
    scale: u32,
    threads: u32,
    shared: usize,
) -> Result<()> {
    let words = u32::try_from(shared / 4).map_err(|_| Error::invalid("shared", "is over 16 GB"))?;
    if threads == 0 || words < threads {
        return Err(Error::invalid("shared", format!("is {shared} bytes, too few for {threads} threads")));
    }
    let bytes = count.checked_mul(4).ok_or_else(|| Error::invalid("count", format!("is {count}")))?;
    let parameters = SelftestParams { output: output.range(0, bytes)?, count: to_u64(count), scale, words };
    let kernel = gpu.kernel("selftest", "purlin_selftest")?;
    let grid = Grid { shared, ..Grid::covering(count, threads)? };
    // SAFETY: `output` holds `count` numbers, by `range`; the caller keeps it until the stream has passed the launch or
    // gives it back, which waits for the stream.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}
