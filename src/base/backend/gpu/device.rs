//! The list of devices, and an open device. A device is opened through its primary context, which it shares with the CUDA
//! runtime code of the host program.

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};

use cudarc::driver::sys;
use cudarc::driver::sys::CUdevice_attribute::{
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE as CLOCK, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE as L2,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN as SHARED,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED as POOLS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT as MULTIPROCESSORS,
};
use cudarc::driver::sys::{CUcontext, CUdevice, CUevent, CUmemoryPool, CUstream};

use super::driver::{self, Api};
use super::dynamic::expect_memory;
use super::exit::{self, Inside};
use super::handles::Handles;
use super::loaded::Modules;
use crate::backend::budget::Budget;
use crate::backend::fork;
use crate::backend::signals::start_blocked;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Properties of a GPU, as the driver reports them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Ordinal of the device, as the driver counts.
    pub ordinal: i32,
    /// The driver's name of it.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (i32, i32),
    /// Streaming multiprocessors; each runs several blocks of threads at a time.
    pub multiprocessors: i32,
    /// Bytes of device memory, free or not.
    pub memory_total: u64,
    /// Bytes of device memory that are free now.
    pub memory_free: u64,
    /// Bytes of L2 cache.
    pub l2_bytes: u64,
    /// Most bytes of shared memory that a block can have.
    pub shared_memory_per_block: u64,
    /// Peak clock of the multiprocessors, kHz.
    pub clock_khz: i32,
    /// Version of the driver's CUDA interface, e.g. 13000.
    pub driver_version: i32,
}

/// The handler of the process's end, behind the driver's.
static EXIT: Once = Once::new();

/// Number of GPUs; 0 without a driver.
pub(super) fn count() -> Result<i32> {
    let api = match Api::get() {
        Err(Error::NoDevice(_)) => return Ok(0),
        other => other?,
    };
    let mut count = 0;
    // SAFETY: writes one integer.
    api.check("cuDeviceGetCount", unsafe { (api.cuDeviceGetCount)(&mut count) })?;
    Ok(count)
}

fn find(api: &Api, ordinal: i32) -> Result<CUdevice> {
    let devices = count()?;
    if !(0..devices).contains(&ordinal) {
        return Err(Error::NoDevice(format!("device {ordinal} is asked for, this machine has {devices}")));
    }
    let mut device = 0;
    // SAFETY: writes one integer.
    api.check("cuDeviceGet", unsafe { (api.cuDeviceGet)(&mut device, ordinal) })?;
    Ok(device)
}

/// Properties that do not change; free memory is filled in with a context.
fn describe(api: &Api, ordinal: i32, device: CUdevice) -> Result<DeviceInfo> {
    let mut name = [0u8; 128];
    let length = i32::try_from(name.len() - 1).unwrap_or(0);
    // SAFETY: the driver writes at most `length` bytes, its final zero included.
    api.check("cuDeviceGetName", unsafe { (api.cuDeviceGetName)(name.as_mut_ptr().cast(), length, device) })?;
    let end = name.iter().position(|c| *c == 0).unwrap_or(0);
    let mut total = 0;
    // SAFETY: writes one size.
    api.check("cuDeviceTotalMem", unsafe { (api.cuDeviceTotalMem_v2)(&mut total, device) })?;
    let mut driver_version = 0;
    // SAFETY: writes one integer.
    api.check("cuDriverGetVersion", unsafe { (api.cuDriverGetVersion)(&mut driver_version) })?;
    let bytes = |a| api.attribute(device, a).map(|v| u64::try_from(v).unwrap_or(0));
    Ok(DeviceInfo {
        ordinal,
        name: String::from_utf8_lossy(&name[..end]).into_owned(),
        compute_capability: (api.attribute(device, MAJOR)?, api.attribute(device, MINOR)?),
        multiprocessors: api.attribute(device, MULTIPROCESSORS)?,
        memory_total: to_u64(total),
        memory_free: 0,
        l2_bytes: bytes(L2)?,
        shared_memory_per_block: bytes(SHARED)?,
        // Newer drivers may drop this attribute; its absence is no reason to fail.
        clock_khz: api.attribute(device, CLOCK).unwrap_or(0),
        driver_version,
    })
}

/// Properties of GPU `ordinal`, with the memory that is free now.
pub(super) fn info(ordinal: i32) -> Result<DeviceInfo> {
    let device = Device::open(ordinal, &Budget::new(0))?;
    let mut info = device.info.clone();
    info.memory_free = device.memory_free()?;
    Ok(info)
}

