//! Inner products, norms and distances of tensor trains.

use super::options;
use super::pointer::complex_output;
use super::stream;
use super::tt::{self, purlin_tt};
use super::tt_contraction::{ContractionObject, purlin_tt_contraction};
use super::tt_types::{purlin_tt_contraction_info, purlin_tt_contraction_options, purlin_tt_scaled};
use super::{guard, purlin_context, purlin_status, purlin_stream};
use crate::error::{Error, Result};
use crate::progress::ProgressFn;
use crate::scalar::Complex;
use crate::stream::Stream;
use crate::tensor::train::TensorTrain;
use crate::tt::info::{Info, Outcome};
use crate::tt::once::Once;
use crate::tt::{Contraction, Scaled};

/// Hands over a plain result with its report, and says if it is not the number.
///
/// # Safety
/// `info` is NULL or an initialized struct.
pub(super) unsafe fn hand_over(
    object: &ContractionObject,
    result: &mut [f64; 2],
    value: Complex<f64>,
    info: *mut purlin_tt_contraction_info,
    done: &Info,
    scaled: &str,
) -> Result<()> {
    *result = [value.re, value.im];
    // SAFETY: as promised by the caller.
    unsafe { object.store_report(info, done) }?;
    check_outcome(done.outcome, scaled)
}

/// Refuses a plain result that is not the number. `scaled` has it with an exponent of its own.
pub(super) fn check_outcome(outcome: Outcome, scaled: &str) -> Result<()> {
    match outcome {
        Outcome::Ok => Ok(()),
        Outcome::NonFinite => Err(Error::Numerical(
            "the result is NaN: a core or an operator is not finite, or with scaling NEVER a number left its range"
                .into(),
        )),
        Outcome::Overflow => Err(beyond("is beyond the range of its type", scaled)),
        Outcome::Underflow => Err(beyond("is not 0, but too small for its type", scaled)),
    }
}

fn beyond(problem: &str, scaled: &str) -> Error {
    Error::Numerical(format!("the result {problem}; {scaled} gives its mantissa and exponent"))
}

/// Refuses quotients if one has no value in F64; an underflow is accepted. There is no scaled form of them.
pub(super) fn check_quotients(outcome: Outcome) -> Result<()> {
    match outcome {
        Outcome::Overflow => Err(Error::Numerical("values: one is beyond the range of F64".into())),
        Outcome::Underflow => Ok(()),
        other => check_outcome(other, ""),
    }
}

/// # Safety
/// As [`purlin_tt_inner`].
unsafe fn inner(
    object: &ContractionObject,
    contraction: &mut Contraction,
    stream: *const purlin_stream,
    (x, y): (*const purlin_tt, *const purlin_tt),
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
    once: Option<Once>,
) -> Result<()> {
    let stream = stream::get(stream)?;
    let (x, y) = (tt::input("x", x)?, tt::input("y", y)?);
    // SAFETY: as promised above.
    let result = unsafe { complex_output("result", result) }?;
    // SAFETY: the caller promises NULL or an initialized struct.
    unsafe { options::check("info", info) }?;
    once.map_or(Ok(()), |call| contraction.expect_used(call, &[&x, &y]))?;
    let (value, done) = object.run(|report| contraction.inner(stream.as_deref(), &x, &y, report))?;
    // SAFETY: the caller promises NULL or an initialized struct.
    unsafe { hand_over(object, result, value, info, &done, "purlin_tt_inner_scaled") }
}

/// # Safety
/// As [`purlin_tt_norm`].
unsafe fn norm(
    object: &ContractionObject,
    contraction: &mut Contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
    once: Option<Once>,
) -> Result<()> {
    let stream = stream::get(stream)?;
    let x = tt::input("x", x)?;
    // SAFETY: the caller promises NULL or a place for the result.
    let result = unsafe { super::pointer::output("result", result) }?;
    // SAFETY: the caller promises NULL or an initialized struct.
    unsafe { options::check("info", info) }?;
    once.map_or(Ok(()), |call| contraction.expect_used(call, &[&x]))?;
    let (value, done) = object.run(|report| contraction.norm(stream.as_deref(), &x, report))?;
    *result = value;
    // SAFETY: the caller promises NULL or an initialized struct.
    unsafe { object.store_report(info, &done) }?;
    check_outcome(done.outcome, "purlin_tt_norm_scaled")
}

