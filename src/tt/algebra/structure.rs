//! Functions that only move numbers: copies, other types, conjugates, other orders of the cores, opened rings.

use super::place::{Place, begin, bytes, bytes_mut, check, convert, copy_on_device, finish, read};
use super::sum::level_for_single;
use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::{DType, Real, Scalar, with_scalar};
use crate::shape::{self, to_i64};
use crate::tensor::train::{Shape, TensorTrain};
use crate::tensor::{Location, copy_strided};
use crate::trains::balance;
use crate::trains::scaled::{exponent_of, scale};

/// A copy in the memory of `at`. Between two trains on a device it does not pass through the host.
///
/// # Errors
/// [`Error::InvalidArgument`] for a train of another context or with cores that have not been set;
/// [`Error::NotSupported`] for device memory on a CPU context; out of memory.
pub fn copy(at: &Place<'_>, x: &TensorTrain) -> Result<TensorTrain> {
    at.check()?;
    if x.is_device() && at.location == Location::Device {
        check(at, "x", x)?;
        let mut result = TensorTrain::zeros(at.context, x.dtype(), at.location, x.shape().clone())?;
        for k in 0..x.shape().len() {
            at.cancel.check()?;
            copy_on_device(at, (x, k), (&mut result, k))?;
        }
        return Ok(result);
    }
    finish(at, host_copy(at, x)?)
}

/// A copy that the host can write.
pub(super) fn host_copy(at: &Place<'_>, x: &TensorTrain) -> Result<TensorTrain> {
    let x = read(at, "x", x)?;
    let mut result = begin(at, x.dtype(), x.shape().clone())?;
    for k in 0..x.shape().len() {
        at.cancel.check()?;
        bytes_mut(&mut result, k)?.copy_from_slice(bytes(&x, k)?);
    }
    Ok(result)
}

/// A copy with another element type: rounded to single precision, exact in double precision. If single precision would
/// lose entries of a core, bonds are balanced by powers of two first, and all cores are multiplied by powers of two if
/// they need it.
///
/// # Errors
/// As [`copy`]; [`Error::InvalidArgument`] for a real type of a complex train; [`Error::Numerical`] if the cores together are
/// beyond the range of the new type.
pub fn cast(at: &Place<'_>, x: &TensorTrain, dtype: DType) -> Result<TensorTrain> {
    at.check()?;
    if x.dtype().is_complex() && !dtype.is_complex() {
        return Err(Error::invalid("dtype", format!("is {} for a train of {}", dtype.name(), x.dtype().name())));
    }
    if dtype == x.dtype() {
        return copy(at, x);
    }
    let x = read(at, "x", x)?;
    let mut result = begin(at, dtype, x.shape().clone())?;
    let level = if dtype.is_single() && !x.dtype().is_single() { level_for_single(at, &x)? } else { None };
    convert(at, level.as_ref().unwrap_or(&x), &mut result)?;
    finish(at, result)
}

/// The complex conjugate.
///
/// # Errors
/// As [`copy`].
pub fn conj(at: &Place<'_>, x: &TensorTrain) -> Result<TensorTrain> {
    at.check()?;
    if !x.dtype().is_complex() {
        return copy(at, x);
    }
    let mut result = host_copy(at, x)?;
    for k in 0..x.shape().len() {
        at.cancel.check()?;
        if x.dtype().is_single() {
            negate_imaginary::<f32>(&mut result, k)?;
        } else {
            negate_imaginary::<f64>(&mut result, k)?;
        }
    }
    finish(at, result)
}

fn negate_imaginary<P: Real>(train: &mut TensorTrain, k: usize) -> Result<()> {
    parts_mut::<P>(train, k)?.iter_mut().skip(1).step_by(2).for_each(|im| *im = -*im);
    Ok(())
}

/// The real and imaginary parts of core k of a host train, one after the other.
pub(super) fn parts_mut<P: Real>(train: &mut TensorTrain, k: usize) -> Result<&mut [P]> {
    let count = if train.dtype().is_complex() { 2 } else { 1 };
    let len = train.shape().core_len(k) * count;
    let (memory, offset) = train.memory_mut("result", k)?;
    Ok(&mut memory.host_mut("result")?.as_mut_slice::<P>()?[offset * count..offset * count + len])
}

/// The train of the tensor with its indices in reverse order.
///
/// # Errors
/// As [`copy`].
pub fn reverse(at: &Place<'_>, x: &TensorTrain) -> Result<TensorTrain> {
    at.check()?;
    let x = read(at, "x", x)?;
    let shape = x.shape();
    let d = shape.len();
    let (mut modes, mut ranks) = sizes(d)?;
    modes.extend(shape.modes().iter().rev());
    ranks.extend(shape.ranks().iter().rev());
    let mut result = begin(at, x.dtype(), Shape::new("x", &modes, &ranks)?)?;
    let size = x.dtype().size();
    for k in 0..d {
        at.cancel.check()?;
        let dims @ [r, n, s] = shape.core(k);
        let to = bytes_mut(&mut result, d - 1 - k)?;
        copy_strided(size, bytes(&x, k)?, &[1, r, r * n], to, &[s * n, s, 1], &dims);
    }
    finish(at, result)
}

