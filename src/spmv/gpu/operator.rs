//! Operators that are never formed, applied to vectors in device memory.

use crate::backend::gpu::kernels::dense::place;
use crate::backend::gpu::kernels::lanczos::{Pass, parts, pass, pieces, total};
use crate::backend::gpu::kernels::spmv::{self as kernels, Finish as DeviceFinish};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region, View};
use crate::error::{Error, Result};
use crate::matrix::{Matrix, SharedOperator};
use crate::scalar::{Complex, DType, with_scalar};
use crate::shape::product;
use crate::spmv::kind::Kind;
use crate::spmv::known;
use crate::spmv::plan::{Operator, Plan};

const WHAT: &str = "operator of a sparse product";

/// Vectors stored row by row, as [`kernels::Vectors`].
pub(in crate::spmv) type Block<'a> = kernels::Vectors<'a>;

fn real(v: f64) -> Complex<f64> {
    Complex::new(v, 0.0)
}

/// A single vector, or vectors row by row without gaps.
pub(in crate::spmv) fn packed(memory: Region<'_>, width: usize) -> Block<'_> {
    Block { memory, stride: width }
}

impl Plan {
    /// Y = alpha Op X + beta Y for rows of `width` numbers in the plan's order, in the order of `stream`. Op is the
    /// plan's operator of A, or its filter. With alpha = 0, X is not read.
    pub(in crate::spmv) fn multiply_there(
        &self,
        on: (&Gpu, &GpuStream),
        a: &Matrix,
        scalars: (Complex<f64>, Complex<f64>),
        width: usize,
        vectors: (Block<'_>, Block<'_>),
    ) -> Result<()> {
        if self.options().degree > 0 && scalars.0 != real(0.0) {
            return self.filter_there(on, a, scalars, width, vectors);
        }
        self.once_there(on, a, scalars, width, vectors)
    }

    /// As [`Plan::multiply_there`] without a filter.
    pub(super) fn once_there(
        &self,
        on: (&Gpu, &GpuStream),
        a: &Matrix,
        (alpha, beta): (Complex<f64>, Complex<f64>),
        width: usize,
        (x, y): (Block<'_>, Block<'_>),
    ) -> Result<()> {
        let zero = real(0.0);
        let is_single = (width, x.stride, y.stride) == (1, 1, 1);
        if known::operator(a).is_some() && !is_single && alpha != zero {
            return self.by_columns(on, a, (alpha, beta), width, (x, y));
        }
        let Some(operator) = self.operator() else {
            let made = DeviceFinish::plain(y.memory, alpha, beta);
            return self.sums_there(on.1, a, &made, width, (x, x.stride, y.stride));
        };
        if alpha == zero {
            let kept = DeviceFinish::plain(y.memory, zero, beta);
            return kernels::rest_block(a.dtype(), on.0, on.1, (self.size().0, width), &kept, (0, y.stride));
        }
        let has_rank_one = operator.device.as_ref().is_some_and(|d| d.rank_one.is_some());
        if has_rank_one && !is_single {
            return self.by_columns(on, a, (alpha, beta), width, (x, y));
        }
        self.operate_there(on, operator, a, (alpha, beta), width, (x, y))
    }

    fn operate_there(
        &self,
        on: (&Gpu, &GpuStream),
        operator: &Operator,
        a: &Matrix,
        (alpha, beta): (Complex<f64>, Complex<f64>),
        width: usize,
        (x, y): (Block<'_>, Block<'_>),
    ) -> Result<()> {
        let ((gpu, stream), dtype) = (on, a.dtype());
        let (kind, shift) = (self.options().kind, self.options().added());
        let (sign, sides) = operator.sign_and_sides(dtype)?;
        let there = operator.device.as_ref().ok_or_else(|| Error::Internal("an operator off the device".into()))?;
        let scale = there.scale.as_ref().map(DeviceMemory::whole);
        let made = DeviceFinish {
            row_scale: scale.filter(|_| sides.0),
            shift: alpha * shift,
            diagonal: there.diagonal.as_ref().map(DeviceMemory::whole),
            weight: alpha,
            x: Some(x.memory),
            ..DeviceFinish::plain(y.memory, alpha * sign, beta)
        };
        let between = |rows: usize| {
            gpu.allocate_uninitialized_on(stream, WHAT, product(WHAT, product(WHAT, rows, width)?, dtype.size())?)
        };
        match kind {
            Kind::Gram | Kind::OuterGram => {
                let back = operator.back()?;
                let (first, second) = if kind == Kind::Gram { (self, back) } else { (back, self) };
                let inner = between(first.matrix_size().0)?;
                let once = DeviceFinish::plain(inner.whole(), real(1.0), real(0.0));
                first.sums_there(stream, a, &once, width, (x, 0, width))?;
                second.sums_there(stream, a, &made, width, (packed(inner.whole(), width), x.stride, y.stride))
            }
            Kind::Augmented => {
                let rows = self.matrix_size().0;
                let (x_top, x_bottom) = cut(dtype, x, rows)?;
                let (y_top, y_bottom) = cut(dtype, y, rows)?;
                let top = DeviceFinish { y: y_top.memory, x: Some(x_top.memory), ..made };
                let bottom = DeviceFinish { y: y_bottom.memory, x: Some(x_bottom.memory), ..made };
                self.sums_there(stream, a, &top, width, (x_bottom, x.stride, y.stride))?;
                operator.back()?.sums_there(stream, a, &bottom, width, (x_top, x.stride, y.stride))
            }
            _ => {
                let rows = self.matrix_size().1;
                let along = match &there.rank_one {
                    None => None,
                    Some((degrees, inverse)) => {
                        Some((degrees, component(dtype, on, degrees, *inverse, x.memory, rows)?))
                    }
                };
                let scaled;
                let gathered = match scale.filter(|_| sides.1) {
                    None => x,
                    Some(scale) => {
                        scaled = between(rows)?;
                        let own = DeviceFinish {
                            diagonal: Some(scale),
                            x: Some(x.memory),
                            ..DeviceFinish::plain(scaled.whole(), real(0.0), real(0.0))
                        };
                        kernels::rest_block(dtype, gpu, stream, (rows, width), &own, (x.stride, width))?;
                        packed(scaled.whole(), width)
                    }
                };
                let Some((degrees, along)) = along else {
                    return self.sums_there(stream, a, &made, width, (gathered, x.stride, y.stride));
                };
                if (alpha, beta) == (real(1.0), real(0.0)) {
                    self.sums_there(stream, a, &made, 1, (gathered, 1, 1))?;
                    return taken(dtype, on, degrees, &along, y.memory, rows);
                }
                // The rank-one term is multiplied by alpha too, which may be complex.
                let whole = between(rows)?;
                let once = DeviceFinish {
                    shift: real(shift),
                    weight: real(1.0),
                    ..DeviceFinish { y: whole.whole(), alpha: real(1.0), beta: real(0.0), ..made }
                };
                self.sums_there(stream, a, &once, 1, (gathered, 1, 1))?;
                taken(dtype, on, degrees, &along, whole.whole(), rows)?;
                let scaled = DeviceFinish {
                    shift: alpha,
                    x: Some(whole.whole()),
                    ..DeviceFinish::plain(y.memory, real(0.0), beta)
                };
                kernels::rest(dtype, gpu, stream, rows, &scaled)
            }
        }
    }

    /// Applies `finish` to products with rows of `width` numbers. The last argument has the row strides of its x and y.
    fn sums_there(
        &self,
        stream: &GpuStream,
        a: &Matrix,
        finish: &DeviceFinish<'_>,
        width: usize,
        (gathered, own_stride, y_stride): (Block<'_>, usize, usize),
    ) -> Result<()> {
        if let Some(own) = known::operator(a) {
            let gpu = self.context().gpu("plan")?;
            if finish.alpha == real(0.0) {
                return kernels::rest_block(
                    a.dtype(),
                    gpu,
                    stream,
                    (self.matrix_size().0, width),
                    finish,
                    (own_stride, y_stride),
                );
            }
            return self.ask_there(stream, a.dtype(), own, gathered.memory, finish);
        }
        if width == 1 && gathered.stride == 1 && own_stride <= 1 && y_stride == 1 {
            let space = self.cached_space(a.dtype(), stream)?;
            return self.multiply_device(a, stream, &space, gathered.memory, finish);
        }
        self.multiply_device_block_finished(a, stream, width, gathered, finish, (own_stride, y_stride))
    }

    /// Applies `finish` to the products of an operator of numbers of type `dtype`, which multiplies on the device.
    fn ask_there(
        &self,
        stream: &GpuStream,
        dtype: DType,
        own: &SharedOperator,
        gathered: Region<'_>,
        finish: &DeviceFinish<'_>,
    ) -> Result<()> {
        with_scalar!(dtype, "a", T => {
            let own = own.lock::<T>("a")?;
            let there = own.view()?.on_device();
            let there =
                there.ok_or_else(|| Error::Internal("products on a device of an operator that is not".into()))?;
            there.multiply(stream, self.options().asked(), gathered, finish)
        })
    }

    /// As [`Plan::once_there`], column by column, on column-major copies.
    fn by_columns(
        &self,
        on: (&Gpu, &GpuStream),
        a: &Matrix,
        (alpha, beta): (Complex<f64>, Complex<f64>),
        width: usize,
        (x, y): (Block<'_>, Block<'_>),
    ) -> Result<()> {
        let ((gpu, stream), dtype) = (on, a.dtype());
        let (rows, cols) = self.size();
        let bytes = |length| product(WHAT, length, dtype.size());
        let (long, wide) = (bytes(rows)?, bytes(cols)?);
        let buffer = |length| gpu.allocate_uninitialized_on(stream, WHAT, product(WHAT, length, width)?);
        let (from, to) = (buffer(wide)?, buffer(long)?);
        place(dtype, gpu, stream, side_by_side(x, cols, width), columns(&from, cols, width), true, false)?;
        if beta != real(0.0) {
            place(dtype, gpu, stream, side_by_side(y, rows, width), columns(&to, rows, width), true, false)?;
        }
        for j in 0..width {
            let (x, y) = (from.region(j * wide, wide)?, to.region(j * long, long)?);
            self.once_there(on, a, (alpha, beta), 1, (packed(x, 1), packed(y, 1)))?;
        }
        place(dtype, gpu, stream, columns(&to, rows, width), side_by_side(y, rows, width), true, false)
    }
}

/// A row-major block as a column-major view of its transpose.
fn side_by_side(of: Block<'_>, rows: usize, width: usize) -> View<'_> {
    View { ld: of.stride, ..View::packed(of.memory, width, rows) }
}

fn columns(of: &DeviceMemory, rows: usize, width: usize) -> View<'_> {
    View::packed(of.whole(), rows, width)
}

/// The first `rows` rows, and the rest.
fn cut(dtype: DType, of: Block<'_>, rows: usize) -> Result<(Block<'_>, Block<'_>)> {
    let all = of.memory.bytes();
    // The last row may end before its stride does.
    let at = product(WHAT, product(WHAT, rows, of.stride)?, dtype.size())?.min(all);
    let part = |offset, bytes| of.memory.part(offset, bytes).map(|memory| Block { memory, ..of });
    Ok((part(0, at)?, part(at, all - at)?))
}

/// d . x times `inverse`.
fn component(
    dtype: DType,
    (gpu, stream): (&Gpu, &GpuStream),
    degrees: &DeviceMemory,
    inverse: f64,
    x: Region<'_>,
    rows: usize,
) -> Result<DeviceMemory> {
    let partials = gpu.allocate_uninitialized_on(stream, WHAT, 8 * parts(dtype) * pieces(rows))?;
    let sum = gpu.allocate_uninitialized_on(stream, WHAT, 8 * parts(dtype))?;
    let one = Pass {
        space: degrees.whole(),
        vector: x,
        rows,
        count: 1,
        weights: None,
        partials: Some(partials.whole()),
        squares: None,
        keep: true,
    };
    pass(dtype, gpu, stream, one)?;
    total(gpu, stream, partials.whole(), (parts(dtype), pieces(rows)), inverse, sum.whole())?;
    Ok(sum)
}

/// y -= d times `along`.
fn taken(
    dtype: DType,
    (gpu, stream): (&Gpu, &GpuStream),
    degrees: &DeviceMemory,
    along: &DeviceMemory,
    y: Region<'_>,
    rows: usize,
) -> Result<()> {
    let away = Pass {
        space: degrees.whole(),
        vector: y,
        rows,
        count: 1,
        weights: Some(along.whole()),
        partials: None,
        squares: None,
        keep: false,
    };
    pass(dtype, gpu, stream, away)
}
