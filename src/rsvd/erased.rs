//! The operations of an [`RsvdOps`] without its types, so that methods and calls are compiled once for all element types and
//! backends. Each operation works on whole matrices, so a call through a trait object costs nothing that counts.

use std::sync::Arc;

#[cfg(doc)]
use super::ops::RsvdOps;
use super::ops::{BlockParameters, Prepared};
use super::options::IterationPrecision;
use super::restart::{Restart, Saved};
use super::statistics::Statistics;
use super::traffic::Traffic;
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::dense::erased as dense;
pub use crate::dense::erased::{Dense, Typed};
use crate::dense::orthonormal::{BasisMethod, Counts};
use crate::dense::sketch::Sketch;
use crate::erased::{self, Value};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::Complex;

/// A [`RsvdOps::Tall`] without its type.
pub struct Tall(Box<dyn Value>);

impl Tall {
    pub(super) fn new<M: 'static>(matrix: M) -> Self {
        Self(Box::new(matrix))
    }

    pub(super) fn of<M: 'static>(&self) -> Result<&M> {
        erased::of("tall matrix", &*self.0)
    }

    pub(super) fn of_mut<M: 'static>(&mut self) -> Result<&mut M> {
        erased::of_mut("tall matrix", &mut *self.0)
    }

    /// The matrix itself, for tests of the methods.
    ///
    /// # Errors
    /// As [`Dense::of`].
    #[cfg(test)]
    pub fn into_inner<M: 'static>(self) -> Result<M> {
        erased::into_inner("tall matrix", self.0)
    }
}

/// The operations of a backend besides those of its algebra. A matrix of another backend or element type is refused.
pub trait Operations: dense::Operations {
    /// [`RsvdOps::tall_width`].
    fn tall_width(&self, p: &Tall) -> usize;

    /// A matrix of zeros but for these entries: row, column, real and imaginary part.
    ///
    /// # Errors
    /// As [`RsvdOps::identity`].
    fn entries(
        &mut self,
        what: &'static str,
        rows: usize,
        columns: usize,
        entries: &mut dyn Iterator<Item = (usize, usize, (f64, f64))>,
    ) -> Result<Dense>;

    /// Saves the basis `w` as the state after `iteration` iterations and `passes` passes.
    ///
    /// # Errors
    /// As [`Restart::save`] and [`Dense::of`]; errors of the backend.
    fn save(&mut self, w: &Dense, iteration: usize, passes: u64, restart: &mut Restart) -> Result<()>;

    /// Saves the product `p`, likewise. Returns false if host memory does not hold a copy that this needs.
    ///
    /// # Errors
    /// As [`RsvdOps::tall_elements`], [`Restart::save`] and [`Dense::of`].
    fn save_tall(
        &mut self,
        context: &Arc<Context>,
        p: &Tall,
        iteration: usize,
        passes: u64,
        restart: &mut Restart,
    ) -> Result<bool>;

