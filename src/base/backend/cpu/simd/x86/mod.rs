//! AVX2 with FMA and AVX-512 by the compiler's intrinsics.

mod registers;
mod tokens;

pub use tokens::{Avx2, Avx512};
