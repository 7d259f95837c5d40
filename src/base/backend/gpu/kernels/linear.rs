//! The kernel of `cuda/linear.cu`.

use super::mirrors::LinearParams;
use super::{constants as c, filling, product, size, small, span, suffix_of};
use crate::backend::gpu::launch::launch;
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::to_i64;

/// Elements of the items of a batch.
#[derive(Clone, Copy)]
pub struct Items<'a> {
    /// From element 0 of item 0 on.
    pub memory: Region<'a>,
    /// Elements from one element of an item to the next.
    pub stride: usize,
    /// Elements from one item to the next.
    pub item_stride: usize,
}

/// `output = matrix * input` for each of `count` items of the real type `dtype`; `matrix` is [rows, columns],
/// column-major.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "a type, where to work, a matrix and its operands")]
pub fn linear(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    matrix: Region<'_>,
    (rows, columns): (usize, usize),
    count: usize,
    input: Items<'_>,
    output: Items<'_>,
) -> Result<()> {
    let real = dtype.size();
    let address = |name, items: &Items<'_>, elements| {
        items.memory.array(name, span(name, elements, items.stride, count, items.item_stride)?, real)
    };
    let parameters = LinearParams {
        matrix: matrix.array("matrix", product("matrix", &[rows, columns])?, real)?,
        input: address("input", &input, columns)?,
        input_stride: to_i64(input.stride),
        input_item_stride: to_i64(input.item_stride),
        output: address("output", &output, rows)?,
        output_stride: to_i64(output.stride),
        output_item_stride: to_i64(output.item_stride),
        count: to_i64(count),
        rows: small("rows", rows)?,
        columns: small("columns", columns)?,
    };
    let kernel = gpu.kernel("linear", &format!("purlin_linear_{}", suffix_of(dtype)?))?;
    let items = size(c::LINEAR_ITEMS);
    let shared = product("matrix", &[columns, items + 1, real])?;
    let grid = filling(&kernel, count.div_ceil(items), c::LINEAR_THREADS, shared)?;
    // SAFETY: every array was checked against the kernel's extents.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}
