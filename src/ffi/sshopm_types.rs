//! Constants and structs of the eigenpair solver.

use std::ffi::{c_char, c_void};

use super::callback::purlin_progress_fn;
use super::options::versioned;
use super::tensor::purlin_tensor;

/// Local maxima of A x^m on the unit sphere. For odd m, (lambda, x) and (-lambda, -x) are one pair, a maximum and a
/// minimum: it is listed as the maximum, whatever the sign of lambda.
pub const PURLIN_SSHOPM_MAXIMA: i32 = 0;
/// Local minima. For odd m they are the maxima turned over, and listed as minima.
pub const PURLIN_SSHOPM_MINIMA: i32 = 1;
/// Both: maxima descending, then minima ascending. For odd m and the canonical sign each pair is listed once, with
/// lambda >= 0, as a maximum or as a minimum.
pub const PURLIN_SSHOPM_BOTH: i32 = 2;

/// Safeguarded Newton steps. For n = 3 the Hessian is shifted as far as the step then goes uphill and no further than
/// 2/m; for other n, or with a constant shift, power steps where the Hessian is not definite or the step is long.
pub const PURLIN_SSHOPM_HYBRID: i32 = 0;
/// The shifted power method alone.
pub const PURLIN_SSHOPM_POWER: i32 = 1;

/// The smallest shift that keeps each step monotone (Kolda and Mayo 2014).
pub const PURLIN_SSHOPM_SHIFT_ADAPTIVE: i32 = 0;
/// The constant `shift` of the options.
pub const PURLIN_SSHOPM_SHIFT_FIXED: i32 = 1;
/// (m - 1) times the Frobenius norm: monotone for certain, slow.
pub const PURLIN_SSHOPM_SHIFT_GUARANTEED: i32 = 2;

/// |A x^(m-1) - lambda x| <= tolerance * max(|lambda|, 1e-3 |A|).
pub const PURLIN_SSHOPM_TEST_RESIDUAL: i32 = 0;
/// Change of lambda <= tolerance * |lambda|. Where a fixed shift is f > 1 times the product of order and Frobenius norm, the
/// tolerance is divided by f; see PURLIN_SSHOPM_TEST_STEP.
pub const PURLIN_SSHOPM_TEST_LAMBDA: i32 = 1;
/// Change of x <= tolerance. With a fixed shift as PURLIN_SSHOPM_TEST_LAMBDA. If rounding hides changes that small, a start
/// converges only where its residual is within rounding.
pub const PURLIN_SSHOPM_TEST_STEP: i32 = 2;

/// Fibonacci points where n = 3 (a hemisphere for even order, the sphere for odd), else random ones.
pub const PURLIN_STARTS_AUTO: i32 = 0;
/// Fibonacci lattice on the hemisphere z > 0; n = 3. From these starts the solver can miss maxima of odd orders in
/// the half z < 0.
pub const PURLIN_STARTS_FIBONACCI_HEMISPHERE: i32 = 1;
/// Fibonacci lattice on the sphere; n = 3.
pub const PURLIN_STARTS_FIBONACCI_SPHERE: i32 = 2;
/// Vertices of a subdivided icosahedron; n = 3. 10 f^2 + 2 starts cover the sphere; 5 f^2 + 1 cover half of it, and from
/// them the solver can miss maxima of odd orders in the other half.
pub const PURLIN_STARTS_ICOSAHEDRAL: i32 = 3;
/// Normal numbers, normalized: uniform on the sphere.
pub const PURLIN_STARTS_RANDOM: i32 = 4;
/// Uniform numbers in [-1, 1], normalized: not uniform on the sphere; as in Kolda and Mayo's experiments.
pub const PURLIN_STARTS_RANDOM_CUBE: i32 = 5;

/// One representative of (lambda, x) and its mirror image. Even order: the component of largest magnitude is positive. Odd
/// order: lambda >= 0 for PURLIN_SSHOPM_BOTH and purlin_sshopm_solve_all; MAXIMA and MINIMA determine it by themselves.
pub const PURLIN_SSHOPM_SIGN_CANONICAL: i32 = 0;
/// The iterate as it stands.
pub const PURLIN_SSHOPM_SIGN_RAW: i32 = 1;

