//! Environments of tensor trains, kept for sweeps.

use super::handle::{self, Exclusive, Shared};
use super::overlap::{self, Range};
use super::stream;
use super::tensor::{self, purlin_tensor};
use super::tt::{self, purlin_tt};
use super::tt_contraction::{ContractionObject, purlin_tt_contraction};
use super::tt_matrix::{self, purlin_tt_matrix};
use super::tt_types::purlin_tt_scaled;
use super::{guard, purlin_status, purlin_stream};
use crate::error::{Error, Result};
use crate::scalar::{Scalar, with_scalar};
use crate::shape::{self, Order, to_i64};
use crate::tensor::Tensor;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::tt::operator::{Environments, Side, Trains, site_matrix};

/// The environments of <y|H|x>, or of <y|x>, at the bonds of a train, as sweeps of DMRG or ALS need them: built when they
/// are needed, and kept until a core they depend on is said to have changed.
pub struct purlin_tt_environments {
    _private: [u8; 0],
}

/// Environments, and the handles of the trains they belong to: keys, so that a train that was destroyed is found out.
pub(super) struct EnvironmentsObject {
    bra: usize,
    operator: Option<usize>,
    ket: usize,
    inner: Environments,
}

/// The trains, locked for a call.
struct Locked {
    bra: Shared<TensorTrain>,
    operator: Option<Shared<TrainMatrix>>,
    ket: Shared<TensorTrain>,
}

impl Locked {
    fn of(object: &EnvironmentsObject) -> Result<Self> {
        let train = |name: &str, key| handle::lock_shared(name, handle::get::<TensorTrain>(name, key)?);
        let matrix = |key| handle::lock_shared("h", handle::get::<TrainMatrix>("h", key)?);
        Ok(Self {
            bra: train("y", object.bra)?,
            operator: object.operator.map(matrix).transpose()?,
            ket: train("x", object.ket)?,
        })
    }

    fn trains(&self) -> Trains<'_> {
        Trains::new(&self.bra, self.operator.as_deref(), &self.ket)
    }

    /// Refuses an output that overlaps a core of the operator, or of a train. The `sites` cores from k on are free:
    /// no environment uses them.
    fn expect_apart(&self, out: &Range<'_>, (k, sites): (usize, usize)) -> Result<()> {
        let trains = [("y", &*self.bra, true), ("x", &*self.ket, true)];
        let operator = self.operator.as_ref().map(|h| ("h", h.train(), false));
        for (name, train, is_free) in trains.into_iter().chain(operator) {
            for core in (0..train.shape().len()).filter(|core| !is_free || core.wrapping_sub(k) >= sites) {
                overlap::check(&[tt::range(name, train, core)], std::slice::from_ref(out))?;
            }
        }
        Ok(())
    }
}

/// The environments of a handle and their trains.
fn take(environments: *mut purlin_tt_environments) -> Result<(Exclusive<EnvironmentsObject>, Locked)> {
    let object = handle::exclusive::<EnvironmentsObject, _>("environments", environments)?;
    let locked = Locked::of(&object)?;
    locked.trains().check(locked.ket.context())?;
    Ok((object, locked))
}

/// The elements of a packed host tensor, to read.
fn elements<'a, T: Scalar>(argument: &str, tensor: &'a Tensor) -> Result<&'a [T]> {
    expect_packed(argument, tensor)?;
    Ok(&tensor.view::<T>(argument)?.data()[..tensor.layout().elements()])
}

/// A bond of the caller's.
fn bond_of(object: &EnvironmentsObject, bond: i64) -> Result<usize> {
    shape::index("bond", bond, object.inner.sites() + 1)
}

fn expect_packed(argument: &str, tensor: &Tensor) -> Result<()> {
    if tensor.layout().is_packed(Order::ColumnMajor) {
        return Ok(());
    }
    Err(Error::invalid(argument, "is not packed with the first index fastest"))
}

