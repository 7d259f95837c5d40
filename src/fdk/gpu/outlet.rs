//! Conversion and download of slices.

use std::sync::Arc;

use super::buffers::unprepared;
use super::clock::Stage;
use super::launch::raw;
use super::state::{DOWNLOAD, GpuOps};
use crate::alloc;
use crate::backend::gpu::kernels::fdk::{Fov, Store};
use crate::backend::gpu::{Region, Staging};
use crate::blocks::number::Number;
use crate::error::{Error, Result};
use crate::fdk::ops::{FdkOps, Job, Target};
use crate::fdk::plan::Plan;
use crate::shape::to_u64;

impl GpuOps {
    /// Enqueues the conversion and the copy of finished slices to their destination.
    pub(super) fn bring_out(
        &mut self,
        job: Job<'_>,
        first: usize,
        count: usize,
        to: Target<'_, '_, Staging>,
    ) -> Result<()> {
        let plan = job.plan;
        let [nx, ny, _] = plan.grid.size;
        let slice = nx * ny * 4;
        let inside = |p: &(usize, usize, usize)| first >= p.0 && first + count <= p.0 + p.1;
        let Some((start, _, begin)) = self.pieces(job, slice).into_iter().find(inside) else {
            return Err(Error::Internal(format!("slices {first} to {} of another slab", first + count)));
        };
        let at = begin + (first - start) * slice;
        let streams = Arc::clone(&self.streams);
        streams.download.wait_for(&streams.compute)?;
        let gpu = self.gpu.clone();
        let number = self.output;
        let bytes = count * nx * ny * number.size();
        match to {
            Target::Device(volume) => {
                let buffers = self.buffers.as_ref().ok_or_else(unprepared)?;
                let source = buffers.slab(job)?.region(at, count * slice)?;
                let output = volume.region(first * nx * ny * number.size(), bytes)?;
                if job.volume.is_none() || !plan.is_plain() {
                    let launches = stores(plan, number, first, count, (source, output, buffers.counters.whole()))?;
                    let stream = &streams.download;
                    self.clock
                        .span(Stage::Download, stream, || launches.iter().try_for_each(|s| s.run(&gpu, stream)))?;
                }
            }
            Target::Write(buffer) => {
                let is_converted = self.converted(job, at, first, count)?;
                let buffers = self.buffers.as_ref().ok_or_else(unprepared)?;
                let (memory, from) = buffers.outgoing(job, is_converted, at)?;
                self.clock.span(Stage::Download, &streams.download, || {
                    buffer.download(&streams.download, memory, from, 0, bytes)
                })?;
                self.tally.downloaded += to_u64(bytes);
            }
            Target::Borrowed(out, transfers) => {
                let transfers = transfers.ok_or_else(|| Error::Internal("borrowed memory without transfers".into()))?;
                // As many slices at a time as fit the memory for converted ones.
                let together = self.write_slices(plan).max(1);
                let mut rest = out;
                let mut done = 0;
                while done < count {
                    let part = if self.leaves_apart(plan) { together.min(count - done) } else { count };
                    let (head, tail) = rest.split_at_mut(part * nx * ny * number.size());
                    rest = tail;
                    let is_converted = self.converted(job, at + done * slice, first + done, part)?;
                    let buffers = self.buffers.as_ref().ok_or_else(unprepared)?;
                    let (memory, from) = buffers.outgoing(job, is_converted, at + done * slice)?;
                    self.clock.span(Stage::Download, &streams.download, || {
                        transfers.download(DOWNLOAD, memory, from, head)
                    })?;
                    done += part;
                }
                self.tally.downloaded += to_u64(bytes);
            }
        }
        let free = streams.download.record()?;
        self.buffers.as_mut().ok_or_else(unprepared)?.release_slab(free);
        Ok(())
    }

    /// Enqueues the conversion of a piece. Returns whether the result is in the memory for converted slices.
    fn converted(&mut self, job: Job<'_>, at: usize, first: usize, count: usize) -> Result<bool> {
        let plan = job.plan;
        let [nx, ny, _] = plan.grid.size;
        if plan.is_plain() && self.output == Number::F32 {
            return Ok(false);
        }
        let (gpu, output, apart) = (self.gpu.clone(), self.output, self.leaves_apart(plan));
        let buffers = self.buffers.as_mut().ok_or_else(unprepared)?;
        let bytes = count * nx * ny;
        if apart {
            buffers.make_converted(&gpu, bytes * output.size())?;
        }
        let source = buffers.slab(job)?.region(at, bytes * 4)?;
        let target = match &buffers.converted {
            Some(memory) if apart => memory.region(0, bytes * output.size())?,
            _ => source,
        };
        let launches = stores(plan, output, first, count, (source, target, buffers.counters.whole()))?;
        let stream = &self.streams.download;
        self.clock.span(Stage::Download, stream, || launches.iter().try_for_each(|s| s.run(&gpu, stream)))?;
        Ok(apart)
    }
}

/// The disc of slice `k` outside which voxels are zeroed, if the options ask for it.
fn fov(plan: &Plan, k: usize) -> Option<Fov> {
    let (origin, spacing) = (plan.grid.origin, plan.grid.spacing);
    plan.options.fov_mask.then(|| {
        let radius = plan.seen_radius(k);
        let centre = [-origin[0] / spacing[0], -origin[1] / spacing[1]];
        // If no view sees the slice, a point outside all voxels.
        let centre = if radius < 0.0 { [-1e9; 2] } else { centre };
        Fov { centre, radius: radius.max(0.0) / spacing[0], ratio: spacing[1] / spacing[0] }
    })
}

/// Conversion launches for slices from `first` on: one for all, or one each if every slice has its own disc.
fn stores<'a>(
    plan: &Plan,
    number: Number,
    first: usize,
    count: usize,
    (source, output, counters): (Region<'a>, Region<'a>, Region<'a>),
) -> Result<Vec<Store<'a>>> {
    let [nx, ny, _] = plan.grid.size;
    let (slice, size) = (nx * ny, number.size());
    let together = if plan.options.fov_mask { 1 } else { count.max(1) };
    let mut launches = alloc::with_capacity("launches", count.div_ceil(together))?;
    for k in (0..count).step_by(together) {
        launches.push(Store {
            source: source.part(k * slice * 4, together * slice * 4)?,
            size: [nx, ny, together],
            scale: plan.options.output_scale,
            offset: plan.options.output_offset,
            fov: fov(plan, first + k),
            output: output.part(k * slice * size, together * slice * size)?,
            number: raw(number),
            swap: false,
            counters,
        });
    }
    Ok(launches)
}
