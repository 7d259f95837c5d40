//! The loops of a Krylov space on the device, whose steps are enqueued without waiting for their figures.

use super::space::{GpuKrylov, Source, WHAT, columns};
use crate::alloc;
use crate::backend::gpu::kernels::lanczos::{orient, orient_workspace};
use crate::error::{Error, Result};
use crate::lanczos::cycles::{Cycles, extend_once, recur_once};
use crate::lanczos::ops::{BlockStep, LanczosOps, Poll, Projection, Space};
use crate::matrix::DenseMut;
use crate::scalar::Scalar;
use crate::shape::Order;

impl<T: Scalar> Cycles for GpuKrylov<'_, '_, '_, T> {
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
}
