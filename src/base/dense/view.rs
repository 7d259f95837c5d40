//! Views of matrices: the arguments of [`super::serial`]'s functions.
//!
//! A view has a first entry, rows, columns and the steps between them; it does not own its entries. [`MatMut`] can be cut
//! into disjoint views of rows, which are interleaved in memory. Safe code cannot cut a slice so, which is why both types
//! wrap the views of faer.

use std::ops::{Index, IndexMut};

use faer::{MatMut as FaerMut, MatRef as FaerRef};

/// Whether a product replaces its output or adds to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accum {
    /// They are overwritten and not read.
    Replace,
    /// The product is added to them.
    Add,
}

/// A matrix that is read. Products conjugate its entries if it is marked so; indices give the entries as they are stored.
pub struct Mat<'a, T> {
    view: FaerRef<'a, T>,
    is_conjugated: bool,
}

impl<T> Clone for Mat<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Mat<'_, T> {}

impl<'a, T> Mat<'a, T> {
    /// The first `rows * cols` entries of `data`, column by column.
    ///
    /// # Panics
    /// If `data` has not as many entries.
    #[inline]
    pub fn from_columns(data: &'a [T], rows: usize, cols: usize) -> Self {
        Self::of(FaerRef::from_column_major_slice(data, rows, cols))
    }

    /// Columns that begin `stride` entries after each other.
    ///
    /// # Panics
    /// If `data` is too short, or `stride` is less than `rows`.
    #[inline]
    pub fn from_columns_with_stride(data: &'a [T], rows: usize, cols: usize, stride: usize) -> Self {
        Self::of(FaerRef::from_column_major_slice_with_stride(data, rows, cols, stride))
    }

    /// The first `rows * cols` entries of `data`, row by row.
    ///
    /// # Panics
    /// If `data` has not as many entries.
    #[inline]
    pub fn from_rows(data: &'a [T], rows: usize, cols: usize) -> Self {
        Self::of(FaerRef::from_row_major_slice(data, rows, cols))
    }

    /// Rows that begin `stride` entries after each other.
    ///
    /// # Panics
    /// If `data` is too short, or `stride` is less than `cols`.
    #[inline]
    pub fn from_rows_with_stride(data: &'a [T], rows: usize, cols: usize, stride: usize) -> Self {
        Self::of(FaerRef::from_row_major_slice_with_stride(data, rows, cols, stride))
    }

    fn of(view: FaerRef<'a, T>) -> Self {
        Self { view, is_conjugated: false }
    }

    /// Rows of the view, from 0 on.
    #[inline]
    pub fn rows(self) -> usize {
        self.view.nrows()
    }

    /// Columns of the view, from 0 on.
    #[inline]
    pub fn cols(self) -> usize {
        self.view.ncols()
    }

    /// (rows, columns) of the view.
    #[inline]
    pub fn shape(self) -> (usize, usize) {
        self.view.shape()
    }

    /// `count` rows from `first` on.
    #[inline]
    pub fn subrows(self, first: usize, count: usize) -> Self {
        Self { view: self.view.subrows(first, count), ..self }
    }

    /// `count` columns from `first` on.
    #[inline]
    pub fn subcols(self, first: usize, count: usize) -> Self {
        Self { view: self.view.subcols(first, count), ..self }
    }

    /// `rows` rows and `cols` columns from entry (`row`, `col`) on.
    #[inline]
    pub fn submatrix(self, row: usize, col: usize, rows: usize, cols: usize) -> Self {
        Self { view: self.view.submatrix(row, col, rows, cols), ..self }
    }

    /// The transpose, conjugated if the matrix is.
    #[inline]
    pub fn transpose(self) -> Self {
        Self { view: self.view.transpose(), ..self }
    }

    /// The complex conjugate if `is_conjugated`, else the matrix itself.
    #[inline]
    pub fn conjugate_if(self, is_conjugated: bool) -> Self {
        Self { is_conjugated: self.is_conjugated != is_conjugated, ..self }
    }

    /// The conjugate transpose. Nothing is copied: the mark is toggled.
    #[inline]
    pub fn adjoint(self) -> Self {
        self.transpose().conjugate_if(true)
    }

    /// The stored entries of column `j`; `None` if they are not adjacent.
    #[inline]
    pub fn column(self, j: usize) -> Option<&'a [T]> {
        self.view.col(j).try_as_col_major().map(faer::ColRef::as_slice)
    }

    /// faer's view of the stored entries.
    #[inline]
    pub(super) fn stored(self) -> FaerRef<'a, T> {
        self.view
    }

    /// Whether products conjugate the entries.
    #[inline]
    pub(super) fn is_conjugated(self) -> bool {
        self.is_conjugated
    }
}

