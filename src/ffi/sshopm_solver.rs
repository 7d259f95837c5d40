//! The solver of eigenpairs of symmetric tensors: the object, its calls, and the calls without an object.

use super::callback::Report;
use super::handle::{self, Exclusive, Shared};
use super::overlap::{self, Range};
use super::sshopm::{LockedResults, info_of, inputs, read_options, report};
use super::sshopm_types::*;
use super::tensor::{self, purlin_tensor};
use super::{context, guard, options, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::Result;
use crate::sshopm::Sshopm;
use crate::stream::Stream;
use crate::tensor::Tensor;

/// A solver of eigenpairs of symmetric tensors: options on a context, for batches of any shape. Several threads may use it
/// at a time.
pub struct purlin_sshopm {
    _private: [u8; 0],
}

/// The object behind a handle of a solver: the solver, and the caller's progress function. Calls only read it.
pub(super) struct SshopmObject {
    solver: Sshopm,
    report: Report,
}

impl SshopmObject {
    /// # Safety
    /// `options` is NULL or an initialized struct.
    unsafe fn new(context: *const purlin_context, options: *const purlin_sshopm_options) -> Result<Self> {
        let context = context::get(context)?;
        // SAFETY: as promised above.
        let o = unsafe { options::read("options", options) }?;
        let solver = Sshopm::new(&context, read_options(&o)?)?;
        Ok(Self { solver, report: Report::new(o.progress, o.progress_user) })
    }

    fn of(handle: *const purlin_sshopm) -> Result<Shared<Self>> {
        let object = handle::shared::<Self, _>("sshopm", handle)?;
        object.solver.context().check_alive()?;
        Ok(object)
    }

    fn solve(&self, mut call: SolveCall) -> Result<purlin_sshopm_info> {
        let Inputs { stream, tensors } = &call.inputs;
        let starts = call.starts.as_deref();
        overlap::check(&inputs(tensors, starts), &call.results.ranges())?;
        let mut results = call.results.as_results();
        let stream = stream.as_deref();
        let done = self.report.run(|report| self.solver.solve(stream, tensors, starts, &mut results, report))?;
        Ok(info_of(&done))
    }

    fn solve_all(&self, mut call: SolveAllCall) -> Result<purlin_sshopm_info> {
        let Inputs { stream, tensors } = &call.inputs;
        let mut outputs = call.results.ranges();
        outputs.extend(call.morse_sum.as_deref().map(|t| Range::of("morse_sum", t)));
        outputs.extend(call.morse_expected.as_deref().map(|t| Range::of("morse_expected", t)));
        overlap::check(&inputs(tensors, None), &outputs)?;
        let mut results = call.results.as_results();
        let morse = (call.morse_sum.as_deref_mut(), call.morse_expected.as_deref_mut());
        let stream = stream.as_deref();
        let done = self.report.run(|report| self.solver.solve_all(stream, tensors, &mut results, morse, report))?;
        Ok(info_of(&done))
    }
}

/// Inputs of both run calls.
struct Inputs {
    stream: Option<Shared<Stream>>,
    tensors: Shared<Tensor>,
}

impl Inputs {
    fn new(stream: *const purlin_stream, tensors: *const purlin_tensor) -> Result<Self> {
        Ok(Self { stream: stream::get(stream)?, tensors: tensor::input("tensors", tensors)? })
    }
}

/// Reads the caller's results, and refuses an info struct that could not be written to.
///
/// # Safety
/// `results` and `info` are NULL or initialized structs.
unsafe fn outputs(results: *const purlin_sshopm_results, info: *mut purlin_sshopm_info) -> Result<LockedResults> {
    // SAFETY: as promised above.
    let results = unsafe { options::read("results", results) }?;
    // SAFETY: as above.
    unsafe { options::check("info", info) }?;
    LockedResults::new(&results)
}

/// The arguments of a solve, locked.
struct SolveCall {
    inputs: Inputs,
    starts: Option<Shared<Tensor>>,
    results: LockedResults,
}

/// The arguments of a search for all pairs, locked.
struct SolveAllCall {
    inputs: Inputs,
    results: LockedResults,
    morse_sum: Option<Exclusive<Tensor>>,
    morse_expected: Option<Exclusive<Tensor>>,
}

/// Makes a solver of eigenpairs (lambda, x) of symmetric tensors, A x^(m-1) = lambda x and |x| = 1: of the local maxima and
/// minima of A x^m on the unit sphere (purlin_sshopm_solve), or of all real pairs (purlin_sshopm_solve_all).
///
/// @param      context  the context of all tensors.
/// @param      options  NULL for the defaults.
/// @param[out] sshopm   the solver; destroy it with purlin_sshopm_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// unknown constant, a number outside its domain, an option without effect), `PURLIN_ERROR_NOT_SUPPORTED` (an option
/// that this library does not know), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `options` is NULL or an initialized struct; `sshopm` is NULL or valid for writing; `options->progress` may be called with
/// its user pointer while the object lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_create(
    context: *const purlin_context,
    options: *const purlin_sshopm_options,
    sshopm: *mut *mut purlin_sshopm,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("sshopm", sshopm) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        *target = handle::insert(unsafe { SshopmObject::new(context, options) }?)?;
        Ok(())
    })
}

