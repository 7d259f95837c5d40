//! Copies between host and device.

use std::marker::PhantomData;

use cudarc::driver::sys;

use super::Gpu;
use super::device::Entered;
use super::memory::{self, DeviceMemory, Region};
use super::slots::PendingDownload;
use super::stream::GpuStream;
use crate::error::{Error, Result};
use crate::scalar::Element;

impl Gpu {
    /// Copies `source` to the bytes of `destination` at `offset`, in stream order. The host memory may be reused on
    /// return.
    ///
    /// # Errors
    /// [`Error::Internal`] for bytes outside of `destination`; [`Error::Cuda`].
    pub fn upload(
        &self,
        stream: &GpuStream,
        source: &[u8],
        destination: &mut DeviceMemory,
        offset: usize,
    ) -> Result<()> {
        // SAFETY: pageable memory has been read when the driver returns; for page-locked memory the wait below sees to
        // it, before the borrow ends.
        unsafe { enqueue_upload(self, stream, source, destination, offset) }?;
        if memory::is_pinned(&self.device, source)? { stream.synchronize() } else { Ok(()) }
    }

    /// Copies the bytes of `source` at `offset` to the host; complete on return.
    ///
    /// # Errors
    /// [`Error::Internal`] for bytes outside of `source`; [`Error::Cuda`].
    pub fn download(
        &self,
        stream: &GpuStream,
        source: &DeviceMemory,
        offset: usize,
        destination: &mut [u8],
    ) -> Result<()> {
        if let Some(pending) = self.begin_small_download(stream, source, offset, destination.len())? {
            return pending.receive(destination);
        }
        // SAFETY: complete when the wait below is over, before the borrow ends; where the copy cannot be enqueued
        // nothing is written, and where waiting fails the context is dead and its copies with it.
        unsafe { enqueue_download(self, stream, source, offset, destination) }?;
        stream.synchronize()
    }

    /// Enqueues a copy of `bytes` bytes of `source` at `offset` to a slot; `None` if they are too many or no slot is free.
    ///
    /// # Errors
    /// [`Error::Internal`] for bytes outside of `source`; [`Error::Cuda`].
    pub fn begin_small_download(
        &self,
        stream: &GpuStream,
        source: &DeviceMemory,
        offset: usize,
        bytes: usize,
    ) -> Result<Option<PendingDownload>> {
        let Some(mut pending) = self.slots.take(bytes) else { return Ok(None) };
        // SAFETY: the slot stays taken until the copy is complete.
        unsafe { enqueue_download(self, stream, source, offset, pending.buffer()?) }?;
        pending.set_stream(stream);
        Ok(Some(pending))
    }

    /// A copy of `source` in device memory for any stream; complete on return.
    ///
    /// # Errors
    /// As [`Gpu::allocate`].
    pub fn upload_numbers<T: Element>(
        &self,
        stream: &GpuStream,
        what: &'static str,
        source: &[T],
    ) -> Result<DeviceMemory> {
        // SAFETY: elements have no padding, and the bytes are only read.
        let bytes = unsafe { std::slice::from_raw_parts(source.as_ptr().cast::<u8>(), size_of_val(source)) };
        let mut memory = self.allocate(what, bytes.len())?;
        self.upload(stream, bytes, &mut memory, 0)?;
        stream.synchronize()?;
        Ok(memory)
    }

    /// Copies the first numbers of `source` to the host; complete on return.
    ///
    /// # Errors
    /// As [`Gpu::download`].
    pub fn download_numbers<T: Element>(
        &self,
        stream: &GpuStream,
        source: &DeviceMemory,
        destination: &mut [T],
    ) -> Result<()> {
        let bytes = size_of_val(destination);
        // SAFETY: elements have no padding, and every bit pattern is one.
        let bytes = unsafe { std::slice::from_raw_parts_mut(destination.as_mut_ptr().cast::<u8>(), bytes) };
        self.download(stream, source, 0, bytes)
    }

