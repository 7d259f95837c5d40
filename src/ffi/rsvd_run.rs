//! Randomized singular value decomposition: the calls that go over a matrix.

use super::callback::Report;
use super::matrix::{self, purlin_matrix};
use super::options;
use super::overlap::{self, ranges};
use super::rsvd::{RsvdObject, made, purlin_rsvd};
use super::rsvd_types::{purlin_rsvd_info, purlin_rsvd_options};
use super::tensor::{self, purlin_tensor};
use super::{guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::{Error, Result};
use crate::rsvd::info::Info;
use crate::rsvd::options::{Options, resolved};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::session::Rsvd;

/// Writes the report of a run. Fails with `NoConvergence` if the run missed its tolerance.
///
/// # Safety
/// `info` is NULL or an initialized struct.
pub(super) unsafe fn hand_over(info: *mut purlin_rsvd_info, done: &Info, options: &Options) -> Result<()> {
    // SAFETY: as promised above.
    unsafe { options::write("info", info, purlin_rsvd_info::of(done, options)) }?;
    if done.converged {
        return Ok(());
    }
    Err(Error::NoConvergence(shortfall(done, options.tolerance)))
}

/// By how much a run missed its tolerance.
fn shortfall(done: &Info, tolerance: f64) -> String {
    let error = if done.error_relative > tolerance { done.error_relative } else { done.error_compared };
    let resolved = resolved(done.dtype);
    let mut text = format!("the relative error is {error:e} at rank {}, {tolerance:e} is asked for", done.rank);
    if error <= 2.0 * resolved {
        text += &format!("; in {} rounding hides errors below {resolved:.1e}", done.dtype.name());
    }
    text
}

/// Computes the leading k singular triplets: A = U diag(s) V^H, s not increasing and not negative, the columns of U and
/// V orthonormal also where A has a lower rank. A matrix with more columns than rows is worked on as A^H, without a
/// copy.
///
/// Costs 2 to 2q + 2 passes over A by method; a pass multiplies by l = k + oversampling columns, 2 m n l operations (4
/// where A and A^H are both applied). A matrix in host memory or a source is read in blocks of rows while the block
/// before is worked on; as many rows as fit stay on the device.
///
/// With a tolerance the rank is the smallest found that meets it. The factors have `max_rank` columns, or min(m, n)
/// where that is 0: the first info.rank hold the result and the others are 0.
///
/// @param      rsvd    the decomposition.
/// @param      stream  NULL for the context's own.
/// @param      a       m x n, of any storage and of any element type that a source may have; neither NaN nor infinite.
/// @param      u       dense, m x k, of the computing type, any order, on the host (complete on return) or the device
///                     (in the order of the stream); NULL if not wanted, which may save a pass.
/// @param      s       k values, F64 or F32, on the host; NULL if not wanted.
/// @param      v       dense, n x k, or k x n with PURLIN_RSVD_VH, as `u`; NULL if not wanted.
/// @param[out] info    report of the call; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (rank 0 without a tolerance
/// or more than min(m, n); sizes, types, read-only outputs, overlap, another context, struct_size; a method that is not
/// for this call; a restart file of another run; an entry that is NaN or infinite: the message names the block; an
/// operator whose products with A^H are not those of the adjoint of A), `PURLIN_ERROR_BUSY` (an object or the matrix's
/// source is in use), `PURLIN_ERROR_NO_CONVERGENCE` (the tolerance is not met at the largest rank; the outputs hold
/// that rank), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_IO` (a file, or an error that the caller's function returned),
/// `PURLIN_ERROR_NOT_SUPPORTED` (a combination of storage, method and options that the message names),
/// `PURLIN_ERROR_NUMERICAL` (a result that its type does not hold: it overflows, or it counts and is below the normal
/// numbers), `PURLIN_ERROR_OUT_OF_MEMORY` and `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` (not even the smallest block fits;
/// the message says how many bytes are needed), `PURLIN_ERROR_CUDA`. After a failure the object is ready for another
/// call.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rsvd_compute(
    rsvd: *mut purlin_rsvd,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    u: *mut purlin_matrix,
    s: *mut purlin_tensor,
    v: *mut purlin_matrix,
    info: *mut purlin_rsvd_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut rsvd) = RsvdObject::exclusive(rsvd)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { decompose(&mut rsvd, &object.report, stream, a, (u, s, v), info) }
    })
}

/// purlin_rsvd_compute by an object for this run alone: purlin_rsvd_create, purlin_rsvd_compute, purlin_rsvd_destroy.
///
/// @param      context  the context of the matrices.
/// @param      stream   NULL for the context's own.
/// @param      a        as for purlin_rsvd_compute.
/// @param      options  NULL for the defaults, which have no rank and no tolerance.
/// @param      u        as for purlin_rsvd_compute; NULL if not wanted.
/// @param      s        likewise; NULL if not wanted.
/// @param      v        likewise; NULL if not wanted.
/// @param[out] info     report of the call; may be NULL.
/// @return as purlin_rsvd_create and purlin_rsvd_compute.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs, the `restart_path` of `options` is NULL or a terminated string.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rsvd_compute_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    options: *const purlin_rsvd_options,
    u: *mut purlin_matrix,
    s: *mut purlin_tensor,
    v: *mut purlin_matrix,
    info: *mut purlin_rsvd_info,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or an initialized struct with NULL or a terminated string in it.
        let (mut rsvd, report) = unsafe { made(context, options) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { decompose(&mut rsvd, &report, stream, a, (u, s, v), info) }
    })
}