/// Makes the environments of <y|H|x>, or of <y|x>. None is computed yet.
///
/// They take at most 2 sum of r_k w_k s_k elements of the context's memory. The trains are those of later calls too, until
/// purlin_tt_environments_set_trains: a call after one of them was destroyed is refused.
///
/// @param      contraction   `scaling` and `conjugate` of its options count; it is not needed any longer than this
///                           call. While it lives, purlin_tt_contraction_cancel cancels calls of the environments.
/// @param      y             the bra, on the host or the context's device.
/// @param      h             the operator; NULL for the identity.
/// @param      x             the ket, likewise; may be `y`. The environments are computed and kept where the trains are, on
///                           the GPU if one of them is there.
/// @param[out] environments  the environments; destroy them with purlin_tt_environments_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (mode sizes, precision, another
/// context, a core that has not been set), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `environments` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_environments_create(
    contraction: *mut purlin_tt_contraction,
    y: *const purlin_tt,
    h: *const purlin_tt_matrix,
    x: *const purlin_tt,
    environments: *mut *mut purlin_tt_environments,
) -> purlin_status {
    guard::run(|| {
        let (_, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let (bra, operator, ket) = (tt::input("y", y)?, tt_matrix::input_or_null("h", h)?, tt::input("x", x)?);
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("environments", environments) }?;
        let trains = Trains::new(&bra, operator.as_deref(), &ket);
        let inner = contraction.environments(&trains)?;
        let operator = (!h.is_null()).then(|| h.addr());
        *target = handle::insert(EnvironmentsObject { bra: y.addr(), operator, ket: x.addr(), inner })?;
        Ok(())
    })
}

/// Builds the environment of one side of a bond, and those on the way to it, where they are missing: a step of a
/// sweep. Each of them costs a site of purlin_tt_sandwich.
///
/// Calls of the same environments may be given different streams: each begins after those before it, without waiting
/// for them on the host. This one waits for the exponents of its steps.
///
/// @param environments  the environments.
/// @param stream        NULL for the context's own.
/// @param side          PURLIN_TT_LEFT: of the sites before the bond; PURLIN_TT_RIGHT: of those after it.
/// @param bond          0 to d.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE` (also a train that was destroyed),
/// `PURLIN_ERROR_INVALID_ARGUMENT` (side, bond, ranks that changed unannounced, a stream of another context),
/// `PURLIN_ERROR_NOT_SUPPORTED` (an operator on a device, a stream that is being captured), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_environments_build(
    environments: *mut purlin_tt_environments,
    stream: *const purlin_stream,
    side: i32,
    bond: i64,
) -> purlin_status {
    guard::run(|| {
        let (mut object, locked) = take(environments)?;
        let stream = stream::get(stream)?;
        let side = Side::from_code("side", side)?;
        let bond = bond_of(&object, bond)?;
        object.inner.build(stream.as_deref(), &locked.trains(), side, bond)
    })
}

/// Declares that core k of the bra or of the ket has changed: environments that depend on it are computed anew when
/// they are needed.
///
/// @param environments  the environments.
/// @param k             the core, 0 to d - 1.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`k` out of range),
/// `PURLIN_ERROR_BUSY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_environments_update_core(
    environments: *mut purlin_tt_environments,
    k: i64,
) -> purlin_status {
    guard::run(|| {
        let mut object = handle::exclusive::<EnvironmentsObject, _>("environments", environments)?;
        let k = shape::index("k", k, object.inner.sites())?;
        object.inner.update_core(k);
        Ok(())
    })
}

/// Takes other trains from now on, which differ from those before in the cores `first` to `last` alone, and in the
/// ranks between these: the change of a two-site step of DMRG. Environments that depend on none of these cores are
/// kept.
///
/// The trains before may be destroyed then. Numbers of the other cores must be the same; only their sizes are checked.
///
/// @param environments  the environments.
/// @param y             the bra from now on.
/// @param x             the ket from now on; may be `y`. The operator stays.
/// @param first         the first core that differs, 0 to d - 1.
/// @param last          the last, `first` to d - 1.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (cores, trains of another
/// length, mode size, type, device or context, a rank that differs elsewhere), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`. After a failure the environments are as before.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_environments_set_trains(
    environments: *mut purlin_tt_environments,
    y: *const purlin_tt,
    x: *const purlin_tt,
    first: i64,
    last: i64,
) -> purlin_status {
    guard::run(|| {
        let mut object = handle::exclusive::<EnvironmentsObject, _>("environments", environments)?;
        let (bra, ket) = (tt::input("y", y)?, tt::input("x", x)?);
        let matrix = |key| handle::lock_shared("h", handle::get::<TrainMatrix>("h", key)?);
        let operator = object.operator.map(matrix).transpose()?;
        let d = object.inner.sites();
        let (first, last) = (shape::index("first", first, d)?, shape::index("last", last, d)?);
        object.inner.set_trains(&Trains::new(&bra, operator.as_deref(), &ket), first, last)?;
        (object.bra, object.ket) = (y.addr(), x.addr());
        Ok(())
    })
}

