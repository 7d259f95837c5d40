//! Decompositions of small matrices of `f64` that are made once a call: design matrices, rotations of clusters. Their
//! memory is charged to no budget, so the order must not be one that a caller can make large.

use std::ops::{Index, IndexMut};

use faer::diag::DiagMut;
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::linalg::lu::partial_pivoting::solve::{solve_in_place_scratch, solve_in_place_with_conj};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Conj, Par};

use super::serial::{self, with_uncharged_stack};
use super::{Accum, Mat, MatMut, Svd};
use crate::alloc;
use crate::error::Result;
use crate::shape::product;

const WHAT: &str = "small matrix";

/// A small matrix with memory of its own, column after column.
pub struct Matrix {
    data: Vec<f64>,
    rows: usize,
    cols: usize,
}

impl Matrix {
    /// The matrix with these entries.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn from_fn(rows: usize, cols: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Result<Self> {
        let mut made = Self::zeros(rows, cols)?;
        for j in 0..cols {
            for i in 0..rows {
                made[(i, j)] = entry(i, j);
            }
        }
        Ok(made)
    }

    /// A matrix of zeros.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn zeros(rows: usize, cols: usize) -> Result<Self> {
        Ok(Self { data: alloc::filled(WHAT, product(WHAT, rows, cols)?, 0.0)?, rows, cols })
    }

    fn view(&self) -> Mat<'_, f64> {
        Mat::from_columns(&self.data, self.rows, self.cols)
    }

    fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_columns(&mut self.data, self.rows, self.cols)
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[j * self.rows..(j + 1) * self.rows][i]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[j * self.rows..(j + 1) * self.rows][i]
    }
}

/// The thin singular value decomposition; `None` if it does not converge.
///
/// # Errors
/// [`crate::error::Error::OutOfMemory`].
pub fn thin_svd(a: Mat<'_, f64>) -> Result<Option<Svd<Matrix>>> {
    let ((rows, cols), thin) = (a.shape(), ComputeSvdVectors::Thin);
    let rank = rows.min(cols);
    let (mut u, mut v) = (Matrix::zeros(rows, rank)?, Matrix::zeros(cols, rank)?);
    let mut s = alloc::filled(WHAT, rank, 0.0)?;
    let need = svd_scratch::<f64>(rows, cols, thin, thin, Par::Seq, Default::default());
    let is_found = with_uncharged_stack(need, |stack| {
        let (values, left, right) = (DiagMut::from_slice_mut(&mut s), u.view_mut(), v.view_mut());
        let vectors = (Some(left.into_inner()), Some(right.into_inner()));
        svd(a.stored(), values, vectors.0, vectors.1, Par::Seq, stack, Default::default()).is_ok()
    })?;
    Ok(is_found.then_some(Svd { u, s, v }))
}

/// U V^T of A = U S V^T, the orthogonal matrix nearest to a square A; `None` if the decomposition does not converge.
///
/// # Errors
/// [`crate::error::Error::OutOfMemory`].
pub fn orthogonal_factor(a: &Matrix) -> Result<Option<Matrix>> {
    let Some(Svd { u, v, .. }) = thin_svd(a.view())? else { return Ok(None) };
    let mut found = Matrix::zeros(a.rows, a.cols)?;
    serial::multiply(found.view_mut(), Accum::Replace, u.view(), v.view().transpose(), 1.0);
    Ok(Some(found))
}

/// Eigenvalues, ascending, and eigenvectors of the symmetric matrix whose lower triangle is that of `a`; `None` if they do
/// not converge.
///
/// # Errors
/// [`crate::error::Error::OutOfMemory`].
pub fn eigen(a: &Matrix) -> Result<Option<(Vec<f64>, Matrix)>> {
    let mut vectors = Matrix::zeros(a.rows, a.rows)?;
    let mut values = alloc::filled(WHAT, a.rows, 0.0)?;
    let is_found = with_uncharged_stack(serial::eigen_scratch::<f64>(a.rows), |stack| {
        serial::eigen::<f64>(a.view(), &mut values, vectors.view_mut(), stack)
    })?;
    Ok(is_found.then_some((values, vectors)))
}

/// The inverse of a square matrix, by LU with partial pivoting. That of a singular matrix has entries that are not finite.
///
/// # Errors
/// [`crate::error::Error::OutOfMemory`].
pub fn inverse(a: Mat<'_, f64>) -> Result<Matrix> {
    let n = a.rows();
    let mut factors = Matrix::from_fn(n, n, |i, j| a[(i, j)])?;
    let mut found = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)))?;
    let (mut forward, mut back) = (alloc::filled(WHAT, n, 0usize)?, alloc::filled(WHAT, n, 0usize)?);
    let need = lu_in_place_scratch::<usize, f64>(n, n, Par::Seq, Default::default());
    with_uncharged_stack(need.or(solve_in_place_scratch::<usize, f64>(n, n, Par::Seq)), |stack| {
        let lu = factors.view_mut().into_inner();
        let (_, rows) = lu_in_place(lu, &mut forward, &mut back, Par::Seq, stack, Default::default());
        let (lu, x) = (factors.view().stored(), found.view_mut().into_inner());
        // Each factor is read in its own triangle; the diagonal of L is 1.
        solve_in_place_with_conj(lu, lu, rows, Conj::No, x, Par::Seq, stack);
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product_of(a: &Matrix, b: &Matrix) -> Matrix {
        let entry = |i: usize, j: usize| (0..a.cols).map(|k| a[(i, k)] * b[(k, j)]).sum();
        Matrix::from_fn(a.rows, b.cols, entry).unwrap()
    }

    fn transposed(a: &Matrix) -> Matrix {
        Matrix::from_fn(a.cols, a.rows, |i, j| a[(j, i)]).unwrap()
    }

    fn assert_close(a: &Matrix, b: &Matrix) {
        assert_eq!((a.rows, a.cols), (b.rows, b.cols));
        a.data.iter().zip(&b.data).for_each(|(a, b)| assert!((a - b).abs() < 1e-13, "{a} {b}"));
    }

    #[test]
    fn decompositions_multiply_to_their_matrix() {
        let entry = |i: usize, j: usize| crate::rng::normal(3, 41, i as u64, j as u32);
        let identity = |n: usize| Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j))).unwrap();
        for n in [1, 2, 5, 17] {
            for rows in [n, 2 * n + 1] {
                let a = Matrix::from_fn(rows, n, entry).unwrap();
                let Svd { u, s, v } = thin_svd(a.view()).unwrap().unwrap();
                let scaled = Matrix::from_fn(rows, n, |i, j| u[(i, j)] * s[j]).unwrap();
                assert_close(&product_of(&scaled, &transposed(&v)), &a);
            }
            let a = Matrix::from_fn(n, n, entry).unwrap();
            assert_close(&product_of(&a, &inverse(a.view()).unwrap()), &identity(n));
            let q = orthogonal_factor(&a).unwrap().unwrap();
            assert_close(&product_of(&q, &transposed(&q)), &identity(n));
            // The other factor of the polar decomposition is symmetric.
            let left = product_of(&a, &transposed(&q));
            assert_close(&left, &transposed(&left));
            let a = product_of(&a, &transposed(&a));
            let (values, x) = eigen(&a).unwrap().unwrap();
            let scaled = Matrix::from_fn(n, n, |i, j| x[(i, j)] * values[j]).unwrap();
            assert_close(&product_of(&scaled, &transposed(&x)), &a);
            assert!(values.is_sorted());
        }
    }
}
