//! The kernels of `cuda/lanczos.cu`.

use super::mirrors::{
    LanczosOrientParams, LanczosPassParams, LanczosScaleParams, LanczosStepParams, LanczosTotalParams,
    LanczosTurnParams,
};
use super::{constants as c, filling, optional, product, size, suffix_of};
use crate::backend::gpu::launch::{Grid, launch, launch_together};
use crate::backend::gpu::{Gpu, GpuStream, Kernel, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};

/// Rows whose sums are one piece.
const PIECE: usize = size(c::LANCZOS_PIECE);

/// Real numbers of one of `T`.
pub const fn parts(dtype: DType) -> usize {
    if dtype.is_complex() { 2 } else { 1 }
}

/// Pieces that `rows` rows are cut into.
pub fn pieces(rows: usize) -> usize {
    rows.div_ceil(PIECE)
}

fn kernel(dtype: DType, gpu: &Gpu, what: &str) -> Result<Kernel> {
    gpu.kernel("lanczos", &format!("purlin_lanczos_{what}_{}", suffix_of(dtype)?))
}

/// The operation of one reading of a space.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// V, `count` columns of `rows` numbers, packed.
    pub space: Region<'a>,
    /// w, `rows` numbers; changed unless `keep`.
    pub vector: Region<'a>,
    /// Numbers of a column of V and of w.
    pub rows: usize,
    /// Columns of V that are read.
    pub count: usize,
    /// h, F64, of complex numbers two each: w -= V h first.
    pub weights: Option<Region<'a>>,
    /// Where V^H w of the pieces goes: [`parts`] times `count` numbers of [`pieces`] F64 each.
    pub partials: Option<Region<'a>>,
    /// Where |w|^2 before and after goes, two numbers likewise.
    pub squares: Option<Region<'a>>,
    /// Leaves w as it is.
    pub keep: bool,
}

/// Reads a space once: takes components away, and forms those that are left.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn pass(dtype: DType, gpu: &Gpu, stream: &GpuStream, pass: Pass<'_>) -> Result<()> {
    let pieces = pieces(pass.rows);
    let numbers = product("sums", &[parts(dtype), pass.count])?;
    let parameters = LanczosPassParams {
        space: pass.space.array("space", product("space", &[pass.rows, pass.count])?, dtype.size())?,
        vector: pass.vector.array("vector", pass.rows, dtype.size())?,
        weights: optional(8, "weights", pass.weights, numbers)?,
        partials: optional(8, "partials", pass.partials, product("partials", &[numbers, pieces])?)?,
        squares: optional(8, "squares", pass.squares, 2 * pieces)?,
        rows: to_i64(pass.rows),
        count: to_i64(pass.count),
        keep: i64::from(pass.keep),
    };
    let grid = Grid::row(blocks(pieces)?, c::LANCZOS_THREADS.unsigned_abs(), 0);
    // SAFETY: every array was checked against the kernel's extents.
    unsafe { launch(&kernel(dtype, gpu, "pass")?, stream, grid, &parameters) }
}

fn blocks(count: usize) -> Result<u32> {
    let problem = || Error::NotSupported(format!("a: {count} blocks of rows in a launch, at most {}", u32::MAX));
    u32::try_from(count).map_err(|_| problem())
}

/// Adds the pieces of `numbers` numbers in their order, times `factor`.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn total(
    gpu: &Gpu,
    stream: &GpuStream,
    partials: Region<'_>,
    (numbers, pieces): (usize, usize),
    factor: f64,
    output: Region<'_>,
) -> Result<()> {
    let parameters = LanczosTotalParams {
        partials: partials.array("partials", product("partials", &[numbers, pieces])?, 8)?,
        output: output.array("output", numbers, 8)?,
        pieces: to_i64(pieces),
        numbers: to_i64(numbers),
        factor,
    };
    let kernel = gpu.kernel("lanczos", "purlin_lanczos_total")?;
    let grid = Grid::row(blocks(numbers)?, c::LANCZOS_THREADS.unsigned_abs(), 0);
    // SAFETY: as above.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// `to = factor / sqrt(square) * parts * from + keep * to`, element by element.
#[derive(Clone, Copy)]
pub struct Scale<'a> {
    /// The vector that is multiplied, `rows` numbers.
    pub from: Region<'a>,
    /// The output; may be `from`.
    pub to: Region<'a>,
    /// Numbers of `from` and of `to`.
    pub rows: usize,
    /// An F64 on the device; 1 if there is none.
    pub square: Option<Region<'a>>,
    /// Real numbers, one an element; ones if there are none.
    pub parts: Option<Region<'a>>,
    /// Factor besides `square` and `parts`.
    pub factor: f64,
    /// With 0 nothing of `to` is read.
    pub keep: f64,
}

