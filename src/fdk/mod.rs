//! Cone-beam CT: Feldkamp, Davis and Kress's filtered back-projection.
//!
//! | file | subject |
//! |---|---|
//! | [`session`], [`pushed`], [`run`] | a configured reconstruction; a scan pushed view by view; a run over a whole scan |
//! | [`inputs`], `open` | a run's projections, volume and backend; access to its arrays |
//! | `part` | the part of a run that one device computes |
//! | `lane` | a slab that accumulates pushed views |
//! | `slot` | the owner of a pushed scan between the calls; a cancellation drops the scan there |
//! | [`fov`], `unseen`, [`frame`] | the disc that every view sees; the voxels outside; a box of a volume that reaches a source |
//! | [`counts`] | raw detector counts to line integrals |
//! | [`pieces`] | the single steps of a reconstruction as functions of their own |
//! | [`geometry`], [`view`], [`orbit`] | the views of a scan, voxels; panel and one view; a circular orbit |
//! | [`lengths`], `limits` | lengths, pixels and output values that a precision computes with |
//! | [`options`], [`info`] | options and figures |
//! | [`weights`], [`half_fan`] | angular and redundancy weights; those of a half fan, and the overlap that it needs |
//! | [`fan`] | angles of rays to the ray through the axis |
//! | [`ramp`] | the filter's response |
//! | [`plan`], [`cut`] | the numbers of the kernels; slabs and batches inside the memory limits |
//! | [`algorithm`], [`ops`], [`arrays`] | the method for all devices; the operations of a device; a run's arrays |
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
pub mod half_fan;
pub mod info;
pub mod inputs;
mod lane;
pub mod lengths;
mod limits;
mod open;
pub mod ops;
pub mod options;
pub mod orbit;
mod part;
pub mod phantom;
pub mod pieces;
pub mod plan;
pub mod pushed;
pub mod ramp;
pub mod reference;
pub mod run;
pub mod session;
mod slot;
mod unseen;
pub mod view;
pub mod weights;

pub use info::{Info, KernelKind, SharedInfo};
pub use inputs::{Projections, Volume};
pub use options::Options;
pub use session::Fdk;
pub use slot::Cancellation;

#[cfg(test)]
mod tests;