/// The leading triplets. Returns the report.
///
/// # Safety
/// `info` is NULL or an initialized struct.
unsafe fn decompose(
    rsvd: &mut Rsvd,
    report: &Report,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    (u, s, v): (*mut purlin_matrix, *mut purlin_tensor, *mut purlin_matrix),
    info: *mut purlin_rsvd_info,
) -> Result<()> {
    let stream = stream::get(stream)?;
    let a = matrix::input("a", a)?;
    let mut u = matrix::output_or_null("u", u)?;
    let mut s = tensor::output_or_null("s", s)?;
    let mut v = matrix::output_or_null("v", v)?;
    // SAFETY: as promised above.
    unsafe { options::check("info", info) }?;
    let outputs = ranges(&[("u", u.as_deref()), ("v", v.as_deref())], &[("s", s.as_deref())]);
    overlap::check(&ranges(&[("a", Some(&a))], &[]), &outputs)?;
    let factors = Outputs { u: u.as_deref_mut(), s: s.as_deref_mut(), v: v.as_deref_mut() };
    let done = report.run(|report| rsvd.compute(stream.as_deref(), &a, factors, report))?;
    // SAFETY: as promised above.
    unsafe { hand_over(info, &done, rsvd.options()) }
}

/// Computes an orthonormal basis Q of the range of A, and B = Q^H A, so that A is close to Q B (the range finder of
/// Halko, Martinsson and Tropp). The number of columns is that of `q`: `rank` and `oversampling` are not used, nor is
/// `right`. The passes over A are those of the method, each with 2 m n l operations, or 4 where A and A^H are both
/// applied.
///
/// @param      rsvd    the decomposition.
/// @param      stream  NULL for the context's own.
/// @param      a       m x n, as for purlin_rsvd_compute.
/// @param      q       dense, m x l, l at most min(m, n), as `u` of purlin_rsvd_compute.
/// @param      b       dense, l x n, likewise; NULL if not wanted.
/// @param[out] info    report of the call; may be NULL.
/// @return as purlin_rsvd_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for options that such a basis does not use: a
/// `method` other than AUTO and RANGE, `smallest_ratio`, a `sign` other than V_MAX, PROBES and POWER of `error`;
/// `PURLIN_ERROR_NOT_SUPPORTED` also for a tolerance and a restart file.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rsvd_range(
    rsvd: *mut purlin_rsvd,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    q: *mut purlin_matrix,
    b: *mut purlin_matrix,
    info: *mut purlin_rsvd_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut rsvd) = RsvdObject::exclusive(rsvd)?;
        let stream = stream::get(stream)?;
        let a = matrix::input("a", a)?;
        let mut q = matrix::output("q", q)?;
        let mut b = matrix::output_or_null("b", b)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let outputs = ranges(&[("q", Some(&q)), ("b", b.as_deref())], &[]);
        overlap::check(&ranges(&[("a", Some(&a))], &[]), &outputs)?;
        let done = object.run(|report| rsvd.range(stream.as_deref(), &a, &mut q, b.as_deref_mut(), report))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { hand_over(info, &done, rsvd.options()) }
    })
}

/// Computes the k eigenvalues of largest modulus of a Hermitian matrix, and their eigenvectors: A close to V
/// diag(lambda) V^H. Nystroem's method (PURLIN_RSVD_METHOD_NYSTROM) is the more accurate one for positive semidefinite
/// matrices, and for these alone. Only products with A are used. Its projection on the basis has to be Hermitian, to
/// rounding; of an operator to the next lower precision, 2^-17 in double precision. q + 1 passes over A, 2 with q = 0
/// and a method other than NYSTROM; each multiplies by l = k + oversampling columns, 2 n^2 l operations.
///
/// @param      rsvd    the decomposition.
/// @param      stream  NULL for the context's own.
/// @param      a       n x n, as for purlin_rsvd_compute.
/// @param      lambda  k values by modulus, not increasing, F64 or F32, on the host; NULL if not wanted.
/// @param      v       dense, n x k, as `u` of purlin_rsvd_compute; NULL if not wanted.
/// @param[out] info    report of the call; may be NULL.
/// @return as purlin_rsvd_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a matrix that is not square, and
/// `PURLIN_ERROR_NUMERICAL` for NYSTROM of a matrix that is not positive semidefinite, where that shows.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rsvd_symmetric(
    rsvd: *mut purlin_rsvd,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    lambda: *mut purlin_tensor,
    v: *mut purlin_matrix,
    info: *mut purlin_rsvd_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut rsvd) = RsvdObject::exclusive(rsvd)?;
        let stream = stream::get(stream)?;
        let a = matrix::input("a", a)?;
        let mut lambda = tensor::output_or_null("lambda", lambda)?;
        let mut v = matrix::output_or_null("v", v)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let outputs = ranges(&[("v", v.as_deref())], &[("lambda", lambda.as_deref())]);
        overlap::check(&ranges(&[("a", Some(&a))], &[]), &outputs)?;
        let done = object
            .run(|report| rsvd.symmetric(stream.as_deref(), &a, lambda.as_deref_mut(), v.as_deref_mut(), report))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { hand_over(info, &done, rsvd.options()) }
    })
}

