//! Exchange between devices: factors go to all devices, sums come from all. These matrices are small compared with the data,
//! and are copied through the host.

use super::site::bytes;
use super::state::Devices;
use crate::alloc;
use crate::backend::gpu::DeviceMemory;
use crate::backend::gpu::kernels::rsvd::{Copying, Strided, copy};
use crate::dense::gpu::DeviceMatrix;
use crate::error::Result;
use crate::scalar::DType;

impl Devices<'_> {
    /// Copies of a matrix on every device but the first.
    pub(super) fn replicas(&self, m: &DeviceMatrix) -> Result<Vec<DeviceMemory>> {
        let Some((first, others)) = self.parts.split_first() else { return Ok(Vec::new()) };
        if others.is_empty() {
            return Ok(Vec::new());
        }
        let mut numbers = alloc::filled("matrix between devices", bytes(m.dtype(), m.rows(), m.cols())?, 0u8)?;
        first.site.gpu.download_numbers(&first.site.stream, m.memory(), &mut numbers)?;
        others.iter().map(|p| p.site.gpu.upload_numbers(&p.site.stream, "matrix between devices", &numbers)).collect()
    }

    /// Adds `count` elements of type `dtype` of each device's sum to the first device's, in the order of the devices.
    pub(super) fn add_up(&self, dtype: DType, sums: &[&DeviceMemory], count: usize) -> Result<()> {
        if self.parts.len() < 2 || count == 0 {
            return Ok(());
        }
        let mut numbers = alloc::filled("sum between devices", bytes(dtype, count, 1)?, 0u8)?;
        for (part, sum) in self.parts.iter().zip(sums).skip(1) {
            part.site.gpu.download_numbers(&part.site.stream, sum, &mut numbers)?;
            let site = &self.parts[0].site;
            let more = site.gpu.upload_numbers(&site.stream, "sum between devices", &numbers)?;
            let row = |memory| Strided { memory, row: 1, column: count };
            let how = Copying { conjugate: false, add: true };
            copy(dtype, &site.gpu, &site.stream, (count, 1), row(more.whole()), row(sums[0].whole()), how)?;
        }
        Ok(())
    }
}
