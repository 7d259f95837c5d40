//! Algebra of tensor trains and TT-matrices: sums, products, truncation, and dense tensors to and from trains (Oseledets,
//! SIAM J. Sci. Comput. 33, 2295, 2011).
//!
//! Results are new trains, in the memory that the caller asks for. Factorizations and matrix products are written once
//! in terms of [`ops::TrainOps`] and run on the context's backend. On a GPU, host trains are uploaded core by core, and
//! trains on the device are used in place. Functions that only move or scale numbers (copies between types, conjugates,
//! sums, products of cores) run on the host; trains on a device are copied there and back.
//!
//! | file | subject |
//! |---|---|
//! | [`place`] | context, stream and memory of a call; trains as the host reads and writes them |
//! | [`structure`], [`sum`] | copies, conjugates, rotations; linear combinations, factors beyond the type's range |
//! | `levels` | powers of two that the cores of a train can take |
//! | [`product`] | Hadamard products, TT-matrices applied to trains; optionally rounded core by core |
//! | [`create`] | random trains, product states, identities |
//! | [`mod@element`], [`mod@full`] | entries, one by one or all |
//! | [`truncate`] | number of singular values that are kept |
//! | [`mod@round`], [`canonical`], [`svd`] | rounding, canonical forms, trains from dense tensors |
//! | `orthogonal` | steps of the sweeps that make cores orthonormal |
//! | `positive` | phases of their factors |
//! | [`matrix`] | the same for TT-matrices |
//! | [`ops`], `cpu`, `gpu` | trait that each backend implements, and its implementations |
//! | [`erased`] | its operations without element type and backend, so that sweeps are compiled once |

pub mod canonical;
mod cpu;
pub mod create;
pub mod element;
pub mod erased;
pub mod full;
mod gpu;
mod levels;
pub mod matrix;
pub mod ops;
mod orthogonal;
pub mod place;
mod positive;
pub mod product;
pub mod round;
pub mod structure;
pub mod sum;
pub mod svd;
pub mod truncate;

pub use canonical::canonicalize;
pub use element::{element, elements};
pub use full::full;
pub use place::Place;
pub use product::{apply, apply_round, hadamard, hadamard_round};
pub use round::round;
pub use structure::{cast, conj, copy, reverse, rotate, to_open};
pub use sum::{Spread, add, scale};
pub use svd::tt_svd;
pub use truncate::{Truncated, Truncation};

#[cfg(test)]
mod tests;
