//! Decompositions of small matrices of `f64` that are made once a call: design matrices, rotations of clusters. They
//! allocate without a way to refuse, so the order must not be one that a caller can make large.

use std::ops::{Index, IndexMut};

use faer::Side;
use faer::linalg::solvers::{PartialPivLu, Solve};

use super::{Mat, Svd};

/// A small matrix with memory of its own.
pub struct Matrix(faer::Mat<f64>);

impl Matrix {
    /// The matrix with these entries.
    pub fn from_fn(rows: usize, cols: usize, entry: impl FnMut(usize, usize) -> f64) -> Self {
        Self(faer::Mat::from_fn(rows, cols, entry))
    }

    /// A matrix of zeros, allocated without a budget.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self(faer::Mat::zeros(rows, cols))
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    #[inline]
    fn index(&self, at: (usize, usize)) -> &f64 {
        &self.0[at]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, at: (usize, usize)) -> &mut f64 {
        &mut self.0[at]
    }
}

/// The thin singular value decomposition; `None` if it does not converge.
pub fn thin_svd(a: Mat<'_, f64>) -> Option<Svd<Matrix>> {
    let svd = a.stored().thin_svd().ok()?;
    let s = svd.S().column_vector();
    Some(Svd { u: Matrix(svd.U().to_owned()), s: s.iter().copied().collect(), v: Matrix(svd.V().to_owned()) })
}

/// U V^T of A = U S V^T, the orthogonal matrix nearest to a square A; `None` if the decomposition does not converge.
pub fn orthogonal_factor(a: &Matrix) -> Option<Matrix> {
    let svd = a.0.svd().ok()?;
    Some(Matrix(svd.U() * svd.V().transpose()))
}

/// Eigenvalues, ascending, and eigenvectors of the symmetric matrix whose lower triangle is that of `a`; `None` if they do
/// not converge.
pub fn eigen(a: &Matrix) -> Option<(Vec<f64>, Matrix)> {
    let found = a.0.self_adjoint_eigen(Side::Lower).ok()?;
    Some((found.S().column_vector().iter().copied().collect(), Matrix(found.U().to_owned())))
}

/// The inverse of a square matrix, by LU with partial pivoting. That of a singular matrix has entries that are not finite.
pub fn inverse(a: Mat<'_, f64>) -> Matrix {
    Matrix(PartialPivLu::new(a.stored()).solve(faer::Mat::<f64>::identity(a.rows(), a.rows())))
}
