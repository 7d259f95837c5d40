//! Products with several vectors, whose numbers lie side by side.

use super::{BlockParams, Rows, Shares, TILE_WORDS, kernel};
use crate::backend::gpu::kernels::{constants as c, optional, product, small, span};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::{Complex, Scalar};
use crate::shape::to_i64;

/// Most dynamic shared memory of a block of the products with several vectors, and most entries of a tile.
const BLOCK_SHARED: usize = 40 << 10;
const BLOCK_TILE: usize = 512;

/// A block of vectors: element (r, k) at `r * stride + k`.
#[derive(Clone, Copy)]
pub struct Vectors<'a> {
    /// The numbers.
    pub memory: Region<'a>,
    /// Numbers from one row to the next.
    pub stride: usize,
}

/// Y = alpha A X + beta Y for `width` vectors. Tiles have no more than [`block_entries`] entries, and partials hold `width`
/// numbers a piece.
#[expect(clippy::too_many_arguments, reason = "a matrix, its shares and two blocks")]
pub fn block<T: Scalar>(
    gpu: &Gpu,
    stream: &GpuStream,
    a: &Rows<'_>,
    shares: Shares<'_>,
    width: usize,
    x: Vectors<'_>,
    y: Vectors<'_>,
    (alpha, beta): (Complex<f64>, Complex<f64>),
) -> Result<()> {
    let (real, pieces) = (size_of::<T>(), &shares.pieces);
    let array = |what: &str, v: &Vectors<'_>, rows| v.memory.array(what, span(what, width, 1, rows, v.stride)?, real);
    let mut p = BlockParams {
        row_ptr: a.row_ptr()?,
        columns: a.columns.array("col_idx", a.entries, 4)?,
        values: optional::<T>("values", a.values, a.entries)?,
        x: array("x", &x, a.cols)?,
        y: array("y", &y, a.rows)?,
        tiles: shares.list.array("tiles", (shares.count + 1) * TILE_WORDS, 8)?,
        partials: pieces.partials.array("partials", product("partials", &[pieces.count, width])?, real)?,
        x_stride: to_i64(x.stride),
        y_stride: to_i64(y.stride),
        count: 0,
        width: small("width", width)?,
        alpha: [alpha.re, alpha.im],
        beta: [beta.re, beta.im],
    };
    let is_wide = real < 16
        && (width * real).is_multiple_of(16)
        && (x.stride * real).is_multiple_of(16)
        && p.x.is_multiple_of(16);
    let function = kernel::<T>(gpu, if is_wide { "block_wide" } else { "block" }, Some(a.narrow), a.values.is_none())?;
    let threads = c::SPMV_THREADS.unsigned_abs();
    let shared = product("products", &[block_entries::<T>(width), width, real])?;
    let grid = Grid::row(small("tiles", shares.count)?.unsigned_abs(), threads, shared);
    // SAFETY: X, Y and the arrays were checked against the matrix's sizes, and tiles were cut from its rows.
    unsafe { launch(&function, stream, grid, &p) }?;
    p.tiles = pieces.longs.array("long rows", pieces.rows + 1, 8)?;
    p.count = small("long rows", pieces.rows)?;
    let grid = Grid::covering(product("long rows", &[pieces.rows, width])?, threads)?;
    // SAFETY: as above; the pieces are those of the tiles.
    unsafe { launch(&kernel::<T>(gpu, "block_join", None, false)?, stream, grid, &p) }
}

/// Y = beta Y for `width` vectors; with beta = 0 nothing of Y is read.
pub fn scale_block<T: Scalar>(
    gpu: &Gpu,
    stream: &GpuStream,
    rows: usize,
    width: usize,
    y: Vectors<'_>,
    beta: Complex<f64>,
) -> Result<()> {
    let p = BlockParams {
        y: y.memory.array("y", span("y", width, 1, rows, y.stride)?, size_of::<T>())?,
        y_stride: to_i64(y.stride),
        count: small("rows", rows)?,
        width: small("width", width)?,
        beta: [beta.re, beta.im],
        ..BlockParams::default()
    };
    let grid = Grid::covering(product("rows", &[rows, width])?, c::SPMV_THREADS.unsigned_abs())?;
    // SAFETY: Y was checked against the number of rows; without a list the kernel reads nothing else.
    unsafe { launch(&kernel::<T>(gpu, "block_join", None, false)?, stream, grid, &p) }
}

/// Most entries of a tile for a block of `width` vectors: a power of two.
pub fn block_entries<T: Scalar>(width: usize) -> usize {
    1 << (BLOCK_SHARED / (width.max(1) * size_of::<T>())).clamp(1, BLOCK_TILE).ilog2()
}
