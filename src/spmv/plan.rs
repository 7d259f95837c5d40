//! A plan and its operator, which hold each other: the operator of some kinds has a plan of products with the adjoint.

use std::any::Any;
use std::sync::Arc;

use super::gpu;
use super::info::Info;
use super::options::{Op, Options};
use super::renumber::Renumbering;
use super::terms::Terms;
use super::tiles::{Shares, Tile, csr, operator};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::{DType, Scalar, with_scalar};

/// The plan of a product, for every matrix of one structure, whatever its values.
///
/// Shares depend on the structure only. Results therefore do not depend on the number of threads.
pub struct Plan {
    pub(super) context: Arc<Context>,
    pub(super) options: Options,
    pub(super) info: Info,
    pub(super) shape: (usize, usize, usize),
    /// The matrix of the product, if it is not A itself: A^T or A^H, a copy in the requested order, or one whose rows are
    /// multiplied by powers of two.
    pub(super) other: Option<Matrix>,
    pub(super) renumbering: Option<Arc<Renumbering>>,
    /// The starts of the shares, and the end of the last one.
    pub(super) tiles: Vec<Tile>,
    /// For [`Method::RowBin`]: the rows of each share, by length.
    pub(super) order: Vec<u32>,
    /// The plan's data on the device, in a context on a GPU.
    pub(super) device: Option<Box<gpu::Prepared>>,
    /// The terms of the operator; `None` if products are with the matrix only.
    pub(super) operator: Option<Operator>,
    /// Whether the matrix is known only by its products.
    pub(super) is_of_operator: bool,
}

impl Plan {
    /// The terms of the operator; `None` if products are with the matrix only.
    pub(super) fn operator(&self) -> Option<&Operator> {
        self.operator.as_ref()
    }

    /// The order of rows and columns that [`Plan::compute`], [`Plan::compute_block`] and the products on the device
    /// use, if it is not the matrix's. [`Plan::apply`] and [`Plan::apply_block`] take vectors in the matrix's order.
    pub fn renumbering(&self) -> Option<&Arc<Renumbering>> {
        self.renumbering.as_ref()
    }

    /// The report of the plan.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// The options that [`Plan::new`] got.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The context of the matrix, to which vectors must belong too.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Rows and columns of the operator.
    pub fn size(&self) -> (usize, usize) {
        let (rows, cols, _) = self.shape;
        if self.options.kind.is_of_square() {
            return self.matrix_size();
        }
        let order = self.options.kind.order((rows, cols));
        (order, order)
    }

    /// Rows and columns of op(A).
    pub(super) fn matrix_size(&self) -> (usize, usize) {
        let (rows, cols, _) = self.shape;
        if self.options.op == Op::Plain { (rows, cols) } else { (cols, rows) }
    }

    /// The shares of a product on threads.
    pub(super) fn shares(&self) -> Shares<'_> {
        Shares { info: &self.info, tiles: &self.tiles, order: &self.order }
    }

    /// Refuses a matrix whose storage, size or number of entries differs from the plan's.
    pub(super) fn expect(&self, a: &Matrix) -> Result<()> {
        let entries = if operator(a).is_some() { 0 } else { csr(a)?.nnz() };
        if operator(a).is_some() != self.is_of_operator {
            let kind = if self.is_of_operator { "an operator" } else { "a sparse matrix" };
            return Err(Error::invalid("a", format!("is {}, the plan is for {kind}", a.storage().name())));
        }
        let found = (a.rows(), a.cols(), entries);
        if found == self.shape {
            return Ok(());
        }
        let text = |(m, n, nnz): (usize, usize, usize)| format!("{m} x {n} with {nnz} entries");
        Err(Error::invalid("a", format!("is {}, the plan is for {}", text(found), text(self.shape))))
    }

    /// The matrix of the product: the plan's copy, or `a`.
    pub(super) fn matrix<'a>(&'a self, a: &'a Matrix) -> &'a Matrix {
        self.other.as_ref().unwrap_or(a)
    }
}

/// The part of a plan beside its products with the matrix.
pub(super) struct Operator {
    /// [`Terms`] of the matrix's real type.
    pub(super) terms: Box<dyn Any + Send + Sync>,
    pub(super) device: Option<gpu::DeviceTerms>,
    /// The plan of products with the adjoint, for kinds that need both.
    pub(super) back: Option<Box<Plan>>,
}

impl Operator {
    /// Bytes on the host and the device.
    pub(super) fn bytes(&self) -> usize {
        fn of<P: 'static>(terms: &(dyn Any + Send + Sync)) -> usize {
            let length = |list: Option<&Vec<P>>| list.map_or(0, |l| size_of_val(&l[..]));
            let sum = |t: &Terms<P>| {
                length(t.scale.as_ref()) + length(t.diagonal.as_ref()) + length(t.rank_one.as_ref().map(|r| &r.0))
            };
            terms.downcast_ref::<Terms<P>>().map_or(0, sum)
        }
        let host = of::<f32>(&*self.terms) + of::<f64>(&*self.terms);
        let device = self.device.as_ref().map_or(0, gpu::DeviceTerms::bytes);
        host + device + self.back.as_ref().map_or(0, |b| b.info().bytes)
    }

    pub(super) fn back(&self) -> Result<&Plan> {
        self.back.as_deref().ok_or_else(|| Error::Internal("products with an adjoint that was not planned".into()))
    }

    /// The terms for vectors of type `T`.
    pub(super) fn terms<T: Scalar>(&self) -> Result<&Terms<T::Part>> {
        let typed = self.terms.downcast_ref();
        typed.ok_or_else(|| Error::invalid("a", format!("is {}, the plan is for another type", T::DTYPE.name())))
    }

    /// The sign of the matrix's term, and whether its rows and columns are scaled, for vectors of type `dtype`.
    pub(super) fn sign_and_sides(&self, dtype: DType) -> Result<(f64, (bool, bool))> {
        with_scalar!(dtype, "a", T => self.terms::<T>().map(|terms| (terms.sign, terms.sides)))
    }
}
