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
use crate::spmv::{Op, Options as ProductOptions, Plan};

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

/// Host bytes of the copies of a matrix that [`Products::new`] makes.
///
/// # Errors
/// As [`Plan::new`].
pub(in crate::lanczos) fn copies(
    context: &Arc<Context>,
    a: &Matrix,
    both: bool,
    ordering: Option<Ordering>,
) -> Result<CopyBytes> {
    if !matches!(a.storage(), Storage::Csr(_)) {
        return Ok(CopyBytes::default());
    }
    let of = |op| Plan::host_bytes(context, a, options(both, op, ordering));
    let (first, last) = (if both { of(Op::Adjoint)? } else { CopyBytes::default() }, of(Op::Plain)?);
    let peak = first.peak.max(first.kept.saturating_add(last.peak));
    Ok(CopyBytes { peak, kept: first.kept.saturating_add(last.kept) })
}

/// Reallocates a buffer if its length is not `length`.
pub(super) fn resize<T: Scalar>(buffer: &mut Vec<T>, length: usize) -> Result<()> {
    if buffer.len() != length {
        *buffer = alloc::filled("operator", length, T::default())?;
    }
    Ok(())
}
