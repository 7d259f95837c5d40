//! The operations of an [`RsvdOps`] without its types, so that methods and calls are compiled once for all element types and
//! backends. Each operation works on whole matrices, so a call through a trait object costs nothing that counts.

use std::sync::Arc;

use super::basis::TallColumns;
use super::ops::{BlockParameters, Prepared, RsvdOps};
use super::options::IterationPrecision;
use super::restart::{Restart, Saved, State};
use super::statistics::Statistics;
use super::traffic::Traffic;
use crate::alloc;
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::dense::erased as dense;
pub use crate::dense::erased::{Dense, Typed};
use crate::dense::orthonormal::{self, BasisMethod, Counts, Own};
use crate::dense::sketch::Sketch;
use crate::erased::{self, Value};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::{Complex, Scalar, is_finite};
use crate::shape::product;

/// A [`RsvdOps::Tall`] without its type.
pub struct Tall(Box<dyn Value>);

impl Tall {
    fn new<M: 'static>(matrix: M) -> Self {
        Self(Box::new(matrix))
    }

    fn of<M: 'static>(&self) -> Result<&M> {
        erased::of("tall matrix", &*self.0)
    }

    fn of_mut<M: 'static>(&mut self) -> Result<&mut M> {
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
    /// As [`orthonormal::orthonormalize()`] and [`Dense::of`]; errors of the backend.
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