/// A queue, and the event that marks its progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) stream: CUstream,
    pub(super) event: CUevent,
}

/// A GPU whose primary context this value holds.
pub(super) struct Device {
    pub(super) api: &'static Api,
    pub(super) info: DeviceInfo,
    pub(super) budget: Arc<Budget>,
    pub(super) modules: Modules,
    pub(super) blas: Handles,
    pub(super) solvers: Handles,
    handle: CUdevice,
    context: CUcontext,
    /// Pool of device memory; `None` on devices that cannot allocate in stream order.
    pub(super) pool: Option<CUmemoryPool>,
    /// Queue of allocations. It never waits for another queue.
    pub(super) allocations: CUstream,
    /// Queue of releases: waits for the queues that may still use the memory.
    pub(super) releases: CUstream,
    queues: Mutex<Vec<Mark>>,
    generation: u64,
    failure: OnceLock<Error>,
}

// SAFETY: the raw handles are the driver's, which may be used from any thread; everything else is Send and Sync.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    /// Opens GPU `ordinal`; device memory is charged to `budget`. The driver starts threads here, which block the host's
    /// signals as purlin's own do.
    pub(super) fn open(ordinal: i32, budget: &Arc<Budget>) -> Result<Arc<Self>> {
        start_blocked(|| Self::open_here(ordinal, budget))
    }

    fn open_here(ordinal: i32, budget: &Arc<Budget>) -> Result<Arc<Self>> {
        let api = Api::get()?;
        let handle = find(api, ordinal)?;
        let info = describe(api, ordinal, handle)?;
        let mut context = std::ptr::null_mut();
        expect_memory()?;
        // SAFETY: writes one handle; `Drop` gives the reference back.
        api.check("cuDevicePrimaryCtxRetain", unsafe { (api.cuDevicePrimaryCtxRetain)(&mut context, handle) })?;
        exit::watch(&EXIT);
        let mut device = Self {
            api,
            info,
            budget: Arc::clone(budget),
            modules: Modules::default(),
            blas: Handles::default(),
            solvers: Handles::default(),
            handle,
            context,
            pool: None,
            allocations: std::ptr::null_mut(),
            releases: std::ptr::null_mut(),
            queues: Mutex::new(Vec::new()),
            generation: fork::generation(),
            failure: OnceLock::new(),
        };
        device.set_up()?;
        Ok(Arc::new(device))
    }

    fn set_up(&mut self) -> Result<()> {
        // One after the other, each owned by `self` before the next can fail.
        let pool = self.enter().and_then(|e| e.create_pool())?;
        self.pool = pool;
        let stream = self.enter().and_then(|e| e.create_stream(NON_BLOCKING))?;
        self.allocations = stream;
        let stream = self.enter().and_then(|e| e.create_stream(NON_BLOCKING))?;
        self.releases = stream;
        Ok(())
    }

    /// Makes this device's context the calling thread's current one until the returned value goes.
    pub(super) fn enter(&self) -> Result<Entered<'_>> {
        self.check_alive()?;
        let inside = Inside::new()?;
        // SAFETY: the context is retained as long as `self` lives.
        self.api.check("cuCtxPushCurrent", unsafe { (self.api.cuCtxPushCurrent_v2)(self.context) })?;
        Ok(Entered { device: self, _inside: inside })
    }

    /// The error that killed the device's context, if there was one.
    pub(super) fn check_alive(&self) -> Result<()> {
        if self.is_forked() {
            return Err(Error::Forked("context"));
        }
        self.failure.get().map_or(Ok(()), |e| Err(e.clone()))
    }

    /// Whether this process inherited the device over a `fork()` and must leave it alone.
    pub(super) fn is_forked(&self) -> bool {
        fork::happened_since(self.generation)
    }

    /// `Ok` for success; remembers an error that kills the context, for every later call to answer.
    pub(super) fn check(&self, call: &'static str, code: u32) -> Result<()> {
        if code == driver::SUCCESS {
            return Ok(());
        }
        let error = self.api.error(call, code);
        if driver::is_sticky(code) {
            let _ = self.failure.set(error.clone());
        }
        Err(error)
    }

    /// Bytes of device memory that are free now, whoever's they might be.
    pub(super) fn memory_free(&self) -> Result<u64> {
        let entered = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two sizes.
        self.check("cuMemGetInfo", unsafe { (entered.api().cuMemGetInfo_v2)(&mut free, &mut total) })?;
        Ok(to_u64(free))
    }

    /// The context, to compare with a stream's.
    pub(super) fn context(&self) -> CUcontext {
        self.context
    }

    /// Lets `other` read and write memory that was or will be allocated here, if the hardware can. Returns whether it
    /// can.
    pub(super) fn open_to(&self, other: &Self) -> Result<bool> {
        if self.handle == other.handle {
            return Ok(true);
        }
        let entered = self.enter()?;
        let mut can: c_int = 0;
        // SAFETY: handles of devices; writes one integer.
        let code = unsafe { (self.api.cuDeviceCanAccessPeer)(&mut can, other.handle, self.handle) };
        entered.check("cuDeviceCanAccessPeer", code)?;
        let Some(pool) = self.pool.filter(|_| can != 0) else { return Ok(false) };
        let access = sys::CUmemAccessDesc {
            location: sys::CUmemLocation {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: other.handle,
            },
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: reads one description; the pool is this device's own.
        let code = unsafe { (self.api.cuMemPoolSetAccess)(pool, &access, 1) };
        entered.check("cuMemPoolSetAccess", code).map(|()| true)
    }

    fn marks(&self) -> MutexGuard<'_, Vec<Mark>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a queue, for [`Device::fence`].
    pub(super) fn register(&self, queue: Mark) {
        self.marks().push(queue);
    }

    /// Forgets a queue. From now on every release of memory waits for the work that is still in it.
    pub(super) fn retire(&self, entered: &Entered<'_>, queue: Mark) {
        // Under the lock: no release can fall between this wait and the removal.
        let mut marks = self.marks();
        // A captured queue is not waited for, because the wait would be captured too.
        if !entered.is_captured(queue.stream) {
            let _ = entered.wait(self.releases, queue);
        }
        marks.retain(|q| q.event != queue.event);
    }

    /// Makes the queue of releases wait for everything enqueued so far, on every queue.
    ///
    /// # Errors
    /// [`Error::Cuda`], also where work on one goes to a graph, which nothing else may become part of.
    pub(super) fn fence(&self, entered: &Entered<'_>) -> Result<()> {
        let marks = self.marks();
        if marks.iter().any(|q| entered.is_captured(q.stream)) {
            let (call, name) = ("cuStreamIsCapturing", "a queue is captured".into());
            return Err(Error::Cuda { call, name, code: -1 });
        }
        marks.iter().try_for_each(|q| entered.wait(self.releases, *q))
    }

    /// Waits for all work that was enqueued so far on any queue, except captured work.
    pub(super) fn drain(&self, entered: &Entered<'_>) -> Result<()> {
        let marks = self.marks();
        marks.iter().filter(|q| !entered.is_captured(q.stream)).try_for_each(|q| entered.wait(self.releases, *q))?;
        drop(marks);
        // SAFETY: a handle of this device.
        let code = entered.beside_graphs(|| unsafe { (self.api.cuStreamSynchronize)(self.releases) })?;
        entered.check("cuStreamSynchronize", code)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.is_forked() {
            return;
        }
        // If another thread ends the process, its exit handlers destroy these objects, so this thread does not.
        let Ok(_inside) = Inside::new() else { return };
        let api = self.api;
        // Errors are ignored: a dead context refuses these calls, and has already freed its objects. SAFETY: every
        // handle was made in this context and is used no more; handles that could not be made are null or absent.
        unsafe {
            if (api.cuCtxPushCurrent_v2)(self.context) == driver::SUCCESS {
                self.blas.destroy_idle();
                self.solvers.destroy_idle();
                self.modules.unload(api);
                for stream in [self.allocations, self.releases].into_iter().filter(|s| !s.is_null()) {
                    let _ = (api.cuStreamSynchronize)(stream);
                    let _ = (api.cuStreamDestroy_v2)(stream);
                }
                if let Some(pool) = self.pool {
                    let _ = (api.cuMemPoolDestroy)(pool);
                }
                let _ = (api.cuCtxPopCurrent_v2)(&mut std::ptr::null_mut());
            }
            let _ = (api.cuDevicePrimaryCtxRelease_v2)(self.handle);
        }
    }
}