    /// Copies `source` to the bytes of `destination` from `offset` on, in stream order. The host memory may be reused on
    /// return.
    ///
    /// # Errors
    /// As [`Gpu::upload`].
    pub fn store_numbers<T: Element>(
        &self,
        stream: &GpuStream,
        source: &[T],
        destination: &mut DeviceMemory,
        offset: usize,
    ) -> Result<()> {
        // SAFETY: elements have no padding, and the bytes are only read.
        let bytes = unsafe { std::slice::from_raw_parts(source.as_ptr().cast::<u8>(), size_of_val(source)) };
        self.upload(stream, bytes, destination, offset)
    }

    /// Copies the numbers of `source` from byte `offset` on to the host; complete on return.
    ///
    /// # Errors
    /// As [`Gpu::download`].
    pub fn load_numbers<T: Element>(
        &self,
        stream: &GpuStream,
        source: &DeviceMemory,
        offset: usize,
        destination: &mut [T],
    ) -> Result<()> {
        let bytes = size_of_val(destination);
        // SAFETY: elements have no padding, and every bit pattern is one.
        let bytes = unsafe { std::slice::from_raw_parts_mut(destination.as_mut_ptr().cast::<u8>(), bytes) };
        self.download(stream, source, offset, bytes)
    }

    /// Copies `bytes` bytes between device memories, in stream order.
    ///
    /// # Errors
    /// [`Error::Internal`] for more bytes than one of the memories has; [`Error::Cuda`].
    pub fn copy(
        &self,
        stream: &GpuStream,
        source: &DeviceMemory,
        destination: &mut DeviceMemory,
        bytes: usize,
    ) -> Result<()> {
        let (from, to) = (source.range(0, bytes)?, destination.range(0, bytes)?);
        let entered = self.begin_copy("cuMemcpyDtoDAsync")?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both ranges lie inside their memories.
        let code = unsafe { (entered.api().cuMemcpyDtoDAsync_v2)(to, from, bytes, stream.queue().raw()) };
        entered.check("cuMemcpyDtoDAsync", code)
    }

