//! Sparse products on the threads of a context.
//!
//! A share sums its entries row by row. A row that ends in the share is finished there. The sum of a row that continues
//! in the next share is carried, and added in order after all shares are done.

pub mod block;
mod gather;
mod job;
mod product;
mod rows;

pub use job::{Finish, Job};
pub use product::product;
