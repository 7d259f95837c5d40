//! The kernels of `cuda/dense.cu`. Unless one says otherwise, matrices may overlap only where they are the same.

use super::mirrors::{
    DenseColumnsParams, DenseConditionParams, DenseFillParams, DensePlaceParams, DensePolynomialParams,
    DenseScaleParams, DenseShiftParams, DenseStartParams, DenseUpperParams,
};
use super::{constants as c, size, suffix_of};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region, View};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};

/// A grid over a matrix, x over rows and y over columns, whose kernel strides over the rest of the matrix.
fn over(rows: usize, cols: usize) -> Grid {
    const MOST: usize = 65_535;
    let threads = c::DENSE_THREADS.unsigned_abs();
    let blocks = |count: usize, most: usize| u32::try_from(count.min(most)).unwrap_or(1);
    let x = blocks(rows.div_ceil(size(c::DENSE_THREADS)), MOST);
    Grid { blocks: [x, blocks(cols, MOST), 1], threads, shared: 0 }
}

fn same(what: &str, a: &View<'_>, b: &View<'_>) -> Result<()> {
    if (a.rows, a.cols) == (b.rows, b.cols) {
        return Ok(());
    }
    Err(Error::Internal(format!("{what}: {} x {} elements to {} x {}", a.rows, a.cols, b.rows, b.cols)))
}

/// `output = op(input)`, the transpose, the conjugate or both; input and output do not overlap.
///
/// # Errors
/// [`Error::Internal`] for matrices whose shapes do not fit; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn place(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    input: View<'_>,
    output: View<'_>,
    transpose: bool,
    conjugate: bool,
) -> Result<()> {
    let expected = if transpose { (input.cols, input.rows) } else { (input.rows, input.cols) };
    if (output.rows, output.cols) != expected {
        return same("place", &input, &output).and(Err(Error::Internal("place: not transposed".into())));
    }
    let conjugate = conjugate && dtype.is_complex();
    let flag = |on: bool, bit: i32| if on { i64::from(bit) } else { 0 };
    let parameters = DensePlaceParams {
        input: input.address(dtype, "input")?,
        output: output.address(dtype, "output")?,
        rows: to_i64(output.rows),
        cols: to_i64(output.cols),
        input_ld: to_i64(input.ld),
        output_ld: to_i64(output.ld),
        flags: flag(transpose, c::DENSE_TRANSPOSE) | flag(conjugate, c::DENSE_CONJUGATE),
    };
    let mut grid = over(output.rows, output.cols);
    if transpose {
        let tile = size(c::DENSE_TILE);
        grid = over(output.rows.div_ceil(tile).saturating_mul(size(c::DENSE_THREADS)), output.cols.div_ceil(tile));
        grid.threads = c::DENSE_TILE.unsigned_abs() * c::DENSE_TILE_LINES.unsigned_abs();
    }
    let kernel = gpu.kernel("dense", &format!("purlin_dense_place_{}", suffix_of(dtype)?))?;
    // SAFETY: both matrices lie inside their memories, as `address` checked, and are each other's shape.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// Copies a matrix with elements of type `S` to one of type `T`, rounding to nearest; both are real or both complex. With
/// `reverse` the last column comes first. From f32 to f32 it is [`place`] that copies.
///
/// # Errors
/// [`Error::Internal`] for types without a kernel, and for matrices of different shapes; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn convert(
    from: DType,
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    input: View<'_>,
    output: View<'_>,
    reverse: bool,
) -> Result<()> {
    same("convert", &input, &output)?;
    let name = match (from, dtype) {
        (DType::F32, DType::F64) | (DType::CF32, DType::CF64) => "f32_f64",
        (DType::F64, DType::F32) | (DType::CF64, DType::CF32) => "f64_f32",
        (DType::F64, DType::F64) | (DType::CF64, DType::CF64) => "f64_f64",
        (from, to) => return Err(Error::Internal(format!("{} to {}", from.name(), to.name()))),
    };
    // The parts of a complex matrix are a real one with twice the rows.
    let parts = if dtype.is_complex() { 2 } else { 1 };
    let parameters = DensePlaceParams {
        input: input.address(from, "input")?,
        output: output.address(dtype, "output")?,
        rows: to_i64(output.rows * parts),
        cols: to_i64(output.cols),
        input_ld: to_i64(input.ld * parts),
        output_ld: to_i64(output.ld * parts),
        flags: if reverse { i64::from(c::DENSE_REVERSE) } else { 0 },
    };
    let kernel = gpu.kernel("dense", &format!("purlin_dense_convert_{name}"))?;
    // SAFETY: both matrices lie inside their memories, as `address` checked, and have one shape.
    unsafe { launch(&kernel, stream, over(output.rows * parts, output.cols), &parameters) }
}

