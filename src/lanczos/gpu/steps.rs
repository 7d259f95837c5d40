//! The steps of a cycle: a product and one launch each, whose numbers stay on the device until the cycle is over.

use super::{GpuKrylov, WHAT, columns};
use crate::alloc;
use crate::backend::gpu::kernels::lanczos::{RECORD, Step, Watch, estimates, step, step_blocks, step_room};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::error::Result;
use crate::lanczos::krylov::{Krylov, Projection, Space};
use crate::scalar::Scalar;
use crate::shape::product;

/// What steps work in.
pub(super) struct Steps {
    blocks: usize,
    partials: DeviceMemory,
    arrivals: DeviceMemory,
    records: DeviceMemory,
}

/// What watches the orthogonality of a space: the projected matrix, and estimates in two places by turns.
struct Estimates {
    basis: usize,
    projected: DeviceMemory,
    places: DeviceMemory,
}

impl Steps {
    /// Room for steps on `columns` vectors of `n` numbers; `None` where one launch cannot take so many.
    pub(super) fn new<T: Scalar>(gpu: &Gpu, stream: &GpuStream, n: usize, columns: usize) -> Result<Option<Self>> {
        let blocks = step_blocks::<T>(gpu, n, columns)?;
        if blocks == 0 {
            return Ok(None);
        }
        Ok(Some(Self {
            blocks,
            partials: gpu.allocate_uninitialised_on(stream, WHAT, step_room::<T>(blocks, columns)?)?,
            arrivals: gpu.allocate_on(stream, WHAT, 8)?,
            records: gpu.allocate_uninitialised_on(stream, WHAT, product(WHAT, 8 * RECORD, columns)?)?,
        }))
    }
}

impl<T: Scalar> GpuKrylov<'_, '_, '_, T> {
    /// Estimates for a space that begins at step `first`, orthogonal to the vectors before it.
    fn estimates(&self, space: Space, first: usize, m: usize, t: &[T::Wide]) -> Result<Estimates> {
        let mut projected = alloc::with_capacity(WHAT, m * m)?;
        projected.extend(t.iter().map(|v| v.re()));
        let length = estimates(m);
        let mut begin = alloc::filled(WHAT, 2 * length, 0.0)?;
        let last = &mut begin[m + 1..2 * (m + 1)];
        last[..first].fill(space.epsilon);
        last[first] = 1.0;
        begin[2 * (m + 1)] = space.norm;
        Ok(Estimates { basis: m, projected: self.numbers(&projected)?, places: self.numbers(&begin)? })
    }

    /// Steps `from .. to`, the first of which makes its vector orthogonal to all others whatever they have along it. With `t`
    /// the others do so where the estimate says that it is due, else always.
    pub(super) fn march(
        &mut self,
        mut space: Space,
        (from, to): (usize, usize),
        t: Option<&[T::Wide]>,
    ) -> Result<Vec<Projection>> {
        let n = self.n;
        let watched = t.map(|t| self.estimates(space, from, to, t)).transpose()?;
        for j in from..to {
            let v = space.locked + j;
            self.apply(v, v + 1)?;
            let Some(own) = &self.steps else { break };
            let at = j - from;
            let record = |at: usize| own.records.region(8 * RECORD * at, 8 * RECORD);
            let watch = match &watched {
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
                        epsilon: space.epsilon,
                    })
                }
            };
            let one = Step {
                space: columns::<T>(&self.memory, n, 0, v + 2)?,
                rows: n,
                column: v,
                blocks: own.blocks,
                partials: own.partials.whole(),
                arrivals: own.arrivals.whole(),
                record: record(at)?,
                previous: if at == 0 { None } else { Some(record(at - 1)?) },
                watch,
            };
            step::<T>(&self.gpu, &self.stream, one)?;
        }
        let Some(own) = &self.steps else { return alloc::with_capacity(WHAT, 0) };
        let mut read = alloc::filled(WHAT, (to - from) * RECORD, 0.0f64)?;
        self.gpu.load_numbers(&self.stream, &own.records, 0, &mut read)?;
        let mut steps = alloc::with_capacity(WHAT, to - from)?;
        for r in read.chunks_exact(RECORD) {
            let found = Projection { along: r[0], before: r[1], after: r[2] };
            steps.push(found);
            space.norm = space.norm.max(found.before);
            // What was computed from rounding alone is never looked at.
            if found.after.is_nan() || space.is_rounding(found.after) {
                break;
            }
        }
        Ok(steps)
    }
}
