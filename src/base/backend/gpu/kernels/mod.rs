//! A safe function for each kernel of `cuda/`: it checks the lengths of its arguments, fills the parameter struct and
//! launches.
//!
//! # Errors
//! A function that launches a kernel, or asks for its limits, returns
//!
//! - [`Error::Internal`] for an array that is shorter than its sizes say, and for a type that its kernels do not
//!   compute in;
//! - [`Error::InvalidArgument`] for an array that is not aligned to its elements, and for sizes whose product
//!   overflows;
//! - [`Error::NotSupported`] for sizes that the kernel or a launch does not take, and if this build has no kernel that
//!   the GPU and its driver can load;
//! - [`Error::OutOfMemory`] if the driver has too little host memory to load the kernel;
//! - [`Error::Cuda`] for an error of the driver.
//!
//! The functions' own lists say "as for every launch" for these.
//!
//! [`Error::Internal`]: crate::error::Error::Internal
//! [`Error::InvalidArgument`]: crate::error::Error::InvalidArgument
//! [`Error::NotSupported`]: crate::error::Error::NotSupported
//! [`Error::OutOfMemory`]: crate::error::Error::OutOfMemory
//! [`Error::Cuda`]: crate::error::Error::Cuda

mod arguments;
pub mod constants;
pub mod dense;
pub mod dwi;
pub mod fdk;
pub mod lanczos;
pub mod linear;
mod mirrors;
pub mod rpca;
pub mod rsvd;
pub mod selftest;
pub mod spmv;
pub mod sshopm;
pub mod symmetric;
pub mod tt;

use arguments::{filling, optional, product, size, small, span, suffix, suffix_of};
