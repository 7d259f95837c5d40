//! The steps of a cycle. Each is a product and one launch; its numbers stay on the device until the cycle is over. A
//! cycle that repeats the steps of the one before is launched as a CUDA graph.
//!
//! `host.rs`, `space.rs` and `steps.rs` import each other: the steps of a cycle are methods of the Krylov space that holds
//! their graph, and the products of the host read and write columns of the space that holds them.

use std::time::{Duration, Instant};

use super::operator::DeviceOperator;
use super::space::{Krylov, WHAT, columns};
use crate::alloc;
use crate::backend::gpu::kernels::lanczos::{
    Columns, RECORD, Step, Watch, estimates, step, step_blocks, step_workspace,
};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Graph};
use crate::error::{Error, Result};
use crate::lanczos::cycles::coordinates_of;
use crate::lanczos::ops::{Poll, Projection, Space};
use crate::scalar::DType;
use crate::shape::product;

/// Steps of the plain recurrence that are enqueued before the host reads their records.
const STRETCH: usize = 64;

/// Workspace of the enqueued steps, shared by all cycles.
pub(super) struct Steps {
    blocks: usize,
    partials: DeviceMemory,
    arrivals: DeviceMemory,
    records: DeviceMemory,
    watched: Option<Estimates>,
    last: Option<Repeated>,
}

/// The last cycle's steps, how often they were repeated, and their recorded graph.
struct Repeated {
    stretch: Stretch,
    times: usize,
    /// Duration of the last cycle. A recorded cycle cannot be cancelled before its end.
    duration: Duration,
    graph: Option<Graph>,
}

/// Longer cycles are not recorded: compared with their steps, the time of the launches is negligible.
const LONGEST_RECORDED: Duration = Duration::from_millis(50);

/// Equal cycles after which the next one is recorded. After so many, more are likely; recording takes as long as
/// enqueuing.
const RECORDED_AFTER: usize = 3;

/// Estimates of the orthogonality of a space: the projected matrix, and two sets of estimates that steps write
/// alternately.
struct Estimates {
    basis: usize,
    projected: DeviceMemory,
    places: DeviceMemory,
}

/// The steps of a cycle. Equal values enqueue the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    locked: usize,
    from: usize,
    to: usize,
    is_watched: bool,
}

impl Steps {
    /// Allocates the workspace of steps on `columns` vectors of `n` numbers; `None` if one launch cannot take so many.
    pub(super) fn new(dtype: DType, gpu: &Gpu, stream: &GpuStream, n: usize, columns: usize) -> Result<Option<Self>> {
        let blocks = step_blocks(dtype, gpu, n, columns)?;
        if blocks == 0 {
            return Ok(None);
        }
        let [partials, arrivals, records] = Self::lengths(dtype, blocks, columns)?;
        Ok(Some(Self {
            blocks,
            partials: gpu.allocate_uninitialized_on(stream, WHAT, partials)?,
            arrivals: gpu.allocate_on(stream, WHAT, arrivals)?,
            records: gpu.allocate_uninitialized_on(stream, WHAT, records)?,
            watched: None,
            last: None,
        }))
    }

    /// Bytes of the partial sums of `blocks` blocks, of their counter, and of the records.
    fn lengths(dtype: DType, blocks: usize, columns: usize) -> Result<[usize; 3]> {
        let records = product(WHAT, 8 * RECORD, columns.max(STRETCH))?;
        Ok([step_workspace(dtype, blocks, columns)?, 8, records])
    }

    /// Bytes that [`Steps::new`] allocates.
    pub(super) fn bytes(dtype: DType, gpu: &Gpu, n: usize, columns: usize) -> Result<usize> {
        match step_blocks(dtype, gpu, n, columns)? {
            0 => Ok(0),
            blocks => Ok(Self::lengths(dtype, blocks, columns)?.into_iter().fold(0, usize::saturating_add)),
        }
    }

    /// Bytes of the estimates for a space of `basis` vectors.
    pub(super) fn watched_bytes(basis: usize) -> usize {
        basis.saturating_mul(basis).saturating_add(estimates(basis).saturating_mul(2)).saturating_mul(8)
    }

