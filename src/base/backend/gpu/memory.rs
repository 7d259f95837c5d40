//! Device memory and page-locked host memory, each with one owner.

use std::ffi::{c_uint, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::sys::CUpointer_attribute::{
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL as ORDINAL, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE as WHOLE,
    CU_POINTER_ATTRIBUTE_IS_MANAGED as MANAGED, CU_POINTER_ATTRIBUTE_MEMORY_TYPE as TYPE,
    CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE as POOL, CU_POINTER_ATTRIBUTE_RANGE_SIZE as RANGE_SIZE,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR as RANGE_START,
};
use cudarc::driver::sys::CUstream;

use super::device::{Device, Entered};
use super::driver::OUT_OF_MEMORY;
use super::stream::Queue;
use crate::backend::budget::{Charge, Release};
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Memory of a GPU, owned by purlin, by the caller or by another library.
pub struct DeviceMemory {
    address: u64,
    bytes: usize,
    owner: Owner,
}

enum Owner {
    Purlin {
        device: Arc<Device>,
        /// The only queue that uses the memory; `None` if any queue may.
        home: Option<Arc<Queue>>,
        _charge: Charge,
    },
    Caller,
    Foreign(Option<Release>),
}

impl DeviceMemory {
    /// Zeroed memory. With a `home` it is allocated and freed in the order of that queue. Without one it is available on
    /// return, and is freed when no queue uses it any more.
    pub(super) fn allocate(
        device: &Arc<Device>,
        home: Option<Arc<Queue>>,
        what: &'static str,
        bytes: usize,
    ) -> Result<Self> {
        let stream = home.as_ref().map_or(device.allocations, |q| q.raw());
        let is_shared = home.is_none();
        let memory = Self::allocate_uninitialized(device, home, what, bytes)?;
        if bytes > 0 {
            let entered = device.enter()?;
            // SAFETY: `bytes` bytes were allocated at `address`, in the order of `stream`.
            let code = unsafe { (entered.api().cuMemsetD8Async)(memory.address, 0, bytes, stream) };
            entered.check("cuMemsetD8Async", code)?;
            if is_shared {
                // SAFETY: a handle of this device.
                let code = unsafe { (entered.api().cuStreamSynchronize)(stream) };
                entered.check("cuStreamSynchronize", code)?;
            }
        }
        Ok(memory)
    }

    /// As [`DeviceMemory::allocate`], with undefined contents, which must be written before they are read.
    pub(super) fn allocate_uninitialized(
        device: &Arc<Device>,
        home: Option<Arc<Queue>>,
        what: &'static str,
        bytes: usize,
    ) -> Result<Self> {
        device.check_alive()?;
        let wanted = to_u64(bytes);
        let refused = |limit| Error::OutOfDeviceMemory { what, bytes: wanted, limit };
        let charge = device.budget.charge(wanted).ok_or_else(|| refused(device.budget.limit()))?;
        fault(wanted, || refused(None))?;
        // More than the total memory always fails. Some drivers then report an invalid value, so it is refused here.
        if wanted > device.info.memory_total {
            return Err(refused(None));
        }
        let entered = device.enter()?;
        let stream = home.as_ref().map_or(device.allocations, |q| q.raw());
        let mut address = 0;
        if bytes > 0 {
            let mut code = allocate_once(&entered, device, stream, bytes, &mut address);
            if code == OUT_OF_MEMORY
                && let Some(pool) = device.pool
            {
                // Releases may still wait for running work. They are waited for before the next attempt.
                // SAFETY: handles of this device.
                unsafe {
                    let _ = (entered.api().cuStreamSynchronize)(device.releases);
                    let _ = (entered.api().cuMemPoolTrimTo)(pool, 0);
                }
                code = allocate_once(&entered, device, stream, bytes, &mut address);
            }
            if code == OUT_OF_MEMORY {
                return Err(refused(None));
            }
            entered.check("cuMemAllocFromPoolAsync", code)?;
        }
        let is_shared = home.is_none();
        let memory =
            Self { address, bytes, owner: Owner::Purlin { device: Arc::clone(device), home, _charge: charge } };
        if is_shared && bytes > 0 {
            // SAFETY: a handle of this device.
            let code = unsafe { (entered.api().cuStreamSynchronize)(stream) };
            entered.check("cuStreamSynchronize", code)?;
        }
        Ok(memory)
    }

    /// Memory of another owner. The driver confirms that it is this device's and, if it knows the size, that it is long
    /// enough. `release` is called once: when the value is dropped, or now if the memory is refused.
    pub(super) fn borrow(
        device: &Device,
        argument: &str,
        address: u64,
        bytes: usize,
        release: Option<Release>,
    ) -> Result<Self> {
        let owner = if release.is_some() { Owner::Foreign(release) } else { Owner::Caller };
        let memory = Self { address, bytes, owner };
        if bytes > 0 {
            check_range(device, argument, address, bytes)?;
        }
        Ok(memory)
    }

    /// Address of the first byte.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether purlin allocated the memory, not the caller: it is then charged and freed by purlin.
    pub fn is_owned(&self) -> bool {
        matches!(self.owner, Owner::Purlin { .. })
    }

    /// `bytes` bytes from `offset` on, for a kernel.
    ///
    /// # Errors
    /// [`Error::Internal`] for bytes outside of the memory.
    pub fn region(&self, offset: usize, bytes: usize) -> Result<Region<'_>> {
        Ok(Region { address: self.range(offset, bytes)?, bytes, memory: PhantomData })
    }

    /// The whole memory, for a kernel.
    pub fn whole(&self) -> Region<'_> {
        Region { address: self.address, bytes: self.bytes, memory: PhantomData }
    }

    /// `bytes` bytes from the first on, for a kernel. For arrays that were borrowed piece by piece: the caller has
    /// checked that other memories, which live as long, follow without a gap.
    pub fn reaching(&self, bytes: usize) -> Region<'_> {
        Region { address: self.address, bytes, memory: PhantomData }
    }

    /// Address of the byte at `offset`, if `bytes` bytes from there lie inside.
    pub(super) fn range(&self, offset: usize, bytes: usize) -> Result<u64> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(self.address + to_u64(offset)),
            _ => Err(Error::Internal(format!("{bytes} bytes at {offset} of device memory of {} bytes", self.bytes))),
        }
    }
}

