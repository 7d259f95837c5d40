//! The allocator of the shared library: the system's allocator, with a reserve for refused requests.
//!
//! Buffers whose size follows the data come from [`crate::alloc`], which returns an error when memory is refused. Other
//! requests (small vectors, texts, reference counts, jobs of the thread pool, allocations of dependencies) cannot report a
//! refusal: Rust's standard library aborts the process. They are served from the reserve, which is zero-initialised static
//! memory. Its addresses are reserved when the library is loaded, and its pages are first used when memory has run out. When
//! half of the reserve is in use, [`crate::alloc`] refuses, so that the call ends with an error before the rest is used.
//!
//! An allocator must not unwind, and it must answer a request at once. The guarantee is therefore finite: `SMALL` + `LARGE`
//! bytes in use at one time, and `MOST` bytes in one request.
//!
//! `mod.rs` and `blocks.rs` import each other: the blocks count the bytes that they hand out in the state of the whole
//! reserve.

mod blocks;
mod system;

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use self::blocks::{BLOCKS, Blocks};
use self::system::System;
use crate::refusal;

/// Bytes of a small block, of all of them, and of a large block and of all of those.
const SMALL_BLOCK: usize = 256;
const SMALL: usize = 64 * BLOCKS * SMALL_BLOCK;
const LARGE_BLOCK: usize = 4096;
const LARGE: usize = 12 * BLOCKS * LARGE_BLOCK;
/// Largest size of one request in bytes.
const MOST: usize = BLOCKS * LARGE_BLOCK;
/// Requests of this alignment and at least this size are workspaces of matrix products.
const WORKSPACE_ALIGNMENT: usize = 4096;
const WORKSPACE_LEAST: usize = 64 * 1024;
/// Of this alignment where a processor lacks AVX2 or is of another kind: another crate multiplies there. It allocates a
/// buffer for packed factors in each product, too.
const PACKING_ALIGNMENT: usize = 128;

#[repr(C)]
struct Reserve {
    large: Blocks<LARGE, LARGE_BLOCK, { LARGE / LARGE_BLOCK / BLOCKS }>,
    small: Blocks<SMALL, SMALL_BLOCK, { SMALL / SMALL_BLOCK / BLOCKS }>,
}

// SAFETY: a block belongs to whoever set its bits, until they are cleared.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve { large: Blocks::new(), small: Blocks::new() };
/// Bytes of blocks in use.
static USED: AtomicUsize = AtomicUsize::new(0);

fn note_used(bytes: usize, taken: bool) {
    let used = if taken {
        USED.fetch_add(bytes, Ordering::Relaxed) + bytes
    } else {
        USED.fetch_sub(bytes, Ordering::Relaxed).saturating_sub(bytes)
    };
    refusal::note_reserve(used > (SMALL + LARGE) / 2);
}

fn is_reserved(start: *mut u8) -> bool {
    start.addr().wrapping_sub((&raw const RESERVE).addr()) < size_of::<Reserve>()
}

/// Memory of the reserve for a request that the system refused; NULL if its caller can report the refusal.
#[cold]
fn take(layout: Layout) -> *mut u8 {
    if refusal::is_refusable() || layout.size() > MOST || layout.align() > LARGE_BLOCK {
        return std::ptr::null_mut();
    }
    let small = if layout.size() <= SMALL_BLOCK * BLOCKS / 4 && layout.align() <= SMALL_BLOCK {
        RESERVE.small.take(layout.size())
    } else {
        None
    };
    small.or_else(|| RESERVE.large.take(layout.size())).map_or(std::ptr::null_mut(), NonNull::as_ptr)
}

thread_local! {
    /// A block for this thread's workspace of matrix products.
    static PARKED: Cell<(*mut u8, usize)> = const { Cell::new((std::ptr::null_mut(), 0)) };
    /// A block for this thread's packed factors when the system refuses one, and whether it is in use.
    static PACKING: Cell<(*mut u8, usize, bool)> = const { Cell::new((std::ptr::null_mut(), 0, false)) };
    /// Whether this thread measures the size of the workspace.
    static IS_MEASURING: Cell<bool> = const { Cell::new(false) };
}

/// How often the measuring thread was refused its memory.
static REFUSALS: AtomicUsize = AtomicUsize::new(0);

/// Bytes of the workspace that matrix products allocate once a thread, and cannot be refused; 0 if not known yet.
static WORKSPACE: AtomicUsize = AtomicUsize::new(0);
/// Whether products pack factors into buffers of their own.
static PACKS: AtomicBool = AtomicBool::new(false);
/// A workspace for a thread that was not prepared, and whether it is in use.
static SPARE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static SPARE_FREE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// Bytes that must be available before a thread starts or makes its first call.
pub const PROBE: u64 = 64 * 1024;

/// Whether the C library has memory for its own allocations for a thread, and for those that Rust's standard library makes
/// through it without the program's allocator. A refusal of either would end the process.
pub fn has_small_memory() -> bool {
    [32, 48, 1024, PROBE as usize].into_iter().all(|bytes| {
        let Ok(layout) = Layout::from_size_align(bytes, 16) else { return false };
        // SAFETY: the size is not 0; freed at once with the same layout.
        unsafe {
            let start = System.alloc(layout);
            if !start.is_null() {
                System.dealloc(start, layout);
            }
            !start.is_null()
        }
    })
}

