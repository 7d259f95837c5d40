//! Products with given vectors, and residuals and classes of given pairs.

use super::algorithm::{gather, scatter};
use super::cpu::batch::{Batch, Inputs, Task};
use super::gpu;
use super::options::PairClass;
use super::resolve::degeneracy;
use crate::alloc;
use crate::backend::Backend;
use crate::backend::cpu::simd::Vectorized;
use crate::backend::gpu::GpuStream;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{DType, Real, with_real};
use crate::shape::product as size_product;
use crate::stream::{self, Stream};
use crate::tensor::{Symmetric, Tensor};

/// Bytes of results that are computed between two writes.
const TILE_BYTES: usize = 16 << 20;

/// Tensors and vectors of a call, checked.
struct Call<'a> {
    queue: Option<&'a GpuStream>,
    shape: Symmetric,
    tensors: &'a Tensor,
    vectors: &'a Tensor,
    /// Vectors V of a tensor, and tensors T.
    count: usize,
    batch: usize,
}

impl<'a> Call<'a> {
    /// The device of the call: `None` on a CPU context, and for host arrays of a shape without kernels.
    fn site(&self, context: &'a Context) -> Option<gpu::Site<'a>> {
        let (Backend::Gpu(gpu), Some(queue)) = (context.backend(), self.queue) else { return None };
        if !gpu::has_kernels(self.shape) && !self.tensors.is_device() {
            return None;
        }
        Some(gpu::Site { context, gpu, queue, shape: self.shape, tensors: self.tensors, vectors: self.vectors })
    }
}

fn begin<'a>(
    context: &'a Context,
    queue: Option<&'a Stream>,
    tensors: &'a Tensor,
    vectors: &'a Tensor,
    shared: bool,
) -> Result<Call<'a>> {
    context.check_alive()?;
    let queue = stream::select(context, queue)?;
    tensors.expect_context("tensors", context)?;
    vectors.expect_context("vectors", context)?;
    let shape = tensors.expect_symmetric("tensors")?;
    vectors.expect_dtype("vectors", tensors.dtype())?;
    let batch = tensors.dims()[1];
    let n = shape.dimension;
    let count = match *vectors.dims() {
        [rows, v] if shared && rows == n => v,
        [rows, v, t] if rows == n && t == batch => v,
        _ => {
            let both = if shared { format!("[{n}, V] or ") } else { String::new() };
            return Err(Error::invalid(
                "vectors",
                format!("has dimensions {:?}, {both}[{n}, V, {batch}] are needed", vectors.dims()),
            ));
        }
    };
    Ok(Call { queue, shape, tensors, vectors, count, batch })
}

/// Calls `write(first, rows)` with the packed results of consecutive tensors.
fn run<T: Vectorized>(
    context: &Context,
    call: &Call<'_>,
    values: Option<&Tensor>,
    task: Task,
    mut write: impl FnMut(usize, &[T]) -> Result<()>,
) -> Result<()> {
    let n = call.shape.dimension;
    let packed = call.shape.count();
    if call.batch == 0 || call.count == 0 {
        return Ok(());
    }
    let budget = context.host_budget();
    let (batch, _charge) = alloc::limited(budget, || Batch::<T>::new(context, call.shape, call.count))?;
    let entries = call.tensors.view::<T>("tensors")?;
    let vectors = call.vectors.view::<T>("vectors")?;
    let values = values.map(|v| v.view::<T>("values")).transpose()?;
    let size = size_product("products", call.count, task.size(n))?;
    let own = call.vectors.dims().len() == 3;
    let listed = n * call.count;
    let each = size + packed + if own { listed } else { 0 } + if values.is_some() { call.count } else { 0 };
    let available = usize::try_from(budget.available() / 2).unwrap_or(usize::MAX);
    let most = (TILE_BYTES / size.max(1)).min(available / each) / size_of::<T>();
    let tile = most.clamp(1, call.batch);
    let array = |k: usize| alloc::filled("tensors of a product", k, T::ZERO);
    let ((mut a, mut x, mut lambda, mut out), _tile) = alloc::limited(budget, || {
        let lambda = array(if values.is_some() { call.count * tile } else { 0 })?;
        Ok((array(packed * tile)?, array(listed * if own { tile } else { 1 })?, lambda, array(size * tile)?))
    })?;
    if !own {
        gather(&vectors, 0, &mut x);
    }
    for first in (0..call.batch).step_by(tile) {
        let here = tile.min(call.batch - first);
        gather(&entries, first, &mut a[..packed * here]);
        if own {
            for (k, x) in x.chunks_exact_mut(n).take(call.count * here).enumerate() {
                vectors.read_column(&[k % call.count, first + k / call.count], x);
            }
        }
        if let Some(values) = &values {
            gather(values, first, &mut lambda[..call.count * here]);
        }
        let vectors = if own { &x[..n * call.count * here] } else { &x[..] };
        let values = if lambda.is_empty() { &lambda[..] } else { &lambda[..call.count * here] };
        let inputs = Inputs { entries: &a[..packed * here], vectors, shared: !own, values, count: call.count };
        batch.run(task, inputs, &mut out[..size * here])?;
        write(first, &out[..size * here])?;
    }
    Ok(())
}

