//! The operations of an [`Algebra`] without its types, so that methods of several families are compiled once for all
//! element types and backends. The families' own traits extend [`Operations`]. Each operation works on a whole matrix,
//! so the cost of a dynamic call is negligible.

use std::marker::PhantomData;

use super::{Algebra, Op, Svd};
use crate::erased::{self, Value};
use crate::error::Result;
use crate::scalar::{DType, Scalar};

/// A matrix of a backend and an element type that only the operations of the backend know.
pub struct Dense(Box<dyn Value>);

impl Dense {
    /// A matrix without its type.
    pub fn new<M: 'static>(matrix: M) -> Self {
        Self(Box::new(matrix))
    }

    /// The matrix itself, for reading.
    ///
    /// # Errors
    /// As [`erased::of`].
    pub fn of<M: 'static>(&self) -> Result<&M> {
        erased::of("matrix", &*self.0)
    }

    /// The matrix itself, to be changed.
    ///
    /// # Errors
    /// As [`erased::of_mut`].
    pub fn of_mut<M: 'static>(&mut self) -> Result<&mut M> {
        erased::of_mut("matrix", &mut *self.0)
    }

    /// The matrix itself.
    ///
    /// # Errors
    /// As [`erased::into_inner`].
    pub fn into_inner<M: 'static>(self) -> Result<M> {
        erased::into_inner("matrix", self.0)
    }

    /// The matrix for functions that take any value.
    pub fn any(&self) -> &dyn Value {
        &*self.0
    }

    /// As [`Dense::any`].
    pub fn any_mut(&mut self) -> &mut dyn Value {
        &mut *self.0
    }
}

/// The operations of an [`Algebra`] that more than one family uses. A matrix of another backend or element type is
/// refused.
pub trait Operations {
    /// Element type of the computation.
    fn dtype(&self) -> DType;

    /// [`Algebra::shape`].
    fn shape(&self, m: &Dense) -> (usize, usize);

    /// [`Algebra::zeros`].
    ///
    /// # Errors
    /// As there.
    fn zeros(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Dense>;

    /// [`Algebra::upload`] of a packed `Vec` of the element type.
    ///
    /// # Errors
    /// As there; as [`erased::of`] for `data`.
    fn upload(&mut self, what: &'static str, rows: usize, cols: usize, data: &dyn Value) -> Result<Dense>;

    /// [`Algebra::copy_columns`].
    ///
    /// # Errors
    /// As there; as [`Dense::of`].
    fn copy_columns(&mut self, source: &Dense, from: usize, count: usize, target: &mut Dense, to: usize) -> Result<()>;

    /// [`Algebra::multiply`].
    ///
    /// # Errors
    /// As there; as [`Dense::of`].
    #[allow(clippy::too_many_arguments, reason = "the field's own signature")]
    fn multiply(
        &mut self,
        alpha: f64,
        a: &Dense,
        op_a: Op,
        b: &Dense,
        op_b: Op,
        beta: f64,
        c: &mut Dense,
    ) -> Result<()>;

    /// [`Algebra::scale_columns`].
    ///
    /// # Errors
    /// As there; as [`Dense::of`].
    fn scale_columns(&mut self, m: &mut Dense, factors: &[f64]) -> Result<()>;

    /// [`Algebra::norm2`].
    ///
    /// # Errors
    /// As there; as [`Dense::of`].
    fn norm2(&mut self, m: &Dense) -> Result<f64>;

    /// [`Algebra::column_norms`].
    ///
    /// # Errors
    /// As there; as [`Dense::of`].
    fn column_norms(&mut self, m: &Dense) -> Result<Vec<f64>>;

    /// [`Algebra::svd`].
    ///
    /// # Errors
    /// As there; as [`Dense::of`].
    fn svd(&mut self, a: &Dense) -> Result<Svd<Dense>>;
}

/// The operations of an [`Algebra`] that is borrowed, and those of a family's trait over it.
pub struct Typed<'o, T, A>(pub &'o mut A, PhantomData<T>);

impl<'o, T: Scalar, A: Algebra<T>> Typed<'o, T, A> {
    /// The operations of `algebra`, without its types.
    pub fn new(algebra: &'o mut A) -> Self {
        Self(algebra, PhantomData)
    }
}

impl<T: Scalar, A: Algebra<T>> Operations for Typed<'_, T, A> {
    fn dtype(&self) -> DType {
        T::DTYPE
    }

    // A matrix of another type has no shape here; the next operation refuses it.
    fn shape(&self, m: &Dense) -> (usize, usize) {
        m.of().map_or((0, 0), |m| self.0.shape(m))
    }

    fn zeros(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Dense> {
        self.0.zeros(what, rows, cols).map(Dense::new)
    }

    fn upload(&mut self, what: &'static str, rows: usize, cols: usize, data: &dyn Value) -> Result<Dense> {
        let data = erased::of::<Vec<T>>("data", data)?;
        self.0.upload(what, rows, cols, data, rows.max(1)).map(Dense::new)
    }

    fn copy_columns(&mut self, source: &Dense, from: usize, count: usize, target: &mut Dense, to: usize) -> Result<()> {
        self.0.copy_columns(source.of()?, from, count, target.of_mut()?, to)
    }

    fn multiply(
        &mut self,
        alpha: f64,
        a: &Dense,
        op_a: Op,
        b: &Dense,
        op_b: Op,
        beta: f64,
        c: &mut Dense,
    ) -> Result<()> {
        self.0.multiply(alpha, a.of()?, op_a, b.of()?, op_b, beta, c.of_mut()?)
    }

    fn scale_columns(&mut self, m: &mut Dense, factors: &[f64]) -> Result<()> {
        self.0.scale_columns(m.of_mut()?, factors)
    }

    fn norm2(&mut self, m: &Dense) -> Result<f64> {
        self.0.norm2(m.of()?)
    }

    fn column_norms(&mut self, m: &Dense) -> Result<Vec<f64>> {
        self.0.column_norms(m.of()?)
    }

    fn svd(&mut self, a: &Dense) -> Result<Svd<Dense>> {
        let Svd { u, s, v } = self.0.svd(a.of()?)?;
        Ok(Svd { u: Dense::new(u), s, v: Dense::new(v) })
    }
}
