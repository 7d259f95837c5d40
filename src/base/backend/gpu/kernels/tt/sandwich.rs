//! Kernels for enqueued calls with an operator between trains: the exponents stay on the device.

use super::super::mirrors::{TtBoundaryParams, TtCollectParams, TtKeysParams, TtQuotientParams, TtReadyParams};
use super::super::product;
use super::operator::{KEYS, start};
use super::plain::launch_plain;
use super::sizes::{SUM_SHARED, over};
use super::{RESULT_WORDS, SUM_THREADS, result};
use crate::alloc;
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};

/// The largest numbers of cores, as keys.
#[derive(Clone, Copy)]
pub struct CoreKeys {
    address: u64,
    count: usize,
}

impl CoreKeys {
    /// Bytes of device memory that [`CoreKeys::find`] needs for `count` cores.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for sizes whose product overflows.
    pub fn bytes(count: usize) -> Result<usize> {
        product("cores", &[count, 3 * 8])
    }

    /// Where the keys begin in the memory of a search, which they end.
    pub fn offset(count: usize) -> usize {
        2 * count * 8
    }

    /// Enqueues the search in cores of numbers of the real type `dtype`, or of complex numbers of such parts, in memory of
    /// the caller.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; as for every [launch](crate::backend::gpu::kernels#errors).
    pub fn find(dtype: DType, gpu: &Gpu, stream: &GpuStream, cores: &[Region<'_>], space: Region<'_>) -> Result<Self> {
        let count = cores.len();
        let mut words = alloc::filled("cores of a train", 3 * count, 0i64)?;
        for (k, core) in cores.iter().enumerate() {
            let parts = core.bytes() / dtype.size();
            words[k] = i64::from_ne_bytes(core.array("core", parts, dtype.size())?.to_ne_bytes());
            words[count + k] = to_i64(parts);
        }
        result::store(gpu, stream, &words, space)?;
        let part = |j: usize| space.part(j * count * 8, count * 8);
        let keys = part(2)?.array("keys", count, 8)?;
        let parameters = TtKeysParams {
            bases: part(0)?.array("bases", count, 8)?,
            sizes: part(1)?.array("sizes", count, 8)?,
            keys,
            count: to_i64(count),
        };
        let blocks = [16, u32::try_from(count.min(65_535)).unwrap_or(1), 1];
        // SAFETY: the addresses are those of cores as long as their sizes say, the arrays have an entry each.
        unsafe { launch_plain(dtype, gpu, stream, "keys", blocks, &parameters)? };
        Ok(Self { address: keys, count })
    }

    /// Keys that another search has found.
    pub(super) fn of(address: u64, count: usize) -> Self {
        Self { address, count }
    }

    /// Where they are on the device.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Number of cores that have a key.
    pub fn cores(&self) -> usize {
        self.count
    }

    fn key(&self, k: usize) -> Result<u64> {
        if k < self.count {
            return Ok(self.address + to_u64(k * 8));
        }
        Err(Error::Internal(format!("the largest number of core {k} of {}", self.count)))
    }
}

/// 1 where a boundary's environment has it, for pairs from `first` on; elsewhere it is 0 already.
///
/// # Errors
/// [`Error::Internal`] for pairs beyond those of the boundary; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn boundary(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    environment: Region<'_>,
    [bra, slots, pairs, ket]: [usize; 4],
    first: usize,
) -> Result<()> {
    let count = product("environment", &[bra, slots, pairs, ket])?;
    if first.checked_add(pairs).is_none_or(|end| end > bra.saturating_mul(ket)) {
        return Err(Error::Internal(format!("pairs from {first} on, {pairs} of {bra} x {ket}")));
    }
    let parameters = TtBoundaryParams {
        environment: environment.array("environment", count, dtype.size())?,
        bra: to_i64(bra),
        slots: to_i64(slots),
        pairs: to_i64(pairs),
        first: to_i64(first),
    };
    // SAFETY: the array was checked, and every pair is one of its ends.
    unsafe { start(dtype, gpu, stream, "boundary", over(slots * pairs), 0, &parameters) }
}

