//! The constants that `cuda/*_launch.h` share between kernels and host.

include!(concat!(env!("OUT_DIR"), "/launch_constants.rs"));
