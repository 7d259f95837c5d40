//! SS-HOPM on a GPU. Whole batches run through [`crate::blocks`] in chunks. One fused kernel solves a chunk if there is one
//! (dimension 3, order 3, 4, 6, 8). Otherwise the general solver runs, and another kernel selects pairs from its start results.
//!
//! | file | subject |
//! |---|---|
//! | `call`, `settings` | a call on a batch, and the settings of its kernels |
//! | `ops` | the operations of the search for all pairs |
//! | `product` | products and classification |
//! | `arrays` | arrays of a call: where they lie, and scratch memory |
//! | `tables` | tables of the general kernels |

mod arrays;
mod call;
mod ops;
mod product;
mod settings;
mod tables;
#[cfg(test)]
mod tests;

pub use call::{has_kernels, obstacle, run};
pub use ops::GpuOps;
pub use product::{Site, classify, product};
