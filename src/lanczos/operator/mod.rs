//! Hermitian operators: a matrix, operators of a graph, shifts, products of a matrix with its adjoint, and the caller's
//! own.
//!
//! W is the weighted adjacency matrix of an undirected graph and d its row sums. No operator is formed: a product with
//! an operator is a product with W, then the row sums are combined with a diagonal.
//!
//! | file | subject |
//! |---|---|
//! | `hermitian` | the operator of a call |
//! | `check` | the checks that need no entries of the matrix |
//! | `products` | the sources of products |
//! | `rows` | an operator that has only some of its rows |

mod check;
mod hermitian;
mod products;
mod rows;

pub use crate::spmv::Kind;
pub(super) use check::check;
pub use hermitian::Symmetric;
pub(super) use hermitian::{DeviceProducts, Parts, UNSYMMETRIC, symmetric, symmetry_lists, tests_adjoint, unsymmetric};
pub use products::Adjacency;
pub(super) use products::{Copies, copies};
