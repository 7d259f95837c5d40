//! Real eigenpairs of symmetric tensors: unit vectors x with A x^(m-1) = lambda x, which are the critical points of A x^m
//! on the sphere.
//!
//! [`solve`] finds local maxima and minima from many starts with the shifted power method (Kolda and Mayo, SIAM J. Matrix
//! Anal. Appl. 32 (2011) 1095 and 35 (2014) 1563) or, by default, with a safeguarded Newton iteration that falls back
//! on it. [`all`] finds saddles as well. A batch holds any number of tensors of one shape. Each tensor has its own results and
//! status, and an invalid tensor does not affect the others.
//!
//! | file | subject |
//! |---|---|
//! | [`session`] | options on a context, created once and used for many batches |
//! | [`options`], [`info`] | options and results; the report of a call |
//! | [`resolve`], [`mod@plan`] | options with defaults applied and values checked; the plain numbers that they become |
//! | `solve`, `all` | local maxima and minima; all eigenpairs |
//! | `product` | products with given vectors; residuals and classes of given pairs |
//! | `starts` | points distributed over the sphere |
//! | [`algorithm`] | the part of every call that both backends share |
//! | [`ops`] | the operations that it requires of a backend |
//! | `site` | the backend of a plan |
//! | [`cpu`], [`gpu`] | the backends |
//! | `jacobi` | eigenvalues and eigenvectors of small symmetric matrices |

pub mod algorithm;
mod all;
pub mod cpu;
pub mod gpu;
pub mod info;
mod jacobi;
pub mod ops;
pub mod options;
pub mod plan;
mod product;
pub mod resolve;
pub mod session;
mod site;
mod solve;
mod starts;
#[cfg(test)]
mod tests;

pub use all::{NO_MORSE_INFORMATION, all};
pub use info::{Info, bytes};
pub use options::{
    Compatibility, Goal, Method, NO_PAIR, Options, PairClass, Results, Shift, Sign, StartKind, StartStatus,
    TensorStatus, Test,
};
pub use product::{classify, product};
pub use session::Sshopm;
pub use site::{planned, run};
pub use solve::{plan, solve};
pub use starts::starts;