    /// The basis of a saved state.
    ///
    /// # Errors
    /// As [`Saved::read`]; errors of the backend.
    fn restore(&mut self, saved: &Saved<'_>) -> Result<Dense>;

    /// The product of a saved state.
    ///
    /// # Errors
    /// As [`RsvdOps::tall_filled`] and [`Saved::read`].
    fn restore_tall(&mut self, context: &Arc<Context>, saved: &Saved<'_>) -> Result<Tall>;

    /// [`RsvdOps::go_on`].
    fn go_on(&mut self, passes: u64);

    /// Makes the columns of `x` orthonormal; returns R with X = Q R.
    ///
    /// # Errors
    /// As [`orthonormalize`](crate::dense::orthonormal::orthonormalize()) and [`Dense::of`]; errors of the backend.
    fn orthonormalize(&mut self, x: &mut Dense, method: BasisMethod, counts: &mut Counts) -> Result<Dense>;

    /// Makes the columns of a tall matrix orthonormal; returns R with P = Q R.
    ///
    /// # Errors
    /// As [`Operations::orthonormalize`].
    fn orthonormalize_tall(&mut self, p: &mut Tall, method: BasisMethod, counts: &mut Counts) -> Result<Dense>;

    /// [`Algebra::fill`](crate::dense::Algebra::fill).
    ///
    /// # Errors
    /// As [`Algebra::fill`](crate::dense::Algebra::fill) and [`Dense::of`].
    fn fill(&mut self, m: &mut Dense, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()>;

    /// [`Algebra::column_peaks`](crate::dense::Algebra::column_peaks).
    ///
    /// # Errors
    /// As [`Algebra::column_peaks`](crate::dense::Algebra::column_peaks) and [`Dense::of`].
    fn column_peaks(&mut self, m: &Dense) -> Result<Vec<(f64, f64)>>;

    /// [`Algebra::eigen`](crate::dense::Algebra::eigen).
    ///
    /// # Errors
    /// As [`Algebra::eigen`](crate::dense::Algebra::eigen) and [`Dense::of`].
    fn eigen(&mut self, a: &Dense) -> Result<(Vec<f64>, Dense)>;

    /// [`Algebra::inverse`](crate::dense::Algebra::inverse).
    ///
    /// # Errors
    /// As [`Algebra::inverse`](crate::dense::Algebra::inverse) and [`Dense::of`].
    fn inverse(&mut self, r: &Dense) -> Result<Option<Dense>>;

    /// [`RsvdOps::rows`].
    fn rows(&self) -> usize;

    /// [`RsvdOps::columns`].
    fn columns(&self) -> usize;

    /// [`RsvdOps::statistics`].
    fn statistics(&self) -> Option<&Statistics>;

    /// [`RsvdOps::factor`].
    fn factor(&self) -> f64;

    /// [`RsvdOps::traffic`].
    fn traffic(&self) -> &Traffic;

    /// [`RsvdOps::checkpoint`].
    ///
    /// # Errors
    /// As [`RsvdOps::checkpoint`].
    fn checkpoint(&mut self, step: i64, steps: i64, measure: f64) -> Result<()>;

    /// [`RsvdOps::expect_steps`].
    fn expect_steps(&mut self, steps: i64);

    /// [`RsvdOps::element_bytes`].
    fn element_bytes(&self) -> usize;

    /// [`RsvdOps::charge`].
    ///
    /// # Errors
    /// As [`RsvdOps::charge`].
    fn charge(&self, context: &Context, what: &'static str, bytes: usize) -> Result<Charge>;

    /// [`RsvdOps::identity`].
    ///
    /// # Errors
    /// As [`RsvdOps::identity`].
    fn identity(&mut self, what: &'static str, rows: usize, columns: usize) -> Result<Dense>;

    /// [`RsvdOps::tall_of`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_of`] and [`Dense::of`].
    fn tall_of(&mut self, context: &Arc<Context>, m: &Dense) -> Result<Tall>;

    /// [`RsvdOps::matrix_of`].
    ///
    /// # Errors
    /// As [`RsvdOps::matrix_of`] and [`Dense::of`].
    fn matrix_of(&mut self, context: &Arc<Context>, what: &'static str, p: &Tall) -> Result<Dense>;

    /// [`RsvdOps::tall_identity`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_identity`].
    fn tall_identity(&mut self, context: &Arc<Context>, columns: usize) -> Result<Tall>;

    /// [`RsvdOps::tall_ones`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_ones`].
    fn tall_ones(&mut self, context: &Arc<Context>) -> Result<Tall>;

    /// [`RsvdOps::look`].
    ///
    /// # Errors
    /// As [`RsvdOps::look`].
    fn look(&mut self) -> Result<()>;

    /// [`RsvdOps::set_precision`].
    ///
    /// # Errors
    /// As [`RsvdOps::set_precision`].
    fn set_precision(&mut self, precision: IterationPrecision) -> Result<bool>;

    /// [`RsvdOps::set_columns`].
    ///
    /// # Errors
    /// As [`RsvdOps::set_columns`].
    fn set_columns(&mut self, means: &[f64], divisors: &[f64]) -> Result<Prepared>;

    /// [`RsvdOps::pass_multiply`].
    ///
    /// # Errors
    /// As [`RsvdOps::pass_multiply`] and [`Dense::of`].
    fn pass_multiply(&mut self, w: &Dense, p: &mut Tall) -> Result<()>;

    /// [`RsvdOps::pass_adjoint`].
    ///
    /// # Errors
    /// As [`RsvdOps::pass_adjoint`] and [`Dense::of`].
    fn pass_adjoint(&mut self, p: &Tall, t: &mut Dense) -> Result<()>;

    /// [`RsvdOps::pass_fused`].
    ///
    /// # Errors
    /// As [`RsvdOps::pass_fused`] and [`Dense::of`].
    fn pass_fused(&mut self, w: &Dense, p: Option<&mut Tall>, t: &mut Dense) -> Result<()>;

    /// [`RsvdOps::pass_gram`].
    ///
    /// # Errors
    /// As [`RsvdOps::pass_gram`] and [`Dense::of`].
    fn pass_gram(&mut self, g: &mut Dense) -> Result<()>;

    /// [`RsvdOps::pass_block_sum`].
    ///
    /// # Errors
    /// As [`RsvdOps::pass_block_sum`] and [`Dense::of`].
    fn pass_block_sum(&mut self, local: &BlockParameters, y: &mut Dense) -> Result<()>;

    /// [`RsvdOps::pass_merge`].
    ///
    /// # Errors
    /// As [`RsvdOps::pass_merge`] and [`Dense::of`].
    fn pass_merge(&mut self, local: &BlockParameters, r: &mut Dense) -> Result<()>;

    /// [`RsvdOps::pass_two_sketches`].
    ///
    /// # Errors
    /// As [`RsvdOps::pass_two_sketches`] and [`Dense::of`].
    fn pass_two_sketches(&mut self, w: &Dense, p: &mut Tall, psi: &Sketch, z: &mut Dense) -> Result<()>;

    /// [`RsvdOps::tall`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall`].
    fn tall(&mut self, what: &'static str, width: usize) -> Result<Tall>;

    /// [`RsvdOps::tall_fill`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_fill`] and [`Dense::of`].
    fn tall_fill(&mut self, p: &mut Tall, sketch: &Sketch, first_column: u32) -> Result<()>;

    /// [`RsvdOps::tall_multiply`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_multiply`] and [`Dense::of`].
    fn tall_multiply(&mut self, alpha: f64, p: &Tall, m: &Dense, beta: f64, q: &mut Tall) -> Result<()>;

    /// [`RsvdOps::tall_shift`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_shift`] and [`Dense::of`].
    fn tall_shift(&mut self, p: &mut Tall, shifts: &[Complex<f64>], exponents: &[i64]) -> Result<()>;

    /// [`RsvdOps::tall_transform`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_transform`] and [`Dense::of`].
    fn tall_transform(&mut self, p: &mut Tall, m: &Dense) -> Result<()>;

    /// [`RsvdOps::tall_cross`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_cross`] and [`Dense::of`].
    fn tall_cross(&mut self, p: &Tall, q: &Tall, c: &mut Dense) -> Result<()>;

    /// [`RsvdOps::tall_column_norms`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_column_norms`] and [`Dense::of`].
    fn tall_column_norms(&mut self, p: &Tall) -> Result<Vec<f64>>;

    /// [`RsvdOps::tall_not_finite`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_not_finite`] and [`Dense::of`].
    fn tall_not_finite(&mut self, p: &Tall) -> Result<Option<usize>>;

    /// The first row whose number in this column is not finite; `None` also where host memory does not hold a copy that this
    /// needs.
    ///
    /// # Errors
    /// As [`RsvdOps::tall_elements`] and [`Dense::of`].
    fn tall_row_not_finite(&mut self, context: &Arc<Context>, p: &Tall, column: usize) -> Result<Option<usize>>;

    /// Replaces the numbers of `known`, packed on the host, that are not finite by those of `p`. Returns false if host memory
    /// does not hold a copy that this needs.
    ///
    /// # Errors
    /// As [`RsvdOps::tall_elements`], [`Dense::of`] and [`Matrix::dense_mut`]; [`crate::error::Error::NotSupported`]
    /// for `known` on a device.
    fn tall_complete(&mut self, context: &Arc<Context>, p: &Tall, known: &mut Matrix) -> Result<bool>;

    /// [`RsvdOps::tall_column_peaks`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_column_peaks`] and [`Dense::of`].
    fn tall_column_peaks(&mut self, p: &Tall) -> Result<Vec<(f64, f64)>>;

    /// [`RsvdOps::tall_read`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_read`].
    fn tall_read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<Tall>;

    /// [`RsvdOps::tall_write`].
    ///
    /// # Errors
    /// As [`RsvdOps::tall_write`] and [`Dense::of`].
    fn tall_write(&mut self, p: &Tall, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()>;

    /// [`RsvdOps::read`].
    ///
    /// # Errors
    /// As [`RsvdOps::read`].
    fn read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<Dense>;

    /// [`RsvdOps::write`].
    ///
    /// # Errors
    /// As [`RsvdOps::write`] and [`Dense::of`].
    fn write(&mut self, m: &Dense, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()>;
}
