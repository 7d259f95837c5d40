//! [`super::Algebra`] on the GPU.
//!
//! cuBLAS computes products. cuSOLVER computes factorizations if it is available, else the CPU does, because these matrices
//! are small. Small problems in single precision are solved in double: on the supported devices this is as fast, and the
//! libraries are more accurate.
//!
//! | file | subject |
//! |---|---|
//! | `algebra` | the algebra on a stream: products, and the trait's functions |
//! | `factor`, `polar` | factorizations and polar factors, as its methods |
//! | `matrix` | dense matrices on the device |
//!
//! `algebra.rs` and `factor.rs` import each other: the factorizations are methods of the algebra that the trait calls.

mod algebra;
#[cfg(test)]
mod device_tests;
mod factor;
mod matrix;
mod polar;

pub use algebra::{FACTORIZATION_BYTES, GpuAlgebra};
pub use matrix::{DeviceMatrix, GpuMatrix};
