//! Operators on vectors in device memory.

use std::sync::Arc;

use super::super::operator::{DeviceProducts, Kind, Parts, Symmetric};
use super::super::ops::Affine;
use crate::alloc;
use crate::backend::gpu::kernels::dense::place;
use crate::backend::gpu::kernels::lanczos::{Pass, Scale, parts, pass, pieces, scale, total};
use crate::backend::gpu::kernels::spmv::Finish as DeviceFinish;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region, View};
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, OnDevice};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::product;
use crate::spmv::gpu::Space;
use crate::spmv::{Plan, Renumbering};

const WHAT: &str = "operator";

/// Input x and output y of a product, on the device.
#[derive(Clone, Copy)]
pub(super) struct ProductVectors<'a> {
    pub(super) x: Region<'a>,
    pub(super) y: Region<'a>,
}

/// The modularity's second term, `inverse` times degrees times their transpose.
struct RankOne {
    degrees: DeviceMemory,
    inverse: f64,
    partials: DeviceMemory,
    sum: DeviceMemory,
}

/// Whose kernels compute products: those of a plan, or the operator's own.
enum Products<'o> {
    Planned(Box<Planned<'o>>),
    Own(&'o dyn OnDevice),
}

/// A sparse matrix with its plan, and the plan of its adjoint.
struct Planned<'o> {
    matrix: &'o Matrix,
    plan: &'o Plan,
    space: Space,
    adjoint: Option<(&'o Plan, Space)>,
}

impl Products<'_> {
    /// Applies `finish` to the sums op(A) `gathered` in stream order.
    fn multiply(&self, stream: &GpuStream, op: Op, gathered: Region<'_>, finish: &DeviceFinish<'_>) -> Result<()> {
        let own = match self {
            Self::Own(own) => return own.multiply(stream, op, gathered, finish),
            Self::Planned(own) => own,
        };
        let (plan, space) = match (op, &own.adjoint) {
            (Op::Plain, _) => (own.plan, &own.space),
            (Op::Adjoint, Some((plan, space))) => (*plan, space),
            (Op::Adjoint, None) => {
                return Err(Error::Internal("products with an adjoint that was not planned".into()));
            }
        };
        plan.multiply_device(own.matrix, stream, space, gathered, finish)
    }
}

/// A [`Symmetric`] on vectors in device memory.
pub(in crate::lanczos) struct DeviceOperator<'o> {
    dtype: DType,
    gpu: Gpu,
    stream: GpuStream,
    products: Products<'o>,
    kind: Kind,
    shape: (usize, usize),
    order: usize,
    alpha: f64,
    shift: f64,
    scale: Option<DeviceMemory>,
    diagonal: Option<DeviceMemory>,
    rank_one: Option<RankOne>,
    between: Option<DeviceMemory>,
}

fn real(v: f64) -> Complex<f64> {
    Complex::new(v, 0.0)
}

/// The terms of an operator on the device: scaling, diagonal, and degrees of the second term of the modularity.
struct DeviceTerms {
    scale: Option<DeviceMemory>,
    diagonal: Option<DeviceMemory>,
    rank_one: Option<(DeviceMemory, f64)>,
}

/// The parts of an operator without its type, besides the terms on the device.
struct UntypedParts<'o> {
    products: DeviceProducts<'o>,
    kind: Kind,
    shape: (usize, usize),
    order: usize,
    gathered: Option<usize>,
    alpha: f64,
    shift: f64,
}

impl<'o> DeviceOperator<'o> {
    /// Copies the operator's terms beside its matrix to the device.
    pub(super) fn new<T: Scalar>(gpu: &Gpu, stream: &GpuStream, operator: &'o Symmetric<'_, T>) -> Result<Self> {
        let (order, gathered) = (operator.order(), operator.gathered());
        let Parts { products, kind, shape, alpha, shift, scale, diagonal, rank_one } = operator.parts()?;
        let upload = |v: &[T::Part]| gpu.upload_numbers(stream, "degrees of a graph", v);
        let rank_one = match rank_one {
            None => None,
            Some((degrees, inverse)) => {
                let mut own = alloc::with_capacity(WHAT, order)?;
                own.extend(degrees.iter().map(|d| T::from_parts(Scalar::re(*d), 0.0)));
                Some((gpu.upload_numbers(stream, "degrees of a graph", &own)?, inverse))
            }
        };
        let terms = DeviceTerms {
            scale: scale.map(upload).transpose()?,
            diagonal: diagonal.map(upload).transpose()?,
            rank_one,
        };
        Self::with(gpu, stream, T::DTYPE, UntypedParts { products, kind, shape, order, gathered, alpha, shift }, terms)
    }

