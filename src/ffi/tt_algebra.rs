//! Algebra of tensor trains: results are new trains.

use std::sync::Arc;

use super::pointer::list;
use super::tensor::purlin_dtype;
use super::tt::{self, purlin_tt};
use super::tt_matrix::{self, purlin_tt_matrix};
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::context::Context;
use crate::error::Result;
use crate::scalar::{Complex, DType};
use crate::shape;
use crate::stream::Stream;
use crate::tensor::Location;
use crate::tensor::train::TensorTrain;
use crate::tt::algebra::{self, Place, Spread};
use crate::tt::scaled::Scaled;

/// Where the result of an operation on `x` goes: where `x` lies.
pub(super) fn beside<'a>(context: &'a Arc<Context>, stream: Option<&'a Stream>, x: &TensorTrain) -> Place<'a> {
    let location = if x.is_device() { Location::Device } else { Location::Host };
    Place::new(context, stream, location)
}

/// A caller's complex number.
///
/// # Safety
/// `number` is NULL or valid for 2 elements.
unsafe fn factor(argument: &str, number: *const f64) -> Result<Complex<f64>> {
    // SAFETY: as promised by the caller.
    let parts = unsafe { list(argument, 2, number) }?;
    Ok(Complex::new(parts[0], parts[1]))
}

/// alpha x + beta y, exactly: its ranks are the sums of those of x and y, but for the ends of open trains. The factors
/// go into the first core. O(n (r + s)^2) a site.
///
/// @param      context  the context of the trains.
/// @param      stream   NULL for the context's own.
/// @param[in]  alpha    2 elements: real and imaginary part; the latter is 0 for real trains.
/// @param      x        the train.
/// @param[in]  beta     likewise.
/// @param      y        a train of the same mode sizes and precision.
/// @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (precision, mode sizes; another
/// context, a core that has not been set, NULL pointer), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (by
/// purlin_context_cancel, at the next core), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
/// `PURLIN_ERROR_CUDA`. After a failure `tt` is as before.
///
/// # Safety
/// `alpha` and `beta` are NULL or valid for 2 elements, `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_add(
    context: *const purlin_context,
    stream: *const purlin_stream,
    alpha: *const f64,
    x: *const purlin_tt,
    beta: *const f64,
    y: *const purlin_tt,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let (x, y) = (tt::input("x", x)?, tt::input("y", y)?);
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: as promised above.
        let (alpha, beta) = unsafe { (factor("alpha", alpha)?, factor("beta", beta)?) };
        tt::put(target, algebra::add(&beside(&context, stream.as_deref(), &x), alpha, &x, beta, &y)?)
    })
}

/// factor 2^exponent x, for factors that may lie beyond the range of the type. O(n r^2) a site.
///
/// @param      context   the context of the trains.
/// @param      stream    NULL for the context's own.
/// @param      x         the train.
/// @param[in]  factor    2 elements: real and imaginary part; the latter is 0 for a real train.
/// @param      exponent  a power of two.
/// @param      spread    one of PURLIN_TT_SPREAD_*: which cores it goes to.
/// @param[out] tt        the result, which lies where the first train does; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_add. `PURLIN_ERROR_NUMERICAL`: the cores would leave the range of the type.
///
/// # Safety
/// `factor` is NULL or valid for 2 elements, `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_scale(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    factor: *const f64,
    exponent: i64,
    spread: i32,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: as promised above.
        let factor = Scaled::new(unsafe { self::factor("factor", factor) }?, exponent);
        let spread = Spread::from_code("spread", spread)?;
        tt::put(target, algebra::scale(&beside(&context, stream.as_deref(), &x), factor, &x, spread)?)
    })
}

/// The complex conjugate. O(n r^2) a site.
///
/// @param      context  the context of the trains.
/// @param      stream   NULL for the context's own.
/// @param      x        the train.
/// @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_add.
///
/// # Safety
/// `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_conj(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        tt::put(target, algebra::conj(&beside(&context, stream.as_deref(), &x), &x)?)
    })
}

/// The product entry by entry: ranks multiply. O(n r^2 s^2) a site.
///
/// @param      context  the context of the trains.
/// @param      stream   NULL for the context's own.
/// @param      x        the train.
/// @param      y        a train of the same mode sizes and precision.
/// @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_add.
///
/// # Safety
/// `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_hadamard(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    y: *const purlin_tt,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let (x, y) = (tt::input("x", x)?, tt::input("y", y)?);
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        tt::put(target, algebra::hadamard(&beside(&context, stream.as_deref(), &x), &x, &y)?)
    })
}

