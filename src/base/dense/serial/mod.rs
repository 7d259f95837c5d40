//! Dense linear algebra by the calling thread alone: products, factorizations, singular values, eigenvalues.
//!
//! This folder and [`super::view`] are the door to faer: all other code calls these functions. (The exceptions are
//! [`super::small`], and `backend/cpu/workspace.rs`, which measures the memory of a product.) The bodies are compiled once
//! for each type, here, and not where they are called.
//!
//! A function that takes `T::Wide` computes in double precision; name `T` when you call it.

mod operations;
mod reflections;
#[cfg(test)]
mod tests;

pub(super) use faer::dyn_stack::{MemStack, StackReq};
pub(super) use operations::{
    STACK, apply_reflections, cholesky, cholesky_scratch, eigen, eigen_scratch, reflect, reflections_scratch,
    solve_lower, svd, svd_scratch, with_uncharged_stack,
};
pub use operations::{add_lower, multiply};
pub use reflections::coefficient_rows;
