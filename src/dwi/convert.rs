//! Spherical harmonics to symmetric tensors and back.

use super::arguments::{matrix_dims, order_of};
use super::gpu::{self, Site};
use super::sh::{Basis, sh_to_tensor_matrix, tensor_to_sh_matrix};
use super::voxels::{LANES, Mask, Number, Outputs, Source, converted, for_blocks};
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{DType, with_real};
use crate::stream::{self, Stream};
use crate::tensor::Tensor;

/// Converts functions with coefficients `sh` in `basis` to tensors that have the same values on the unit sphere.
///
/// `sh` is U x T, `tensors` T tensors of order L and dimension 3 with U = (L + 1)(L + 2) / 2 entries, both F32 or both
/// F64. If a coefficient of a voxel is NaN, its entries are NaN.
///
/// # Errors
/// [`Error::InvalidArgument`] for an odd order or one above 16, or sizes or types that do not match.
pub fn sh_to_tensor(
    context: &Context,
    queue: Option<&Stream>,
    sh: &Tensor,
    basis: Basis,
    tensors: &mut Tensor,
) -> Result<()> {
    let site = Site::of(context, stream::select(context, queue)?);
    let order = order_of("tensors", tensors)?;
    let matrix = context.pool().run(|| sh_to_tensor_matrix(order, basis))?;
    apply(context, site, &matrix, ("sh", sh), ("tensors", tensors))
}

/// Converts `tensors`, as functions on the unit sphere, to coefficients in `basis`: the inverse of [`sh_to_tensor`].
///
/// # Errors
/// As [`sh_to_tensor`].
pub fn tensor_to_sh(
    context: &Context,
    queue: Option<&Stream>,
    tensors: &Tensor,
    basis: Basis,
    sh: &mut Tensor,
) -> Result<()> {
    let site = Site::of(context, stream::select(context, queue)?);
    let order = order_of("tensors", tensors)?;
    let matrix = context.pool().run(|| tensor_to_sh_matrix(order, basis))?;
    apply(context, site, &matrix, ("tensors", tensors), ("sh", sh))
}

/// `destination = matrix * source` for each voxel.
fn apply(
    context: &Context,
    site: Option<Site<'_>>,
    matrix: &[f64],
    source: (&str, &Tensor),
    destination: (&'static str, &mut Tensor),
) -> Result<()> {
    let ((argument, source), (name, values)) = (source, destination);
    source.expect_context(argument, context)?;
    let (_, voxels) = matrix_dims(argument, source)?;
    let (rows, _) = matrix_dims(name, values)?;
    source.expect_dims(argument, &[rows, voxels])?;
    let outputs = Outputs { name, values, s0: None, status: None };
    outputs.check(context, source.dtype(), [rows, voxels])?;
    if let Some(site) = site {
        return with_real!(source.dtype(), argument, T => {
            gpu::map::<T>(site, matrix, rows, (argument, source), (name, outputs.values))
        });
    }
    let input = Source::new(argument, source)?;
    match source.dtype() {
        DType::F32 => map::<f32>(context, matrix, rows, input, outputs),
        DType::F64 => map::<f64>(context, matrix, rows, input, outputs),
        other => Err(Error::invalid(argument, format!("is {}, F32 or F64 is needed", other.name()))),
    }
}

fn map<T: Number>(
    context: &Context,
    matrix: &[f64],
    rows: usize,
    input: Source<'_>,
    outputs: Outputs<'_>,
) -> Result<()> {
    let (matrix, _charge) =
        alloc::limited(context.host_budget(), || converted::<T>("matrix between harmonics and tensors", matrix))?;
    let scratch = || alloc::filled("block of coefficients", rows * LANES, T::ZERO);
    let progress = context.progress(None);
    let voxels = outputs.values.dims()[1];
    for_blocks(context, &progress, Mask::new(context, None, voxels)?, outputs, scratch, |block_in, lanes, block| {
        for (r, row) in block_in.chunks_exact_mut(LANES).enumerate() {
            input.gather(r, lanes, row);
        }
        T::product(&matrix, block_in, &mut block.values);
        Ok(())
    })?;
    Ok(())
}
