//! Diffusion MRI: tensors and orientation functions from signals, spherical harmonics.

use super::dwi_types::*;
use super::options;
use super::overlap::{self, Range};
use super::tensor::{self, purlin_tensor};
use super::{callback, context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::dwi::{self, Basis, CsaOptions, FitOptions, Nonpositive, Weighting};
use crate::error::{Error, Result};
use crate::progress::ProgressFn;

/// Writes the defaults.
///
/// @param[out] options  the struct.
/// @param      size     `sizeof *options`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `options` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_fit_options_init(
    options: *mut purlin_dwi_fit_options,
    size: usize,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// Fits to each voxel the symmetric tensor A of order m for which A g^m is nearest, by least squares, to the apparent
/// diffusion coefficients D = -ln(S / S0) / b of its signals S; S0 is the mean of the unweighted ones. m = 2 is the
/// diffusion tensor; higher orders are those of Ozarslan and Mareci (Magn. Reson. Med. 50, 2003).
///
/// Maxima of the fitted profile are NOT fibre directions where fibres cross: they fall between the fibres. Only for
/// m = 2, and in voxels of a single fibre, may they be read so. For directions use purlin_dwi_csa or a fibre orientation
/// function of another package, with purlin_dwi_peaks.
///
/// Directions stay in the frame of the gradients: no image affine is applied.
///
/// In a context on a GPU the fit runs there, but for left-out signals, orders above 8 and weights of your own on
/// several shells. Arrays may lie on the host or the device.
///
/// @param      context  the context of all tensors.
/// @param      stream   NULL for the context's own.
/// @param      signals  N x T, any strides; F32, F64, U16, I32 or U8. A volume stored (X, Y, Z, N) with N fastest is
///                      packed; one stored volume after volume has strides (T, 1).
/// @param      bvals    N diffusion weightings, s/mm^2; F32 or F64.
/// @param      bvecs    3 x N unit vectors; F32 or F64. Those of unweighted volumes are ignored.
/// @param      mask     U8, T: nonzero inside; NULL for everywhere.
/// @param      weights  N x T weights of the measurements, F32 or F64, at least 0; NULL for those of the options.
/// @param      options  NULL for the defaults.
/// @param      tensors  symmetric batch of T tensors, even order m, dimension 3, F32 or F64; mm^2/s; zero where there
///                      is no result.
/// @param      s0       T, of the type of `tensors`: S0; may be NULL.
/// @param      status   I32, T: one of PURLIN_TENSOR_*; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (odd order, too few distinct
/// axes, vectors that are not unit, no unweighted volume, sizes, overlap), `PURLIN_ERROR_CANCELLED`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_NOT_SUPPORTED`.
///
/// # Safety
/// `options` is NULL or an initialised struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_fit(
    context: *const purlin_context,
    stream: *const purlin_stream,
    signals: *const purlin_tensor,
    bvals: *const purlin_tensor,
    bvecs: *const purlin_tensor,
    mask: *const purlin_tensor,
    weights: *const purlin_tensor,
    options: *const purlin_dwi_fit_options,
    tensors: *mut purlin_tensor,
    s0: *mut purlin_tensor,
    status: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let signals = tensor::input("signals", signals)?;
        let bvals = tensor::input("bvals", bvals)?;
        let bvecs = tensor::input("bvecs", bvecs)?;
        let mask = tensor::input_or_null("mask", mask)?;
        let weights = tensor::input_or_null("weights", weights)?;
        let mut tensors = tensor::output("tensors", tensors)?;
        let mut s0 = tensor::output_or_null("s0", s0)?;
        let mut status = tensor::output_or_null("status", status)?;
        // SAFETY: the caller promises NULL or an initialised struct.
        let o = unsafe { options::read("options", options) }?;
        let inputs = ranges(&[
            ("signals", Some(&signals)),
            ("bvals", Some(&bvals)),
            ("bvecs", Some(&bvecs)),
            ("mask", mask.as_deref()),
            ("weights", weights.as_deref()),
        ]);
        let outputs = ranges(&[("tensors", Some(&tensors)), ("s0", s0.as_deref()), ("status", status.as_deref())]);
        overlap::check(&inputs, &outputs)?;
        let report = callback::progress(o.progress, o.progress_user);
        let progress = context.progress(report.as_ref().map(|f| f as &ProgressFn<'_>));
        dwi::fit(
            &context,
            stream.as_deref(),
            &signals,
            &bvals,
            &bvecs,
            mask.as_deref(),
            weights.as_deref(),
            &fit_options(&o)?,
            &mut tensors,
            s0.as_deref_mut(),
            status.as_deref_mut(),
            &progress,
        )
    })
}

/// The ranges of the tensors that are there.
pub(super) fn ranges<'a>(tensors: &[(&'a str, Option<&crate::tensor::Tensor>)]) -> Vec<Range<'a>> {
    tensors.iter().filter_map(|(name, t)| t.map(|t| Range::of(name, t))).collect()
}

fn fit_options(o: &purlin_dwi_fit_options) -> Result<FitOptions> {
    Ok(FitOptions {
        weighting: match o.weighting {
            PURLIN_DWI_OLS => Weighting::Ordinary,
            PURLIN_DWI_WLS => Weighting::Signal,
            other => return Err(Error::invalid("weighting", format!("is {other}, outside 0 to 1"))),
        },
        nonpositive: match o.nonpositive {
            PURLIN_DWI_CLAMP => Nonpositive::Clamp,
            PURLIN_DWI_SKIP => Nonpositive::Skip,
            other => return Err(Error::invalid("nonpositive", format!("is {other}, outside 0 to 1"))),
        },
        b0_threshold: o.b0_threshold,
        clamp: o.clamp,
    })
}

