//! Principal components: the directions of largest variance of samples, from a decomposition of the centred data. The
//! centred data are never formed as a whole. Variances and signs are those of scikit-learn.

mod affine;
mod fit;
mod info;
mod options;
#[allow(clippy::module_inception, reason = "the file has the type that the folder is named after")]
mod pca;
mod plan;
mod rounding;
mod transform;

pub(in crate::rsvd) use affine::{map_means_bytes, map_shifts_bytes};
pub use info::PcaInfo;
pub use options::{PcaOptions, Samples};
pub use pca::Pca;
