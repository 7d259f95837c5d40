//! The operations of a Krylov space on the device. A column is on the device or, for an operator of the host's, copied
//! there and back.

use super::host::no_solve;
use super::operator::ProductVectors;
use super::space::{GpuKrylov, Krylov, WHAT, columns};
use crate::alloc;
use crate::backend::gpu::kernels::dense::place;
use crate::backend::gpu::kernels::lanczos::{Pass, Scale, parts, pass, pieces, scale, total, turn};
use crate::backend::gpu::{DeviceMemory, Transpose, View};
use crate::dense::Algebra;
use crate::dense::gpu::{DeviceMatrix, GpuMatrix};
use crate::dense::sketch::{Distribution, Sketch};
use crate::error::{Error, Result};
use crate::lanczos::ops::{Affine, LanczosOps, Projection, product_less};
use crate::rng;
use crate::scalar::Scalar;
use crate::shape::to_u64;
use crate::spmv::renumber::Direction;

/// Rows of the space that are rotated at a time.
pub(super) const TURN: usize = 1 << 17;

impl Krylov<'_> {
    pub(super) fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()> {
        let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: rng::stream::LANCZOS };
        let (dtype, size) = (self.dtype, self.dtype.size());
        if let Some(own) = self.rows {
            let (column, mut at) = (self.column(to)?, 0);
            for rows in own {
                let part = View::packed(column.part(at * size, rows.len() * size)?, rows.len(), 1);
                self.algebra.draw(dtype, part, &sketch, to_u64(rows.start), vector)?;
                at += rows.len();
            }
            return Ok(());
        }
        let Some(order) = self.renumbering().cloned() else {
            return self.algebra.draw(dtype, self.view(to, 1)?, &sketch, 0, vector);
        };
        // Draw in the matrix's order, so that a row's number does not depend on the order of the columns.
        let drawn = self.new_vector()?;
        self.algebra.draw(dtype, View::packed(drawn.whole(), self.n, 1), &sketch, 0, vector)?;
        self.renumber(&order, Direction::ToOrder, drawn.whole(), self.column(to)?)
    }

    fn affine(&mut self, step: Affine, from: usize, to: usize) -> Result<()> {
        if let Some(operator) = &self.operator {
            return operator.affine(step, ProductVectors { x: self.column(from)?, y: self.column(to)? });
        }
        self.on_host(|host, own| host.affine(own, step, from, to))
    }

    pub(super) fn apply(&mut self, from: usize, to: usize) -> Result<()> {
        self.affine(Affine::PLAIN, from, to)
    }

    pub(super) fn apply_block(&mut self, from: usize, to: usize, count: usize) -> Result<()> {
        match &self.operator {
            Some(operator) if count > 1 && self.rows.is_none() && operator.takes_blocks() => {
                let block = |first| columns(&self.memory, self.dtype, self.n, first, count);
                operator.apply_block(count, block(from)?, block(to)?)
            }
            None if count > 1 => self.on_host(|host, own| host.apply_block(own, from, to, count)),
            _ => (0..count).try_for_each(|c| self.apply(from + c, to + c)),
        }
    }

    fn invert(&mut self, from: usize, to: usize) -> Result<()> {
        if let Some(inverse) = &self.inverse {
            let (x, y) = (self.column(from)?, self.column(to)?);
            return inverse.affine(Affine::PLAIN, ProductVectors { x, y });
        }
        if self.host.is_none() {
            return Err(no_solve());
        }
        self.on_host(|host, own| host.invert(own, from, to))
    }

    /// The figures of [`LanczosOps::project`]: for each column the coefficients, and the square of the norm after it.
    fn project(&self, first: usize, count: usize, column: usize, width: usize) -> Result<Vec<f64>> {
        let numbers = parts(self.dtype) * count;
        for c in 0..width {
            self.enqueue_projection((first, count), column + c, (numbers + 1) * c)?;
        }
        let mut read = alloc::filled(WHAT, (numbers + 1) * width, 0.0f64)?;
        self.gpu.load_numbers(&self.stream, &self.totals, 0, &mut read)?;
        Ok(read)
    }

    /// The end of [`LanczosOps::three_term`], after the product.
    fn subtract_along(&self, v: usize, w: usize) -> Result<(f64, f64)> {
        let (gpu, stream, n, dtype) = (&self.gpu, &self.stream, self.n, self.dtype);
        let (pieces, numbers) = (pieces(n), parts(dtype));
        let empty = self.reading((v, 1), w)?;
        let partials = self.partials.whole();
        pass(dtype, gpu, stream, Pass { partials: Some(partials), ..empty })?;
        total(gpu, stream, partials, (numbers, pieces), 1.0, self.totals(0, numbers)?)?;
        let (weights, squares) = (Some(self.totals(0, numbers)?), Some(self.squares(0)?));
        pass(dtype, gpu, stream, Pass { weights, squares, ..empty })?;
        let after = self.partials.region(8 * pieces, 8 * pieces)?;
        total(gpu, stream, after, (1, pieces), 1.0, self.totals(numbers, 1)?)?;
        let mut found = [0.0f64; 3];
        gpu.load_numbers(stream, &self.totals, 0, &mut found[..numbers + 1])?;
        Ok((found[0], found[numbers].sqrt()))
    }

    pub(super) fn spread(&mut self, from: usize, weights: &[f64], to: usize, add: bool) -> Result<()> {
        let keep = if add { 1.0 } else { 0.0 };
        weights.iter().enumerate().try_for_each(|(i, weight)| self.spread_one(from, *weight, to + i, keep))
    }

    /// Rotates columns by a matrix of double precision, if a kernel can; `false` if not.
    fn rotate_at_once(&self, first: usize, (m, l): (usize, usize), weights: &DeviceMemory) -> Result<bool> {
        let (n, dtype) = (self.n, self.dtype);
        let space = columns(&self.memory, dtype, n, first, m)?;
        turn(dtype, &self.gpu, &self.stream, space, n, (m, l), weights.whole())
    }

    /// Rotates columns by a matrix of the space's type.
    fn rotate_by(&self, first: usize, (m, l): (usize, usize), turn: &DeviceMatrix) -> Result<()> {
        let (n, dtype) = (self.n, self.dtype);
        let buffer = self.algebra.uninitialized(dtype, WHAT, TURN.min(n), l)?;
        let (all, target) = (self.view(first, m)?, self.view(first, l)?);
        let (plain, blas) = (Transpose::Plain, self.algebra.blas());
        for row in (0..n).step_by(TURN) {
            let rows = TURN.min(n - row);
            let turned = buffer.view().rows(dtype, 0, rows)?;
            let part = all.rows(dtype, row, rows)?;
            blas.multiply(dtype, 1.0, part, plain, turn.view(), plain, 0.0, turned)?;
            place(dtype, &self.gpu, &self.stream, turned, target.rows(dtype, row, rows)?, false, false)?;
        }
        Ok(())
    }

    fn gram(&self, first: usize, count: usize) -> Result<DeviceMatrix> {
        let gram = self.algebra.uninitialized(self.dtype, WHAT, count, count)?;
        let (v, plain) = (self.view(first, count)?, Transpose::Plain);
        self.algebra.blas().multiply(self.dtype, 1.0, v, Transpose::Adjoint, v, plain, 0.0, gram.view())?;
        Ok(gram)
    }

    fn distance(&self, w: usize, lambda: f64, x: usize) -> Result<f64> {
        let weights = self.numbers(&[lambda, 0.0])?;
        self.enqueue_distance(w, weights.whole(), x, 0)?;
        let mut found = [0.0f64];
        self.gpu.load_numbers(&self.stream, &self.totals, 0, &mut found)?;
        Ok(found[0].sqrt())
    }

    /// Column `to` = factor column `from` + keep column `to`.
    fn spread_one(&self, from: usize, factor: f64, to: usize, keep: f64) -> Result<()> {
        let (from, to) = (self.column(from)?, self.column(to)?);
        let one = Scale { from, to, rows: self.n, square: None, parts: None, factor, keep };
        scale(self.dtype, &self.gpu, &self.stream, one)
    }

    fn orthogonalize(&self, count: usize, column: usize) -> Result<Projection> {
        self.enqueue((0, count), column, 0, false)?;
        let found = self.records(count, 1)?;
        found.first().copied().ok_or_else(|| Error::Internal("a step without a record".into()))
    }
}

