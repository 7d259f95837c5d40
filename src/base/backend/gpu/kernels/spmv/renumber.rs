//! Vectors with their numbers in another order.

use super::super::mirrors::SpmvRenumberParams;
use super::multiply::kernel;
use crate::backend::gpu::kernels::{constants as c, product, span};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::to_i64;

/// Vectors: number r of vector k at `r * row + k * column`.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    /// From number 0 of vector 0 on.
    pub memory: Region<'a>,
    /// Numbers from one row to the next.
    pub row: usize,
    /// Numbers from one vector to the next.
    pub column: usize,
}

impl<'a> Strided<'a> {
    /// One vector whose numbers are contiguous.
    pub fn vector(memory: Region<'a>) -> Self {
        Self { memory, row: 1, column: 1 }
    }
}

/// Number r of each of `width` vectors = number `list[r]` of those that they are made from, for `rows` of them.
///
/// The list holds U32 below `rows`.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn renumber(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    list: Region<'_>,
    (rows, width): (usize, usize),
    from: Strided<'_>,
    to: Strided<'_>,
) -> Result<()> {
    let array =
        |what: &str, v: &Strided<'_>| v.memory.array(what, span(what, rows, v.row, width, v.column)?, dtype.size());
    let p = SpmvRenumberParams {
        list: list.array("list", rows, 4)?,
        from: array("from", &from)?,
        to: array("to", &to)?,
        rows: to_i64(rows),
        width: to_i64(width),
        from_row: to_i64(from.row),
        from_column: to_i64(from.column),
        to_row: to_i64(to.row),
        to_column: to_i64(to.column),
    };
    let grid = Grid::covering(product("numbers", &[rows, width])?, c::SPMV_THREADS.unsigned_abs())?;
    // SAFETY: both sides and the list were checked against the number of rows, and the list holds rows.
    unsafe { launch(&kernel(dtype, gpu, "renumber", None, false)?, stream, grid, &p) }
}

/// Number r of `to` = number `list[r]` of the `size` numbers of `from`, for `count` of them.
///
/// The list holds U32 below `size`.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn pick(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    list: Region<'_>,
    (count, size): (usize, usize),
    from: Region<'_>,
    to: Region<'_>,
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let p = SpmvRenumberParams {
        list: list.array("list", count, 4)?,
        from: from.array("from", size, dtype.size())?,
        to: to.array("to", count, dtype.size())?,
        rows: to_i64(count),
        width: 1,
        from_row: 1,
        from_column: 1,
        to_row: 1,
        to_column: 1,
    };
    let grid = Grid::covering(count, c::SPMV_THREADS.unsigned_abs())?;
    // SAFETY: every array was checked, and the list holds numbers of `from`.
    unsafe { launch(&kernel(dtype, gpu, "renumber", None, false)?, stream, grid, &p) }
}