/// Part of a device memory, borrowed by kernels. Only the order of streams determines when writes through it are visible, as
/// for all device memory.
#[derive(Debug, Clone, Copy)]
pub struct Region<'a> {
    address: u64,
    bytes: usize,
    memory: PhantomData<&'a DeviceMemory>,
}

impl Region<'_> {
    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// `bytes` bytes of it from `offset` on.
    ///
    /// # Errors
    /// [`Error::Internal`] for bytes outside of the region.
    pub fn part(self, offset: usize, bytes: usize) -> Result<Self> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => {
                Ok(Self { address: self.address + to_u64(offset), bytes, memory: PhantomData })
            }
            _ => Err(Error::Internal(format!("{bytes} bytes at {offset} of a region of {} bytes", self.bytes))),
        }
    }

    /// The address, if the region holds `count` elements of `size` bytes, aligned to that size.
    pub(super) fn array(&self, what: &str, count: usize, size: usize) -> Result<u64> {
        let wanted = count.checked_mul(size);
        if wanted.is_none_or(|w| w > self.bytes) {
            let bytes = self.bytes;
            return Err(Error::Internal(format!("{what}: {count} elements of {size} bytes in {bytes} bytes")));
        }
        if !self.address.is_multiple_of(to_u64(size)) {
            return Err(Error::invalid(
                what,
                format!("device memory at {:#x} is not aligned to {size} bytes", self.address),
            ));
        }
        Ok(self.address)
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        match &mut self.owner {
            Owner::Purlin { device, home, .. } => free(device, home.as_deref(), self.address),
            Owner::Foreign(release) => {
                if let Some(release) = release.take() {
                    release();
                }
            }
            Owner::Caller => {}
        }
    }
}

fn allocate_once(entered: &Entered<'_>, device: &Device, stream: CUstream, bytes: usize, address: &mut u64) -> u32 {
    let api = entered.api();
    // SAFETY: writes one address; the handles are this device's.
    unsafe {
        match device.pool {
            Some(pool) => (api.cuMemAllocFromPoolAsync)(address, bytes, pool, stream),
            None => (api.cuMemAlloc_v2)(address, bytes),
        }
    }
}

fn free(device: &Device, home: Option<&Queue>, address: u64) {
    // A dead context has freed its memory; a forked child has none.
    let Ok(entered) = device.enter() else { return };
    if address == 0 {
        return;
    }
    let api = entered.api();
    let stream = home.map_or(device.releases, Queue::raw);
    let freed = match device.pool {
        None => Err(()),
        Some(_) if home.is_none() && device.fence(&entered).is_err() => Err(()),
        // SAFETY: memory of this device's pool, freed once, after all work that was enqueued before.
        Some(_) => match unsafe { (api.cuMemFreeAsync)(address, stream) } {
            0 => Ok(()),
            _ => Err(()),
        },
    };
    if freed.is_err() {
        // `cuMemFree` itself waits for the device.
        // SAFETY: allocated here and not freed above.
        let _ = entered.beside_graphs(|| unsafe { (api.cuMemFree_v2)(address) });
    }
}

/// The driver's information about an address.
struct Pointer {
    kind: u32,
    ordinal: i32,
    managed: bool,
    /// Whether the driver's range is that of a whole allocation, and not one mapping of several in a row.
    whole: bool,
    start: u64,
    size: u64,
}

/// `CU_MEMORYTYPE_HOST`.
const HOST: u32 = 1;
/// `CU_MEMORYTYPE_DEVICE`.
const DEVICE: u32 = 2;