    /// Initializes the estimates for a space of `m` vectors that begins at step `first`, whose vector is orthogonal to
    /// those before it. `projected` is the projected matrix.
    fn watch(
        &mut self,
        (gpu, stream): (&Gpu, &GpuStream),
        space: Space,
        first: usize,
        m: usize,
        projected: &[f64],
    ) -> Result<()> {
        let length = estimates(m);
        let mut begin = alloc::filled(WHAT, 2 * length, 0.0)?;
        let last = &mut begin[m + 1..2 * (m + 1)];
        last[..first].fill(space.epsilon);
        last[first] = 1.0;
        begin[2 * (m + 1)] = space.norm;
        if self.watched.as_ref().is_none_or(|w| w.basis != m) {
            // A recorded graph has the addresses of the old arrays.
            self.last = None;
            self.watched = None;
            let memory = |numbers: &[f64]| gpu.allocate_uninitialized_on(stream, WHAT, size_of_val(numbers));
            self.watched = Some(Estimates { basis: m, projected: memory(projected)?, places: memory(&begin)? });
        }
        let Some(own) = &mut self.watched else { return Ok(()) };
        gpu.store_numbers(stream, projected, &mut own.projected, 0)?;
        gpu.store_numbers(stream, &begin, &mut own.places, 0)
    }
}

