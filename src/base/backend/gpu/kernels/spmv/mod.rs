//! The kernels of `cuda/spmv.cu`.
//!
//! | file | subject |
//! |---|---|
//! | this one | a matrix, the finish of its sums, products with one vector |
//! | `sweeps` | products by columns, summed by rows |
//! | `block` | products with several vectors |
//! | `pixels` | products with the graph of an image |
//! | `renumber` | vectors with their numbers in another order |

mod block;
mod pixels;
mod renumber;
mod sweeps;

pub use block::{Vectors, block, block_entries, rest_block};
pub use pixels::{Pixels, pixels};
pub use renumber::{Strided, pick, renumber};
pub use sweeps::{Swept, collect_shared, count, permute, place, sweep};

use super::mirrors::{SpmvFinish, SpmvParams, SpmvPieces};
use super::{constants as c, optional, product, size, small, suffix_of};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Kernel, Region};
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType};
use crate::shape::to_i64;

/// Entries of a tile: 2048.
pub const TILE: usize = size(c::SPMV_TILE);
/// Entries of a short tile: 1024.
pub const SHORT_TILE: usize = size(c::SPMV_SHORT_TILE);
/// Most rows of a tile.
pub const TILE_ROWS: usize = size(c::SPMV_TILE_ROWS);
/// Rows and entries of a tile of the merge path.
pub const MERGE_TILE: usize = size(c::SPMV_MERGE_TILE);
/// Most entries of a piece of a bin.
pub const PIECE: usize = size(c::SPMV_PIECE);
/// Threads of a block in most kernels: 256.
pub const THREADS: usize = size(c::SPMV_THREADS);
/// Entries of a block of columns begin at multiples.
pub const PAD: usize = size(c::SPMV_PAD);
/// 64-bit words of a record of a tile.
pub const TILE_WORDS: usize = size(c::SPMV_TILE_BYTES) / 8;
/// 64-bit words of a record of a bin.
pub const BIN_WORDS: usize = size(c::SPMV_BIN_BYTES) / 8;
/// 64-bit words of a record of a unit.
pub const UNIT_WORDS: usize = size(c::SPMV_UNIT_BYTES) / 8;

/// A matrix in compressed rows on the device, its indices from 0: offsets ascend from 0 to `entries`, columns are below
/// `cols`.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// I32 (`narrow`) or I64, `rows + 1` of them.
    pub row_ptr: Region<'a>,
    /// Whether offsets are I32; I64 else.
    pub narrow: bool,
    /// I32 below `cols`, one an entry.
    pub columns: Region<'a>,
    /// The values; all are 1 if there are none.
    pub values: Option<Region<'a>>,
    /// Stored entries: the last offset of `row_ptr`.
    pub entries: usize,
    /// Rows of A: numbers of y.
    pub rows: usize,
    /// Columns of A: numbers of x.
    pub cols: usize,
}

impl Rows<'_> {
    fn row_ptr(&self) -> Result<u64> {
        self.row_ptr.array("row_ptr", self.rows + 1, if self.narrow { 4 } else { 8 })
    }
}

/// The result of the sum s of row i: y_i = alpha f r_i s + (shift + weight d_i) x_i + gamma g z_i + beta y_i. With beta
/// = 0 nothing of y is read.
#[derive(Clone, Copy)]
pub struct Finish<'a> {
    /// y, as many numbers as there are rows.
    pub y: Region<'a>,
    /// Factor alpha of the sum.
    pub alpha: Complex<f64>,
    /// Factor beta of the old y; with 0 y is not read.
    pub beta: Complex<f64>,
    /// f, an F64 on the device; 1 if there is none.
    pub alpha_factor: Option<Region<'a>>,
    /// r, real parts; `None` for ones.
    pub row_scale: Option<Region<'a>>,
    /// Factor of x, the same in every row.
    pub shift: Complex<f64>,
    /// d, real parts; `None` for zeros.
    pub diagonal: Option<Region<'a>>,
    /// Factor of d, before it multiplies x.
    pub weight: Complex<f64>,
    /// x; needed where a shift or a diagonal is added.
    pub x: Option<Region<'a>>,
    /// gamma and z, as many numbers as rows; `None` adds nothing.
    pub more: Option<(f64, Region<'a>)>,
    /// g, an F64 on the device; 1 if there is none.
    pub gamma_factor: Option<Region<'a>>,
}