/// Destroys a solver. A call that runs goes on to its end.
///
/// @param sshopm  the solver; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_sshopm_destroy(sshopm: *mut purlin_sshopm) -> purlin_status {
    guard::run(|| handle::remove::<SshopmObject, _>("sshopm", sshopm))
}

/// Cancels the calls that run on a solver, which then return `PURLIN_ERROR_CANCELLED` within the time of one tensor, on
/// a GPU of one chunk. Later calls are not touched. May be called from any thread and from a progress function; it
/// waits for nothing.
///
/// @param sshopm  the solver.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_sshopm_cancel(sshopm: *const purlin_sshopm) -> purlin_status {
    guard::run(|| {
        handle::shared::<SshopmObject, _>("sshopm", sshopm)?.solver.cancel_handle().cancel();
        Ok(())
    })
}

/// The plan of purlin_sshopm_solve for a batch with the starts of the options: starts, chunks, tolerance, host memory, and
/// where it would run. The chunks and the memory are those for the results `count` and `status`; arrays of pairs and starts
/// come on top. Nothing is solved.
///
/// @param      sshopm   the solver.
/// @param      tensors  the batch.
/// @param[out] info     filled in; initialize it with purlin_sshopm_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// type, another context, options that purlin_sshopm_solve refuses), `PURLIN_ERROR_NOT_SUPPORTED` (`tensors` on the
/// device beyond the limits of the GPU kernels), `PURLIN_ERROR_OUT_OF_MEMORY` (the work space does not fit).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_plan(
    sshopm: *const purlin_sshopm,
    tensors: *const purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let object = SshopmObject::of(sshopm)?;
        let tensors = tensor::input("tensors", tensors)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { report(info, || object.solver.plan(&tensors)) }
    })
}

/// The report of the last call of purlin_sshopm_solve or purlin_sshopm_solve_all that succeeded on a solver.
///
/// @param      sshopm  the solver.
/// @param[out] info    filled in; initialize it with purlin_sshopm_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size, no
/// call has succeeded yet).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_last_info(
    sshopm: *const purlin_sshopm,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let object = handle::shared::<SshopmObject, _>("sshopm", sshopm)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { report(info, || object.solver.last_info()) }
    })
}