/// Address space beside its stack that must be left before a thread starts. A thread allocates its thread-local data at
/// their first use, where the library was loaded by the program, and its first arena. Other threads may be about to do
/// the same.
const THREAD_SPACE: usize = 1 << 20;

/// As [`has_small_memory`] for a new thread with a stack of `stack` bytes: its allocations come after the stack's, and
/// a refusal of its thread-local data would end the process.
#[cfg(unix)]
pub fn has_memory_for_thread(stack: usize) -> bool {
    let bytes = stack.saturating_add(THREAD_SPACE);
    // SAFETY: a new mapping without access, which is removed at once.
    let has_space = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let start = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0);
        start != libc::MAP_FAILED && libc::munmap(start, bytes) == 0
    };
    has_space && has_small_memory()
}

#[cfg(not(unix))]
pub fn has_memory_for_thread(_: usize) -> bool {
    has_small_memory()
}

fn workspace_layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, WORKSPACE_ALIGNMENT).ok()
}

/// A block for the workspace of matrix products of one thread, which may be another than the one that allocates it, and
/// one for its packed factors or NULL.
pub(super) struct Workspace {
    start: *mut u8,
    layout: Layout,
    packing: *mut u8,
}

/// Most bytes of packed factors: a block of one that fills the last cache, and a narrow one of the other.
fn packing_layout() -> Option<Layout> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // _SC_LEVEL3_CACHE_SIZE, of which the crate libc has no declaration.
    // SAFETY: asks for a number.
    let cache = usize::try_from(unsafe { libc::sysconf(194) }).unwrap_or(0);
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let cache = 0;
    workspace_layout(cache.clamp(8 << 20, 256 << 20) + (4 << 20))
}

// SAFETY: the block belongs to this value alone.
unsafe impl Send for Workspace {}

/// Blocks of threads that ended without a product. The next threads use them; their pages were never used.
struct Unused {
    places: [AtomicPtr<u8>; 16],
}

/// All are of the measured size.
static UNUSED: Unused = Unused::new();
/// Most bytes of all these blocks together.
const UNUSED_MOST: usize = 64 << 20;

impl Unused {
    const fn new() -> Self {
        Self { places: [const { AtomicPtr::new(std::ptr::null_mut()) }; 16] }
    }

    fn take(&self) -> Option<NonNull<u8>> {
        self.places.iter().find_map(|place| NonNull::new(place.swap(std::ptr::null_mut(), Ordering::Acquire)))
    }

    /// Keeps a block of `bytes`, at least 1; `false` if there is no place for it.
    fn keep(&self, start: *mut u8, bytes: usize) -> bool {
        let nothing = std::ptr::null_mut();
        let mut places = self.places.iter().take(UNUSED_MOST / bytes);
        places.any(|place| place.compare_exchange(nothing, start, Ordering::Release, Ordering::Relaxed).is_ok())
    }

    /// Frees the blocks, all of this layout; whether there was one.
    ///
    /// # Safety
    /// The system's allocator gave all that were kept, with this layout.
    unsafe fn free(&self, layout: Layout) -> bool {
        let mut freed = false;
        while let Some(start) = self.take() {
            // SAFETY: as promised above, and the place no longer has it.
            unsafe { System.dealloc(start.as_ptr(), layout) };
            freed = true;
        }
        freed
    }
}

/// Frees the unused blocks, since memory is short; whether there was one.
#[cold]
fn free_unused() -> bool {
    // SAFETY: only blocks of this size are kept.
    workspace_layout(workspace_bytes()).is_some_and(|layout| unsafe { UNUSED.free(layout) })
}