/// # Safety
/// As [`purlin_tt_distance`].
unsafe fn distance(
    object: &ContractionObject,
    contraction: &mut Contraction,
    stream: *const purlin_stream,
    (x, y): (*const purlin_tt, *const purlin_tt),
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
    once: Option<Once>,
) -> Result<()> {
    let stream = stream::get(stream)?;
    let (x, y) = (tt::input("x", x)?, tt::input("y", y)?);
    // SAFETY: the caller promises NULL or a place for the result.
    let result = unsafe { super::pointer::output("result", result) }?;
    // SAFETY: the caller promises NULL or an initialized struct.
    unsafe { options::check("info", info) }?;
    once.map_or(Ok(()), |call| contraction.expect_used(call, &[&x, &y]))?;
    let (value, done) = object.run(|report| contraction.distance(stream.as_deref(), &x, &y, report))?;
    *result = value;
    // SAFETY: the caller promises NULL or an initialized struct.
    unsafe { object.store_report(info, &done) }?;
    check_outcome(done.outcome, "purlin_tt_distance_scaled")
}

/// A scaled result of two trains, with its report.
///
/// # Safety
/// `result` is NULL or valid for writing, `info` NULL or an initialized struct.
unsafe fn scaled(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    (x, y): (*const purlin_tt, *const purlin_tt),
    result: *mut purlin_tt_scaled,
    info: *mut purlin_tt_contraction_info,
    compute: impl FnOnce(
        &mut Contraction,
        Option<&Stream>,
        &TensorTrain,
        &TensorTrain,
        Option<&ProgressFn<'_>>,
    ) -> Result<(Scaled, Info)>,
) -> Result<()> {
    let (object, mut held) = ContractionObject::exclusive(contraction)?;
    let contraction = held.get();
    let stream = stream::get(stream)?;
    let (x, y) = (tt::input("x", x)?, tt::input("y", y)?);
    // SAFETY: the caller promises NULL or a place for the result.
    let result = unsafe { super::pointer::output("result", result) }?;
    // SAFETY: the caller promises NULL or an initialized struct.
    unsafe { options::check("info", info) }?;
    let (value, done) = object.run(|report| compute(contraction, stream.as_deref(), &x, &y, report))?;
    *result = value.into();
    // SAFETY: the caller promises NULL or an initialized struct.
    unsafe { object.store_report(info, &done) }
}

/// Inner product: the sum over all indices of conj(x[i]) y[i], the first factor conjugated unless the options say
/// PURLIN_TT_CONJ_NONE. O(n r s (r + s)) a site of open trains with ranks r and s; in a ring that for each pair of
/// boundary indices, where no cheaper method is chosen. purlin_tt_plan_inner counts the operations.
///
/// The trains have the same mode sizes and precision; each may be open or cyclic, real or complex. Trains in host memory
/// are copied to a GPU for the call.
///
/// @param      contraction  the contraction.
/// @param      stream       NULL for the context's own.
/// @param      x            the bra.
/// @param      y            the ket; may be `x`, and then half the work is saved.
/// @param[out] result       2 elements: real and imaginary part, in the precision of the trains; the second is 0 where
///                          both are real.
/// @param[out] info         report of the call; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (mode sizes: the message
/// names the core; precision, another context, a core that has not been set, options that do not fit the trains, NULL
/// pointer, struct_size; a `workspace_limit` that is too small: the message says how many bytes are needed),
/// `PURLIN_ERROR_NUMERICAL` (the number is beyond the range of the type: `result` is infinite, or 0, or NaN where a
/// core holds a number that is not finite, and `info` is filled in; purlin_tt_inner_scaled has no range),
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
/// `PURLIN_ERROR_CUDA`. After a failure the object is ready for another call.
///
/// # Safety
/// `result` is NULL or valid for 2 elements, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_inner(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    y: *const purlin_tt,
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        // SAFETY: as promised above.
        unsafe { inner(&object, held.get(), stream, (x, y), result, info, None) }
    })
}

/// purlin_tt_inner without an object: makes a contraction, computes the product, and destroys it. Options that have
/// no effect on this call of these trains are refused; an object keeps them for its other calls.
///
/// @param      context  the context of all trains.
/// @param      stream   NULL for the context's own.
/// @param      x        the bra.
/// @param      y        the ket; may be `x`.
/// @param      options  NULL for the defaults.
/// @param[out] result   as purlin_tt_inner.
/// @param[out] info     report of the call; may be NULL.
/// @return as purlin_tt_contraction_create and purlin_tt_inner, and INVALID_ARGUMENT for options without effect.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs, `result` is NULL or valid for 2 elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_inner_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    y: *const purlin_tt,
    options: *const purlin_tt_contraction_options,
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or an initialized struct.
        let object = unsafe { ContractionObject::new(context, options) }?;
        // SAFETY: as promised above.
        unsafe { inner(&object, object.lock()?.get(), stream, (x, y), result, info, Some(Once::Inner)) }
    })
}

/// purlin_tt_inner with an exponent of its own, which no train exceeds.
///
/// @param      contraction  the contraction.
/// @param      stream       NULL for the context's own.
/// @param      x            the bra.
/// @param      y            the ket; may be `x`.
/// @param[out] result       mantissa and exponent, logarithm and phase; the mantissa is NaN where a core holds a number
///                          that is not finite; info.outcome is then NONFINITE.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_inner, without `PURLIN_ERROR_NUMERICAL`.
///
/// # Safety
/// `result` is NULL or valid for writing, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_inner_scaled(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    y: *const purlin_tt,
    result: *mut purlin_tt_scaled,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: as promised above.
        unsafe { scaled(contraction, stream, (x, y), result, info, Contraction::inner_scaled) }
    })
}

