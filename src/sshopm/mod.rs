//! Real eigenpairs of symmetric tensors: unit vectors x with A x^(m-1) = lambda x, which are the critical points of A x^m
//! on the sphere.
//!
//! [`solve`] finds local maxima and minima from many starts with the shifted power method (Kolda and Mayo, SIAM J. Matrix
//! Anal. Appl. 32 (2011) 1095 and 35 (2014) 1563) or, by default, with a safeguarded Newton iteration that falls back
//! on it. [`all`] finds saddles as well. A batch holds any number of tensors of one shape. Each tensor has its own results and
//! status, and an invalid tensor does not affect the others.

pub mod algorithm;
mod all;
pub mod cpu;
pub mod gpu;
mod jacobi;
pub mod options;
pub mod plan;
mod product;
pub mod resolve;
pub mod session;
mod starts;

pub use all::{NO_MORSE_INFORMATION, all};
pub use options::{
    Compatibility, Goal, Info, Method, NO_PAIR, Options, PairClass, Results, Shift, Sign, StartKind, StartStatus,
    TensorStatus, Test,
};
pub use product::{classify, product};
pub use session::Sshopm;
pub use starts::starts;

use crate::alloc;
use crate::backend::Backend;
use crate::backend::cpu::simd::Vectorised;
use crate::backend::gpu::{Gpu, GpuStream};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::log::Level;
use crate::progress::Progress;
use crate::scalar::{Real, with_real};
use crate::stream::{self, Stream};
use crate::tensor::{HostInput, Symmetric, Tensor};
use algorithm::Outputs;

/// Finds local maxima, minima or both of A x^m on the sphere for every tensor of a batch.
///
/// `tensors` is F32 or F64. `starts` is real [n, V], shared by all tensors; without it, [`Options`] choose the starts. The
/// results are written to the tensors of `results`; see there for shapes.
///
/// # Errors
/// [`Error::InvalidArgument`] for options, starts or results outside their domain; [`Error::Cancelled`];
/// [`Error::OutOfMemory`]. Starts that do not converge and tensors that are not finite are reported as statuses, not errors.
pub fn solve(
    context: &Context,
    queue: Option<&Stream>,
    tensors: &Tensor,
    starts: Option<&Tensor>,
    options: &Options,
    results: &mut Results<'_>,
    progress: &Progress<'_>,
) -> Result<Info> {
    context.check_alive()?;
    let queue = stream::select(context, queue)?;
    tensors.expect_context("tensors", context)?;
    starts.map_or(Ok(()), |s| s.expect_context("starts", context))?;
    let shape = tensors.expect_symmetric("tensors")?;
    let per_start = [
        ("start_values", results.start_values.is_some()),
        ("start_vectors", results.start_vectors.is_some()),
        ("start_residuals", results.start_residuals.is_some()),
        ("start_iterations", results.start_iterations.is_some()),
        ("start_shifts", results.start_shifts.is_some()),
        ("start_status", results.start_status.is_some()),
        ("start_violations", results.start_violations.is_some()),
        ("trace", results.trace.is_some()),
    ];
    if options.goal == Goal::Both
        && let Some((name, _)) = per_start.iter().find(|p| p.1)
    {
        return Err(Error::invalid(*name, "is given for each start, which has two ends with goal = both"));
    }
    let pairs = algorithm::pairs_of(results)?;
    with_real!(tensors.dtype(), "tensors", T => {
        // A count or a status alone requires finding the pairs, too.
        let counted = results.count.is_some() || results.status.is_some() || results.found.is_some();
        let pairs = if pairs == 0 && counted { DEFAULT_PAIRS } else { pairs };
        solve_typed::<T>(context, queue, shape, tensors, starts, options, pairs, results, progress)
    })
}

/// Limit of distinct pairs if no result determines K.
const DEFAULT_PAIRS: usize = 64;

#[expect(clippy::too_many_arguments, reason = "the arguments of `solve`")]
fn solve_typed<T: Vectorised>(
    context: &Context,
    queue: Option<&GpuStream>,
    shape: Symmetric,
    tensors: &Tensor,
    starts: Option<&Tensor>,
    options: &Options,
    pairs: usize,
    results: &mut Results<'_>,
    progress: &Progress<'_>,
) -> Result<Info> {
    // The starts are a small array, which is checked and normalized on the host.
    let starts = HostInput::optional(queue, "starts", starts)?;
    let ((plan, raised), charge) =
        alloc::limited(context.host_budget(), || resolve::resolve::<T>(shape, options, starts.as_deref(), pairs))?;
    let count = tensors.dims()[1];
    let mut outputs = Outputs { results, peaks: None };
    algorithm::check_outputs(context, &plan, count, &outputs)?;
    let info = run(context, queue, &plan, tensors, None, &mut outputs, progress)?;
    Ok(Info { tolerance_raised: raised, host_bytes: info.host_bytes + bytes(charge.bytes()), ..info })
}