/// The conventions of this documentation.
pub const PURLIN_SSHOPM_COMPAT_NONE: i32 = 0;
/// The MATLAB Tensor Toolbox's tests, tolerances and shift: its iteration counts are reproduced.
pub const PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX: i32 = 1;

/// A start met its stopping test.
pub const PURLIN_START_CONVERGED: i32 = 0;
/// A start used up its iterations.
pub const PURLIN_START_MAX_ITERATIONS: i32 = 1;
/// A start met the zero vector.
pub const PURLIN_START_ZERO_VECTOR: i32 = 2;
/// A start met a number that is not finite.
pub const PURLIN_START_NONFINITE: i32 = 3;
/// A start met a singular system (purlin_sshopm_solve_all).
pub const PURLIN_START_SINGULAR: i32 = 4;

/// There is a result, and no other status applies.
pub const PURLIN_TENSOR_OK: i32 = 0;
/// An entry or a signal is not finite; there is no result.
pub const PURLIN_TENSOR_NONFINITE: i32 = 1;
/// All entries are zero: every direction is an eigenvector. A solve lists one that stands for all; there is no peak.
pub const PURLIN_TENSOR_ZERO: i32 = 2;
/// A multiple of the identity: every direction is an eigenvector. A solve lists one that stands for all; there is no
/// peak.
pub const PURLIN_TENSOR_ISOTROPIC: i32 = 3;
/// The mask leaves the tensor out.
pub const PURLIN_TENSOR_MASKED: i32 = 4;
/// No start converged to a pair that was asked for.
pub const PURLIN_TENSOR_NO_PAIR: i32 = 5;
/// The mean signal without diffusion weighting is not positive, or too few signals are usable.
pub const PURLIN_TENSOR_SIGNAL: i32 = 6;
/// A signal was not positive; it was clamped or left out, and the result stands.
pub const PURLIN_TENSOR_CLAMPED: i32 = 7;
/// Pairs are missing or may be (purlin_sshopm_solve_all): the numbers of pairs of each kind cannot be those of a
/// complete set, starts ended at singular points, or the starts were used up before a round that found nothing new, or
/// while a pair had been reached by fewer than four starts.
pub const PURLIN_TENSOR_INCOMPLETE: i32 = 8;
/// There are degenerate pairs, so that nothing vouches for completeness. One pair stands for a continuum of eigenvectors.
pub const PURLIN_TENSOR_DEGENERATE: i32 = 9;
/// Pairs were found, but a start did not converge, or a GPU kernel had no memory for more distinct ends of starts: pairs
/// may be missing.
pub const PURLIN_TENSOR_PARTIAL: i32 = 10;

/// The projected Hessian is negative definite: a local maximum.
pub const PURLIN_PAIR_NEGATIVE_STABLE: i32 = 0;
/// The projected Hessian is positive definite: a local minimum.
pub const PURLIN_PAIR_POSITIVE_STABLE: i32 = 1;
/// The projected Hessian is indefinite: a saddle.
pub const PURLIN_PAIR_UNSTABLE: i32 = 2;
/// An eigenvalue of the projected Hessian is zero within the tolerance.
pub const PURLIN_PAIR_DEGENERATE: i32 = 3;
/// Not classified: an eigenvalue or the residual is not finite.
pub const PURLIN_PAIR_UNCLASSIFIED: i32 = 4;
/// There is no pair: a place beyond the tensor's count.
pub const PURLIN_PAIR_NONE: i32 = -1;

