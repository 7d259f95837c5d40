//! The workspace of a cuBLAS handle, which plans include in device memory.

use super::blas::Blas;
use super::functions::Functions;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::stream::GpuStream;
use crate::error::Result;
use crate::shape::to_u64;

/// Bytes that NVIDIA recommends: for the Hopper generation and later, and for earlier ones.
const PREFERRED: [usize; 2] = [32 << 20, 4 << 20];

/// Smallest size of a workspace in bytes. Without a workspace cuBLAS allocates its own, which no limit counts.
const LEAST: usize = 64 << 10;

/// `preferred` bytes, or the largest half, quarter, ... of them that is at most an eighth of `available`.
fn bytes_within(preferred: usize, available: u64) -> usize {
    let mut bytes = preferred;
    while bytes / 2 >= LEAST && to_u64(bytes) > available / 8 {
        bytes /= 2;
    }
    bytes
}

impl Blas {
    /// Bytes of workspace that NVIDIA recommends for this GPU: 32 MiB from Hopper on, else 4 MiB.
    pub fn workspace_bytes(gpu: &Gpu) -> usize {
        PREFERRED[usize::from(gpu.device.info.compute_capability.0 < 9)]
    }

    /// Bytes of the workspace that [`Blas::within`] makes.
    pub fn workspace_within(gpu: &Gpu, available: u64) -> usize {
        bytes_within(Self::workspace_bytes(gpu), available)
    }

    /// cuBLAS for work on `stream` with a workspace of at most an eighth of `available` bytes, and 64 KiB at least.
    ///
    /// # Errors
    /// As [`Blas::new`].
    pub fn within(gpu: &Gpu, stream: &GpuStream, available: u64) -> Result<Self> {
        Self::with_workspace(gpu, stream, Self::workspace_within(gpu, available))
    }

    /// Bytes of the handle's own workspace; 0 without one.
    pub fn own_workspace_bytes(&self) -> u64 {
        self.workspace.as_ref().map_or(0, |memory| to_u64(memory.bytes()))
    }

    pub(super) fn with_workspace(gpu: &Gpu, stream: &GpuStream, bytes: usize) -> Result<Self> {
        Functions::get()?;
        let workspace = gpu.allocate_uninitialized_on(stream, "workspace of cuBLAS", bytes)?;
        let mut blas = Self::without_workspace(gpu, stream)?;
        blas.use_workspace(stream, workspace.whole())?;
        blas.workspace = Some(workspace);
        Ok(blas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_limit_makes_the_workspace_small() {
        assert_eq!(bytes_within(32 << 20, u64::MAX), 32 << 20);
        assert_eq!(bytes_within(32 << 20, 256 << 20), 32 << 20);
        assert_eq!(bytes_within(32 << 20, 24 << 20), 2 << 20);
        assert_eq!(bytes_within(32 << 20, 0), 64 << 10);
        assert_eq!(bytes_within(4 << 20, 1 << 20), 128 << 10);
    }
}