impl Workspace {
    /// A block of at least `bytes`; `None` if memory is short. Its pages are not used before the first product.
    pub(super) fn allocate(bytes: usize) -> Option<Self> {
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
    pub(super) fn park(self) {
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
pub(super) fn unpark() {
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
fn packed(layout: Layout) -> *mut u8 {
    let (start, bytes, is_used) = PACKING.get();
    if start.is_null() || is_used || layout.align() != PACKING_ALIGNMENT || layout.size() > bytes {
        return std::ptr::null_mut();
    }
    PACKING.set((start, bytes, true));
    start
}

/// Takes the block of [`packed`] back.
#[inline]
fn give_packed(start: *mut u8, layout: Layout) -> bool {
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
pub(super) fn measure_workspace() {
    IS_MEASURING.set(true);
}

/// How often the thread of [`measure_workspace`] was refused its memory so far.
pub(super) fn refusals() -> usize {
    REFUSALS.load(Ordering::Acquire)
}

/// The workspace of the measuring thread.
#[cold]
fn measured(layout: Layout) -> *mut u8 {
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
pub(super) fn workspace_bytes() -> usize {
    WORKSPACE.load(Ordering::Relaxed)
}

/// Allocates the spare workspace; `false` if memory is short. One thread at a time.
pub(super) fn keep_spare() -> bool {
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
fn parked(layout: Layout) -> *mut u8 {
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
fn is_workspace(layout: Layout) -> bool {
    (layout.align() == WORKSPACE_ALIGNMENT || layout.align() == PACKING_ALIGNMENT) && layout.size() >= WORKSPACE_LEAST
}

/// The system's allocator, with the reserve behind it.
pub struct Reserving;

// SAFETY: every block is the system allocator's, or of the reserve, whose blocks are aligned to their size and belong to one
// request at a time, or the spare workspace, of which the same holds. Nothing here unwinds or allocates.
unsafe impl GlobalAlloc for Reserving {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_workspace(layout) {
            if IS_MEASURING.get() {
                return measured(layout);
            }
            let start = parked(layout);
            if !start.is_null() {
                return start;
            }
        }
        // SAFETY: as the caller promises.
        let mut start = unsafe { System.alloc(layout) };
        if start.is_null() && free_unused() {
            // SAFETY: as above.
            start = unsafe { System.alloc(layout) };
        }
        if !start.is_null() {
            return start;
        }
        if is_workspace(layout) && !refusal::is_refusable() {
            if layout.size() == workspace_bytes() {
                return SPARE_FREE.swap(std::ptr::null_mut(), Ordering::Acquire);
            }
            let start = packed(layout);
            if !start.is_null() {
                return start;
            }
        }
        take(layout)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let mut start = unsafe { System.alloc_zeroed(layout) };
        if start.is_null() && free_unused() {
            // SAFETY: as above.
            start = unsafe { System.alloc_zeroed(layout) };
        }
        if start.is_null() {
            start = take(layout);
            if !start.is_null() {
                // SAFETY: as many bytes were taken for this request.
                unsafe { start.write_bytes(0, layout.size()) };
            }
        }
        start
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if is_reserved(start) {
            let _ = RESERVE.small.give(start, layout.size()) || RESERVE.large.give(start, layout.size());
        } else if is_workspace(layout) && start == SPARE.load(Ordering::Relaxed) {
            SPARE_FREE.store(start, Ordering::Release);
        } else if !(is_workspace(layout) && give_packed(start, layout)) {
            // SAFETY: as the caller promises; a parked block of the system may be longer than asked for, which its `free`
            // does not mind.
            unsafe { System.dealloc(start, layout) }
        }
    }

    #[inline]
    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let is_own = is_reserved(start) || is_workspace(layout);
        if !is_own {
            // SAFETY: as the caller promises.
            let mut moved = unsafe { System.realloc(start, layout, size) };
            if moved.is_null() && free_unused() {
                // SAFETY: as above; a refusal has left the block as it was.
                moved = unsafe { System.realloc(start, layout, size) };
            }
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller promises that the size does not overflow with this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the caller promises that the size is not 0.
        let moved = if is_own { unsafe { self.alloc(wanted) } } else { take(wanted) };
        if !moved.is_null() {
            // SAFETY: both blocks have as many bytes, and they are two; then the old one is freed with its layout.
            unsafe {
                std::ptr::copy_nonoverlapping(start, moved, layout.size().min(size));
                self.dealloc(start, layout);
            }
        }
        moved
    }
}

/// Not in builds for tests of the crate, which have allocators of their own that refuse.
#[cfg(all(feature = "reserve", not(feature = "fault-injection")))]
#[global_allocator]
static ALLOCATOR: Reserving = Reserving;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_the_reserve_are_aligned_to_their_size() {
        for (bytes, alignment) in [(1, 256), (100, 128), (2304, 128), (5000, 4096), (MOST, 4096)] {
            let layout = Layout::from_size_align(bytes, alignment).unwrap();
            let start = take(layout);
            assert!(
                !start.is_null() && start.addr().is_multiple_of(alignment) && is_reserved(start),
                "{bytes} {alignment}"
            );
            // SAFETY: a block of the reserve, taken for as many bytes.
            unsafe { Reserving.dealloc(start, layout) };
        }
        // Each of the small ones.
        let taken: Vec<NonNull<u8>> = (0..40).map_while(|_| RESERVE.small.take(SMALL_BLOCK)).collect();
        for start in taken {
            assert_eq!(start.addr().get() % SMALL_BLOCK, 0);
            assert!(RESERVE.small.give(start.as_ptr(), SMALL_BLOCK));
        }
    }

    #[test]
    fn unused_workspaces_serve_later_threads_within_a_bound() {
        let unused = Unused::new();
        let layout = workspace_layout(UNUSED_MOST / 2).unwrap();
        // SAFETY: the size is not 0.
        let blocks = [0; 3].map(|_| unsafe { System.alloc(layout) });
        assert_eq!(blocks.map(|b| unused.keep(b, layout.size())), [true, true, false]);
        let taken = unused.take().map(NonNull::as_ptr);
        assert!(taken == Some(blocks[0]) && unused.keep(blocks[2], layout.size()));
        // SAFETY: all blocks are of this layout; the one that was taken is freed by the last call.
        unsafe {
            assert!(unused.free(layout) && !unused.free(layout));
            System.dealloc(blocks[0], layout);
        }
        assert!(unused.take().is_none());
    }

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
