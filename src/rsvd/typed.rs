//! The operations of `erased.rs` for an element type and a backend.

use std::sync::Arc;

use super::basis::TallColumns;
use super::erased::{Dense, Operations, Tall, Typed};
use super::ops::{BlockParameters, Prepared, RsvdOps};
use super::options::IterationPrecision;
use super::restart::{Restart, Saved, State};
use super::statistics::Statistics;
use super::traffic::Traffic;
use crate::alloc;
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::dense::orthonormal::{self, BasisMethod, Counts, Own};
use crate::dense::sketch::Sketch;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::{Complex, Scalar, is_finite};
use crate::shape::product;

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