/// Flag of a stream that does not wait for the caller's work on the legacy default stream.
pub(super) const NON_BLOCKING: c_uint = 1;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`: captures by other threads do not make calls of this thread fail.
const RELAXED: c_uint = 2;

/// Largest number of freed bytes that the pool keeps for reuse. The host program cannot use the bytes that are kept.
const POOL_KEEPS: u64 = 1 << 30;

/// A thread on which a device's context is current. Restores the thread's previous context when it is dropped.
pub(super) struct Entered<'a> {
    device: &'a Device,
    // Not Send either, because the stack of contexts belongs to the thread. Dropped after the context was put back.
    _inside: Inside,
}

impl Entered<'_> {
    pub(super) fn api(&self) -> &'static Api {
        self.device.api
    }

    pub(super) fn check(&self, call: &'static str, code: u32) -> Result<()> {
        self.device.check(call, code)
    }

    pub(super) fn create_stream(&self, flags: c_uint) -> Result<CUstream> {
        let mut stream = std::ptr::null_mut();
        // SAFETY: writes one handle.
        self.check("cuStreamCreate", unsafe { (self.api().cuStreamCreate)(&mut stream, flags) })?;
        Ok(stream)
    }

    /// Makes `waiting` wait for everything enqueued on `queue` so far.
    pub(super) fn wait(&self, waiting: CUstream, queue: Mark) -> Result<()> {
        // SAFETY: handles of this device.
        self.check("cuEventRecord", unsafe { (self.api().cuEventRecord)(queue.event, queue.stream) })?;
        // SAFETY: as above.
        self.check("cuStreamWaitEvent", unsafe { (self.api().cuStreamWaitEvent)(waiting, queue.event, 0) })
    }

    /// As [`super::Gpu::beside_graphs`], for work whose result, for example a new handle, must not be lost.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub(super) fn beside_graphs<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        /// Restores the thread's capture mode, also while a panic unwinds. An error is ignored, so that the result of
        /// `work` is not lost: a driver that refuses this has failed, and the next call reports it.
        struct Back<'e, 'a>(&'e Entered<'a>, c_uint);
        impl Drop for Back<'_, '_> {
            fn drop(&mut self) {
                let _ = self.0.exchange_capture_mode(&mut self.1);
            }
        }
        let mut mode = RELAXED;
        self.exchange_capture_mode(&mut mode)?;
        let _back = Back(self, mode);
        Ok(work())
    }

    fn exchange_capture_mode(&self, mode: &mut c_uint) -> Result<()> {
        // SAFETY: reads and writes one number.
        let code = unsafe { (self.api().cuThreadExchangeStreamCaptureMode)(mode) };
        self.check("cuThreadExchangeStreamCaptureMode", code)
    }

    /// Whether work on `stream` goes to a graph instead of the device.
    pub(super) fn is_captured(&self, stream: CUstream) -> bool {
        let mut status: c_int = 0;
        // SAFETY: a handle of this device; writes one number.
        let code = unsafe { (self.api().cuStreamIsCapturing)(stream, &mut status) };
        // The query fails for the legacy stream while a stream that waits for it is captured.
        code != driver::SUCCESS || status != 0
    }

    fn create_pool(&self) -> Result<Option<CUmemoryPool>> {
        let (api, device) = (self.api(), self.device);
        if api.attribute(device.handle, POOLS)? == 0 {
            return Ok(None);
        }
        let properties = sys::CUmemPoolProps {
            allocType: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: sys::CUmemLocation {
                type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: device.handle,
            },
            win32SecurityAttributes: std::ptr::null_mut(),
            reserved: [0; 64],
        };
        let mut pool = std::ptr::null_mut();
        // SAFETY: reads the properties, writes one handle.
        self.check("cuMemPoolCreate", unsafe { (api.cuMemPoolCreate)(&mut pool, &properties) })?;
        let mut keep = POOL_KEEPS.min(device.info.memory_total / 16);
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD as c_uint;
        // SAFETY: this attribute is read as a 64-bit unsigned integer.
        let code = unsafe { (api.cuMemPoolSetAttribute)(pool, threshold, (&raw mut keep).cast()) };
        if let Err(e) = self.check("cuMemPoolSetAttribute", code) {
            // SAFETY: made above and used nowhere.
            let _ = unsafe { (api.cuMemPoolDestroy)(pool) };
            return Err(e);
        }
        Ok(Some(pool))
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        // SAFETY: pops the context that `enter` pushed on this thread; the value cannot be sent to another.
        let _ = unsafe { (self.api().cuCtxPopCurrent_v2)(&mut std::ptr::null_mut()) };
    }
}
