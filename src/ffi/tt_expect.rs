//! Expectation values: operators between trains, Rayleigh quotients, operators at sites.

use super::options;
use super::overlap::{self, Range};
use super::pointer::{complex_output, list};
use super::stream;
use super::tensor::{self, purlin_tensor};
use super::tt::{self, purlin_tt};
use super::tt_contraction::{ContractionObject, purlin_tt_contraction};
use super::tt_inner::{check_quotients, hand_over};
use super::tt_matrix::{self, purlin_tt_matrix};
use super::tt_types::{purlin_tt_contraction_info, purlin_tt_scaled};
use super::{guard, purlin_status, purlin_stream};
use crate::alloc;
use crate::error::Result;
use crate::scalar::{Complex, DType};
use crate::shape;
use crate::tensor::Tensor;
use crate::tt::operator::{Trains, site_matrix};

/// Writes complex numbers into a host tensor of `dims`: all of them into one of CF64, their real parts into one of F64.
pub(super) fn write_numbers(argument: &str, dims: &[usize], values: &[Complex<f64>], out: &mut Tensor) -> Result<()> {
    out.expect_dims(argument, dims)?;
    if out.dtype() != DType::CF64 {
        out.expect_dtype(argument, DType::F64)?;
    }
    out.set_numbers(argument, dims, values)
}

/// An operator between two trains: the sum over all indices of conj(y[i]) H[i, j] x[j]. O(n w r s (r + s) + z r s) a
/// site of open trains with ranks r and s, where the operator has ranks w and z numbers other than 0 in its core.
///
/// The bra `y` is the conjugated one. Each of the three may be open or cyclic, real or complex; the precision is one. It is
/// computed where the trains are, on a GPU if one of them is there, in the order of `stream`; the operator lies on the host.
///
/// @param      contraction  the contraction; of its options `scaling`, `conjugate`, `cut`, `workspace_limit` and
///                          `assume_hermitian` count. Its progress function hears of the sites, and
///                          purlin_tt_contraction_cancel cancels.
/// @param      stream       NULL for the context's own.
/// @param      y            the bra: its mode sizes are the rows of `h`.
/// @param      h            the operator.
/// @param      x            the ket: its mode sizes are the columns of `h`; may be `y`.
/// @param[out] result       2 elements: real and imaginary part.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_inner, and `PURLIN_ERROR_NOT_SUPPORTED` (an operator on a device).
///
/// # Safety
/// `result` is NULL or valid for 2 elements, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_sandwich(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    y: *const purlin_tt,
    h: *const purlin_tt_matrix,
    x: *const purlin_tt,
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let stream = stream::get(stream)?;
        let (y, h, x) = (tt::input("y", y)?, tt_matrix::input("h", h)?, tt::input("x", x)?);
        // SAFETY: as promised above.
        let result = unsafe { complex_output("result", result) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let trains = Trains::new(&y, Some(&h), &x);
        let dtype = trains.check(contraction.context())?;
        let (scaled, done) = object.run(|report| contraction.sandwich(stream.as_deref(), &trains, report))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { hand_over(&object, result, scaled.plain(dtype).0, info, &done, "purlin_tt_sandwich_scaled") }
    })
}

/// purlin_tt_sandwich with an exponent of its own.
///
/// @param      contraction  the contraction.
/// @param      stream       NULL for the context's own.
/// @param      y            the bra.
/// @param      h            the operator.
/// @param      x            the ket; may be `y`.
/// @param[out] result       mantissa and exponent, logarithm and phase; the mantissa is NaN where a core of a train or
///                          of `h` holds a number that is not finite; info.outcome is then NONFINITE.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_sandwich, without `PURLIN_ERROR_NUMERICAL`.
///
/// # Safety
/// `result` is NULL or valid for writing, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_sandwich_scaled(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    y: *const purlin_tt,
    h: *const purlin_tt_matrix,
    x: *const purlin_tt,
    result: *mut purlin_tt_scaled,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let stream = stream::get(stream)?;
        let (y, h, x) = (tt::input("y", y)?, tt_matrix::input("h", h)?, tt::input("x", x)?);
        // SAFETY: the caller promises NULL or a place for the result.
        let result = unsafe { super::pointer::output("result", result) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let trains = Trains::new(&y, Some(&h), &x);
        let (scaled, mut done) = object.run(|report| contraction.sandwich(stream.as_deref(), &trains, report))?;
        *result = scaled.into();
        done.outcome = scaled.outcome();
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { object.store_report(info, &done) }
    })
}

