//! The trait that a backend implements for trains, in addition to dense algebra.

use crate::backend::memory::Memory;
use crate::dense::Algebra;
use crate::dense::Delta;
use crate::error::Result;
use crate::scalar::Scalar;
use crate::tensor::train::TensorTrain;

/// A large matrix that is only read: the caller's memory if the backend can read it, otherwise a matrix of the backend.
pub enum Numbers<'a, T, M> {
    /// The caller's numbers in host memory, column-major.
    Host(&'a [T]),
    /// A matrix of the backend with as many elements.
    Matrix(&'a M),
}

/// Dense algebra with cores of trains as matrices. The same memory may be viewed as matrices of several shapes.
pub trait TrainOps<T: Scalar>: Algebra<T> {
    /// The same elements as a matrix of another shape.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for a shape that does not fit.
    fn reshape(&mut self, m: Self::Matrix, rows: usize, cols: usize) -> Result<Self::Matrix>;

    /// A copy of core k as a matrix.
    ///
    /// # Errors
    /// [`crate::error::Error::NotSupported`] on the CPU for a train on a device; out of memory; errors of the backend.
    fn load(&mut self, train: &TensorTrain, k: usize, rows: usize, cols: usize) -> Result<Self::Matrix>;

    /// Writes the elements of a matrix to core k.
    ///
    /// # Errors
    /// As [`TensorTrain::memory_mut`]; [`crate::error::Error::NotSupported`] on the CPU for a train on a device; errors
    /// of the backend.
    fn store(&mut self, m: &Self::Matrix, train: &mut TensorTrain, k: usize) -> Result<()>;

    /// Writes a matrix as the packed elements of a tensor.
    ///
    /// # Errors
    /// [`crate::error::Error::NotSupported`] on the CPU for device memory; errors of the backend.
    fn put(&mut self, m: &Self::Matrix, out: &mut Memory) -> Result<()>;

    /// A copy of the numbers of a packed tensor; `None` if this backend reads them where they are.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn hold(&mut self, memory: &Memory, elements: usize) -> Result<Option<Self::Matrix>>;

    /// Left singular vectors (rows x rows) and singular values in decreasing order of a matrix with many more columns
    /// than rows, in few passes over it. Errors of the singular values below `delta` are acceptable. The values are NaN
    /// if the matrix has numbers that are not finite.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for another number of elements; as [`Algebra::svd`].
    fn left_vectors(
        &mut self,
        a: &Numbers<'_, T, Self::Matrix>,
        shape: (usize, usize),
        delta: Delta,
    ) -> Result<(Self::Matrix, Vec<f64>)>;

    /// U^H A for an A of `shape`.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for matrices that do not fit; out of memory; errors of the backend.
    fn project(
        &mut self,
        u: &Self::Matrix,
        a: &Numbers<'_, T, Self::Matrix>,
        shape: (usize, usize),
    ) -> Result<Self::Matrix>;

    /// alpha A B^H as the packed elements of a tensor.
    ///
    /// # Errors
    /// [`crate::error::Error::Internal`] for sizes that do not fit; [`crate::error::Error::NotSupported`] on the CPU
    /// for device memory; [`crate::error::Error::Cancelled`] on the CPU; out of memory; errors of the backend.
    fn product_to(&mut self, alpha: f64, a: &Self::Matrix, b: &Self::Matrix, out: &mut Memory) -> Result<()>;
}
