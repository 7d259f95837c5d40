//! Truncation of tensor trains, and trains of dense tensors.

use super::options::{self, expect_zero, flag, versioned};
use super::overlap::{self, Range};
use super::tensor::{self, purlin_tensor};
use super::tt::{self, purlin_tt};
use super::tt_algebra::beside;
use super::tt_cores::read_sizes;
use super::tt_matrix::{self, purlin_tt_matrix};
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::alloc;
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::{self, to_i64};
use crate::tensor::train::TensorTrain;
use crate::tensor::{Location, Tensor};
use crate::tt::algebra::{self, Place, Truncated, Truncation};

/// How a train is truncated.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_tt_round_options {
    /// Size of the caller's struct; set by purlin_tt_round_options_init.
    pub struct_size: usize,
    /// The error that may be made, ||A - TT||_F <= epsilon ||A||_F; 0, the default, drops rounding noise alone.
    pub epsilon: f64,
    /// Largest rank; 0, the default, for any. The error may then exceed `epsilon`.
    pub max_rank: i64,
    /// 1: `epsilon` is the error itself and not relative to the norm; default 0. Refused where `epsilon` is 0: rounding noise
    /// is relative to the norm.
    pub absolute: i32,
    /// Must be 0: kept for later fields.
    pub reserved: i32,
}

versioned!(purlin_tt_round_options, first = size_of::<Self>());

/// Report of a truncation, of one train or tensor.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_tt_round_info {
    /// Size of the caller's struct; set by purlin_tt_round_info_init.
    pub struct_size: usize,
    /// Bound of the error over the norm: the root of the sum of the squares of all that was dropped.
    pub error: f64,
    /// Natural logarithm of the Frobenius norm of the train or tensor before the truncation.
    pub log_norm: f64,
    /// Largest rank of the result.
    pub max_rank: i64,
}

versioned!(purlin_tt_round_info, first = size_of::<Self>());

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
pub unsafe extern "C" fn purlin_tt_round_options_init(
    options: *mut purlin_tt_round_options,
    size: usize,
) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// Sets `struct_size` and zeroes the rest.
///
/// @param[out] info  the struct.
/// @param      size  `sizeof *info`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `info` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_round_info_init(info: *mut purlin_tt_round_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// A caller's options.
///
/// # Safety
/// `options` is NULL or initialized.
unsafe fn truncation(options: *const purlin_tt_round_options) -> Result<Truncation<'static>> {
    // SAFETY: as promised by the caller.
    let o = unsafe { options::read("options", options) }?;
    expect_zero("reserved", o.reserved)?;
    let (absolute, max_rank) = (flag("absolute", o.absolute)?, shape::size("max_rank", o.max_rank, 0)?);
    Ok(Truncation { epsilon: o.epsilon, absolute, max_rank, max_ranks: &[] })
}

/// Writes the parts that were dropped at each bond, if they are wanted.
fn write_discarded(done: &Truncated, target: Option<&mut Tensor>) -> Result<()> {
    let Some(target) = target else { return Ok(()) };
    target.expect_dims("discarded", &[done.discarded.len()])?;
    target.set_first("discarded", &done.discarded)
}

/// Refuses a tensor for the dropped parts that they do not fit, before the work is done.
fn expect_discarded(target: Option<&Tensor>, d: usize) -> Result<()> {
    let Some(target) = target else { return Ok(()) };
    target.expect_dims("discarded", &[d - 1])?;
    target.expect_dtype("discarded", DType::F64)?;
    target.check_writable("discarded")
}

fn report(done: &Truncated, train: &TensorTrain) -> purlin_tt_round_info {
    purlin_tt_round_info {
        struct_size: 0,
        error: done.error,
        log_norm: done.norm.log_abs(),
        max_rank: to_i64(train.shape().max_rank()),
    }
}

/// The train of smallest ranks within an error of a given one: orthonormal from the right, truncated from the left
/// (Oseledets, SIAM J. Sci. Comput. 33, 2295, 2011). O(n r^3) a site.
///
/// @param      context    the context of the train.
/// @param      stream     NULL for the context's own.
/// @param      x          an open train; purlin_tt_to_open makes one of a ring.
/// @param      options    NULL for the defaults, which drop rounding noise alone.
/// @param[out] tt         the result, which lies where `x` does; destroy it with purlin_tt_destroy.
/// @param      discarded  d - 1 elements of F64 on the host: norm of the part dropped at each bond, over the norm of
///                        the input; may be NULL.
/// @param[out] info       report of the truncation; may be NULL.
/// @return as purlin_tt_add; `PURLIN_ERROR_NOT_SUPPORTED` (a ring; a train on the device and a stream that is being
/// captured), `PURLIN_ERROR_INVALID_ARGUMENT` also for options out of range and numbers that are not finite.
///
/// # Safety
/// `options` is NULL or initialized, `tt` is NULL or valid for writing, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_round(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    options: *const purlin_tt_round_options,
    tt: *mut *mut purlin_tt,
    discarded: *mut purlin_tensor,
    info: *mut purlin_tt_round_info,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        let mut discarded = tensor::output_or_null("discarded", discarded)?;
        expect_discarded(discarded.as_deref(), x.shape().len())?;
        let outputs = discarded.as_deref().map(|t| Range::of("discarded", t));
        overlap::check_many(&tt::ranges("x", &x)?, outputs.as_slice())?;
        // SAFETY: the caller promises NULL or initialized structs.
        let truncation = unsafe { truncation(options) }?;
        // SAFETY: as above.
        unsafe { options::check("info", info) }?;
        let (train, done) = algebra::round(&beside(&context, stream.as_deref(), &x), &x, &truncation)?;
        write_discarded(&done, discarded.as_deref_mut())?;
        // SAFETY: as above.
        unsafe { options::write("info", info, report(&done, &train)) }?;
        tt::put(target, train)
    })
}

