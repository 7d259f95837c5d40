//! Local maxima and minima of every tensor of a batch.

use super::algorithm::{Outputs, check_outputs, pairs_of};
use super::info::{Info, bytes};
use super::options::{Goal, Options, Results};
use super::resolve::resolve;
use super::site::{planned, run};
use crate::alloc;
use crate::backend::cpu::simd::Vectorized;
use crate::backend::gpu::GpuStream;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::with_real;
use crate::stream::{self, Stream};
use crate::tensor::{HostInput, Symmetric, Tensor};

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
    if options.goal == Goal::Both
        && let Some(name) = results.first_per_start()
    {
        return Err(Error::invalid(name, "is given for each start, which has two ends with goal = both"));
    }
    let pairs = pairs_of(results)?;
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
fn solve_typed<T: Vectorized>(
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
        alloc::limited(context.host_budget(), || resolve::<T>(shape, options, starts.as_deref(), pairs))?;
    let count = tensors.dims()[1];
    let mut outputs = Outputs { results, peaks: None };
    check_outputs(context, &plan, count, &outputs)?;
    let info = run(context, queue, &plan, tensors, None, &mut outputs, progress)?;
    Ok(Info { tolerance_raised: raised, host_bytes: info.host_bytes + bytes(charge.bytes()), ..info })
}

/// The plan of [`solve`] with the starts of the options, for results that hold no pairs.
///
/// # Errors
/// As for [`solve`].
pub fn plan(context: &Context, tensors: &Tensor, options: &Options) -> Result<Info> {
    context.check_alive()?;
    tensors.expect_context("tensors", context)?;
    let shape = tensors.expect_symmetric("tensors")?;
    with_real!(tensors.dtype(), "tensors", T => {
        let ((plan, raised), charge) =
            alloc::limited(context.host_budget(), || resolve::<T>(shape, options, None, DEFAULT_PAIRS))?;
        let info = planned(context, &plan, tensors, None)?;
        let host_bytes = info.host_bytes + bytes(charge.bytes());
        Ok(Info { tolerance_raised: raised, host_bytes, ..info })
    })
}
