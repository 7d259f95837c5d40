//! The constants that `cuda/purlin_launch.h` shares between kernels and host.

include!(concat!(env!("OUT_DIR"), "/launch_constants.rs"));
