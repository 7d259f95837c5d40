//! Kernels between a library's products: the first and the last core, and the scaling of environments.

use super::super::mirrors::{TtEdgeParams, TtFactorsParams, TtMeasureParams};
use super::super::{constants as c, product, small, suffix_of};
use super::plain::launch_plain;
use super::sizes::{SUM_SHARED, over};
use super::{RESULT_WORDS, STATE_BYTES, Site, Tables};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};

/// Factor and exponent of a state for an environment of `count` elements.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn measure(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    environment: Region<'_>,
    count: usize,
    state: Region<'_>,
    unscaled: bool,
) -> Result<()> {
    let parameters = TtMeasureParams {
        environment: environment.array("environment", count, dtype.size())?,
        state: state.array("state", STATE_BYTES / 16, 16)?,
        count: to_i64(count),
        flags: if unscaled { i64::from(c::TT_UNSCALED) } else { 0 },
    };
    // SAFETY: both arrays were checked.
    unsafe { launch_plain(dtype, gpu, stream, "measure", over(count), &parameters) }
}

/// A core: that of x (0) or of y (1), and its number.
pub type Core = (usize, usize);

/// Scaling by the largest numbers of the cores, in tables that were measured.
#[derive(Clone, Copy)]
pub struct Careful<'a>(pub &'a Tables<'a>);

impl Careful<'_> {
    /// Address of a core's key; 0 for none.
    fn key(&self, core: Option<Core>) -> Result<u64> {
        let Some((side, k)) = core else { return Ok(0) };
        match self.0.keys(side) {
            keys if keys != 0 && k < self.0.cores() => Ok(keys + to_u64(k * 8)),
            _ => Err(Error::Internal(format!("the largest number of core {k}"))),
        }
    }
}

/// The cores of a site, by whose numbers its products are scaled: the one that comes first, the other, and the first one of
/// the next site.
#[derive(Debug, Clone, Copy, Default)]
pub struct Factors {
    /// The core that is multiplied with the environment.
    pub first: Option<Core>,
    /// The core that is multiplied with that product.
    pub second: Option<Core>,
    /// The core that the next environment is multiplied with.
    pub next: Option<Core>,
}

/// The factors of both products of a site, for an environment of `count` elements that has just been made: that of the first
/// to the beginning of `state`, that of the other to `second`, which takes 16 bytes.
///
/// # Errors
/// [`Error::Internal`] for cores without keys; as for every [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn factors(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    careful: Careful<'_>,
    environment: Region<'_>,
    count: usize,
    cores: Factors,
    state: Region<'_>,
    second: Region<'_>,
) -> Result<()> {
    let parameters = TtFactorsParams {
        environment: environment.array("environment", count, dtype.size())?,
        state: state.array("state", STATE_BYTES / 16, 16)?,
        second: second.array("factor", 1, 16)?,
        first_key: careful.key(cores.first)?,
        second_key: careful.key(cores.second)?,
        next_key: careful.key(cores.next)?,
        count: to_i64(count),
    };
    // SAFETY: the arrays were checked, the keys are those of tables.
    unsafe { launch_plain(dtype, gpu, stream, "factors", over(count), &parameters) }
}

/// The first or the last core of both trains, for some boundary pairs.
#[derive(Clone, Copy)]
pub struct Edge<'a> {
    /// X [r, n, r'], packed.
    pub x: Region<'a>,
    /// Y [s, n, s'], packed.
    pub y: Region<'a>,
    /// Mode size n, and the ranks r, r', s and s'.
    pub site: Site,
    /// First pair and number of pairs.
    pub pairs: (usize, usize),
    /// Whether pairs have p_x <= p_y.
    pub halved: bool,
    /// Whether y is conjugated in the product.
    pub conjugate: bool,
    /// Whether the environment is F[b, a, p], pair after pair, and not F[b, p, a].
    pub apart: bool,
    /// Scales by the largest numbers of these cores, whose number is given, and readies the environment for the core that
    /// comes first at the next site, if there is one.
    pub careful: Option<(Careful<'a>, usize, Option<Core>)>,
}

