//! The rule for numbers that are not finite: if a core of a train or of an operator holds one, the result is NaN.
//!
//! Usually arithmetic carries NaN and infinity into every sum. There are two exceptions. A sweep that meets an
//! environment of zeros ends early, without reading the cores that follow. And a ring of one core is read on its
//! diagonal only. So the cores are examined if the result is 0, for rings, and for trains that are cut at a bond. In
//! the last two cases each boundary pair has a sweep of its own, which may end early while others do not.

use super::scaled::Scaled;
use crate::backend::gpu::kernels::tt::operator::{KEYS, find_peaks};
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::tensor::train::TensorTrain;

/// Whether the sums may read only a part of the train's entries.
pub fn is_read_in_part(train: &TensorTrain) -> bool {
    train.shape().is_cyclic()
}

/// The result of a call for the sum `value`: NaN if the sum is not finite, or if a core of the trains holds a number
/// that is not finite and that the sum did not read.
///
/// # Errors
/// [`Error::Numerical`] for an exponent beyond 2^61; those of a device.
pub fn checked(value: Scaled, dtype: DType, trains: &[&TensorTrain]) -> Result<Scaled> {
    checked_where(value, dtype, trains, is_read_in_part)
}

/// [`checked`] for a sum that, if `is_cut`, runs over the values of a cut bond.
///
/// # Errors
/// [`Error::Numerical`] for an exponent beyond 2^61; those of a device.
pub fn checked_cut(value: Scaled, dtype: DType, trains: &[&TensorTrain], is_cut: bool) -> Result<Scaled> {
    checked_where(value, dtype, trains, |train| is_cut || is_read_in_part(train))
}

/// [`checked`] for sums that may read only a part of the entries of the trains for which `is_read_in_part` holds.
///
/// # Errors
/// [`Error::Numerical`] for an exponent beyond 2^61; those of a device.
pub fn checked_where(
    value: Scaled,
    dtype: DType,
    trains: &[&TensorTrain],
    is_read_in_part: impl Fn(&TensorTrain) -> bool,
) -> Result<Scaled> {
    if !value.is_finite() {
        return Ok(Scaled::nan(dtype));
    }
    expect_exponent(value)?;
    for train in trains {
        if (value.is_zero() || is_read_in_part(train)) && !is_finite(train)? {
            return Ok(Scaled::nan(dtype));
        }
    }
    Ok(value)
}

/// Returns an error for an exponent that may have been clamped to 64 bits.
///
/// # Errors
/// [`Error::Numerical`] for an exponent beyond 2^61.
pub fn expect_exponent(value: Scaled) -> Result<()> {
    const MOST: u64 = 1 << 61;
    if value.exponent.unsigned_abs() <= MOST {
        return Ok(());
    }
    Err(Error::Numerical(format!("repeat: the exponent of the result is beyond 2^61 ({} was reached)", value.exponent)))
}

/// Whether all entries of all cores are finite. For a train on a device it waits for one pass over the cores.
///
/// # Errors
/// Those of a device.
pub fn is_finite(train: &TensorTrain) -> Result<bool> {
    if train.is_device() {
        return is_finite_there(train);
    }
    with_scalar!(train.dtype(), "x", T => is_finite_here::<T>(train))
}

/// Number of stored cores; a uniform train has one.
fn cores(train: &TensorTrain) -> usize {
    if train.is_uniform() { 1 } else { train.shape().len() }
}

fn is_finite_here<T: Scalar>(train: &TensorTrain) -> Result<bool> {
    let values = train.cores::<T>("x")?;
    Ok((0..cores(train)).all(|k| values.core(k).iter().all(|x| x.re().is_finite() && x.im().is_finite())))
}

fn is_finite_there(train: &TensorTrain) -> Result<bool> {
    let gpu = train.context().gpu("x")?;
    let (stream, dtype) = (gpu.default_stream(), train.dtype());
    let keys = gpu.allocate_on(stream, "largest numbers of cores", KEYS)?;
    for k in 0..cores(train) {
        let (memory, offset) = train.memory(k);
        let count = train.shape().core_len(k);
        let core = memory.device("x")?.region(offset * dtype.size(), count * dtype.size())?;
        find_peaks(dtype, gpu, stream, core, (1, 1, 1), count, keys.whole())?;
    }
    let mut peaks = [0.0f64; 2];
    gpu.load_numbers(stream, &keys, 0, &mut peaks)?;
    Ok(peaks.iter().all(|peak| peak.is_finite()))
}