/// Sizes and type of the environments at a bond.
///
/// @param      environments  the environments.
/// @param      bond          0 to d.
/// @param[out] dims          4 sizes: rank of the bra, of the operator, boundary values (1 for open trains), rank of the
///                           ket.
/// @param[out] dtype         element type, complex if a train or the operator is; may be NULL.
/// @return as purlin_tt_environments_build, and `PURLIN_ERROR_INVALID_ARGUMENT` for a NULL pointer.
///
/// # Safety
/// `dims` is NULL or valid for 4 elements, `dtype` NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_environments_shape(
    environments: *mut purlin_tt_environments,
    bond: i64,
    dims: *mut i64,
    dtype: *mut i32,
) -> purlin_status {
    guard::run(|| {
        let (object, locked) = take(environments)?;
        // SAFETY: as promised above.
        let target = unsafe { super::pointer::output("dims", dims.cast::<[i64; 4]>()) }?;
        let found = object.inner.dims(&locked.trains(), bond_of(&object, bond)?)?;
        *target = found.map(to_i64);
        if !dtype.is_null() {
            // SAFETY: not null; the caller promises a place for it.
            unsafe { dtype.write_unaligned(object.inner.dtype() as i32) };
        }
        Ok(())
    })
}

/// The environment of one side of a bond, built if it is missing.
///
/// @param      environments  the environments.
/// @param      stream        NULL for the context's own.
/// @param      side          PURLIN_TT_LEFT or PURLIN_TT_RIGHT.
/// @param      bond          0 to d.
/// @param      values        of the dimensions and the type that purlin_tt_environments_shape gives, packed, on the host.
///                           The third index is p_w + w (p_y + r p_x) of the boundary values of operator, bra and ket.
/// @param[out] exponent      the environment is `values` times two to this power.
/// @return as purlin_tt_environments_build, and `PURLIN_ERROR_INVALID_ARGUMENT` for dimensions, type, and overlap with
/// a train.
///
/// # Safety
/// `exponent` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_environments_get(
    environments: *mut purlin_tt_environments,
    stream: *const purlin_stream,
    side: i32,
    bond: i64,
    values: *mut purlin_tensor,
    exponent: *mut i64,
) -> purlin_status {
    guard::run(|| {
        let (mut object, locked) = take(environments)?;
        let stream = stream::get(stream)?;
        let mut values = tensor::output("values", values)?;
        // SAFETY: the caller promises NULL or a valid pointer.
        let exponent = unsafe { super::pointer::output("exponent", exponent) }?;
        let (side, bond) = (Side::from_code("side", side)?, bond_of(&object, bond)?);
        let trains = locked.trains();
        values.expect_dims("values", &object.inner.dims(&trains, bond)?)?;
        expect_packed("values", &values)?;
        values.expect_dtype("values", object.inner.dtype())?;
        locked.expect_apart(&Range::of("values", &values), (0, 0))?;
        *exponent = with_scalar!(object.inner.dtype(), "values", T => {
            let count = values.layout().elements();
            let mut view = values.view_mut::<T>("values")?;
            object.inner.get::<T>(stream.as_deref(), &trains, side, bond, &mut view.data()[..count])
        })?;
        Ok(())
    })
}