/// Eigenpairs (lambda, x) of symmetric tensors, A x^(m-1) = lambda x and |x| = 1, that are local maxima or minima of
/// A x^m on the unit sphere, from many starts.
///
/// The shifted symmetric higher-order power method of Kolda and Mayo (SIAM J. Matrix Anal. Appl. 32, 2011; adaptive
/// shift: 35, 2014), by default with safeguarded Newton steps; then the results of a tensor's starts are classified by
/// the projected Hessian, made unique and sorted. A step costs O(U) for general shapes; n = 3 with m = 3, 4, 6 and 8
/// has kernels of its own. Each tensor is scaled by a power of two, so that any magnitude works; a tensor with bad
/// values gets a status and harms no other. Results are bitwise the same for any number of threads.
///
/// Host tensors in a context on a GPU are streamed through it in chunks, copies overlapping the work.
///
/// @param      sshopm   the solver; its options are those of a solve.
/// @param      stream   NULL for the context's own.
/// @param      tensors  symmetric batch of T tensors, order m, dimension n; F32 or F64, any strides.
/// @param      starts   n x V start vectors, of the type of `tensors`, on the host or the device, normalized on entry;
///                      NULL for those of the options.
/// @param      results  where results go, each on the host or on the device.
/// @param[out] info     may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types, options, a
/// start that is zero or not finite, read-only outputs, another context, overlap), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory in an output, `tensors` on the device
/// beyond the limits of the GPU kernels), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
/// `PURLIN_ERROR_CUDA`. Starts that do not converge are not an error of the call: see `status` and `start_status`.
///
/// # Safety
/// `results` and `info` are NULL or initialized structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_solve(
    sshopm: *const purlin_sshopm,
    stream: *const purlin_stream,
    tensors: *const purlin_tensor,
    starts: *const purlin_tensor,
    results: *const purlin_sshopm_results,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let object = SshopmObject::of(sshopm)?;
        let inputs = Inputs::new(stream, tensors)?;
        let starts = tensor::input_or_null("starts", starts)?;
        // SAFETY: the caller promises NULL or initialized structs.
        let results = unsafe { outputs(results, info) }?;
        let done = object.solve(SolveCall { inputs, starts, results })?;
        // SAFETY: as above.
        unsafe { options::write("info", info, done) }
    })
}

/// purlin_sshopm_solve without an object: makes a solver, solves, and destroys it.
///
/// @param      context  the context of all tensors.
/// @param      stream   NULL for the context's own.
/// @param      tensors  as purlin_sshopm_solve.
/// @param      starts   as purlin_sshopm_solve.
/// @param      options  NULL for the defaults.
/// @param      results  as purlin_sshopm_solve.
/// @param[out] info     may be NULL.
/// @return as purlin_sshopm_create and purlin_sshopm_solve.
///
/// # Safety
/// `options`, `results` and `info` are NULL or initialized structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_solve_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    tensors: *const purlin_tensor,
    starts: *const purlin_tensor,
    options: *const purlin_sshopm_options,
    results: *const purlin_sshopm_results,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or an initialized struct.
        let object = unsafe { SshopmObject::new(context, options) }?;
        let inputs = Inputs::new(stream, tensors)?;
        let starts = tensor::input_or_null("starts", starts)?;
        // SAFETY: the caller promises NULL or initialized structs.
        let results = unsafe { outputs(results, info) }?;
        let done = object.solve(SolveCall { inputs, starts, results })?;
        // SAFETY: as above.
        unsafe { options::write("info", info, done) }
    })
}

