//! The chain kernel: a block for each product, for small ranks.

use super::super::mirrors::TtChainParams;
use super::super::{constants as c, product, size, small, suffix_of};
use super::sizes::{RESULT_WORDS, STATE_BYTES};
use super::sweep::Sweep;
use super::tables::{Site, Tables};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

/// A form of the chain kernel: how many warps there are, and how much each has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One warp, ranks up to 16.
    A,
    /// Four warps, ranks up to 32.
    B,
    /// Sixteen warps, ranks up to 32: for few products at a time.
    C,
    /// Eight warps, ranks up to 64.
    D,
}

impl Form {
    /// Letter, threads, largest rank, depth of the ring of slices.
    const fn figures(self) -> (char, u32, usize, usize) {
        match self {
            Self::A => ('a', c::TT_CHAIN_A_THREADS.unsigned_abs(), size(c::TT_CHAIN_A_RANK), size(c::TT_CHAIN_A_DEPTH)),
            Self::B => ('b', c::TT_CHAIN_B_THREADS.unsigned_abs(), size(c::TT_CHAIN_B_RANK), size(c::TT_CHAIN_B_DEPTH)),
            Self::C => ('c', c::TT_CHAIN_C_THREADS.unsigned_abs(), size(c::TT_CHAIN_C_RANK), size(c::TT_CHAIN_C_DEPTH)),
            Self::D => ('d', c::TT_CHAIN_D_THREADS.unsigned_abs(), size(c::TT_CHAIN_D_RANK), size(c::TT_CHAIN_D_DEPTH)),
        }
    }
}

/// The largest rank of a sweep, rounded up to a multiple of 8: the edge of the matrices of the chain kernel. The bond
/// that is cut has one value at a time.
pub fn chain_edge(sites: &[Site], length: usize) -> usize {
    let last = sites.len().saturating_sub(1);
    let around = length > sites.len();
    let ranks = sites.iter().enumerate().flat_map(|(k, site)| {
        let (left, right) = (around || k > 0, around || k < last);
        [(left, site.r[0]), (left, site.s[0]), (right, site.r[1]), (right, site.s[1])]
    });
    ranks.filter(|r| r.0).map(|r| r.1).max().unwrap_or(1).next_multiple_of(8)
}

fn chain_shared(dtype: DType, form: Form, edge: usize) -> usize {
    let (_, _, _, depth) = form.figures();
    (2 + depth) * (edge + 4) * edge * dtype.size() + size(c::TT_CHAIN_KEYS) * 8
}

/// Whether a form of the chain kernel takes ranks up to `rank` on this device.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn chain_fits(dtype: DType, gpu: &Gpu, form: Form, rank: usize) -> Result<bool> {
    let (letter, _, most, _) = form.figures();
    if rank > most {
        return Ok(false);
    }
    let kernel = gpu.kernel("tt", &format!("purlin_tt_chain_{letter}_{}", suffix_of(dtype)?))?;
    Ok(chain_shared(dtype, form, rank.next_multiple_of(8)) <= kernel.most_shared())
}

pub(super) fn chain_params(tables: &Tables<'_>, sweep: &Sweep, careful: bool) -> Result<TtChainParams> {
    let d = tables.cores();
    if sweep.length == 0 || !sweep.length.is_multiple_of(d) || sweep.middle.is_some_and(|m| m == 0 || m >= sweep.length)
    {
        return Err(Error::Internal(format!("{sweep:?} over {d} cores")));
    }
    let keys = |side: usize| if careful { tables.keys(side) } else { 0 };
    if careful && keys(0) == 0 {
        return Err(Error::Internal("a careful sweep without keys".into()));
    }
    Ok(TtChainParams {
        sites: tables.shapes(),
        x_bases: tables.base(0),
        y_bases: tables.base(1),
        x_index: tables.index(0),
        y_index: tables.index(1),
        x_keys: keys(0),
        y_keys: keys(1),
        results: 0,
        environments: 0,
        states: 0,
        environment_stride: 0,
        x_train_stride: to_i64(tables.strides(0).0),
        y_train_stride: to_i64(tables.strides(1).0),
        x_core_stride: to_i64(tables.strides(0).1),
        y_core_stride: to_i64(tables.strides(1).1),
        first_pair: 0,
        pairs: 1,
        pairs_x: to_i64(sweep.pairs_x),
        length: small("sites", sweep.length)?,
        cores: small("cores", d)?,
        middle: small("sites", sweep.middle.unwrap_or(0))?,
        edge: small("rank", chain_edge(tables.sites(), sweep.length))?,
        flags: sweep.flags(),
        reserved: 0,
    })
}

