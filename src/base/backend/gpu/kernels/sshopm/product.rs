//! Launches of the products, the classification and the drawing of starts.

use super::super::mirrors::{ProductParams, StartsParams};
use super::{Batch, MAX_DIMENSION, MAX_ORDER, Tables, has_fused};
use crate::backend::gpu::kernels::{constants as c, filling, optional, product, size, small, span, suffix_of};
use crate::backend::gpu::launch::launch;
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

/// Vectors for products and classification: component c of vector v of tensor t.
#[derive(Clone, Copy)]
pub struct Vectors<'a> {
    /// From component 0 of vector 0 of tensor 0 on.
    pub memory: Region<'a>,
    /// Elements from one component to the next.
    pub component_stride: usize,
    /// Elements from one vector to the next.
    pub vector_stride: usize,
    /// Elements from one tensor's vectors to the next's; 0 if all share them.
    pub tensor_stride: usize,
    /// Vectors V of a tensor.
    pub count: usize,
}

fn product_parameters(
    dtype: DType,
    batch: &Batch<'_>,
    vectors: &Vectors<'_>,
    tables: &Tables<'_>,
) -> Result<ProductParams> {
    if batch.dimension > MAX_DIMENSION || batch.order > MAX_ORDER {
        return Err(Error::NotSupported(format!(
            "tensors: order {} with dimension {} is more than the GPU's {MAX_ORDER} and {MAX_DIMENSION}",
            batch.order, batch.dimension
        )));
    }
    let one = span("vectors", batch.dimension, vectors.component_stride, vectors.count, vectors.vector_stride)?;
    let all = span("vectors", batch.count, vectors.tensor_stride, one, 1)?;
    Ok(ProductParams {
        tensors: batch.address(dtype)?,
        entry_stride: to_i64(batch.entry_stride),
        tensor_stride: to_i64(batch.tensor_stride),
        vectors: vectors.memory.array("vectors", all, dtype.size())?,
        component_stride: to_i64(vectors.component_stride),
        vector_stride: to_i64(vectors.vector_stride),
        batch_stride: to_i64(vectors.tensor_stride),
        products: 0,
        values: 0,
        residuals: 0,
        hessian: 0,
        classes: 0,
        indices: tables.indices.array("indices", product("tables", &[batch.order, batch.entries])?, 1)?,
        multinomials: tables.multinomials.array("multinomials", batch.entries, dtype.size())?,
        degeneracy: 0.0,
        entries: to_i64(batch.entries),
        vector_count: to_i64(vectors.count),
        count: to_i64(batch.count),
        order: small("order", batch.order)?,
        dimension: small("dimension", batch.dimension)?,
        power: 0,
        reserved: 0,
    })
}

/// A x^power for power = m, m - 1 or m - 2: real [V, T], [n, V, T] or [n, n, V, T].
///
/// # Errors
/// [`Error::Internal`] for another power; [`Error::NotSupported`] for an order over [`MAX_ORDER`] or a dimension over
/// [`MAX_DIMENSION`]; as for every [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "a type, a batch, its vectors, and where to")]
pub fn products(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    batch: &Batch<'_>,
    vectors: &Vectors<'_>,
    tables: &Tables<'_>,
    power: usize,
    output: Region<'_>,
) -> Result<()> {
    let n = batch.dimension;
    let width = match batch.order.checked_sub(power) {
        Some(0) => 1,
        Some(1) => n,
        Some(2) => n * n,
        _ => return Err(Error::Internal(format!("the power {power} of a tensor of order {}", batch.order))),
    };
    let cells = product("products", &[vectors.count, batch.count])?;
    let name = if has_fused(batch.order, n) {
        format!("purlin_sshopm_product_n3m{}_{}", batch.order, suffix_of(dtype)?)
    } else {
        format!("purlin_sshopm_product_general_{}", suffix_of(dtype)?)
    };
    let parameters = ProductParams {
        products: output.array("products", product("products", &[cells, width])?, dtype.size())?,
        power: small("power", power)?,
        ..product_parameters(dtype, batch, vectors, tables)?
    };
    let kernel = gpu.kernel("sshopm_general", &name)?;
    let grid = filling(&kernel, cells.div_ceil(size(c::PLAIN_THREADS)), c::PLAIN_THREADS, 0)?;
    // SAFETY: every array was checked against the kernel's extents.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// Where the classification goes. Each may be absent.
#[derive(Clone, Copy, Default)]
pub struct Classified<'a> {
    /// Real [V, T].
    pub residuals: Option<Region<'a>>,
    /// Real [n - 1, V, T], ascending.
    pub hessian: Option<Region<'a>>,
    /// I32 [V, T].
    pub classes: Option<Region<'a>>,
}

