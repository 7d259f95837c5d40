//! Cone-beam CT: Feldkamp, Davis and Kress's filtered back-projection.
//!
//! | file | subject |
//! |---|---|
//! | [`session`], [`pushed`], [`run`] | a reconstruction that is set up; a scan that is pushed; a run over a whole one |
//! | `open` | where a run's arrays lie, and how they are reached |
//! | `lane` | a slab to which views are added as they come |
//! | [`fov`], [`frame`] | what every view sees; a volume that reaches a source, of which only that is reconstructed |
//! | [`geometry`] | panel, views, voxels |
//! | [`options`], [`info`] | how, and what came of it |
//! | [`weights`], [`fan`] | angular weights; weights of rays measured twice, by their angle to the ray through the axis |
//! | [`ramp`] | the filter's response |
//! | [`plan`], [`cut`] | the numbers of the kernels; slabs and batches inside the memory limits |
//! | [`algorithm`], [`ops`], [`arrays`] | the method, for every device; what it needs of one; a run's arrays |
//! | [`cpu`], [`double`], [`mod@reference`] | on threads, in f32 and in f64 |
//! | [`gpu`] | on a GPU |
//! | [`phantom`] | a test object with exact projections |

pub mod algorithm;
pub mod arrays;
pub mod counts;
pub mod cpu;
pub mod cut;
pub mod double;
pub mod fan;
pub mod fov;
pub mod frame;
pub mod geometry;
pub mod gpu;
pub mod info;
mod lane;
mod open;
pub mod ops;
pub mod options;
pub mod phantom;
pub mod pieces;
pub mod plan;
pub mod pushed;
pub mod ramp;
pub mod reference;
pub mod run;
pub mod session;
pub mod weights;

pub use info::{Info, KernelKind, SharedInfo};
pub use session::{Fdk, Projections, Volume};

#[cfg(test)]
mod tests;
