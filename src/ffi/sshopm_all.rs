//! All eigenpairs of symmetric tensors.

use super::options;
use super::overlap::{self, Range};
use super::sshopm::{LockedResults, info_of, inputs};
use super::sshopm_types::*;
use super::tensor::{self, purlin_tensor};
use super::{callback, context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::progress::ProgressFn;
use crate::sshopm::{self, AllOptions, Sign};

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
pub unsafe extern "C" fn purlin_sshopm_all_options_init(
    options: *mut purlin_sshopm_all_options,
    size: usize,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// All real eigenpairs of symmetric tensors, saddles included, by Newton's method on the sphere from many random starts
/// (Jaffe, Weiss and Nadler, SIAM J. Matrix Anal. Appl. 39, 2018), with a check of completeness.
///
/// For nondegenerate tensors the sum of (-1)^k over all pairs, one of each +-x, is 1 where n is odd and 0 where n and m
/// are even, by Morse theory; k is the number of negative eigenvalues of a pair's projected Hessian. For odd m and even
/// n it says nothing, nor where a pair is degenerate. If the sum differs, pairs are missing for certain: the tensor's
/// status is PURLIN_TENSOR_INCOMPLETE. The converse does not hold. Rounds of starts are added until the sum is right and
/// a doubling found nothing new, or `max_starts` is reached, which makes the status INCOMPLETE as well. m = 2 uses a
/// symmetric matrix eigensolver.
///
/// A continuum of eigenvectors, a circle of an axisymmetric form say, is one entry of class PURLIN_PAIR_DEGENERATE: three
/// degenerate pairs of one lambda are taken for one. A tensor with a degenerate pair has the status
/// PURLIN_TENSOR_DEGENERATE.
///
/// Arrays may lie on the host or on the device, each where it likes; the search takes one tensor at a time, and those
/// on the device are copied from and to it.
///
/// @param      context         the context of all tensors.
/// @param      stream          NULL for the context's own.
/// @param      tensors         symmetric batch of T tensors, order m, dimension n; F32 or F64.
/// @param      options         NULL for the defaults.
/// @param      results         as purlin_sshopm_solve, values descending; the start_* members and `trace` are NULL.
/// @param      morse_sum       I32, T: the sum found; may be NULL.
/// @param      morse_expected  I32, T: what it has to be, -2147483648 where nothing is known, as with a degenerate pair;
///                             may be NULL.
/// @param[out] info            may be NULL.
/// @return as purlin_sshopm_solve.
///
/// # Safety
/// `options`, `results` and `info` are NULL or initialised structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_sshopm_all(
    context: *const purlin_context,
    stream: *const purlin_stream,
    tensors: *const purlin_tensor,
    options: *const purlin_sshopm_all_options,
    results: *const purlin_sshopm_results,
    morse_sum: *mut purlin_tensor,
    morse_expected: *mut purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let tensors = tensor::input("tensors", tensors)?;
        // SAFETY: the caller promises NULL or initialised structs.
        let o = unsafe { options::read("options", options) }?;
        // SAFETY: as above.
        let results = unsafe { options::read("results", results) }?;
        // SAFETY: as above.
        unsafe { options::check("info", info) }?;
        let mut results = LockedResults::new(&results)?;
        let mut morse_sum = tensor::output_or_null("morse_sum", morse_sum)?;
        let mut morse_expected = tensor::output_or_null("morse_expected", morse_expected)?;
        let mut outputs = results.ranges();
        outputs.extend(morse_sum.as_deref().map(|t| Range::of("morse_sum", t)));
        outputs.extend(morse_expected.as_deref().map(|t| Range::of("morse_expected", t)));
        overlap::check(&inputs(&tensors, None), &outputs)?;
        let report = callback::progress(o.progress, o.progress_user);
        let progress = context.progress(report.as_ref().map(|f| f as &ProgressFn<'_>));
        let core_options = AllOptions {
            starts: o.starts,
            max_starts: o.max_starts,
            seed: o.seed,
            max_iterations: super::sshopm::iterations(o.max_iterations)?,
            sign: Sign::from_code("sign", o.sign)?,
            tolerance: o.tolerance,
            merge_angle: o.merge_angle,
            merge_value: o.merge_value,
            degeneracy_tolerance: o.degeneracy_tolerance,
        };
        let done = sshopm::all(
            &context,
            stream.as_deref(),
            &tensors,
            &core_options,
            &mut results.as_results(),
            morse_sum.as_deref_mut(),
            morse_expected.as_deref_mut(),
            &progress,
        )?;
        // SAFETY: as above.
        unsafe { options::write("info", info, info_of(&done)) }
    })
}
