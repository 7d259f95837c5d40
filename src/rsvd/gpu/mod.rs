//! The randomized SVD on one GPU or several. The rows of the data and of tall matrices are divided evenly among the devices.
//! Everything else is on the first device. The sums of the other devices are added to its own, in the order of the devices.
//!
//! | file | subject |
//! |---|---|
//! | `state` | the devices with their rows, the data and the settings |
//! | `division` | the division of the rows among the devices; the memory that each plans |
//! | `operations` | the implementation of [`RsvdOps`](super::ops::RsvdOps) |
//! | `cut` | rows that stay on the device, and rows of a block |
//! | `input`, `feed`, `conversion` | location of the data; their copies to the device; their conversion there |
//! | `block`, `passes`, `merge` | products with a block; the passes |
//! | `operands` | the operands of one device in a pass |
//! | `statistics` | the statistics of the first pass; the means that centring needs |
//! | `exchange` | small matrices between the devices |
//! | `implicit`, `sparse`, `products`, `footprint` | sparse matrices; operators; the memory that they take |
//! | `numbers` | vectors of the host, rounded to the type of the computation |
//! | `tall`, `orthogonal`, `transfer` | matrices as long as the data; callers' matrices |
//! | `site` | a device with its queue and its workspace |

mod block;
mod conversion;
mod cut;
mod division;
mod exchange;
mod feed;
mod footprint;
mod implicit;
mod input;
mod merge;
mod numbers;
mod operands;
mod operations;
mod orthogonal;
mod passes;
mod products;
mod site;
mod sparse;
mod state;
mod statistics;
mod tall;
#[cfg(test)]
mod tests;
mod transfer;

pub use cut::{NO_CUT, NO_HOST};
pub use state::GpuOps;
pub use tall::Tall;
