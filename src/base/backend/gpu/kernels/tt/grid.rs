//! The grid kernel: one product by the whole device.

use super::super::mirrors::TtGridParams;
use super::super::{constants as c, product, size, suffix_of};
use super::chain::chain_params;
use super::sizes::STATE_BYTES;
use super::sweep::Sweep;
use super::tables::{Site, Tables};
use crate::backend::gpu::launch::{Grid, launch_together};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

/// Work space of [`grid`]: elements of an environment and of a product, the largest of all sites.
///
/// # Errors
/// [`Error::InvalidArgument`] for sizes whose product overflows.
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
///
/// # Errors
/// [`Error::Internal`] for a pair beyond those of the boundary, a sweep that does not fit the tables, cores without
/// addresses of their own, and a careful sweep of tables without keys; [`Error::NotSupported`] if the GPU does not run
/// enough blocks at once; as for every [launch](crate::backend::gpu::kernels#errors).
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
