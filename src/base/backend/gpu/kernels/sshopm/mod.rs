//! The kernels of `cuda/sshopm.cu` and `cuda/sshopm_general.cu`.

mod arrays;
#[cfg(test)]
mod device_tests;
mod product;
mod settings;
mod sizes;
mod solve;

pub use arrays::{Batch, Pairs, StartResults, Starts, Tables};
pub use product::{Classified, Draw, Vectors, classify, draw_starts, products};
pub use settings::Settings;
pub use sizes::{
    COUNTERS, FUSED_MAX_PAIRS, FUSED_MAX_STARTS, MAX_DIMENSION, MAX_ORDER, SELECT_MAX_PAIRS, SELECT_MAX_STARTS,
    has_fused,
};
pub use solve::Solve;
