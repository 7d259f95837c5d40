//! Workspaces of matrix products: one for each thread, allocated before its first product, and a spare one.

use std::alloc::{GlobalAlloc as _, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use super::system::System;
use super::unused::{UNUSED, Unused};

/// Requests of this alignment and at least this size are workspaces of matrix products.
const WORKSPACE_ALIGNMENT: usize = 4096;
const WORKSPACE_LEAST: usize = 64 * 1024;
/// Of this alignment where a processor lacks AVX2 or is of another kind: another crate multiplies there. It allocates a
/// buffer for packed factors in each product, too.
const PACKING_ALIGNMENT: usize = 128;

thread_local! {
    /// A block for this thread's workspace of matrix products.
    static PARKED: Cell<(*mut u8, usize)> = const { Cell::new((std::ptr::null_mut(), 0)) };
    /// A block for this thread's packed factors when the system refuses one, and whether it is in use.
    static PACKING: Cell<(*mut u8, usize, bool)> = const { Cell::new((std::ptr::null_mut(), 0, false)) };
    /// Whether this thread measures the size of the workspace.
    pub(super) static IS_MEASURING: Cell<bool> = const { Cell::new(false) };
}

/// How often the measuring thread was refused its memory.
static REFUSALS: AtomicUsize = AtomicUsize::new(0);

/// Bytes of the workspace that matrix products allocate once a thread, and cannot be refused; 0 if not known yet.
static WORKSPACE: AtomicUsize = AtomicUsize::new(0);
/// Whether products pack factors into buffers of their own.
static PACKS: AtomicBool = AtomicBool::new(false);
/// A workspace for a thread that was not prepared, and whether it is in use.
pub(super) static SPARE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
pub(super) static SPARE_FREE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

pub(super) fn workspace_layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, WORKSPACE_ALIGNMENT).ok()
}

/// A block for the workspace of matrix products of one thread, which may be another than the one that allocates it, and
/// one for its packed factors or NULL.
pub(in crate::backend) struct Workspace {
    start: *mut u8,
    layout: Layout,
    packing: *mut u8,
}

/// Most bytes of packed factors: a block of one that fills the last cache, and a narrow one of the other.
fn packing_layout() -> Option<Layout> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // _SC_LEVEL3_CACHE_SIZE, which the crate libc does not declare.
    // SAFETY: asks for a number.
    let cache = usize::try_from(unsafe { libc::sysconf(194) }).unwrap_or(0);
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let cache = 0;
    workspace_layout(cache.clamp(8 << 20, 256 << 20) + (4 << 20))
}

// SAFETY: the block belongs to this value alone.
unsafe impl Send for Workspace {}

/// Frees the unused blocks, since memory is short; whether there was one.
#[cold]
pub(super) fn free_unused() -> bool {
    // SAFETY: only blocks of this size are kept.
    workspace_layout(workspace_bytes()).is_some_and(|layout| unsafe { UNUSED.free(layout) })
}

impl Workspace {
    /// A block of at least `bytes`; `None` if memory is short. Its pages are not used before the first product.
    pub(in crate::backend) fn allocate(bytes: usize) -> Option<Self> {
        let layout = workspace_layout(bytes.max(WORKSPACE_LEAST))?;
        if let Some(start) = Some(&UNUSED).filter(|_| layout.size() == workspace_bytes()).and_then(Unused::take) {
            return Self { start: start.as_ptr(), layout, packing: std::ptr::null_mut() }.with_packing();
        }
        // SAFETY: the size is not 0.
        let start = unsafe { System.alloc(layout) };
        if start.is_null() { None } else { Self { start, layout, packing: std::ptr::null_mut() }.with_packing() }
    }

    /// With a block for packed factors, where there are any.
    fn with_packing(mut self) -> Option<Self> {
        if PACKS.load(Ordering::Relaxed) {
            // SAFETY: the size is not 0.
            self.packing = unsafe { System.alloc(packing_layout()?) };
            if self.packing.is_null() {
                return None;
            }
        }
        Some(self)
    }

    /// Stores the block, so that the allocator gives it to the calling thread's first matrix product.
    pub(in crate::backend) fn park(self) {
        unpark();
        PARKED.set((self.start, self.layout.size()));
        PACKING.set((self.packing, packing_layout().map_or(0, |l| l.size()), false));
        std::mem::forget(self);
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        free_packing(self.packing);
        if self.start.is_null() {
            return;
        }
        let bytes = self.layout.size();
        if bytes != workspace_bytes() || !UNUSED.keep(self.start, bytes) {
            // SAFETY: allocated with this layout, and nobody else has it.
            unsafe { System.dealloc(self.start, self.layout) };
        }
    }
}

fn free_packing(start: *mut u8) {
    if let Some(layout) = packing_layout().filter(|_| !start.is_null()) {
        // SAFETY: allocated with this layout, freed once.
        unsafe { System.dealloc(start, layout) };
    }
}