/// Where a step finds and leaves exponents and factors.
#[derive(Clone, Copy)]
pub struct Ready<'a> {
    /// Keys of both groups of the environment.
    pub keys: Region<'a>,
    /// Exponents of both groups before the step.
    pub from: Region<'a>,
    /// Exponents of both groups after the step.
    pub to: Region<'a>,
    /// The factor of the product with the ket's core, in 16 bytes.
    pub alpha: Region<'a>,
    /// Largest numbers of the cores.
    pub cores: CoreKeys,
    /// Which of them are those of the ket and of the bra.
    pub taken: [usize; 2],
}

/// Makes an environment of `count` elements ready for a step: (bra, slots, split) as for [`super::operator::shift`].
///
/// # Errors
/// [`Error::Internal`] for a core without a key; as for every [launch](crate::backend::gpu::kernels#errors).
pub fn ready(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    environment: Region<'_>,
    (bra, slots, split): (usize, usize, usize),
    count: usize,
    ready: Ready<'_>,
) -> Result<()> {
    let parameters = TtReadyParams {
        environment: environment.array("environment", count, dtype.size())?,
        keys: ready.keys.array("keys", KEYS / 8, 8)?,
        from: ready.from.array("exponents", 2, 8)?,
        to: ready.to.array("exponents", 2, 8)?,
        alpha: ready.alpha.array("factor", 1, 16)?,
        ket_key: ready.cores.key(ready.taken[0])?,
        bra_key: ready.cores.key(ready.taken[1])?,
        bra: to_i64(bra),
        slots: to_i64(slots),
        split: to_i64(split),
        count: to_i64(count),
    };
    // SAFETY: all arrays were checked.
    unsafe { start(dtype, gpu, stream, "ready", over(count), 0, &parameters) }
}

/// The terms of both groups from `count` partial sums, pairs of numbers. The first `split` belong to the first group.
/// `exponents` are those of the groups on both sides, and `known` is added to them.
///
/// # Errors
/// [`Error::Internal`] if `split` is more than `count`; as for every [launch](crate::backend::gpu::kernels#errors).
pub fn collect(
    gpu: &Gpu,
    stream: &GpuStream,
    sums: Region<'_>,
    (split, count): (usize, usize),
    exponents: [Region<'_>; 2],
    known: [i64; 2],
    terms: [Region<'_>; 2],
) -> Result<()> {
    if split > count {
        return Err(Error::Internal(format!("{split} of {count} sums")));
    }
    let parameters = TtCollectParams {
        sums: sums.array("sums", product("sums", &[count, 2])?, 8)?,
        left: exponents[0].array("exponents", 2, 8)?,
        right: exponents[1].array("exponents", 2, 8)?,
        first: terms[0].array("terms", RESULT_WORDS, 8)?,
        second: terms[1].array("terms", RESULT_WORDS, 8)?,
        split: to_i64(split),
        count: to_i64(count),
        exponents: known,
    };
    let kernel = gpu.kernel("tt_result", "purlin_tt_collect")?;
    let threads = u32::try_from(SUM_THREADS).unwrap_or(u32::MAX);
    // SAFETY: all arrays were checked.
    unsafe { launch(&kernel, stream, Grid::row(2, threads, SUM_SHARED), &parameters) }
}

/// `numerator` over a real `denominator`, all of [`result::NUMBERS`] numbers.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn quotient(
    gpu: &Gpu,
    stream: &GpuStream,
    numerator: Region<'_>,
    denominator: Region<'_>,
    to: Region<'_>,
) -> Result<()> {
    let number = |region: Region<'_>| region.array("number", result::NUMBERS, 8);
    let parameters =
        TtQuotientParams { numerator: number(numerator)?, denominator: number(denominator)?, result: number(to)? };
    let kernel = gpu.kernel("tt_result", "purlin_tt_quotient")?;
    // SAFETY: the three arrays were checked.
    unsafe { launch(&kernel, stream, Grid::row(1, 32, 0), &parameters) }
}
