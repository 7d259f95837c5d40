//! The CPU backend: contractions on the threads of a context.
//!
//! | file | subject |
//! |---|---|
//! | `contraction` | methods, blocks of pairs, and the threads that share them |
//! | [`chain`] | whole sweeps in one vector kernel: for small ranks |
//! | `products` | products of environments with cores |
//! | `sweep` | environments from site to site |
//! | `ends` | open trains, from both ends |
//! | `halves`, `power` | by dense tensors, by squaring |
//! | `square`, `qr` | norms by one triangle, and by QR factors |

pub mod chain;
mod contraction;
mod ends;
mod halves;
mod power;
pub(crate) mod products;
mod qr;
mod square;
pub(crate) mod sweep;

pub use contraction::CpuContraction;
