//! The stack that the calling thread has left.

use std::cell::Cell;

/// Bytes of stack that a call needs: without optimization several times as many.
const NEEDED: usize = if cfg!(debug_assertions) { 1536 << 10 } else { 384 << 10 };

/// Stack of the threads that calls run on instead.
pub(super) const AMPLE: usize = 4 << 20;

/// Where a thread's stack is, as far as calls may begin there: from `base` on, in `span` bytes. `base` is 0 before the
/// first call, and `span` the largest number where the system does not say.
pub(super) struct Bounds {
    base: Cell<usize>,
    span: Cell<usize>,
}

impl Bounds {
    pub(super) const fn unknown() -> Self {
        Self { base: Cell::new(0), span: Cell::new(0) }
    }

    /// Whether the thread has not called yet, or only from other stacks than its own.
    #[inline]
    pub(super) fn is_first_call(&self) -> bool {
        self.base.get() == 0
    }

    /// Whether the calling thread, whose bounds these are, has less stack than a call needs, or it is not known. A
    /// coroutine has a stack of its own, often of 64 or 128 KiB in the middle of other memory, whose end the system
    /// does not know.
    #[inline]
    pub(super) fn is_short(&self) -> bool {
        let at = stack_pointer();
        at.wrapping_sub(self.base.get()) >= self.span.get() && (!self.is_first_call() || self.is_short_at_first(at))
    }

    /// Accepts every stack pointer from now on.
    fn set_unlimited(&self) {
        self.base.set(1);
        self.span.set(usize::MAX);
    }
}

/// The stack pointer. The address of a local variable is elsewhere in a library that the address sanitizer instruments.
#[inline(always)]
fn stack_pointer() -> usize {
    let at: usize;
    // SAFETY: copies a register.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("mov {}, rsp", out(reg) at, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: copies a register.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("mov {}, sp", out(reg) at, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let here = 0u8;
        at = (&raw const here).addr();
    }
    at
}

impl Bounds {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[cold]
    #[inline(never)]
    fn is_short_at_first(&self, at: usize) -> bool {
        let (mut start, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: the attributes are written by the first call before the others read them, and freed by the last.
        let is_known = unsafe {
            let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
            libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) == 0 && {
                libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut bytes);
                libc::pthread_attr_destroy(&raw mut attributes);
                true
            }
        };
        if !is_known {
            self.set_unlimited();
            return false;
        }
        let below = at.wrapping_sub(start.addr());
        // SAFETY: asks for two numbers.
        if unsafe { libc::getpid() == libc::gettid() } {
            if below >= bytes {
                // Not the first thread's own stack, which has yet to be enlarged.
                return true;
            }
            if below >= 2 * NEEDED && !grow(at) {
                // Memory is short; it may come back before the next call.
                return true;
            }
        }
        self.base.set(start.addr().saturating_add(NEEDED));
        self.span.set(bytes.saturating_sub(NEEDED));
        at.wrapping_sub(self.base.get()) >= self.span.get()
    }

    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    fn is_short_at_first(&self, _: usize) -> bool {
        self.set_unlimited();
        false
    }
}

/// Enlarges the first thread's stack to the size that a call needs: the system does so page by page where a page is
/// used, and ends the process when it has no memory to do so. Returns `false` if the system refuses a mapping of twice
/// the size. Reads only pages that are not mapped yet: mapped ones may belong to a coroutine of the host.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn grow(at: usize) -> bool {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping of the system's choice, removed at once; and asks for a number.
    let page = unsafe {
        let probe = libc::mmap(std::ptr::null_mut(), 2 * NEEDED, protection, flags, -1, 0);
        if probe == libc::MAP_FAILED {
            return false;
        }
        libc::munmap(probe, 2 * NEEDED);
        usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096)
    };
    let first = at & !(page - 1);
    for place in (1..=NEEDED.div_ceil(page)).map(|k| first - k * page) {
        let mut state = 0u8;
        // SAFETY: asks about one page, and fails if it is not mapped. The caller has checked that the stack may reach
        // so far, so the system then enlarges it.
        unsafe {
            if libc::mincore(std::ptr::without_provenance_mut(place), page, &raw mut state) != 0 {
                read(place);
            }
        }
    }
    true
}

/// Reads from an address below the stack. Kernels before 5.0 enlarge a stack only near the stack pointer, so that is
/// moved there for the moment.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[inline(never)]
unsafe fn read(place: usize) {
    // SAFETY: restores the stack pointer. A signal handler may write below it, where nothing is stored yet.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            "mov {saved}, rsp", "mov rsp, {place}", "mov {place}, qword ptr [rsp]", "mov rsp, {saved}",
            place = inout(reg) place => _, saved = out(reg) _,
        );
    }
    // SAFETY: the caller's promise that the system enlarges the stack to there.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe {
        std::ptr::read_volatile(std::ptr::without_provenance::<u8>(place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_small_stack_is_noticed() {
        let measured = |bytes| {
            let work = || Bounds::unknown().is_short();
            std::thread::Builder::new().stack_size(bytes).spawn(work).unwrap().join().unwrap()
        };
        // The C library may give a thread the stack of one that ended, up to four times as large as asked for.
        assert!(measured(NEEDED / 8));
        assert!(!measured(NEEDED * 2));
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_coroutine_s_stack_is_not_known() {
        use libc::{getcontext, makecontext, swapcontext, ucontext_t};

        thread_local! {
            static SEEN: Cell<[Option<bool>; 2]> = const { Cell::new([None; 2]) };
            static BOUNDS: Bounds = const { Bounds::unknown() };
        }
        extern "C" fn coroutine() {
            SEEN.set([Some(BOUNDS.with(Bounds::is_short)), Some(Bounds::unknown().is_short())]);
        }
        let work = || {
            assert!(!BOUNDS.with(Bounds::is_short));
            let mut stack = vec![0u8; 2 * NEEDED];
            // SAFETY: the contexts and the stack live until the coroutine has returned here.
            unsafe {
                let (mut back, mut other) = (std::mem::zeroed::<ucontext_t>(), std::mem::zeroed::<ucontext_t>());
                assert_eq!(getcontext(&raw mut other), 0);
                (other.uc_stack.ss_sp, other.uc_stack.ss_size) = (stack.as_mut_ptr().cast(), stack.len());
                other.uc_link = &raw mut back;
                makecontext(&raw mut other, coroutine, 0);
                assert_eq!(swapcontext(&raw mut back, &raw const other), 0);
            }
            assert_eq!(SEEN.get(), [Some(true); 2]);
            assert!(!BOUNDS.with(Bounds::is_short), "the thread's own stack is as long as before");
        };
        std::thread::Builder::new().stack_size(4 * NEEDED).spawn(work).unwrap().join().unwrap();
    }
}
