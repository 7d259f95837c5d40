//! The sources of products: a sparse matrix, the caller's operator, or a graph without stored weights.

use std::sync::Arc;

use super::super::ops::{LIGHT, PIECE};
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::context::Context;
use crate::dense::Op as Adjoint;
use crate::error::{Error, Result};
use crate::matrix::sparse::{CopyBytes, Ordering};
use crate::matrix::{Matrix, OnDevice, OperatorGuard, Storage};
use crate::scalar::Scalar;
use crate::spmv::cpu::Finish;
use crate::spmv::{DeviceBytes, Op, Options as ProductOptions, Plan};

/// An undirected graph whose weights are computed during products.
pub trait Adjacency<T: Scalar>: Send + Sync {
    /// Number of vertices: order of the matrix.
    fn order(&self) -> usize;
    /// Row sums, all finite.
    ///
    /// # Errors
    /// Out of memory.
    fn degrees(&self) -> Result<Vec<f64>>;
    /// y = `finish` applied to the sums W `gathered`; `x` is the vector of the diagonal term.
    ///
    /// # Errors
    /// Out of memory.
    fn compute(&self, context: &Context, finish: Finish<'_, T>, gathered: &[T], x: &[T], y: &mut [T]) -> Result<()>;
}

/// The source of an operator's products.
pub(super) enum Products<'a, T: Scalar> {
    Sparse {
        matrix: &'a Matrix,
        plan: Arc<Plan>,
        adjoint: Option<Arc<Plan>>,
    },
    Own(OperatorGuard<'a, T>),
    Graph(Box<dyn Adjacency<T> + 'a>),
    /// No products: columns without an operator.
    Nothing,
}

impl<'a, T: Scalar> Products<'a, T> {
    /// Products with `a`; with `both`, also with its adjoint. With an `ordering`, vectors are in that order.
    pub(super) fn new(context: &Arc<Context>, a: &'a Matrix, both: bool, ordering: Option<Ordering>) -> Result<Self> {
        match a.storage() {
            Storage::Operator(own) => Ok(Self::Own(own.lock::<T>("a")?)),
            Storage::Csr(_) => {
                let plan = |op| Plan::cached(context, a, options(both, op, ordering));
                let adjoint = if both { Some(plan(Op::Adjoint)?) } else { None };
                Ok(Self::Sparse { matrix: a, plan: plan(Op::Plain)?, adjoint })
            }
            other => Err(Error::NotSupported(format!("a: is {}, a sparse matrix is needed", other.name()))),
        }
    }

    /// The interface of an operator that multiplies on the device; `None` for other sources.
    pub(super) fn on_device(&self) -> Result<Option<&dyn OnDevice>> {
        match self {
            Self::Own(own) => Ok(own.view()?.on_device()),
            Self::Sparse { .. } | Self::Graph(_) | Self::Nothing => Ok(None),
        }
    }

    /// y = `finish` applied to the sums op(A) `gathered`; `x` is the vector of the diagonal term, and `workspace` holds
    /// the sums of an operator without a finish.
    pub(super) fn multiply(
        &mut self,
        context: &Context,
        op: Adjoint,
        finish: Finish<'_, T>,
        (gathered, x): (&[T], &[T]),
        y: &mut [T],
        workspace: &mut Vec<T>,
    ) -> Result<()> {
        match self {
            Self::Sparse { matrix, plan, adjoint } => {
                let plan = if op == Adjoint::Adjoint { adjoint.as_ref().unwrap_or(plan) } else { plan };
                plan.compute(matrix, finish, gathered, x, y)
            }
            Self::Graph(graph) => graph.compute(context, finish, gathered, x, y),
            Self::Nothing => Err(Error::Internal("a product of columns without an operator".into())),
            Self::Own(own) => {
                let own = own.operator()?;
                if finish.is_plain() && finish.alpha == T::from_parts(1.0, 0.0) {
                    return own.apply(op, gathered, 1, y);
                }
                resize(workspace, y.len())?;
                own.apply(op, gathered, 1, workspace)?;
                context.pool().run_here(|| {
                    let pieces =
                        y.par_chunks_mut(PIECE).zip(workspace.par_chunks(PIECE)).enumerate().with_min_len(LIGHT);
                    pieces.for_each(|(piece, (y, sums))| {
                        for (i, (y, sum)) in (piece * PIECE..).zip(y.iter_mut().zip(sums)) {
                            *y = finish.of(i, x, *sum, *y);
                        }
                    });
                });
                Ok(())
            }
        }
    }
}

/// The options of a plan of products; `both` says that products with the adjoint are needed too.
fn options(both: bool, op: Op, ordering: Option<Ordering>) -> ProductOptions {
    ProductOptions { symmetric: !both, op, ordering, ..ProductOptions::default() }
}

/// Bytes of the copies of a matrix that [`Products::new`] makes, and on a device those of the products with them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::lanczos) struct Copies {
    /// Copies in host memory.
    pub(in crate::lanczos) host: CopyBytes,
    /// The plans of products on the device, which the matrix keeps.
    pub(in crate::lanczos) device: CopyBytes,
    /// The workspace of products on the device, for as long as the operator is used.
    pub(in crate::lanczos) space: usize,
    /// The workspace on the device of a product with a block of vectors, which is freed after it.
    pub(in crate::lanczos) block: usize,
    /// The tiles of such products, which stay.
    pub(in crate::lanczos) tiles: usize,
}

impl Copies {
    /// These copies and others, which are made after them.
    #[must_use]
    pub(in crate::lanczos) fn then(self, next: Self) -> Self {
        Self {
            host: self.host.then(next.host),
            device: self.device.then(next.device),
            space: self.space.saturating_add(next.space),
            block: self.block.max(next.block),
            tiles: self.tiles.saturating_add(next.tiles),
        }
    }

