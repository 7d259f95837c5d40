//! Diffusion MRI: symmetric tensors and orientation functions from signals, spherical harmonics, fibre directions.
//!
//! | from | to | by |
//! |---|---|---|
//! | signals | tensors of the apparent diffusion coefficient, any even order | [`fit()`] |
//! | signals | orientation functions in spherical harmonics | [`csa()`] |
//! | spherical harmonics in one of five bases | symmetric tensors, and back | [`sh_to_tensor`], [`tensor_to_sh`] |
//! | orientation functions, as tensors or harmonics | their peaks, which are fibre directions | [`peaks()`] |
//!
//! | file | subject |
//! |---|---|
//! | [`options`] | the options of all calls |
//! | [`session`] | options on a context, created once and used for many volumes |
//! | `scheme`, `signal` | a gradient scheme; signals as fractions of the unweighted signal |
//! | `fit`, `csa`, `peaks`, `convert` | the calls of the table above |
//! | `arguments` | checks of arguments that several calls share |
//! | `design`, `weighted` | the matrices that all voxels share; least squares with weights of each voxel |
//! | [`sh`] | spherical harmonics, and their matrices to and from symmetric tensors |
//! | `voxels`, `logarithm` | blocks of voxels on all threads; the logarithm of many values |
//! | `gpu` | fits and conversions on a GPU |
//!
//! Directions stay in the frame of the gradients; no image affine is applied anywhere.

mod arguments;
mod convert;
mod csa;
mod design;
mod fit;
mod gpu;
mod logarithm;
pub mod options;
mod peaks;
mod scheme;
pub mod session;
pub mod sh;
mod signal;
mod voxels;
mod weighted;

pub use convert::{sh_to_tensor, tensor_to_sh};
pub use csa::csa;
pub use design::{adc_matrix, csa_constant, csa_matrix};
pub use fit::fit;
pub use options::{CsaOptions, FitOptions, Missing, Nonpositive, Options, PeaksFormat, PeaksOptions, Weighting};
pub use peaks::{PeaksOutputs, peaks};
pub use scheme::Scheme;
pub use session::{Dwi, FitOutputs, Scan};
pub use sh::Basis;

#[cfg(test)]
mod tests;
