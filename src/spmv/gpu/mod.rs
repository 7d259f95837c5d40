//! Sparse products on a GPU: a plan's data on the device, and the calls with vectors there.
//!
//! | file | subject |
//! |---|---|
//! | `matrix` | the matrix on the device |
//! | `cut` | division of the work into shares |
//! | `upload` | copies of numbers to the device |
//! | `sweeps` | products by columns, then sums by rows |
//! | `space` | workspace |
//! | `prepared` | a plan's data, and the choice of a method |
//! | `needed` | the bytes of a plan and its products |
//! | `terms` | the terms of an operator |
//! | `product` | products with vectors in device memory |
//! | `host` | calls with vectors in host memory |
//! | `operator` | operators that are never formed |
//! | `filter` | polynomials of operators |

mod cut;
mod filter;
mod host;
mod matrix;
mod needed;
#[cfg(test)]
mod needed_tests;
mod operator;
mod prepared;
mod product;
mod space;
mod sweeps;
mod terms;
#[cfg(test)]
pub(crate) mod tests;
mod upload;

pub use needed::DeviceBytes;
pub(super) use needed::{Multiplied, expected};
pub(super) use prepared::{Prepared, choose};
pub use space::Space;
pub(super) use terms::DeviceTerms;