/// H x: ranks multiply. O(n^2 w^2 r^2) a site, where `h` has the ranks w.
///
/// @param      context  the context of the trains.
/// @param      stream   NULL for the context's own.
/// @param      h        the operator.
/// @param      x        a train whose mode sizes are the columns of `h`.
/// @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_add.
///
/// # Safety
/// `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_apply(
    context: *const purlin_context,
    stream: *const purlin_stream,
    h: *const purlin_tt_matrix,
    x: *const purlin_tt,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let (h, x) = (tt_matrix::input("h", h)?, tt::input("x", x)?);
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        tt::put(target, algebra::apply(&beside(&context, stream.as_deref(), &x), &h, &x)?)
    })
}

/// The train read backwards: entry (i, j, ..) is that of x at (.., j, i). O(n r^2) a site.
///
/// @param      context  the context of the trains.
/// @param      stream   NULL for the context's own.
/// @param      x        the train.
/// @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_add.
///
/// # Safety
/// `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_reverse(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        tt::put(target, algebra::reverse(&beside(&context, stream.as_deref(), &x), &x)?)
    })
}

/// The ring that begins with another core. Of an open train that is a ring too. O(n r^2) a site.
///
/// @param      context  the context of the trains.
/// @param      stream   NULL for the context's own.
/// @param      x        the train.
/// @param      first    the core that comes first, 0 to d - 1.
/// @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_add.
///
/// # Safety
/// `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_rotate(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    first: i64,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        let first = shape::index("first", first, x.shape().len())?;
        tt::put(target, algebra::rotate(&beside(&context, stream.as_deref(), &x), &x, first)?)
    })
}

/// The open train of a ring, exactly: the boundary index is carried along, so that ranks multiply by r_0. O(n r^2
/// r_0^2) a site.
///
/// @param      context  the context of the trains.
/// @param      stream   NULL for the context's own.
/// @param      x        the train.
/// @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_add.
///
/// # Safety
/// `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_to_open(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        tt::put(target, algebra::to_open(&beside(&context, stream.as_deref(), &x), &x)?)
    })
}

/// A copy of another type: of another precision, or complex for a real train. O(n r^2) a site.
///
/// Where single precision does not hold the largest number of a core, all cores get equal powers of two.
///
/// @param      context  the context of the trains.
/// @param      stream   NULL for the context's own.
/// @param      x        the train.
/// @param      dtype    PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param[out] tt       the result, which lies where the first train does; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_add. A complex train has no real copy.
///
/// # Safety
/// `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_cast(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    dtype: purlin_dtype,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        let dtype = DType::from_code("dtype", dtype)?;
        tt::put(target, algebra::cast(&beside(&context, stream.as_deref(), &x), &x, dtype)?)
    })
}

/// The train with orthonormal cores but for one: left of it they have orthonormal columns as (r n) x s matrices, right
/// of it orthonormal rows as r x (n s) ones, and the norm is that of the centre. Triangular factors have diagonals
/// that are not negative, so that the form is unique. Open trains alone. O(n r^3) a site.
///
/// @param      context   the context of the trains.
/// @param      stream    NULL for the context's own.
/// @param      x         the train.
/// @param      centre    the core that holds the norm, 0 to d - 1.
/// @param[out] exponent  the train is to be multiplied with two to this power; 0 unless the centre would leave the range of its type.
/// @param[out] tt        the result, which lies where the first train does; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_add. `PURLIN_ERROR_NOT_SUPPORTED`: a ring; a train on the device and a stream that is being
/// captured.
///
/// # Safety
/// `exponent` and `tt` are NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_canonicalize(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    centre: i64,
    exponent: *mut i64,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: the caller promises NULL or a valid pointer.
        let exponent = unsafe { super::pointer::output("exponent", exponent) }?;
        let centre = shape::index("centre", centre, x.shape().len())?;
        let found = algebra::canonicalize(&beside(&context, stream.as_deref(), &x), &x, centre)?;
        *exponent = found.exponent;
        tt::put(target, found.train)
    })
}
