//! The kernels of `cuda/tt.cu`.
//!
//! `mod.rs`, `operator.rs`, `result.rs`, `sandwich.rs` and `tables.rs` import each other: kernels of one unit of `cuda`
//! share sizes, tables and the store of the result.

pub mod bonds;
pub mod digits;
mod library;
pub mod operator;
pub mod result;
pub mod rings;
pub mod sandwich;
mod state;
mod tables;
pub mod tf32;

use super::mirrors::{TtChainParams, TtGridParams, TtJoinParams, TtPromoteParams};
use super::{constants as c, product, size, small, suffix_of};
use crate::backend::gpu::launch::{Grid, Parameters, launch, launch_together};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::{DType, Real};
use crate::shape::to_i64;

pub use library::{Careful, Core, Edge, Factors, begin, end, factors, measure};
pub use state::{exponents, scale};
pub use tables::{Places, Site, Tables};

/// Bytes of what a contraction leaves beside its environment; the first 16 are the factor for a library's next product.
pub const STATE_BYTES: usize = size(c::TT_STATE_BYTES);
/// Words of 64 bits of a result: real and imaginary part, exponent, and whether there is doubt.
pub const RESULT_WORDS: usize = size(c::TT_RESULT_BYTES) / 8;
/// Threads of a block of those that go over a list.
pub const SUM_THREADS: usize = size(c::TT_SUM_THREADS);
/// Shared memory of those that sum: two numbers a warp.
const SUM_SHARED: usize = SUM_THREADS / 32 * 16;
/// Most blocks of those that go over a list.
const SUM_BLOCKS: usize = 512;

/// How the trains are swept.
#[derive(Debug, Clone, Copy)]
pub struct Sweep {
    /// Sites: a multiple of the cores.
    pub length: usize,
    /// Sites from the left where both ends are contracted at once.
    pub middle: Option<usize>,
    /// Bond values of x at the boundary.
    pub pairs_x: usize,
    /// Whether pairs have p_x <= p_y.
    pub halved: bool,
    /// Whether y is conjugated in the product.
    pub conjugate: bool,
    /// Whether environments are never rescaled: norms may overflow or underflow.
    pub unscaled: bool,
}

impl Sweep {
    fn flags(&self) -> i32 {
        let flag = |on: bool, bit: i32| if on { bit } else { 0 };
        flag(self.conjugate, c::TT_CONJUGATE)
            | flag(self.unscaled, c::TT_UNSCALED)
            | flag(self.halved, c::TT_HALVED)
            | flag(self.middle.is_some(), c::TT_TWO_ENDED)
    }
}

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

/// The largest rank that a sweep meets, in whole eights: what the chain kernel lays its matrices out for. The bond that is
/// cut has one value at a time.
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
pub fn chain_fits(dtype: DType, gpu: &Gpu, form: Form, rank: usize) -> Result<bool> {
    let (letter, _, most, _) = form.figures();
    if rank > most {
        return Ok(false);
    }
    let kernel = gpu.kernel("tt", &format!("purlin_tt_chain_{letter}_{}", suffix_of(dtype)?))?;
    Ok(chain_shared(dtype, form, rank.next_multiple_of(8)) <= kernel.most_shared())
}

fn chain_params(tables: &Tables<'_>, sweep: &Sweep, careful: bool) -> Result<TtChainParams> {
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

/// Work space of [`grid`]: elements of an environment and of a product, the largest of all sites.
pub fn grid_strides(sites: &[Site]) -> Result<(usize, usize)> {
    let (mut environment, mut products) = (1, 1);
    for site in sites {
        let ([r, r2], [s, s2], n) = (site.r, site.s, site.n);
        environment = environment.max(product("rank", &[r, s])?).max(product("rank", &[r2, s2])?);
        products = products.max(product("rank", &[n, s, r2])?).max(product("rank", &[n, s2, r])?);
    }
    Ok((environment, products))
}

/// Keys of a site in [`grid`]: of its environment and of its first product.
pub const GRID_KEYS: usize = 2;

/// Device memory that [`grid`] works in.
#[derive(Clone, Copy)]
pub struct GridSpace<'a> {
    /// Elements: 2 * (2 environments + 1 product) by [`grid_strides`].
    pub elements: Region<'a>,
    /// Two states, zeroed by the caller.
    pub states: Region<'a>,
    /// [`GRID_KEYS`] zeroed words for each site.
    pub keys: Region<'a>,
    /// Two words of 32 bits.
    pub places: Region<'a>,
}

