//! Constants and structs of the diffusion-MRI family.

use std::ffi::c_void;

use super::callback::purlin_progress_fn;
use super::options::versioned;

/// Orthonormal real spherical harmonics Y(l, m) without the Condon-Shortley sign: cosines for m > 0, sines for m < 0.
pub const PURLIN_SH_CANONICAL: i32 = 1;
/// MRtrix3, and dipy's tournier07 with legacy=False: (-1)^m Y(l, m).
pub const PURLIN_SH_MRTRIX3: i32 = 2;
/// dipy's tournier07 with legacy=True, MRtrix 0.2: Y(l, 0), else (-1)^m Y(l, m) / sqrt(2).
pub const PURLIN_SH_TOURNIER07_LEGACY: i32 = 3;
/// dipy's default, descoteaux07 with legacy=True: (-1)^m Y(l, -m).
pub const PURLIN_SH_DESCOTEAUX07_LEGACY: i32 = 4;
/// dipy's descoteaux07 with legacy=False: Y(l, -m) for m < 0, else (-1)^m Y(l, -m).
pub const PURLIN_SH_DESCOTEAUX07: i32 = 5;

/// `basis` of purlin_dwi_peaks: the input is a batch of symmetric tensors, not of coefficients.
pub const PURLIN_SH_TENSOR: i32 = -1;

/// All measurements weigh the same.
pub const PURLIN_DWI_OLS: i32 = 0;
/// Each measurement weighs as its squared signal: the noise of a logarithm grows as the signal falls.
pub const PURLIN_DWI_WLS: i32 = 1;

/// A signal that is not positive is raised to a small part of S0.
pub const PURLIN_DWI_CLAMP: i32 = 0;
/// A signal that is not above `clamp` times S0 is left out of its voxel's fit.
pub const PURLIN_DWI_SKIP: i32 = 1;

/// A peak is x, y, z (a unit vector) and its value.
pub const PURLIN_PEAKS_UNIT_VALUE: i32 = 0;
/// A peak is x, y, z times its value, as MRtrix3's peak images.
pub const PURLIN_PEAKS_MRTRIX: i32 = 1;

/// All numbers of an absent peak are NaN.
pub const PURLIN_MISSING_NAN: i32 = 0;
/// All numbers of an absent peak are 0.
pub const PURLIN_MISSING_ZERO: i32 = 1;

/// How diffusion tensors are fitted (purlin_dwi_fit), constant-solid-angle orientation functions made (purlin_dwi_csa),
/// and peaks found (purlin_dwi_peaks). Each call refuses, by name, the options that it does not use.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_dwi_options {
    /// Size of the caller's struct; set by purlin_dwi_options_init.
    pub struct_size: usize,
    /// Fit: weights of the least squares where the caller gives none: PURLIN_DWI_OLS (default) or PURLIN_DWI_WLS.
    pub weighting: i32,
    /// Fit: treatment of signals that have no logarithm: PURLIN_DWI_CLAMP (default) or PURLIN_DWI_SKIP.
    pub nonpositive: i32,
    /// Peaks: basis of the input's coefficients, one of PURLIN_SH_*, or PURLIN_SH_TENSOR. 0 (default): not stated,
    /// which only a symmetric batch allows, since its type determines it. purlin_dwi_csa takes its own argument of that
    /// value.
    pub basis: i32,
    /// Peaks: layout of the numbers of a peak: PURLIN_PEAKS_UNIT_VALUE (default) or PURLIN_PEAKS_MRTRIX.
    pub format: i32,
    /// Peaks: numbers where a voxel has fewer peaks: PURLIN_MISSING_NAN (default) or PURLIN_MISSING_ZERO.
    pub missing: i32,
    /// Peaks: where iterations start, one of PURLIN_STARTS_*; default AUTO.
    pub start_kind: i32,
    /// Peaks: Newton or power steps: PURLIN_SSHOPM_HYBRID (default) or POWER.
    pub method: i32,
    /// Must be 0: kept for later fields.
    pub reserved: i32,
    /// Peaks: most iterations of a start, up to 2147483647; 0, the default, is 500.
    pub max_iterations: i64,
    /// Peaks: starts of each voxel; 0, the default, chooses: 32 up to order 4, 64 above.
    pub starts: i64,
    /// Peaks: seed of random starts; default 0. Refused with other starts, so also with the default ones.
    pub seed: u64,
    /// Fit and orientation functions: largest b-value of an unweighted volume, s/mm^2; default 50.
    pub b0_threshold: f64,
    /// Fit: smallest signal as part of S0, for both choices of `nonpositive`: PURLIN_DWI_SKIP leaves out signals up to it,
    /// PURLIN_DWI_CLAMP raises them to it. 0, the default, is 1e-6.
    pub clamp: f64,
    /// Orientation functions: weight of the Laplace-Beltrami penalty, at least 0; default 0.006.
    pub smoothing: f64,
    /// Orientation functions: smallest S / S0; smaller ones are raised to it; default 0.001.
    pub minimum_signal: f64,
    /// Orientation functions: largest S / S0, below 1; larger ones are lowered to it; default 0.999.
    pub maximum_signal: f64,
    /// Peaks: smallest value of a peak, at least 0; maxima of 0 and less are no peaks; default 0.
    pub absolute_threshold: f64,
    /// Peaks: smallest value of a peak relative to the voxel's largest, 0 to 1; default 0.1.
    pub relative_threshold: f64,
    /// Peaks: smallest angle between two peaks, radians; the lower one goes; 0 for none; default pi/12, 15 degrees.
    pub min_separation: f64,
    /// Peaks: relative residual of a peak; 0, the default, is 1e-10 for F64 and 1e-5 for F32.
    pub tolerance: f64,
    /// Peaks: results nearer than this angle are one peak, radians; 0, the default, is 1 degree.
    pub merge_angle: f64,
    /// Called with the voxels done, all voxels, and of peaks the share of their starts that has converged, else 0;
    /// default NULL.
    pub progress: purlin_progress_fn,
    /// Passed to `progress` as its last argument, not dereferenced; default NULL.
    pub progress_user: *mut c_void,
}

versioned!(purlin_dwi_options, first = size_of::<Self>(), of = crate::dwi::Options);
