//! Powers of two by which environments are scaled, counted on the device.

use super::super::mirrors::TtMeasureParams;
use super::STATE_BYTES;
use super::plain::launch_plain;
use super::sizes::over;
use crate::alloc;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::to_i64;

/// Words of 64 bits of a state, and the one that is the exponent.
const STATE_WORDS: usize = STATE_BYTES / 8;
const EXPONENT: usize = 3;

/// Multiplies an environment by the factor of a state.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn scale(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    environment: Region<'_>,
    count: usize,
    state: Region<'_>,
) -> Result<()> {
    let parameters = TtMeasureParams {
        environment: environment.array("environment", count, dtype.size())?,
        state: state.array("state", STATE_BYTES / 16, 16)?,
        count: to_i64(count),
        flags: 0,
    };
    // SAFETY: both arrays were checked.
    unsafe { launch_plain(dtype, gpu, stream, "scale", over(count), &parameters) }
}

/// The exponents of `count` states. Waits.
///
/// # Errors
/// [`crate::error::Error::OutOfMemory`]; as [`Gpu::load_numbers`].
pub fn exponents(gpu: &Gpu, stream: &GpuStream, states: &DeviceMemory, count: usize) -> Result<Vec<i64>> {
    let what = "exponents of a contraction";
    let mut words = alloc::filled(what, count * STATE_WORDS, 0i64)?;
    gpu.load_numbers(stream, states, 0, &mut words)?;
    let mut exponents = alloc::with_capacity(what, count)?;
    exponents.extend(words.chunks_exact(STATE_WORDS).map(|state| state[EXPONENT]));
    Ok(exponents)
}