    /// Lets `other` copy from this device's memory directly, where the hardware can; elsewhere copies go through the host.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn open_to(&self, other: &Self) -> Result<bool> {
        self.device.open_to(&other.device)
    }

    /// Copies a region of `other`'s memory to one of this device of as many bytes, in the order of `stream`, a stream
    /// of this device: directly after [`Gpu::open_to`], where the hardware can, else through the host.
    ///
    /// # Errors
    /// [`Error::Internal`] for regions of different sizes; [`Error::Cuda`].
    pub fn copy_from(&self, stream: &GpuStream, other: &Self, from: Region<'_>, to: Region<'_>) -> Result<()> {
        let bytes = from.bytes();
        if to.bytes() != bytes {
            return Err(Error::Internal(format!("{bytes} bytes of a device to {} of another", to.bytes())));
        }
        let (from, to) = (from.array("source", bytes, 1)?, to.array("destination", bytes, 1)?);
        let entered = self.begin_copy("cuMemcpyPeerAsync")?;
        if bytes == 0 {
            return Ok(());
        }
        let (here, there) = (self.device.context(), other.device.context());
        // SAFETY: regions lie inside their memories, which are of these contexts.
        let code = unsafe {
            if here == there {
                (entered.api().cuMemcpyDtoDAsync_v2)(to, from, bytes, stream.queue().raw())
            } else {
                (entered.api().cuMemcpyPeerAsync)(to, here, from, there, bytes, stream.queue().raw())
            }
        };
        entered.check("cuMemcpyPeerAsync", code)
    }

    /// Copies rows of one device memory, packed, to another at `offset`, in stream order.
    ///
    /// # Errors
    /// [`Error::Internal`] for rows outside of `source` or `destination`; [`Error::Cuda`].
    pub fn copy_rows(
        &self,
        stream: &GpuStream,
        source: &DeviceMemory,
        rows: Rows,
        destination: &mut DeviceMemory,
        offset: usize,
    ) -> Result<()> {
        let Rows { offset: begin, pitch, width, count } = rows;
        if width == 0 || count == 0 {
            return Ok(());
        }
        let reach = (count - 1).checked_mul(pitch).and_then(|e| e.checked_add(width));
        let reach = reach.ok_or_else(|| Error::Internal(format!("{rows:?} on a device")))?;
        let (from, to) = (source.range(begin, reach)?, destination.range(offset, width * count)?);
        let entered = self.begin_copy("cuMemcpyDtoDAsync")?;
        for k in 0..count {
            let (from, to) = (from + crate::shape::to_u64(k * pitch), to + crate::shape::to_u64(k * width));
            // SAFETY: both ranges lie inside their memories.
            let code = unsafe { (entered.api().cuMemcpyDtoDAsync_v2)(to, from, width, stream.queue().raw()) };
            entered.check("cuMemcpyDtoDAsync", code)?;
        }
        Ok(())
    }

    /// Sets `bytes` bytes at `offset` to `value`, in stream order.
    ///
    /// # Errors
    /// [`Error::Internal`] for bytes outside of `destination`; [`Error::Cuda`].
    pub fn fill(
        &self,
        stream: &GpuStream,
        destination: &mut DeviceMemory,
        offset: usize,
        bytes: usize,
        value: u8,
    ) -> Result<()> {
        let to = destination.range(offset, bytes)?;
        let entered = self.begin_copy("cuMemsetD8Async")?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the range lies inside the memory.
        let code = unsafe { (entered.api().cuMemsetD8Async)(to, value, bytes, stream.queue().raw()) };
        entered.check("cuMemsetD8Async", code)
    }

    /// Sets every byte of a region to 0, in stream order.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn clear(&self, stream: &GpuStream, region: Region<'_>) -> Result<()> {
        let to = region.array("region", region.bytes(), 1)?;
        let entered = self.begin_copy("cuMemsetD8Async")?;
        if region.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: a region lies inside its memory.
        let code = unsafe { (entered.api().cuMemsetD8Async)(to, 0, region.bytes(), stream.queue().raw()) };
        entered.check("cuMemsetD8Async", code)
    }

    /// Whether all of `memory` is page-locked, so that [`Transfers`] copy it at full speed and beside other work.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn is_pinned(&self, memory: &[u8]) -> Result<bool> {
        memory::is_pinned(&self.device, memory)
    }

    /// Runs `work`, which may enqueue copies to and from host memory that outlives this call. Always waits for
    /// `streams` before it returns, also after errors and panics.
    ///
    /// # Errors
    /// Errors of `work`; [`Error::Cuda`], also for work on the streams that failed.
    pub fn overlapped<'env, R>(
        &'env self,
        streams: &'env [&'env GpuStream],
        work: impl for<'scope> FnOnce(&'scope Transfers<'scope, 'env>) -> Result<R>,
    ) -> Result<R> {
        let transfers = Transfers { gpu: self, streams, scope: PhantomData, env: PhantomData };
        let wait = Wait(streams);
        let result = work(&transfers);
        let waited = wait.finish();
        let value = result?;
        waited.map(|()| value)
    }

    fn begin_copy(&self, call: &'static str) -> Result<Entered<'_>> {
        fault(call)?;
        self.device.enter()
    }
}

/// Waits for its streams when it is dropped, also while a panic unwinds.
struct Wait<'a>(&'a [&'a GpuStream]);

impl Wait<'_> {
    fn finish(self) -> Result<()> {
        let result = self.all();
        std::mem::forget(self);
        result
    }

    fn all(&self) -> Result<()> {
        let mut result = Ok(());
        for stream in self.0 {
            // Waits for every stream, also after an error of an earlier one.
            result = result.and(stream.synchronize());
        }
        result
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let _ = self.all();
    }
}

