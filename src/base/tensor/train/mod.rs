//! Tensor trains (matrix-product states) and TT-matrices (matrix-product operators): shapes and cores.
//!
//! Core k of a train is an array (r_k, n_k, r_{k+1}), first index fastest, k = 0 .. d - 1. The entry at i_0 .. i_{d-1} is
//! trace(G_0[:, i_0, :] ... G_{d-1}[:, i_{d-1}, :]): a train is open if r_0 = r_d = 1 and cyclic otherwise.

mod blocks;
mod copy;
mod matrix;
mod shape;
mod storage;
#[cfg(test)]
mod tests;

pub use blocks::{Block, BlockKind, Sparsity};
pub use copy::{copy, core_number, read_core, write_core};
pub use matrix::TrainMatrix;
pub use shape::Shape;
pub use storage::{Cores, CoresMut, TensorTrain};
