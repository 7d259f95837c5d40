//! Peaks of orientation functions: their local maxima, found by the eigenpair solver.

use super::arguments::{matrix_dims, order_of};
use super::options::{Missing, PeaksFormat, PeaksOptions};
use super::sh::{Basis, check_order, degree, sh_to_tensor_matrix};
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::{DType, Real, with_real};
use crate::sshopm::algorithm::{self, Outputs};
use crate::sshopm::plan::{PeakForm, Plan, SignRule};
use crate::sshopm::resolve::{chord2, resolve};
use crate::sshopm::{self, Info, Results};
use crate::stream::{self, Stream};
use crate::tensor::{Symmetric, Tensor};

/// Output arrays. K is the largest number of peaks of a voxel, T the number of voxels.
pub struct PeaksOutputs<'a> {
    /// 4 x K x T, or 3 x K x T for [`PeaksFormat::Mrtrix`], in the type of the input.
    pub peaks: &'a mut Tensor,
    /// I32, T: peaks of each voxel.
    pub count: Option<&'a mut Tensor>,
    /// I32, T: [`crate::sshopm::TensorStatus`].
    pub status: Option<&'a mut Tensor>,
}

/// Finds the peaks of every voxel: local maxima above the thresholds, highest first, each at least the separation away
/// from every higher one, with z >= 0.
///
/// `input` is a batch of T symmetric tensors of even order in three dimensions, or U x T coefficients of spherical
/// harmonics in the basis of the options; F32 or F64, any strides. `mask` is U8, T. Coefficients are converted to tensors
/// when they are loaded. If a voxel has no peaks or is outside the mask, `status` gives the reason; other voxels are not
/// affected.
///
/// # Errors
/// [`Error::InvalidArgument`] for options outside their range, an input that does not match the basis, an odd order,
/// or sizes and types that do not match; [`Error::Cancelled`]; [`Error::OutOfMemory`].
pub fn peaks(
    context: &Context,
    queue: Option<&Stream>,
    input: &Tensor,
    mask: Option<&Tensor>,
    options: &PeaksOptions,
    outputs: PeaksOutputs<'_>,
    progress: &Progress<'_>,
) -> Result<Info> {
    context.check_alive()?;
    let queue = stream::select(context, queue)?;
    input.expect_context("input", context)?;
    options.check()?;
    let order = input_order(input, options.basis)?;
    let (_, voxels) = matrix_dims("input", input)?;
    if let Some(mask) = mask {
        mask.expect_context("mask", context)?;
        mask.expect_dtype("mask", DType::U8)?;
        mask.expect_dims("mask", &[voxels])?;
    }
    let most = match *outputs.peaks.dims() {
        [_, most, _] if most > 0 => most,
        ref other => {
            let problem = format!("has dimensions {other:?}, [4, K, T] or [3, K, T] with K above 0 is needed");
            return Err(Error::invalid("peaks", problem));
        }
    };
    with_real!(input.dtype(), "input", T => {
        let ((plan, raised), charge) =
            context.pool().run(|| alloc::limited(context.host_budget(), || resolved::<T>(order, options, most)))?;
        let PeaksOutputs { peaks, count, status } = outputs;
        let mut results = Results { count, status, ..Results::default() };
        let mut outputs = Outputs { results: &mut results, peaks: Some((peaks, form_of(options))) };
        algorithm::check_outputs(context, &plan, voxels, &outputs)?;
        let info = sshopm::run(context, queue, &plan, input, mask, &mut outputs, progress)?;
        let host_bytes = info.host_bytes + sshopm::bytes(charge.bytes());
        Ok(Info { tolerance_raised: raised, host_bytes, ..info })
    })
}

fn form_of(options: &PeaksOptions) -> PeakForm {
    match options.format {
        PeaksFormat::UnitValue => PeakForm::UnitValue,
        PeaksFormat::Mrtrix => PeakForm::Scaled,
    }
}

/// Peaks of a voxel that a plan reckons with.
const PLANNED_PEAKS: usize = 5;

/// The plan of [`peaks()`], for few peaks and the results `count` and `status` beside them.
///
/// # Errors
/// As [`peaks()`].
pub fn plan(context: &Context, input: &Tensor, options: &PeaksOptions) -> Result<Info> {
    context.check_alive()?;
    input.expect_context("input", context)?;
    options.check()?;
    let order = input_order(input, options.basis)?;
    with_real!(input.dtype(), "input", T => {
        let ((plan, raised), charge) =
            context.pool().run(|| alloc::limited(context.host_budget(), || resolved::<T>(order, options, PLANNED_PEAKS)))?;
        let info = sshopm::planned(context, &plan, input, Some(form_of(options)))?;
        let host_bytes = info.host_bytes + sshopm::bytes(charge.bytes());
        Ok(Info { tolerance_raised: raised, host_bytes, ..info })
    })
}

/// The order of the input tensors, or of the tensors for the input harmonics.
fn input_order(input: &Tensor, basis: Option<Basis>) -> Result<usize> {
    match (input.symmetric(), basis) {
        (Some(_), None) => order_of("input", input),
        (None, Some(_)) => {
            let (count, _) = matrix_dims("input", input)?;
            let lmax = degree("input", count)?;
            check_order("input", lmax)?;
            Ok(lmax)
        }
        (Some(_), Some(basis)) => {
            let problem = format!("is {}, but the input is a batch of symmetric tensors", basis as i32);
            Err(Error::invalid("basis", problem))
        }
        (None, None) => {
            let problem =
                "is not given, but the input is dense: spherical harmonics need their basis, there is no default";
            Err(Error::invalid("basis", problem))
        }
    }
}

/// The solver's plan for at most `most` peaks, and whether the tolerance was raised.
fn resolved<T: Real>(order: usize, options: &PeaksOptions, most: usize) -> Result<(Plan<T>, bool)> {
    let (mut plan, raised) = resolve::<T>(Symmetric { order, dimension: 3 }, &options.solver(), None, most)?;
    plan.sign = SignRule::UpperHalf;
    plan.reduction.special_pair = false;
    plan.reduction.absolute_threshold = Some(options.absolute_threshold);
    plan.reduction.relative_threshold = options.relative_threshold;
    plan.reduction.separation_chord2 = if options.min_separation > 0.0 { chord2(options.min_separation) } else { 0.0 };
    if options.missing == Missing::Zero {
        plan.missing = T::ZERO;
    }
    if let Some(basis) = options.basis {
        let rows = sh_to_tensor_matrix(order, basis)?;
        let u = plan.shape.count();
        let mut transform = alloc::with_capacity("tensor of harmonics", u * u)?;
        // The solver takes column-major matrices.
        for column in 0..u {
            transform.extend(rows.iter().skip(column).step_by(u).map(|x| T::from_f64(*x)));
        }
        plan.transform = Some(transform);
    }
    Ok((plan, raised))
}
