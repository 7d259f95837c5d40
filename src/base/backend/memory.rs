//! Raw memory with one owner: of the host, or of either kind.

use std::alloc::{Layout as AllocLayout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

use super::gpu::{DeviceMemory, PinnedMemory};
use crate::error::{Error, Result};
use crate::refusal::{fault_point, out_of_memory, refusable};
use crate::scalar::{Element, Scalar};

pub use super::budget::{Budget, Charge, Release};

/// Alignment of memory that purlin allocates: a cache line, and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// Numbers as a slice of their real parts and imaginary parts: two for each complex number.
pub fn parts<T: Scalar>(values: &[T]) -> &[T::Part] {
    // SAFETY: a number is one part, or by `repr(C)` two of them, so size and alignment are right.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values) / size_of::<T::Part>()) }
}

/// As [`parts`], to be changed: twice as many numbers for complex types.
pub fn parts_mut<T: Scalar>(values: &mut [T]) -> &mut [T::Part] {
    let count = size_of_val(values) / size_of::<T::Part>();
    // SAFETY: as above, and the numbers are borrowed exclusively.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), count) }
}

enum Owner {
    Heap { layout: AllocLayout, _charge: Charge },
    Pinned { _memory: PinnedMemory, _charge: Charge },
    Caller,
    Foreign(Option<Release>),
}

/// Host memory, owned by purlin, by the caller or by another library.
pub struct HostMemory {
    start: NonNull<u8>,
    bytes: usize,
    owner: Owner,
}

// SAFETY: the memory is only read through `&self` and only written through `&mut self`. The owner of borrowed memory
// promises that nobody else writes to it meanwhile.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Zeroed memory of purlin's own, charged to `budget`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], the budget's limit included.
    #[cfg_attr(feature = "fault-injection", track_caller)]
    pub fn allocate(what: &'static str, bytes: usize, budget: &Arc<Budget>) -> Result<Self> {
        let charge = budget.charge_host(what, bytes)?;
        fault_point(what, bytes)?;
        let layout = AllocLayout::from_size_align(bytes.max(1), ALIGNMENT).map_err(|_| out_of_memory(what, bytes))?;
        // SAFETY: the layout's size is at least 1.
        let start =
            NonNull::new(refusable(|| unsafe { alloc_zeroed(layout) })).ok_or_else(|| out_of_memory(what, bytes))?;
        Ok(Self { start, bytes, owner: Owner::Heap { layout, _charge: charge } })
    }

    /// Page-locked memory of purlin's own, which the GPU copies to and from at full speed.
    pub fn pinned(memory: PinnedMemory, charge: Charge) -> Self {
        Self { start: memory.start(), bytes: memory.bytes(), owner: Owner::Pinned { _memory: memory, _charge: charge } }
    }

    /// The caller's memory.
    ///
    /// # Safety
    /// `start` is valid for `bytes` bytes, initialized, for as long as this value lives, and changes in no other way
    /// while a call uses it.
    pub unsafe fn borrow(start: NonNull<u8>, bytes: usize) -> Self {
        Self { start, bytes, owner: Owner::Caller }
    }

    /// Another library's memory, which is released by one call of `release`.
    ///
    /// # Safety
    /// As for [`HostMemory::borrow`], until `release` is called.
    pub unsafe fn foreign(start: NonNull<u8>, bytes: usize, release: Release) -> Self {
        Self { start, bytes, owner: Owner::Foreign(Some(release)) }
    }

    /// Address of the first byte, for showing to the caller and for overlap checks.
    #[inline]
    pub fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    /// Size in bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether purlin allocated the memory, not the caller.
    #[inline]
    pub fn is_owned(&self) -> bool {
        matches!(self.owner, Owner::Heap { .. } | Owner::Pinned { .. })
    }

    fn count<T: Element>(&self) -> Result<usize> {
        if !self.start.as_ptr().cast::<T>().is_aligned() {
            let a = align_of::<T>();
            return Err(Error::invalid("data", format!("is not aligned to {a} bytes, as {} needs", T::DTYPE.name())));
        }
        Ok(self.bytes / size_of::<T>())
    }

    /// The memory as elements to read; bytes beyond the last whole element are left out.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the memory is not aligned as `T` needs.
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        let count = self.count::<T>()?;
        // SAFETY: aligned (checked), valid and initialized for `bytes` by construction, any bits are a valid `T`;
        // `Layout` keeps sizes below isize::MAX.
        Ok(unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), count) })
    }

    /// The memory as elements to write.
    ///
    /// # Errors
    /// As [`HostMemory::as_slice`].
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T]> {
        let count = self.count::<T>()?;
        // SAFETY: as above, and `&mut self` makes this the only access.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), count) })
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        match &mut self.owner {
            // SAFETY: allocated in `allocate` with this layout, freed once.
            Owner::Heap { layout, .. } => unsafe { dealloc(self.start.as_ptr(), *layout) },
            Owner::Foreign(release) => {
                if let Some(release) = release.take() {
                    release();
                }
            }
            Owner::Pinned { .. } | Owner::Caller => {}
        }
    }
}