/// Multiplies column j by `factors[j]`, f64.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn scale(dtype: DType, gpu: &Gpu, stream: &GpuStream, matrix: View<'_>, factors: Region<'_>) -> Result<()> {
    let parameters = DenseScaleParams {
        matrix: matrix.address(dtype, "matrix")?,
        factors: factors.array("factors", matrix.cols, 8)?,
        rows: to_i64(matrix.rows),
        cols: to_i64(matrix.cols),
        ld: to_i64(matrix.ld),
    };
    let kernel = gpu.kernel("dense", &format!("purlin_dense_scale_{}", suffix_of(dtype)?))?;
    // SAFETY: the matrix and the factors were checked.
    unsafe { launch(&kernel, stream, over(matrix.rows, matrix.cols), &parameters) }
}

/// The figure that [`columns`] computes of each column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reduction {
    /// Sum of the squares of the moduli: one f64. The numbers are multiplied by `factor` first.
    Sums {
        /// 1, or a factor that keeps the squares in range.
        factor: f64,
    },
    /// Real and imaginary part of the first entry of largest modulus: two f64.
    Peaks,
}

/// Reduces each column to one or two numbers.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn columns(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    reduction: Reduction,
    matrix: View<'_>,
    output: Region<'_>,
) -> Result<()> {
    let (name, numbers, factor) = match reduction {
        Reduction::Sums { factor } => ("sums", 1, factor),
        Reduction::Peaks => ("peaks", 2, 1.0),
    };
    let parameters = DenseColumnsParams {
        matrix: matrix.address(dtype, "matrix")?,
        output: output.array("output", matrix.cols * numbers, 8)?,
        rows: to_i64(matrix.rows),
        cols: to_i64(matrix.cols),
        ld: to_i64(matrix.ld),
        factor,
    };
    let kernel = gpu.kernel("dense", &format!("purlin_dense_{name}_{}", suffix_of(dtype)?))?;
    // Up to 32 warps a column; the terms of each thread's sum depend on the shape alone.
    let threads = u32::try_from(matrix.rows.div_ceil(8).next_multiple_of(32).clamp(32, 1024)).unwrap_or(1024);
    let threads = threads.min(kernel.most_threads() / 32 * 32);
    let blocks = u32::try_from(matrix.cols).unwrap_or(u32::MAX).min(i32::MAX.unsigned_abs());
    // SAFETY: the matrix and the output were checked.
    unsafe { launch(&kernel, stream, Grid::row(blocks, threads, 0), &parameters) }
}

/// Which numbers [`fill`] draws, as in `cuda/dense_launch.h`.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// One of the constants `DENSE_GAUSSIAN` to `DENSE_SPARSE_SIGN`.
    pub distribution: i32,
    /// The caller's seed, a part of the generator's key.
    pub seed: u64,
    /// The purpose for which the numbers are drawn.
    pub stream: u32,
    /// Row of the random matrix that is the first here.
    pub first_row: u64,
    /// Column of the random matrix that is the first here.
    pub first_column: u32,
}

/// Fills a matrix with random numbers: those of [`crate::dense::sketch`], bit for bit.
///
/// # Errors
/// [`Error::NotSupported`] if the random matrix has more than 2^32 - 1 columns up to the last one here; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn fill(dtype: DType, gpu: &Gpu, stream: &GpuStream, matrix: View<'_>, draw: Draw) -> Result<()> {
    let last = u64::from(draw.first_column).checked_add(to_u64(matrix.cols));
    if last.is_none_or(|l| l > u64::from(u32::MAX)) {
        let problem =
            format!("rank: a random matrix has {} columns, at most {} with those before it", matrix.cols, u32::MAX);
        return Err(Error::NotSupported(problem));
    }
    let parameters = DenseFillParams {
        matrix: matrix.address(dtype, "matrix")?,
        rows: to_i64(matrix.rows),
        cols: to_i64(matrix.cols),
        ld: to_i64(matrix.ld),
        seed: draw.seed,
        first_row: draw.first_row,
        first_column: draw.first_column,
        stream: draw.stream,
        distribution: draw.distribution,
        padding: 0,
    };
    let cells = if dtype.is_complex() { matrix.cols } else { matrix.cols / 2 + 1 };
    let grid = if matrix.cols == 0 { over(0, 0) } else { over(matrix.rows, cells) };
    let kernel = gpu.kernel("dense", &format!("purlin_dense_fill_{}", suffix_of(dtype)?))?;
    // SAFETY: the matrix was checked.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// Adds `shift` times the trace to the diagonal of a square matrix in f64.
