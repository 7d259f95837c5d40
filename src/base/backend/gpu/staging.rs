//! Page-locked buffers between pageable host memory and the device. The host packs or unpacks one buffer while another is
//! being copied.

use super::Gpu;
use super::copy::{enqueue_download, enqueue_upload};
use super::memory::{DeviceMemory, PinnedMemory};
use super::stream::{Event, GpuStream};
use crate::backend::budget::{Budget, Charge};
use crate::error::{Error, Result};
use std::sync::Arc;

/// One page-locked buffer. Access to its contents waits for the copy that uses them.
pub struct Staging {
    gpu: Gpu,
    // `drop` waits for a pending copy before the memory is freed.
    pending: Option<Event>,
    memory: PinnedMemory,
    _charge: Charge,
}

impl Staging {
    /// A zeroed buffer of `bytes` bytes, charged to `budget`, a budget of host memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], also beyond the budget; [`Error::Cuda`].
    pub fn new(gpu: &Gpu, what: &'static str, bytes: usize, budget: &Arc<Budget>) -> Result<Self> {
        let charge = budget.charge_host(what, bytes)?;
        Ok(Self { gpu: gpu.clone(), pending: None, memory: gpu.allocate_pinned(what, bytes)?, _charge: charge })
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// The contents. Waits until no copy uses them.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn contents(&mut self) -> Result<&mut [u8]> {
        if let Some(event) = &self.pending {
            event.synchronize()?;
            self.pending = None;
        }
        // SAFETY: allocated with this size, zeroed; no copy is pending and `&mut self` makes this the only access.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.memory.start().as_ptr(), self.memory.bytes()) })
    }

    /// Enqueues a copy of the bytes from `from` on to `destination` at `offset`.
    ///
    /// # Errors
    /// [`Error::Internal`] for bytes outside of the buffer or of `destination`; [`Error::Cuda`].
    pub fn upload(
        &mut self,
        stream: &GpuStream,
        from: usize,
        bytes: usize,
        destination: &mut DeviceMemory,
        offset: usize,
    ) -> Result<()> {
        let gpu = self.gpu.clone();
        let part = self.part(from, bytes)?;
        // SAFETY: nobody touches the memory before the event recorded below has passed; if recording fails, the stream
        // is waited for at once.
        unsafe { enqueue_upload(&gpu, stream, part, destination, offset) }?;
        self.mark(stream)
    }

    /// Enqueues a copy of `bytes` bytes of `source` at `offset` to the bytes from `to` on.
    ///
    /// # Errors
    /// [`Error::Internal`] for bytes outside of the buffer or of `source`; [`Error::Cuda`].
    pub fn download(
        &mut self,
        stream: &GpuStream,
        source: &DeviceMemory,
        offset: usize,
        to: usize,
        bytes: usize,
    ) -> Result<()> {
        let gpu = self.gpu.clone();
        let part = self.part(to, bytes)?;
        // SAFETY: as in `upload`.
        unsafe { enqueue_download(&gpu, stream, source, offset, part) }?;
        self.mark(stream)
    }

    /// Part of the memory, for a copy behind those already enqueued.
    fn part(&mut self, from: usize, bytes: usize) -> Result<&mut [u8]> {
        match from.checked_add(bytes) {
            Some(end) if end <= self.memory.bytes() => {
                // SAFETY: inside the memory; the slice goes to the driver alone, and copies of one stream run in order.
                Ok(unsafe { std::slice::from_raw_parts_mut(self.memory.start().as_ptr().add(from), bytes) })
            }
            _ => Err(Error::Internal(format!("{bytes} bytes at {from} of a buffer of {}", self.memory.bytes()))),
        }
    }

    fn mark(&mut self, stream: &GpuStream) -> Result<()> {
        if let Some(earlier) = &self.pending {
            // If a copy on another stream is pending, this stream waits for it, so that the new mark covers both.
            earlier.make_wait(stream)?;
        }
        match stream.record() {
            Ok(event) => {
                self.pending = Some(event);
                Ok(())
            }
            Err(e) => {
                let _ = stream.synchronize();
                Err(e)
            }
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Some(event) = &self.pending {
            // An error means that the context is dead, and then no copy is running.
            let _ = event.synchronize();
        }
    }
}

/// Buffers in a ring, for copies of pageable memory that are larger than one of them.
pub struct StagingRing {
    slots: Vec<Staging>,
    next: usize,
}

impl StagingRing {
    /// `slots` buffers of `bytes` bytes each; two overlap packing with copying.
    ///
    /// # Errors
    /// [`Error::Internal`] for no slots, and for slots of 0 bytes; as [`Staging::new`].
    pub fn new(gpu: &Gpu, what: &'static str, slots: usize, bytes: usize, budget: &Arc<Budget>) -> Result<Self> {
        if slots == 0 || bytes == 0 {
            return Err(Error::Internal("a staging ring without buffers".into()));
        }
        let slots = (0..slots).map(|_| Staging::new(gpu, what, bytes, budget)).collect::<Result<_>>()?;
        Ok(Self { slots, next: 0 })
    }

    /// Uploads `bytes` bytes to `destination` at `offset`. `pack(k, part)` writes the bytes from the `k`-th on, while
    /// earlier parts are being copied.
    ///
    /// # Errors
    /// Errors of `pack`; as [`Staging::upload`].
    pub fn upload(
        &mut self,
        stream: &GpuStream,
        bytes: usize,
        destination: &mut DeviceMemory,
        offset: usize,
        mut pack: impl FnMut(usize, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let mut done = 0;
        while done < bytes {
            let slot = self.take()?;
            let part = slot.bytes().min(bytes - done);
            pack(done, &mut slot.contents()?[..part])?;
            slot.upload(stream, 0, part, destination, offset + done)?;
            done += part;
        }
        Ok(())
    }

    /// Downloads `bytes` bytes of `source` at `offset`; complete on return. `unpack(k, part)` reads the bytes from the
    /// `k`-th on, while later parts are being copied.
    ///
    /// # Errors
    /// Errors of `unpack`; as [`Staging::download`].
    pub fn download(
        &mut self,
        stream: &GpuStream,
        source: &DeviceMemory,
        offset: usize,
        bytes: usize,
        mut unpack: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let count = self.slots.len();
        let size = self.slots[0].bytes();
        let (mut sent, mut done) = (0, 0);
        let mut sending = 0;
        while done < bytes {
            while sent < bytes && sent - done < count * size {
                let part = size.min(bytes - sent);
                self.slots[sending % count].download(stream, source, offset + sent, 0, part)?;
                sent += part;
                sending += 1;
            }
            let part = size.min(bytes - done);
            unpack(done, &self.slots[(done / size) % count].contents()?[..part])?;
            done += part;
        }
        Ok(())
    }

    fn take(&mut self) -> Result<&mut Staging> {
        let slot = self.next;
        self.next = (slot + 1) % self.slots.len();
        self.slots.get_mut(slot).ok_or_else(|| Error::Internal("an empty staging ring".into()))
    }
}
