//! The operations of a Krylov space on the device. A column is on the device or, for an operator of the host's, copied
//! there and back.

use super::operator::ProductVectors;
use super::space::{GpuKrylov, Source, WHAT, column, columns};
use crate::alloc;
use crate::backend::gpu::kernels::dense::place;
use crate::backend::gpu::kernels::lanczos::{Pass, Scale, parts, pass, pieces, scale, total, turn};
use crate::backend::gpu::{Transpose, View};
use crate::dense::Algebra;
use crate::dense::gpu::GpuMatrix;
use crate::dense::sketch::{Distribution, Sketch};
use crate::error::{Error, Result};
use crate::lanczos::ops::{Affine, LanczosOps, Projection, product_less};
use crate::rng;
use crate::scalar::Scalar;
use crate::shape::to_u64;
use crate::spmv::renumber::Direction;

/// Rows of the space that are rotated at a time.
pub(super) const TURN: usize = 1 << 17;

impl<T: Scalar> LanczosOps for GpuKrylov<'_, '_, '_, T> {
    type Number = T;

    fn order(&self) -> usize {
        self.n
    }

    fn terms_norm(&self) -> f64 {
        self.terms_norm
    }

    fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()> {
        let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: rng::stream::LANCZOS };
        if let Some(own) = self.rows {
            let (column, mut at) = (self.column(to)?, 0);
            for rows in own {
                let part = column.part(at * size_of::<T>(), rows.len() * size_of::<T>())?;
                self.algebra.draw(T::DTYPE, View::packed(part, rows.len(), 1), &sketch, to_u64(rows.start), vector)?;
                at += rows.len();
            }
            return Ok(());
        }
        let Some(order) = self.renumbering().cloned() else {
            return self.algebra.draw(T::DTYPE, self.view(to, 1)?, &sketch, 0, vector);
        };
        // Draw in the matrix's order, so that a row's number does not depend on the order of the columns.
        let drawn = self.new_vector()?;
        self.algebra.draw(T::DTYPE, View::packed(drawn.whole(), self.n, 1), &sketch, 0, vector)?;
        self.renumber(&order, Direction::ToOrder, drawn.whole(), self.column(to)?)
    }

    fn affine(&mut self, step: Affine, from: usize, to: usize) -> Result<()> {
        if let Source::Device(operator) = &mut self.operator {
            let x = column::<T>(&self.memory, self.n, from)?;
            let y = column::<T>(&self.memory, self.n, to)?;
            return operator.affine(step, ProductVectors { x, y });
        }
        self.on_host((from, to), step.keep != 0.0, |own, x, y| match &mut own.operator {
            Source::Host(operator) => operator.affine(step, x, y),
            Source::Device(_) => Ok(()),
        })
    }

    fn apply_block(&mut self, from: usize, to: usize, count: usize) -> Result<()> {
        match &self.operator {
            Source::Device(operator) if count > 1 && self.rows.is_none() && operator.takes_blocks() => {
                let block = |first| columns::<T>(&self.memory, self.n, first, count);
                operator.apply_block(count, block(from)?, block(to)?)
            }
            Source::Host(_) if count > 1 => self.apply_block_on_host(from, to, count),
            _ => (0..count).try_for_each(|c| self.apply(from + c, to + c)),
        }
    }

    fn invert(&mut self, from: usize, to: usize) -> Result<()> {
        if let Some(Source::Device(inverse)) = &self.inverse {
            let (x, y) = (self.column(from)?, self.column(to)?);
            return inverse.affine(Affine::PLAIN, ProductVectors { x, y });
        }
        self.on_host((from, to), false, |own, x, y| match &mut own.inverse {
            Some(Source::Host(inverse)) => inverse.apply(x, y),
            _ => Err(Error::NotSupported("solve: there is none".into())),
        })
    }

    fn orthogonalise(&mut self, count: usize, column: usize) -> Result<Projection> {
        self.enqueue((0, count), column, 0, false)?;
        let found = self.records(count, 1)?;
        found.first().copied().ok_or_else(|| Error::Internal("a step without a record".into()))
    }

    fn project(
        &mut self,
        first: usize,
        count: usize,
        column: usize,
        width: usize,
        h: &mut [T::Wide],
    ) -> Result<Vec<f64>> {
        let numbers = parts(T::DTYPE) * count;
        for c in 0..width {
            self.enqueue_projection((first, count), column + c, (numbers + 1) * c)?;
        }
        let mut read = alloc::filled(WHAT, (numbers + 1) * width, 0.0f64)?;
        self.gpu.load_numbers(&self.stream, &self.totals, 0, &mut read)?;
        let mut norms = alloc::with_capacity(WHAT, width)?;
        for (c, found) in read.chunks_exact(numbers + 1).enumerate() {
            let (sums, square) = found.split_at(numbers);
            let own = h[c * count..(c + 1) * count].iter_mut();
            own.zip(sums.chunks_exact(parts(T::DTYPE)))
                .for_each(|(h, s)| *h = T::Wide::from_parts(s[0], s.get(1).copied().unwrap_or(0.0)));
            norms.push(square[0].sqrt());
        }
        Ok(norms)
    }

    fn three_term(&mut self, u: Option<(usize, f64)>, v: usize, w: usize) -> Result<(f64, f64)> {
        product_less(self, u, v, w)?;
        let (gpu, stream, n) = (&self.gpu, &self.stream, self.n);
        let (pieces, numbers) = (pieces(n), parts(T::DTYPE));
        let empty = self.reading((v, 1), w)?;
        let partials = self.partials.whole();
        pass(T::DTYPE, gpu, stream, Pass { partials: Some(partials), ..empty })?;
        total(gpu, stream, partials, (numbers, pieces), 1.0, self.totals(0, numbers)?)?;
        let (weights, squares) = (Some(self.totals(0, numbers)?), Some(self.squares(0)?));
        pass(T::DTYPE, gpu, stream, Pass { weights, squares, ..empty })?;
        let after = self.partials.region(8 * pieces, 8 * pieces)?;
        total(gpu, stream, after, (1, pieces), 1.0, self.totals(numbers, 1)?)?;
        let mut found = [0.0f64; 3];
        gpu.load_numbers(stream, &self.totals, 0, &mut found[..numbers + 1])?;
        Ok((found[0], found[numbers].sqrt()))
    }

    fn scale(&mut self, column: usize, factor: f64) -> Result<()> {
        self.spread_one(column, factor, column, 0.0)
    }

    fn copy(&mut self, from: usize, to: usize) -> Result<()> {
        if from == to { Ok(()) } else { self.spread_one(from, 1.0, to, 0.0) }
    }

    fn spread(&mut self, from: usize, weights: &[f64], to: usize, add: bool) -> Result<()> {
        let keep = if add { 1.0 } else { 0.0 };
        weights.iter().enumerate().try_for_each(|(i, weight)| self.spread_one(from, *weight, to + i, keep))
    }

    fn rotate(&mut self, first: usize, m: usize, y: &[T::Wide], l: usize) -> Result<()> {
        let n = self.n;
        let weights = self.numbers(&y[..m * l])?;
        let space = columns::<T>(&self.memory, n, first, m)?;
        if turn(T::DTYPE, &self.gpu, &self.stream, space, n, (m, l), weights.whole())? {
            return Ok(());
        }
        let mut turn = alloc::with_capacity(WHAT, m * l)?;
        turn.extend(y[..m * l].iter().map(|v| T::narrow(*v)));
        let turn: GpuMatrix<T> = self.algebra.upload("turn of a space", m, l, &turn, m)?;
        let buffer: GpuMatrix<T> = self.algebra.uninitialised(WHAT, TURN.min(n), l)?;
        let (all, target) = (self.view(first, m)?, self.view(first, l)?);
        for row in (0..n).step_by(TURN) {
            let rows = TURN.min(n - row);
            let turned = buffer.view().rows::<T>(0, rows)?;
            let part = all.rows::<T>(row, rows)?;
            self.algebra.blas().multiply::<T>(
                1.0,
                part,
                Transpose::Plain,
                turn.view(),
                Transpose::Plain,
                0.0,
                turned,
            )?;
            place(T::DTYPE, &self.gpu, &self.stream, turned, target.rows::<T>(row, rows)?, false, false)?;
        }
        Ok(())
    }

    fn gram(&mut self, first: usize, count: usize) -> Result<Vec<T::Wide>> {
        let gram: GpuMatrix<T> = self.algebra.uninitialised(WHAT, count, count)?;
        let v = self.view(first, count)?;
        self.algebra.blas().multiply::<T>(1.0, v, Transpose::Adjoint, v, Transpose::Plain, 0.0, gram.view())?;
        let mut held = alloc::filled(WHAT, count * count, T::default())?;
        self.gpu.load_numbers(&self.stream, gram.memory(), 0, &mut held)?;
        let mut out = alloc::with_capacity(WHAT, held.len())?;
        out.extend(held.iter().map(|v| v.widen()));
        Ok(out)
    }

    fn distance(&mut self, w: usize, lambda: f64, x: usize) -> Result<f64> {
        let weights = self.numbers(&[lambda, 0.0])?;
        self.enqueue_distance(w, weights.whole(), x, 0)?;
        let mut found = [0.0f64];
        self.gpu.load_numbers(&self.stream, &self.totals, 0, &mut found)?;
        Ok(found[0].sqrt())
    }

    fn read(&mut self, column: usize, to: &mut [T]) -> Result<()> {
        let Some(order) = self.renumbering().cloned() else {
            return self.gpu.load_numbers(&self.stream, &self.memory, column * self.n * size_of::<T>(), to);
        };
        let vector = self.new_vector()?;
        self.renumber(&order, Direction::ToMatrix, self.column(column)?, vector.whole())?;
        self.gpu.load_numbers(&self.stream, &vector, 0, to)
    }

    fn write(&mut self, from: &[T], column: usize) -> Result<()> {
        let Some(order) = self.renumbering().cloned() else {
            return self.gpu.store_numbers(&self.stream, from, &mut self.memory, column * self.n * size_of::<T>());
        };
        let given = self.numbers(from)?;
        self.renumber(&order, Direction::ToOrder, given.whole(), self.column(column)?)
    }
}

impl<T: Scalar> GpuKrylov<'_, '_, '_, T> {
    /// Column `to` = factor column `from` + keep column `to`.
    fn spread_one(&self, from: usize, factor: f64, to: usize, keep: f64) -> Result<()> {
        let (from, to) = (self.column(from)?, self.column(to)?);
        let one = Scale { from, to, rows: self.n, square: None, parts: None, factor, keep };
        scale(T::DTYPE, &self.gpu, &self.stream, one)
    }
}
