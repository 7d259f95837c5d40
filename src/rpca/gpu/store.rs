//! Storage of X and Y: on the device, or on the host with panels copied to the device and back.

use std::sync::Arc;

use super::held::Cut;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::backend::memory::{Budget, HostMemory};
use crate::error::Result;
use crate::shape::to_u64;

/// An array as large as the matrix, in packed panels.
pub(super) enum Store {
    /// On the device, all panels.
    Device(DeviceMemory),
    /// On the host, with device memory for one panel.
    Host { memory: HostMemory, panel: DeviceMemory },
}

impl Store {
    pub(super) fn device(gpu: &Gpu, stream: &GpuStream, what: &'static str, bytes: usize) -> Result<Self> {
        Ok(Self::Device(gpu.allocate_on(stream, what, bytes)?))
    }

    /// Storage on the host, page-locked if possible.
    pub(super) fn host(
        gpu: &Gpu,
        stream: &GpuStream,
        what: &'static str,
        bytes: usize,
        panel: usize,
        budget: &Arc<Budget>,
    ) -> Result<Self> {
        let charge = budget.charge_host(what, bytes)?;
        let memory = match gpu.allocate_pinned(what, bytes) {
            Ok(pinned) => HostMemory::pinned(pinned, charge),
            Err(_) => {
                drop(charge);
                HostMemory::allocate(what, bytes, budget)?
            }
        };
        Ok(Self::Host { memory, panel: gpu.allocate_on(stream, what, panel)? })
    }

    /// Copies a panel of `size`-byte elements to the device, if it is not there. Returns the bytes copied.
    pub(super) fn bring(&mut self, gpu: &Gpu, stream: &GpuStream, cut: &Cut, panel: usize, size: usize) -> Result<u64> {
        match self {
            Self::Device(_) => Ok(0),
            Self::Host { memory, panel: buffer } => {
                let (first, rows) = cut.range(panel);
                let (offset, bytes) = (first * cut.n * size, rows * cut.n * size);
                gpu.upload(stream, &memory.as_slice::<u8>()?[offset..offset + bytes], buffer, 0)?;
                Ok(to_u64(bytes))
            }
        }
    }

    /// A panel on the device.
    pub(super) fn region(&self, cut: &Cut, panel: usize, size: usize) -> Result<Region<'_>> {
        let (first, rows) = cut.range(panel);
        let bytes = rows * cut.n * size;
        match self {
            Self::Device(memory) => memory.region(first * cut.n * size, bytes),
            Self::Host { panel, .. } => panel.region(0, bytes),
        }
    }

    /// Copies a changed panel back to the host, if the array is there.
    pub(super) fn keep(&mut self, gpu: &Gpu, stream: &GpuStream, cut: &Cut, panel: usize, size: usize) -> Result<()> {
        match self {
            Self::Device(_) => Ok(()),
            Self::Host { memory, panel: buffer } => {
                let (first, rows) = cut.range(panel);
                let (offset, bytes) = (first * cut.n * size, rows * cut.n * size);
                gpu.download(stream, buffer, 0, &mut memory.as_mut_slice::<u8>()?[offset..offset + bytes])
            }
        }
    }
}