impl<T: Scalar, O: RsvdOps<T>> Operations for Typed<'_, T, O> {
    fn tall_width(&self, p: &Tall) -> usize {
        p.of().map_or(0, |p| self.0.tall_width(p))
    }

    fn entries(
        &mut self,
        what: &'static str,
        rows: usize,
        columns: usize,
        entries: &mut dyn Iterator<Item = (usize, usize, (f64, f64))>,
    ) -> Result<Dense> {
        let mut host = alloc::filled(what, product(what, rows, columns)?, T::default())?;
        entries.for_each(|(i, j, (re, im))| host[j * rows + i] = T::from_parts(re, im));
        self.0.upload(what, rows, columns, &host, rows.max(1)).map(Dense::new)
    }

    fn save(&mut self, w: &Dense, iteration: usize, passes: u64, restart: &mut Restart) -> Result<()> {
        let w = w.of()?;
        let (rows, columns) = self.0.shape(w);
        let mut data = alloc::filled("restart state", product("restart", rows, columns)?, T::default())?;
        self.0.download(w, &mut data, rows)?;
        restart.save(State { is_product: false, iteration, passes, rows, columns }, &data)
    }

    fn save_tall(
        &mut self,
        context: &Arc<Context>,
        p: &Tall,
        iteration: usize,
        passes: u64,
        restart: &mut Restart,
    ) -> Result<bool> {
        let p = p.of()?;
        let (rows, columns) = (self.0.rows(), self.0.tall_width(p));
        let state = State { is_product: true, iteration, passes, rows, columns };
        self.0.tall_elements(context, p, &mut |data| restart.save(state, data))
    }

    fn restore(&mut self, saved: &Saved<'_>) -> Result<Dense> {
        let State { rows, columns, .. } = saved.state;
        let mut data = alloc::filled("restart state", product("restart", rows, columns)?, T::default())?;
        saved.read(&mut data)?;
        self.0.upload("restarted basis", rows, columns, &data, rows).map(Dense::new)
    }

    fn restore_tall(&mut self, context: &Arc<Context>, saved: &Saved<'_>) -> Result<Tall> {
        self.0.tall_filled(context, saved.state.columns, &mut |data| saved.read(data)).map(Tall::new)
    }

    fn go_on(&mut self, passes: u64) {
        self.0.go_on(passes);
    }

    fn orthonormalize(&mut self, x: &mut Dense, method: BasisMethod, counts: &mut Counts) -> Result<Dense> {
        orthonormal::orthonormalize(&mut Own(&mut *self.0), x.of_mut()?, method, counts).map(Dense::new)
    }

    fn orthonormalize_tall(&mut self, p: &mut Tall, method: BasisMethod, counts: &mut Counts) -> Result<Dense> {
        orthonormal::orthonormalize(&mut TallColumns(&mut *self.0), p.of_mut()?, method, counts).map(Dense::new)
    }

    fn fill(&mut self, m: &mut Dense, sketch: &Sketch, first_row: u64, first_column: u32) -> Result<()> {
        self.0.fill(m.of_mut()?, sketch, first_row, first_column)
    }

    fn column_peaks(&mut self, m: &Dense) -> Result<Vec<(f64, f64)>> {
        self.0.column_peaks(m.of()?)
    }

    fn eigen(&mut self, a: &Dense) -> Result<(Vec<f64>, Dense)> {
        let (values, vectors) = self.0.eigen(a.of()?)?;
        Ok((values, Dense::new(vectors)))
    }

    fn inverse(&mut self, r: &Dense) -> Result<Option<Dense>> {
        Ok(self.0.inverse(r.of()?)?.map(Dense::new))
    }

    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn columns(&self) -> usize {
        self.0.columns()
    }

    fn statistics(&self) -> Option<&Statistics> {
        self.0.statistics()
    }

    fn factor(&self) -> f64 {
        self.0.factor()
    }

    fn traffic(&self) -> &Traffic {
        self.0.traffic()
    }

    fn checkpoint(&mut self, step: i64, steps: i64, measure: f64) -> Result<()> {
        self.0.checkpoint(step, steps, measure)
    }

    fn expect_steps(&mut self, steps: i64) {
        self.0.expect_steps(steps)
    }

    fn element_bytes(&self) -> usize {
        self.0.element_bytes()
    }

    fn charge(&self, context: &Context, what: &'static str, bytes: usize) -> Result<Charge> {
        self.0.charge(context, what, bytes)
    }

    fn identity(&mut self, what: &'static str, rows: usize, columns: usize) -> Result<Dense> {
        self.0.identity(what, rows, columns).map(Dense::new)
    }

    fn tall_of(&mut self, context: &Arc<Context>, m: &Dense) -> Result<Tall> {
        self.0.tall_of(context, m.of()?).map(Tall::new)
    }

    fn matrix_of(&mut self, context: &Arc<Context>, what: &'static str, p: &Tall) -> Result<Dense> {
        self.0.matrix_of(context, what, p.of()?).map(Dense::new)
    }

    fn tall_identity(&mut self, context: &Arc<Context>, columns: usize) -> Result<Tall> {
        self.0.tall_identity(context, columns).map(Tall::new)
    }

    fn tall_ones(&mut self, context: &Arc<Context>) -> Result<Tall> {
        self.0.tall_ones(context).map(Tall::new)
    }

    fn look(&mut self) -> Result<()> {
        self.0.look()
    }

    fn set_precision(&mut self, precision: IterationPrecision) -> Result<bool> {
        self.0.set_precision(precision)
    }

    fn set_columns(&mut self, means: &[f64], divisors: &[f64]) -> Result<Prepared> {
        self.0.set_columns(means, divisors)
    }

    fn pass_multiply(&mut self, w: &Dense, p: &mut Tall) -> Result<()> {
        self.0.pass_multiply(w.of()?, p.of_mut()?)
    }

    fn pass_adjoint(&mut self, p: &Tall, t: &mut Dense) -> Result<()> {
        self.0.pass_adjoint(p.of()?, t.of_mut()?)
    }

    fn pass_fused(&mut self, w: &Dense, p: Option<&mut Tall>, t: &mut Dense) -> Result<()> {
        self.0.pass_fused(w.of()?, p.map(Tall::of_mut).transpose()?, t.of_mut()?)
    }

    fn pass_gram(&mut self, g: &mut Dense) -> Result<()> {
        self.0.pass_gram(g.of_mut()?)
    }

    fn pass_block_sum(&mut self, local: &BlockParameters, y: &mut Dense) -> Result<()> {
        self.0.pass_block_sum(local, y.of_mut()?)
    }

    fn pass_merge(&mut self, local: &BlockParameters, r: &mut Dense) -> Result<()> {
        self.0.pass_merge(local, r.of_mut()?)
    }

    fn pass_two_sketches(&mut self, w: &Dense, p: &mut Tall, psi: &Sketch, z: &mut Dense) -> Result<()> {
        self.0.pass_two_sketches(w.of()?, p.of_mut()?, psi, z.of_mut()?)
    }

    fn tall(&mut self, what: &'static str, width: usize) -> Result<Tall> {
        self.0.tall(what, width).map(Tall::new)
    }

    fn tall_fill(&mut self, p: &mut Tall, sketch: &Sketch, first_column: u32) -> Result<()> {
        self.0.tall_fill(p.of_mut()?, sketch, first_column)
    }

    fn tall_multiply(&mut self, alpha: f64, p: &Tall, m: &Dense, beta: f64, q: &mut Tall) -> Result<()> {
        self.0.tall_multiply(alpha, p.of()?, m.of()?, beta, q.of_mut()?)
    }

    fn tall_shift(&mut self, p: &mut Tall, shifts: &[Complex<f64>], exponents: &[i64]) -> Result<()> {
        self.0.tall_shift(p.of_mut()?, shifts, exponents)
    }

    fn tall_transform(&mut self, p: &mut Tall, m: &Dense) -> Result<()> {
        self.0.tall_transform(p.of_mut()?, m.of()?)
    }

    fn tall_cross(&mut self, p: &Tall, q: &Tall, c: &mut Dense) -> Result<()> {
        self.0.tall_cross(p.of()?, q.of()?, c.of_mut()?)
    }

    fn tall_column_norms(&mut self, p: &Tall) -> Result<Vec<f64>> {
        self.0.tall_column_norms(p.of()?)
    }

    fn tall_not_finite(&mut self, p: &Tall) -> Result<Option<usize>> {
        self.0.tall_not_finite(p.of()?)
    }

    fn tall_row_not_finite(&mut self, context: &Arc<Context>, p: &Tall, column: usize) -> Result<Option<usize>> {
        let (rows, mut found) = (self.0.rows().max(1), None);
        self.0.tall_elements(context, p.of()?, &mut |data| {
            found = data.iter().skip(column * rows).take(rows).position(|x| !is_finite(*x));
            Ok(())
        })?;
        Ok(found)
    }

    fn tall_complete(&mut self, context: &Arc<Context>, p: &Tall, known: &mut Matrix) -> Result<bool> {
        let known = known.dense_mut("products")?.memory.host_mut("products")?.as_mut_slice::<T>()?;
        self.0.tall_elements(context, p.of()?, &mut |data| {
            known.iter_mut().zip(data).filter(|(known, _)| !is_finite(**known)).for_each(|(known, x)| *known = *x);
            Ok(())
        })
    }

    fn tall_column_peaks(&mut self, p: &Tall) -> Result<Vec<(f64, f64)>> {
        self.0.tall_column_peaks(p.of()?)
    }

    fn tall_read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<Tall> {
        self.0.tall_read(what, source, adjoint, conjugate).map(Tall::new)
    }

    fn tall_write(&mut self, p: &Tall, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()> {
        self.0.tall_write(p.of()?, target, adjoint, conjugate)
    }

    fn read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<Dense> {
        self.0.read(what, source, adjoint, conjugate).map(Dense::new)
    }

    fn write(&mut self, m: &Dense, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()> {
        self.0.write(m.of()?, target, adjoint, conjugate)
    }
}
