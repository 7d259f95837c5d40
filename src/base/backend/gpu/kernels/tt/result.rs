//! The kernels of `cuda/tt_result.cu`, by which an enqueued inner product leaves its result on the device.

use super::super::mirrors::{TtStoreParams, TtSumTermsParams, TtWeighParams};
use super::super::{constants as c, size};
use super::sandwich::CoreKeys;
use super::sizes::SUM_SHARED;
use super::{RESULT_WORDS, STATE_BYTES, SUM_THREADS};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};

/// Words of one launch of [`store`].
const WORDS: usize = size(c::TT_STORE_WORDS);
/// Most weights of a launch of [`weigh`], which takes them as parameters.
pub const WEIGHTS: usize = size(c::TT_WEIGHTS);

/// Elements of the result of [`sum_terms`].
pub const NUMBERS: usize = 4;

/// The first words of an array that begins with the number 1 and is 0 beyond it, in 16 bytes.
pub fn one(dtype: DType) -> [i64; 2] {
    let single = matches!(dtype, DType::F32 | DType::CF32);
    let bits = if single { u64::from(1f32.to_bits()) } else { 1f64.to_bits() };
    [i64::from_ne_bytes(bits.to_ne_bytes()), 0]
}

/// Writes words to device memory in stream order. They are parameters of the launches, which a graph copies.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn store(gpu: &Gpu, stream: &GpuStream, words: &[i64], to: Region<'_>) -> Result<()> {
    let kernel = gpu.kernel("tt_result", "purlin_tt_store")?;
    let first = to.array("words", words.len(), 8)?;
    for (k, part) in words.chunks(WORDS).enumerate() {
        let mut held = [0; WORDS];
        held.iter_mut().zip(part).for_each(|(to, word)| *to = word.cast_unsigned());
        let parameters = TtStoreParams { to: first + to_u64(k * WORDS * 8), count: to_i64(part.len()), words: held };
        // SAFETY: `to` holds all words.
        unsafe { launch(&kernel, stream, Grid::row(1, c::TT_STORE_WORDS.unsigned_abs(), 0), &parameters)? };
    }
    Ok(())
}

/// The terms of a sum.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Number of terms that are added.
    pub count: usize,
    /// Whether the terms are those of pairs p_x <= p_y only. Those off the diagonal then count twice.
    pub halved: bool,
    /// Whether their real parts alone count.
    pub real: bool,
    /// Whether the sum is conjugated.
    pub conjugate: bool,
    /// Whether the square root of the sum's real part is wanted.
    pub root: bool,
}

/// Reasons other than its terms for which the result of [`sum_terms`] is NaN.
#[derive(Clone, Copy, Default)]
pub struct Spoilt {
    /// Something that is not finite is known of beforehand.
    pub known: bool,
    /// Keys of cores. One may be the key of a number that is not finite.
    pub keys: Option<CoreKeys>,
}

/// Adds up results as the kernels for whole products leave them, into [`NUMBERS`] numbers.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn sum_terms(
    gpu: &Gpu,
    stream: &GpuStream,
    terms: Region<'_>,
    Terms { count, halved, real, conjugate, root }: Terms,
    spoilt: Spoilt,
    result: Region<'_>,
) -> Result<()> {
    let flag = |on: bool, bit: i32| if on { i64::from(bit) } else { 0 };
    let words = count.checked_mul(RESULT_WORDS).ok_or_else(|| Error::Internal(format!("{count} terms")))?;
    let parameters = TtSumTermsParams {
        terms: terms.array("terms", words, 8)?,
        result: result.array("result", NUMBERS, 8)?,
        keys: spoilt.keys.map_or(0, |keys| keys.address()),
        count: to_i64(count),
        key_count: to_i64(spoilt.keys.map_or(0, |keys| keys.cores())),
        flags: flag(halved, c::TT_SUM_TERMS_HALVED)
            | flag(real, c::TT_SUM_TERMS_REAL)
            | flag(conjugate, c::TT_SUM_TERMS_CONJUGATE)
            | flag(root, c::TT_SUM_TERMS_ROOT)
            | flag(spoilt.known, c::TT_SUM_TERMS_DATA_NONFINITE),
    };
    let kernel = gpu.kernel("tt_result", "purlin_tt_sum_terms")?;
    let threads = u32::try_from(SUM_THREADS).unwrap_or(u32::MAX);
    // SAFETY: both arrays were checked; the keys are those of a search in cores.
    unsafe { launch(&kernel, stream, Grid::row(1, threads, SUM_SHARED), &parameters) }
}

/// Makes the exponent of the state `to` the sum of those of `states`, each times its weight; beyond 2^62 it ends there. At
/// most [`WEIGHTS`] of them.
///
/// # Errors
/// [`Error::Internal`] for more weights; as for every [launch](crate::backend::gpu::kernels#errors).
pub fn weigh(gpu: &Gpu, stream: &GpuStream, states: Region<'_>, weights: &[u64], to: Region<'_>) -> Result<()> {
    let mut held = [0; WEIGHTS];
    held.get_mut(..weights.len())
        .ok_or_else(|| Error::Internal(format!("{} exponents with weights", weights.len())))?
        .copy_from_slice(weights);
    let parameters = TtWeighParams {
        states: states.array("states", weights.len() * STATE_BYTES / 8, 8)?,
        to: to.array("state", STATE_BYTES / 8, 8)?,
        count: to_i64(weights.len()),
        weights: held,
    };
    let kernel = gpu.kernel("tt_result", "purlin_tt_weigh")?;
    // SAFETY: both arrays were checked.
    unsafe { launch(&kernel, stream, Grid::row(1, 32, 0), &parameters) }
}
