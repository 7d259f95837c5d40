//! A safe function for each kernel of `cuda/`: it checks the lengths of what it is given, fills the parameter struct
//! and launches.

pub mod selftest;

/// The constants that `cuda/purlin_launch.h` shares between kernels and host.
pub mod constants {
    include!(concat!(env!("OUT_DIR"), "/launch_constants.rs"));
}
