//! Krylov spaces in device memory.
//!
//! The steps of a cycle are enqueued one after another. Coefficients and norms stay on the device, where later kernels
//! read them, and are copied to the host once, at the end. Only then does the host see a step whose remainder is
//! rounding error; results of later steps are dropped.
//!
//! | file | subject |
//! |---|---|
//! | `operator` | operators on vectors in device memory |
//! | `order` | columns in the operator's own order |
//! | `part` | the rows of one context, where several share a matrix |
//! | `blocks` | the steps of a cycle of blocks |
//! | `sides` | left and right singular vectors |
//! | `passes` | passes over a space, and their records |
//! | `steps` | the steps of a cycle |

mod blocks;
mod operator;
mod order;
mod part;
mod passes;
mod sides;
mod steps;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use super::krylov::{Affine, BlockStep, Krylov, Poll, Projection, Space, extend_once, product_less, recur_once};
use super::operator::Symmetric;
use crate::alloc;
use crate::backend::gpu::kernels::dense::place;
use crate::backend::gpu::kernels::lanczos::{
    Pass, Scale, orient, orient_workspace, parts, pass, pieces, scale, total, turn,
};
use crate::backend::gpu::{DeviceMemory, Event, Gpu, GpuStream, Region, Transpose, View};
use crate::context::Context;
use crate::dense::Algebra;
use crate::dense::gpu::{GpuAlgebra, GpuMatrix};
use crate::dense::sketch::{Distribution, Sketch};
use crate::error::{Error, Result};
use crate::matrix::DenseMut;
use crate::rng;
use crate::scalar::{Element, Real, Scalar};
use crate::shape::{Order, product, to_u64};
use crate::spmv::renumber::Direction;
use operator::{DeviceOperator, ProductVectors};
use steps::Steps;

pub(super) use part::GpuPart;

const WHAT: &str = "Krylov space";

/// Rows of the space that are rotated at a time.
const TURN: usize = 1 << 17;

/// Steps between two waits of the host. A wait is for the work that was enqueued before the previous wait. Cancellation
/// takes effect within twice as many steps, and the device has work while the host wakes up.
const PACE: usize = 8;

/// A Krylov space on the device: columns of numbers, and an operator.
pub struct GpuKrylov<'o, 'a, 's, T: Scalar> {
    gpu: Gpu,
    stream: GpuStream,
    algebra: GpuAlgebra,
    operator: Source<'o, 'a, T>,
    inverse: Option<Source<'o, 's, T>>,
    n: usize,
    columns: usize,
    terms_norm: f64,
    memory: DeviceMemory,
    /// Sums of the pieces of rows, number by number.
    partials: DeviceMemory,
    /// Totals and records of steps, F64.
    totals: DeviceMemory,
    /// Workspace of steps that take one launch; `None` if the kernel cannot take so many columns.
    steps: Option<Steps>,
    /// Event behind the work that was enqueued before the last call of [`Krylov::pace`].
    mark: Option<Event>,
    /// Two vectors on the host, for operators that multiply there; else empty.
    host: [Vec<T>; 2],
    /// The ranges of rows of an operator that has only some of them.
    rows: Option<&'a [Range<usize>]>,
}

/// Where the operator's products are computed.
enum Source<'o, 'a, T: Scalar> {
    Device(Box<DeviceOperator<'o, T>>),
    Host(&'o mut Symmetric<'a, T>),
}

impl<'o, 'a, T: Scalar> Source<'o, 'a, T> {
    /// On the device if the operator can multiply there and `on_host` is false.
    fn new(gpu: &Gpu, stream: &GpuStream, operator: &'o mut Symmetric<'a, T>, on_host: bool) -> Result<Self> {
        if on_host || operator.is_on_host()? {
            return Ok(Self::Host(operator));
        }
        DeviceOperator::new(gpu, stream, operator).map(|made| Self::Device(Box::new(made)))
    }
}

/// The memory of column `j` of the space.
fn column<T: Scalar>(memory: &DeviceMemory, n: usize, j: usize) -> Result<Region<'_>> {
    columns::<T>(memory, n, j, 1)
}

fn columns<T: Scalar>(memory: &DeviceMemory, n: usize, first: usize, count: usize) -> Result<Region<'_>> {
    memory.region(first * n * size_of::<T>(), count * n * size_of::<T>())
}