/// Copies that run while the caller goes on. Host memory stays borrowed until [`Gpu::overlapped`] has waited for them.
pub struct Transfers<'scope, 'env: 'scope> {
    gpu: &'env Gpu,
    streams: &'env [&'env GpuStream],
    // Invariant in both lifetimes, as for `std::thread::Scope`: shorter-lived memory cannot be borrowed.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope, 'env> Transfers<'scope, 'env> {
    /// Enqueues a copy of `source` to `destination` at `offset` on stream `lane` of those given to
    /// [`Gpu::overlapped`].
    ///
    /// # Errors
    /// [`Error::Internal`] for a `lane` that was not given, and for bytes outside of `destination`; [`Error::Cuda`].
    pub fn upload(
        &'scope self,
        lane: usize,
        source: &'scope [u8],
        destination: &mut DeviceMemory,
        offset: usize,
    ) -> Result<()> {
        // SAFETY: the source is borrowed until `overlapped` has waited for the stream.
        unsafe { enqueue_upload(self.gpu, self.stream(lane)?, source, destination, offset) }
    }

    /// Enqueues a copy of `source` at `offset` to `destination` on stream `lane`.
    ///
    /// # Errors
    /// [`Error::Internal`] for a `lane` that was not given, and for bytes outside of `source`; [`Error::Cuda`].
    pub fn download(
        &'scope self,
        lane: usize,
        source: &DeviceMemory,
        offset: usize,
        destination: &'scope mut [u8],
    ) -> Result<()> {
        // SAFETY: the destination is borrowed until `overlapped` has waited for the stream.
        unsafe { enqueue_download(self.gpu, self.stream(lane)?, source, offset, destination) }
    }

    fn stream(&self, lane: usize) -> Result<&'env GpuStream> {
        self.streams.get(lane).copied().ok_or_else(|| Error::Internal(format!("there is no lane {lane}")))
    }
}

/// Rows of equal length in host memory, a pitch apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// Offset of the first row in bytes.
    pub offset: usize,
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// Bytes of a row, at most the pitch.
    pub width: usize,
    /// Number of rows; 0 copies nothing.
    pub count: usize,
}

/// The interface of [`Transfers`], independent of its second lifetime.
pub trait ScopedTransfers<'scope> {
    /// Enqueues copies of some rows of `source`, packed, to `destination` at `offset` on stream `lane`.
    ///
    /// # Errors
    /// [`Error::Internal`] for a `lane` that was not given, for rows outside of `source` or `destination`, and for rows
    /// longer than their pitch; [`Error::Cuda`].
    fn upload_rows(
        &'scope self,
        lane: usize,
        source: &'scope [u8],
        rows: Rows,
        destination: &mut DeviceMemory,
        offset: usize,
    ) -> Result<()>;

    /// Enqueues a copy of `source` at `offset` to `destination` on stream `lane`.
    ///
    /// # Errors
    /// As [`Transfers::download`].
    fn download(
        &'scope self,
        lane: usize,
        source: &DeviceMemory,
        offset: usize,
        destination: &'scope mut [u8],
    ) -> Result<()>;
}

impl<'scope> ScopedTransfers<'scope> for Transfers<'scope, '_> {
    fn upload_rows(
        &'scope self,
        lane: usize,
        source: &'scope [u8],
        rows: Rows,
        destination: &mut DeviceMemory,
        offset: usize,
    ) -> Result<()> {
        // SAFETY: the source is borrowed until `overlapped` has waited for the stream.
        unsafe { enqueue_upload_rows(self.gpu, self.stream(lane)?, source, rows, destination, offset) }
    }

    fn download(
        &'scope self,
        lane: usize,
        source: &DeviceMemory,
        offset: usize,
        destination: &'scope mut [u8],
    ) -> Result<()> {
        Transfers::download(self, lane, source, offset, destination)
    }
}