/// As [`Scale`] says.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn scale(dtype: DType, gpu: &Gpu, stream: &GpuStream, scale: Scale<'_>) -> Result<()> {
    let parameters = LanczosScaleParams {
        from: scale.from.array("from", scale.rows, dtype.size())?,
        to: scale.to.array("to", scale.rows, dtype.size())?,
        square: optional(8, "square", scale.square, 1)?,
        parts: optional(dtype.part_size(), "parts", scale.parts, scale.rows)?,
        rows: to_i64(scale.rows),
        factor: scale.factor,
        keep: scale.keep,
    };
    let function = kernel(dtype, gpu, "scale")?;
    let threads = c::LANCZOS_THREADS;
    let grid = filling(&function, scale.rows.div_ceil(size(threads)), threads, 0)?;
    // SAFETY: as above.
    unsafe { launch(&function, stream, grid, &parameters) }
}

/// Threads of a block of a step, and so the most vectors of a space that estimates are kept of.
const STEP_THREADS: usize = size(c::LANCZOS_STEP_THREADS);

/// F64 of the record of a step: the component along the last vector, |A v|, the norm of the remainder, and how many
/// passes made it orthogonal.
pub const RECORD: usize = 4;

/// F64 of the estimates of a space of `basis` vectors.
pub const fn estimates(basis: usize) -> usize {
    2 * (basis + 1) + 2
}

/// Blocks of steps on vectors of `rows` numbers; 0 where the kernel cannot take `columns` vectors.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn step_blocks(dtype: DType, gpu: &Gpu, rows: usize, columns: usize) -> Result<usize> {
    let kernel = kernel(dtype, gpu, "step")?;
    let shared = step_shared(dtype, columns);
    if columns >= STEP_THREADS || shared > kernel.most_shared() {
        return Ok(0);
    }
    let grid = filling(&kernel, rows.div_ceil(STEP_THREADS).max(1), c::LANCZOS_STEP_THREADS, shared)?;
    Ok(usize::try_from(grid.blocks[0]).unwrap_or(1))
}

/// Numbers of a block's sums.
const fn step_numbers(dtype: DType, columns: usize) -> usize {
    2 + parts(dtype) * columns
}

fn step_shared(dtype: DType, columns: usize) -> usize {
    8 * (parts(dtype) * columns + step_numbers(dtype, columns) * (1 + STEP_THREADS / 32))
}

/// Bytes that `blocks` blocks need for the sums of steps in a space of `columns` vectors.
///
/// # Errors
/// [`Error::InvalidArgument`] for sizes whose product overflows.
pub fn step_workspace(dtype: DType, blocks: usize, columns: usize) -> Result<usize> {
    product("sums", &[16, step_numbers(dtype, columns), blocks])
}

/// The part of a step of the Lanczos process after the product.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// The product, and the vectors that it is made orthogonal to.
    pub columns: Columns<'a>,
    /// Numbers of each vector of `columns`.
    pub rows: usize,
    /// Blocks, as [`step_blocks`] has them for all columns that there will be.
    pub blocks: usize,
    /// [`step_workspace`] bytes.
    pub partials: Region<'a>,
    /// U32, two of them: 0 before and after.
    pub arrivals: Region<'a>,
    /// [`RECORD`] F64 that the step writes.
    pub record: Region<'a>,
    /// The record of the step before. With `None` the vector of a space is made orthogonal to all others by as many
    /// passes as it takes.
    pub previous: Option<Region<'a>>,
    /// How the orthogonality is watched; `None`: every vector is made orthogonal to all others.
    pub watch: Option<Watch<'a>>,
}

