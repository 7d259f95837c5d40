//! Queues of a device: purlin's own and the caller's.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{CUevent, CUstream};

use super::device::{Device, Entered, Mark, NON_BLOCKING};
use super::driver;
use super::recording::Recording;
use crate::error::{Error, Result};

/// A queue of a GPU. Clones are the same queue.
#[derive(Clone)]
pub struct GpuStream {
    queue: Arc<Queue>,
}

/// A driver stream, which is destroyed on drop only if `is_owned`.
pub(super) struct Queue {
    device: Arc<Device>,
    mark: Mark,
    is_owned: bool,
    /// The recording that gets the launches, if they are recorded instead of run.
    recording: Option<Recording>,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

/// `CUDA_ERROR_NOT_READY`.
const NOT_READY: u32 = 600;

/// Time for which a polling wait only yields, as the driver's waits do, before it sleeps.
const SPINNING: Duration = Duration::from_millis(2);

/// The longest pause between two polls.
const LONGEST_NAP: Duration = Duration::from_millis(2);

/// `CU_EVENT_DISABLE_TIMING`: events that only order work are cheaper than timing events.
const DISABLE_TIMING: c_uint = 2;

fn create_event(entered: &Entered<'_>, flags: c_uint) -> Result<CUevent> {
    let mut event = std::ptr::null_mut();
    // SAFETY: writes one handle.
    entered.check("cuEventCreate", unsafe { (entered.api().cuEventCreate)(&mut event, flags) })?;
    Ok(event)
}

impl Queue {
    fn new(device: &Arc<Device>, stream: CUstream, is_owned: bool) -> Result<Arc<Self>> {
        let mut queue = Self::unmarked(device, stream, is_owned);
        queue.mark.event = create_event(&device.enter()?, DISABLE_TIMING)?;
        device.register(queue.mark);
        Ok(Arc::new(queue))
    }

    /// A queue that no release of memory waits for. It owns the stream at once, so that a later failure also frees it.
    fn unmarked(device: &Arc<Device>, stream: CUstream, is_owned: bool) -> Self {
        Self {
            device: Arc::clone(device),
            mark: Mark { stream, event: std::ptr::null_mut() },
            is_owned,
            recording: None,
        }
    }

    /// The recording that gets the launches, if there is one.
    pub(super) fn recording(&self) -> Option<&Recording> {
        self.recording.as_ref()
    }

    pub(super) fn raw(&self) -> CUstream {
        self.mark.stream
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let Ok(entered) = self.device.enter() else { return };
        let api = entered.api();
        if !self.mark.event.is_null() {
            self.device.retire(&entered, self.mark);
            // SAFETY: made in `create_event`, used no more; the driver keeps it until its record has passed.
            let _ = unsafe { (api.cuEventDestroy_v2)(self.mark.event) };
        }
        if self.is_owned {
            // SAFETY: made in `GpuStream::create`; the driver finishes its work before it goes.
            let _ = unsafe { (api.cuStreamDestroy_v2)(self.mark.stream) };
        }
    }
}

/// `CU_STREAM_PER_THREAD`: one name for a different queue on each thread.
const PER_THREAD: u64 = 2;

impl GpuStream {
    /// A new queue. Like the runtime's ordinary streams it waits for the caller's work on the legacy default stream, so that
    /// work here sees data that the caller has just copied there.
    pub(super) fn create(device: &Arc<Device>) -> Result<Self> {
        let raw = device.enter()?.create_stream(0)?;
        Ok(Self { queue: Queue::new(device, raw, true)? })
    }

    /// A new queue that waits for no other, for copies that overlap with arithmetic.
    pub(super) fn create_independent(device: &Arc<Device>) -> Result<Self> {
        let raw = device.enter()?.create_stream(NON_BLOCKING)?;
        Ok(Self { queue: Queue::new(device, raw, true)? })
    }

    /// A new queue whose launches are added to `recording` and do not run. Releases of memory do not wait for it.
    pub(super) fn create_recorder(device: &Arc<Device>, recording: Recording) -> Result<Self> {
        let raw = device.enter()?.create_stream(NON_BLOCKING)?;
        let mut queue = Queue::unmarked(device, raw, true);
        queue.recording = Some(recording);
        Ok(Self { queue: Arc::new(queue) })
    }

    /// A caller's `CUstream`, which stays the caller's.
    pub(super) fn wrap(device: &Arc<Device>, raw: u64) -> Result<Self> {
        let entered = device.enter()?;
        if raw == PER_THREAD {
            // Releases wait for a queue by its name, on any thread, and there this name would be another queue.
            let problem = "is the per-thread default stream, of which every thread has its own";
            return Err(Error::invalid("cuda_stream", problem));
        }
        // 0 and 1 are the driver's names of the legacy default stream, which belongs to the current context.
        if raw > PER_THREAD {
            let mut context = std::ptr::null_mut();
            // SAFETY: the caller promises a live stream; writes one handle.
            let code = unsafe { (entered.api().cuStreamGetCtx)(raw as CUstream, &mut context) };
            if code != driver::SUCCESS {
                return Err(Error::invalid("cuda_stream", format!("{raw:#x} is not a stream of the driver")));
            }
            if context != device.context() {
                let ordinal = device.info.ordinal;
                return Err(Error::invalid(
                    "cuda_stream",
                    format!("{raw:#x} is a stream of another device or context than GPU {ordinal}'s primary one"),
                ));
            }
        }
        drop(entered);
        Ok(Self { queue: Queue::new(device, raw as CUstream, false)? })
    }

