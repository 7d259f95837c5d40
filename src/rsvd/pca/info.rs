//! The figures of a fit.

use super::options::PcaOptions;
use crate::scalar::DType;

/// Figures of a fit: sizes, options and variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PcaInfo {
    /// Type of the computation and of the components.
    pub dtype: DType,
    /// Options that the fit was made with.
    pub options: PcaOptions,
    /// Samples that the fit was made from.
    pub count: usize,
    /// Features: numbers of a sample and of a component.
    pub features: usize,
    /// Components that are kept.
    pub rank: usize,
    /// Sum of the variances of all features.
    pub total_variance: f64,
    /// Mean variance of the directions orthogonal to the components.
    pub noise_variance: f64,
    /// Singular values up to this are rounding errors: whitened scores along them are 0. Larger ones may be as well:
    /// see [`super::Pca::negligible`].
    pub rounding: f64,
}