/// Norm: the square root of the inner product of a train with itself. O(n r^3) a site of an open train, as
/// purlin_tt_inner of `x` with itself.
///
/// @param      contraction  the contraction; `norm_method` says how, and nothing but the bra is ever conjugated.
/// @param      stream       NULL for the context's own.
/// @param      x            the train.
/// @param[out] result       the norm, real and not negative.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_inner.
///
/// # Safety
/// `result` is NULL or valid for writing, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_norm(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        // SAFETY: as promised above.
        unsafe { norm(&object, held.get(), stream, x, result, info, None) }
    })
}

/// purlin_tt_norm without an object: makes a contraction, computes the norm, and destroys it. Options that have
/// no effect on this call of these trains are refused; an object keeps them for its other calls.
///
/// @param      context  the context of all trains.
/// @param      stream   NULL for the context's own.
/// @param      x        the train.
/// @param      options  NULL for the defaults.
/// @param[out] result   as purlin_tt_norm.
/// @param[out] info     report of the call; may be NULL.
/// @return as purlin_tt_contraction_create and purlin_tt_norm, and INVALID_ARGUMENT for options without effect.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs, `result` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_norm_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    options: *const purlin_tt_contraction_options,
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or an initialized struct.
        let object = unsafe { ContractionObject::new(context, options) }?;
        // SAFETY: as promised above.
        unsafe { norm(&object, object.lock()?.get(), stream, x, result, info, Some(Once::Norm)) }
    })
}

/// purlin_tt_norm with an exponent of its own; `log_abs` of the result is the logarithm of the norm.
///
/// @param      contraction  the contraction.
/// @param      stream       NULL for the context's own.
/// @param      x            the train.
/// @param[out] result       mantissa and exponent, logarithm and phase, as purlin_tt_inner_scaled.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_inner_scaled.
///
/// # Safety
/// `result` is NULL or valid for writing, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_norm_scaled(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    result: *mut purlin_tt_scaled,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        // SAFETY: the caller promises NULL or a place for the result.
        let result = unsafe { super::pointer::output("result", result) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let (value, done) = object.run(|report| contraction.norm_scaled(stream.as_deref(), &x, report))?;
        *result = value.into();
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { object.store_report(info, &done) }
    })
}

/// Distance: the norm of x - y, by QR factors of the difference, so that it keeps its digits where the trains nearly
/// agree. From inner products, half of them would be lost. O(n (r + s)^3) a site of open trains.
///
/// @param      contraction  the contraction.
/// @param      stream       NULL for the context's own.
/// @param      x            a train.
/// @param      y            another of the same mode sizes and precision.
/// @param[out] result       the distance, not negative.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_inner.
///
/// # Safety
/// `result` is NULL or valid for writing, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_distance(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    y: *const purlin_tt,
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        // SAFETY: as promised above.
        unsafe { distance(&object, held.get(), stream, (x, y), result, info, None) }
    })
}

/// purlin_tt_distance without an object: makes a contraction, computes the distance, and destroys it. Options that have
/// no effect on this call of these trains are refused; an object keeps them for its other calls.
///
/// @param      context  the context of all trains.
/// @param      stream   NULL for the context's own.
/// @param      x        the one train.
/// @param      y        the other.
/// @param      options  NULL for the defaults.
/// @param[out] result   as purlin_tt_distance.
/// @param[out] info     report of the call; may be NULL.
/// @return as purlin_tt_contraction_create and purlin_tt_distance, and INVALID_ARGUMENT for options without effect.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs, `result` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_distance_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    y: *const purlin_tt,
    options: *const purlin_tt_contraction_options,
    result: *mut f64,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or an initialized struct.
        let object = unsafe { ContractionObject::new(context, options) }?;
        // SAFETY: as promised above.
        unsafe { distance(&object, object.lock()?.get(), stream, (x, y), result, info, Some(Once::Distance)) }
    })
}

/// purlin_tt_distance with an exponent of its own.
///
/// @param      contraction  the contraction.
/// @param      stream       NULL for the context's own.
/// @param      x            a train.
/// @param      y            another of the same mode sizes and precision.
/// @param[out] result       mantissa and exponent, logarithm and phase, as purlin_tt_inner_scaled.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_inner_scaled.
///
/// # Safety
/// `result` is NULL or valid for writing, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_distance_scaled(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    y: *const purlin_tt,
    result: *mut purlin_tt_scaled,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: as promised above.
        unsafe { scaled(contraction, stream, (x, y), result, info, Contraction::distance_scaled) }
    })
}
