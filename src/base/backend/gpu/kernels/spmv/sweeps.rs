//! Products by columns, whose results are then summed by rows.

use super::super::mirrors::{SpmvCollectParams, SpmvPermuteParams, SpmvPrepareParams, SpmvSpreadParams};
use super::multiply::kernel;
use super::{Finish, Pieces, Rows, TILE_WORDS, UNIT_WORDS};
use crate::backend::gpu::kernels::{constants as c, optional, product, small};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::to_i64;

/// The form of a matrix that the two sweeps read.
#[derive(Clone, Copy)]
pub struct Swept<'a> {
    /// Tiles of up to `capacity` entries, and their end.
    pub tiles: Region<'a>,
    /// How many tiles there are.
    pub count: usize,
    /// U32: where the run of a tile and a block of columns begins.
    pub runs: Region<'a>,
    /// U16: where it goes to in shared memory, and the entries of the tile.
    pub offsets: Region<'a>,
    /// U16: where in shared memory each entry of the tile is.
    pub places: Region<'a>,
    /// U16: the column of each entry within its block.
    pub columns: Region<'a>,
    /// U32: the entry of the matrix.
    pub sources: Region<'a>,
    /// Entries, with the gaps between the blocks.
    pub entries: usize,
    /// Blocks that the columns are divided into.
    pub blocks: usize,
    /// Columns of a block, at most 65536: `columns` are U16.
    pub width: usize,
    /// Most entries of a tile.
    pub capacity: usize,
}

impl Swept<'_> {
    fn table(&self, per_tile: usize) -> Result<usize> {
        product("tiles", &[self.count, per_tile])
    }

    fn runs(&self) -> Result<u64> {
        self.runs.array("runs", self.table(self.blocks)?, 4)
    }

    fn offsets(&self) -> Result<u64> {
        self.offsets.array("offsets", self.table(self.blocks + 1)?, 2)
    }

    fn places(&self) -> Result<u64> {
        self.places.array("places", self.table(self.capacity)?, 2)
    }

    fn tiles(&self) -> Result<u64> {
        self.tiles.array("tiles", (self.count + 1) * TILE_WORDS, 8)
    }

    fn prepare(&self, a: &Rows<'_>, totals: Region<'_>) -> Result<SpmvPrepareParams> {
        Ok(SpmvPrepareParams {
            columns: a.columns.array("col_idx", a.entries, 4)?,
            tiles: self.tiles()?,
            runs: self.runs()?,
            offsets: self.offsets()?,
            places: self.places()?,
            totals: totals.array("totals", self.blocks, 4)?,
            short_columns: self.columns.array("short columns", self.entries, 2)?,
            sources: self.sources.array("sources", self.entries, 4)?,
            blocks: to_i64(self.blocks),
            width: to_i64(self.width),
            capacity: to_i64(self.capacity),
            count: to_i64(self.count),
        })
    }
}

/// Counts the entries of each tile in each block of columns, and sums them: `totals`, U32, has the entries of each block.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn count(gpu: &Gpu, stream: &GpuStream, a: &Rows<'_>, swept: &Swept<'_>, totals: Region<'_>) -> Result<()> {
    let p = swept.prepare(a, totals)?;
    let threads = c::SPMV_THREADS.unsigned_abs();
    let grid = Grid::row(small("tiles", swept.count)?.unsigned_abs(), threads, swept.blocks * 4);
    // SAFETY: tiles were cut from the matrix, whose columns are below blocks * width.
    unsafe { launch(&gpu.kernel("spmv", "purlin_spmv_count")?, stream, grid, &p) }?;
    let grid = Grid::row(small("blocks", swept.blocks)?.unsigned_abs(), threads, 0);
    // SAFETY: as above.
    unsafe { launch(&gpu.kernel("spmv", "purlin_spmv_accumulate")?, stream, grid, &p) }
}

