//! Prefetches of elements that are read soon.

/// Prefetches element `at` of `of`. The index may be out of range.
#[inline(always)]
pub fn prefetch<T>(of: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such processor has the instruction, which reads nothing that can be seen and fails at no address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(of.as_ptr().wrapping_add(at).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (of, at);
}
