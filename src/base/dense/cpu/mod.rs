//! [`super::Algebra`] on the CPU.
//!
//! [`super::serial`] does the arithmetic of one task. The partition into tasks depends on the shape of the problem
//! alone, and the tasks' sums are added in order. A result is therefore the same bit for bit with any number of
//! threads.

mod algebra;
mod columns;
pub mod factor;
pub mod matrix;
pub mod product;
pub mod sums;
#[cfg(test)]
mod tests;
pub mod wide;

pub use algebra::CpuAlgebra;