impl Edge<'_> {
    fn params(&self, dtype: DType, is_last: bool) -> Result<TtEdgeParams> {
        let Site { r, s, n } = self.site;
        let (outer, inner) = if is_last { (1, 0) } else { (0, 1) };
        let all = if self.halved { r[outer] * (r[outer] + 1) / 2 } else { r[outer].saturating_mul(s[outer]) };
        let (first, pairs) = self.pairs;
        if first.checked_add(pairs).is_none_or(|end| end > all) || pairs == 0 {
            return Err(Error::Internal(format!("pairs from {first} on, {pairs} of {all}")));
        }
        let flag = |on: bool, bit: i32| if on { i64::from(bit) } else { 0 };
        let (careful, k, next) = self.careful.map_or((None, 0, None), |(c, k, next)| (Some(c), k, next));
        let key = |core: Option<Core>| careful.map_or(Ok(0), |c| c.key(core));
        Ok(TtEdgeParams {
            x: self.x.array("x", product("core", &[r[0], n, r[1]])?, dtype.size())?,
            y: self.y.array("y", product("core", &[s[0], n, s[1]])?, dtype.size())?,
            environment: 0,
            state: 0,
            results: 0,
            x_key: key(Some((0, k)))?,
            y_key: key(Some((1, k)))?,
            next_key: key(next)?,
            first_pair: to_i64(first),
            pairs: to_i64(pairs),
            pairs_x: to_i64(r[outer]),
            pairs_y: to_i64(s[outer]),
            r: to_i64(r[inner]),
            s: to_i64(s[inner]),
            n: to_i64(n),
            flags: flag(self.conjugate, c::TT_CONJUGATE)
                | flag(self.halved, c::TT_HALVED)
                | flag(self.apart, c::TT_APART),
        })
    }

    fn environment(&self, dtype: DType, inner: usize, environment: Region<'_>) -> Result<u64> {
        let Site { r, s, .. } = self.site;
        let elements = product("environment", &[s[inner], self.pairs.1, r[inner]])?;
        environment.array("environment", elements, dtype.size())
    }
}

/// F[b, p, a] behind the first core; `state` is 0 and stays so, but for the exponent where there are keys.
///
/// # Errors
/// [`Error::Internal`] for no pairs, pairs beyond those of the boundary, and cores without keys; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn begin(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    edge: &Edge<'_>,
    environment: Region<'_>,
    state: Region<'_>,
) -> Result<()> {
    let parameters = TtEdgeParams {
        environment: edge.environment(dtype, 1, environment)?,
        state: state.array("state", STATE_BYTES / 16, 16)?,
        ..edge.params(dtype, false)?
    };
    let count = edge.site.s[1].saturating_mul(edge.pairs.1).saturating_mul(edge.site.r[1]);
    // SAFETY: every array was checked.
    unsafe { launch_plain(dtype, gpu, stream, "begin", over(count), &parameters) }
}

/// A result for each pair from F[b, p, a] before the last core. `state` has the factor of F.
///
/// # Errors
/// As [`begin`].
pub fn end(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    edge: &Edge<'_>,
    environment: Region<'_>,
    state: Region<'_>,
    results: Region<'_>,
) -> Result<()> {
    let pairs = edge.pairs.1;
    let parameters = TtEdgeParams {
        environment: edge.environment(dtype, 0, environment)?,
        state: state.array("state", STATE_BYTES / 16, 16)?,
        results: results.array("results", product("results", &[pairs, RESULT_WORDS])?, 8)?,
        ..edge.params(dtype, true)?
    };
    let kernel = gpu.kernel("tt", &format!("purlin_tt_end_{}", suffix_of(dtype)?))?;
    let blocks = small("pairs", pairs)?.unsigned_abs();
    // SAFETY: every array was checked.
    unsafe { launch(&kernel, stream, Grid::row(blocks, c::TT_SUM_THREADS.unsigned_abs(), SUM_SHARED), &parameters) }
}
