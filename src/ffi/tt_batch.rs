//! Inner products of many tensor trains in one call.

use std::sync::Arc;

use super::handle::{self, Shared};
use super::options;
use super::overlap::{self, Range};
use super::pointer::list;
use super::stream;
use super::tensor::{self, purlin_tensor};
use super::tt::{self, purlin_tt};
use super::tt_contraction::{ContractionObject, purlin_tt_contraction};
use super::tt_expect::write_numbers;
use super::tt_inner::check_outcome;
use super::tt_types::purlin_tt_contraction_info;
use super::{guard, purlin_status, purlin_stream};
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType};
use crate::shape;
use crate::tensor::Tensor;
use crate::tensor::train::TensorTrain;
use crate::tt::batch;
use crate::tt::info::{Info, Outcome};
use crate::tt::scaled::Scaled;

const WHAT: &str = "trains of a batch";

/// A caller's list of trains, locked.
///
/// # Safety
/// `trains` is NULL or valid for `count` handles.
pub(super) unsafe fn lock(
    argument: &str,
    count: usize,
    trains: *const *const purlin_tt,
) -> Result<Vec<Shared<TensorTrain>>> {
    if count == 0 {
        return alloc::with_capacity(WHAT, 0);
    }
    // SAFETY: as promised by the caller.
    let handles = unsafe { list(argument, count, trains) }?;
    let refused = |k: usize| -> Error {
        let name = format!("{argument}[{k}]");
        let why = handles.get(k).and_then(|&handle| tt::input(&name, handle).err());
        // A train that was in use a moment ago may be free again.
        why.unwrap_or(Error::Busy { argument: name })
    };
    let locked = handle::shared_all::<TensorTrain, _>(WHAT, handles)?.map_err(refused)?;
    let mut before: Option<&Arc<Context>> = None;
    for (k, train) in locked.iter().enumerate() {
        if before.is_none_or(|context| !Arc::ptr_eq(context, train.context())) {
            train.context().check_alive().map_err(|_| refused(k))?;
            before = Some(train.context());
        }
    }
    Ok(locked)
}

pub(super) fn references(trains: &[Shared<TensorTrain>]) -> Result<Vec<&TensorTrain>> {
    let mut references = alloc::with_capacity(WHAT, trains.len())?;
    references.extend(trains.iter().map(|train| &**train));
    Ok(references)
}

/// Refuses outputs of other sizes or types, or that overlap a train.
fn expect_outputs(
    dims: &[usize],
    trains: &[&[Shared<TensorTrain>]],
    values: &Tensor,
    exponents: Option<&Tensor>,
) -> Result<()> {
    values.expect_dims("values", dims)?;
    values.check_writable("values")?;
    if values.dtype() != DType::CF64 {
        values.expect_dtype("values", DType::F64)?;
    }
    let mut outputs = alloc::with_capacity(WHAT, 2)?;
    outputs.push(Range::of("values", values));
    if let Some(exponents) = exponents {
        exponents.expect_dims("exponents", dims)?;
        exponents.expect_dtype("exponents", DType::I64)?;
        exponents.check_writable("exponents")?;
        outputs.push(Range::of("exponents", exponents));
    }
    overlap::check(&[], &outputs)?;
    // The outputs are on the host.
    for train in trains.iter().flat_map(|list| list.iter()).filter(|train| !train.is_device()) {
        overlap::check_many(&tt::ranges("x", train)?, &outputs)?;
    }
    Ok(())
}

/// Writes the mantissas and exponents of sums.
fn write_scaled(dims: &[usize], sums: &[Scaled], values: &mut Tensor, exponents: &mut Tensor) -> Result<()> {
    let mut mantissas = alloc::with_capacity(WHAT, sums.len())?;
    mantissas.extend(sums.iter().map(|sum| sum.mantissa));
    write_numbers("values", dims, &mantissas, values)?;
    exponents.view_mut::<i64>("exponents")?.write_all(sums.iter().map(|sum| sum.exponent));
    Ok(())
}

/// Writes plain numbers and their report. The worst outcome decides the error.
///
/// # Safety
/// `info` is NULL or an initialized struct.
unsafe fn hand_over_plain(
    object: &ContractionObject,
    dims: &[usize],
    (numbers, outcome): (Vec<Complex<f64>>, Outcome),
    values: &mut Tensor,
    info: *mut purlin_tt_contraction_info,
    done: Info,
) -> Result<()> {
    write_numbers("values", dims, &numbers, values)?;
    // SAFETY: as promised by the caller.
    unsafe { object.store_report(info, &Info { outcome, ..done }) }?;
    check_outcome(outcome, "a call with exponents")
}

