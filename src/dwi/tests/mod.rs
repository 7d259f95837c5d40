//! Tests against golden values of dipy, MRtrix3 and NumPy, and against the definitions.

mod arrays;
mod checksums;
mod conversion;
mod device;
mod fitting;
mod orientation;
mod peaks;
mod plans;
mod volume;