/// Residuals (real [V, T]), eigenvalues of the projected Hessian (real [n - 1, V, T]) and classes (I32 [V, T]) of
/// given pairs; `values` is real [V, T].
///
/// # Errors
/// [`Error::NotSupported`] for an order over [`MAX_ORDER`] or a dimension over [`MAX_DIMENSION`]; as for every
/// [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "a batch, its vectors and values, and where to")]
pub fn classify(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    batch: &Batch<'_>,
    vectors: &Vectors<'_>,
    tables: &Tables<'_>,
    values: Region<'_>,
    degeneracy: f64,
    outputs: &Classified<'_>,
) -> Result<()> {
    let cells = product("values", &[vectors.count, batch.count])?;
    let parameters = ProductParams {
        values: values.array("values", cells, dtype.size())?,
        residuals: optional(dtype.size(), "residuals", outputs.residuals, cells)?,
        hessian: optional(
            dtype.size(),
            "hessian",
            outputs.hessian,
            product("hessian", &[batch.dimension - 1, cells])?,
        )?,
        classes: optional(size_of::<i32>(), "classes", outputs.classes, cells)?,
        degeneracy,
        ..product_parameters(dtype, batch, vectors, tables)?
    };
    let kernel = gpu.kernel("sshopm_general", &format!("purlin_sshopm_classify_{}", suffix_of(dtype)?))?;
    let grid = filling(&kernel, cells.div_ceil(size(c::PLAIN_THREADS)), c::PLAIN_THREADS, 0)?;
    // SAFETY: as above.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// Which random starts to draw.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// Dimension n: components of a start.
    pub dimension: usize,
    /// Key of the random numbers.
    pub seed: u64,
    /// Number of the first tensor in the caller's batch.
    pub first_tensor: usize,
    /// Number of tensors T that get starts.
    pub tensors: usize,
    /// Number of the first start in each tensor's sequence.
    pub first_start: usize,
    /// Starts V drawn for each tensor.
    pub starts: usize,
    /// Uniform in the cube before normalization, instead of Gaussian.
    pub cube: bool,
}

/// Draws unit vectors: real [n, V, T].
///
/// # Errors
/// [`Error::NotSupported`] for a dimension over [`MAX_DIMENSION`]; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn draw_starts(dtype: DType, gpu: &Gpu, stream: &GpuStream, draw: &Draw, output: Region<'_>) -> Result<()> {
    if draw.dimension > MAX_DIMENSION {
        let problem = format!("starts: dimension {}, at most {MAX_DIMENSION} on a GPU", draw.dimension);
        return Err(Error::NotSupported(problem));
    }
    let cells = product("starts", &[draw.starts, draw.tensors])?;
    let parameters = StartsParams {
        starts: output.array("starts", product("starts", &[draw.dimension, cells])?, dtype.size())?,
        index: 0,
        seed: draw.seed,
        first_row: to_i64(draw.first_tensor),
        count: to_i64(draw.tensors),
        first_start: to_i64(draw.first_start),
        start_count: to_i64(draw.starts),
        dimension: small("dimension", draw.dimension)?,
        cube: i32::from(draw.cube),
    };
    let kernel = gpu.kernel("sshopm_general", &format!("purlin_sshopm_draw_starts_{}", suffix_of(dtype)?))?;
    let grid = filling(&kernel, cells.div_ceil(size(c::PLAIN_THREADS)), c::PLAIN_THREADS, 0)?;
    // SAFETY: as above.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}
