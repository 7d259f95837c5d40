//! Plans of contractions of tensor trains.

use super::options;
use super::tt::{self, purlin_tt};
use super::tt_batch::{lock, references};
use super::tt_contraction::{ContractionObject, purlin_tt_contraction};
use super::tt_matrix::{self, purlin_tt_matrix};
use super::tt_types::purlin_tt_contraction_info;
use super::{guard, purlin_status};
use crate::error::{Error, Result};
use crate::shape;
use crate::tt::Contraction;
use crate::tt::info::Info;
use crate::tt::operator::Trains;

/// Writes the plan of a call.
///
/// # Safety
/// `info` is NULL or an initialized struct.
unsafe fn foresee(
    contraction: *mut purlin_tt_contraction,
    info: *mut purlin_tt_contraction_info,
    plan: impl FnOnce(&mut Contraction) -> Result<Info>,
) -> Result<()> {
    let (_, mut held) = ContractionObject::exclusive(contraction)?;
    if info.is_null() {
        return Err(Error::invalid("info", "is NULL"));
    }
    // SAFETY: not null; the caller promises an initialized struct.
    unsafe { options::check("info", info) }?;
    let plan = plan(held.get())?;
    // SAFETY: as above.
    unsafe { options::write("info", info, purlin_tt_contraction_info::of(&plan)) }
}

/// The plan of purlin_tt_inner for two trains: the method and why, kernel, operations, bytes, workspace. No element is
/// read. With the same train twice it is that inner product; the norm has purlin_tt_plan_norm.
///
/// @param      contraction  the contraction.
/// @param      x            the bra.
/// @param      y            the ket.
/// @param[out] info         filled in; initialize it with purlin_tt_contraction_info_init. `workspace_bytes` is the
///                          most that the call will use; on a GPU, copies of cores that lie elsewhere, tables of
///                          addresses and single results are not counted, nor the workspace of cuBLAS, 32 MiB at most.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// the arguments that purlin_tt_inner refuses, a `workspace_limit` that is too small among them), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_plan_inner(
    contraction: *mut purlin_tt_contraction,
    x: *const purlin_tt,
    y: *const purlin_tt,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (x, y) = (tt::input("x", x)?, tt::input("y", y)?);
        // SAFETY: as promised above.
        unsafe { foresee(contraction, info, |c| c.plan_inner(&x, &y)) }
    })
}

/// The plan of purlin_tt_norm, by the method of the option `norm_method`.
///
/// @param      contraction  the contraction.
/// @param      x            the train.
/// @param[out] info         filled in, as by purlin_tt_plan_inner.
/// @return as purlin_tt_plan_inner; `PURLIN_ERROR_NOT_SUPPORTED` in the cases of purlin_tt_norm.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_plan_norm(
    contraction: *mut purlin_tt_contraction,
    x: *const purlin_tt,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let x = tt::input("x", x)?;
        // SAFETY: as promised above.
        unsafe { foresee(contraction, info, |c| c.plan_norm(&x)) }
    })
}

/// The plan of purlin_tt_distance.
///
/// @param      contraction  the contraction.
/// @param      x            a train.
/// @param      y            another.
/// @param[out] info         filled in, as by purlin_tt_plan_inner.
/// @return as purlin_tt_plan_norm.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_plan_distance(
    contraction: *mut purlin_tt_contraction,
    x: *const purlin_tt,
    y: *const purlin_tt,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (x, y) = (tt::input("x", x)?, tt::input("y", y)?);
        // SAFETY: as promised above.
        unsafe { foresee(contraction, info, |c| c.plan_distance(&x, &y)) }
    })
}

/// The plan of purlin_tt_inner_batch: method and kernel of the first pair, operations and bytes of all together, and
/// the most workspace that is in use at a time.
///
/// @param      contraction  the contraction.
/// @param      count        number of pairs.
/// @param[in]  x            `count` bras.
/// @param[in]  y            `count` kets.
/// @param[out] info         filled in, as by purlin_tt_plan_inner.
/// @return as purlin_tt_plan_inner; messages name the pair as in `x[3]`.
///
/// # Safety
/// `x` and `y` are NULL or valid for `count` handles, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_plan_batch(
    contraction: *mut purlin_tt_contraction,
    count: i64,
    x: *const *const purlin_tt,
    y: *const *const purlin_tt,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let count = shape::size("count", count, 0)?;
        // SAFETY: as promised above.
        let (x, y) = unsafe { (lock("x", count, x)?, lock("y", count, y)?) };
        let (bras, kets) = (references(&x)?, references(&y)?);
        // SAFETY: as promised above.
        unsafe { foresee(contraction, info, |c| c.plan_batch(&bras, &kets)) }
    })
}

/// The plan of purlin_tt_gram, as purlin_tt_plan_batch has it.
///
/// @param      contraction  the contraction.
/// @param      rows         number of bras.
/// @param[in]  x            the bras.
/// @param      cols         number of kets; not looked at where `y` is NULL.
/// @param[in]  y            the kets; NULL for `x`, which is half the work.
/// @param[out] info         filled in, as by purlin_tt_plan_inner.
/// @return as purlin_tt_plan_batch.
///
/// # Safety
/// `x` is NULL or valid for `rows` handles, `y` for `cols`, `info` NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_plan_gram(
    contraction: *mut purlin_tt_contraction,
    rows: i64,
    x: *const *const purlin_tt,
    cols: i64,
    y: *const *const purlin_tt,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let rows = shape::size("rows", rows, 0)?;
        let (same, cols) = if y.is_null() { (true, 0) } else { (false, shape::size("cols", cols, 0)?) };
        // SAFETY: as promised above.
        let (x, y) = unsafe { (lock("x", rows, x)?, lock("y", cols, y)?) };
        let bras = references(&x)?;
        let kets = if same { references(&x)? } else { references(&y)? };
        // SAFETY: as promised above.
        unsafe { foresee(contraction, info, |c| c.plan_gram(&bras, &kets)) }
    })
}

/// The plan of purlin_tt_sandwich. Of the elements, those of the operator alone are read: its zeros cost nothing.
///
/// @param      contraction  the contraction.
/// @param      y            the bra.
/// @param      h            the operator.
/// @param      x            the ket.
/// @param[out] info         filled in, as by purlin_tt_plan_inner.
/// @return as purlin_tt_plan_inner, with the refusals of purlin_tt_sandwich; `PURLIN_ERROR_NOT_SUPPORTED` (an operator
/// on a device, `repeat`).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_plan_sandwich(
    contraction: *mut purlin_tt_contraction,
    y: *const purlin_tt,
    h: *const purlin_tt_matrix,
    x: *const purlin_tt,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (y, h, x) = (tt::input("y", y)?, tt_matrix::input("h", h)?, tt::input("x", x)?);
        // SAFETY: as promised above.
        unsafe { foresee(contraction, info, |c| c.plan_sandwich(&Trains::new(&y, Some(&h), &x))) }
    })
}

/// The plan of purlin_tt_rayleigh, as purlin_tt_plan_sandwich has it.
///
/// @param      contraction  the contraction.
/// @param      h            the operator.
/// @param      x            the train.
/// @param[out] info         filled in, as by purlin_tt_plan_inner.
/// @return as purlin_tt_plan_sandwich.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_plan_rayleigh(
    contraction: *mut purlin_tt_contraction,
    h: *const purlin_tt_matrix,
    x: *const purlin_tt,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (h, x) = (tt_matrix::input("h", h)?, tt::input("x", x)?);
        // SAFETY: as promised above.
        unsafe { foresee(contraction, info, |c| c.plan_rayleigh(&x, &h)) }
    })
}
