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

mod dispatch;
mod portable;
mod prefetch;
#[cfg(test)]
mod tests;
mod twice;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(super) use dispatch::detect;
pub use dispatch::{Vectorized, dispatch, dispatch_wide};
pub use portable::Portable;
pub use prefetch::prefetch;
pub use twice::Twice;
pub use vector::{Kernel, Lanes, Mask, Simd};
