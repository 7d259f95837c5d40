//! Upload of a batch's pixels.

use std::ops::Range;
use std::sync::Arc;

use super::buffers::unprepared;
use super::clock::Stage;
use super::state::{GpuOps, UPLOAD};
use crate::backend::gpu::{DeviceMemory, Rows, Staging};
use crate::error::{Error, Result};
use crate::fdk::ops::Pixels;
use crate::fdk::plan::{Batch, Plan};
use crate::shape::to_u64;

/// Location of a batch's pixels on the device.
pub(super) enum DevicePixels<'b> {
    /// A slot of raw rows.
    Slot(usize),
    /// The caller's memory, from a byte offset on.
    Caller(&'b DeviceMemory, usize),
}

impl GpuOps {
    /// Uploads the pixels of a batch to a slot, or returns their location in the caller's device memory.
    pub(super) fn fetch<'b>(
        &mut self,
        plan: &Plan,
        batch: Batch<'_>,
        bands: &[Range<usize>; 2],
        pixels: Pixels<'_, 'b, Staging>,
    ) -> Result<DevicePixels<'b>> {
        let d = &plan.geometry.detector;
        let size = self.cut.as_ref().ok_or_else(unprepared)?.input.number.size();
        let (row, count) = (d.columns * size, batch.views.len());
        let rows = |first: usize, band: &Range<usize>| Rows {
            offset: (first * d.rows + band.start) * row,
            pitch: d.rows * row,
            width: band.len() * row,
            count,
        };
        let streams = Arc::clone(&self.streams);
        if let (Pixels::Device { scan, first }, true) = (&pixels, batch.rows == d.rows) {
            return Ok(DevicePixels::Caller(scan, rows(*first, &(0..d.rows)).offset));
        }
        let buffers = self.buffers.as_mut().ok_or_else(unprepared)?;
        let at = buffers.next_slot();
        let slot = &mut buffers.slots[at];
        if let Some(free) = slot.free.take() {
            free.make_wait(&streams.upload)?;
        }
        let (memory, gpu) = (&mut slot.memory, &self.gpu);
        let bytes = |band: &Range<usize>| count * band.len() * row;
        let offsets = [0, bytes(&bands[0])];
        let total = offsets[1] + bytes(&bands[1]);
        self.clock.span(Stage::Upload, &streams.upload, || match pixels {
            Pixels::Read(buffer) => buffer.upload(&streams.upload, 0, total, memory, 0),
            Pixels::Borrowed(borrowed) => {
                let transfers =
                    borrowed.transfers.ok_or_else(|| Error::Internal("borrowed memory without transfers".into()))?;
                bands.iter().zip(offsets).try_for_each(|(band, offset)| {
                    transfers.upload_rows(UPLOAD, borrowed.scan, rows(batch.views[0], band), memory, offset)
                })
            }
            Pixels::Device { scan, first } => bands
                .iter()
                .zip(offsets)
                .try_for_each(|(band, offset)| gpu.copy_rows(&streams.upload, scan, rows(first, band), memory, offset)),
        })?;
        self.tally.uploaded += to_u64(total);
        streams.compute.wait_for(&streams.upload)?;
        Ok(DevicePixels::Slot(at))
    }
}
