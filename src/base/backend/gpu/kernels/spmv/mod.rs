//! The kernels of `cuda/spmv.cu`.
//!
//! | file | subject |
//! |---|---|
//! | `sizes` | sizes of tiles, bins and records |
//! | `rows`, `shares` | a matrix in compressed rows, the shares of its work |
//! | `finish` | the terms that are added to the sums of rows |
//! | `multiply` | products with one vector |
//! | `sweeps` | products by columns, summed by rows |
//! | `block` | products with several vectors |
//! | `pixels` | products with the graph of an image |
//! | `renumber` | vectors with their numbers in another order |

mod block;
mod finish;
mod multiply;
mod pixels;
mod renumber;
mod rows;
mod shares;
mod sizes;
mod sweeps;

pub use block::{Vectors, block, block_entries, rest_block};
pub use finish::Finish;
pub use multiply::{Form, multiply, rest};
pub use pixels::{Pixels, pixels};
pub use renumber::{Strided, pick, renumber};
pub use rows::Rows;
pub use shares::{Pieces, Shares};
pub use sizes::{BIN_WORDS, MERGE_TILE, PAD, PIECE, SHORT_TILE, THREADS, TILE, TILE_ROWS, TILE_WORDS, UNIT_WORDS};
pub use sweeps::{Swept, collect_shared, count, permute, place, sweep};
