//! An operator that has only some of its rows: products gather from more numbers than there are rows.

use std::ops::Range;
use std::sync::Arc;

use super::Kind;
use super::hermitian::{Symmetric, finish};
use super::products::Products;
use crate::choice::word;
use crate::context::Context;
use crate::dense::Op as Adjoint;
use crate::error::{Error, Result};
use crate::lanczos::ops::Affine;
use crate::matrix::Matrix;
use crate::scalar::Scalar;
use crate::spmv::terms::scaled;
use crate::spmv::{Options as ProductOptions, Plan};

impl<'a, T: Scalar> Symmetric<'a, T> {
    /// The rows `rows` of operator `kind` of a symmetric matrix, plus `shift` times the identity. `a` has those rows of
    /// the matrix, and the columns with the numbers of these rows come first. `degrees` are their row sums, for kinds
    /// of graphs.
    ///
    /// # Errors
    /// As [`Symmetric::new`]; [`Error::NotSupported`] for kinds in which a row depends on more than its entries and its
    /// row sum.
    pub(in crate::lanczos) fn of_rows(
        context: &Arc<Context>,
        a: &'a Matrix,
        (kind, shift): (Kind, f64),
        rows: &'a [Range<usize>],
        degrees: Option<&[f64]>,
    ) -> Result<Self> {
        if !kind.is_of_square() || kind == Kind::Modularity {
            return Err(Error::NotSupported(format!("kind: is {}, a single context is needed for it", word(kind))));
        }
        let plan = Plan::cached(context, a, ProductOptions::default())?;
        let products = Products::Sparse { matrix: a, plan, adjoint: None };
        let mut made = Self::bare(context, products, kind, (a.rows(), a.cols()), shift)?;
        made.rows = Some(rows);
        if let Some(degrees) = degrees {
            made.prepare(degrees, Some(a))?;
        }
        Ok(made)
    }

    /// The ranges of rows of an operator that has only some of them.
    pub(in crate::lanczos) fn rows(&self) -> Option<&'a [Range<usize>]> {
        self.rows
    }

    /// The row of the matrix that is row `own` of this operator.
    pub(super) fn row_of(&self, own: usize) -> usize {
        let mut left = own;
        for rows in self.rows.unwrap_or_default() {
            if left < rows.len() {
                return rows.start + left;
            }
            left -= rows.len();
        }
        own
    }

    /// Length of the gather buffer in numbers, for an operator that has only some rows.
    pub(in crate::lanczos) fn gathered(&self) -> Option<usize> {
        self.rows.map(|_| self.shape.1)
    }

    /// Writes the scaled entries of `x`, which products gather, to the first `x.len()` numbers of `to`.
    pub(in crate::lanczos) fn gather(&self, x: &[T], to: &mut [T]) {
        let to = &mut to[..x.len()];
        match &self.terms.scale {
            None => to.copy_from_slice(x),
            Some(scale) => scaled(&self.context, scale, 1, x, to),
        }
    }

    /// Computes `step` for these rows. `gathered` has the entries of the full vector that they need, as written by
    /// [`Symmetric::gather`].
    ///
    /// # Errors
    /// As [`Symmetric::apply`].
    pub(in crate::lanczos) fn finish(&mut self, step: Affine, gathered: &[T], x: &[T], y: &mut [T]) -> Result<()> {
        let finish = finish(step, self.shift, &self.terms);
        let context = Arc::clone(&self.context);
        self.products.multiply(&context, Adjoint::Plain, finish, (gathered, x), y, &mut self.given)
    }
}