/// The vectors of a step.
#[derive(Clone, Copy)]
pub enum Columns<'a> {
    /// Those of a space from column 0 on, packed: column `column` was multiplied and the next has the product.
    InOrder {
        /// Columns 0 to `column + 1` of the space. The last one is the product.
        space: Region<'a>,
        /// Number of the column that was multiplied, from 0.
        column: usize,
    },
    /// Those of the plain recurrence, which takes no others away.
    Three {
        /// The one before the last, of a step that has one before.
        before: Region<'a>,
        /// The one that was multiplied.
        last: Region<'a>,
        /// The matrix times `last`; becomes the next vector.
        product: Region<'a>,
    },
}

/// Estimates of the products of the vectors of a space.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Number of the column in its space.
    pub step: usize,
    /// Most vectors of the space: order of `projected`.
    pub basis: usize,
    /// Real parts of the projected matrix, basis-by-basis F64, which the step goes on with.
    pub projected: Region<'a>,
    /// [`estimates`] F64 before the step.
    pub before: Region<'a>,
    /// As many after the step, which writes them.
    pub after: Region<'a>,
    /// Unit roundoff of the type.
    pub epsilon: f64,
}

/// Subtracts the product's components along the earlier vectors, where reorthogonalization is due, and divides by the
/// norm.
///
/// # Errors
/// [`Error::Internal`] for column 0 with a record of the step before, and for a [`Watch`] that does not fit its space;
/// [`Error::Cuda`] if the device does not hold all blocks at once; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn step(dtype: DType, gpu: &Gpu, stream: &GpuStream, step: Step<'_>) -> Result<()> {
    let array = |what: &str, region: Region<'_>| region.array(what, step.rows, dtype.size());
    let (column, three, [space, before, last, vector]) = match step.columns {
        Columns::Three { before, last, product } => {
            let last = array("vector", last)?;
            (0, true, [last, array("vector", before)?, last, array("vector", product)?])
        }
        Columns::InOrder { space, column } => {
            if step.previous.is_some() && column == 0 {
                return Err(Error::Internal("a step before the first".into()));
            }
            let first = space.array("space", product("space", &[step.rows, column + 2])?, dtype.size())?;
            let at = |column: usize| first + to_u64(column * step.rows * dtype.size());
            (column, false, [first, at(column.saturating_sub(1)), at(column), at(column + 1)])
        }
    };
    let columns = column + 1;
    let numbers = step_numbers(dtype, columns);
    let mut parameters = LanczosStepParams {
        space,
        before,
        last,
        vector,
        partials: step.partials.array("partials", product("partials", &[2, numbers, step.blocks])?, 8)?,
        arrivals: step.arrivals.array("arrivals", 2, 4)?,
        record: step.record.array("record", RECORD, 8)?,
        previous: optional(8, "record", step.previous, RECORD)?,
        projected: 0,
        estimates: 0,
        estimates_after: 0,
        rows: to_i64(step.rows),
        column: to_i64(column),
        step: 0,
        basis: 0,
        most: to_i64(numbers),
        held: 0,
        three: i64::from(three),
        epsilon: 0.0,
        limit: 0.0,
    };
    if let Some(watch) = step.watch {
        let length = estimates(watch.basis);
        if three || watch.step >= watch.basis || watch.basis >= STEP_THREADS || watch.step > column {
            return Err(Error::Internal(format!("step {} of {}", watch.step, watch.basis)));
        }
        parameters.projected =
            watch.projected.array("projected", product("projected", &[watch.basis, watch.basis])?, 8)?;
        parameters.estimates = watch.before.array("estimates", length, 8)?;
        parameters.estimates_after = watch.after.array("estimates", length, 8)?;
        parameters.step = to_i64(watch.step);
        parameters.basis = to_i64(watch.basis);
        parameters.epsilon = watch.epsilon;
        parameters.limit = watch.epsilon.sqrt();
    }
    let kernel = kernel(dtype, gpu, "step")?;
    let own = step.rows.div_ceil(step.blocks.max(1)).next_multiple_of(32);
    let (sums, rows) = (step_shared(dtype, columns), product("rows", &[own, dtype.size()])?.next_multiple_of(8));
    // All blocks must be resident at once, with their shared memory.
    let held = sums.saturating_add(rows);
    let is_held = held <= kernel.most_shared()
        && kernel.resident_blocks(c::LANCZOS_STEP_THREADS.unsigned_abs(), held)? >= blocks(step.blocks)?;
    parameters.held = i64::from(is_held);
    let shared = if is_held { held } else { sums };
    let grid = Grid::row(blocks(step.blocks)?, c::LANCZOS_STEP_THREADS.unsigned_abs(), shared);
    // SAFETY: every array was checked against the kernel's extents.
    unsafe { launch_together(&kernel, stream, grid, &parameters) }
}