    /// Waits until everything enqueued is done.
    ///
    /// # Errors
    /// [`Error::Cuda`], also for enqueued work that failed.
    pub fn synchronize(&self) -> Result<()> {
        let entered = self.queue.device.enter()?;
        // SAFETY: a handle of this device.
        entered.check("cuStreamSynchronize", unsafe { (entered.api().cuStreamSynchronize)(self.queue.raw()) })
    }

    /// Whether work goes to a graph instead of the device.
    ///
    /// # Errors
    /// [`Error::Cuda`] if the device's context cannot be made current.
    pub fn is_captured(&self) -> Result<bool> {
        Ok(self.queue.device.enter()?.is_captured(self.queue.raw()))
    }

    /// Number of the capture that work goes to, if it goes to one.
    ///
    /// # Errors
    /// [`Error::Cuda`] for the legacy stream while one that waits for it is captured.
    pub fn capture(&self) -> Result<Option<u64>> {
        let entered = self.queue.device.enter()?;
        let (mut status, mut number): (c_int, u64) = (0, 0);
        let (graph, nodes, count) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a handle of this device; writes two numbers, and nothing where there is no address.
        let code = unsafe {
            (entered.api().cuStreamGetCaptureInfo_v2)(self.queue.raw(), &mut status, &mut number, graph, nodes, count)
        };
        entered.check("cuStreamGetCaptureInfo", code)?;
        Ok((status != 0).then_some(number))
    }

    /// Makes later work on this queue wait for the work that is enqueued on `other` now.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn wait_for(&self, other: &Self) -> Result<()> {
        if Arc::ptr_eq(&self.queue, &other.queue) {
            return Ok(());
        }
        let entered = self.queue.device.enter()?;
        entered.wait(self.queue.raw(), other.queue.mark)
    }

    /// A mark after all work enqueued so far.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn record(&self) -> Result<Event> {
        self.mark(DISABLE_TIMING)
    }

    /// A mark that also records the time at which the work before it was done.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn record_time(&self) -> Result<Event> {
        self.mark(0)
    }

    fn mark(&self, flags: c_uint) -> Result<Event> {
        let entered = self.queue.device.enter()?;
        let event = Event { event: create_event(&entered, flags)?, queue: Arc::clone(&self.queue) };
        // SAFETY: handles of this device.
        entered.check("cuEventRecord", unsafe { (entered.api().cuEventRecord)(event.event, self.queue.raw()) })?;
        Ok(event)
    }

    /// The driver's handle, as the C interface shows it.
    pub fn raw(&self) -> u64 {
        self.queue.raw() as u64
    }

    pub(super) fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }
}

/// A mark in a queue.
pub struct Event {
    event: CUevent,
    queue: Arc<Queue>,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Waits until the work before the mark is done.
    ///
    /// # Errors
    /// [`Error::Cuda`], also for the work that failed.
    pub fn synchronize(&self) -> Result<()> {
        let entered = self.queue.device.enter()?;
        // SAFETY: a handle of this device.
        entered.check("cuEventSynchronize", unsafe { (entered.api().cuEventSynchronize)(self.event) })
    }

    /// Waits until the work before the mark is done, and calls `poll` meanwhile. An error of `poll` does not cancel the
    /// enqueued work, which is still done.
    ///
    /// # Errors
    /// The error of `poll`; [`crate::error::Error::Cuda`].
    pub fn synchronize_with(&self, poll: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let begin = Instant::now();
        while !self.is_done()? {
            if let Err(error) = poll() {
                GpuStream { queue: Arc::clone(&self.queue) }.synchronize()?;
                return Err(error);
            }
            let waited = begin.elapsed();
            if waited < SPINNING {
                std::thread::yield_now();
            } else {
                // The pause is a small part of the time so far, so the delay is relatively small.
                std::thread::sleep((waited / 64).min(LONGEST_NAP));
            }
        }
        Ok(())
    }

    /// Whether the work before the mark is done.
    fn is_done(&self) -> Result<bool> {
        let entered = self.queue.device.enter()?;
        // SAFETY: a handle of this device.
        match unsafe { (entered.api().cuEventQuery)(self.event) } {
            NOT_READY => Ok(false),
            code => entered.check("cuEventQuery", code).map(|()| true),
        }
    }

    /// Seconds from `earlier` to this mark, both made by [`GpuStream::record_time`]; waits for this one.
    ///
    /// # Errors
    /// [`Error::Cuda`], also for marks without a time.
    pub fn seconds_since(&self, earlier: &Self) -> Result<f64> {
        self.synchronize()?;
        earlier.synchronize()?;
        let entered = self.queue.device.enter()?;
        let mut milliseconds = 0f32;
        // SAFETY: marks of this device that were passed; writes one number.
        let code = unsafe { (entered.api().cuEventElapsedTime)(&mut milliseconds, earlier.event, self.event) };
        entered.check("cuEventElapsedTime", code)?;
        Ok(f64::from(milliseconds) * 1e-3)
    }

    /// Makes later work on `stream`, which may be of another device, wait for the mark.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn make_wait(&self, stream: &GpuStream) -> Result<()> {
        let entered = stream.queue.device.enter()?;
        // SAFETY: a stream of this device, and a mark of any.
        let code = unsafe { (entered.api().cuStreamWaitEvent)(stream.queue.raw(), self.event, 0) };
        entered.check("cuStreamWaitEvent", code)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(entered) = self.queue.device.enter() {
            // SAFETY: made in `record`, destroyed once.
            let _ = unsafe { (entered.api().cuEventDestroy_v2)(self.event) };
        }
    }
}
