//! Contractions of tensor trains (matrix-product states): inner products, open and cyclic, norms, and expectation values
//! of TT-matrices (matrix-product operators) with one set of options (Oseledets, SIAM J. Sci. Comput. 33, 2295, 2011;
//! Schollwoeck, Ann. Phys. 326, 96, 2011).
//!
//! | file | subject |
//! |---|---|
//! | [`session`] | the public entry: options on one or several contexts |
//! | [`once`] | options of an object that is made for one call |
//! | `call`, `operators` | norms and distances; contractions with operators |
//! | `examination` | examination of trains on the host while a device contracts them |
//! | [`batch`] | many inner products in one call, Gram matrices |
//! | [`enqueued`] | inner products that stay on the device |
//! | [`plan`], [`cost`], [`pairs`] | choice of the contraction, its operation counts, the boundary pairs that it sums |
//! | [`peaks`] | magnitudes of the cores, which show whether library products may lose digits |
//! | `finite` | the rule for numbers that are not finite, for inner products by boundary pairs |
//! | [`ops`] | trait that each backend implements |
//! | `algorithm` | contractions for any backend |
//! | [`cpu`], [`gpu`] | implementations for the CPU and the GPU |

mod algorithm;
pub mod batch;
mod call;
pub mod cost;
pub mod cpu;
pub mod enqueued;
mod examination;
mod finite;
pub mod gpu;
pub mod once;
mod operators;
pub mod ops;
pub mod pairs;
pub mod peaks;
pub mod plan;
pub mod session;
#[cfg(test)]
mod tests;

pub use session::Contraction;