/// Writes the defaults.
///
/// @param[out] options  the struct.
/// @param      size     `sizeof *options`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `options` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_csa_options_init(
    options: *mut purlin_dwi_csa_options,
    size: usize,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// Orientation functions from signals by q-ball imaging in constant solid angle (Aganj et al., Magn. Reson. Med. 64,
/// 2010): densities on the sphere, integral 1, whose maxima are fibre directions. With the default options the result
/// is that of dipy's CsaOdfModel.
///
/// The arithmetic is the host's in any context; arrays on the device are copied from and to it.
///
/// @param      context  the context of all tensors.
/// @param      stream   NULL for the context's own.
/// @param      signals  N x T, as purlin_dwi_fit; one shell.
/// @param      bvals    as purlin_dwi_fit.
/// @param      bvecs    as purlin_dwi_fit.
/// @param      mask     as purlin_dwi_fit; may be NULL.
/// @param      basis    basis of the result, one of PURLIN_SH_*; there is no default.
/// @param      options  NULL for the defaults.
/// @param      sh       U x T coefficients, U = (L + 1)(L + 2) / 2 for an even degree L; F32 or F64; zero where there
///                      is no result.
/// @param      status   I32, T: one of PURLIN_TENSOR_*; may be NULL.
/// @return as purlin_dwi_fit.
///
/// # Safety
/// `options` is NULL or an initialised struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_csa(
    context: *const purlin_context,
    stream: *const purlin_stream,
    signals: *const purlin_tensor,
    bvals: *const purlin_tensor,
    bvecs: *const purlin_tensor,
    mask: *const purlin_tensor,
    basis: i32,
    options: *const purlin_dwi_csa_options,
    sh: *mut purlin_tensor,
    status: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let signals = tensor::input("signals", signals)?;
        let bvals = tensor::input("bvals", bvals)?;
        let bvecs = tensor::input("bvecs", bvecs)?;
        let mask = tensor::input_or_null("mask", mask)?;
        let mut sh = tensor::output("sh", sh)?;
        let mut status = tensor::output_or_null("status", status)?;
        let basis = Basis::from_code("basis", basis)?;
        // SAFETY: the caller promises NULL or an initialised struct.
        let o = unsafe { options::read("options", options) }?;
        let inputs = ranges(&[
            ("signals", Some(&signals)),
            ("bvals", Some(&bvals)),
            ("bvecs", Some(&bvecs)),
            ("mask", mask.as_deref()),
        ]);
        overlap::check(&inputs, &ranges(&[("sh", Some(&sh)), ("status", status.as_deref())]))?;
        let report = callback::progress(o.progress, o.progress_user);
        let progress = context.progress(report.as_ref().map(|f| f as &ProgressFn<'_>));
        let o = CsaOptions {
            b0_threshold: o.b0_threshold,
            smoothing: o.smoothing,
            minimum_signal: o.minimum_signal,
            maximum_signal: o.maximum_signal,
        };
        dwi::csa(
            &context,
            stream.as_deref(),
            &signals,
            &bvals,
            &bvecs,
            mask.as_deref(),
            basis,
            &o,
            &mut sh,
            status.as_deref_mut(),
            &progress,
        )
    })
}

/// Symmetric tensors that take on the unit sphere the values of functions given in spherical harmonics.
///
/// @param      context  the context of both tensors.
/// @param      stream   NULL for the context's own.
/// @param      sh       U x T coefficients of even degree L, U = (L + 1)(L + 2) / 2; F32 or F64.
/// @param      basis    their basis, one of PURLIN_SH_*; there is no default.
/// @param      tensors  symmetric batch of T tensors of order L, dimension 3, the type of `sh`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT`,
/// `PURLIN_ERROR_NOT_SUPPORTED`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_dwi_sh_to_tensor(
    context: *const purlin_context,
    stream: *const purlin_stream,
    sh: *const purlin_tensor,
    basis: i32,
    tensors: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let sh = tensor::input("sh", sh)?;
        let mut tensors = tensor::output("tensors", tensors)?;
        let basis = Basis::from_code("basis", basis)?;
        overlap::check(&[Range::of("sh", &sh)], &[Range::of("tensors", &tensors)])?;
        dwi::sh_to_tensor(&context, stream.as_deref(), &sh, basis, &mut tensors)
    })
}

/// Spherical-harmonic coefficients of the functions that symmetric tensors are on the unit sphere: the inverse of
/// purlin_dwi_sh_to_tensor.
///
/// @param      context  the context of both tensors.
/// @param      stream   NULL for the context's own.
/// @param      tensors  symmetric batch of T tensors of even order L, dimension 3; F32 or F64.
/// @param      basis    basis of the result, one of PURLIN_SH_*; there is no default.
/// @param      sh       U x T coefficients, U = (L + 1)(L + 2) / 2, the type of `tensors`.
/// @return as purlin_dwi_sh_to_tensor.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_dwi_tensor_to_sh(
    context: *const purlin_context,
    stream: *const purlin_stream,
    tensors: *const purlin_tensor,
    basis: i32,
    sh: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let tensors = tensor::input("tensors", tensors)?;
        let mut sh = tensor::output("sh", sh)?;
        let basis = Basis::from_code("basis", basis)?;
        overlap::check(&[Range::of("tensors", &tensors)], &[Range::of("sh", &sh)])?;
        dwi::tensor_to_sh(&context, stream.as_deref(), &tensors, basis, &mut sh)
    })
}
