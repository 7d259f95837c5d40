//! Orthonormal bases by the ladder of CholeskyQR steps.
//!
//! | step | taken when |
//! |---|---|
//! | CholeskyQR, twice | always first: orthonormal to roundoff up to a condition of about 1e8 |
//! | columns scaled to similar norms | X^H X has no Cholesky factor: often only because the columns' lengths differ |
//! | shifted CholeskyQR, up to six times | still none: each divides the condition by about 1e4 (Fukaya et al., SISC 42, 2020) |
//! | deflation | still none, or a column is 0: X is rank-deficient; random directions complete the basis |
//!
//! Conditions are those of double precision, in which [`super::Algebra::cholesky_step`] forms X^H X for every type. The
//! result is orthonormal and finite, and X = Q R holds to a few units of roundoff of ||X||, for any sequence of steps.
//!
//! The ladder is compiled once: it calls the operations of a [`Columns`] through a trait object.

mod columns;
mod deflation;
mod erased;
mod ladder;
mod method;
mod orthonormalize;
#[cfg(test)]
mod tests;

pub use columns::{Columns, Own, Small};
pub use method::{BasisAccuracy, BasisMethod, Counts, Kind};
pub use orthonormalize::orthonormalize;
