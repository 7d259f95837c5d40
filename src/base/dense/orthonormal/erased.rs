//! The operations of a [`Columns`] without its types, so that the ladder is compiled once for all element types and backends.

use std::marker::PhantomData;

use super::{Columns, Small};
use crate::alloc;
use crate::dense::sketch::Sketch;
use crate::dense::{Algebra, Op, Step};
use crate::erased::{self, Value};
use crate::error::Result;
use crate::scalar::{DType, Scalar};

/// A matrix of a type that only its [`Operations`] know.
pub struct AnyMatrix(Box<dyn Value>);

impl AnyMatrix {
    fn new<M: 'static>(matrix: M) -> Self {
        Self(Box::new(matrix))
    }

    /// The matrix itself.
    ///
    /// # Errors
    /// As [`erased::into_inner`].
    pub fn into_inner<M: 'static>(self) -> Result<M> {
        erased::into_inner("matrix", self.0)
    }

    /// The matrix for functions that take any.
    pub fn any(&self) -> &dyn Value {
        &*self.0
    }

    /// As [`AnyMatrix::any`].
    pub fn any_mut(&mut self) -> &mut dyn Value {
        &mut *self.0
    }
}

fn typed<M: 'static>(matrix: &dyn Value) -> Result<&M> {
    erased::of("matrix", matrix)
}

fn typed_mut<M: 'static>(matrix: &mut dyn Value) -> Result<&mut M> {
    erased::of_mut("matrix", matrix)
}

/// [`Columns`], with matrices of unknown types. Small matrices are those of its algebra.
pub trait Operations {
    /// Element type of the matrices.
    fn dtype(&self) -> DType;

    /// A zeroed small matrix, charged to the context's budget.
    fn zeros(&mut self, what: &'static str, rows: usize, columns: usize) -> Result<AnyMatrix>;

    /// A small matrix of zeros but for these entries: row, column and value.
    fn entries(
        &mut self,
        what: &'static str,
        rows: usize,
        columns: usize,
        entries: &mut dyn Iterator<Item = (usize, usize, f64)>,
    ) -> Result<AnyMatrix>;

    /// Rows and columns of a small matrix.
    fn small_shape(&mut self, m: &AnyMatrix) -> Result<(usize, usize)>;

    /// C = A B + beta C for small matrices.
    fn small_product(&mut self, a: &AnyMatrix, b: &AnyMatrix, beta: f64, c: &mut AnyMatrix) -> Result<()>;

    /// A small matrix of the first `count` columns of a small matrix.
    fn head(&mut self, what: &'static str, m: &AnyMatrix, count: usize) -> Result<AnyMatrix>;

    /// [`Algebra::scale_columns`] of a small matrix.
    fn scale_columns(&mut self, m: &mut AnyMatrix, factors: &[f64]) -> Result<()>;

    /// [`Algebra::eigen`] of a small matrix.
    fn eigen(&mut self, m: &AnyMatrix) -> Result<(Vec<f64>, AnyMatrix)>;

    /// [`Algebra::householder`] of a small matrix.
    fn small_householder(&mut self, x: &mut AnyMatrix, r: &mut AnyMatrix) -> Result<()>;

    /// [`Columns::shape`].
    fn shape(&mut self, x: &dyn Value) -> Result<(usize, usize)>;

    /// [`Columns::create`].
    fn create(&mut self, x: &dyn Value, width: usize) -> Result<AnyMatrix>;

    /// [`Columns::fill`].
    fn fill(&mut self, x: &mut AnyMatrix, sketch: &Sketch, first_column: u32) -> Result<()>;

    /// [`Columns::multiply`].
    fn multiply(&mut self, alpha: f64, x: &dyn Value, m: &AnyMatrix, beta: f64, y: &mut dyn Value) -> Result<()>;

    /// [`Columns::transform`].
    fn transform(&mut self, x: &mut dyn Value, m: &AnyMatrix) -> Result<()>;

    /// [`Columns::cross`].
    fn cross(&mut self, x: &dyn Value, y: &dyn Value, c: &mut AnyMatrix) -> Result<()>;

    /// [`Columns::norms`].
    fn norms(&mut self, x: &dyn Value) -> Result<Vec<f64>>;

    /// [`Columns::cholesky_step`].
    fn cholesky_step(&mut self, x: &mut dyn Value, shift: f64, r: &mut AnyMatrix) -> Result<Step>;

    /// [`Columns::householder`].
    fn householder(&mut self, x: &mut dyn Value, r: &mut AnyMatrix) -> Result<bool>;

    /// Replaces X by `q`, whose type must be X's.
    fn replace(&mut self, x: &mut dyn Value, q: AnyMatrix) -> Result<()>;
}

/// The [`Operations`] of a [`Columns`].
pub struct Typed<'c, T, C>(&'c mut C, PhantomData<T>);

impl<'c, T: Scalar, C: Columns<T>> Typed<'c, T, C> {
    /// The operations of `columns`, without its types.
    pub fn new(columns: &'c mut C) -> Self {
        Self(columns, PhantomData)
    }
}

/// A small matrix of a [`Columns`].
fn small<T: Scalar, C: Columns<T>>(m: &AnyMatrix) -> Result<&Small<T, C>> {
    typed(m.any())
}

fn small_mut<T: Scalar, C: Columns<T>>(m: &mut AnyMatrix) -> Result<&mut Small<T, C>> {
    typed_mut(m.any_mut())
}

impl<T: Scalar, C: Columns<T>> Operations for Typed<'_, T, C> {
    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn zeros(&mut self, what: &'static str, rows: usize, columns: usize) -> Result<AnyMatrix> {
        self.0.algebra().zeros(what, rows, columns).map(AnyMatrix::new)
    }