/// Rayleigh quotient <x|H|x> / <x|x>, both in one sweep. It is right also where neither of the two fits its type. O(n
/// w r^3 + z r^2) a site, as purlin_tt_sandwich.
///
/// @param      contraction  the contraction, as for purlin_tt_sandwich; the bra is conjugated in any case.
/// @param      stream       NULL for the context's own.
/// @param      h            the operator.
/// @param      x            the train, on the host or the context's device.
/// @param[out] quotient     2 elements: real and imaginary part. The second is rounding noise for a Hermitian operator: a
///                          check of it; 0 with `assume_hermitian`.
/// @param[out] numerator    <x|H|x>; may be NULL.
/// @param[out] denominator  <x|x>; may be NULL.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_sandwich; `PURLIN_ERROR_NUMERICAL` also where <x|x> is 0, and then nothing is written.
///
/// # Safety
/// `quotient` is NULL or valid for 2 elements, `numerator` and `denominator` are NULL or valid for writing, `info` NULL or
/// an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_rayleigh(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    h: *const purlin_tt_matrix,
    x: *const purlin_tt,
    quotient: *mut f64,
    numerator: *mut purlin_tt_scaled,
    denominator: *mut purlin_tt_scaled,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let stream = stream::get(stream)?;
        let (h, x) = (tt_matrix::input("h", h)?, tt::input("x", x)?);
        // SAFETY: as promised above.
        let quotient = unsafe { complex_output("quotient", quotient) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let dtype = Trains::new(&x, Some(&h), &x).check(contraction.context())?;
        let found = object.run(|report| contraction.rayleigh(stream.as_deref(), &x, &h, report))?;
        for (target, value) in [(numerator, found.numerator), (denominator, found.denominator)] {
            if !target.is_null() {
                // SAFETY: not null; the caller promises a place for the number.
                unsafe { target.write_unaligned(value.into()) };
            }
        }
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe {
            hand_over(&object, quotient, found.quotient.plain(dtype).0, info, &found.info, "numerator and denominator")
        }
    })
}

/// Expectation values <x|A_k|x> / <x|x> of an operator at single sites, all in one sweep from either end. O(n r^3) a
/// site of an open train, and O(n r^3 + n^2 r^2) for each of `sites`.
///
/// @param      contraction  the contraction, as for purlin_tt_sandwich; of its options `scaling`, `cut` and
///                          `workspace_limit` count.
/// @param      stream       NULL for the context's own.
/// @param      x            the train, on the host or the context's device.
/// @param      op           the operator A, n x n on the host, element (i, j) taking state j to state i; F32, F64, CF32 or
///                          CF64; n is the mode size of the sites.
/// @param      count        number of sites.
/// @param[in]  sites        their numbers, 0 to d - 1.
/// @param      values       `count` elements on the host, of CF64, or of F64 for the real parts.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_rayleigh, `values` being written where one of them is NaN or beyond the range of F64;
/// `PURLIN_ERROR_INVALID_ARGUMENT` also for a site out of range and dimensions. A `workspace_limit` below the need of
/// the environments of all bonds is refused with the bytes needed.
///
/// # Safety
/// `sites` is NULL or valid for `count` elements, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_expect_local(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    op: *const purlin_tensor,
    count: i64,
    sites: *const i64,
    values: *mut purlin_tensor,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        let op = tensor::input("op", op)?;
        let mut values = tensor::output("values", values)?;
        let count = shape::length("count", count, 0)?;
        overlap::check(&[Range::of("op", &op)], &[Range::of("values", &values)])?;
        overlap::check_many(&tt::ranges("x", &x)?, &[Range::of("values", &values)])?;
        let mut wanted = alloc::with_capacity("sites of an operator", count)?;
        if count > 0 {
            // SAFETY: as promised above.
            for (k, &site) in unsafe { list("sites", count, sites) }?.iter().enumerate() {
                wanted.push(shape::index_in_list("sites", k, site, x.shape().len())?);
            }
        }
        values.expect_dims("values", &[count])?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let matrix = site_matrix::from_tensor("op", &op)?;
        let found = object.run(|report| contraction.expect_local(stream.as_deref(), &x, &matrix, &wanted, report))?;
        write_numbers("values", &[count], &found.values, &mut values)?;
        // SAFETY: as above.
        unsafe { object.store_report(info, &found.info) }?;
        check_quotients(found.info.outcome)
    })
}

/// Correlations <x|A_k B_l|x> / <x|x> of two operators at all pairs of sites; where k = l the product A B stands at
/// the site. O(d^2 (n r^3 + n^2 r^2)) for an open train.
///
/// @param      contraction  the contraction, as for purlin_tt_expect_local.
/// @param      stream       NULL for the context's own.
/// @param      x            the train, on the host or the context's device, all of whose mode sizes are n.
/// @param      a            the operator A, n x n, as for purlin_tt_expect_local.
/// @param      b            the operator B, likewise; may be `a`, and then half the work is saved.
/// @param      values       d x d on the host, of CF64, or of F64 for the real parts: element (k, l) is that of A_k B_l.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_expect_local.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_correlation(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    a: *const purlin_tensor,
    b: *const purlin_tensor,
    values: *mut purlin_tensor,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        let (a, b) = (tensor::input("a", a)?, tensor::input("b", b)?);
        let mut values = tensor::output("values", values)?;
        overlap::check(&[Range::of("a", &a), Range::of("b", &b)], &[Range::of("values", &values)])?;
        overlap::check_many(&tt::ranges("x", &x)?, &[Range::of("values", &values)])?;
        let d = x.shape().len();
        values.expect_dims("values", &[d, d])?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let (left, right) = (site_matrix::from_tensor("a", &a)?, site_matrix::from_tensor("b", &b)?);
        let found = object.run(|report| contraction.correlation(stream.as_deref(), &x, &left, &right, report))?;
        write_numbers("values", &[d, d], &found.values, &mut values)?;
        // SAFETY: as above.
        unsafe { object.store_report(info, &found.info) }?;
        check_quotients(found.info.outcome)
    })
}