impl<'a> Finish<'a> {
    /// y = alpha A x + beta y.
    pub fn plain(y: Region<'a>, alpha: Complex<f64>, beta: Complex<f64>) -> Self {
        Self {
            y,
            alpha,
            beta,
            alpha_factor: None,
            row_scale: None,
            shift: Complex::new(0.0, 0.0),
            diagonal: None,
            weight: Complex::new(1.0, 0.0),
            x: None,
            more: None,
            gamma_factor: None,
        }
    }

    /// x, where something of it is added.
    fn own(&self) -> Result<Option<Region<'a>>> {
        let is_diagonal = self.shift != Complex::new(0.0, 0.0) || self.diagonal.is_some();
        if is_diagonal && self.x.is_none() {
            return Err(Error::Internal("a diagonal without the vector that it multiplies".into()));
        }
        Ok(self.x.filter(|_| is_diagonal))
    }

    fn params(&self, dtype: DType, rows: usize) -> Result<SpmvFinish> {
        Ok(SpmvFinish {
            y: self.y.array("y", rows, dtype.size())?,
            x: optional(dtype.size(), "x", self.own()?, rows)?,
            z: optional(dtype.size(), "z", self.more.map(|m| m.1), rows)?,
            scale: optional(dtype.part_size(), "row_scale", self.row_scale, rows)?,
            diagonal: optional(dtype.part_size(), "diagonal", self.diagonal, rows)?,
            alpha_factor: optional(8, "alpha_factor", self.alpha_factor, 1)?,
            gamma_factor: optional(8, "gamma_factor", self.gamma_factor, 1)?,
            alpha: [self.alpha.re, self.alpha.im],
            beta: [self.beta.re, self.beta.im],
            gamma: self.more.map_or(0.0, |m| m.0),
            shift: [self.shift.re, self.shift.im],
            weight: [self.weight.re, self.weight.im],
        })
    }
}

/// Rows that are in pieces, and memory to sum them in.
#[derive(Clone, Copy)]
pub struct Pieces<'a> {
    /// The rows and the end, a 64-bit word each.
    pub longs: Region<'a>,
    /// How many rows there are.
    pub rows: usize,
    /// I32: the row of each piece, counted among these.
    pub owners: Region<'a>,
    /// How many pieces there are.
    pub count: usize,
    /// Numbers of the kernel's type, one a piece.
    pub partials: Region<'a>,
    /// U32, one a row: 0 before and after.
    pub arrivals: Region<'a>,
}

impl Pieces<'_> {
    fn params(&self, dtype: DType) -> Result<SpmvPieces> {
        // A plan without rows in pieces need have no list of them.
        let words = if self.rows > 0 { self.rows + 1 } else { 0 };
        Ok(SpmvPieces {
            partials: self.partials.array("partials", self.count, dtype.size())?,
            longs: self.longs.array("long rows", words, 8)?,
            owners: self.owners.array("owners", self.count, 4)?,
            arrivals: self.arrivals.array("arrivals", self.rows, 4)?,
        })
    }
}

/// Shares of the work on the device.
#[derive(Clone, Copy)]
pub struct Shares<'a> {
    /// As the kernel has them.
    pub list: Region<'a>,
    /// Number of shares in `list`.
    pub count: usize,
    /// For bins: the rows, I32.
    pub order: Option<Region<'a>>,
    /// Rows in pieces; for the merge path only memory for one number a share.
    pub pieces: Pieces<'a>,
}

/// The kernel that multiplies, by how rows are distributed to threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Each row by some lanes, a power of two up to 32.
    Rows(usize),
    /// Rows of like length together.
    Bins,
    /// As many entries each, [`TILE`] at most.
    Tiles,
    /// As [`Form::Tiles`], with [`SHORT_TILE`] entries at most.
    ShortTiles,
    /// As many rows and entries each.
    Merge,
}

