//! Products with operators that are never formed: the terms that a plan stores, and their combination with products of
//! the matrix.

use super::cpu::Finish;
use super::kind::Kind;
use super::known;
use super::plan::{Operator, Plan};
use super::renumber::Direction;
use super::terms::{add_along, dot, scaled};
use super::tiles::csr;
use crate::alloc;
use crate::backend::memory::Memory;
use crate::error::Result;
use crate::instances::compiled_here;
use crate::matrix::Matrix;
use crate::matrix::sparse::row_sums;
use crate::scalar::Scalar;
use crate::shape::product;

const WHAT: &str = "operator of a sparse product";

impl Plan {
    compiled_here! {
        /// The row sums of a square matrix, in the matrix's order. If its values are on a device, a product computes them.
        /// An operator returns the row sums that it knows.
        ///
        /// # Errors
        /// As [`row_sums`]; [`crate::error::Error::NotSupported`] for an operator that does not know them;
        /// [`crate::error::Error::Busy`] for one in use; errors of the device.
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
            order.apply(self.context(), Direction::ToMatrix, 1, &sums, &mut back)?;
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
