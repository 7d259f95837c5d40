//! The inexact augmented Lagrange multiplier method (Lin, Chen, Ma, arXiv 1009.5055): min ||L||_* + lambda ||S||_1 subject
//! to L + S = M, written once for every backend.
//!
//! Each iteration thresholds the singular values of X = M - S + Y / mu. Only the right singular vectors and the values are
//! computed: L = X V diag(1 - 1 / (mu s)) V^H. They come from X^H X where the rank is a large part of n. Otherwise they come
//! from the subspace of the last iteration's vectors and some random ones, improved by a step of the power iteration. In
//! both cases the product with the new X is formed in the pass that computes X.
//!
//! The precision suffices: double-precision X^H X leaves an error of u s_1^2 / s in a value s, and the method only needs
//! values s > 1 / mu.
//!
//! | file | subject |
//! |---|---|
//! | `solver` | the iterations |
//! | `unit` | the unit that a run computes in |
//! | `rehearsal` | the steps that may need most memory, on a backend that counts bytes |

mod rehearsal;
mod solver;
mod unit;

pub(super) use rehearsal::rehearse;
pub(super) use solver::FIRST_RANK;
pub use solver::{Solution, solve};
