//! Diffusion MRI: options, and conversions between spherical harmonics and tensors.

use super::dwi_types::*;
use super::options;
use super::overlap::{self, Range};
use super::tensor::{self, purlin_tensor};
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::dwi::{self, Basis, Options};
use crate::error::Result;

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
pub unsafe extern "C" fn purlin_dwi_options_init(options: *mut purlin_dwi_options, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// The ranges of the tensors that are there.
pub(super) fn ranges<'a>(tensors: &[(&'a str, Option<&crate::tensor::Tensor>)]) -> Vec<Range<'a>> {
    tensors.iter().filter_map(|(name, t)| t.map(|t| Range::of(name, t))).collect()
}

pub(super) fn read_options(o: &purlin_dwi_options) -> Result<Options> {
    let mut options = Options::default();
    options.peaks.basis = match o.basis {
        0 | PURLIN_SH_TENSOR => None,
        code => Some(Basis::from_code("basis", code)?),
    };
    o.read_into(&mut options)?;
    Ok(options)
}

/// Symmetric tensors that take on the unit sphere the values of functions given in spherical harmonics. O(U^2) a
/// voxel.
///
/// @param      context  the context of both tensors.
/// @param      stream   NULL for the context's own.
/// @param      sh       U x T coefficients of even degree L, U = (L + 1)(L + 2) / 2; F32 or F64.
/// @param      basis    their basis, one of PURLIN_SH_*; there is no default.
/// @param      tensors  symmetric batch of T tensors of order L, dimension 3, the type of `sh`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`basis`, an order that is
/// odd or above 16, a dimension other than 3, sizes, types, read-only `tensors`, another context, overlap),
/// `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory in the result), `PURLIN_ERROR_CANCELLED` (by
/// purlin_context_cancel), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
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
/// purlin_dwi_sh_to_tensor. O(U^2) a voxel.
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
