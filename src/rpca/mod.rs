//! Robust principal component analysis: a matrix as the sum of one of low rank and a sparse one, min ||L||_* + lambda
//! ||S||_1 subject to L + S = M (Candes, Li, Ma, Wright, JACM 58, 2011), by the inexact augmented Lagrange multiplier
//! method. Entries may be missing.
//!
//! The usual example is a video of a camera that does not move, a frame a column: L is the background, S what passes
//! before it.
//!
//! | file | subject |
//! |---|---|
//! | `options` | options and figures of a run |
//! | `algorithm` | the method, for whatever offers its passes |
//! | `ops` | those passes |
//! | `input`, `output` | the matrix in blocks of rows; the parts on their way out |
//! | `cpu`, `gpu` | the passes on a backend |
//! | `memory` | host memory of a run, before it starts |

mod algorithm;
pub mod cpu;
pub mod gpu;
pub mod input;
pub mod memory;
pub mod ops;
pub mod options;
mod output;
mod run;
#[cfg(test)]
mod tests;

pub use options::{Frames, Info, Options};
pub use run::{compute, compute_csr, plan, stream};
