//! The processor's underflow flag: whether arithmetic lost digits below the range of its type.
//!
//! An operation sets the flag if its result is below the normal range and is rounded. Exact results do not set it, nor
//! do small products that a fused operation adds to a larger number. Every thread has its own flag, which stays set.
//! The loops of [`super::parallel`], [`super::Pool::run`] and the threads of [`crate::thread`] pass their flags to the
//! thread that waits for them. [`watch`] therefore covers all threads, and its answer does not depend on their number.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this processor's flag can be read. Otherwise [`watch`] always returns `false`.
pub const IS_READABLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Runs `work`. Returns its result and whether it lost digits below the range of a type. The thread's flag is unchanged
/// afterwards.
pub fn watch<R>(work: impl FnOnce() -> R) -> (R, bool) {
    let lost = LostDigits::default();
    let result = lost.part(work);
    (result, lost.0.into_inner())
}

/// Collects the flags of several parts of one piece of work.
#[derive(Default)]
pub struct LostDigits(AtomicBool);

impl LostDigits {
    /// Runs a part on the calling thread. The thread's flag is unchanged afterwards, because it may belong to other
    /// work that the thread has interrupted.
    pub fn part<R>(&self, work: impl FnOnce() -> R) -> R {
        let _part = self.begin();
        work()
    }

    /// Begins a part on the calling thread. It ends when the returned value is dropped on that thread.
    pub fn begin(&self) -> Part<'_> {
        Part { lost: self, before: take() }
    }

    /// Whether a part lost digits.
    pub fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the calling thread's flag if a part lost digits.
    pub fn hand_on(&self) {
        hand_on(self.is_any());
    }
}

/// Sets the calling thread's flag if other work `lost` digits.
pub fn hand_on(lost: bool) {
    if lost {
        raise();
    }
}

/// A part of the work, from [`LostDigits::begin`] until it is dropped. The thread's flag then is as it was before.
pub struct Part<'l> {
    lost: &'l LostDigits,
    before: bool,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if take() {
            self.lost.0.store(true, Ordering::Relaxed);
        }
        if self.before {
            raise();
        }
    }
}

/// The underflow flag in the state that [`read`] returns.
#[cfg(target_arch = "x86_64")]
const UNDERFLOW: u32 = 1 << 4;
#[cfg(target_arch = "aarch64")]
const UNDERFLOW: u64 = 1 << 3;

/// Clears the calling thread's flag, and returns whether it was set.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(never)]
fn take() -> bool {
    let state = read();
    let is_set = state & UNDERFLOW != 0;
    if is_set {
        write(state & !UNDERFLOW);
    }
    is_set
}

/// Sets the calling thread's flag.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(never)]
fn raise() {
    write(read() | UNDERFLOW);
}

#[cfg(target_arch = "x86_64")]
fn read() -> u32 {
    let mut state = 0u32;
    // SAFETY: writes the thread's state to the variable. As memory may change, arithmetic on memory stays on its side.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut state, options(nostack, preserves_flags)) };
    state
}

#[cfg(target_arch = "x86_64")]
fn write(state: u32) {
    // SAFETY: sets the state that was read but for the underflow flag, which no compiled code reads.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const state, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "aarch64")]
fn read() -> u64 {
    let state: u64;
    // SAFETY: reads the thread's state. As memory may change, arithmetic on memory stays on its side.
    unsafe { std::arch::asm!("mrs {}, fpsr", out(reg) state, options(nostack, preserves_flags)) };
    state
}

#[cfg(target_arch = "aarch64")]
fn write(state: u64) {
    // SAFETY: sets the state that was read but for the underflow flag, which no compiled code reads.
    unsafe { std::arch::asm!("msr fpsr, {}", in(reg) state, options(nostack, preserves_flags)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn take() -> bool {
    false
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn raise() {}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::Pool;
    use super::super::parallel::{IntoItems as _, Items as _, join};
    use super::*;
    use std::hint::black_box;

    /// 0.75^2 2^(2 e), rounded.
    fn square(e: i32) -> f64 {
        let x = 0.75 * 2.0f64.powi(e);
        black_box(black_box(x) * black_box(x))
    }

    #[test]
    fn a_loss_is_seen_and_the_flag_stays_as_it_was() {
        // 9/16 times the least subnormal number is rounded. Half of the least normal number is exact.
        for (e, expected) in [(-600, true), (-537, true), (-500, false), (0, false)] {
            assert_eq!(watch(|| square(e)).1, expected, "{e}");
        }
        assert!(!watch(|| black_box(black_box(f64::MIN_POSITIVE) * black_box(0.5))).1);
        assert!(watch(|| black_box(black_box(1e-50f64) as f32)).1);
        let outer = watch(|| {
            assert!(watch(|| square(-600)).1);
            assert!(!watch(|| square(0)).1);
        });
        assert!(!outer.1);
        let outer = watch(|| {
            square(-600);
            assert!(!watch(|| square(0)).1);
        });
        assert!(outer.1);
    }

    #[test]
    fn the_flags_of_all_threads_arrive() {
        let pool = Pool::new(3).unwrap();
        for (at, e, expected) in [(57, -600, true), (0, -600, true), (99, -600, true), (57, 0, false)] {
            let body = |i: usize| assert!(square(if i == at { e } else { 0 }) < 1.0);
            let within = || (0..100usize).into_par_iter().for_each(body);
            assert_eq!(watch(|| pool.run(within)).1, expected, "{at} {e}");
            assert_eq!(watch(|| pool.run_here(within)).1, expected, "{at} {e}");
            assert_eq!(watch(|| pool.run(|| join(|| body(at), || body(at + 1)))).1, expected, "{at} {e}");
            assert_eq!(watch(|| pool.run(|| join(|| body(at + 1), || body(at)))).1, expected, "{at} {e}");
            assert_eq!(watch(|| pool.run_short(|| body(at))).1, expected, "{at} {e}");
            assert_eq!(watch(|| pool.run_polling(within, &mut || {})).1, expected, "{at} {e}");
            let thread = || {
                std::thread::scope(|scope| {
                    let Ok(thread) = crate::thread::spawn_scoped(scope, "purlin-test", (1, 1), || body(at)) else {
                        panic!("refused")
                    };
                    thread.join().unwrap();
                });
            };
            assert_eq!(watch(thread).1, expected, "{at} {e}");
        }
        // Losses of earlier work on the same threads do not count.
        assert!(!watch(|| pool.run(|| (0..100usize).into_par_iter().for_each(|_| assert!(square(0) < 1.0)))).1);
    }
}
