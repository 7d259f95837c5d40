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
use crate::scalar::DType;
use crate::shape;
use crate::tensor::Tensor;
use crate::tensor::train::TensorTrain;
use crate::tt::batch;
use crate::tt::info::Outcome;
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

/// Writes sums as numbers, or as mantissas and exponents; says how the worst of them came out. `pair` gives the trains of
/// a sum.
fn write<'a>(
    dims: &[usize],
    sums: &[Scaled],
    pair: impl Fn(usize) -> (&'a TensorTrain, &'a TensorTrain),
    values: &mut Tensor,
    exponents: Option<&mut Tensor>,
) -> Result<Outcome> {
    let mut numbers = alloc::with_capacity(WHAT, sums.len())?;
    let mut outcome = Outcome::Ok;
    match exponents {
        None => {
            for (k, sum) in sums.iter().enumerate() {
                let (x, y) = pair(k);
                let (value, came_out) = batch::rounded(*sum, x, y);
                numbers.push(value);
                outcome = outcome.max(came_out);
            }
        }
        Some(exponents) => {
            outcome = sums.iter().map(|sum| sum.outcome()).max().unwrap_or_default();
            numbers.extend(sums.iter().map(|sum| sum.mantissa));
            exponents.view_mut::<i64>("exponents")?.write_all(sums.iter().map(|sum| sum.exponent));
        }
    }
    write_numbers("values", dims, &numbers, values)?;
    Ok(outcome)
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
        let mut done =
            object.run(|report| contraction.inner_batch(stream.as_deref(), &bras, &kets, &mut sums, report))?;
        done.outcome = write(&[count], &sums, |k| (bras[k], kets[k]), &mut values, exponents.as_deref_mut())?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { object.store_report(info, &done) }?;
        if exponents.is_some() { Ok(()) } else { check_outcome(done.outcome, "a call with exponents") }
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
        let mut done = object.run(|report| contraction.gram(stream.as_deref(), &bras, &kets, &mut sums, report))?;
        let pair = |k: usize| (bras[k % rows], kets[k / rows]);
        done.outcome = write(&[rows, cols], &sums, pair, &mut values, exponents.as_deref_mut())?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { object.store_report(info, &done) }?;
        if exponents.is_some() { Ok(()) } else { check_outcome(done.outcome, "a call with exponents") }
    })
}
