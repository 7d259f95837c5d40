//! Cone-beam CT: Feldkamp, Davis and Kress's filtered back-projection.
//!
//! | file | subject |
//! |---|---|
//! | [`geometry`] | panel, views, voxels |
//! | [`weights`] | angular weights; weights of rays measured twice |
//! | [`ramp`] | the filter's response |
//! | [`phantom`] | a test object with exact projections |

pub mod algorithm;
pub mod counts;
pub mod cpu;
pub mod geometry;
pub mod options;
pub mod phantom;
pub mod plan;
pub mod ramp;
pub mod reference;
pub mod weights;

#[cfg(test)]
mod tests;
