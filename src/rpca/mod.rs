//! Robust principal component analysis: a matrix as the sum of one of low rank and a sparse one, min ||L||_* + lambda
//! ||S||_1 subject to L + S = M (Candes, Li, Ma, Wright, JACM 58, 2011), by the inexact augmented Lagrange multiplier
//! method. Entries may be missing.
//!
//! The usual example is a video from a fixed camera with one frame a column: L is the background, S the moving foreground.
//!
//! | file | subject |
//! |---|---|
//! | `options` | options and figures of a run |
//! | `algorithm` | the method, for every backend |
//! | `ops` | the interface of a backend: the passes |
//! | `input`, `output` | reads the matrix in blocks of rows; writes the parts |
//! | `cpu`, `gpu` | the backends |
//! | `memory` | memory of a run, computed before it starts |

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
