//! Constants and structs of principal component analysis.

use super::options::versioned;

/// A row of the data is a sample, a column a feature.
pub const PURLIN_PCA_SAMPLES_ROWS: i32 = 0;
/// A column of the data is a sample, a row a feature.
pub const PURLIN_PCA_SAMPLES_COLUMNS: i32 = 1;

/// Options of a fit: layout, centring, scaling and whitening of the samples. The rank, and how it is computed, are the
/// session's options.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_pca_options {
    /// Size of the caller's struct; set by purlin_pca_options_init.
    pub struct_size: usize,
    /// Axis of the samples: PURLIN_PCA_SAMPLES_ROWS, the default, or PURLIN_PCA_SAMPLES_COLUMNS.
    pub samples: i32,
    /// 1 (default): the mean of each feature is subtracted, without forming the difference.
    pub center: i32,
    /// 1: each feature is divided by its standard deviation (of count - 1); one whose deviation is at most 8 2^-52 times
    /// its mean counts as constant and is divided by 1. Needs `center`; default 0.
    pub scale: i32,
    /// 1: scores are divided by the standard deviations along the components, so that each has variance 1. They are 0 along
    /// components whose singular value is at most 64 eps times the largest; eps is 2^-52, in single precision 2^-23.
    /// Default 0.
    pub whiten: i32,
}

versioned!(purlin_pca_options, first = size_of::<Self>(), of = crate::rsvd::pca::PcaOptions);

/// Report of a principal component analysis.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_pca_info {
    /// Size of the caller's struct; set by purlin_pca_info_init.
    pub struct_size: usize,
    /// Type that was computed with.
    pub dtype: i32,
    /// PURLIN_PCA_SAMPLES_ROWS or PURLIN_PCA_SAMPLES_COLUMNS: the axis of the samples.
    pub samples: i32,
    /// 1 if the mean of each feature is subtracted.
    pub centered: i32,
    /// 1 if each feature is divided by its standard deviation.
    pub scaled: i32,
    /// 1 if scores have variance 1.
    pub whitened: i32,
    /// Always 0: kept for later fields.
    pub reserved: i32,
    /// Samples that the fit was made from.
    pub count: i64,
    /// Features: numbers of a sample and of a component.
    pub features: i64,
    /// Components that are kept.
    pub rank: i64,
    /// Sum of the variances of all features, after scaling if there is one.
    pub total_variance: f64,
    /// Total variance less that of the components, over min(count, features) - rank, as in scikit-learn: the noise
    /// variance of Tipping and Bishop (J. R. Stat. Soc. B 61, 1999) where there are as many samples as features; 0 if
    /// rank is min(count, features).
    pub noise_variance: f64,
    /// Singular values up to this are rounding errors of the fit: whitened scores along them are 0.
    pub rounding: f64,
}

versioned!(purlin_pca_info, first = size_of::<Self>());
