//! The operations that the ladder needs, for matrices of an algebra and for others.

use super::super::sketch::Sketch;
use super::super::{Algebra, Op, Step};
use crate::error::Result;
use crate::scalar::Scalar;

/// The operations of the ladder on matrices with at least as many rows as columns, and an algebra for small matrices.
pub trait Columns<T: Scalar> {
    /// Dense algebra for matrices with as many rows as X has columns.
    type Algebra: Algebra<T>;
    /// A matrix whose basis is computed.
    type X: 'static;

    /// The algebra of the small matrices.
    fn algebra(&mut self) -> &mut Self::Algebra;

    /// (rows, columns) of a matrix X.
    fn shape(&self, x: &Self::X) -> (usize, usize);

    /// A zeroed matrix with the rows of `x` and `width` columns.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn create(&mut self, x: &Self::X, width: usize) -> Result<Self::X>;

    /// Fills a matrix with random numbers, from column `first_column` of the sketch on.
    ///
    /// # Errors
    /// Errors of the backend.
    fn fill(&mut self, x: &mut Self::X, sketch: &Sketch, first_column: u32) -> Result<()>;

    /// Y = alpha X M + beta Y.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn multiply(&mut self, alpha: f64, x: &Self::X, m: &Small<T, Self>, beta: f64, y: &mut Self::X) -> Result<()>;

    /// X := X M for a square M.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn transform(&mut self, x: &mut Self::X, m: &Small<T, Self>) -> Result<()>;

    /// C = X^H Y, in a fixed order of summation.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn cross(&mut self, x: &Self::X, y: &Self::X, c: &mut Small<T, Self>) -> Result<()>;

    /// Euclidean norms of the columns.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn norms(&mut self, x: &Self::X) -> Result<Vec<f64>>;

    /// [`Algebra::cholesky_step`].
    ///
    /// # Errors
    /// As there.
    fn cholesky_step(&mut self, x: &mut Self::X, shift: f64, r: &mut Small<T, Self>) -> Result<Step>;

    /// [`Algebra::householder`]; `false` if it is not supported, and then nothing was done.
    ///
    /// # Errors
    /// As there.
    fn householder(&mut self, x: &mut Self::X, r: &mut Small<T, Self>) -> Result<bool>;
}

/// The matrices of the algebra of a [`Columns`].
pub type Small<T, C> = <<C as Columns<T>>::Algebra as Algebra<T>>::Matrix;

/// [`Columns`] of the matrices of an algebra itself.
pub struct Own<'a, A>(pub &'a mut A);

impl<T: Scalar, A: Algebra<T>> Columns<T> for Own<'_, A> {
    type Algebra = A;
    type X = A::Matrix;

    fn algebra(&mut self) -> &mut A {
        self.0
    }

    fn shape(&self, x: &A::Matrix) -> (usize, usize) {
        self.0.shape(x)
    }

    fn create(&mut self, x: &A::Matrix, width: usize) -> Result<A::Matrix> {
        let rows = self.0.shape(x).0;
        self.0.zeros("part of a basis", rows, width)
    }

    fn fill(&mut self, x: &mut A::Matrix, sketch: &Sketch, first_column: u32) -> Result<()> {
        self.0.fill(x, sketch, 0, first_column)
    }

    fn multiply(&mut self, alpha: f64, x: &A::Matrix, m: &A::Matrix, beta: f64, y: &mut A::Matrix) -> Result<()> {
        self.0.multiply(alpha, x, Op::Plain, m, Op::Plain, beta, y)
    }

    fn transform(&mut self, x: &mut A::Matrix, m: &A::Matrix) -> Result<()> {
        let (rows, width) = (self.0.shape(x).0, self.0.shape(m).1);
        let mut y = self.0.zeros("transformed basis", rows, width)?;
        self.0.multiply(1.0, x, Op::Plain, m, Op::Plain, 0.0, &mut y)?;
        *x = y;
        Ok(())
    }

    fn cross(&mut self, x: &A::Matrix, y: &A::Matrix, c: &mut A::Matrix) -> Result<()> {
        self.0.multiply(1.0, x, Op::Adjoint, y, Op::Plain, 0.0, c)
    }

    fn norms(&mut self, x: &A::Matrix) -> Result<Vec<f64>> {
        self.0.column_norms(x)
    }

    fn cholesky_step(&mut self, x: &mut A::Matrix, shift: f64, r: &mut A::Matrix) -> Result<Step> {
        self.0.cholesky_step(x, shift, r)
    }

    fn householder(&mut self, x: &mut A::Matrix, r: &mut A::Matrix) -> Result<bool> {
        self.0.householder(x, r).map(|()| true)
    }
}
