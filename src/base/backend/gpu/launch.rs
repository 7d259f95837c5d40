//! Kernel launches: one parameter struct by value, a grid, and dynamic shared memory.

use std::ffi::c_void;
use std::ptr;

use cudarc::driver::sys::CUDA_KERNEL_NODE_PARAMS_st;

use super::module::Kernel;
use super::stream::GpuStream;
use crate::error::{Error, Result};

/// A parameter struct that has the same layout in `cuda/`.
///
/// # Safety
/// The type is `repr(C)`, has no padding, and agrees with the kernel's parameter member by member.
pub(super) unsafe trait Parameters: Copy {}

/// Blocks, threads and shared memory of a launch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    /// Blocks along the three axes.
    pub(super) blocks: [u32; 3],
    /// Threads of a block, along one axis.
    pub(super) threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub(super) shared: usize,
}

impl Grid {
    /// `blocks` blocks in a row.
    pub(super) fn row(blocks: u32, threads: u32, shared: usize) -> Self {
        Self { blocks: [blocks, 1, 1], threads, shared }
    }

    /// As many blocks as give every item of `items` a thread; an error where the driver's limit is passed.
    pub(super) fn covering(items: usize, threads: u32) -> Result<Self> {
        let per_block = usize::try_from(threads.max(1)).unwrap_or(1);
        let blocks = i32::try_from(items.div_ceil(per_block)).map_err(|_| {
            Error::NotSupported(format!("a launch: {items} items, at most {} blocks of {per_block}", i32::MAX))
        })?;
        Ok(Self::row(blocks.unsigned_abs(), threads, 0))
    }
}

/// Enqueues `kernel`. A grid without blocks does nothing.
///
/// # Safety
/// `P` is the kernel's parameter type, and every address in `parameters` is 0 where the kernel allows it or leads to as
/// many elements as the kernel touches, in memory that stays until the queue has passed this launch.
#[inline]
pub(super) unsafe fn launch<P: Parameters>(
    kernel: &Kernel,
    stream: &GpuStream,
    grid: Grid,
    parameters: &P,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    unsafe { start(kernel, stream, grid, ptr::from_ref(parameters).cast(), false) }
}

/// As [`launch`], of blocks that wait for each other: an error if the device does not hold them all at once.
///
/// # Safety
/// As for [`launch`].
#[inline]
pub(super) unsafe fn launch_together<P: Parameters>(
    kernel: &Kernel,
    stream: &GpuStream,
    grid: Grid,
    parameters: &P,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    unsafe { start(kernel, stream, grid, ptr::from_ref(parameters).cast(), true) }
}

/// # Safety
/// As for [`launch`], with a pointer to the parameters.
unsafe fn start(
    kernel: &Kernel,
    stream: &GpuStream,
    grid: Grid,
    parameters: *const c_void,
    together: bool,
) -> Result<()> {
    if grid.blocks.contains(&0) {
        return Ok(());
    }
    let name = kernel.name();
    if grid.threads > kernel.most_threads() {
        let most = kernel.most_threads();
        return Err(Error::Internal(format!("{name}: {} threads a block, {most} are possible", grid.threads)));
    }
    if grid.shared > kernel.most_shared() {
        let most = kernel.most_shared();
        return Err(Error::NotSupported(format!(
            "{name}: needs {} bytes of shared memory a block, the GPU has {most}",
            grid.shared
        )));
    }
    fault()?;
    let shared = u32::try_from(grid.shared).map_err(|_| Error::Internal("shared memory over 4 GB".into()))?;
    let entered = kernel.device().enter()?;
    // The driver only reads it.
    let mut arguments = [parameters.cast_mut()];
    let [x, y, z] = grid.blocks;
    if let Some(recording) = stream.queue().recording() {
        let parameters = CUDA_KERNEL_NODE_PARAMS_st {
            func: kernel.raw(),
            gridDimX: x,
            gridDimY: y,
            gridDimZ: z,
            blockDimX: grid.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: shared,
            kernelParams: arguments.as_mut_ptr(),
            extra: ptr::null_mut(),
        };
        // SAFETY: the one argument lives as long as the call; the rest is the caller's promise.
        unsafe { recording.add(&parameters, together) };
        return Ok(());
    }
    if together {
        // SAFETY: as below.
        let code = unsafe {
            (entered.api().cuLaunchCooperativeKernel)(
                kernel.raw(),
                x,
                y,
                z,
                grid.threads,
                1,
                1,
                shared,
                stream.queue().raw(),
                arguments.as_mut_ptr(),
            )
        };
        return entered.check("cuLaunchCooperativeKernel", code);
    }
    // SAFETY: the driver copies the one argument before it returns; the rest is the caller's promise.
    let code = unsafe {
        (entered.api().cuLaunchKernel)(
            kernel.raw(),
            x,
            y,
            z,
            grid.threads,
            1,
            1,
            shared,
            stream.queue().raw(),
            arguments.as_mut_ptr(),
            ptr::null_mut(),
        )
    };
    entered.check("cuLaunchKernel", code)
}

/// Fault point: a test can make a launch fail here.
#[cfg(feature = "fault-injection")]
fn fault() -> Result<()> {
    super::faults::injected(crate::fault::Kind::Launch, "cuLaunchKernel")
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
fn fault() -> Result<()> {
    Ok(())
}
