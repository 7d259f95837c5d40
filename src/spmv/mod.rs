//! Products of sparse matrices with vectors and with blocks of a few vectors, planned once and used many times.
//!
//! | file | subject |
//! |---|---|
//! | [`options`], [`info`] | how, and what a plan found |
//! | [`kind`] | what is made of a matrix |
//! | [`terms`] | what such an operator has beside its matrix |
//! | [`plan`] | statistics of the rows, the choice of an algorithm, tiles |
//! | [`renumber`] | products in another order of rows and columns |
//! | [`product`] | the calls |
//! | [`operator`] | products with operators that are never formed |
//! | [`filter`] | polynomials of them |
//! | `known` | matrices that are known by their products alone |
//! | [`cpu`] | the algorithms on threads |
//! | [`gpu`] | the algorithms on a GPU |

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

pub use gpu::{DeviceFinish, Space};
pub use info::Info;
pub use kind::Kind;
pub use options::{Algorithm, Op, Options};
pub use plan::Plan;
pub use renumber::Renumbering;