fn chain(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    form: Form,
    blocks: usize,
    parameters: &TtChainParams,
) -> Result<()> {
    let (letter, threads, _, _) = form.figures();
    let edge = usize::try_from(parameters.edge).unwrap_or(usize::MAX);
    if !chain_fits(dtype, gpu, form, edge)? {
        return Err(Error::Internal(format!("ranks up to {edge} in form {letter} of the chain kernel")));
    }
    let kernel = gpu.kernel("tt", &format!("purlin_tt_chain_{letter}_{}", suffix_of(dtype)?))?;
    let blocks = small("products", blocks)?.unsigned_abs();
    let grid = Grid::row(blocks, threads, chain_shared(dtype, form, edge));
    // SAFETY: the callers checked every array; cores were checked when the tables were made.
    unsafe { launch(&kernel, stream, grid, parameters) }
}

/// Pairs `first .. first + pairs` of every product in the tables, a block each, to `results`: product by product.
///
/// # Errors
/// [`Error::Internal`] for pairs beyond those of the boundary, a sweep that does not fit the tables, ranks that `form`
/// does not take, and a careful sweep of tables without keys; as for every
/// [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn chain_pairs(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    form: Form,
    tables: &Tables<'_>,
    sweep: &Sweep,
    (first, pairs): (usize, usize),
    careful: bool,
    results: Region<'_>,
) -> Result<()> {
    let blocks = product("products", &[tables.items(), pairs])?;
    let site = tables.sites().first().ok_or_else(|| Error::Internal("trains without cores".into()))?;
    let all = if sweep.halved { site.r[0] * (site.r[0] + 1) / 2 } else { site.r[0].saturating_mul(site.s[0]) };
    if sweep.pairs_x != site.r[0] || first.checked_add(pairs).is_none_or(|end| end > all) || sweep.middle.is_some() {
        return Err(Error::Internal(format!("pairs from {first} on, {pairs} of {all}: {sweep:?}")));
    }
    let parameters = TtChainParams {
        results: results.array("results", blocks * RESULT_WORDS, 8)?,
        first_pair: to_i64(first),
        pairs: to_i64(pairs),
        ..chain_params(tables, sweep, careful)?
    };
    chain(dtype, gpu, stream, form, blocks, &parameters)
}

/// Both environments of the first product in the tables at bond `sweep.middle`, `stride` elements apart, and their states.
///
/// # Errors
/// [`Error::Internal`] for a sweep without a middle, a `stride` shorter than an environment, a sweep that does not fit
/// the tables, ranks that `form` does not take, and a careful sweep of tables without keys; as for every
/// [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn chain_ends(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    form: Form,
    tables: &Tables<'_>,
    sweep: &Sweep,
    careful: bool,
    (environments, stride): (Region<'_>, usize),
    states: Region<'_>,
) -> Result<()> {
    let middle = sweep.middle.ok_or_else(|| Error::Internal("two ends without a middle".into()))?;
    let site = tables.sites().get(middle % tables.cores());
    if site.is_none_or(|s| s.r[0].saturating_mul(s.s[0]) > stride) {
        return Err(Error::Internal(format!("environments of {site:?} in {stride} elements")));
    }
    let parameters = TtChainParams {
        environments: environments.array("environments", product("environments", &[2, stride])?, dtype.size())?,
        states: states.array("states", 2 * STATE_BYTES / 8, 8)?,
        environment_stride: to_i64(stride),
        ..chain_params(tables, sweep, careful)?
    };
    chain(dtype, gpu, stream, form, 2, &parameters)
}