/// How eigenpairs are sought: local maxima and minima (purlin_sshopm_solve), or all pairs (purlin_sshopm_solve_all).
/// Either call refuses, by name, the options that only the other uses: `max_starts`, and `goal`, `method`,
/// `shift_kind`, `shift`, `test`, `warmup`, `tau`, `start_kind`, `compatibility` and `remove_isotropic`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_sshopm_options {
    /// Size of the caller's struct; set by purlin_sshopm_options_init.
    pub struct_size: usize,
    /// Pairs that are looked for: PURLIN_SSHOPM_MAXIMA (default), MINIMA or BOTH.
    pub goal: i32,
    /// Newton or power steps: PURLIN_SSHOPM_HYBRID (default) or POWER.
    pub method: i32,
    /// Shift of power steps: PURLIN_SSHOPM_SHIFT_ADAPTIVE (default), FIXED or GUARANTEED.
    pub shift_kind: i32,
    /// Test that ends an iteration: PURLIN_SSHOPM_TEST_RESIDUAL (default), LAMBDA or STEP.
    pub test: i32,
    /// Where iterations start, one of PURLIN_STARTS_*; default AUTO.
    pub start_kind: i32,
    /// Which of (lambda, x) and its mirror image a pair is listed as: PURLIN_SSHOPM_SIGN_CANONICAL (default) or RAW.
    pub sign: i32,
    /// Conventions of tests, tolerances and shift: PURLIN_SSHOPM_COMPAT_NONE (default) or TENSOR_TOOLBOX.
    pub compatibility: i32,
    /// 1 (default): iterate on A less a multiple of the identity where that saves steps, which changes no eigenvector.
    /// 0: always on A itself, as also by default for odd order, which has no identity, for HYBRID without power steps
    /// for n = 3, whose steps are the same on both, and for TENSOR_TOOLBOX, which always iterates on A and does not
    /// refuse 0.
    pub remove_isotropic: i32,
    /// Most iterations of a start, up to 2147483647; 0, the default, is 500 (1000 for PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX),
    /// or 200 Newton steps for all pairs.
    pub max_iterations: i64,
    /// Power steps before the first Newton step, up to 2147483647; -1, the default, is 0.
    pub warmup: i64,
    /// Starts of each tensor; 0, the default, chooses: for n = 3, 32 up to order 4 and 64 above, twice as many for odd
    /// orders, whose starts cover the whole sphere; else 20 n; an icosahedral set has the next size up. All pairs: starts of
    /// the first round; 0 chooses (2000 for n = 3).
    pub starts: i64,
    /// All pairs: most starts of a tensor over all rounds; 0, the default, is 32 times `starts`.
    pub max_starts: i64,
    /// Seed of random starts, which each tensor has of its own, by its number in the batch; default 0. Refused with other
    /// starts. All pairs: of the starts, which are the same for every tensor.
    pub seed: u64,
    /// Fixed shift: at least 0 for maxima, at most 0 for minima; default 0.
    pub shift: f64,
    /// Tolerance of the test, less than 1 except for PURLIN_SSHOPM_COMPAT_TENSOR_TOOLBOX; 0, the default, is 1e-10 for F64
    /// and 1e-5 for F32. All pairs: largest residual relative to the Frobenius norm; 0 is 1e-11 for F64 and 1e-5 for F32.
    pub tolerance: f64,
    /// Margin of the adaptive shift; 0, the default, is 1e-6 times the Frobenius norm.
    pub tau: f64,
    /// Pairs nearer than this angle are one, radians; 0, the default, is 1 degree. All pairs: 0 is 1e-5 for F64 and 1e-3 for
    /// F32; less than 8 eps of the type counts as that.
    pub merge_angle: f64,
    /// Pairs whose eigenvalues differ by more than this, relative to the larger, are two; 0, the default: unused. Less
    /// than 256 eps of the type counts as that. All pairs: relative to the Frobenius norm; 0 is 1e-6 for F64 and 1e-3
    /// for F32.
    pub merge_value: f64,
    /// A Hessian eigenvalue of at most this times the Frobenius norm counts as 0; 0, the default, is 1e-7 for F64 and 1e-3
    /// for F32.
    pub degeneracy_tolerance: f64,
    /// Called with the tensors done, all tensors, and the share of their starts that has converged (of
    /// purlin_sshopm_solve_all 0, and 1 at the end); default NULL.
    pub progress: purlin_progress_fn,
    /// Passed to `progress` as its last argument, not dereferenced; default NULL.
    pub progress_user: *mut c_void,
}

versioned!(purlin_sshopm_options, first = size_of::<Self>(), of = crate::sshopm::Options);