/// Shared memory of [`turn`] for `from` columns that become `to`.
fn turn_shared(dtype: DType, (from, to): (usize, usize)) -> usize {
    let filled = to.next_multiple_of(size(c::LANCZOS_TURN_COLUMNS));
    8 * parts(dtype) * from * filled + from * size(c::LANCZOS_TURN_THREADS) * dtype.size()
}

/// Whether [`turn`] takes `from` columns that become `to`.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn turn_fits(dtype: DType, gpu: &Gpu, columns: (usize, usize)) -> Result<bool> {
    Ok(turn_shared(dtype, columns) <= kernel(dtype, gpu, "turn")?.most_shared())
}

/// The first `to` of `from` columns become all of these times `weights`, F64 and of complex numbers two each, column by
/// column. False, and nothing is done, where the columns are more than the kernel takes.
///
/// # Errors
/// [`Error::Internal`] if `to` is more than `from`; as for every [launch](crate::backend::gpu::kernels#errors).
pub fn turn(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    space: Region<'_>,
    rows: usize,
    (from, to): (usize, usize),
    weights: Region<'_>,
) -> Result<bool> {
    let kernel = kernel(dtype, gpu, "turn")?;
    let shared = turn_shared(dtype, (from, to));
    if shared > kernel.most_shared() {
        return Ok(false);
    }
    if to > from {
        return Err(Error::Internal(format!("{to} columns of {from}")));
    }
    let parameters = LanczosTurnParams {
        space: space.array("space", product("space", &[rows, from])?, dtype.size())?,
        weights: weights.array("weights", product("weights", &[parts(dtype), from, to])?, 8)?,
        rows: to_i64(rows),
        from: to_i64(from),
        to: to_i64(to),
    };
    let grid = filling(&kernel, rows.div_ceil(size(c::LANCZOS_TURN_THREADS)), c::LANCZOS_TURN_THREADS, shared)?;
    // SAFETY: as above.
    unsafe { launch(&kernel, stream, grid, &parameters) }?;
    Ok(true)
}

/// Bytes of the workspace of [`orient`].
///
/// # Errors
/// [`Error::InvalidArgument`] for sizes whose product overflows.
pub fn orient_workspace(count: usize) -> Result<usize> {
    product("peaks", &[8 * 4, size(c::LANCZOS_PEAKS), count])
}

/// Copies `count` columns to others, `stride` numbers apart, each turned so that its entry of largest modulus, the first of
/// those that are about as large, is real and positive.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn orient(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    space: Region<'_>,
    rows: usize,
    count: usize,
    (output, stride): (Region<'_>, usize),
    workspace: Region<'_>,
) -> Result<()> {
    if count == 0 || rows == 0 {
        return Ok(());
    }
    let peaks = size(c::LANCZOS_PEAKS);
    let reach = product("vectors", &[count - 1, stride])?.saturating_add(rows);
    let numbers = product("peaks", &[count, peaks])?;
    let parameters = LanczosOrientParams {
        space: space.array("space", product("space", &[rows, count])?, dtype.size())?,
        peaks: workspace.array("peaks", numbers, 8)?,
        firsts: workspace.part(8 * numbers, 24 * numbers)?.array("peaks", 3 * numbers, 8)?,
        output: output.array("vectors", reach, dtype.size())?,
        rows: to_i64(rows),
        stride: to_i64(stride),
        // Of squares.
        near: 1.0 - 16.0 * dtype.epsilon(),
    };
    let grid =
        Grid { blocks: [blocks(peaks)?, blocks(count)?, 1], ..Grid::row(1, c::LANCZOS_THREADS.unsigned_abs(), 0) };
    for what in ["peak", "first", "orient"] {
        // SAFETY: as above.
        unsafe { launch(&kernel(dtype, gpu, what)?, stream, grid, &parameters) }?;
    }
    Ok(())
}