/// Memory of a tensor or matrix.
pub enum Memory {
    /// Memory of the host, page-locked or not.
    Host(HostMemory),
    /// Memory of the context's GPU.
    Device(DeviceMemory),
}

impl Memory {
    /// Address of the first byte.
    #[inline]
    pub fn address(&self) -> u64 {
        match self {
            Self::Host(m) => m.address(),
            Self::Device(m) => m.address(),
        }
    }

    /// Size in bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Host(m) => m.bytes(),
            Self::Device(m) => m.bytes(),
        }
    }

    /// Whether purlin allocated the memory, not the caller.
    #[inline]
    pub fn is_owned(&self) -> bool {
        match self {
            Self::Host(m) => m.is_owned(),
            Self::Device(m) => m.is_owned(),
        }
    }

    /// The host memory.
    ///
    /// # Errors
    /// [`Error::NotSupported`] naming `argument` for device memory.
    #[inline]
    pub fn host(&self, argument: &str) -> Result<&HostMemory> {
        match self {
            Self::Host(m) => Ok(m),
            Self::Device(_) => Err(Error::NotSupported(format!("{argument}: is on a device, host memory is needed"))),
        }
    }

    /// The host memory to write to.
    ///
    /// # Errors
    /// [`Error::NotSupported`] naming `argument` for device memory.
    #[inline]
    pub fn host_mut(&mut self, argument: &str) -> Result<&mut HostMemory> {
        match self {
            Self::Host(m) => Ok(m),
            Self::Device(_) => Err(Error::NotSupported(format!("{argument}: is on a device, host memory is needed"))),
        }
    }

    /// The device memory.
    ///
    /// # Errors
    /// [`Error::NotSupported`] naming `argument` for host memory.
    #[inline]
    pub fn device(&self, argument: &str) -> Result<&DeviceMemory> {
        match self {
            Self::Device(m) => Ok(m),
            Self::Host(_) => Err(Error::NotSupported(format!("{argument}: is on the host, device memory is needed"))),
        }
    }

    /// The device memory to write to.
    ///
    /// # Errors
    /// [`Error::NotSupported`] naming `argument` for host memory.
    #[inline]
    pub fn device_mut(&mut self, argument: &str) -> Result<&mut DeviceMemory> {
        match self {
            Self::Device(m) => Ok(m),
            Self::Host(_) => Err(Error::NotSupported(format!("{argument}: is on the host, device memory is needed"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_refuses_what_does_not_fit_and_takes_back() {
        let budget = Budget::new(100);
        let first = HostMemory::allocate("test", 60, &budget).unwrap();
        let e = HostMemory::allocate("test", 60, &budget).map(|_| ()).unwrap_err();
        assert_eq!(e, Error::OutOfMemory { what: "test", bytes: 60, limit: Some(100) });
        drop(first);
        assert!(HostMemory::allocate("test", 60, &budget).is_ok());
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn own_memory_is_zero_and_aligned() {
        let m = HostMemory::allocate("test", 24, &Budget::new(0)).unwrap();
        assert_eq!(m.as_slice::<f64>().unwrap(), [0.0; 3]);
        assert_eq!(m.address() % 64, 0);
    }

    #[test]
    fn misaligned_caller_memory_is_refused() {
        let mut words = [0u64; 4];
        let start = NonNull::new(words.as_mut_ptr().cast::<u8>()).unwrap();
        // SAFETY: inside `words`, which outlives the value.
        let m = unsafe { HostMemory::borrow(start.add(4), 16) };
        assert!(m.as_slice::<f64>().is_err());
        assert_eq!(m.as_slice::<f32>().unwrap().len(), 4);
    }
}
