//! Robust principal component analysis: a matrix as the sum of one of low rank and a sparse one, min ||L||_* + lambda
//! ||S||_1 subject to L + S = M (Candes, Li, Ma, Wright, JACM 58, 2011), by the inexact augmented Lagrange multiplier
//! method. Entries may be missing.
//!
//! The usual example is a video from a fixed camera with one frame a column: L is the background, S the moving foreground.
//!
//! | file | subject |
//! |---|---|
//! | `options`, `info` | options; the report of a run |
//! | `session` | options on contexts, for many matrices: plan, runs, cancellation |
//! | `run` | one run: its checks, its backend, the parts that are wanted |
//! | `algorithm` | the method, for every backend |
//! | `ops` | the interface of a backend: the passes |
//! | `input`, `output` | reads the matrix in blocks of rows; writes the parts |
//! | `cpu`, `gpu` | the backends |
//! | `memory` | memory of a run, computed before it starts |

mod algorithm;
pub mod cpu;
pub mod gpu;
pub mod info;
pub mod input;
pub mod memory;
pub mod ops;
pub mod options;
mod output;
mod run;
pub mod session;
#[cfg(test)]
mod tests;

pub use info::Info;
pub use options::{Frames, Options};
pub use session::Rpca;
