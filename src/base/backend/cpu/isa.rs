//! The sets of vector instructions, and the choice of one.

/// Vector instruction set. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum Isa {
    /// No instructions beyond the compilation target's.
    Portable = 1,
    /// AVX2 with FMA.
    Avx2 = 2,
    /// AVX-512 F, DQ, VL and BW, with FMA.
    Avx512 = 3,
}

impl Isa {
    /// The best instruction set of this machine.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
            if avx2
                && std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512vl")
                && std::is_x86_feature_detected!("avx512bw")
            {
                return Self::Avx512;
            }
            if avx2 {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// The set whose number is `code`; `None` for 0 or a number that is none.
    pub fn from_code(code: i32) -> Option<Self> {
        [Self::Portable, Self::Avx2, Self::Avx512].into_iter().find(|i| *i as i32 == code)
    }
}