/// The product entry by entry, truncated without its cores together in memory. Where its numbers are so far apart that
/// its bonds must be balanced, its cores are in memory together. O(n r^3 s^3) a site.
///
/// @param      context  the context of both.
/// @param      stream   NULL for the context's own.
/// @param      x        an open train.
/// @param      y        another of the same mode sizes and precision.
/// @param      options  NULL for the defaults, which drop rounding noise alone.
/// @param[out] tt       the result, which lies where `x` does; destroy it with purlin_tt_destroy.
/// @param[out] info     report of the truncation; may be NULL.
/// @return as purlin_tt_round.
///
/// # Safety
/// As for purlin_tt_round.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_hadamard_round(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    y: *const purlin_tt,
    options: *const purlin_tt_round_options,
    tt: *mut *mut purlin_tt,
    info: *mut purlin_tt_round_info,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let (x, y) = (tt::input("x", x)?, tt::input("y", y)?);
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: the caller promises NULL or initialized structs.
        let truncation = unsafe { truncation(options) }?;
        // SAFETY: as above.
        unsafe { options::check("info", info) }?;
        let (train, done) = algebra::hadamard_round(&beside(&context, stream.as_deref(), &x), &x, &y, &truncation)?;
        // SAFETY: as above.
        unsafe { options::write("info", info, report(&done, &train)) }?;
        tt::put(target, train)
    })
}

/// H x, truncated without its cores together in memory. Where its numbers are so far apart that its bonds must be
/// balanced, its cores are in memory together. O(n w^3 r^3 + n^2 w^2 r^2) a site, where `h` has the ranks w.
///
/// @param      context  the context of both.
/// @param      stream   NULL for the context's own.
/// @param      h        the operator.
/// @param      x        a train whose mode sizes are the columns of `h`.
/// @param      options  NULL for the defaults, which drop rounding noise alone.
/// @param[out] tt       the result, which lies where `x` does; destroy it with purlin_tt_destroy.
/// @param[out] info     report of the truncation; may be NULL.
/// @return as purlin_tt_round.
///
/// # Safety
/// As for purlin_tt_round.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_apply_round(
    context: *const purlin_context,
    stream: *const purlin_stream,
    h: *const purlin_tt_matrix,
    x: *const purlin_tt,
    options: *const purlin_tt_round_options,
    tt: *mut *mut purlin_tt,
    info: *mut purlin_tt_round_info,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let (h, x) = (tt_matrix::input("h", h)?, tt::input("x", x)?);
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: the caller promises NULL or initialized structs.
        let truncation = unsafe { truncation(options) }?;
        // SAFETY: as above.
        unsafe { options::check("info", info) }?;
        let (train, done) = algebra::apply_round(&beside(&context, stream.as_deref(), &x), &h, &x, &truncation)?;
        // SAFETY: as above.
        unsafe { options::write("info", info, report(&done, &train)) }?;
        tt::put(target, train)
    })
}

/// The train of a dense tensor, of the smallest ranks that the options allow. Bond k costs O(r n) operations for each
/// element that is left there: all elements at the first bond, r/n of the last bond's at each later one.
///
/// @param      context    the context of the tensor.
/// @param      stream     NULL for the context's own.
/// @param      values     the tensor: F32, F64, CF32 or CF64, of any strides on the host, packed on a device.
/// @param      length     number of cores d; 0: the tensor's own dimensions are the mode sizes.
/// @param[in]  modes      d mode sizes of as many elements together, the first index fastest; NULL where `length` is 0.
/// @param      options    NULL for the defaults, which drop rounding noise alone.
/// @param[out] tt         the train, which lies where `values` does; destroy it with purlin_tt_destroy.
/// @param      discarded  d - 1 elements of F64 on the host: norm of the part dropped at each bond, over the norm of
///                        the input; may be NULL.
/// @param[out] info       report of the truncation; may be NULL.
/// @return as purlin_tt_round, but `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory);
/// `PURLIN_ERROR_INVALID_ARGUMENT` also for the type, no elements, and mode sizes of another product.
///
/// # Safety
/// As for purlin_tt_round; `modes` is NULL or valid for `length` elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_svd(
    context: *const purlin_context,
    stream: *const purlin_stream,
    values: *const purlin_tensor,
    length: i64,
    modes: *const i64,
    options: *const purlin_tt_round_options,
    tt: *mut *mut purlin_tt,
    discarded: *mut purlin_tensor,
    info: *mut purlin_tt_round_info,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let values = tensor::input("values", values)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        let mut discarded = tensor::output_or_null("discarded", discarded)?;
        let outputs = discarded.as_deref().map(|t| Range::of("discarded", t));
        overlap::check(&[Range::of("values", &values)], outputs.as_slice())?;
        let modes = match length {
            0 => alloc::copied("mode sizes", values.dims())?,
            // SAFETY: as promised above.
            length => unsafe { read_sizes("modes", length, 0, modes) }?,
        };
        expect_discarded(discarded.as_deref(), modes.len().max(1))?;
        // SAFETY: the caller promises NULL or initialized structs.
        let truncation = unsafe { truncation(options) }?;
        // SAFETY: as above.
        unsafe { options::check("info", info) }?;
        let location = if values.is_device() { Location::Device } else { Location::Host };
        let place = Place::new(&context, stream.as_deref(), location);
        let (train, done) =
            algebra::tt_svd(&place, &values, Some(&modes), &truncation).map_err(|e| e.renamed("tensor", "values"))?;
        write_discarded(&done, discarded.as_deref_mut())?;
        // SAFETY: as above.
        unsafe { options::write("info", info, report(&done, &train)) }?;
        tt::put(target, train)
    })
}