/// The environments of bond values `pair` of the first product in the tables, by all of the device. `wide` takes larger
/// tiles; it is ignored where they do not fit.
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn grid(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    tables: &Tables<'_>,
    sweep: &Sweep,
    pair: (usize, usize),
    careful: bool,
    wide: bool,
    space: GridSpace<'_>,
) -> Result<()> {
    let (environment, products) = grid_strides(tables.sites())?;
    let site = tables.sites().first().ok_or_else(|| Error::Internal("trains without cores".into()))?;
    if pair.0 >= site.r[0] || pair.1 >= site.s[0] {
        return Err(Error::Internal(format!("pair {pair:?} of {site:?}")));
    }
    let elements = product("work space", &[2, 2 * environment + products])?;
    let chain = chain_params(tables, sweep, careful)?;
    if (chain.x_core_stride, chain.y_core_stride) != (1, 1) {
        return Err(Error::Internal("one product of cores without addresses of their own".into()));
    }
    let parameters = TtGridParams {
        sites: chain.sites,
        x_bases: chain.x_bases,
        y_bases: chain.y_bases,
        space: space.elements.array("work space", elements, dtype.size())?,
        states: space.states.array("states", 2 * STATE_BYTES / 8, 8)?,
        keys: space.keys.array("keys", product("sites", &[sweep.length, GRID_KEYS])?, 8)?,
        places: space.places.array("places", 2, 4)?,
        x_keys: chain.x_keys,
        y_keys: chain.y_keys,
        environment_stride: to_i64(environment),
        product_stride: to_i64(products),
        pair_x: to_i64(pair.0),
        pair_y: to_i64(pair.1),
        length: chain.length,
        cores: chain.cores,
        middle: chain.middle,
        core_bases: 1,
        flags: chain.flags,
        reserved: 0,
    };
    let form = |letter: char, tile: i32, threads: i32| -> Result<_> {
        let kernel = gpu.kernel("tt", &format!("purlin_tt_grid_{letter}_{}", suffix_of(dtype)?))?;
        let panels = size(c::TT_GRID_DEPTH) * 2 * (size(c::TT_GRID_PANEL) + 4) * size(tile);
        Ok((kernel, threads.unsigned_abs(), panels * dtype.size() + size(c::TT_CHAIN_KEYS) * 8))
    };
    let mut tile = size(c::TT_GRID_S_TILE);
    let (mut kernel, mut threads, mut shared) = form('s', c::TT_GRID_S_TILE, c::TT_GRID_S_THREADS)?;
    if wide {
        let (large, its_threads, its_shared) = form('l', c::TT_GRID_L_TILE, c::TT_GRID_L_THREADS)?;
        if its_shared <= large.most_shared() {
            (kernel, threads, shared) = (large, its_threads, its_shared);
            tile = size(c::TT_GRID_L_TILE);
        }
    }
    // Blocks without a tile would only be waited for.
    let tiles = |s: &Site| {
        let high = |rank: usize| rank.div_ceil(tile);
        s.n * (high(s.s[0]) * high(s.r[1])).max(high(s.s[1]) * high(s.r[0]))
    };
    let most = u32::try_from(tables.sites().iter().map(tiles).max().unwrap_or(1)).unwrap_or(u32::MAX);
    let resident = kernel.resident_blocks(threads, shared)?;
    let blocks = if sweep.middle.is_some() { most.min(resident / 2) * 2 } else { most.min(resident) };
    if blocks == 0 {
        let least = if sweep.middle.is_some() { 2 } else { 1 };
        let problem = format!("tensor trains: the GPU runs {resident} blocks at once, at least {least} are needed");
        return Err(Error::NotSupported(problem));
    }
    // SAFETY: every array was checked, the cores when the tables were made; the work space is that of the closed formula.
    unsafe { launch_together(&kernel, stream, Grid::row(blocks, threads, shared), &parameters) }
}

