//! FDK on the CPU, in f32 with vector instructions.
//!
//! | file | subject |
//! |---|---|
//! | `ops` | the operations of a reconstruction |
//! | `layout` | filtered views and slices in memory |
//! | [`filter`], `convolution` | weights and the ramp filter |
//! | [`backproject`], `general` | back-projection for upright panels, and for all |
//! | [`slab`] | slices that are computed together |

pub mod backproject;
mod convolution;
pub mod filter;
mod general;
mod layout;
mod ops;
pub mod slab;
#[cfg(test)]
mod tests;

pub use layout::{PAD, SLICE_GROUP, column_stride};
pub use ops::CpuOps;
pub(super) use ops::{Rows, encode_all, infinities, pipeline_bytes, timed, unprepared};
