//! Randomized SVD on the CPU.
//!
//! The data are read in panels: groups of rows that stay in the third-level cache while both products of a pass use them.
//! Conversion, centring and scaling are applied to the panel in double precision. Centring then causes no cancellation, and
//! every product is a plain one. Sparse matrices and operators are centred by corrections to the products instead
//! (reference: Halko, Martinsson and Tropp, SIAM Review 53, 2011; corrections as in Li et al., ACM TOMS 43, 2017).
//!
//! | file | subject |
//! |---|---|
//! | `ops`, `state` | the operations that the method asks for, and their state |
//! | `work` | the products of a pass and their operands |
//! | `sizes` | rows of blocks and panels, bytes of means |
//! | `pass`, `panel` | passes over dense data, by panels |
//! | `sparse`, `entries`, `operator`, `implicit` | passes over sparse matrices and operators, centred by corrections |
//! | `blocks` | passes of the block methods |
//! | `survey` | means, deviations and the largest entry, by a first pass |
//! | `tall` | products of matrices with as many rows as the data |

mod blocks;
mod entries;
mod implicit;
mod operator;
mod ops;
mod panel;
mod pass;
mod sizes;
mod sparse;
mod state;
mod survey;
mod tall;
#[cfg(test)]
mod tests;
mod work;

pub use operator::PROBES;
pub use sizes::{cut_of, implicit_moments_bytes, moments_bytes};
pub use state::CpuOps;
