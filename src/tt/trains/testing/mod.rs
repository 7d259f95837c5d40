//! Fixtures of the unit tests of the crates of tensor trains.

mod golden;
mod gpu;
mod plain;

pub use golden::{Json, golden, npy};
pub use gpu::gpu;
pub use plain::{C, Disorder, KERNELS, Plain, TYPES, add_scaled, bare, cpu, inner, placed};