/// Puts the entries in their places, after [`count`]; `begins` says where each block of columns begins.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn place(gpu: &Gpu, stream: &GpuStream, a: &Rows<'_>, swept: &Swept<'_>, begins: Region<'_>) -> Result<()> {
    let p = swept.prepare(a, begins)?;
    let grid = Grid::row(small("tiles", swept.count)?.unsigned_abs(), c::SPMV_THREADS.unsigned_abs(), swept.blocks * 8);
    // SAFETY: the counts were those of the same matrix, and blocks begin so that their counts fit.
    unsafe { launch(&gpu.kernel("spmv", "purlin_spmv_place")?, stream, grid, &p) }
}

/// Values of the matrix in the order of the sweeps.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn permute(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    swept: &Swept<'_>,
    (values, entries): (Region<'_>, usize),
    output: Region<'_>,
) -> Result<()> {
    let p = SpmvPermuteParams {
        sources: swept.sources.array("sources", swept.entries, 4)?,
        values: values.array("values", entries, dtype.size())?,
        output: output.array("values", swept.entries, dtype.size())?,
        count: to_i64(swept.entries),
    };
    let grid = Grid::covering(swept.entries, c::SPMV_THREADS.unsigned_abs())?;
    // SAFETY: sources are entries of the matrix that the sweeps were made for.
    unsafe { launch(&kernel(dtype, gpu, "permute", None, false)?, stream, grid, &p) }
}

/// The shared memory of a block that collects.
pub fn collect_shared(dtype: DType, blocks: usize, capacity: usize) -> usize {
    capacity * (dtype.size() + 2) + blocks * 4 + (blocks + 1) * 2
}

/// The two sweeps: products by columns, with `units` of them; then `finish` of their sums.
///
/// # Errors
/// [`crate::error::Error::Internal`] for a shift or diagonal in `finish` without x; as for every
/// [launch](crate::backend::gpu::kernels#errors).
#[expect(clippy::too_many_arguments, reason = "the inputs of two kernels")]
pub fn sweep(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    a: &Rows<'_>,
    swept: &Swept<'_>,
    (units, count): (Region<'_>, usize),
    values: Option<Region<'_>>,
    products: Region<'_>,
    pieces: Pieces<'_>,
    lanes: usize,
    gathered: Region<'_>,
    finish: &Finish<'_>,
) -> Result<()> {
    let products = products.array("products", swept.entries, dtype.size())?;
    let p = SpmvSpreadParams {
        units: units.array("units", count * UNIT_WORDS, 8)?,
        columns: swept.columns.array("short columns", swept.entries, 2)?,
        values: optional(dtype.size(), "values", values, swept.entries)?,
        gathered: gathered.array("x", a.cols, dtype.size())?,
        products,
        length: to_i64(a.cols),
        first: 0,
        width: to_i64(swept.width),
    };
    let threads = c::SPMV_SPREAD_THREADS.unsigned_abs();
    let grid = Grid::row(small("units", count)?.unsigned_abs(), threads, swept.width * dtype.size());
    // SAFETY: units are of the entries that there are, and columns within blocks of `width`.
    unsafe { launch(&kernel(dtype, gpu, "spread", None, values.is_none())?, stream, grid, &p) }?;
    let p = SpmvCollectParams {
        row_ptr: a.row_ptr()?,
        tiles: swept.tiles()?,
        runs: swept.runs()?,
        offsets: swept.offsets()?,
        places: swept.places()?,
        products,
        blocks: to_i64(swept.blocks),
        capacity: to_i64(swept.capacity),
        lanes: to_i64(lanes),
        pieces: pieces.params(dtype)?,
        finish: finish.params(dtype, a.rows)?,
    };
    let shared = collect_shared(dtype, swept.blocks, swept.capacity);
    let grid = Grid::row(small("tiles", swept.count)?.unsigned_abs(), threads, shared);
    // SAFETY: runs, offsets and places are those that `count` and `place` made of the same tiles.
    unsafe { launch(&kernel(dtype, gpu, "collect", Some(a.narrow), false)?, stream, grid, &p) }
}
