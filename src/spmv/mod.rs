//! Products of sparse matrices with vectors and with blocks of a few vectors, planned once and used many times.
//!
//! | file | subject |
//! |---|---|
//! | [`options`], [`info`] | options of a plan, and its report |
//! | [`kind`] | the operators of a matrix |
//! | [`terms`] | the terms of an operator beside its matrix |
//! | `walk` | weights near the ends of the range, for the random-walk Laplacian |
//! | [`plan`], `planning` | a plan; statistics of the rows, the choice of a method |
//! | `needed` | the memory of a plan |
//! | `tiles` | shares of the work |
//! | [`renumber`], `ordered` | other orders of rows and columns, and products in them |
//! | [`product`] | entry points |
//! | [`operator`] | products with operators that are never formed |
//! | [`filter`] | polynomials of operators |
//! | `known` | matrices that are known only by their products |
//! | [`cpu`] | the methods on threads |
//! | [`gpu`] | the methods on a GPU |

pub mod cpu;
pub mod filter;
pub mod gpu;
pub mod info;
pub mod kind;
mod known;
mod needed;
pub mod operator;
pub mod options;
mod ordered;
pub mod plan;
mod planning;
pub mod product;
pub mod renumber;
pub mod terms;
#[cfg(test)]
pub(crate) mod tests;
pub mod tiles;
mod walk;

pub use gpu::{DeviceBytes, Space};
pub use info::Info;
pub use kind::Kind;
pub use options::{Method, Op, Options};
pub use plan::Plan;
pub use renumber::Renumbering;
