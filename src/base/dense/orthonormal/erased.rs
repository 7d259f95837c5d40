//! The operations of a [`Columns`] without its types, so that the ladder is compiled once for all element types and backends.

use std::marker::PhantomData;

use super::{Columns, Small};
use crate::alloc;
use crate::dense::erased::Dense;
use crate::dense::sketch::Sketch;
use crate::dense::{Algebra, Op, Step};
use crate::erased::{self, Value};
use crate::error::Result;
use crate::scalar::{DType, Scalar};

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
    fn zeros(&mut self, what: &'static str, rows: usize, columns: usize) -> Result<Dense>;

    /// A small matrix of zeros but for these entries: row, column and value.
    fn entries(
        &mut self,
        what: &'static str,
        rows: usize,
        columns: usize,
        entries: &mut dyn Iterator<Item = (usize, usize, f64)>,
    ) -> Result<Dense>;

    /// Rows and columns of a small matrix.
    fn small_shape(&mut self, m: &Dense) -> Result<(usize, usize)>;

    /// C = A B + beta C for small matrices.
    fn small_product(&mut self, a: &Dense, b: &Dense, beta: f64, c: &mut Dense) -> Result<()>;

    /// A small matrix of the first `count` columns of a small matrix.
    fn head(&mut self, what: &'static str, m: &Dense, count: usize) -> Result<Dense>;

    /// [`Algebra::scale_columns`] of a small matrix.
    fn scale_columns(&mut self, m: &mut Dense, factors: &[f64]) -> Result<()>;

    /// [`Algebra::eigen`] of a small matrix.
    fn eigen(&mut self, m: &Dense) -> Result<(Vec<f64>, Dense)>;

    /// [`Algebra::householder`] of a small matrix.
    fn small_householder(&mut self, x: &mut Dense, r: &mut Dense) -> Result<()>;

    /// [`Columns::shape`].
    fn shape(&mut self, x: &dyn Value) -> Result<(usize, usize)>;

    /// [`Columns::create`].
    fn create(&mut self, x: &dyn Value, width: usize) -> Result<Dense>;

    /// [`Columns::fill`].
    fn fill(&mut self, x: &mut Dense, sketch: &Sketch, first_column: u32) -> Result<()>;

    /// [`Columns::multiply`].
    fn multiply(&mut self, alpha: f64, x: &dyn Value, m: &Dense, beta: f64, y: &mut dyn Value) -> Result<()>;

    /// [`Columns::transform`].
    fn transform(&mut self, x: &mut dyn Value, m: &Dense) -> Result<()>;

    /// [`Columns::cross`].
    fn cross(&mut self, x: &dyn Value, y: &dyn Value, c: &mut Dense) -> Result<()>;

    /// [`Columns::norms`].
    fn norms(&mut self, x: &dyn Value) -> Result<Vec<f64>>;

    /// [`Columns::cholesky_step`].
    fn cholesky_step(&mut self, x: &mut dyn Value, shift: f64, r: &mut Dense) -> Result<Step>;

    /// [`Columns::householder`].
    fn householder(&mut self, x: &mut dyn Value, r: &mut Dense) -> Result<bool>;

    /// Replaces X by `q`, whose type must be X's.
    fn replace(&mut self, x: &mut dyn Value, q: Dense) -> Result<()>;
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
fn small<T: Scalar, C: Columns<T>>(m: &Dense) -> Result<&Small<T, C>> {
    m.of()
}

fn small_mut<T: Scalar, C: Columns<T>>(m: &mut Dense) -> Result<&mut Small<T, C>> {
    m.of_mut()
}

impl<T: Scalar, C: Columns<T>> Operations for Typed<'_, T, C> {
    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn zeros(&mut self, what: &'static str, rows: usize, columns: usize) -> Result<Dense> {
        self.0.algebra().zeros(what, rows, columns).map(Dense::new)
    }

    fn entries(
        &mut self,
        what: &'static str,
        rows: usize,
        columns: usize,
        entries: &mut dyn Iterator<Item = (usize, usize, f64)>,
    ) -> Result<Dense> {
        let mut host = alloc::filled(what, rows * columns, T::default())?;
        entries.for_each(|(i, j, x)| host[j * rows + i] = T::from_parts(x, 0.0));
        self.0.algebra().upload(what, rows, columns, &host, rows.max(1)).map(Dense::new)
    }

    fn small_shape(&mut self, m: &Dense) -> Result<(usize, usize)> {
        Ok(self.0.algebra().shape(small::<T, C>(m)?))
    }

    fn small_product(&mut self, a: &Dense, b: &Dense, beta: f64, c: &mut Dense) -> Result<()> {
        let (a, b, c) = (small::<T, C>(a)?, small::<T, C>(b)?, small_mut::<T, C>(c)?);
        self.0.algebra().multiply(1.0, a, Op::Plain, b, Op::Plain, beta, c)
    }

    fn head(&mut self, what: &'static str, m: &Dense, count: usize) -> Result<Dense> {
        let (m, algebra) = (small::<T, C>(m)?, self.0.algebra());
        let rows = algebra.shape(m).0;
        let mut head = algebra.zeros(what, rows, count)?;
        algebra.copy_columns(m, 0, count, &mut head, 0)?;
        Ok(Dense::new(head))
    }

    fn scale_columns(&mut self, m: &mut Dense, factors: &[f64]) -> Result<()> {
        self.0.algebra().scale_columns(small_mut::<T, C>(m)?, factors)
    }

    fn eigen(&mut self, m: &Dense) -> Result<(Vec<f64>, Dense)> {
        let (values, vectors) = self.0.algebra().eigen(small::<T, C>(m)?)?;
        Ok((values, Dense::new(vectors)))
    }

    fn small_householder(&mut self, x: &mut Dense, r: &mut Dense) -> Result<()> {
        self.0.algebra().householder(small_mut::<T, C>(x)?, small_mut::<T, C>(r)?)
    }

    fn shape(&mut self, x: &dyn Value) -> Result<(usize, usize)> {
        Ok(self.0.shape(typed(x)?))
    }

    fn create(&mut self, x: &dyn Value, width: usize) -> Result<Dense> {
        self.0.create(typed(x)?, width).map(Dense::new)
    }

    fn fill(&mut self, x: &mut Dense, sketch: &Sketch, first_column: u32) -> Result<()> {
        self.0.fill(x.of_mut()?, sketch, first_column)
    }

    fn multiply(&mut self, alpha: f64, x: &dyn Value, m: &Dense, beta: f64, y: &mut dyn Value) -> Result<()> {
        self.0.multiply(alpha, typed(x)?, small::<T, C>(m)?, beta, typed_mut(y)?)
    }

    fn transform(&mut self, x: &mut dyn Value, m: &Dense) -> Result<()> {
        self.0.transform(typed_mut(x)?, small::<T, C>(m)?)
    }

    fn cross(&mut self, x: &dyn Value, y: &dyn Value, c: &mut Dense) -> Result<()> {
        self.0.cross(typed(x)?, typed(y)?, small_mut::<T, C>(c)?)
    }

    fn norms(&mut self, x: &dyn Value) -> Result<Vec<f64>> {
        self.0.norms(typed(x)?)
    }

    fn cholesky_step(&mut self, x: &mut dyn Value, shift: f64, r: &mut Dense) -> Result<Step> {
        self.0.cholesky_step(typed_mut(x)?, shift, small_mut::<T, C>(r)?)
    }

    fn householder(&mut self, x: &mut dyn Value, r: &mut Dense) -> Result<bool> {
        self.0.householder(typed_mut(x)?, small_mut::<T, C>(r)?)
    }

    fn replace(&mut self, x: &mut dyn Value, q: Dense) -> Result<()> {
        *typed_mut::<C::X>(x)? = q.into_inner()?;
        Ok(())
    }
}