    fn with(gpu: &Gpu, stream: &GpuStream, dtype: DType, of: UntypedParts<'o>, terms: DeviceTerms) -> Result<Self> {
        let UntypedParts { products, kind, shape, order, gathered, alpha, shift } = of;
        let DeviceTerms { scale, diagonal, rank_one } = terms;
        let between = match kind {
            Kind::Gram => Some(shape.0),
            Kind::OuterGram => Some(shape.1),
            _ => gathered.or(scale.as_ref().map(|_| order)),
        };
        let rank_one = match rank_one {
            None => None,
            Some((degrees, inverse)) => Some(RankOne {
                degrees,
                inverse,
                partials: gpu.allocate_on(stream, WHAT, 8 * parts(dtype) * pieces(order))?,
                sum: gpu.allocate_on(stream, WHAT, 8 * parts(dtype))?,
            }),
        };
        let space = |plan: &Plan| plan.device_space(stream);
        let products = match products {
            DeviceProducts::Own(own) => Products::Own(own),
            DeviceProducts::Planned { matrix, plan, adjoint } => {
                let adjoint = adjoint.map(|plan| Ok::<_, Error>((plan, space(plan)?))).transpose()?;
                Products::Planned(Box::new(Planned { matrix, plan, space: space(plan)?, adjoint }))
            }
        };
        let bytes = |n: usize| product(WHAT, n, dtype.size());
        Ok(Self {
            dtype,
            gpu: gpu.clone(),
            stream: stream.clone(),
            products,
            kind,
            shape,
            order,
            alpha,
            shift,
            scale,
            diagonal,
            rank_one,
            between: between.map(|n| gpu.allocate_on(stream, WHAT, bytes(n)?)).transpose()?,
        })
    }

    /// Bytes on the device of the operator of a sparse matrix, beside the plans of its products. They are those of
    /// [`Parts`]. `gathered` is the length of the gather buffer of an operator that has only some rows.
    pub(in crate::lanczos) fn bytes(dtype: DType, kind: Kind, shape: (usize, usize), gathered: Option<usize>) -> usize {
        let (order, sum) = (kind.order(shape), 8 * parts(dtype));
        let number = |n: usize| n.saturating_mul(dtype.size());
        let degrees = |lists: usize| order.saturating_mul(lists * dtype.part().size());
        let (between, terms) = match kind {
            Kind::Matrix | Kind::Augmented => (0, 0),
            Kind::Gram => (shape.0, 0),
            Kind::OuterGram => (shape.1, 0),
            Kind::Laplacian | Kind::SignlessLaplacian => (0, degrees(1)),
            Kind::NormalizedAdjacency => (order, degrees(1)),
            Kind::NormalizedLaplacian | Kind::RandomWalkLaplacian => (order, degrees(2)),
            Kind::Modularity => (0, number(order).saturating_add(pieces(order).saturating_add(1).saturating_mul(sum))),
        };
        number(gathered.unwrap_or(between)).saturating_add(terms)
    }

    /// Whether equal calls enqueue the same work, so that a graph can repeat it.
    pub(super) fn repeats(&self) -> bool {
        match &self.products {
            Products::Planned(_) => true,
            Products::Own(own) => own.repeats(),
        }
    }

    /// Moves products to another stream.
    pub(super) fn move_to(&mut self, stream: &GpuStream) {
        self.stream = stream.clone();
    }

