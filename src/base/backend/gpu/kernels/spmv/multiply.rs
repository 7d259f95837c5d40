//! Launches of products with one vector, by the form that distributes rows to threads.

use super::super::mirrors::{SpmvParams, SpmvPieces};
use super::super::{constants as c, optional, product, small, suffix_of};
use super::finish::Finish;
use super::rows::Rows;
use super::shares::Shares;
use super::sizes::{BIN_WORDS, TILE_WORDS};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Kernel, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

/// The kernel that multiplies, by how rows are distributed to threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Each row by some lanes, a power of two up to 32.
    Rows(usize),
    /// Rows of like length together.
    Bins,
    /// As many entries each, [`super::TILE`] at most.
    Tiles,
    /// As [`Form::Tiles`], with [`super::SHORT_TILE`] entries at most.
    ShortTiles,
    /// As many rows and entries each.
    Merge,
}

/// The kernel `what` for a type, offsets and values.
pub(super) fn kernel(dtype: DType, gpu: &Gpu, what: &str, narrow: Option<bool>, pattern: bool) -> Result<Kernel> {
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
///
/// # Errors
/// [`Error::Internal`] for a form without its shares, for lanes that are no power of two up to 32, and for a shift or
/// diagonal in `finish` without x; as for every [launch](crate::backend::gpu::kernels#errors).
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
///
/// # Errors
/// [`Error::Internal`] for a shift or diagonal in `finish` without x; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn rest(dtype: DType, gpu: &Gpu, stream: &GpuStream, rows: usize, finish: &Finish<'_>) -> Result<()> {
    let finish = finish.params(dtype, rows)?;
    let p = SpmvParams { rows: to_i64(rows), lanes: 1, finish, ..SpmvParams::default() };
    let function = kernel(dtype, gpu, "rows", Some(true), true)?;
    // SAFETY: vectors were checked against the number of rows; without offsets the kernel reads nothing else.
    unsafe { launch(&function, stream, Grid::covering(rows, c::SPMV_THREADS.unsigned_abs())?, &p) }
}
