//! The calling thread's floating-point environment during a call.
//!
//! A host may round upward, flush small numbers to zero or trap on overflow (MATLAB, Fortran with `-ffast-math`). Rust
//! code assumes the standard environment. Without it, numbers that a call computes on its caller's thread (start
//! vectors, design matrices, tolerances) would depend on the host's choice. Pool threads have the standard one anyway.

/// The standard environment, as long as this value lives; then the caller's again.
pub(super) struct Standard {
    /// The caller's control word, if it was another.
    caller: Option<Word>,
}

impl Standard {
    pub(super) fn enter() -> Self {
        let found = read();
        let caller = (found & CONTROL != STANDARD).then_some(found);
        if caller.is_some() {
            write(STANDARD);
        }
        Self { caller }
    }
}

impl Drop for Standard {
    fn drop(&mut self) {
        if let Some(word) = self.caller {
            write(word);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod machine {
    use std::arch::asm;

    pub(super) type Word = u32;
    /// All bits but the six exception flags.
    pub(super) const CONTROL: Word = !0x3f;
    /// Round to nearest, keep subnormal numbers, trap nothing.
    pub(super) const STANDARD: Word = 0x1f80;

    pub(super) fn read() -> Word {
        let mut word: Word = 0;
        // SAFETY: stores the register into a local.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }

    pub(super) fn write(word: Word) {
        // SAFETY: loads a value that the register had, or the standard one.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags, readonly)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod machine {
    use std::arch::asm;

    pub(super) type Word = u64;
    pub(super) const CONTROL: Word = !0;
    /// Round to nearest, keep subnormal numbers, trap nothing.
    pub(super) const STANDARD: Word = 0;

    pub(super) fn read() -> Word {
        let word: Word;
        // SAFETY: reads the register.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    pub(super) fn write(word: Word) {
        // SAFETY: writes a value that the register had, or the standard one.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod machine {
    pub(super) type Word = u32;
    pub(super) const CONTROL: Word = 0;
    pub(super) const STANDARD: Word = 0;

    pub(super) fn read() -> Word {
        STANDARD
    }

    pub(super) fn write(_: Word) {}
}

use machine::{CONTROL, STANDARD, Word, read, write};

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::ffi::guard;

    #[test]
    fn a_call_sees_the_standard_environment_and_gives_the_callers_back() {
        let before = read();
        // Round upward, flush to zero, subnormal numbers are zero.
        let host = 0x1f80 | 0x4000 | 0x8000 | 0x40;
        write(host);
        let mut inside = 0;
        let status = guard::run(|| {
            inside = read();
            Ok(())
        });
        let after = read();
        write(before);
        assert_eq!(inside & CONTROL, STANDARD);
        assert_eq!(after, host);
        assert_eq!(status as i32, 0);
    }
}