    fn entries(
        &mut self,
        what: &'static str,
        rows: usize,
        columns: usize,
        entries: &mut dyn Iterator<Item = (usize, usize, f64)>,
    ) -> Result<AnyMatrix> {
        let mut host = alloc::filled(what, rows * columns, T::default())?;
        entries.for_each(|(i, j, x)| host[j * rows + i] = T::from_parts(x, 0.0));
        self.0.algebra().upload(what, rows, columns, &host, rows.max(1)).map(AnyMatrix::new)
    }

    fn small_shape(&mut self, m: &AnyMatrix) -> Result<(usize, usize)> {
        Ok(self.0.algebra().shape(small::<T, C>(m)?))
    }

    fn small_product(&mut self, a: &AnyMatrix, b: &AnyMatrix, beta: f64, c: &mut AnyMatrix) -> Result<()> {
        let (a, b, c) = (small::<T, C>(a)?, small::<T, C>(b)?, small_mut::<T, C>(c)?);
        self.0.algebra().multiply(1.0, a, Op::Plain, b, Op::Plain, beta, c)
    }

    fn head(&mut self, what: &'static str, m: &AnyMatrix, count: usize) -> Result<AnyMatrix> {
        let (m, algebra) = (small::<T, C>(m)?, self.0.algebra());
        let rows = algebra.shape(m).0;
        let mut head = algebra.zeros(what, rows, count)?;
        algebra.copy_columns(m, 0, count, &mut head, 0)?;
        Ok(AnyMatrix::new(head))
    }

    fn scale_columns(&mut self, m: &mut AnyMatrix, factors: &[f64]) -> Result<()> {
        self.0.algebra().scale_columns(small_mut::<T, C>(m)?, factors)
    }

    fn eigen(&mut self, m: &AnyMatrix) -> Result<(Vec<f64>, AnyMatrix)> {
        let (values, vectors) = self.0.algebra().eigen(small::<T, C>(m)?)?;
        Ok((values, AnyMatrix::new(vectors)))
    }

    fn small_householder(&mut self, x: &mut AnyMatrix, r: &mut AnyMatrix) -> Result<()> {
        self.0.algebra().householder(small_mut::<T, C>(x)?, small_mut::<T, C>(r)?)
    }

    fn shape(&mut self, x: &dyn Value) -> Result<(usize, usize)> {
        Ok(self.0.shape(typed(x)?))
    }

    fn create(&mut self, x: &dyn Value, width: usize) -> Result<AnyMatrix> {
        self.0.create(typed(x)?, width).map(AnyMatrix::new)
    }

    fn fill(&mut self, x: &mut AnyMatrix, sketch: &Sketch, first_column: u32) -> Result<()> {
        self.0.fill(typed_mut(x.any_mut())?, sketch, first_column)
    }

    fn multiply(&mut self, alpha: f64, x: &dyn Value, m: &AnyMatrix, beta: f64, y: &mut dyn Value) -> Result<()> {
        self.0.multiply(alpha, typed(x)?, small::<T, C>(m)?, beta, typed_mut(y)?)
    }

    fn transform(&mut self, x: &mut dyn Value, m: &AnyMatrix) -> Result<()> {
        self.0.transform(typed_mut(x)?, small::<T, C>(m)?)
    }

    fn cross(&mut self, x: &dyn Value, y: &dyn Value, c: &mut AnyMatrix) -> Result<()> {
        self.0.cross(typed(x)?, typed(y)?, small_mut::<T, C>(c)?)
    }

    fn norms(&mut self, x: &dyn Value) -> Result<Vec<f64>> {
        self.0.norms(typed(x)?)
    }

    fn cholesky_step(&mut self, x: &mut dyn Value, shift: f64, r: &mut AnyMatrix) -> Result<Step> {
        self.0.cholesky_step(typed_mut(x)?, shift, small_mut::<T, C>(r)?)
    }

    fn householder(&mut self, x: &mut dyn Value, r: &mut AnyMatrix) -> Result<bool> {
        self.0.householder(typed_mut(x)?, small_mut::<T, C>(r)?)
    }

    fn replace(&mut self, x: &mut dyn Value, q: AnyMatrix) -> Result<()> {
        *typed_mut::<C::X>(x)? = q.into_inner()?;
        Ok(())
    }
}