impl<'o, 'a, 's, T: Scalar> GpuKrylov<'o, 'a, 's, T> {
    /// Allocates `columns` vectors. `inverse` is the caller's solve with the operator.
    ///
    /// # Errors
    /// Out of memory on the device or the host; [`Error::NoDevice`] without cuBLAS.
    pub fn new(
        context: &Arc<Context>,
        operator: &'o mut Symmetric<'a, T>,
        inverse: Option<&'o mut Symmetric<'s, T>>,
        columns: usize,
    ) -> Result<Self> {
        let gpu = context.gpu("operator")?;
        let (columns, is_sampled) = (columns.max(3), operator.take_sampled());
        let stream = gpu.default_stream();
        let (n, rows, terms_norm) = (operator.order(), operator.rows(), operator.terms_norm());
        let memory =
            gpu.allocate_uninitialised_on(stream, WHAT, product(WHAT, product(WHAT, n, columns)?, size_of::<T>())?)?;
        let numbers = parts(T::DTYPE) * columns + 2;
        let partials = gpu.allocate_uninitialised_on(stream, WHAT, product(WHAT, 8 * numbers, pieces(n))?)?;
        let totals = gpu.allocate_on(stream, WHAT, product(WHAT, 8 * Self::most_totals(columns), columns)?)?;
        // An inverse takes vectors in the matrix's order. Vectors have that order on the host.
        let is_reordered = operator.renumbering().is_some();
        let operator = Source::new(gpu, stream, operator, false)?;
        let inverse = inverse.map(|inverse| Source::new(gpu, stream, inverse, is_reordered)).transpose()?;
        let is_on_host = matches!(operator, Source::Host(_)) || matches!(inverse, Some(Source::Host(_)));
        let buffer = || alloc::filled(WHAT, if is_on_host { n } else { 0 }, T::default());
        let host = [buffer()?, buffer()?];
        let mut made = Self {
            gpu: gpu.clone(),
            stream: stream.clone(),
            algebra: GpuAlgebra::new(context, gpu, stream)?,
            operator,
            inverse,
            n,
            columns,
            terms_norm,
            memory,
            partials,
            totals,
            steps: Steps::new::<T>(gpu, stream, n, columns)?,
            mark: None,
            host,
            rows,
        };
        if is_sampled {
            made.sample()?;
        }
        Ok(made)
    }

    /// Called after step `at` is enqueued; calls [`Krylov::pace`] every [`PACE`] steps.
    fn pace_step(&mut self, at: usize, poll: &mut Poll<'_>) -> Result<()> {
        if at % PACE == PACE - 1 { self.pace(poll) } else { Ok(()) }
    }

    /// Waits until all enqueued work is done, and calls `poll` meanwhile.
    fn wait(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        self.mark = None;
        self.stream.record()?.synchronize_with(poll)
    }