/// Frees the blocks of [`Workspace::park`] that nobody took.
pub(in crate::backend) fn unpark() {
    let (start, bytes) = PARKED.replace((std::ptr::null_mut(), 0));
    if let Some(layout) = workspace_layout(bytes).filter(|_| !start.is_null()) {
        drop(Workspace { start, layout, packing: std::ptr::null_mut() });
    }
    let (packing, _, is_used) = PACKING.replace((std::ptr::null_mut(), 0, false));
    if !is_used {
        free_packing(packing);
    }
}

/// This thread's block for packed factors, for a request that the system refused.
#[cold]
pub(super) fn packed(layout: Layout) -> *mut u8 {
    let (start, bytes, is_used) = PACKING.get();
    if start.is_null() || is_used || layout.align() != PACKING_ALIGNMENT || layout.size() > bytes {
        return std::ptr::null_mut();
    }
    PACKING.set((start, bytes, true));
    start
}

/// Takes the block of [`packed`] back.
#[inline]
pub(super) fn give_packed(start: *mut u8, layout: Layout) -> bool {
    if layout.align() != PACKING_ALIGNMENT {
        return false;
    }
    let (own, bytes, is_used) = PACKING.get();
    if is_used && start == own {
        PACKING.set((own, bytes, false));
    }
    is_used && start == own
}

/// Lets the calling thread's next product measure the size of the workspace. While memory is short, the thread waits in the
/// allocator, because the request can neither be refused nor unwound.
pub(in crate::backend) fn measure_workspace() {
    IS_MEASURING.set(true);
}

/// How often the thread of [`measure_workspace`] was refused its memory so far.
pub(in crate::backend) fn refusals() -> usize {
    REFUSALS.load(Ordering::Acquire)
}

/// The workspace of the measuring thread.
#[cold]
pub(super) fn measured(layout: Layout) -> *mut u8 {
    PACKS.store(layout.align() != WORKSPACE_ALIGNMENT, Ordering::Relaxed);
    WORKSPACE.store(layout.size(), Ordering::Relaxed);
    loop {
        // SAFETY: the size is not 0.
        let start = unsafe { System.alloc(layout) };
        if !start.is_null() {
            return start;
        }
        REFUSALS.fetch_add(1, Ordering::Release);
        // SAFETY: waits.
        unsafe { libc::usleep(5_000) };
    }
}

/// Bytes of the workspace of matrix products, once a thread has allocated one.
pub(in crate::backend) fn workspace_bytes() -> usize {
    WORKSPACE.load(Ordering::Relaxed)
}

/// Allocates the spare workspace; `false` if memory is short. One thread at a time.
pub(in crate::backend) fn keep_spare() -> bool {
    let Some(layout) = workspace_layout(workspace_bytes().max(WORKSPACE_LEAST)) else { return false };
    if SPARE.load(Ordering::Acquire).is_null() {
        // SAFETY: the size is not 0.
        let start = unsafe { System.alloc(layout) };
        SPARE_FREE.store(start, Ordering::Release);
        SPARE.store(start, Ordering::Release);
    }
    !SPARE.load(Ordering::Acquire).is_null()
}

/// The block of [`Workspace::park`] for the request it was made for.
pub(super) fn parked(layout: Layout) -> *mut u8 {
    let (start, bytes) = PARKED.get();
    // A buffer for packed factors has the alignment of a workspace and any size.
    let is_for_it = if PACKS.load(Ordering::Relaxed) {
        layout.align() == PACKING_ALIGNMENT && layout.size() == bytes
    } else {
        layout.align() == WORKSPACE_ALIGNMENT && layout.size() <= bytes
    };
    if start.is_null() || !is_for_it {
        return std::ptr::null_mut();
    }
    PARKED.set((std::ptr::null_mut(), 0));
    start
}

#[inline(always)]
pub(super) fn is_workspace(layout: Layout) -> bool {
    (layout.align() == WORKSPACE_ALIGNMENT || layout.align() == PACKING_ALIGNMENT) && layout.size() >= WORKSPACE_LEAST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_factors_have_a_block_of_their_thread() {
        let request = Layout::from_size_align(5 << 20, PACKING_ALIGNMENT).unwrap();
        assert!(packed(request).is_null());
        let layout = packing_layout().unwrap();
        // SAFETY: the size is not 0.
        let block = unsafe { System.alloc(layout) };
        PACKING.set((block, layout.size(), false));
        assert!(packed(Layout::from_size_align(layout.size() + 1, PACKING_ALIGNMENT).unwrap()).is_null());
        assert!(packed(request) == block && packed(request).is_null(), "one product at a time");
        assert!(!give_packed(block.wrapping_add(1), request) && give_packed(block, request));
        assert!(!give_packed(block, request) && packed(request) == block && give_packed(block, request));
        unpark();
        assert!(packed(request).is_null());
    }
}
