//! Traces and histograms from the density of a spectrum.

use std::ffi::c_void;

use super::lanczos_tridiagonal::numbers;
use super::{guard, purlin_status};
use crate::error::{Error, Result};
use crate::graph::density;
use crate::shape;

/// A function of a real number; `user` is the pointer that was passed to the call.
pub type purlin_function_fn = Option<unsafe extern "C" fn(x: f64, user: *mut c_void) -> f64>;

/// Points and weights of a caller's.
///
/// # Safety
/// Each is NULL or valid for `count` numbers while the result lives.
unsafe fn measure<'a>(count: i64, points: *const f64, weights: *const f64) -> Result<(&'a [f64], &'a [f64])> {
    let count = shape::size("count", count, 0)?;
    // SAFETY: as promised by the caller.
    Ok(unsafe { (numbers("points", points, count)?, numbers("weights", weights, count)?) })
}

/// trace(f(A)), from the density of A's spectrum: n times the sum of f(point) weight. Its error falls with the root of
/// the density's vectors, and polynomials f of a degree below twice its steps have no other. O(`count`).
///
/// @param      count     number of points, not negative.
/// @param[in]  points    `count` numbers, as purlin_graph_density gives them.
/// @param[in]  weights   `count` numbers likewise.
/// @param      n         order of the operator, not negative.
/// @param      function  f, called `count` times on this thread.
/// @param      user      handed to `function`.
/// @param[out] trace     the trace.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a negative size, points or weights that are not
/// finite), `PURLIN_ERROR_NUMERICAL` (a trace that is not finite).
///
/// # Safety
/// `points` and `weights` are NULL or valid for `count` numbers, `trace` is NULL or valid for writing, and `function` may be
/// called with `user` during the call.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_density_trace(
    count: i64,
    points: *const f64,
    weights: *const f64,
    n: i64,
    function: purlin_function_fn,
    user: *mut c_void,
    trace: *mut f64,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: as promised above.
        let (points, weights) = unsafe { measure(count, points, weights) }?;
        let n = shape::size("n", n, 0)?;
        let function = function.ok_or_else(|| Error::invalid("function", "is NULL"))?;
        // SAFETY: the caller promises NULL or a place for the number.
        let target = unsafe { super::pointer::output("trace", trace) }?;
        // SAFETY: the caller promises a function that may be called with its pointer.
        *target = density::trace(points, weights, n, |x| unsafe { function(x, user) })?;
        Ok(())
    })
}

/// Shares of a spectrum in equal parts of an interval, from its density; points below and above the interval count in
/// the first and the last part. O(`count` + `bins`).
///
/// @param      count    number of points, not negative.
/// @param[in]  points   `count` numbers, as purlin_graph_density gives them.
/// @param[in]  weights  `count` numbers likewise.
/// @param      from     where the first part begins, finite.
/// @param      to       where the last ends, above `from`.
/// @param      bins     number of parts, at least 1.
/// @param[out] shares   `bins` numbers, whose sum is that of the weights.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a size or an interval out of range, points or weights that
/// are not finite), `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `points` and `weights` are NULL or valid for `count` numbers, `shares` for `bins`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_density_histogram(
    count: i64,
    points: *const f64,
    weights: *const f64,
    from: f64,
    to: f64,
    bins: i64,
    shares: *mut f64,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: as promised above.
        let (points, weights) = unsafe { measure(count, points, weights) }?;
        let bins = shape::length("bins", bins, 1)?;
        super::pointer::check_outputs("shares", shares)?;
        let found = density::histogram(points, weights, (from, to), bins)?;
        // SAFETY: not null; the caller promises memory for `bins` numbers.
        unsafe { shares.copy_from_nonoverlapping(found.as_ptr(), found.len()) };
        Ok(())
    })
}
