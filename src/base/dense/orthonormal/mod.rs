//! Orthonormal bases by the ladder of CholeskyQR steps.
//!
//! | step | taken when |
//! |---|---|
//! | CholeskyQR, twice | always first: orthonormal to roundoff up to a condition of about 1e8 |
//! | columns scaled to similar norms | X^H X has no Cholesky factor: often only because the columns' lengths differ |
//! | shifted CholeskyQR, up to six times | still none: each divides the condition by about 1e4 (Fukaya et al., SISC 42, 2020) |
//! | deflation | still none, or a column is 0: X is rank-deficient; random directions complete the basis |
//!
//! Conditions are those of double precision, in which [`Algebra::cholesky_step`] forms X^H X for every type. The result
//! is orthonormal and finite, and X = Q R holds to a few units of roundoff of ||X||, for any sequence of steps.
//!
//! The ladder is compiled once: it calls the operations of a [`Columns`] through a trait object.
//!
//! `mod.rs`, `deflation.rs`, `erased.rs` and `ladder.rs` import each other: the types of the interface here are those
//! of the steps that it calls.

mod deflation;
mod erased;
mod ladder;
#[cfg(test)]
mod tests;

use super::sketch::Sketch;
use super::{Algebra, Op, Step};
use crate::error::Result;
use crate::scalar::Scalar;

/// How a basis is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// CholeskyQR until the columns are orthonormal.
    Auto,
    /// Householder reflections, if the matrices support them; else as [`Kind::Scqr3`].
    Householder,
    /// CholeskyQR once, and again only if the result would not be a basis. Its columns are orthogonal to u cond(X)^2.
    Cqr,
    /// CholeskyQR at least twice.
    Cqr2,
    /// Shifted CholeskyQR, then CholeskyQR at least twice.
    Scqr3,
}

/// Required accuracy of a basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BasisAccuracy {
    /// Only the span matters, as in a power iteration. One step is enough unless the condition is near 1 / sqrt(u).
    Span,
    /// The basis has to be orthonormal to roundoff.
    Basis,
}

/// Method and accuracy of a basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BasisMethod {
    /// Which factorisations are tried, and in which order.
    pub kind: Kind,
    /// How near to orthonormal the columns must be.
    pub need: BasisAccuracy,
    /// The caller's seed, for random directions.
    pub seed: u64,
    /// The number of this basis among the caller's. Bases of different numbers draw different random directions, so that
    /// those of one basis do not lie in another.
    pub draw: u64,
}

/// Counts of the steps, summed over calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps of CholeskyQR without a shift.
    pub plain: u64,
    /// Steps of CholeskyQR with a shift, for ill-conditioned columns.
    pub shifted: u64,
    /// Factorisations by Householder reflections.
    pub householder: u64,
    /// Deflations: bases built direction by direction, because CholeskyQR failed.
    pub deflated: u64,
    /// Columns replaced by random directions.
    pub replaced: u64,
}

impl Counts {
    /// Number of shifted steps and deflations, for which plain steps were not enough.
    pub fn fallbacks(&self) -> u64 {
        self.shifted + self.deflated
    }
}

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
    fn create(&mut self, x: &Self::X, width: usize) -> Result<Self::X>;

    /// Fills a matrix with random numbers, from column `first_column` of the sketch on.
    fn fill(&mut self, x: &mut Self::X, sketch: &Sketch, first_column: u32) -> Result<()>;

    /// Y = alpha X M + beta Y.
    fn multiply(&mut self, alpha: f64, x: &Self::X, m: &Small<T, Self>, beta: f64, y: &mut Self::X) -> Result<()>;

    /// X := X M for a square M.
    fn transform(&mut self, x: &mut Self::X, m: &Small<T, Self>) -> Result<()>;

    /// C = X^H Y, in a fixed order of summation.
    fn cross(&mut self, x: &Self::X, y: &Self::X, c: &mut Small<T, Self>) -> Result<()>;

    /// Euclidean norms of the columns.
    fn norms(&mut self, x: &Self::X) -> Result<Vec<f64>>;

    /// [`Algebra::cholesky_step`].
    fn cholesky_step(&mut self, x: &mut Self::X, shift: f64, r: &mut Small<T, Self>) -> Result<Step>;

    /// [`Algebra::householder`]; `false` if it is not supported, and then nothing was done.
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

/// Replaces X by an orthonormal basis Q of its columns' span, and returns the upper triangular R of X = Q R. X has at least
/// as many rows as columns. If X is rank-deficient, Q also has random directions, for which the rows of R are zeros or
/// roundoff.
///
/// # Errors
/// [`crate::error::Error::Numerical`] if X holds numbers that are not finite.
pub fn orthonormalize<T: Scalar, C: Columns<T>>(
    columns: &mut C,
    x: &mut C::X,
    method: BasisMethod,
    counts: &mut Counts,
) -> Result<Small<T, C>> {
    ladder::climb(&mut erased::Typed::new(columns), x, method, counts)?.into_inner()
}