/// Applies the effective operator of 0, 1 or 2 sites from k on to a vector: the product of a local eigensolver.
/// Environments that are missing are built. With one site O(n w r s (r + s) + z r s), as for purlin_tt_sandwich; with
/// two O(n^2 w r s (r + s) + n (z + z') r s).
///
/// With one site, out[a, i, a'] = sum over b, j, b' of L[a, w, b] H_k[w, i, j, w'] R[a', w', b'] v[b, j, b'].
///
/// Vectors in the memory of the device where the environments are stay there: the call enqueues and returns. Once the
/// environments and one such call are done a graph may capture it; whoever replays that changes neither environments nor
/// trains, lets no other call of these environments run beside it, and keeps them. The graph keeps the operator's numbers.
///
/// @param      environments  the environments.
/// @param      stream        NULL for the context's own.
/// @param      k             the first site, 0 to d - `sites`.
/// @param      sites         0 (v is a matrix of bond k), 1 or 2.
/// @param      v             ranks and modes of the ket at these sites, of the environments' type, packed, on the host
///                           or on the device; neighbouring dimensions may be joined to one.
/// @param      out           those of the bra, likewise, in the same place. It may lie in cores `k` to `k` + `sites` -
///                           1 of a train, but in no other core: the environments are made of those.
/// @param[out] exponent      the result is `out` times two to this power.
/// @return as purlin_tt_environments_build, and `PURLIN_ERROR_INVALID_ARGUMENT` for sizes, type and overlap;
/// `PURLIN_ERROR_NOT_SUPPORTED` for one vector on the device, for both where the environments are on the host, and for
/// a stream that is being captured while something is missing or vectors are on the host; `PURLIN_ERROR_NUMERICAL` for
/// vectors on the device between bonds whose values differ by more than the range of the type.
///
/// # Safety
/// `exponent` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_environments_apply(
    environments: *mut purlin_tt_environments,
    stream: *const purlin_stream,
    k: i64,
    sites: i64,
    v: *const purlin_tensor,
    out: *mut purlin_tensor,
    exponent: *mut i64,
) -> purlin_status {
    guard::run(|| {
        let (mut object, locked) = take(environments)?;
        let stream = stream::get(stream)?;
        let v = tensor::input("v", v)?;
        let mut out = tensor::output("out", out)?;
        // SAFETY: the caller promises NULL or a valid pointer.
        let exponent = unsafe { super::pointer::output("exponent", exponent) }?;
        overlap::check(&[Range::of("v", &v)], &[Range::of("out", &out)])?;
        let sites = shape::size("sites", sites, 0)?;
        let k = shape::index("k", k, object.inner.last_start(sites)? + 1)?;
        expect_packed("out", &out)?;
        v.expect_dtype("v", object.inner.dtype())?;
        out.expect_dtype("out", object.inner.dtype())?;
        expect_extents("v", &v, &locked.ket, (k, sites))?;
        expect_extents("out", &out, &locked.bra, (k, sites))?;
        locked.expect_apart(&Range::of("out", &out), (k, sites))?;
        let (trains, at, stream) = (locked.trains(), (k, sites), stream.as_deref());
        *exponent = with_scalar!(object.inner.dtype(), "v", T => {
            let count = out.layout().elements();
            if v.is_device() && out.is_device() {
                expect_packed("v", &v)?;
                v.expect_context("v", locked.ket.context())?;
                out.expect_context("out", locked.ket.context())?;
                out.check_writable("out")?;
                let bytes = |elements: usize| shape::product("v", elements, size_of::<T>());
                let given = v.memory().device("v")?.region(0, bytes(v.layout().elements())?)?;
                let to = out.memory_mut("out")?.device("out")?.region(0, bytes(count)?)?;
                object.inner.apply_on_device::<T>(stream, &trains, at, given, to)
            } else {
                let mut view = out.view_mut::<T>("out")?;
                let given = elements::<T>("v", &v)?;
                object.inner.apply::<T>(stream, &trains, at, given, &mut view.data()[..count])
            }
        })?;
        Ok(())
    })
}

