//! The GPU against the CPU, on a device.

mod arrays;
mod calls;
mod cases;
mod pairs;
mod scales;
mod shifts;
mod tops;
