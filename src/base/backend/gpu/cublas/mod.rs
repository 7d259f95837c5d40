//! Products of dense matrices by cuBLAS.
//!
//! | file | subject |
//! |---|---|
//! | `functions` | the library's functions, by element type |
//! | `blas`, `workspace` | the library on one stream, its products and its workspace |
//! | `triangle` | products and solutions that need only one triangle |

mod blas;
mod functions;
mod triangle;
mod workspace;

pub use blas::{Blas, Precision, Scalars, Series};
pub(super) use functions::int;
