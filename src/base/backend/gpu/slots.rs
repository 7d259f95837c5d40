//! Page-locked slots for small copies to the host, which the device makes while the host goes on. A copy to pageable
//! memory begins only when the host asks for it, and makes the driver wait twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::device::Device;
use super::memory::PinnedMemory;
use super::stream::GpuStream;
use crate::error::{Error, Result};
use crate::scalar::Element;

/// Bytes of a slot.
const BYTES: usize = 1 << 10;
/// Number of slots, at most 32: `used` has a bit for each.
const COUNT: u32 = 16;

/// The slots. A bit of `used` is set while one is taken.
pub(super) struct Slots {
    memory: Option<PinnedMemory>,
    used: AtomicU32,
}

impl Slots {
    /// If page-locked memory is refused there are no slots, and all copies go to pageable memory.
    pub(super) fn new(device: &Arc<Device>) -> Self {
        let memory = PinnedMemory::allocate(device, "small results", BYTES * COUNT as usize).ok();
        Self { memory, used: AtomicU32::new(0) }
    }

    /// A free slot for a copy of `bytes` bytes; `None` if they are too many or no slot is free.
    pub(super) fn take(self: &Arc<Self>, bytes: usize) -> Option<PendingDownload> {
        if bytes == 0 || bytes > BYTES || self.memory.is_none() {
            return None;
        }
        let free = |used: u32| Some(used.trailing_ones()).filter(|i| *i < COUNT).map(|i| used | 1 << i);
        let before = self.used.fetch_update(Ordering::Acquire, Ordering::Relaxed, free).ok()?;
        Some(PendingDownload { slots: Arc::clone(self), index: before.trailing_ones(), bytes, stream: None })
    }

    /// First byte of slot `index`, if a slot holds `bytes` bytes.
    fn part(&self, index: u32, bytes: usize) -> Result<*mut u8> {
        match &self.memory {
            Some(memory) if bytes <= BYTES && index < COUNT => {
                // SAFETY: the memory has `COUNT` slots of `BYTES` bytes.
                Ok(unsafe { memory.start().as_ptr().add(index as usize * BYTES) })
            }
            _ => Err(Error::Internal(format!("a copy of {bytes} bytes to slot {index}"))),
        }
    }
}

/// A copy to the host that may still run.
pub struct PendingDownload {
    slots: Arc<Slots>,
    index: u32,
    bytes: usize,
    /// The stream of the copy until it has been waited for.
    stream: Option<GpuStream>,
}

impl PendingDownload {
    /// The bytes that the copy writes. Call [`PendingDownload::set_stream`] once it is enqueued.
    pub(super) fn buffer(&mut self) -> Result<&mut [u8]> {
        let slot = self.slots.part(self.index, self.bytes)?;
        // SAFETY: the slot has that many bytes, and belongs to this copy until it is dropped.
        Ok(unsafe { std::slice::from_raw_parts_mut(slot, self.bytes) })
    }

    /// The stream of the copy. The slot stays taken until the copy is complete.
    pub(super) fn set_stream(&mut self, stream: &GpuStream) {
        self.stream = Some(stream.clone());
    }

    /// Waits for the stream of the copy and returns the bytes, as many as were copied.
    ///
    /// # Errors
    /// [`Error::Internal`] for another number of bytes; errors of work on the stream.
    pub fn receive(mut self, destination: &mut [u8]) -> Result<()> {
        if let Some(stream) = &self.stream {
            stream.synchronize()?;
            self.stream = None;
        }
        if destination.len() != self.bytes {
            return Err(Error::Internal(format!("a copy of {} bytes for {}", self.bytes, destination.len())));
        }
        destination.copy_from_slice(self.buffer()?);
        Ok(())
    }

    /// [`PendingDownload::receive`] for numbers.
    ///
    /// # Errors
    /// As there.
    pub fn receive_numbers<T: Element>(self, destination: &mut [T]) -> Result<()> {
        let bytes = size_of_val(destination);
        // SAFETY: elements have no padding, and every bit pattern is one.
        let bytes = unsafe { std::slice::from_raw_parts_mut(destination.as_mut_ptr().cast::<u8>(), bytes) };
        self.receive(bytes)
    }
}

impl Drop for PendingDownload {
    fn drop(&mut self) {
        // A slot that a copy may still write to stays taken.
        if self.stream.as_ref().is_some_and(|stream| stream.synchronize().is_err()) {
            return;
        }
        self.slots.used.fetch_and(!(1 << self.index), Ordering::Release);
    }
}
