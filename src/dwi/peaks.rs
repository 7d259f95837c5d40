//! Peaks of orientation functions: their local maxima, found by the eigenpair solver.

use std::f64::consts::FRAC_PI_2;

numbered!(PeaksFormat, UnitValue, Mrtrix);
numbered!(Missing, Nan, Zero);

use super::convert::order_of;
use super::fit::matrix_dims;
use super::sh::{Basis, check_order, degree, sh_to_tensor_matrix};
use crate::alloc;
use crate::choice::{numbered, with_defaults};
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::progress::Progress;
use crate::range;
use crate::scalar::{DType, Real, with_real};
use crate::sshopm::algorithm::{self, Outputs};
use crate::sshopm::plan::{PeakForm, Plan, SignRule};
use crate::sshopm::resolve::{check, chord2, resolve};
use crate::sshopm::{self, Info, Method, Options, Results, StartKind};
use crate::stream::{self, Stream};
use crate::tensor::{Symmetric, Tensor};

/// Format of a peak. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum PeaksFormat {
    /// Unit vector and value: x, y, z, lambda.
    UnitValue = 0,
    /// The vector times the value, as MRtrix3 writes peaks.
    Mrtrix = 1,
}

/// Value of absent peaks. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Missing {
    /// NaN, which no peak has.
    Nan = 0,
    /// 0, for programs that cannot read NaN.
    Zero = 1,
}

with_defaults! {
    /// Options of a search for peaks.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct PeaksOptions {
        /// Basis of spherical-harmonic coefficients; `None` if the input is a batch of symmetric tensors.
        pub basis: Option<Basis> = None,
        /// Format of a peak: its direction and value, or their product.
        pub format: PeaksFormat = PeaksFormat::UnitValue,
        /// Value of the components of absent peaks.
        pub missing: Missing = Missing::Nan,
        /// Start vectors of each voxel's search.
        pub start_kind: StartKind = StartKind::Auto,
        /// Limit of the iterations of a start; 0 for 500.
        pub max_iterations: usize = 0,
        /// How an iterate becomes the next.
        pub method: Method = Method::Hybrid,
        /// Starts of each voxel; 0 for 32 up to order 4 and 64 above. On real data of order 8, 64 starts miss one in a
        /// thousand of the three highest peaks of a voxel and 96 miss none; of order 4, 32 miss none.
        pub starts: i64 = 0,
        /// Seed of random starts; refused with other starts unless it is 0.
        pub seed: u64 = 0,
        /// Smallest height of a peak, at least 0; if it is 0, a peak must be higher than 0.
        pub absolute_threshold: f64 = 0.0,
        /// Smallest height of a peak relative to the highest of the voxel; 0 to 1.
        pub relative_threshold: f64 = 0.1,
        /// Angle in radians below which the lower of two peaks is dropped; 0 keeps both; at most a right angle.
        pub min_separation: f64 = 15f64.to_radians(),
        /// Relative residual; 0 for 1e-10 (F64) or 1e-5 (F32).
        pub tolerance: f64 = 0.0,
        /// Angle in radians below which ends of starts are one peak; 0 for one degree.
        pub merge_angle: f64 = 0.0,
    }
}

impl PeaksOptions {
    /// The options of the eigensolver.
    fn solver(&self) -> Options {
        Options {
            method: self.method,
            max_iterations: self.max_iterations,
            start_kind: self.start_kind,
            starts: self.starts,
            seed: self.seed,
            tolerance: self.tolerance,
            merge_angle: self.merge_angle,
            ..Options::default()
        }
    }

    /// Refuses options outside their domain.
    pub(super) fn check(&self) -> Result<()> {
        range::not_negative("absolute_threshold", self.absolute_threshold)?;
        if !(0.0..=1.0).contains(&self.relative_threshold) {
            let problem = format!("is {}, outside 0 .. 1", real(self.relative_threshold));
            return Err(Error::invalid("relative_threshold", problem));
        }
        if !(0.0..=FRAC_PI_2).contains(&self.min_separation) {
            let problem = format!("is {}, outside 0 .. pi/2", real(self.min_separation));
            return Err(Error::invalid("min_separation", problem));
        }
        check(&self.solver()).map(|_| ())
    }
}

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
