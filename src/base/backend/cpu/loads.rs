//! Properties of the processor's loads.

/// Whether single loads are faster than gathers, and data that are read once need explicit prefetches. True for AMD
/// processors, which split a gather into single loads.
pub fn prefers_loads() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        static ANSWER: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        *ANSWER.get_or_init(|| {
            let vendor = std::arch::x86_64::__cpuid(0);
            // "AuthenticAMD", and "HygonGenuine" of the same make.
            let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat();
            name == b"AuthenticAMD" || name == b"HygonGenuine"
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}
