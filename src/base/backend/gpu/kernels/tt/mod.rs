//! The kernels of `cuda/tt.cu`.
//!
//! `operator.rs`, `result.rs` and `sandwich.rs` import each other: kernels of one unit of `cuda` share sizes, keys and the
//! store of the result.

pub mod bonds;
mod chain;
pub mod digits;
mod grid;
mod join;
mod library;
pub mod operator;
mod plain;
mod promote;
pub mod result;
pub mod rings;
pub mod sandwich;
mod sizes;
mod state;
mod sweep;
mod tables;
pub mod tf32;

pub use chain::{Form, chain_edge, chain_ends, chain_fits, chain_pairs};
pub use grid::{GRID_KEYS, GridSpace, grid, grid_strides};
pub use join::join;
pub use library::{Careful, Core, Edge, Factors, begin, end, factors, measure};
pub use promote::promote;
pub use sizes::{RESULT_WORDS, STATE_BYTES, SUM_THREADS, sum_blocks};
pub use state::{exponents, scale};
pub use sweep::Sweep;
pub use tables::{Places, Site, Tables};