    fn on_device(bytes: DeviceBytes) -> Self {
        let DeviceBytes { plan, space, block, tiles } = bytes;
        Self { device: plan, space, block, tiles, host: CopyBytes::default() }
    }
}

/// Bytes of the copies of a matrix that [`Products::new`] makes, and of its products with `width` vectors.
///
/// # Errors
/// As [`Plan::new`].
pub(in crate::lanczos) fn copies(
    context: &Arc<Context>,
    a: &Matrix,
    both: bool,
    ordering: Option<Ordering>,
    width: usize,
) -> Result<Copies> {
    if !matches!(a.storage(), Storage::Csr(_)) {
        return Ok(Copies::default());
    }
    let of = |op| {
        let options = options(both, op, ordering);
        let host = Plan::host_bytes(context, a, options)?;
        Ok::<_, Error>(Copies { host, ..Copies::on_device(Plan::device_bytes(context, a, options, width)?) })
    };
    let first = if both { of(Op::Adjoint)? } else { Copies::default() };
    Ok(first.then(of(Op::Plain)?))
}

impl<T: Scalar> Products<'_, T> {
    /// As [`copies`], beside the plans of these products.
    ///
    /// # Errors
    /// As [`copies`].
    pub(super) fn copies(&self, width: usize) -> Result<Copies> {
        let Self::Sparse { matrix, plan, adjoint } = self else { return Ok(Copies::default()) };
        let of = |plan: &Plan| plan.bytes_of_products(matrix, width).map(Copies::on_device);
        let first = adjoint.as_deref().map_or(Ok(Copies::default()), of)?;
        Ok(first.then(of(plan)?))
    }
}

/// Reallocates a buffer if its length is not `length`.
pub(super) fn resize<T: Scalar>(buffer: &mut Vec<T>, length: usize) -> Result<()> {
    if buffer.len() != length {
        *buffer = alloc::filled("operator", length, T::default())?;
    }
    Ok(())
}