fn inspect(device: &Device, address: u64) -> Result<Pointer> {
    let entered = device.enter()?;
    let (mut kind, mut ordinal, mut managed, mut whole) = (0u32, -1i32, 0u32, 0u32);
    let (mut pool, mut start, mut size) = (0u64, 0u64, 0usize);
    let attributes = [TYPE, ORDINAL, MANAGED, WHOLE, POOL, RANGE_START, RANGE_SIZE].map(|a| a as c_uint);
    let mut values: [*mut c_void; 7] = [
        (&raw mut kind).cast(),
        (&raw mut ordinal).cast(),
        (&raw mut managed).cast(),
        (&raw mut whole).cast(),
        (&raw mut pool).cast(),
        (&raw mut start).cast(),
        (&raw mut size).cast(),
    ];
    // SAFETY: seven attributes, each with memory for a value of at least its documented size; any address may be asked
    // about, and one that the driver does not know leaves zeros.
    let code = unsafe { (entered.api().cuPointerGetAttributes)(7, attributes.as_ptr(), values.as_mut_ptr(), address) };
    entered.check("cuPointerGetAttributes", code)?;
    let whole = whole & 0xff != 0 || pool != 0;
    Ok(Pointer { kind, ordinal, managed: managed & 0xff != 0, whole, start, size: to_u64(size) })
}

fn check_range(device: &Device, argument: &str, address: u64, bytes: usize) -> Result<()> {
    let ordinal = device.info.ordinal;
    let last = address
        .checked_add(to_u64(bytes) - 1)
        .ok_or_else(|| Error::invalid(argument, format!("{bytes} bytes at {address:#x} pass the end of memory")))?;
    let first = inspect(device, address)?;
    if first.kind != DEVICE || first.managed {
        return Err(Error::invalid(argument, format!("{address:#x} is not device memory of GPU {ordinal}")));
    }
    if first.ordinal != ordinal {
        let found = first.ordinal;
        return Err(Error::invalid(argument, format!("lies on GPU {found}, the context is on GPU {ordinal}")));
    }
    if last - first.start.min(last) < first.size {
        return Ok(());
    }
    let beyond = if first.whole { None } else { Some(inspect(device, last)?) };
    if beyond.is_some_and(|p| p.kind == DEVICE && p.ordinal == ordinal) {
        return Ok(());
    }
    let there = (first.start + first.size).saturating_sub(address);
    Err(Error::invalid(argument, format!("has {there} bytes of device memory at {address:#x}, {bytes} are needed")))
}

/// Whether all of `memory` is page-locked host memory that the driver knows, so that copies may be asynchronous.
pub(super) fn is_pinned(device: &Device, memory: &[u8]) -> Result<bool> {
    let (Some(first), Some(last)) = (memory.first(), memory.last()) else { return Ok(false) };
    for byte in [first, last] {
        let p = inspect(device, std::ptr::from_ref(byte) as u64)?;
        if p.kind != HOST || p.managed {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Page-locked host memory, which every device copies to and from at full speed.
pub struct PinnedMemory {
    start: NonNull<u8>,
    bytes: usize,
    device: Arc<Device>,
}

// SAFETY: plain memory; access goes through whoever owns this value.
unsafe impl Send for PinnedMemory {}
// SAFETY: as above.
unsafe impl Sync for PinnedMemory {}

impl PinnedMemory {
    /// Zeroed memory, usable with every device.
    pub(super) fn allocate(device: &Arc<Device>, what: &'static str, bytes: usize) -> Result<Self> {
        let refused = || Error::OutOfMemory { what, bytes: to_u64(bytes), limit: None };
        fault(to_u64(bytes), refused)?;
        let entered = device.enter()?;
        let mut start = std::ptr::null_mut();
        const PORTABLE: c_uint = 1;
        // SAFETY: writes one address.
        let allocate = || unsafe { (entered.api().cuMemHostAlloc)(&mut start, bytes.max(1), PORTABLE) };
        let code = entered.beside_graphs(allocate)?;
        if code == OUT_OF_MEMORY {
            return Err(refused());
        }
        entered.check("cuMemHostAlloc", code)?;
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(refused)?;
        // SAFETY: `bytes` bytes were allocated there.
        unsafe { start.write_bytes(0, bytes.max(1)) };
        Ok(Self { start, bytes, device: Arc::clone(device) })
    }

    /// First byte, valid while this value lives.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        let Ok(entered) = self.device.enter() else { return };
        // A copy enqueued by an asynchronous call may still use it.
        let _ = self.device.drain(&entered);
        // SAFETY: allocated in `allocate`, freed once, used by no copy.
        let free = || unsafe { (entered.api().cuMemFreeHost)(self.start.as_ptr().cast()) };
        let _ = entered.beside_graphs(free);
    }
}

/// Fault point: a test can make a device allocation fail here.
#[cfg(feature = "fault-injection")]
#[track_caller]
fn fault(_bytes: u64, error: impl FnOnce() -> Error) -> Result<()> {
    if crate::fault::fails(crate::fault::Kind::DeviceMemory, "device memory") { Err(error()) } else { Ok(()) }
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
fn fault(_: u64, _: impl FnOnce() -> Error) -> Result<()> {
    Ok(())
}
