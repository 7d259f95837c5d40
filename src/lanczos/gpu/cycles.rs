//! The loops of a Krylov space on the device, whose steps are enqueued without waiting for their figures.

use super::blocks::block_figures;
use super::space::{GpuKrylov, Krylov, WHAT, columns};
use crate::alloc;
use crate::backend::gpu::kernels::lanczos::{orient, orient_workspace};
use crate::error::{Error, Result};
use crate::lanczos::cycles::{Cycles, extend_once, recur_once};
use crate::lanczos::ops::{BlockStep, Poll, Projection, Space};
use crate::matrix::DenseMut;
use crate::scalar::Scalar;
use crate::shape::Order;

impl Krylov<'_> {
    fn defers(&self) -> bool {
        // Do not call a caller's function with columns computed from a remainder that is rounding error only.
        self.operator.is_some() && !self.inverts_on_host
    }

    /// [`Cycles::extend`] where [`Cycles::defers`].
    fn extend(&mut self, space: Space, (from, to): (usize, usize), poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        if self.steps.is_some() {
            return self.run_steps(space, (from, to), None, poll);
        }
        let first = space.locked + from;
        for j in from..to {
            let v = space.locked + j;
            self.apply(v, v + 1)?;
            self.enqueue((0, v + 1), v + 1, j - from, true)?;
            self.pace_step(j - from, poll)?;
        }
        self.wait(poll)?;
        Ok(space.sound(self.records(first + 1, to - from)?))
    }

    fn residuals(&mut self, first: usize, values: &[f64], work: usize) -> Result<Vec<f64>> {
        let mut residuals = alloc::filled(WHAT, values.len(), 0.0f64)?;
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

    /// Turns `count` columns from `first` on, in the matrix's order, as [`Cycles::oriented`] does, in place.
    fn orient(&mut self, first: usize, count: usize) -> Result<()> {
        self.put_back(first, count)?;
        let (n, own) = (self.n, columns(&self.memory, self.dtype, self.n, first, count)?);
        let workspace = self.gpu.allocate_uninitialized_on(&self.stream, WHAT, orient_workspace(count)?)?;
        orient(self.dtype, &self.gpu, &self.stream, own, n, count, (own, n), workspace.whole())
    }

    fn deliver(&mut self, first: usize, count: usize, to: &mut DenseMut<'_>) -> Result<()> {
        if to.order != Order::ColumnMajor {
            return Err(Error::NotSupported("vectors: are row-major on a device, column-major ones are needed".into()));
        }
        self.put_back(first, count)?;
        let own = columns(&self.memory, self.dtype, self.n, first, count)?;
        let workspace = self.gpu.allocate_uninitialized_on(&self.stream, WHAT, orient_workspace(count)?)?;
        let target = (to.memory.device("vectors")?.whole(), to.layout.strides()[1]);
        orient(self.dtype, &self.gpu, &self.stream, own, self.n, count, target, workspace.whole())?;
        self.stream.synchronize()
    }
}

impl<T: Scalar> Cycles for GpuKrylov<'_, T> {
    fn extend(&mut self, space: Space, (from, to): (usize, usize), poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        if !self.defers() {
            return extend_once(self, space, (from, to), poll);
        }
        self.space.extend(space, (from, to), poll)
    }

    fn defers(&self) -> bool {
        self.space.defers()
    }

    fn defer(&mut self, column: usize, at: usize) -> Result<()> {
        self.space.enqueue((0, column), column, at, true)
    }

    fn pace(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        self.space.pace(poll)
    }

    fn deferred(&mut self, first: usize, steps: usize, poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        self.space.wait(poll)?;
        self.space.records(first, steps)
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
        let read = self.space.block_steps(locked, (from, to), b, poll)?;
        block_figures(&read, T::DTYPE, locked, (from, to), b)
    }

    fn extend_watched(
        &mut self,
        space: Space,
        (from, m): (usize, usize),
        t: &[T::Wide],
        poll: &mut Poll<'_>,
    ) -> Result<Option<Vec<Projection>>> {
        if self.space.steps.is_none() || !self.defers() {
            return Ok(None);
        }
        let mut projected = alloc::with_capacity(WHAT, m * m)?;
        projected.extend(t.iter().map(|v| v.re()));
        self.space.run_steps(space, (from, m), Some(&projected), poll).map(Some)
    }

    fn recur(
        &mut self,
        first: usize,
        (from, to): (usize, usize),
        beta: f64,
        coordinates: Option<&[Vec<f64>]>,
        poll: &mut Poll<'_>,
    ) -> Result<Vec<(f64, f64)>> {
        if self.space.steps.is_some() {
            return self.space.recurrence(first, (from, to), coordinates, poll);
        }
        recur_once(self, first, from, beta, coordinates)
    }

    fn residuals(&mut self, first: usize, values: &[f64], work: usize) -> Result<Vec<f64>> {
        self.space.residuals(first, values, work)
    }

    fn oriented(&mut self, first: usize, to: &mut [T]) -> Result<()> {
        let space = &mut self.space;
        space.orient(first, to.len() / space.n)?;
        space.gpu.load_numbers(&space.stream, &space.memory, first * space.n * size_of::<T>(), to)
    }

    fn deliver(&mut self, first: usize, count: usize, to: &mut DenseMut<'_>) -> Result<()> {
        self.space.deliver(first, count, to)
    }
}