/// Bytes as they are reported.
pub fn bytes(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// The plan of [`solve`] with the starts of the options, for results that hold no pairs: what is known before it runs.
///
/// # Errors
/// As for [`solve`].
pub fn plan(context: &Context, tensors: &Tensor, options: &Options) -> Result<Info> {
    context.check_alive()?;
    tensors.expect_context("tensors", context)?;
    let shape = tensors.expect_symmetric("tensors")?;
    with_real!(tensors.dtype(), "tensors", T => {
        let ((plan, raised), charge) =
            alloc::limited(context.host_budget(), || resolve::resolve::<T>(shape, options, None, DEFAULT_PAIRS))?;
        let info = planned(context, &plan, tensors, None)?;
        let host_bytes = info.host_bytes + bytes(charge.bytes());
        Ok(Info { tolerance_raised: raised, host_bytes, ..info })
    })
}

compiled_here! {
    /// What is known before [`run`], for the results `count` and `status` and, for a search for peaks, the peaks in their form.
    pub fn planned<T: Real>(
        context: &Context,
        plan: &plan::Plan<T>,
        input: &Tensor,
        peaks: Option<plan::PeakForm>,
    ) -> Result<Info> = planned_of;
}

fn planned_of<T: Vectorised>(
    context: &Context,
    plan: &plan::Plan<T>,
    input: &Tensor,
    peaks: Option<plan::PeakForm>,
) -> Result<Info> {
    let place = place(context, plan, input)?;
    let info = match place {
        Place::Gpu(_) => algorithm::known(plan, input.dims()[1]),
        Place::Cpu(_) => {
            let ops = cpu::CpuOps::new(context, plan)?;
            algorithm::plan(context, &ops, plan, input, peaks)?
        }
    };
    Ok(Info { tolerance: plan.tolerance, reason: place.reason(), ..info })
}

/// Where the starts of a solve run.
#[derive(Clone, Copy)]
enum Place<'a> {
    Cpu(&'static str),
    Gpu(&'a Gpu),
}

impl Place<'_> {
    fn reason(self) -> &'static str {
        match self {
            Self::Cpu(reason) => reason,
            Self::Gpu(_) => "on the GPU of the context; chunks follow from the memory that is free",
        }
    }
}

/// Decides where a plan runs: host tensors of a shape without GPU kernels go to the CPU.
fn place<'a, T: Vectorised>(context: &'a Context, plan: &plan::Plan<T>, input: &Tensor) -> Result<Place<'a>> {
    match context.backend() {
        Backend::Gpu(gpu) => match gpu::obstacle(plan) {
            None => Ok(Place::Gpu(gpu)),
            Some(what) if input.is_device() => Err(Error::NotSupported(format!("tensors: {what} on the GPU"))),
            Some(what) => {
                context.log().log(Level::Info, || format!("{what} cannot be had on the GPU, going on with the CPU"));
                Ok(Place::Cpu(
                    "on the CPU: the GPU has no kernels for this order, dimension, or number of starts or pairs",
                ))
            }
        },
        Backend::Cpu => Ok(Place::Cpu("on the CPU of the context")),
    }
}

/// The backend for tiles of at most `count` tensors of a plan: the GPU, or the CPU for shapes without GPU kernels.
pub(crate) fn ops<'a, T: Vectorised>(
    context: &'a Context,
    queue: Option<&'a GpuStream>,
    plan: &plan::Plan<T>,
    count: usize,
) -> Result<Box<dyn algorithm::SshopmOps<T> + 'a>> {
    match (context.backend(), queue) {
        (Backend::Gpu(gpu), Some(queue)) if gpu::obstacle(plan).is_none() => Ok(Box::new(gpu::GpuOps::new(gpu, queue))),
        _ => Ok(Box::new(cpu::CpuOps::for_tiles(context, plan, count)?)),
    }
}

compiled_here! {
    /// Runs a checked plan on the context's backend. Host tensors of a shape without GPU kernels are computed on the CPU.
    pub fn run<T: Real>(
        context: &Context,
        queue: Option<&GpuStream>,
        plan: &plan::Plan<T>,
        input: &Tensor,
        mask: Option<&Tensor>,
        outputs: &mut Outputs<'_, '_>,
        progress: &Progress<'_>,
    ) -> Result<Info> = run_of;
}

fn run_of<T: Vectorised>(
    context: &Context,
    queue: Option<&GpuStream>,
    plan: &plan::Plan<T>,
    input: &Tensor,
    mask: Option<&Tensor>,
    outputs: &mut Outputs<'_, '_>,
    progress: &Progress<'_>,
) -> Result<Info> {
    let place = place(context, plan, input)?;
    let info = match (place, queue) {
        (Place::Gpu(gpu), Some(queue)) => gpu::run(context, gpu, queue, plan, input, mask, outputs, progress)?,
        (Place::Gpu(_), None) => return Err(Error::Internal("a solve on a GPU without a queue".into())),
        (Place::Cpu(_), _) => {
            let mut ops = cpu::CpuOps::new(context, plan)?;
            let space = bytes(ops.bytes());
            let info = algorithm::run(context, &mut ops, plan, input, mask, outputs, progress)?;
            Info { host_bytes: info.host_bytes + space, ..info }
        }
    };
    Ok(Info { reason: place.reason(), ..info })
}

#[cfg(test)]
mod tests;