impl Krylov<'_> {
    /// Runs steps `from .. to`. The first makes its vector orthogonal to all others. Later ones do so when the estimate
    /// asks for it with `t`, the real parts of the projected matrix, and always without `t`.
    pub(super) fn run_steps(
        &mut self,
        mut space: Space,
        (from, to): (usize, usize),
        t: Option<&[f64]>,
        poll: &mut Poll<'_>,
    ) -> Result<Vec<Projection>> {
        if let (Some(t), Some(own)) = (t, &mut self.steps) {
            own.watch((&self.gpu, &self.stream), space, from, to, t)?;
        }
        let stretch = Stretch { locked: space.locked, from, to, is_watched: t.is_some() };
        let last = self.steps.as_mut().and_then(|own| own.last.take()).filter(|last| last.stretch == stretch);
        let mut repeated = last.unwrap_or(Repeated { stretch, times: 0, duration: Duration::ZERO, graph: None });
        let repeats =
            self.operator.as_ref().is_some_and(|operator| operator.repeats()) && repeated.duration < LONGEST_RECORDED;
        if repeated.times == RECORDED_AFTER && repeats {
            let gpu = self.gpu.clone();
            repeated.graph =
                Graph::record(&gpu, |stream| self.on(stream, |own| own.enqueue_steps(stretch, space.epsilon, None)))?;
        }
        repeated.times += 1;
        let begin = Instant::now();
        match &mut repeated.graph {
            Some(graph) => graph.launch(&self.stream)?,
            None => self.enqueue_steps(stretch, space.epsilon, Some(&mut *poll))?,
        }
        self.wait(poll)?;
        repeated.duration = begin.elapsed();
        let Some(own) = &mut self.steps else { return alloc::with_capacity(WHAT, 0) };
        own.last = Some(repeated);
        let found = self.step_records(to - from)?;
        let end = found.iter().position(|found| {
            space.norm = space.norm.max(found.before);
            // Drop the steps that were computed from a remainder of rounding error only.
            found.after.is_nan() || space.is_rounding(found.after)
        });
        let mut steps = found;
        steps.truncate(end.map_or(to - from, |end| end + 1));
        Ok(steps)
    }

    /// Reads the first `count` records.
    fn step_records(&self, count: usize) -> Result<Vec<Projection>> {
        let Some(own) = &self.steps else { return alloc::with_capacity(WHAT, 0) };
        let mut read = alloc::filled(WHAT, count * RECORD, 0.0f64)?;
        self.gpu.load_numbers(&self.stream, &own.records, 0, &mut read)?;
        let mut found = alloc::with_capacity(WHAT, count)?;
        found.extend(read.chunks_exact(RECORD).map(|r| Projection { along: r[0], before: r[1], after: r[2] }));
        Ok(found)
    }

    /// Runs `work` while `stream` replaces the stream of the space and of the operator.
    fn on(&mut self, stream: &GpuStream, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let own = self.stream.clone();
        self.move_to(stream);
        let done = work(self);
        self.move_to(&own);
        done
    }

    /// Whether the last cycle was launched as a graph.
    #[cfg(test)]
    pub(super) fn is_recorded(&self) -> bool {
        let last = self.steps.as_ref().and_then(|own| own.last.as_ref());
        last.is_some_and(|last| last.graph.is_some())
    }

    fn move_to(&mut self, stream: &GpuStream) {
        self.stream = stream.clone();
        if let Some(operator) = &mut self.operator {
            DeviceOperator::move_to(operator, stream);
        }
    }

    /// Enqueues steps. With `poll`, the host stays only a few steps ahead of the device.
    fn enqueue_steps(&mut self, stretch: Stretch, epsilon: f64, mut poll: Option<&mut Poll<'_>>) -> Result<()> {
        let Stretch { locked, from, to, is_watched } = stretch;
        for j in from..to {
            let (v, at) = (locked + j, j - from);
            self.apply(v, v + 1)?;
            let Some(own) = &self.steps else { break };
            let watch = match own.watched.as_ref().filter(|_| is_watched) {
                None => None,
                Some(e) => {
                    let length = 8 * estimates(e.basis);
                    let place = |turn: usize| e.places.region(length * (turn % 2), length);
                    Some(Watch {
                        step: j,
                        basis: e.basis,
                        projected: e.projected.whole(),
                        before: place(at)?,
                        after: place(at + 1)?,
                        epsilon,
                    })
                }
            };
            let space = columns(&self.memory, self.dtype, self.n, 0, v + 2)?;
            let previous = if at == 0 { None } else { Some(at - 1) };
            self.enqueue_step(Columns::InOrder { space, column: v }, at, previous, watch)?;
            if let Some(poll) = &mut poll {
                self.pace_step(at, poll)?;
            }
        }
        Ok(())
    }

    /// As [`recur`](crate::lanczos::cycles::Cycles::recur). No figures are copied to the host before all enqueued work is done.
    pub(super) fn recurrence(
        &mut self,
        first: usize,
        (from, to): (usize, usize),
        coordinates: Option<&[Vec<f64>]>,
        poll: &mut Poll<'_>,
    ) -> Result<Vec<(f64, f64)>> {
        // A step reads the coefficient of the vector before the last on the device and subtracts that vector. So three
        // columns are used in turn.
        let column = |j: usize| first + j % 3;
        let end = to.min(from + STRETCH);
        for j in from..end {
            let (v, w) = (column(j), column(j + 1));
            if let Some(weights) = coordinates_of(coordinates, j)? {
                self.spread(v, &weights, 0, j > 0)?;
            }
            self.apply(v, w)?;
            let columns =
                Columns::Three { before: self.column(column(j + 2))?, last: self.column(v)?, product: self.column(w)? };
            self.enqueue_step(columns, j % STRETCH, j.checked_sub(1).map(|j| j % STRETCH), None)?;
            self.pace_step(j - from, poll)?;
        }
        self.wait(poll)?;
        let found = self.step_records(end - from)?;
        let mut pairs = alloc::with_capacity(WHAT, found.len())?;
        pairs.extend(found.iter().map(|found| (found.along, found.after)));
        Ok(pairs)
    }

    /// Enqueues the kernel that follows the product in a step. It writes record `at`; `previous` is the record of the
    /// step before.
    fn enqueue_step(
        &self,
        columns: Columns<'_>,
        at: usize,
        previous: Option<usize>,
        watch: Option<Watch<'_>>,
    ) -> Result<()> {
        let Some(own) = &self.steps else { return Err(Error::Internal("steps without their space".into())) };
        let record = |at: usize| own.records.region(8 * RECORD * at, 8 * RECORD);
        let one = Step {
            columns,
            rows: self.n,
            blocks: own.blocks,
            partials: own.partials.whole(),
            arrivals: own.arrivals.whole(),
            record: record(at)?,
            previous: previous.map(record).transpose()?,
            watch,
        };
        step(self.dtype, &self.gpu, &self.stream, one)
    }
}
