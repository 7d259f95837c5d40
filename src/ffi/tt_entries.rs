//! Trains that are made of nothing, and entries of trains.

use super::overlap::{self, Range};
use super::pointer::{complex_output, list};
use super::tensor::{self, purlin_dtype, purlin_location, purlin_tensor};
use super::tt::{self, purlin_tt, shape_of};
use super::tt_algebra::beside;
use super::tt_cores::read_sizes;
use super::tt_expect::write_numbers;
use super::tt_inner::check_outcome;
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::{DType, with_scalar};
use crate::shape::{self, Order};
use crate::tt::algebra::{self, Place, create};

/// A train of given mode sizes and ranks with normally distributed cores, such that the squared norm is 1 in the mean.
/// The same seed gives the same train on every backend. O(n r^2) a site.
///
/// @param      context   the context it belongs to.
/// @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      location  PURLIN_HOST or PURLIN_DEVICE.
/// @param      length    number of cores d, at least 1.
/// @param[in]  modes     d mode sizes, at least 1.
/// @param[in]  ranks     d + 1 ranks, at least 1, the first equal to the last.
/// @param      seed      seed of the numbers.
/// @param[out] tt        the train; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_create, and `PURLIN_ERROR_CANCELLED`.
///
/// # Safety
/// `modes` is NULL or valid for `length` elements, `ranks` for `length + 1`; `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_random(
    context: *const purlin_context,
    dtype: purlin_dtype,
    location: purlin_location,
    length: i64,
    modes: *const i64,
    ranks: *const i64,
    seed: u64,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        let location = tensor::location(location, 0)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: as promised above.
        let shape = unsafe { shape_of("ranks", length, modes, ranks) }?;
        tt::put(target, create::random(&Place::new(&context, None, location), dtype, shape, seed)?)
    })
}

/// A train of rank 1 whose entries are all 0.
///
/// @param      context   the context it belongs to.
/// @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      location  PURLIN_HOST or PURLIN_DEVICE.
/// @param      length    number of cores d, at least 1.
/// @param[in]  modes     d mode sizes, at least 1.
/// @param[out] tt        the train; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_create, and `PURLIN_ERROR_CANCELLED`.
///
/// # Safety
/// `modes` is NULL or valid for `length` elements; `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_zeros(
    context: *const purlin_context,
    dtype: purlin_dtype,
    location: purlin_location,
    length: i64,
    modes: *const i64,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        let location = tensor::location(location, 0)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: as promised above.
        let modes = unsafe { read_sizes("modes", length, 0, modes) }?;
        tt::put(target, create::zeros(&Place::new(&context, None, location), dtype, &modes)?)
    })
}

/// A train of rank 1 whose entries are all 1.
///
/// @param      context   the context it belongs to.
/// @param      dtype     PURLIN_F32, PURLIN_F64, PURLIN_CF32 or PURLIN_CF64.
/// @param      location  PURLIN_HOST or PURLIN_DEVICE.
/// @param      length    number of cores d, at least 1.
/// @param[in]  modes     d mode sizes, at least 1.
/// @param[out] tt        the train; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_create, and `PURLIN_ERROR_CANCELLED`.
///
/// # Safety
/// `modes` is NULL or valid for `length` elements; `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_ones(
    context: *const purlin_context,
    dtype: purlin_dtype,
    location: purlin_location,
    length: i64,
    modes: *const i64,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let dtype = DType::from_code("dtype", dtype)?;
        let location = tensor::location(location, 0)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: as promised above.
        let modes = unsafe { read_sizes("modes", length, 0, modes) }?;
        tt::put(target, create::ones(&Place::new(&context, None, location), dtype, &modes)?)
    })
}

/// A product state: the train of rank 1 whose entry at (i, j, ..) is v_0[i] v_1[j] and so on. O(n) a site.
///
/// @param      context   the context it belongs to.
/// @param      length    number of cores d, at least 1.
/// @param[in]  modes     d mode sizes, at least 1.
/// @param      vectors   the vectors one after another, on the host, packed: as many elements as the mode sizes together;
///                       of the type that the train has, F32, F64, CF32 or CF64.
/// @param[out] tt        the train, on the host; destroy it with purlin_tt_destroy.
/// @return as purlin_tt_create, and `PURLIN_ERROR_INVALID_ARGUMENT` for `vectors`.
///
/// # Safety
/// `modes` is NULL or valid for `length` elements; `tt` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_product_state(
    context: *const purlin_context,
    length: i64,
    modes: *const i64,
    vectors: *const purlin_tensor,
    tt: *mut *mut purlin_tt,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("tt", tt) }?;
        // SAFETY: as promised above.
        let modes = unsafe { read_sizes("modes", length, 0, modes) }?;
        let vectors = tensor::input("vectors", vectors)?;
        if !vectors.layout().is_packed(Order::ColumnMajor) {
            return Err(Error::invalid("vectors", "is not packed"));
        }
        let train = with_scalar!(vectors.dtype(), "vectors", T => {
            let numbers = &vectors.view::<T>("vectors")?.data()[..vectors.layout().elements()];
            create::product_state::<T>(&Place::host(&context), &modes, numbers)
        })?;
        tt::put(target, train)
    })
}