/// Empty lists with the capacity for the modes and ranks of d cores.
pub(super) fn sizes(d: usize) -> Result<(Vec<usize>, Vec<usize>)> {
    let what = "shape of a tensor train";
    Ok((alloc::with_capacity(what, d)?, alloc::with_capacity(what, d + 1)?))
}

/// The train with cores c .. d - 1, 0 .. c - 1. Its tensor has the indices in that order. The trace is the same; an
/// open train becomes a ring whose boundary bond is bond c.
///
/// # Errors
/// As [`copy`]; [`Error::InvalidArgument`] for a core that there is not.
pub fn rotate(at: &Place<'_>, x: &TensorTrain, first: usize) -> Result<TensorTrain> {
    at.check()?;
    let x = read(at, "x", x)?;
    let d = x.shape().len();
    shape::index("first", to_i64(first), d)?;
    let (mut modes, mut ranks) = sizes(d)?;
    let order = (first..d).chain(0..first);
    modes.extend(order.clone().map(|k| x.shape().modes()[k]));
    ranks.extend(order.clone().map(|k| x.shape().ranks()[k]));
    ranks.push(x.shape().ranks()[first]);
    let mut result = begin(at, x.dtype(), Shape::new("x", &modes, &ranks)?)?;
    for (to, from) in order.enumerate() {
        at.cancel.check()?;
        bytes_mut(&mut result, to)?.copy_from_slice(bytes(&x, from)?);
    }
    finish(at, result)
}

/// An open train of the same tensor, exactly. Every core also carries the index of the boundary bond, so every inner
/// rank is multiplied by r_0. An open train is copied.
///
/// # Errors
/// As [`copy`].
pub fn to_open(at: &Place<'_>, x: &TensorTrain) -> Result<TensorTrain> {
    at.check()?;
    if !x.shape().is_cyclic() {
        return copy(at, x);
    }
    let x = read(at, "x", x)?;
    let shape = x.shape();
    let (d, size) = (shape.len(), x.dtype().size());
    let ring = shape.ranks()[0];
    let (_, mut ranks) = sizes(d)?;
    for (k, &r) in shape.ranks().iter().enumerate() {
        let inner = shape::product("x", r, ring)?;
        ranks.push(if k == 0 || k == d { 1 } else { inner });
    }
    let mut result = begin(at, x.dtype(), Shape::new("x", shape.modes(), &ranks)?)?;
    if d == 1 {
        with_scalar!(x.dtype(), "x", T => trace_core::<T>(at, &x, &mut result))?;
        return finish(at, result);
    }
    for k in 0..d {
        at.cancel.check()?;
        let dims @ [r, n, s] = shape.core(k);
        let from = bytes(&x, k)?;
        let to = bytes_mut(&mut result, k)?;
        let (packed, height) = ([1, r, r * n], r * ring);
        if k == 0 {
            copy_strided(size, from, &packed, to, &[n * s, 1, n], &dims);
        } else if k == d - 1 {
            copy_strided(size, from, &packed, to, &[1, height, r], &dims);
        } else {
            for p in 0..ring {
                let first = p * (r + height * n * s);
                copy_strided(size, from, &packed, &mut to[first * size..], &[1, height, height * n], &dims);
            }
        }
    }
    finish(at, result)
}

/// The core of a ring of one core, traced over its bond.
fn trace_core<T: Scalar>(at: &Place<'_>, x: &TensorTrain, result: &mut TensorTrain) -> Result<()> {
    let [r, n, _] = x.shape().core(0);
    let (source, mut target) = (x.cores::<T>("x")?, result.cores_mut::<T>("result")?);
    let (core, out) = (source.core(0), target.core(0));
    // With the terms multiplied by 2^e, and the sum divided by it.
    let mut trace = |e: i64| {
        let times = |x: T, e: i64| if e == 0 { x } else { T::from_parts(scale(x.re(), e), scale(x.im(), e)) };
        out.fill(T::default());
        at.context.pool().run(|| {
            for p in 0..r {
                for (i, y) in out.iter_mut().enumerate() {
                    *y += times(core[p + r * (i + n * p)], e);
                }
            }
        });
        out.iter_mut().for_each(|y| *y = times(*y, -e));
        out.iter().all(|y| y.re().is_finite() && y.im().is_finite())
    };
    // A partial sum may overflow although the trace is within the range. Repeat with smaller terms.
    if trace(0) || !balance::peak(x, 0, at.context.isa())?.is_finite() || trace(-exponent_of(r as f64)) {
        return Ok(());
    }
    Err(Error::Numerical(format!("x: its trace is beyond the range of {}", T::DTYPE.name())))
}