    /// The order that vectors are in, if it is not the matrix's.
    pub(super) fn renumbering(&self) -> Option<&'o Arc<Renumbering>> {
        match &self.products {
            Products::Planned(own) => own.plan.renumbering(),
            Products::Own(_) => None,
        }
    }

    /// The gather buffer of an operator that has only some rows.
    pub(super) fn gathered(&self) -> Result<Region<'_>> {
        let there = self.between.as_ref().map(DeviceMemory::whole);
        there.ok_or_else(|| Error::Internal("an operator without its space".into()))
    }

    /// Writes the scaled entries of `x`, which products gather, to the first numbers of [`DeviceOperator::gathered`],
    /// in stream order.
    pub(super) fn gather(&self, x: Region<'_>) -> Result<()> {
        let (to, parts) = (self.gathered()?, self.scale.as_ref().map(DeviceMemory::whole));
        let one = Scale { from: x, to, rows: self.order, square: None, parts, factor: 1.0, keep: 0.0 };
        scale(self.dtype, &self.gpu, &self.stream, one)
    }

    /// As [`DeviceOperator::affine`] for the operator's own rows. [`DeviceOperator::gathered`] must hold all entries
    /// that they need.
    pub(super) fn finish(&self, step: Affine, ProductVectors { x, y }: ProductVectors<'_>) -> Result<()> {
        self.scaled(self.gathered()?, self.finished(step, ProductVectors { x, y }))
    }

    fn finished<'a>(&self, step: Affine, ProductVectors { x, y }: ProductVectors<'a>) -> DeviceFinish<'a> {
        DeviceFinish {
            shift: real(step.scale * (self.shift - step.center)),
            weight: real(step.scale),
            x: Some(x),
            ..DeviceFinish::plain(y, real(step.scale * self.alpha), real(step.keep))
        }
    }

    /// A product whose row sums are multiplied by the operator's scaling, and to which the diagonal term is added.
    fn scaled(&self, gathered: Region<'_>, made: DeviceFinish<'_>) -> Result<()> {
        let made = DeviceFinish {
            row_scale: self.scale.as_ref().map(DeviceMemory::whole),
            diagonal: self.diagonal.as_ref().map(DeviceMemory::whole),
            ..made
        };
        self.products.multiply(&self.stream, Op::Plain, gathered, &made)
    }

    /// Whether [`DeviceOperator::apply_block`] supports this operator.
    pub(super) fn takes_blocks(&self) -> bool {
        match self.products {
            Products::Planned(_) => {
                !matches!(self.kind, Kind::Gram | Kind::OuterGram | Kind::Augmented) && self.rank_one.is_none()
            }
            Products::Own(_) => self.kind == Kind::Matrix,
        }
    }

    /// Y = A X for `width` columns, in stream order. The matrix is read once for all of them.
    pub(super) fn apply_block(&self, width: usize, x: Region<'_>, y: Region<'_>) -> Result<()> {
        let (dtype, gpu, stream, rows) = (self.dtype, &self.gpu, &self.stream, self.order);
        let length = product(WHAT, rows, self.dtype.size())?;
        let each = |from: Region<'_>, to: Region<'_>, parts: Option<&DeviceMemory>, factor: f64, keep: f64| {
            let parts = parts.map(DeviceMemory::whole);
            (0..width).try_for_each(|j| {
                let (from, to) = (from.part(j * length, length)?, to.part(j * length, length)?);
                scale(dtype, gpu, stream, Scale { from, to, rows, square: None, parts, factor, keep })
            })
        };
        let own = match &self.products {
            Products::Planned(own) => own,
            Products::Own(own) => {
                own.multiply_block(stream, Op::Plain, width, x, y)?;
                return if self.shift == 0.0 { Ok(()) } else { each(x, y, None, self.shift, 1.0) };
            }
        };
        // Write the scaled X to Y's memory; the result overwrites it later.
        let gathered = if self.scale.is_some() { y } else { x };
        if let Some(parts) = &self.scale {
            each(x, y, Some(parts), 1.0, 0.0)?;
        }
        // Row by row, the numbers of a gathered row are in one memory sector.
        let space = || gpu.allocate_uninitialized_on(stream, WHAT, product(WHAT, length, width)?);
        let (input, output) = (space()?, space()?);
        let (input, output) = (input.whole(), output.whole());
        place(dtype, gpu, stream, View::packed(gathered, rows, width), View::packed(input, width, rows), true, false)?;
        let factors = (real(self.alpha), real(0.0));
        let (input_rows, output_rows) = ((input, width), (output, width));
        own.plan.multiply_device_block(own.matrix, stream, factors, width, input_rows, output_rows)?;
        place(dtype, gpu, stream, View::packed(output, width, rows), View::packed(y, rows, width), true, false)?;
        if let Some(parts) = &self.scale {
            each(y, y, Some(parts), 1.0, 0.0)?;
        }
        if self.shift != 0.0 {
            each(x, y, None, self.shift, 1.0)?;
        }
        if let Some(parts) = &self.diagonal {
            each(x, y, Some(parts), 1.0, 1.0)?;
        }
        Ok(())
    }

    /// As [`Symmetric::factors`].
    pub(super) fn factors(&self) -> [Op; 2] {
        if self.kind == Kind::Gram { [Op::Plain, Op::Adjoint] } else { [Op::Adjoint, Op::Plain] }
    }

    /// y = op(A) x with the operator's matrix A, in stream order.
    pub(super) fn factor(&self, op: Op, ProductVectors { x, y }: ProductVectors<'_>) -> Result<()> {
        self.products.multiply(&self.stream, op, x, &DeviceFinish::plain(y, real(1.0), real(0.0)))
    }

    /// y = scale (A - center) x + keep y, in stream order.
    pub(super) fn affine(&self, step: Affine, ProductVectors { x, y }: ProductVectors<'_>) -> Result<()> {
        let (dtype, gpu, stream) = (self.dtype, &self.gpu, &self.stream);
        let finish = |y, x| self.finished(step, ProductVectors { x, y });
        let multiply = |op, gathered, finish: &DeviceFinish<'_>| self.products.multiply(stream, op, gathered, finish);
        let between = || self.between.as_ref().ok_or_else(|| Error::Internal("an operator without its space".into()));
        match self.kind {
            Kind::Gram | Kind::OuterGram => {
                let inner = between()?.whole();
                let once = DeviceFinish::plain(inner, real(1.0), real(0.0));
                let (first, second) =
                    if self.kind == Kind::Gram { (Op::Plain, Op::Adjoint) } else { (Op::Adjoint, Op::Plain) };
                multiply(first, x, &once)?;
                multiply(second, inner, &finish(y, x))
            }
            Kind::Augmented => {
                let (rows, cols) = self.shape;
                let (top, bottom) = (rows * self.dtype.size(), cols * self.dtype.size());
                let (x_top, x_bottom) = (x.part(0, top)?, x.part(top, bottom)?);
                let (y_top, y_bottom) = (y.part(0, top)?, y.part(top, bottom)?);
                multiply(Op::Plain, x_bottom, &finish(y_top, x_top))?;
                multiply(Op::Adjoint, x_top, &finish(y_bottom, x_bottom))
            }
            _ => {
                let rows = self.order;
                if let Some(r) = &self.rank_one {
                    let space = r.degrees.whole();
                    let one = Pass {
                        space,
                        vector: x,
                        rows,
                        count: 1,
                        weights: None,
                        partials: Some(r.partials.whole()),
                        squares: None,
                        keep: true,
                    };
                    pass(dtype, gpu, stream, one)?;
                    let sums = (parts(dtype), pieces(rows));
                    total(gpu, stream, r.partials.whole(), sums, step.scale * r.inverse, r.sum.whole())?;
                }
                let gathered = match &self.scale {
                    None => x,
                    Some(s) => {
                        let to = between()?.whole();
                        let parts = Some(s.whole());
                        scale(
                            dtype,
                            gpu,
                            stream,
                            Scale { from: x, to, rows, square: None, parts, factor: 1.0, keep: 0.0 },
                        )?;
                        to
                    }
                };
                self.scaled(gathered, finish(y, x))?;
                if let Some(r) = &self.rank_one {
                    let taken = Pass {
                        space: r.degrees.whole(),
                        vector: y,
                        rows,
                        count: 1,
                        weights: Some(r.sum.whole()),
                        partials: None,
                        squares: None,
                        keep: false,
                    };
                    pass(dtype, gpu, stream, taken)?;
                }
                Ok(())
            }
        }
    }
}