/// The caller's index tuples for `modes`, one after another; one of them if it `is_alone`.
fn tuples(given: &[i64], modes: &[usize], is_alone: bool) -> Result<Vec<usize>> {
    let mut index = alloc::with_capacity("index tuples", given.len())?;
    for (t, tuple) in given.chunks_exact(modes.len().max(1)).enumerate() {
        for (k, (&i, &n)) in tuple.iter().zip(modes).enumerate() {
            index.push(if is_alone {
                shape::index_in_list("indices", k, i, n)?
            } else {
                shape::index_in_tuple("indices", (t, k), i, n)?
            });
        }
    }
    Ok(index)
}

/// An entry of the tensor that a train stands for. O(r^2) a site of an open train.
///
/// @param      context  the context of the train.
/// @param      stream   NULL for the context's own.
/// @param      x        the train.
/// @param[in]  indices  d indices, from 0.
/// @param[out] result   2 elements: real and imaginary part, in the precision of the train.
/// @return as purlin_tt_add, and `PURLIN_ERROR_INVALID_ARGUMENT` for an index that there is not;
/// `PURLIN_ERROR_NUMERICAL` as purlin_tt_inner.
///
/// # Safety
/// `indices` is NULL or valid for d elements, `result` NULL or valid for 2.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_element(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    indices: *const i64,
    result: *mut f64,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        // SAFETY: as promised above.
        let result = unsafe { complex_output("result", result) }?;
        // SAFETY: as promised above.
        let index = tuples(unsafe { list("indices", x.shape().len(), indices) }?, x.shape().modes(), true)?;
        let found = algebra::element(&beside(&context, stream.as_deref(), &x), &x, &index)?;
        let (value, outcome) = found.plain(x.dtype());
        *result = [value.re, value.im];
        check_outcome(outcome, "a train scaled by purlin_tt_scale")
    })
}

/// Entries of the tensor that a train stands for. Tuples that begin alike share that part of the work. O(r^2) a site
/// of each, in an open train, without such beginnings.
///
/// @param      context  the context of the train.
/// @param      stream   NULL for the context's own.
/// @param      x        the train.
/// @param      count    number of entries.
/// @param[in]  indices  `count` tuples of d indices from 0, one after another.
/// @param      values   `count` elements on the host, of CF64, or of F64 for the real parts; infinite or 0 where an entry is
///                      beyond their range.
/// @return as purlin_tt_element, without `PURLIN_ERROR_NUMERICAL`.
///
/// # Safety
/// `indices` is NULL or valid for d `count` elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_elements(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    count: i64,
    indices: *const i64,
    values: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        let mut values = tensor::output("values", values)?;
        let count = shape::size("count", count, 0)?;
        overlap::check_many(&tt::ranges("x", &x)?, &[Range::of("values", &values)])?;
        let numbers = shape::product("count", count, x.shape().len())?;
        let tuples = match count {
            0 => Vec::new(),
            // SAFETY: as promised above.
            _ => tuples(unsafe { list("indices", numbers, indices) }?, x.shape().modes(), false)?,
        };
        values.expect_dims("values", &[count])?;
        let found = algebra::elements(&beside(&context, stream.as_deref(), &x), &x, &tuples)?;
        let mut plain = alloc::with_capacity("entries of a train", found.len())?;
        plain.extend(found.iter().map(|s| s.plain(DType::CF64).0));
        write_numbers("values", &[count], &plain, &mut values)
    })
}

/// The dense tensor that a train stands for. O(N r) for N elements, where r is the rank in the middle of an open
/// train. Entries whose ratio to the largest one is below the range of the type may be 0: purlin_tt_elements has an
/// exponent for each entry.
///
/// @param context  the context of both.
/// @param stream   NULL for the context's own.
/// @param x        the train.
/// @param values   of the mode sizes as dimensions and of the train's element type, of any strides on the host (complete on
///                 return); or packed, of as many elements in other dimensions.
/// @return as purlin_tt_add, and `PURLIN_ERROR_INVALID_ARGUMENT` for sizes, type, more than 2^31 elements, overlap;
/// `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory; a train on the device and a stream that is being captured);
/// `PURLIN_ERROR_NUMERICAL` (halves of the train beyond the range of the type).
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_full(
    context: *const purlin_context,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    values: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        let mut values = tensor::output("values", values)?;
        overlap::check_many(&tt::ranges("x", &x)?, &[Range::of("values", &values)])?;
        algebra::full(&beside(&context, stream.as_deref(), &x), &x, &mut values, false)
            .map_err(|e| e.renamed("tensor", "values"))
    })
}