/// All real eigenpairs of symmetric tensors, saddles included, by Newton's method on the sphere from many random
/// starts (Jaffe, Weiss and Nadler, SIAM J. Matrix Anal. Appl. 39, 2018), with a check of completeness. A step of a
/// start costs one product A x^(m-2), O(U), and O(n^3) operations.
///
/// For nondegenerate tensors the sum of (-1)^k over all pairs, one of each +-x, is 1 where n is odd and 0 where n and m
/// are even, by Morse theory; k is the number of negative eigenvalues of a pair's projected Hessian. For odd m and even
/// n it says nothing, nor where a pair is degenerate. The Morse inequalities bound the numbers of pairs with each k as well,
/// and for odd m the number of pairs is odd. If one of these relations is violated, pairs are missing for certain: the
/// tensor's status is PURLIN_TENSOR_INCOMPLETE. The converse does not hold. Rounds of starts are added until the relations
/// hold, a doubling found nothing new, and each pair was reached by four starts, or `max_starts` is reached, which makes the
/// status INCOMPLETE as well. So PURLIN_TENSOR_OK says that these tests were passed; it is no proof of completeness. m = 2
/// uses a symmetric matrix eigensolver; eigenvalues that differ by at most 8 n eps times the Frobenius norm are one entry.
///
/// A continuum of eigenvectors, a circle of an axisymmetric form say, is one entry of class PURLIN_PAIR_DEGENERATE: three
/// degenerate pairs of one lambda are taken for one. A tensor with a degenerate pair has the status
/// PURLIN_TENSOR_DEGENERATE.
///
/// Arrays may lie on the host or on the device, each where it likes; the search takes one tensor at a time, and those
/// on the device are copied from and to it.
///
/// @param      sshopm          the solver; its options are those of a search for all pairs.
/// @param      stream          NULL for the context's own.
/// @param      tensors         symmetric batch of T tensors, order m, dimension n; F32 or F64.
/// @param      results         as purlin_sshopm_solve, values descending; the start_* members and `trace` are NULL.
/// @param      morse_sum       I32, T: the sum found; may be NULL.
/// @param      morse_expected  I32, T: the sum of a complete set, -2147483648 where the theory predicts none: odd order
///                             in even dimension, or a degenerate pair; may be NULL.
/// @param[out] info            may be NULL.
/// @return as purlin_sshopm_solve.
///
/// # Safety
/// `results` and `info` are NULL or initialized structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_solve_all(
    sshopm: *const purlin_sshopm,
    stream: *const purlin_stream,
    tensors: *const purlin_tensor,
    results: *const purlin_sshopm_results,
    morse_sum: *mut purlin_tensor,
    morse_expected: *mut purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let object = SshopmObject::of(sshopm)?;
        let inputs = Inputs::new(stream, tensors)?;
        // SAFETY: the caller promises NULL or initialized structs.
        let results = unsafe { outputs(results, info) }?;
        let morse_sum = tensor::output_or_null("morse_sum", morse_sum)?;
        let morse_expected = tensor::output_or_null("morse_expected", morse_expected)?;
        let done = object.solve_all(SolveAllCall { inputs, results, morse_sum, morse_expected })?;
        // SAFETY: as above.
        unsafe { options::write("info", info, done) }
    })
}

/// purlin_sshopm_solve_all without an object: makes a solver, solves, and destroys it.
///
/// @param      context         the context of all tensors.
/// @param      stream          NULL for the context's own.
/// @param      tensors         as purlin_sshopm_solve_all.
/// @param      options         NULL for the defaults.
/// @param      results         as purlin_sshopm_solve_all.
/// @param      morse_sum       as purlin_sshopm_solve_all; may be NULL.
/// @param      morse_expected  as purlin_sshopm_solve_all; may be NULL.
/// @param[out] info            may be NULL.
/// @return as purlin_sshopm_create and purlin_sshopm_solve_all.
///
/// # Safety
/// `options`, `results` and `info` are NULL or initialized structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_solve_all_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    tensors: *const purlin_tensor,
    options: *const purlin_sshopm_options,
    results: *const purlin_sshopm_results,
    morse_sum: *mut purlin_tensor,
    morse_expected: *mut purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or an initialized struct.
        let object = unsafe { SshopmObject::new(context, options) }?;
        let inputs = Inputs::new(stream, tensors)?;
        // SAFETY: the caller promises NULL or initialized structs.
        let results = unsafe { outputs(results, info) }?;
        let morse_sum = tensor::output_or_null("morse_sum", morse_sum)?;
        let morse_expected = tensor::output_or_null("morse_expected", morse_expected)?;
        let done = object.solve_all(SolveAllCall { inputs, results, morse_sum, morse_expected })?;
        // SAFETY: as above.
        unsafe { options::write("info", info, done) }
    })
}
