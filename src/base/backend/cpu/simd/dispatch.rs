//! Enters a kernel with the instructions of the processor.

use super::super::Isa;
use super::portable::Portable;
use super::vector::Kernel;
#[cfg(target_arch = "x86_64")]
use super::{vector::Simd, x86};
use crate::real::Real;

/// Asks the processor once for the process.
pub(in crate::backend::cpu) fn detect() {
    #[cfg(target_arch = "x86_64")]
    let _ = (x86::Avx2::available(), x86::Avx512::available());
}

/// A type with vectors on every instruction set: `f32` and `f64`.
pub trait Vectorized: Real {
    /// [`dispatch`] for this type.
    fn dispatch<K: Kernel<Self>>(isa: Isa, kernel: K) -> K::Output;
    /// [`dispatch_wide`] for this type.
    ///
    /// # Errors
    /// As [`dispatch_wide`].
    fn dispatch_wide<K: Kernel<Self>>(isa: Isa, kernel: K) -> Result<K::Output, K>;
}

/// Runs `kernel` with the instructions of `isa`, or with fewer where the machine lacks them.
pub fn dispatch<T: Vectorized, K: Kernel<T>>(isa: Isa, kernel: K) -> K::Output {
    T::dispatch(isa, kernel)
}

/// [`dispatch`] for large generated kernels: where there is a choice of instruction sets, no portable variant of the kernel
/// is compiled.
///
/// # Errors
/// `kernel`, which has not run, where there is such a choice, if `isa` has no vectors of 256 bits or more or the
/// machine lacks its instructions.
pub fn dispatch_wide<T: Vectorized, K: Kernel<T>>(isa: Isa, kernel: K) -> Result<K::Output, K> {
    T::dispatch_wide(isa, kernel)
}

macro_rules! vectorized {
    ($t:ty, $portable:literal) => {
        impl Vectorized for $t {
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
vectorized!(f32, 8);
vectorized!(f64, 4);
