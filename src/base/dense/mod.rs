//! Dense linear algebra of a backend for the families that compute with matrices: products, orthonormal bases, small
//! singular value and eigenvalue problems, random matrices. It is for intermediate matrices, whose size follows the data.
//! The families process the data themselves.
//!
//! | file | subject |
//! |---|---|
//! | `algebra`, `delta` | the operations of a backend on matrices; error bounds |
//! | `erased` | operations that several families use, without element type and backend |
//! | `orthonormal` | orthonormal bases by the CholeskyQR ladder, for every type with its steps |
//! | `sketch` | random matrices: distribution, seed and stream |
//! | `cpu`, `gpu` | [`Algebra`] on a backend |
//! | `sizes` | [`Algebra`] on sizes instead of matrices, which counts the bytes that the CPU needs |
//! | `view` | views of matrices in host memory, around those of faer |
//! | `serial` | products and factorizations by the calling thread, by faer |
//! | `small` | decompositions of small matrices of `f64` that are made once a call, by faer |

mod algebra;
#[cfg(test)]
mod checksums;
pub mod cpu;
mod delta;
pub mod erased;
pub mod gpu;
pub mod orthonormal;
pub mod serial;
pub mod sizes;
pub mod sketch;
pub mod small;
pub mod view;

pub use algebra::{Algebra, Op, Step, Svd};
pub use delta::Delta;
pub use view::{Accum, Mat, MatMut};
