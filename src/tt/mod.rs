//! Contractions of tensor trains (matrix-product states): inner products, open and cyclic, norms, expectation values of
//! TT-matrices (matrix-product operators), and the algebra around them (Oseledets, SIAM J. Sci. Comput. 33, 2295, 2011;
//! Schollwoeck, Ann. Phys. 326, 96, 2011).
//!
//! The trains themselves are in [`crate::tensor::train`].
//!
//! | file | subject |
//! |---|---|
//! | [`options`], [`info`] | options and reports of a call |
//! | [`algebra`] | sums, products, truncation, dense tensors to and from trains |
//! | [`scaled`] | numbers beyond the range of their type |
//! | [`session`] | the public entry: options on one or several contexts |
//! | `once` | options of an object that is made for one call |
//! | `call` | norms and distances |
//! | `examination` | examination of trains on the host while a device contracts them |
//! | `wider` | contractions that lost digits below the range of their type, repeated on the host |
//! | `batch` | many inner products in one call, Gram matrices |
//! | [`enqueued`] | inner products that stay on the device |
//! | [`plan`], [`cost`], [`pairs`] | choice of the contraction, its operation counts, the boundary pairs that it sums |
//! | [`watch`] | cancellation and progress of a call |
//! | `balance` | bonds whose values differ by many orders of magnitude |
//! | [`peaks`] | magnitudes of the cores, which show whether library products may lose digits |
//! | `rings` | products of rings in which entries that contribute may underflow |
//! | `finite` | examination of cores for numbers that are not finite |
//! | [`ops`] | trait that each backend implements |
//! | `algorithm` | contractions for any backend |
//! | [`cpu`], [`gpu`] | implementations for the CPU and the GPU |
//! | [`operator`] | TT-matrices between trains, environments stored for sweeps, spin chains |

pub mod algebra;
mod algorithm;
mod balance;
pub mod batch;
mod call;
pub mod cost;
pub mod cpu;
pub mod enqueued;
mod examination;
mod finite;
pub mod gpu;
pub mod info;
pub mod once;
pub mod operator;
pub mod ops;
pub mod options;
pub mod pairs;
pub mod peaks;
pub mod plan;
mod rings;
pub mod scaled;
pub mod session;
#[cfg(test)]
mod tests;
pub mod watch;
mod wider;

pub use info::Info;
pub use options::Options;
pub use scaled::Scaled;
pub use session::Contraction;