    fn column(&self, j: usize) -> Result<Region<'_>> {
        column::<T>(&self.memory, self.n, j)
    }

    fn view(&self, first: usize, count: usize) -> Result<View<'_>> {
        Ok(View::packed(columns::<T>(&self.memory, self.n, first, count)?, self.n, count))
    }

    /// The memory of `count` totals from number `at` on.
    fn totals(&self, at: usize, count: usize) -> Result<Region<'_>> {
        self.totals.region(8 * at, 8 * count)
    }

    /// Runs `work` on host copies of two columns and copies the second one back. With `keeps`, the second one is read
    /// first.
    fn on_host(
        &mut self,
        (from, to): (usize, usize),
        keeps: bool,
        work: impl FnOnce(&mut Self, &[T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let [mut x, mut y] = std::mem::take(&mut self.host);
        let done = self.read(from, &mut x).and_then(|()| {
            if keeps {
                self.read(to, &mut y)?;
            }
            work(self, &x, &mut y)?;
            self.write(&y, to)
        });
        self.host = [x, y];
        done
    }

    /// Products of columns by an operator on the host, in one call of it.
    fn apply_block_on_host(&mut self, from: usize, to: usize, count: usize) -> Result<()> {
        let buffer = || alloc::filled(WHAT, product(WHAT, self.n, count)?, T::default());
        let (mut x, mut y) = (buffer()?, buffer()?);
        for (j, x) in x.chunks_exact_mut(self.n).enumerate() {
            self.read(from + j, x)?;
        }
        if let Source::Host(operator) = &mut self.operator {
            operator.apply_block(&x, count, &mut y)?;
        }
        y.chunks_exact(self.n).enumerate().try_for_each(|(j, y)| self.write(y, to + j))
    }

    /// A copy of numbers on the device, in the order of the stream.
    fn numbers<E: Element>(&self, values: &[E]) -> Result<DeviceMemory> {
        let mut memory = self.gpu.allocate_uninitialised_on(&self.stream, WHAT, size_of_val(values))?;
        self.gpu.store_numbers(&self.stream, values, &mut memory, 0)?;
        Ok(memory)
    }
}

impl<T: Scalar> Krylov for GpuKrylov<'_, '_, '_, T> {
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
                self.algebra.draw::<T>(View::packed(part, rows.len(), 1), &sketch, to_u64(rows.start), vector)?;
                at += rows.len();
            }
            return Ok(());
        }
        let Some(order) = self.renumbering().cloned() else {
            return self.algebra.draw::<T>(self.view(to, 1)?, &sketch, 0, vector);
        };
        // Draw in the matrix's order, so that a row's number does not depend on the order of the columns.
        let drawn = self.new_vector()?;
        self.algebra.draw::<T>(View::packed(drawn.whole(), self.n, 1), &sketch, 0, vector)?;
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

    fn extend(&mut self, space: Space, (from, to): (usize, usize), poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        if !self.defers() {
            return extend_once(self, space, (from, to), poll);
        }
        if self.steps.is_some() {
            return self.run_steps(space, (from, to), None, poll);
        }
        let first = space.locked + from;
        for j in from..to {
            let v = space.locked + j;
            self.apply(v, v + 1)?;
            self.defer(v + 1, j - from)?;
            self.pace_step(j - from, poll)?;
        }
        self.wait(poll)?;
        Ok(space.sound(self.records(first + 1, to - from)?))
    }

    fn defers(&self) -> bool {
        // Do not call a caller's function with columns computed from a remainder that is rounding error only.
        let is_there = matches!(self.operator, Source::Device(_));
        is_there && !matches!(self.inverse, Some(Source::Host(_)))
    }

    fn defer(&mut self, column: usize, at: usize) -> Result<()> {
        self.enqueue((0, column), column, at, true)
    }

    fn pace(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        if let Err(error) = poll() {
            // Enqueued work reads the caller's arrays until it is done.
            self.stream.synchronize()?;
            return Err(error);
        }
        let mark = self.stream.record()?;
        match self.mark.replace(mark) {
            Some(earlier) => earlier.synchronize_with(poll),
            None => Ok(()),
        }
    }

    fn deferred(&mut self, first: usize, steps: usize, poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        self.wait(poll)?;
        self.records(first, steps)
    }

    fn extend_block(
        &mut self,
        locked: usize,
        (from, to): (usize, usize),
        b: usize,
        poll: &mut Poll<'_>,
    ) -> Result<Vec<BlockStep<T::Wide>>> {
        if !self.defers() {
            return Ok(Vec::new());
        }
        self.block_steps(locked, (from, to), b, poll)
    }

    fn extend_watched(
        &mut self,
        space: Space,
        (from, m): (usize, usize),
        t: &[T::Wide],
        poll: &mut Poll<'_>,
    ) -> Result<Option<Vec<Projection>>> {
        match self.steps {
            Some(_) if self.defers() => self.run_steps(space, (from, m), Some(t), poll).map(Some),
            _ => Ok(None),
        }
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

    fn recur(
        &mut self,
        first: usize,
        (from, to): (usize, usize),
        beta: f64,
        coordinates: Option<&[Vec<f64>]>,
        poll: &mut Poll<'_>,
    ) -> Result<Vec<(f64, f64)>> {
        if self.steps.is_some() {
            return self.recurrence(first, (from, to), coordinates, poll);
        }
        recur_once(self, first, from, beta, coordinates)
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
        let turn = self.algebra.upload("turn of a space", m, l, &turn, m)?;
        let buffer: GpuMatrix<T> = self.algebra.uninitialised(WHAT, TURN.min(n), l)?;
        let (all, target) = (self.view(first, m)?, self.view(first, l)?);
        for row in (0..n).step_by(TURN) {
            let rows = TURN.min(n - row);
            let turned = buffer.view().rows::<T>(0, rows)?;
            let part = all.rows::<T>(row, rows)?;
            let turn = GpuMatrix::<T>::view(&turn);
            self.algebra.blas().multiply::<T>(1.0, part, Transpose::Plain, turn, Transpose::Plain, 0.0, turned)?;
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

    fn residuals(&mut self, first: usize, values: &[f64], work: usize) -> Result<Vec<f64>> {
        let mut residuals = alloc::filled(WHAT, values.len(), 0.0)?;
        let mut weights = alloc::filled(WHAT, 2 * values.len(), 0.0)?;
        weights.iter_mut().step_by(2).zip(values).for_each(|(weight, value)| *weight = *value);
        let weights = self.numbers(&weights)?;
        for i in 0..values.len() {
            self.apply(first + i, work)?;
            self.enqueue_distance(work, weights.region(16 * i, 16)?, first + i, i)?;
        }
        self.gpu.load_numbers(&self.stream, &self.totals, 0, &mut residuals)?;
        residuals.iter_mut().for_each(|r| *r = r.sqrt());
        Ok(residuals)
    }

    fn oriented(&mut self, first: usize, to: &mut [T]) -> Result<()> {
        let (n, count) = (self.n, to.len() / self.n);
        self.put_back(first, count)?;
        let own = columns::<T>(&self.memory, n, first, count)?;
        let workspace = self.gpu.allocate_uninitialised_on(&self.stream, WHAT, orient_workspace(count)?)?;
        orient(T::DTYPE, &self.gpu, &self.stream, own, n, count, (own, n), workspace.whole())?;
        self.gpu.load_numbers(&self.stream, &self.memory, first * n * size_of::<T>(), to)
    }

    fn deliver(&mut self, first: usize, count: usize, to: &mut DenseMut<'_>) -> Result<()> {
        if to.order != Order::ColumnMajor {
            return Err(Error::NotSupported("vectors: are row-major on a device, column-major ones are needed".into()));
        }
        self.put_back(first, count)?;
        let own = columns::<T>(&self.memory, self.n, first, count)?;
        let workspace = self.gpu.allocate_uninitialised_on(&self.stream, WHAT, orient_workspace(count)?)?;
        let target = (to.memory.device("vectors")?.whole(), to.layout.strides()[1]);
        orient(T::DTYPE, &self.gpu, &self.stream, own, self.n, count, target, workspace.whole())?;
        self.stream.synchronize()
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