/// Where results go: each member is a caller's tensor or NULL, default NULL. T tensors, V starts of each, dimension n;
/// K, the pairs kept of each tensor, is the extent of the arrays given. "Real" is the element type of the tensors.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_sshopm_results {
    /// Size of the caller's struct; set by purlin_sshopm_results_init.
    pub struct_size: usize,
    /// I32, T: pairs listed, at most K. The rest of a tensor's row is NaN, PURLIN_PAIR_NONE in `classes`, 0 in `basins`.
    pub count: *mut purlin_tensor,
    /// Real, K x T: eigenvalues; maxima descending, then minima ascending.
    pub values: *mut purlin_tensor,
    /// Real, n x K x T: unit eigenvectors.
    pub vectors: *mut purlin_tensor,
    /// Real, K x T: |A x^(m-1) - lambda x|.
    pub residuals: *mut purlin_tensor,
    /// I32, K x T: one of PURLIN_PAIR_*.
    pub classes: *mut purlin_tensor,
    /// Real, (n - 1) x K x T: eigenvalues of the projected Hessian, ascending.
    pub hessian: *mut purlin_tensor,
    /// I32, K x T: number of starts that ended in the pair.
    pub basins: *mut purlin_tensor,
    /// I32, T: one of PURLIN_TENSOR_*.
    pub status: *mut purlin_tensor,
    /// Real, V x T: last eigenvalue of each start. The start_* members go with one goal, not with BOTH.
    pub start_values: *mut purlin_tensor,
    /// Real, n x V x T: last iterate of each start.
    pub start_vectors: *mut purlin_tensor,
    /// Real, V x T: its residual.
    pub start_residuals: *mut purlin_tensor,
    /// I32, V x T: its iterations.
    pub start_iterations: *mut purlin_tensor,
    /// Real, V x T: its last shift, of the power step, or for n = 3 and HYBRID of the Hessian.
    pub start_shifts: *mut purlin_tensor,
    /// I32, V x T: one of PURLIN_START_*.
    pub start_status: *mut purlin_tensor,
    /// I32, V x T: how often lambda moved the wrong way.
    pub start_violations: *mut purlin_tensor,
    /// Real, any length; for one tensor and one start: lambda at each iteration, NaN after the last.
    pub trace: *mut purlin_tensor,
    /// I32, T: distinct pairs found. More than `count` where K has no place for all of them.
    pub found: *mut purlin_tensor,
}

versioned!(purlin_sshopm_results, first = std::mem::offset_of!(Self, found));

/// The report or the plan of a solve.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_sshopm_info {
    /// Size of the caller's struct; set by purlin_sshopm_info_init.
    pub struct_size: usize,
    /// Tensors of the batch, masked ones included.
    pub tensors: i64,
    /// Starts of each tensor, V.
    pub starts: i64,
    /// Starts that converged, over all tensors.
    pub converged_starts: i64,
    /// Iterations, over all starts of all tensors.
    pub iterations: i64,
    /// Tensors, or voxels, without a result: masked, zero, isotropic, not finite, without usable signals. -1 after a
    /// fit on a GPU, which does not count them.
    pub skipped_tensors: i64,
    /// Chunks that the batch was cut into; 0 in a plan for a GPU, where they follow from the memory that is free.
    pub chunks: i64,
    /// Tolerance that was used, after defaults and limits.
    pub tolerance: f64,
    /// Seconds from the call to its return.
    pub seconds: f64,
    /// 1 if the tolerance of the options was below the smallest that the element type can reach, and was raised to
    /// that.
    pub tolerance_raised: i32,
    /// Always 0: kept for later fields.
    pub reserved: i32,
    /// Tensors with more pairs than were listed: K is too small for them.
    pub truncated_tensors: i64,
    /// Tensors with a start that did not converge; of purlin_sshopm_solve_all tensors with a start that ended without a
    /// pair, whose status is PURLIN_TENSOR_INCOMPLETE, or NO_PAIR.
    pub unconverged_tensors: i64,
    /// Bytes of host memory for the work of a solve or of peaks: work space of the threads, start vectors, one chunk of
    /// results. A plan has those of a solve for `count` and `status` alone. 0 after other calls.
    pub host_bytes: i64,
    /// Where the call ran, or would run, and why; "" after purlin_sshopm_solve_all.
    pub reason: [c_char; 128],
}

versioned!(purlin_sshopm_info, first = std::mem::offset_of!(Self, truncated_tensors));