/// Inner products of pairs of trains in one call: far faster than a call each where the trains are small. Their shapes
/// may differ from pair to pair. The operations are those of purlin_tt_inner for each pair.
///
/// @param      contraction  the contraction.
/// @param      stream       NULL for the context's own.
/// @param      count        number of pairs; 0 does nothing.
/// @param[in]  x            `count` bras.
/// @param[in]  y            `count` kets.
/// @param      values       `count` elements on the host, of CF64, or of F64 for the real parts; of mantissas where
///                          there are exponents.
/// @param      exponents    `count` elements of I64 on the host: each product is its mantissa times two to this power; NULL
///                          for plain numbers.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_inner; messages name the pair as in `x[3]`. `PURLIN_ERROR_NUMERICAL`: a plain number is NaN,
/// because a core holds a number that is not finite, or beyond the range of the trains' type, to which plain numbers
/// are rounded as those of purlin_tt_inner are; all the same `values` are written. With `exponents` the call succeeds,
/// the mantissa is NaN and info.outcome NONFINITE.
///
/// # Safety
/// `x` and `y` are NULL or valid for `count` handles, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_inner_batch(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    count: i64,
    x: *const *const purlin_tt,
    y: *const *const purlin_tt,
    values: *mut purlin_tensor,
    exponents: *mut purlin_tensor,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let stream = stream::get(stream)?;
        let count = shape::size("count", count, 0)?;
        // SAFETY: as promised above.
        let (x, y) = unsafe { (lock("x", count, x)?, lock("y", count, y)?) };
        let mut values = tensor::output("values", values)?;
        let mut exponents = tensor::output_or_null("exponents", exponents)?;
        expect_outputs(&[count], &[&x, &y], &values, exponents.as_deref())?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let mut sums = alloc::filled(WHAT, count, Scaled::ZERO)?;
        let (bras, kets) = (references(&x)?, references(&y)?);
        let done = object.run(|report| contraction.inner_batch(stream.as_deref(), &bras, &kets, &mut sums, report))?;
        let Some(exponents) = exponents.as_deref_mut() else {
            let plain = batch::plain_batch(&sums, &bras, &kets)?;
            // SAFETY: the caller promises NULL or an initialized struct.
            return unsafe { hand_over_plain(&object, &[count], plain, &mut values, info, done) };
        };
        write_scaled(&[count], &sums, &mut values, exponents)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { object.store_report(info, &done) }
    })
}

/// Gram matrix: element (i, j) is the inner product of x_i and y_j, each with the operations of purlin_tt_inner. Where
/// both lists are the same, half of the products are computed.
///
/// @param      contraction  the contraction.
/// @param      stream       NULL for the context's own.
/// @param      rows         number of bras.
/// @param[in]  x            the bras.
/// @param      cols         number of kets; not looked at where `y` is NULL.
/// @param[in]  y            the kets; NULL for `x`.
/// @param      values       rows x cols on the host, of CF64, or of F64 for the real parts; of mantissas where there are
///                          exponents.
/// @param      exponents    rows x cols of I64 on the host, as for purlin_tt_inner_batch; may be NULL.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_tt_inner_batch.
///
/// # Safety
/// `x` is NULL or valid for `rows` handles, `y` for `cols`, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_gram(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    rows: i64,
    x: *const *const purlin_tt,
    cols: i64,
    y: *const *const purlin_tt,
    values: *mut purlin_tensor,
    exponents: *mut purlin_tensor,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let stream = stream::get(stream)?;
        let rows = shape::size("rows", rows, 0)?;
        let (same, cols) = if y.is_null() { (true, rows) } else { (false, shape::size("cols", cols, 0)?) };
        // SAFETY: as promised above.
        let (x, y) = unsafe { (lock("x", rows, x)?, lock("y", if same { 0 } else { cols }, y)?) };
        let mut values = tensor::output("values", values)?;
        let mut exponents = tensor::output_or_null("exponents", exponents)?;
        expect_outputs(&[rows, cols], &[&x, &y], &values, exponents.as_deref())?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let mut sums = alloc::filled(WHAT, shape::product("values", rows, cols)?, Scaled::ZERO)?;
        let bras = references(&x)?;
        let kets = if same { references(&x)? } else { references(&y)? };
        let done = object.run(|report| contraction.gram(stream.as_deref(), &bras, &kets, &mut sums, report))?;
        let Some(exponents) = exponents.as_deref_mut() else {
            let plain = batch::plain_gram(&sums, &bras, &kets)?;
            // SAFETY: the caller promises NULL or an initialized struct.
            return unsafe { hand_over_plain(&object, &[rows, cols], plain, &mut values, info, done) };
        };
        write_scaled(&[rows, cols], &sums, &mut values, exponents)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { object.store_report(info, &done) }
    })
}