impl<T> Index<(usize, usize)> for Mat<'_, T> {
    type Output = T;

    #[inline]
    fn index(&self, at: (usize, usize)) -> &T {
        &self.view[at]
    }
}

/// A matrix that is written.
pub struct MatMut<'a, T>(FaerMut<'a, T>);

impl<'a, T> MatMut<'a, T> {
    /// The first `rows * cols` entries of `data`, column by column.
    ///
    /// # Panics
    /// If `data` has not as many entries.
    #[inline]
    pub fn from_columns(data: &'a mut [T], rows: usize, cols: usize) -> Self {
        Self(FaerMut::from_column_major_slice_mut(data, rows, cols))
    }

    /// Columns that begin `stride` entries after each other.
    ///
    /// # Panics
    /// If `data` is too short, or `stride` is less than `rows`.
    #[inline]
    pub fn from_columns_with_stride(data: &'a mut [T], rows: usize, cols: usize, stride: usize) -> Self {
        Self(FaerMut::from_column_major_slice_with_stride_mut(data, rows, cols, stride))
    }

    /// Rows of the view, from 0 on.
    #[inline]
    pub fn rows(&self) -> usize {
        self.0.nrows()
    }

    /// Columns of the view, from 0 on.
    #[inline]
    pub fn cols(&self) -> usize {
        self.0.ncols()
    }

    /// (rows, columns) of the view.
    #[inline]
    pub fn shape(&self) -> (usize, usize) {
        self.0.shape()
    }

    /// The same matrix for a shorter time, so that it can be used again afterwards.
    #[inline]
    pub fn as_mut(&mut self) -> MatMut<'_, T> {
        MatMut(self.0.as_mut())
    }

    /// The same matrix to read.
    #[inline]
    pub fn as_ref(&self) -> Mat<'_, T> {
        Mat::of(self.0.as_ref())
    }

    /// `count` rows from `first` on.
    #[inline]
    pub fn subrows(self, first: usize, count: usize) -> Self {
        Self(self.0.subrows_mut(first, count))
    }

    /// `count` columns from `first` on.
    #[inline]
    pub fn subcols(self, first: usize, count: usize) -> Self {
        Self(self.0.subcols_mut(first, count))
    }

    /// `rows` rows and `cols` columns from entry (`row`, `col`) on.
    #[inline]
    pub fn submatrix(self, row: usize, col: usize, rows: usize, cols: usize) -> Self {
        Self(self.0.submatrix_mut(row, col, rows, cols))
    }

    /// The transpose, without conjugation. Nothing is copied.
    #[inline]
    pub fn transpose(self) -> Self {
        Self(self.0.transpose_mut())
    }

    /// The first `count` rows, and the others.
    #[inline]
    pub fn split_at_row(self, count: usize) -> (Self, Self) {
        let (head, tail) = self.0.split_at_row_mut(count);
        (Self(head), Self(tail))
    }

    /// The first `count` columns, and the others.
    #[inline]
    pub fn split_at_col(self, count: usize) -> (Self, Self) {
        let (head, tail) = self.0.split_at_col_mut(count);
        (Self(head), Self(tail))
    }

    /// Copies the stored entries of a matrix of the same shape.
    pub fn copy_from(&mut self, from: Mat<'_, T>)
    where
        T: Copy,
    {
        for j in 0..self.cols() {
            match (self.as_mut().into_column(j), from.column(j)) {
                (Some(to), Some(from)) => to.copy_from_slice(from),
                _ => (0..self.rows()).for_each(|i| self[(i, j)] = from[(i, j)]),
            }
        }
    }

    /// The entries of column `j`; `None` if they are not adjacent.
    #[inline]
    pub fn into_column(self, j: usize) -> Option<&'a mut [T]> {
        self.0.col_mut(j).try_as_col_major_mut().map(faer::ColMut::as_slice_mut)
    }

    /// The view as faer's type.
    #[inline]
    pub(super) fn into_inner(self) -> FaerMut<'a, T> {
        self.0
    }
}

impl<T> Index<(usize, usize)> for MatMut<'_, T> {
    type Output = T;

    #[inline]
    fn index(&self, at: (usize, usize)) -> &T {
        &self.0[at]
    }
}

impl<T> IndexMut<(usize, usize)> for MatMut<'_, T> {
    #[inline]
    fn index_mut(&mut self, at: (usize, usize)) -> &mut T {
        &mut self.0[at]
    }
}