/// Enqueues a copy of rows to the device.
///
/// # Safety
/// As for [`enqueue_upload`].
unsafe fn enqueue_upload_rows(
    gpu: &Gpu,
    stream: &GpuStream,
    source: &[u8],
    rows: Rows,
    destination: &mut DeviceMemory,
    offset: usize,
) -> Result<()> {
    let Rows { offset: begin, pitch, width, count } = rows;
    if width == 0 || count == 0 {
        return Ok(());
    }
    let end = (count - 1).checked_mul(pitch).and_then(|e| e.checked_add(width)?.checked_add(begin));
    if end.is_none_or(|e| e > source.len()) || width > pitch {
        return Err(Error::Internal(format!("{rows:?} in an array of {} bytes", source.len())));
    }
    let to = destination.range(offset, width * count)?;
    let source = &source[begin..];
    let entered = gpu.begin_copy("cuMemcpy2DAsync")?;
    let copy = sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: source.as_ptr().cast(),
        srcDevice: 0,
        srcArray: std::ptr::null_mut(),
        srcPitch: pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: std::ptr::null_mut(),
        dstDevice: to,
        dstArray: std::ptr::null_mut(),
        dstPitch: width,
        WidthInBytes: width,
        Height: count,
    };
    if pitch <= WIDEST_PITCH {
        // SAFETY: both ranges were checked above; the source's staying is the caller's promise.
        let code = unsafe { (entered.api().cuMemcpy2DAsync_v2)(&copy, stream.queue().raw()) };
        return entered.check("cuMemcpy2DAsync", code);
    }
    for (k, row) in (0..count).map(|k| (k, &source[k * pitch..k * pitch + width])) {
        let to = to + crate::shape::to_u64(k * width);
        // SAFETY: as above.
        let code =
            unsafe { (entered.api().cuMemcpyHtoDAsync_v2)(to, row.as_ptr().cast(), width, stream.queue().raw()) };
        entered.check("cuMemcpyHtoDAsync", code)?;
    }
    Ok(())
}

/// Largest pitch with which every driver copies rows by one call.
const WIDEST_PITCH: usize = 0x7fff_ffff;

/// Enqueues a copy to the device.
///
/// # Safety
/// If `source` is page-locked it stays valid and unchanged until the stream has passed the copy.
pub(super) unsafe fn enqueue_upload(
    gpu: &Gpu,
    stream: &GpuStream,
    source: &[u8],
    destination: &mut DeviceMemory,
    offset: usize,
) -> Result<()> {
    let to = destination.range(offset, source.len())?;
    let entered = gpu.begin_copy("cuMemcpyHtoDAsync")?;
    if source.is_empty() {
        return Ok(());
    }
    // SAFETY: the destination's range lies inside its memory; the source is the caller's promise.
    let code =
        unsafe { (entered.api().cuMemcpyHtoDAsync_v2)(to, source.as_ptr().cast(), source.len(), stream.queue().raw()) };
    entered.check("cuMemcpyHtoDAsync", code)
}

/// Enqueues a copy to the host.
///
/// # Safety
/// `destination` stays valid and untouched until the stream has passed the copy.
pub(super) unsafe fn enqueue_download(
    gpu: &Gpu,
    stream: &GpuStream,
    source: &DeviceMemory,
    offset: usize,
    destination: &mut [u8],
) -> Result<()> {
    let from = source.range(offset, destination.len())?;
    let entered = gpu.begin_copy("cuMemcpyDtoHAsync")?;
    if destination.is_empty() {
        return Ok(());
    }
    // SAFETY: the source's range lies inside its memory; the destination is the caller's promise.
    let code = unsafe {
        (entered.api().cuMemcpyDtoHAsync_v2)(
            destination.as_mut_ptr().cast(),
            from,
            destination.len(),
            stream.queue().raw(),
        )
    };
    entered.check("cuMemcpyDtoHAsync", code)
}

/// Fault point: a test can make a copy fail here.
#[cfg(feature = "fault-injection")]
#[track_caller]
fn fault(call: &'static str) -> Result<()> {
    super::faults::injected(crate::fault::Kind::Copy, call)
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
fn fault(_: &'static str) -> Result<()> {
    Ok(())
}
