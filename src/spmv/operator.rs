//! Products with operators that are never formed: the terms that a plan stores, and their combination with products of
//! the matrix.

use std::any::Any;

use super::cpu::Finish;
use super::gpu::DeviceTerms;
use super::kind::Kind;
use super::known;
use super::options::{Op, Options};
use super::plan::Plan;
use super::renumber::Way;
use super::terms::{Terms, add_along, dot, scaled};
use super::tiles::csr;
use crate::alloc;
use crate::backend::Backend;
use crate::backend::memory::Memory;
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::matrix::Matrix;
use crate::matrix::sparse::row_sums;
use crate::scalar::{Real, Scalar, with_scalar};
use crate::shape::product;

const WHAT: &str = "operator of a sparse product";

/// The part of a plan beside its products with the matrix.
pub(super) struct Operator {
    /// [`Terms`] of the matrix's real type.
    terms: Box<dyn Any + Send + Sync>,
    pub(super) device: Option<DeviceTerms>,
    /// The plan of products with the adjoint, for kinds that need both.
    back: Option<Box<Plan>>,
}

impl Operator {
    /// The operator of the plan's kind, for a matrix whose products are planned already.
    pub(super) fn new(plan: &Plan, a: &Matrix) -> Result<Self> {
        with_scalar!(a.dtype(), "a", T => Self::typed::<T>(plan, a))
    }

    fn typed<T: Scalar>(plan: &Plan, a: &Matrix) -> Result<Self> {
        let options = plan.options();
        let mut terms = Terms::<T::Part>::none();
        if options.kind.is_of_graph() {
            terms = Terms::new(options.kind, &plan.degrees::<T>(a)?, |row| row)?;
            if options.op != Op::Plain {
                terms.sides = (terms.sides.1, terms.sides.0);
            }
            if let Some(order) = plan.renumbering() {
                for list in terms.lists() {
                    let mut turned = alloc::filled(WHAT, list.len(), T::Part::ONE)?;
                    order.apply(plan.context(), Way::In, 1, list, &mut turned)?;
                    *list = turned;
                }
            }
        }
        let device = match plan.context().backend() {
            Backend::Cpu => None,
            Backend::Gpu(gpu) => Some(DeviceTerms::new::<T>(gpu, &terms)?),
        };
        let back = if options.kind.is_of_square() {
            None
        } else {
            let bare = Options { method: options.method, symmetric: options.symmetric, ..Options::default() };
            let settings = Options { op: Op::Adjoint, ..bare };
            Some(Box::new(Plan::new(plan.context(), a, settings)?))
        };
        Ok(Self { terms: Box::new(terms), device, back })
    }

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
        let device = self.device.as_ref().map_or(0, DeviceTerms::bytes);
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
}

impl Plan {
    compiled_here! {
        /// The row sums of a square matrix, in the matrix's order. If its values are on a device, a product computes them.
        /// An operator returns the row sums that it knows.
        pub fn degrees<T: Scalar>(&self: Plan, a: &Matrix) -> Result<Vec<f64>> = Plan::degrees_of;
    }

    fn degrees_of<T: Scalar>(&self, a: &Matrix) -> Result<Vec<f64>> {
        if let Some(own) = known::operator(a) {
            return Self::known_degrees(a, own, self.options().kind);
        }
        let n = a.rows();
        let mut degrees = alloc::with_capacity("degrees of a graph", n)?;
        if !matches!(csr(a)?.parts().values, Some(Memory::Device(_))) {
            degrees.extend(row_sums(a)?.iter().map(|d| d.re));
            return Ok(degrees);
        }
        let one = T::from_parts(1.0, 0.0);
        let (ones, mut sums) = (alloc::filled(WHAT, n, one)?, alloc::filled(WHAT, n, T::default())?);
        self.compute(a, Finish::plain(one, T::default()), &ones, &ones, &mut sums)?;
        if let Some(order) = self.renumbering() {
            // The ones are not needed any more; reuse their memory.
            let mut back = ones;
            order.apply(self.context(), Way::Out, 1, &sums, &mut back)?;
            sums = back;
        }
        degrees.extend(sums.iter().map(|d| d.re()));
        Ok(degrees)
    }

    /// Y = alpha Op X + beta Y for rows of `width` numbers on the host, in the plan's order. With alpha = 0, X is not
    /// read.
    pub(super) fn operate<T: Scalar>(
        &self,
        operator: &Operator,
        a: &Matrix,
        (alpha, beta): (T, T),
        width: usize,
        x: &[T],
        y: &mut [T],
    ) -> Result<()> {
        let (kind, shift) = (self.options().kind, self.options().added());
        let (context, terms) = (self.context(), operator.terms::<T>()?);
        let (zero, one) = (T::default(), T::from_parts(1.0, 0.0));
        let finish = Finish {
            row_scale: terms.rows(),
            shift: alpha * T::from_parts(shift, 0.0),
            diagonal: terms.diagonal.as_deref(),
            weight: alpha,
            ..Finish::plain(T::from_parts(terms.sign, 0.0) * alpha, beta)
        };
        if alpha == zero {
            let none = Finish::plain(zero, beta);
            context.pool().run_here(|| y.iter_mut().for_each(|y| *y = none.rest(0, &[], *y)));
            return Ok(());
        }
        let between = |rows: usize| alloc::filled(WHAT, product(WHAT, rows, width)?, zero);
        match kind {
            Kind::Gram | Kind::OuterGram => {
                let back = operator.back()?;
                let (first, second) = if kind == Kind::Gram { (self, back) } else { (back, self) };
                let mut inner = between(first.matrix_size().0)?;
                first.sums(a, Finish::plain(one, zero), width, (x, x), &mut inner)?;
                second.sums(a, finish, width, (&inner, x), y)
            }
            Kind::Augmented => {
                let at = self.matrix_size().0 * width;
                let ((x_top, x_bottom), (y_top, y_bottom)) = (x.split_at(at), y.split_at_mut(at));
                self.sums(a, finish, width, (x_bottom, x_top), y_top)?;
                operator.back()?.sums(a, finish, width, (x_top, x_bottom), y_bottom)
            }
            _ => {
                let mut own;
                let gathered = match terms.columns() {
                    None => x,
                    Some(scale) => {
                        own = between(self.matrix_size().1)?;
                        scaled(context, scale, width, x, &mut own);
                        &own
                    }
                };
                self.sums(a, finish, width, (gathered, x), y)?;
                let Some((d, inverse)) = &terms.rank_one else { return Ok(()) };
                for column in 0..width {
                    let along = T::narrow(dot(context, d, (x, width, column), -*inverse));
                    add_along(context, d, alpha * along, (y, width, column));
                }
                Ok(())
            }
        }
    }

    /// Applies `finish` to products of the matrix with `gathered`, which has rows of `width` numbers.
    fn sums<T: Scalar>(
        &self,
        a: &Matrix,
        finish: Finish<'_, T>,
        width: usize,
        (gathered, x): (&[T], &[T]),
        y: &mut [T],
    ) -> Result<()> {
        if width == 1 {
            return self.compute(a, finish, gathered, x, y);
        }
        self.compute_block_finished(a, finish, width, (gathered, x), y)
    }
}
