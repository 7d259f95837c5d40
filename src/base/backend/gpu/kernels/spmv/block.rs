//! Products with several vectors, whose numbers lie side by side.

use super::super::mirrors::SpmvBlockParams;
use super::multiply::kernel;
use super::{Finish, Rows, Shares, TILE_WORDS};
use crate::backend::gpu::kernels::{constants as c, optional, product, small, span};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

/// Most dynamic shared memory of a block of the products with several vectors, and most entries of a tile.
const BLOCK_SHARED: usize = 40 << 10;
const BLOCK_TILE: usize = 512;

/// A block of vectors: element (r, k) at `r * stride + k`.
#[derive(Clone, Copy)]
pub struct Vectors<'a> {
    /// From element (0, 0) on.
    pub memory: Region<'a>,
    /// Numbers from one row to the next.
    pub stride: usize,
}

/// Computes `finish` of A times `gathered` for `width` vectors; its x and y have rows of the strides given last, and it
/// has no factors on the device and no third vector. Tiles have no more than [`block_entries`] entries, and partials
/// hold `width` numbers a piece.
///
/// # Errors
/// [`Error::Internal`] for a `finish` with factors on the device or a third vector, or with a shift or diagonal but
/// without x; as for every [launch](crate::backend::gpu::kernels#errors).
#[expect(clippy::too_many_arguments, reason = "a matrix, its shares and two blocks")]
pub fn block(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    a: &Rows<'_>,
    shares: Shares<'_>,
    width: usize,
    gathered: Vectors<'_>,
    finish: &Finish<'_>,
    strides: (usize, usize),
) -> Result<()> {
    let (real, pieces) = (dtype.size(), &shares.pieces);
    let mut p = SpmvBlockParams {
        row_ptr: a.row_ptr()?,
        columns: a.columns.array("col_idx", a.entries, 4)?,
        values: optional(dtype.size(), "values", a.values, a.entries)?,
        x: gathered.memory.array("x", span("x", width, 1, a.cols, gathered.stride)?, real)?,
        tiles: shares.list.array("tiles", (shares.count + 1) * TILE_WORDS, 8)?,
        partials: pieces.partials.array("partials", product("partials", &[pieces.count, width])?, real)?,
        x_stride: to_i64(gathered.stride),
        ..finished(dtype, a.rows, width, finish, strides)?
    };
    let is_wide = real < 16
        && (width * real).is_multiple_of(16)
        && (gathered.stride * real).is_multiple_of(16)
        && p.x.is_multiple_of(16);
    let function =
        kernel(dtype, gpu, if is_wide { "block_wide" } else { "block" }, Some(a.narrow), a.values.is_none())?;
    let threads = c::SPMV_THREADS.unsigned_abs();
    let shared = product("products", &[block_entries(dtype, width), width, real])?;
    let grid = Grid::row(small("tiles", shares.count)?.unsigned_abs(), threads, shared);
    // SAFETY: the vectors and the arrays were checked against the matrix's sizes, and tiles were cut from its rows.
    unsafe { launch(&function, stream, grid, &p) }?;
    p.tiles = pieces.longs.array("long rows", pieces.rows + 1, 8)?;
    p.count = small("long rows", pieces.rows)?;
    let grid = Grid::covering(product("long rows", &[pieces.rows, width])?, threads)?;
    // SAFETY: as above; the pieces are those of the tiles.
    unsafe { launch(&kernel(dtype, gpu, "block_join", None, false)?, stream, grid, &p) }
}

/// The finish of the sums, without the gathered vectors.
fn finished(
    dtype: DType,
    rows: usize,
    width: usize,
    finish: &Finish<'_>,
    (own_stride, y_stride): (usize, usize),
) -> Result<SpmvBlockParams> {
    if finish.alpha_factor.is_some() || finish.gamma_factor.is_some() || finish.more.is_some() {
        return Err(Error::Internal("a block of vectors with factors on the device".into()));
    }
    let numbers = |what: &str, stride: usize| span(what, width, 1, rows, stride);
    let own = finish.own()?;
    let own = own.map(|x| x.array("x", numbers("x", own_stride)?, dtype.size())).transpose()?;
    Ok(SpmvBlockParams {
        y: finish.y.array("y", numbers("y", y_stride)?, dtype.size())?,
        y_stride: to_i64(y_stride),
        own: own.unwrap_or(0),
        own_stride: to_i64(own_stride),
        scale: optional(dtype.part_size(), "row_scale", finish.row_scale, rows)?,
        diagonal: optional(dtype.part_size(), "diagonal", finish.diagonal, rows)?,
        width: small("width", width)?,
        alpha: [finish.alpha.re, finish.alpha.im],
        beta: [finish.beta.re, finish.beta.im],
        shift: [finish.shift.re, finish.shift.im],
        weight: [finish.weight.re, finish.weight.im],
        ..SpmvBlockParams::default()
    })
}

/// Computes `finish` of sums that are 0, for `rows` rows of `width` numbers, with strides as [`block`] has them.
///
/// # Errors
/// As [`block`].
pub fn rest_block(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    (rows, width): (usize, usize),
    finish: &Finish<'_>,
    strides: (usize, usize),
) -> Result<()> {
    let p = SpmvBlockParams { count: small("rows", rows)?, ..finished(dtype, rows, width, finish, strides)? };
    let grid = Grid::covering(product("rows", &[rows, width])?, c::SPMV_THREADS.unsigned_abs())?;
    // SAFETY: the vectors were checked against the number of rows; without a list the kernel reads nothing else.
    unsafe { launch(&kernel(dtype, gpu, "block_join", None, false)?, stream, grid, &p) }
}

/// Most entries of a tile for a block of `width` vectors: a power of two.
pub fn block_entries(dtype: DType, width: usize) -> usize {
    1 << (BLOCK_SHARED / (width.max(1) * dtype.size())).clamp(1, BLOCK_TILE).ilog2()
}