/// Estimates how far U diag(s) V^H is from A, with `probes` random vectors of a stream of their own: one pass, or 11 if
/// the option `error` is PURLIN_RSVD_ERROR_POWER.
///
/// @param      rsvd       the decomposition; its centring and scaling are those of A.
/// @param      stream     NULL for the context's own.
/// @param      a          m x n, as for purlin_rsvd_compute.
/// @param      u          dense, m x k, of the computing type.
/// @param      s          k values, F64 or F32, on the host.
/// @param      v          dense, n x k, or k x n with PURLIN_RSVD_VH.
/// @param[out] frobenius  estimate of ||A - U diag(s) V^H||_F, within 15 % for 10 probes.
/// @param[out] spectral   upper bound of the same in the spectral norm, false with a probability of 10^-probes and
///                        mostly some 20 times too large (Halko, Martinsson, Tropp, section 4.3); with
///                        PURLIN_RSVD_ERROR_POWER an estimate from below by power iteration instead; may be NULL.
/// @param[out] info       report of the call; may be NULL.
/// @return as purlin_rsvd_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a NULL `frobenius`.
///
/// # Safety
/// `frobenius` and `spectral` are NULL or valid for writing, `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rsvd_error(
    rsvd: *mut purlin_rsvd,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    u: *const purlin_matrix,
    s: *const purlin_tensor,
    v: *const purlin_matrix,
    frobenius: *mut f64,
    spectral: *mut f64,
    info: *mut purlin_rsvd_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut rsvd) = RsvdObject::exclusive(rsvd)?;
        let stream = stream::get(stream)?;
        let a = matrix::input("a", a)?;
        let u = matrix::input("u", u)?;
        let s = tensor::input("s", s)?;
        let v = matrix::input("v", v)?;
        // SAFETY: as promised above.
        let frobenius = unsafe { super::pointer::output("frobenius", frobenius) }?;
        // SAFETY: likewise.
        let spectral = unsafe { super::pointer::output_or_null("spectral", spectral) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let factors = (&*u, &*s, &*v);
        let (norm, bound, done) = object.run(|report| rsvd.error(stream.as_deref(), &a, factors, report))?;
        *frobenius = norm;
        if let Some(spectral) = spectral {
            *spectral = bound;
        }
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { hand_over(info, &done, rsvd.options()) }
    })
}

/// Computes how well each triplet fulfils its two equations: two passes.
///
/// @param      rsvd    the decomposition; its centring and scaling are those of A.
/// @param      stream  NULL for the context's own.
/// @param      a       m x n, as for purlin_rsvd_compute.
/// @param      u       dense, m x k, of the computing type.
/// @param      s       k values, F64 or F32, on the host.
/// @param      v       dense, n x k, or k x n with PURLIN_RSVD_VH.
/// @param      left    k values ||A v_j - s_j u_j||, F64 or F32, on the host.
/// @param      right   k values ||A^H u_j - s_j v_j||, likewise.
/// @param[out] info    report of the call; may be NULL.
/// @return as purlin_rsvd_compute.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rsvd_residuals(
    rsvd: *mut purlin_rsvd,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    u: *const purlin_matrix,
    s: *const purlin_tensor,
    v: *const purlin_matrix,
    left: *mut purlin_tensor,
    right: *mut purlin_tensor,
    info: *mut purlin_rsvd_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut rsvd) = RsvdObject::exclusive(rsvd)?;
        let stream = stream::get(stream)?;
        let a = matrix::input("a", a)?;
        let u = matrix::input("u", u)?;
        let s = tensor::input("s", s)?;
        let v = matrix::input("v", v)?;
        let mut left = tensor::output("left", left)?;
        let mut right = tensor::output("right", right)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let inputs = ranges(&[("a", Some(&a)), ("u", Some(&u)), ("v", Some(&v))], &[("s", Some(&s))]);
        let outputs = ranges(&[], &[("left", Some(&left)), ("right", Some(&right))]);
        overlap::check(&inputs, &outputs)?;
        let factors = (&*u, &*s, &*v);
        let done =
            object.run(|report| rsvd.residuals(stream.as_deref(), &a, factors, &mut left, &mut right, report))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { hand_over(info, &done, rsvd.options()) }
    })
}