/// Refuses a vector with other dimensions than those of the sites. Neighbouring dimensions may be joined to one. Whether
/// sites exist and elements suffice is checked where they are used.
fn expect_extents(argument: &str, v: &Tensor, train: &TensorTrain, (k, sites): (usize, usize)) -> Result<()> {
    let shape = train.shape();
    if k.saturating_add(sites) > shape.len() {
        return Ok(());
    }
    let (modes, ends) = (&shape.modes()[k..k + sites], [shape.ranks()[k], shape.ranks()[k + sites]]);
    let needed = || ends[..1].iter().chain(modes).chain(&ends[1..]).copied();
    // The dimensions as products of the first ones: joined neighbours leave some of these out.
    let strides = |dims: &mut dyn Iterator<Item = usize>, found: usize| {
        dims.scan(1usize, |all, n| {
            *all = all.saturating_mul(n);
            Some(*all)
        })
        .any(|stride| stride == found)
    };
    let mut all = 1usize;
    let fits = v.dims().iter().all(|n| {
        all = all.saturating_mul(*n);
        all == 1 || strides(&mut needed(), all)
    });
    if fits || v.layout().elements() != needed().fold(1, usize::saturating_mul) {
        return Ok(());
    }
    let list = needed().map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    Err(Error::invalid(argument, format!("has dimensions {:?}, [{list}] are needed", v.dims())))
}

/// <y|H|x>, or <y|x>, from the environments that meet at a bond; they are built if they are missing. O(w r s), with
/// those at hand.
///
/// @param      environments  the environments.
/// @param      stream        NULL for the context's own.
/// @param      bond          0 to d.
/// @param[out] result        mantissa and exponent, logarithm and phase; the mantissa is NaN where a core of a train or
///                           of the operator holds a number that is not finite.
/// @return as purlin_tt_environments_build, and `PURLIN_ERROR_INVALID_ARGUMENT` for a NULL pointer.
///
/// # Safety
/// `result` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_environments_value(
    environments: *mut purlin_tt_environments,
    stream: *const purlin_stream,
    bond: i64,
    result: *mut purlin_tt_scaled,
) -> purlin_status {
    guard::run(|| {
        let (mut object, locked) = take(environments)?;
        let stream = stream::get(stream)?;
        // SAFETY: the caller promises NULL or a place for the result.
        let result = unsafe { super::pointer::output("result", result) }?;
        let bond = bond_of(&object, bond)?;
        *result = object.inner.value(stream.as_deref(), &locked.trains(), bond)?.into();
        Ok(())
    })
}

/// <y|A_k|x> for an operator at one site, from environments without an operator: the work of one site, O(n r s (r + s)
/// + n^2 r s).
///
/// @param      environments  the environments, made with a NULL operator.
/// @param      stream        NULL for the context's own.
/// @param      k             the site, 0 to d - 1.
/// @param      op            the operator, n x n, as for purlin_tt_expect_local.
/// @param[out] result        mantissa and exponent, logarithm and phase; the mantissa is NaN where a core of a train or
///                           of the operator holds a number that is not finite.
/// @return as purlin_tt_environments_build, and `PURLIN_ERROR_INVALID_ARGUMENT` for dimensions, a complex operator between
/// real trains, environments with an operator.
///
/// # Safety
/// `result` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_environments_local(
    environments: *mut purlin_tt_environments,
    stream: *const purlin_stream,
    k: i64,
    op: *const purlin_tensor,
    result: *mut purlin_tt_scaled,
) -> purlin_status {
    guard::run(|| {
        let (mut object, locked) = take(environments)?;
        let stream = stream::get(stream)?;
        let op = tensor::input("op", op)?;
        // SAFETY: the caller promises NULL or a place for the result.
        let result = unsafe { super::pointer::output("result", result) }?;
        let matrix = site_matrix::from_tensor("op", &op)?;
        let k = shape::index("k", k, object.inner.sites())?;
        *result = object.inner.local(stream.as_deref(), &locked.trains(), k, &matrix)?.into();
        Ok(())
    })
}

/// Destroys environments; their trains stay.
///
/// @param environments  the environments; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_tt_environments_destroy(environments: *mut purlin_tt_environments) -> purlin_status {
    guard::run(|| handle::remove::<EnvironmentsObject, _>("environments", environments))
}