impl<T: Scalar> LanczosOps for GpuKrylov<'_, T> {
    type Number = T;

    fn order(&self) -> usize {
        self.space.n
    }

    fn terms_norm(&self) -> f64 {
        self.space.terms_norm
    }

    fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()> {
        self.space.random(seed, vector, to)
    }

    fn affine(&mut self, step: Affine, from: usize, to: usize) -> Result<()> {
        self.space.affine(step, from, to)
    }

    fn apply_block(&mut self, from: usize, to: usize, count: usize) -> Result<()> {
        self.space.apply_block(from, to, count)
    }

    fn invert(&mut self, from: usize, to: usize) -> Result<()> {
        self.space.invert(from, to)
    }

    fn orthogonalize(&mut self, count: usize, column: usize) -> Result<Projection> {
        self.space.orthogonalize(count, column)
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
        let read = self.space.project(first, count, column, width)?;
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
        self.space.subtract_along(v, w)
    }

    fn scale(&mut self, column: usize, factor: f64) -> Result<()> {
        self.space.spread_one(column, factor, column, 0.0)
    }

    fn copy(&mut self, from: usize, to: usize) -> Result<()> {
        if from == to { Ok(()) } else { self.space.spread_one(from, 1.0, to, 0.0) }
    }

    fn spread(&mut self, from: usize, weights: &[f64], to: usize, add: bool) -> Result<()> {
        self.space.spread(from, weights, to, add)
    }

    fn rotate(&mut self, first: usize, m: usize, y: &[T::Wide], l: usize) -> Result<()> {
        let weights = self.space.numbers(&y[..m * l])?;
        if self.space.rotate_at_once(first, (m, l), &weights)? {
            return Ok(());
        }
        let mut turn = alloc::with_capacity(WHAT, m * l)?;
        turn.extend(y[..m * l].iter().map(|v| T::narrow(*v)));
        let turn: GpuMatrix<T> = self.space.algebra.upload("turn of a space", m, l, &turn, m)?;
        self.space.rotate_by(first, (m, l), &turn)
    }

    fn gram(&mut self, first: usize, count: usize) -> Result<Vec<T::Wide>> {
        let gram = self.space.gram(first, count)?;
        let mut held = alloc::filled(WHAT, count * count, T::default())?;
        self.space.gpu.load_numbers(&self.space.stream, gram.memory(), 0, &mut held)?;
        let mut out = alloc::with_capacity(WHAT, held.len())?;
        out.extend(held.iter().map(|v| v.widen()));
        Ok(out)
    }

    fn distance(&mut self, w: usize, lambda: f64, x: usize) -> Result<f64> {
        self.space.distance(w, lambda, x)
    }

    fn read(&mut self, column: usize, to: &mut [T]) -> Result<()> {
        self.space.read(column, to)
    }

    fn write(&mut self, from: &[T], column: usize) -> Result<()> {
        self.space.write(from, column)
    }
}
