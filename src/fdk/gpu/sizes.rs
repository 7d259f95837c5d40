//! Bytes of device memory of a run, by its cut.

use super::buffers::Sizes;
use super::state::GpuOps;
use crate::blocks::number::Number;
use crate::fdk::cut::{Access, Cut};
use crate::fdk::ops::BUFFERS;
use crate::fdk::plan::Plan;

/// Slots for all views of a launch may take at most 1 / `SMALL_PART` of the other memory.
const SMALL_PART: usize = 8;

/// Least number of slots of raw rows: one for each buffer of the reader.
const SLOTS: usize = BUFFERS;

impl GpuOps {
    /// Bytes of the buffers of a run with this cut.
    pub(super) fn sizes(&self, plan: &Plan, cut: &Cut) -> Sizes {
        let d = &plan.geometry.detector;
        let [nx, ny, _] = plan.grid.size;
        let (input, output) = (cut.input, cut.output);
        let pixels = cut.batch * cut.rows * d.columns;
        let is_resident = input.access == Access::Resident;
        let apart = self.converts(plan, input.number) && (input.number != Number::F32 || is_resident || cut.any_order);
        let stored = if cut.keep { plan.views.len() } else { cut.launch };
        let layout = self.shape.layout(plan.columns, 0, cut.rows);
        let slice = nx * ny * 4;
        let counts = |k: usize| cut.slab(self, plan, k).count();
        let largest = |from: usize| (from..cut.slabs).map(counts).max().unwrap_or(0) * slice;
        // A volume that accumulates in the caller's memory needs no slabs.
        let in_place = output.access == Access::Resident && output.number == Number::F32 && !cut.any_order;
        let slabs = match (in_place, cut.alternates()) {
            (true, _) => [0, 0],
            (false, false) => [largest(0), 0],
            // The first slab of every device is one of the first `devices` slabs.
            (false, true) => [largest(0), largest(cut.devices)],
        };
        let is_kept = cut.any_order && !plan.is_plain();
        let is_apart = is_kept || (output.access != Access::Resident && output.number != Number::F32);
        let images = stored * layout.samples() * 4;
        let slot = pixels * input.number.size();
        // During a launch, as many copies can proceed as there are slots, and the next launch waits for the missing views.
        // If the slots are small compared with the other memory, allocate enough for all views of a launch.
        let ring = cut.launch.div_ceil(cut.batch.max(1)) + 1;
        let rest = images + if in_place { slice * plan.grid.size[2] } else { slabs[0] + slabs[1] };
        let slots = match ring * slot <= rest / SMALL_PART {
            // Whole views on the device are filtered from the caller's memory.
            _ if is_resident && cut.rows == d.rows => 0,
            true => ring.max(SLOTS),
            false => SLOTS,
        };
        Sizes {
            slots,
            slot,
            integrals: if apart { pixels * 4 } else { 0 },
            images,
            index: stored * 4,
            slabs,
            converted: if is_apart { cut.write_slices * nx * ny * output.number.size() } else { 0 },
        }
    }
}
