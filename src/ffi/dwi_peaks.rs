//! Diffusion MRI: fibre directions.

use super::dwi::ranges;
use super::dwi_types::*;
use super::options;
use super::overlap;
use super::sshopm_types::purlin_sshopm_info;
use super::tensor::{self, purlin_tensor};
use super::{callback, context, guard, purlin_context, purlin_status, purlin_stream, sshopm, stream};
use crate::dwi::{self, Basis, Missing, PeaksFormat, PeaksOptions, PeaksOutputs};
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
pub unsafe extern "C" fn purlin_dwi_peaks_options_init(
    options: *mut purlin_dwi_peaks_options,
    size: usize,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// Peaks of orientation functions: the local maxima above the thresholds, highest first, each at least
/// `min_separation` from every higher one. Signs are such that z >= 0.
///
/// Host arrays in a context on a GPU are streamed through it in chunks, copies overlapping the work. A voxel with bad
/// values gets a status and harms no other.
///
/// @param      context  the context of all tensors.
/// @param      stream   NULL for the context's own.
/// @param      input    symmetric batch of T tensors of even order and dimension 3, or U x T spherical-harmonic
///                      coefficients in the basis of the options; F32 or F64, any strides.
/// @param      mask     U8, T: nonzero inside; NULL for everywhere.
/// @param      options  NULL for the defaults.
/// @param      peaks    4 x K x T (x, y, z, value) or, for PURLIN_PEAKS_MRTRIX, 3 x K x T; the type of `input`. K is
///                      the most peaks of a voxel.
/// @param      count    I32, T: peaks of each voxel; may be NULL.
/// @param      status   I32, T: one of PURLIN_TENSOR_*; may be NULL.
/// @param[out] info     may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT`, `PURLIN_ERROR_CANCELLED`,
/// `PURLIN_ERROR_NOT_SUPPORTED`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `options` and `info` are NULL or initialised structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_peaks(
    context: *const purlin_context,
    stream: *const purlin_stream,
    input: *const purlin_tensor,
    mask: *const purlin_tensor,
    options: *const purlin_dwi_peaks_options,
    peaks: *mut purlin_tensor,
    count: *mut purlin_tensor,
    status: *mut purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let input = tensor::input("input", input)?;
        let mask = tensor::input_or_null("mask", mask)?;
        let mut peaks = tensor::output("peaks", peaks)?;
        let mut count = tensor::output_or_null("count", count)?;
        let mut status = tensor::output_or_null("status", status)?;
        // SAFETY: the caller promises NULL or an initialised struct.
        let o = unsafe { options::read("options", options) }?;
        // SAFETY: as above.
        unsafe { options::check("info", info) }?;
        let inputs = ranges(&[("input", Some(&input)), ("mask", mask.as_deref())]);
        let outputs = ranges(&[("peaks", Some(&peaks)), ("count", count.as_deref()), ("status", status.as_deref())]);
        overlap::check(&inputs, &outputs)?;
        let report = callback::progress(o.progress, o.progress_user);
        let progress = context.progress(report.as_ref().map(|f| f as &ProgressFn<'_>));
        // The core has one name for both: no basis.
        if o.basis == PURLIN_SH_TENSOR && input.symmetric().is_none() {
            let problem = "is PURLIN_SH_TENSOR, but the input is dense: a batch of symmetric tensors is needed";
            return Err(Error::invalid("basis", problem));
        }
        let outputs = PeaksOutputs { peaks: &mut peaks, count: count.as_deref_mut(), status: status.as_deref_mut() };
        let done =
            dwi::peaks(&context, stream.as_deref(), &input, mask.as_deref(), &peaks_options(&o)?, outputs, &progress)?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { options::write("info", info, sshopm::info_of(&done)) }
    })
}

fn peaks_options(o: &purlin_dwi_peaks_options) -> Result<PeaksOptions> {
    Ok(PeaksOptions {
        basis: match o.basis {
            0 | PURLIN_SH_TENSOR => None,
            code => Some(Basis::from_code("basis", code)?),
        },
        format: match o.format {
            PURLIN_PEAKS_UNIT_VALUE => PeaksFormat::UnitValue,
            PURLIN_PEAKS_MRTRIX => PeaksFormat::Mrtrix,
            other => return Err(Error::invalid("format", format!("is {other}, outside 0 to 1"))),
        },
        missing: match o.missing {
            PURLIN_MISSING_NAN => Missing::Nan,
            PURLIN_MISSING_ZERO => Missing::Zero,
            other => return Err(Error::invalid("missing", format!("is {other}, outside 0 to 1"))),
        },
        start_kind: sshopm::start_kind("start_kind", o.start_kind)?,
        max_iterations: iterations(o.max_iterations)?,
        method: sshopm::method(o.method)?,
        starts: o.starts,
        seed: o.seed,
        absolute_threshold: o.absolute_threshold,
        relative_threshold: o.relative_threshold,
        min_separation: o.min_separation,
        tolerance: o.tolerance,
        merge_angle: o.merge_angle,
    })
}

fn iterations(count: i32) -> Result<i32> {
    if count < 1 {
        return Err(Error::invalid("max_iterations", format!("is {count}, less than 1")));
    }
    Ok(count)
}