///
/// # Errors
/// [`Error::Internal`] for a matrix that is not square; as for every [launch](crate::backend::gpu::kernels#errors).
pub fn shift(dtype: DType, gpu: &Gpu, stream: &GpuStream, matrix: View<'_>, shift: f64) -> Result<()> {
    let parameters =
        DenseShiftParams { matrix: square(dtype, &matrix)?, order: to_i64(matrix.rows), ld: to_i64(matrix.ld), shift };
    let kernel = gpu.kernel("dense", &format!("purlin_dense_shift_{}", suffix_of(dtype)?))?;
    // SAFETY: the matrix was checked; the kernel is made for one block.
    unsafe { launch(&kernel, stream, Grid::row(1, c::DENSE_THREADS.unsigned_abs(), 0), &parameters) }
}

/// Outputs of [`upper`] beside the triangle; `None` leaves one out.
#[derive(Clone, Copy, Default)]
pub struct UpperOutputs<'a> {
    /// Becomes the identity, of the input's type, packed.
    pub identity: Option<Region<'a>>,
    /// Real parts of the diagonal and `info`, f64.
    pub diagonal: Option<Region<'a>>,
    /// I32: the status of cuSOLVER's factorization, 0 for success; copied into `diagonal`.
    pub info: Option<Region<'a>>,
}

/// The upper triangle of the square `input` with elements of type `S`, zeros below it, as elements of type `T`.
///
/// # Errors
/// [`Error::Internal`] for matrices that are not square or of different orders; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn upper(
    from: DType,
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    input: View<'_>,
    output: View<'_>,
    outputs: UpperOutputs<'_>,
) -> Result<()> {
    same("upper", &input, &output)?;
    let n = input.rows;
    let parameters = DenseUpperParams {
        input: square(from, &input)?,
        output: square(dtype, &output)?,
        identity: super::optional(from.size(), "identity", outputs.identity, n * n)?,
        diagonal: super::optional(8, "diagonal", outputs.diagonal, n + 1)?,
        info: super::optional(4, "info", outputs.info, 1)?,
        order: to_i64(n),
        input_ld: to_i64(input.ld),
        output_ld: to_i64(output.ld),
    };
    let kernel = gpu.kernel("dense", &format!("purlin_dense_upper_{}_{}", suffix_of(from)?, suffix_of(dtype)?))?;
    // SAFETY: every array was checked.
    unsafe { launch(&kernel, stream, over(n, n), &parameters) }
}

/// How sensitive each column of a triangle in f64 is: the norm of column j times that of row j of its inverse, both
/// packed; entries below the triangle's diagonal are not read.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn condition(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    order: usize,
    triangle: Region<'_>,
    inverse: Region<'_>,
    output: Region<'_>,
) -> Result<()> {
    let elements = super::product("order", &[order, order])?;
    let parameters = DenseConditionParams {
        triangle: triangle.array("triangle", elements, dtype.size())?,
        inverse: inverse.array("inverse", elements, dtype.size())?,
        output: output.array("output", order, 8)?,
        order: to_i64(order),
    };
    let kernel = gpu.kernel("dense", &format!("purlin_dense_condition_{}", suffix_of(dtype)?))?;
    let grid = Grid::row(u32::try_from(order).unwrap_or(u32::MAX), c::DENSE_THREADS.unsigned_abs() / 2, 0);
    // SAFETY: every array was checked.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// `square = a I + b first + c square` for packed square matrices in f64.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn polynomial(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    order: usize,
    [a, b, c]: [f64; 3],
    first: Region<'_>,
    square: Region<'_>,
) -> Result<()> {
    let elements = super::product("order", &[order, order])?;
    let parameters = DensePolynomialParams {
        first: first.array("first", elements, dtype.size())?,
        square: square.array("square", elements, dtype.size())?,
        order: to_i64(order),
        a,
        b,
        c,
    };
    let kernel = gpu.kernel("dense", &format!("purlin_dense_polynomial_{}", suffix_of(dtype)?))?;
    // SAFETY: both matrices were checked.
    unsafe { launch(&kernel, stream, over(order, order), &parameters) }
}

/// `output = input / sqrt(sums[0] + sums[1] + ...)` plus noise of size `noise` for packed square matrices in f64.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn start(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    order: usize,
    input: Region<'_>,
    sums: Region<'_>,
    noise: f64,
    output: Region<'_>,
) -> Result<()> {
    let elements = super::product("order", &[order, order])?;
    let parameters = DenseStartParams {
        input: input.array("input", elements, dtype.size())?,
        output: output.array("output", elements, dtype.size())?,
        sums: sums.array("sums", order, 8)?,
        order: to_i64(order),
        noise,
    };
    let kernel = gpu.kernel("dense", &format!("purlin_dense_start_{}", suffix_of(dtype)?))?;
    // SAFETY: every array was checked.
    unsafe { launch(&kernel, stream, over(order, order), &parameters) }
}

fn square(dtype: DType, matrix: &View<'_>) -> Result<u64> {
    if matrix.rows != matrix.cols {
        return Err(Error::Internal(format!("{} x {} elements are not square", matrix.rows, matrix.cols)));
    }
    matrix.address(dtype, "matrix")
}
