//! Products of sparse matrices with vectors and with blocks of a few vectors, planned once and used many times.
//!
//! | file | subject |
//! |---|---|
//! | [`options`], [`info`] | options of a plan, and its report |
//! | [`kind`] | the operators of a matrix |
//! | [`terms`] | the terms of an operator beside its matrix |
//! | `walk` | weights near the ends of the range, for the random-walk Laplacian |
//! | [`plan`] | statistics of the rows, the choice of a method |
//! | `tiles` | shares of the work |
//! | [`renumber`] | products in another order of rows and columns |
//! | [`product`] | entry points |
//! | [`operator`] | products with operators that are never formed |
//! | [`filter`] | polynomials of operators |
//! | `known` | matrices that are known only by their products |
//! | [`cpu`] | the methods on threads |
//! | [`gpu`] | the methods on a GPU |
//!
//! Circle: a plan holds the terms of its operator, which for some kinds hold a plan of products with the adjoint; and
//! `known`, `operator`, `renumber` and `gpu` extend the plan by the products that they compute.

pub mod cpu;
pub mod filter;
pub mod gpu;
pub mod info;
pub mod kind;
mod known;
pub mod operator;
pub mod options;
pub mod plan;
pub mod product;
pub mod renumber;
pub mod terms;
#[cfg(test)]
pub(crate) mod tests;
pub mod tiles;
mod walk;

pub use gpu::Space;
pub use info::Info;
pub use kind::Kind;
pub use options::{Method, Op, Options};
pub use plan::Plan;
pub use renumber::Renumbering;
