//! Column-major matrices in host memory, and their partition into tasks.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::memory::{Budget, HostMemory};
use crate::context::Context;
use crate::dense::{Mat, MatMut};
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::scalar::{Scalar, is_finite};
use crate::shape::product;

/// The error of operands that do not fit each other.
pub(crate) fn mismatch(what: &str, shapes: &[(usize, usize)]) -> Error {
    Error::Internal(format!("{what} of matrices of {shapes:?}"))
}

/// A packed column-major matrix in host memory that is charged to a budget.
pub struct CpuMatrix<T> {
    memory: HostMemory,
    rows: usize,
    cols: usize,
    element: PhantomData<T>,
}

impl<T: Scalar> CpuMatrix<T> {
    /// A zeroed matrix, charged to `budget` until it is dropped.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], the budget's limit included; [`Error::InvalidArgument`] if the number of bytes
    /// overflows.
    pub fn zeros(what: &'static str, rows: usize, cols: usize, budget: &Arc<Budget>) -> Result<Self> {
        let bytes = product(what, product(what, rows, cols)?, size_of::<T>())?;
        Ok(Self { memory: HostMemory::allocate(what, bytes, budget)?, rows, cols, element: PhantomData })
    }

    /// The same elements as a matrix of another shape.
    ///
    /// # Errors
    /// [`Error::Internal`] for another number of elements; [`Error::InvalidArgument`] if their number overflows.
    pub fn reshaped(self, rows: usize, cols: usize) -> Result<Self> {
        if product("matrix", rows, cols)? != self.rows * self.cols {
            let shape = self.shape();
            return Err(Error::Internal(format!("a matrix of {shape:?} as one of {rows} x {cols}")));
        }
        Ok(Self { rows, cols, ..self })
    }

    /// (rows, columns), either of which may be 0.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Rows, which are contiguous in memory.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns, `rows` entries apart.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The entries, column by column.
    ///
    /// # Errors
    /// As [`HostMemory::as_slice`].
    pub fn slice(&self) -> Result<&[T]> {
        self.memory.as_slice()
    }

    /// The entries to write, column by column.
    ///
    /// # Errors
    /// As [`HostMemory::as_mut_slice`].
    pub fn slice_mut(&mut self) -> Result<&mut [T]> {
        self.memory.as_mut_slice()
    }

    /// A view of the matrix.
    ///
    /// # Errors
    /// As [`HostMemory::as_slice`].
    pub fn view(&self) -> Result<Mat<'_, T>> {
        Ok(Mat::from_columns(self.memory.as_slice()?, self.rows, self.cols))
    }

    /// A view of the matrix to write.
    ///
    /// # Errors
    /// As [`HostMemory::as_mut_slice`].
    pub fn view_mut(&mut self) -> Result<MatMut<'_, T>> {
        let (rows, cols) = (self.rows, self.cols);
        Ok(MatMut::from_columns(self.memory.as_mut_slice()?, rows, cols))
    }

    /// Refuses a matrix that holds numbers that are not finite.
    ///
    /// # Errors
    /// [`Error::Numerical`] naming `what`.
    pub fn check_finite(&self, context: &Context, what: &str) -> Result<()> {
        let values = self.slice()?;
        let finite = context.pool().run(|| values.par_chunks(1 << 14).all(|p| p.iter().all(|x| is_finite(*x))));
        if finite {
            Ok(())
        } else {
            Err(Error::Numerical(format!("{what} of a matrix with numbers that are not finite")))
        }
    }
}

/// Largest number of tasks that a dimension is cut into: enough for many threads, and few enough that the partial sums
/// of all are small.
const MOST_PIECES: usize = 64;

/// Length of the pieces that `length` is cut into, at least `least`. It depends on the problem alone.
#[inline]
pub fn pieces(length: usize, least: usize) -> usize {
    length.div_ceil(MOST_PIECES).max(least).max(1).next_multiple_of(8)
}

/// The matrix as pieces of `chunk` rows, the last of which may be shorter.
pub fn split_rows<T>(mut m: MatMut<'_, T>, chunk: usize) -> Vec<MatMut<'_, T>> {
    let mut parts = Vec::with_capacity(m.rows().div_ceil(chunk));
    while m.rows() > chunk {
        let (head, tail) = m.split_at_row(chunk);
        parts.push(head);
        m = tail;
    }
    parts.push(m);
    parts
}

/// The matrix as pieces of `chunk` columns, the last of which may be narrower.
pub fn split_columns<T>(mut m: MatMut<'_, T>, chunk: usize) -> Vec<MatMut<'_, T>> {
    let mut parts = Vec::with_capacity(m.cols().div_ceil(chunk));
    while m.cols() > chunk {
        let (head, tail) = m.split_at_col(chunk);
        parts.push(head);
        m = tail;
    }
    parts.push(m);
    parts
}

/// Side of the squares that are transposed in cache.
const TILE: usize = 32;

compiled_here! {
    /// `to`, whose columns have `to_rows` elements, becomes the transpose of `from`, whose columns have `from_rows`; with
    /// `conjugate` the conjugate transpose.
    pub fn transpose<T: Scalar>(
        context: &Context,
        from: &[T],
        from_rows: usize,
        to: &mut [T],
        to_rows: usize,
        conjugate: bool,
    ) = transpose_of;
}

fn transpose_of<T: Scalar>(
    context: &Context,
    from: &[T],
    from_rows: usize,
    to: &mut [T],
    to_rows: usize,
    conjugate: bool,
) {
    if from_rows == 0 || to_rows == 0 {
        return;
    }
    context.pool().run(|| {
        to.par_chunks_mut(TILE * to_rows).enumerate().for_each(|(tile, out)| {
            let first = tile * TILE;
            for j0 in (0..to_rows).step_by(TILE) {
                for (i, column) in out.chunks_exact_mut(to_rows).enumerate() {
                    let place = from[j0 * from_rows + first + i..].iter().step_by(from_rows);
                    for (value, &x) in column[j0..].iter_mut().take(TILE).zip(place) {
                        *value = if conjugate { x.conjugate() } else { x };
                    }
                }
            }
        });
    });
}