/// Blocks that sum `count` numbers, and so partial results.
pub fn sum_blocks(count: usize) -> usize {
    count.div_ceil(4 * SUM_THREADS).clamp(1, SUM_BLOCKS)
}

/// Partial sums, [`sum_blocks`] of them, of `left[j] * right[j]`, or of `left[j]` alone. With `places` (as [`grid`] leaves
/// them) each environment is one of two, `stride` elements apart.
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn join(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    left: Region<'_>,
    right: Option<Region<'_>>,
    (count, stride): (usize, usize),
    states: Region<'_>,
    places: Option<Region<'_>>,
    (conjugate_right, unscaled): (bool, bool),
    results: Region<'_>,
) -> Result<()> {
    let blocks = sum_blocks(count);
    let reach = if places.is_some() { stride.saturating_add(count) } else { count };
    let flag = |on: bool, bit: i32| if on { i64::from(bit) } else { 0 };
    let parameters = TtJoinParams {
        left: left.array("left", reach, dtype.size())?,
        right: right.map_or(Ok(0), |r| r.array("right", reach, dtype.size()))?,
        states: states.array("states", 2 * STATE_BYTES / 8, 8)?,
        places: places.map_or(Ok(0), |p| p.array("places", 2, 4))?,
        results: results.array("results", blocks * RESULT_WORDS, 8)?,
        stride: to_i64(stride),
        count: to_i64(count),
        flags: flag(conjugate_right, c::TT_JOIN_CONJUGATE) | flag(unscaled, c::TT_UNSCALED),
    };
    let kernel = gpu.kernel("tt", &format!("purlin_tt_join_{}", suffix_of(dtype)?))?;
    let grid = Grid::row(u32::try_from(blocks).unwrap_or(1), c::TT_SUM_THREADS.unsigned_abs(), SUM_SHARED);
    // SAFETY: every array was checked; `places` holds 0 or 1, as `grid` wrote them.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// Launches a kernel without shared memory.
///
/// # Safety
/// As for [`launch`].
unsafe fn launch_plain<P: Parameters>(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    name: &str,
    blocks: [u32; 3],
    parameters: &P,
) -> Result<()> {
    let kernel = gpu.kernel("tt", &format!("purlin_tt_{name}_{}", suffix_of(dtype)?))?;
    let grid = Grid { blocks, threads: c::TT_SUM_THREADS.unsigned_abs(), shared: 0 };
    // SAFETY: the caller's promise is the same.
    unsafe { launch(&kernel, stream, grid, parameters) }
}

/// Blocks that go over a list.
fn over(count: usize) -> [u32; 3] {
    [u32::try_from(sum_blocks(count)).unwrap_or(1), 1, 1]
}

/// Complex numbers with the given real parts.
pub fn promote<R: Real>(
    gpu: &Gpu,
    stream: &GpuStream,
    count: usize,
    input: Region<'_>,
    output: Region<'_>,
) -> Result<()> {
    let parameters = TtPromoteParams {
        input: input.array("input", count, size_of::<R>())?,
        output: output.array("output", count, 2 * size_of::<R>())?,
        count: to_i64(count),
    };
    let kernel = gpu.kernel("tt", &format!("purlin_tt_promote_{}", suffix_of(R::DTYPE)?))?;
    let grid = Grid { blocks: over(count), threads: c::TT_SUM_THREADS.unsigned_abs(), shared: 0 };
    // SAFETY: both arrays were checked.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

const _: () = assert!(STATE_BYTES.is_multiple_of(16) && size(c::TT_SITE_BYTES) == 40);
