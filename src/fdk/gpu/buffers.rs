//! The device memory of a run.

use super::super::cut::{Access, Cut};
use super::super::ops::Job;
use super::super::plan::Plan;
use super::{GpuOps, SLOTS, unprepared};
use crate::backend::gpu::kernels::fdk::COUNTERS;
use crate::backend::gpu::{DeviceMemory, Event, Gpu};
use crate::blocks::number::Number;
use crate::error::Result;
use crate::shape::to_u64;

/// Slots for all views of a launch may take at most 1 / `SMALL_PART` of the other memory.
const SMALL_PART: usize = 8;

/// Bytes of each buffer; 0 for one that the run does not need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    slots: usize,
    slot: usize,
    integrals: usize,
    images: usize,
    index: usize,
    slabs: [usize; 2],
    converted: usize,
}

impl Sizes {
    pub(super) fn new(ops: &GpuOps, plan: &Plan, cut: &Cut) -> Self {
        let d = &plan.geometry.detector;
        let [nx, ny, _] = plan.grid.size;
        let (input, output) = (cut.input, cut.output);
        let pixels = cut.batch * cut.rows * d.columns;
        let is_resident = input.access == Access::Resident;
        let apart = ops.converts(plan, input.number) && (input.number != Number::F32 || is_resident || cut.any_order);
        let stored = if cut.keep { plan.views.len() } else { cut.launch };
        let layout = ops.shape.layout(plan.columns, 0, cut.rows);
        let slice = nx * ny * 4;
        let counts = |k: usize| cut.slab(ops, plan, k).count();
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
        Self {
            slots,
            slot,
            integrals: if apart { pixels * 4 } else { 0 },
            images,
            index: stored * 4,
            slabs,
            converted: if is_apart { cut.write_slices * nx * ny * output.number.size() } else { 0 },
        }
    }

    pub(super) fn total(&self) -> u64 {
        let parts = [
            self.slots * self.slot,
            self.integrals,
            self.images,
            self.index,
            self.slabs[0],
            self.slabs[1],
            self.converted,
            COUNTERS * 8,
        ];
        parts.into_iter().map(to_u64).sum()
    }
}

/// Memory for the raw rows of a batch.
pub(super) struct Slot {
    pub(super) memory: DeviceMemory,
    /// Event after the last use of the rows.
    pub(super) free: Option<Event>,
}

/// All device memory of a run.
pub(super) struct Buffers {
    pub(super) slots: Vec<Slot>,
    slot: usize,
    pub(super) integrals: Option<DeviceMemory>,
    pub(super) images: DeviceMemory,
    pub(super) index: DeviceMemory,
    slabs: Vec<(DeviceMemory, Option<Event>)>,
    slab: usize,
    pub(super) converted: Option<DeviceMemory>,
    pub(super) counters: DeviceMemory,
}

impl Buffers {
    pub(super) fn new(gpu: &Gpu, sizes: &Sizes) -> Result<Self> {
        let optional = |what, bytes| if bytes > 0 { gpu.allocate(what, bytes).map(Some) } else { Ok(None) };
        let mut slabs = Vec::with_capacity(2);
        for bytes in sizes.slabs.into_iter().filter(|b| *b > 0) {
            slabs.push((gpu.allocate("slab of the volume", bytes)?, None));
        }
        let mut slots = Vec::with_capacity(sizes.slots);
        for _ in 0..sizes.slots {
            slots.push(Slot { memory: gpu.allocate("projections", sizes.slot)?, free: None });
        }
        Ok(Self {
            slots,
            slot: 0,
            integrals: optional("line integrals", sizes.integrals)?,
            images: gpu.allocate("filtered projections", sizes.images)?,
            index: gpu.allocate("numbers of views", sizes.index)?,
            // The first `next_slab` selects slab 0, which is the larger.
            slab: slabs.len().saturating_sub(1),
            slabs,
            converted: optional("slices on their way out", sizes.converted)?,
            counters: gpu.allocate("counters", COUNTERS * 8)?,
        })
    }

    /// Selects the slot for the next rows, in rotation.
    pub(super) fn next_slot(&mut self) -> usize {
        self.slot = (self.slot + 1) % self.slots.len().max(1);
        self.slot
    }

    /// Selects the slab that was used longest ago. Returns the event to wait for if it is still being stored.
    pub(super) fn next_slab(&mut self) -> Option<Event> {
        if self.slabs.is_empty() {
            return None;
        }
        self.slab = (self.slab + 1) % self.slabs.len();
        self.slabs[self.slab].1.take()
    }

    /// Records that the current slab may be overwritten after `free`.
    pub(super) fn release_slab(&mut self, free: Event) {
        if let Some(slab) = self.slabs.get_mut(self.slab) {
            slab.1 = Some(free);
        }
    }

    /// The memory that accumulates the current slab.
    pub(super) fn slab<'a>(&'a self, job: Job<'a>) -> Result<&'a DeviceMemory> {
        match job.volume {
            Some(volume) => Ok(volume),
            None => self.slabs.get(self.slab).map(|s| &s.0).ok_or_else(unprepared),
        }
    }

    /// Memory of finished slices: converted, or in the slab from byte `at`.
    pub(super) fn outgoing<'a>(
        &'a self,
        job: Job<'a>,
        is_converted: bool,
        at: usize,
    ) -> Result<(&'a DeviceMemory, usize)> {
        match &self.converted {
            Some(memory) if is_converted => Ok((memory, 0)),
            _ => Ok((self.slab(job)?, at)),
        }
    }

    /// Enlarges the memory for converted slices to at least `bytes`.
    pub(super) fn make_converted(&mut self, gpu: &Gpu, bytes: usize) -> Result<()> {
        if self.converted.as_ref().is_none_or(|m| m.bytes() < bytes) {
            self.converted = None;
            self.converted = Some(gpu.allocate("slices on their way out", bytes)?);
        }
        Ok(())
    }
}