/// The kernel `what` for a type, offsets and values.
fn kernel(dtype: DType, gpu: &Gpu, what: &str, narrow: Option<bool>, pattern: bool) -> Result<Kernel> {
    let narrow = if narrow == Some(true) { "narrow_" } else { "" };
    let ending = if pattern { "_pattern" } else { "" };
    gpu.kernel("spmv", &format!("purlin_spmv_{what}_{narrow}{}{ending}", suffix_of(dtype)?))
}

fn params(dtype: DType, a: &Rows<'_>, gathered: Region<'_>, finish: &Finish<'_>) -> Result<SpmvParams> {
    Ok(SpmvParams {
        row_ptr: a.row_ptr()?,
        columns: a.columns.array("col_idx", a.entries, 4)?,
        values: optional(dtype.size(), "values", a.values, a.entries)?,
        gathered: gathered.array("x", a.cols, dtype.size())?,
        rows: to_i64(a.rows),
        finish: finish.params(dtype, a.rows)?,
        ..SpmvParams::default()
    })
}

/// Computes `finish` of A times `gathered`.
///
/// `shares` must be those of the form and of this matrix; [`Form::Rows`] has none.
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn multiply(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    form: Form,
    a: &Rows<'_>,
    shares: Option<Shares<'_>>,
    gathered: Region<'_>,
    finish: &Finish<'_>,
) -> Result<()> {
    let mut p = params(dtype, a, gathered, finish)?;
    let what = match form {
        Form::Rows(_) => "rows",
        Form::Bins => "bins",
        Form::Tiles => "tiles",
        Form::ShortTiles => "short_tiles",
        Form::Merge => "merge",
    };
    let function = kernel(dtype, gpu, what, Some(a.narrow), a.values.is_none())?;
    if let Form::Rows(lanes) = form {
        if !lanes.is_power_of_two() || lanes > 32 {
            return Err(Error::Internal(format!("{lanes} lanes of a row")));
        }
        p.lanes = small("lanes", lanes)?;
        let grid = Grid::covering(product("rows", &[a.rows, lanes])?, c::SPMV_THREADS.unsigned_abs())?;
        // SAFETY: vectors and arrays were checked against the matrix's sizes; its offsets and columns are inside.
        return unsafe { launch(&function, stream, grid, &p) };
    }
    let shares = shares.ok_or_else(|| Error::Internal(format!("{form:?} without shares")))?;
    p.count = small("tiles", shares.count)?;
    let words = if form == Form::Bins { shares.count * BIN_WORDS } else { (shares.count + 1) * TILE_WORDS };
    p.tiles = shares.list.array("tiles", words, 8)?;
    p.pieces = if form == Form::Merge {
        let partials = shares.pieces.partials.array("partials", shares.count, dtype.size())?;
        SpmvPieces { partials, ..SpmvPieces::default() }
    } else {
        shares.pieces.params(dtype)?
    };
    p.order = optional(4, "order", shares.order, 0)?;
    let threads = if form == Form::Merge { c::SPMV_MERGE_THREADS } else { c::SPMV_THREADS };
    let grid = Grid::row(p.count.unsigned_abs(), threads.unsigned_abs(), 0);
    // SAFETY: as above; the shares were cut from the same rows, and their order is one of rows.
    unsafe { launch(&function, stream, grid, &p) }?;
    if form == Form::Merge {
        let function = kernel(dtype, gpu, "mend", Some(a.narrow), false)?;
        // SAFETY: as above.
        unsafe { launch(&function, stream, Grid::covering(shares.count, c::SPMV_THREADS.unsigned_abs())?, &p) }?;
    }
    Ok(())
}

/// Computes `finish` of sums that are 0: nothing of a matrix is read.
pub fn rest(dtype: DType, gpu: &Gpu, stream: &GpuStream, rows: usize, finish: &Finish<'_>) -> Result<()> {
    let finish = finish.params(dtype, rows)?;
    let p = SpmvParams { rows: to_i64(rows), lanes: 1, finish, ..SpmvParams::default() };
    let function = kernel(dtype, gpu, "rows", Some(true), true)?;
    // SAFETY: vectors were checked against the number of rows; without offsets the kernel reads nothing else.
    unsafe { launch(&function, stream, Grid::covering(rows, c::SPMV_THREADS.unsigned_abs())?, &p) }
}
