//! Operations of a backend on dense matrices.

use super::sketch::Sketch;
use super::view::Mat;
use crate::error::Result;
use crate::scalar::Scalar;

/// The operation on a factor of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// The matrix as it is.
    Plain,
    /// The conjugate transpose; for real types the transpose.
    Adjoint,
}

impl Op {
    /// The operation applied to a view.
    pub fn of<T>(self, m: Mat<'_, T>) -> Mat<'_, T> {
        match self {
            Self::Plain => m,
            Self::Adjoint => m.adjoint(),
        }
    }
}

/// Singular value decomposition A = U diag(s) V^H of a p-by-q matrix, r = min(p, q).
pub struct Svd<M> {
    /// p-by-r, orthonormal columns.
    pub u: M,
    /// r values, not increasing.
    pub s: Vec<f64>,
    /// q-by-r, orthonormal columns.
    pub v: M,
}

/// How a step of CholeskyQR ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// X = Q R was replaced by Q. `spread` is the smallest of R's diagonal over the largest: about 1 / cond(X).
    Done {
        /// Smallest over largest diagonal element of R.
        spread: f64,
    },
    /// X^H X is not positive definite to working precision (or not finite); X is unchanged.
    Failed,
}

/// Dense matrices of a backend: column-major, at least one copy of each in the backend's memory.
///
/// Work may be enqueued; functions that return numbers to the host wait for it. A function reads and writes only its
/// arguments. Sums have a fixed order, so that the same calls give the same bits.
pub trait Algebra<T: Scalar> {
    /// A dense matrix in the backend's memory.
    type Matrix: 'static;

    /// A zeroed matrix, charged to the context's budget.
    ///
    /// # Errors
    /// Out of memory, the context's limit included; [`crate::error::Error::InvalidArgument`] if the number of bytes
    /// overflows; errors of the backend.
    fn zeros(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Self::Matrix>;

    /// (rows, columns), known without waiting for work.
    fn shape(&self, m: &Self::Matrix) -> (usize, usize);

    /// A matrix from host memory, column-major with leading dimension `ld`.
    ///
    /// # Errors
    /// As [`Algebra::zeros`]; [`crate::error::Error::Internal`] for `data` or `ld` that do not fit.
    fn upload(&mut self, what: &'static str, rows: usize, cols: usize, data: &[T], ld: usize) -> Result<Self::Matrix>;

    /// Copies to host memory, column-major with leading dimension `ld`; complete on return.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for `data` or `ld` that do not fit; out of memory; errors of the backend.
    fn download(&mut self, m: &Self::Matrix, data: &mut [T], ld: usize) -> Result<()>;

    /// Copies columns `from .. from + count` of `source` to the columns of `target` from `to` on. Both have as many rows.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for columns that there are not, and for other numbers of rows; errors of the
    /// backend.
    fn copy_columns(
        &mut self,
        source: &Self::Matrix,
        from: usize,
        count: usize,
        target: &mut Self::Matrix,
        to: usize,
    ) -> Result<()>;

    /// C = alpha op(A) op(B) + beta C. With beta = 0 C is not read.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for matrices that do not fit; out of memory; errors of the backend.
    #[allow(clippy::too_many_arguments, reason = "the field's own signature")]
    fn multiply(
        &mut self,
        alpha: f64,
        a: &Self::Matrix,
        op_a: Op,
        b: &Self::Matrix,
        op_b: Op,
        beta: f64,
        c: &mut Self::Matrix,
    ) -> Result<()>;

    /// Multiplies column j by `factors[j]`.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for another number of factors; out of memory; errors of the backend.
    fn scale_columns(&mut self, m: &mut Self::Matrix, factors: &[f64]) -> Result<()>;

    /// The conjugate transpose of `m`.
    ///
    /// # Errors
    /// As [`Algebra::zeros`].
    fn adjoint(&mut self, what: &'static str, m: &Self::Matrix) -> Result<Self::Matrix>;

    /// Fills a matrix with the random numbers of `sketch`. The matrix's first entry is entry (`first_row`,
    /// `first_column`) of the sketch.
    ///
    /// # Errors
    /// Errors of the backend.
    fn fill(&mut self, m: &mut Self::Matrix, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()>;

    /// Sum of the squares of the moduli, in f64.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn norm2(&mut self, m: &Self::Matrix) -> Result<f64>;

    /// Euclidean norms of the columns.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn column_norms(&mut self, m: &Self::Matrix) -> Result<Vec<f64>>;

    /// For each column the first entry of largest modulus, real and imaginary part.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn column_peaks(&mut self, m: &Self::Matrix) -> Result<Vec<(f64, f64)>>;

    /// One step of CholeskyQR: G = X^H X + shift I in at least f64, G = R^H R, X becomes X R^-1 and `r` R. `shift` is in
    /// units of ||X||_F^2; 0 is the plain step.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for an `r` of another size; out of memory; errors of the backend.
    fn cholesky_step(&mut self, x: &mut Self::Matrix, shift: f64, r: &mut Self::Matrix) -> Result<Step>;

    /// X = Q R by Householder reflections; X becomes Q (rows >= columns), `r` R. Q is orthonormal for any X.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for sizes that do not fit; [`crate::error::Error::Numerical`] for numbers that
    /// are not finite; out of memory; errors of the backend.
    fn householder(&mut self, x: &mut Self::Matrix, r: &mut Self::Matrix) -> Result<()>;

    /// The thin singular value decomposition of a small matrix, accurate to a few units of roundoff of its norm.
    ///
    /// # Errors
    /// [`crate::error::Error::Numerical`] for numbers that are not finite, and if the iteration does not converge; out
    /// of memory; errors of the backend.
    fn svd(&mut self, a: &Self::Matrix) -> Result<Svd<Self::Matrix>>;

    /// Eigenvalues, not increasing, and eigenvectors of a Hermitian matrix. Only its lower triangle is read.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for a matrix that is not square; else as [`Algebra::svd`].
    fn eigen(&mut self, a: &Self::Matrix) -> Result<(Vec<f64>, Self::Matrix)>;

    /// The inverse of an upper triangular matrix whose entries below the diagonal are 0; `None` if the backend does not
    /// compute it much faster than singular values. The inverse of a singular matrix holds numbers that are not finite.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for a matrix that is not square; out of memory; errors of the backend.
    fn inverse(&mut self, _r: &Self::Matrix) -> Result<Option<Self::Matrix>> {
        Ok(None)
    }
}
