//! A safe function for each kernel of `cuda/`: it checks the lengths of its arguments, fills the parameter struct and
//! launches.

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