/// A x^`power` of every tensor at every vector; `power` is m, m - 1 or m - 2.
///
/// `vectors` is [n, V], shared by all tensors, or [n, V, T]; any vectors, not only unit ones. `products` is [V, T],
/// [n, V, T] or [n, n, V, T].
///
/// # Errors
/// [`Error::InvalidArgument`] for another power, shape or type.
pub fn product(
    context: &Context,
    queue: Option<&Stream>,
    tensors: &Tensor,
    vectors: &Tensor,
    power: i64,
    products: &mut Tensor,
) -> Result<()> {
    let call = begin(context, queue, tensors, vectors, true)?;
    let Symmetric { order, dimension: n } = call.shape;
    let free = usize::try_from(power).ok().and_then(|p| order.checked_sub(p)).filter(|f| *f <= 2).ok_or_else(|| {
        Error::invalid("power", format!("is {power}, {order}, {} or {} is needed", order - 1, order - 2))
    })?;
    products.expect_context("products", context)?;
    products.expect_dtype("products", tensors.dtype())?;
    let (v, t) = (call.count, call.batch);
    products.expect_dims("products", &[&[n, n][..free], &[v, t]].concat())?;
    products.check_writable("products")?;
    let task = Task::Product { free };
    if let Some(site) = call.site(context) {
        return with_real!(tensors.dtype(), "tensors", T => gpu::product::<T>(&site, order - free, products));
    }
    with_real!(tensors.dtype(), "tensors", T => {
        let mut view = products.view_mut::<T>("products")?;
        run::<T>(context, &call, None, task, |first, rows| {
            scatter(&mut view, first, rows, v * task.size(n));
            Ok(())
        })
    })
}

/// Residual, eigenvalues of the projected Hessian and class of given pairs.
///
/// `values` is real [V, T], `vectors` real [n, V, T], normalized first. `residuals` is real [V, T], `hessian` real
/// [n - 1, V, T] ascending, `classes` I32 [V, T]; each is optional. A pair with a NaN is unclassified.
///
/// # Errors
/// [`Error::InvalidArgument`] for other shapes or types.
#[expect(clippy::too_many_arguments, reason = "three optional outputs")]
pub fn classify(
    context: &Context,
    queue: Option<&Stream>,
    tensors: &Tensor,
    values: &Tensor,
    vectors: &Tensor,
    degeneracy_tolerance: f64,
    mut residuals: Option<&mut Tensor>,
    mut hessian: Option<&mut Tensor>,
    mut classes: Option<&mut Tensor>,
) -> Result<()> {
    let call = begin(context, queue, tensors, vectors, false)?;
    let n = call.shape.dimension;
    let (v, t) = (call.count, call.batch);
    values.expect_context("values", context)?;
    values.expect_dtype("values", tensors.dtype())?;
    values.expect_dims("values", &[v, t])?;
    for (name, tensor, dtype, dims) in [
        ("residuals", residuals.as_deref(), tensors.dtype(), &[v, t][..]),
        ("hessian", hessian.as_deref(), tensors.dtype(), &[n - 1, v, t]),
        ("classes", classes.as_deref(), DType::I32, &[v, t]),
    ] {
        let Some(tensor) = tensor else { continue };
        tensor.expect_context(name, context)?;
        tensor.expect_dtype(name, dtype)?;
        tensor.expect_dims(name, dims)?;
        tensor.check_writable(name)?;
    }
    if let Some(site) = call.site(context) {
        return with_real!(tensors.dtype(), "tensors", T => {
            let flat = degeneracy::<T>(degeneracy_tolerance)?;
            gpu::classify::<T>(&site, values, flat, residuals, hessian, classes)
        });
    }
    with_real!(tensors.dtype(), "tensors", T => {
        let task = Task::Classify { degeneracy: degeneracy::<T>(degeneracy_tolerance)? };
        run::<T>(context, &call, Some(values), task, |first, rows| {
            for (k, row) in rows.chunks_exact(n + 1).enumerate() {
                let place = [k % v, first + k / v];
                if let Some(r) = residuals.as_deref_mut() {
                    r.view_mut::<T>("residuals")?.set(&place, row[0]);
                }
                if let Some(c) = classes.as_deref_mut() {
                    c.view_mut::<i32>("classes")?.set(&place, row[1].to_f64() as i32);
                }
                if let Some(h) = hessian.as_deref_mut()
                    && n > 1
                {
                    h.view_mut::<T>("hessian")?.write_column(&place, &row[2..]);
                }
            }
            Ok(())
        })
    })
}

/// Whether pairs of a class count in the Morse sum.
pub(super) fn is_isolated(class: PairClass) -> bool {
    !matches!(class, PairClass::Degenerate | PairClass::Unclassified)
}
