//! Algebra of tensor trains and TT-matrices: sums, products, truncation, and dense tensors to and from trains (Oseledets,
//! SIAM J. Sci. Comput. 33, 2295, 2011).
//!
//! Results are new trains, in the memory that the caller asks for. What factorises or multiplies is written once against
//! [`ops::TrainOps`] and runs where the context is: on a GPU host trains are uploaded core by core, device trains stay
//! where they are. What only moves or scales numbers (copies between types, conjugates, sums, products of cores) is done
//! by the host, for trains on a device with one copy each way.
//!
//! | file | subject |
//! |---|---|
//! | [`place`] | where calls run; trains as the host reads and writes them |
//! | [`structure`], [`sum`] | copies, conjugates, rotations; linear combinations, factors beyond the type's range |
//! | [`product`] | Hadamard products, TT-matrices applied to trains, at once or rounded on the way |
//! | [`create`] | random trains, product states, identities |
//! | [`mod@element`], [`mod@full`] | entries, one by one or all |
//! | [`truncate`] | which singular values are kept |
//! | [`mod@round`], [`canonical`], [`svd`] | rounding, canonical forms, trains from dense tensors |
//! | [`matrix`] | the same for TT-matrices |
//! | [`ops`], `cpu`, `gpu` | what a backend offers |

pub mod canonical;
mod cpu;
pub mod create;
pub mod element;
pub mod full;
mod gpu;
pub mod matrix;
pub mod ops;
mod orthogonal;
pub mod place;
pub mod product;
pub mod round;
pub mod structure;
pub mod sum;
pub mod svd;
pub mod truncate;

pub use canonical::canonicalise;
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
pub(super) mod tests;
