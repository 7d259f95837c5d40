//! Vector arithmetic that is written once and runs on AVX-512, AVX2 with FMA, or anything.
//!
//! A kernel is a [`Kernel`]: generic code over a [`Simd`] token, which makes vectors ([`Lanes`]) by `splat` and `load`.
//! [`dispatch`] picks the token of the instruction set and enters, once, a function that has those instructions
//! enabled; everything the kernel calls is `#[inline(always)]` and so is compiled with them.
//!
//! The rules for kernels:
//! - every function that touches vectors is `#[inline(always)]`: one that is not is compiled without the instructions,
//!   correct but slow. A function may instead be a [`Kernel`] of its own that is dispatched again;
//! - no closures over vectors, which cannot be forced inline;
//! - a token proves that the machine has the instructions. It comes from [`dispatch`] alone and vectors come from
//!   tokens alone, so safe code cannot reach an instruction that is not there;
//! - [`Simd::doubled`] works on two vectors at once, which hides the latency of dependent operations.
//!
//! ```
//! use purlin_base::backend::cpu::Isa;
//! use purlin_base::backend::cpu::simd::{Kernel, Lanes, Simd, dispatch};
//!
//! struct Scale<'a>(f32, &'a mut [f32]);
//! impl Kernel<f32> for Scale<'_> {
//!     type Output = ();
//!     #[inline(always)]
//!     fn run<S: Simd<f32>>(self, simd: S) {
//!         let factor = simd.splat(self.0);
//!         let mut blocks = self.1.chunks_exact_mut(S::V::LEN);
//!         for block in &mut blocks {
//!             simd.load(block).mul(factor).store(block);
//!         }
//!         blocks.into_remainder().iter_mut().for_each(|x| *x *= self.0);
//!     }
//! }
//! let mut data = [1.0f32; 21];
//! dispatch(Isa::detect(), Scale(3.0, &mut data));
//! assert_eq!(data, [3.0; 21]);
//! ```

mod portable;
mod twice;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::Isa;
use crate::real::Real;

pub use portable::Portable;
pub use twice::Twice;
pub use vector::{Kernel, Lanes, Mask, Simd};

/// Asks the processor once for the process.
pub(super) fn detect() {
    #[cfg(target_arch = "x86_64")]
    let _ = (x86::Avx2::available(), x86::Avx512::available());
}

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

/// A type with vectors on every instruction set: `f32` and `f64`.
pub trait Vectorised: Real {
    /// [`dispatch`] for this type.
    fn dispatch<K: Kernel<Self>>(isa: Isa, kernel: K) -> K::Output;
    /// [`dispatch_wide`] for this type.
    fn dispatch_wide<K: Kernel<Self>>(isa: Isa, kernel: K) -> Result<K::Output, K>;
}

/// Runs `kernel` with the instructions of `isa`, or with fewer where the machine lacks them.
pub fn dispatch<T: Vectorised, K: Kernel<T>>(isa: Isa, kernel: K) -> K::Output {
    T::dispatch(isa, kernel)
}

/// [`dispatch`] for large generated kernels: where there is a choice of instruction sets, no portable variant of the kernel
/// is compiled, and it is given back unless `isa` has vectors of 256 bits or more.
pub fn dispatch_wide<T: Vectorised, K: Kernel<T>>(isa: Isa, kernel: K) -> Result<K::Output, K> {
    T::dispatch_wide(isa, kernel)
}

macro_rules! vectorised {
    ($t:ty, $portable:literal) => {
        impl Vectorised for $t {
            #[inline]
            fn dispatch<K: Kernel<Self>>(isa: Isa, kernel: K) -> K::Output {
                match enter::<Self, K>(isa, kernel) {
                    Ok(output) => output,
                    Err(kernel) => kernel.run(Portable::<$portable>),
                }
            }

            #[inline]
            fn dispatch_wide<K: Kernel<Self>>(isa: Isa, kernel: K) -> Result<K::Output, K> {
                #[cfg(target_arch = "x86_64")]
                return enter::<Self, K>(isa, kernel);
                #[cfg(not(target_arch = "x86_64"))]
                return Ok(Self::dispatch(isa, kernel));
            }
        }
    };
}

/// Runs the kernel with the instructions of `isa`, if they are there and more than the target's own.
#[cfg(target_arch = "x86_64")]
#[inline]
fn enter<T: Real, K: Kernel<T>>(isa: Isa, kernel: K) -> Result<K::Output, K>
where
    x86::Avx2: Simd<T>,
    x86::Avx512: Simd<T>,
{
    if isa == Isa::Avx512
        && let Some(token) = x86::Avx512::available()
    {
        return Ok(token.enter(kernel));
    }
    if isa == Isa::Avx2
        && let Some(token) = x86::Avx2::available()
    {
        return Ok(token.enter(kernel));
    }
    Err(kernel)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn enter<T: Real, K: Kernel<T>>(_: Isa, kernel: K) -> Result<K::Output, K> {
    Err(kernel)
}

// The width of the 128-bit vectors that every x86-64 and AArch64 has, twice for latency.
vectorised!(f32, 8);
vectorised!(f64, 4);

#[cfg(test)]
mod tests;
