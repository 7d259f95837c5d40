//! The device memory of a run.

use crate::backend::gpu::kernels::fdk::COUNTERS;
use crate::backend::gpu::{DeviceMemory, Event, Gpu};
use crate::error::{Error, Result};
use crate::fdk::ops::Job;
use crate::shape::to_u64;

/// The error of a run whose memory was not prepared.
pub(super) fn unprepared() -> Error {
    Error::Internal("a slab on a device that was not prepared".into())
}

/// Bytes of each buffer; 0 for one that the run does not need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) slots: usize,
    pub(super) slot: usize,
    pub(super) integrals: usize,
    pub(super) images: usize,
    pub(super) index: usize,
    pub(super) slabs: [usize; 2],
    pub(super) converted: usize,
}

impl Sizes {
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
