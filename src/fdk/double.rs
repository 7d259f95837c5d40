//! FDK in double precision on the threads of a context: the reference implementation as [`FdkOps`].

use std::sync::Arc;

use super::counts::Counts;
use super::cpu::{Rows, encode_all, infinities, pipeline_bytes, timed, unprepared};
use super::cut::{Cut, Flow, Needs};
use super::limits::fits;
use super::ops::{FdkOps, Job, Pixels, Slices, Tally, Target, Watch};
use super::plan::{Batch, Plan};
use super::ramp::transform_bytes;
use super::reference::{backproject_view, filter_rows};
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::memory::{Charge, HostMemory};
use crate::blocks::number::Number;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// Elements of a slab that are zeroed between two looks.
const CLEARED: usize = 1 << 20;

/// The operations with all arithmetic in f64.
pub struct DoubleOps {
    context: Arc<Context>,
    counts: Option<Arc<Counts>>,
    input: Number,
    output: Number,
    slab: Option<HostMemory>,
    first: usize,
    count: usize,
    pixels: Option<HostMemory>,
    /// Whole panels; only the rows of the batch are filled.
    filtered: Option<HostMemory>,
    /// A scaled slice before conversion to the output type.
    scaled: Option<HostMemory>,
    /// For the transforms of all threads.
    transform_charge: Option<Charge>,
    tally: Tally,
}

impl DoubleOps {
    /// The operations on the threads of `context`.
    pub fn new(context: &Arc<Context>, counts: Option<Arc<Counts>>) -> Self {
        Self {
            context: Arc::clone(context),
            counts,
            input: Number::F32,
            output: Number::F32,
            slab: None,
            first: 0,
            count: 0,
            pixels: None,
            filtered: None,
            scaled: None,
            transform_charge: None,
            tally: Tally::default(),
        }
    }
}

impl FdkOps for DoubleOps {
    type Buffer = HostMemory;

    fn slice_group(&self) -> usize {
        1
    }

    fn preferred_slices(&self, plan: &Plan, _: Flow, _: Flow, devices: usize) -> (usize, usize) {
        let each = plan.grid.size[2].div_ceil(devices.max(1));
        (each, each)
    }

    fn preferred_batch(&self, _: &Plan, _: Flow) -> (usize, usize) {
        (16, 16)
    }

    fn write_slices(&self, _: &Plan) -> usize {
        16
    }

    fn needs(&self, plan: &Plan, cut: &Cut) -> Needs {
        let [nx, ny, _] = plan.grid.size;
        let pixels = cut.batch * cut.rows * plan.geometry.detector.columns;
        let numbers = nx * ny * (cut.first.max(cut.slices) + 1) + pixels + cut.batch * plan.filtered_pixels();
        let transforms = transform_bytes(plan.length, self.context.pool().threads());
        Needs { host: (8 * to_u64(numbers) + pipeline_bytes(plan, cut)).saturating_add(transforms), device: 0 }
    }

    fn buffer(&self, what: &'static str, bytes: usize) -> Result<HostMemory> {
        HostMemory::allocate(what, bytes, self.context.host_budget())
    }

    fn prepare(&mut self, job: Job<'_>, cut: &Cut) -> Result<()> {
        let plan = job.plan;
        (self.input, self.output) = (cut.input.number, cut.output.number);
        let budget = Arc::clone(self.context.host_budget());
        let allocate = |what, count: usize| HostMemory::allocate(what, 8 * count, &budget).map(Some);
        let [nx, ny, _] = plan.grid.size;
        (self.pixels, self.filtered, self.slab, self.scaled) = (None, None, None, None);
        self.pixels = allocate("line integrals", cut.batch * cut.rows * plan.geometry.detector.columns)?;
        self.filtered = allocate("filtered projections", cut.batch * plan.filtered_pixels())?;
        self.slab = allocate("slices of the volume", nx * ny * cut.first.max(cut.slices))?;
        self.scaled = allocate("slice on its way out", nx * ny)?;
        self.transform_charge = None;
        let transforms = usize::try_from(transform_bytes(plan.length, self.context.pool().threads()));
        self.transform_charge = Some(budget.charge_host("transforms of rows", transforms.unwrap_or(usize::MAX))?);
        Ok(())
    }

    fn begin(&mut self, _: Job<'_>, slices: Slices, watch: &mut Watch<'_>) -> Result<()> {
        let (first, count) = slices.main;
        (self.first, self.count) = (first, count);
        let slab = self.slab.as_mut().ok_or_else(unprepared)?.as_mut_slice::<f64>()?;
        watch.run(self.context.pool(), |poll| {
            slab.par_chunks_mut(CLEARED).try_for_each(|part| {
                poll()?;
                part.fill(0.0);
                Ok(())
            })
        })
    }

    fn add(
        &mut self,
        job: Job<'_>,
        batch: Batch<'_>,
        pixels: Pixels<'_, '_, HostMemory>,
        watch: &mut Watch<'_>,
    ) -> Result<()> {
        let plan = job.plan;
        if batch.rows == 0 {
            return Ok(());
        }
        let (context, tally) = (&*self.context, &mut self.tally);
        let panel = batch.rows * plan.geometry.detector.columns;
        let integrals = self.pixels.as_mut().ok_or_else(unprepared)?.as_mut_slice::<f64>()?;
        let integrals = &mut integrals[..batch.views.len() * panel];
        let filtered = self.filtered.as_mut().ok_or_else(unprepared)?.as_mut_slice::<f64>()?;
        let rows = match &pixels {
            Pixels::Read(buffer) => Rows { bytes: buffer.as_slice()?, is_whole_scan: false },
            Pixels::Borrowed(borrowed) => Rows { bytes: borrowed.scan, is_whole_scan: true },
            Pixels::Device { .. } => return Err(Error::Internal("projections on a device in a run on the CPU".into())),
        };
        let rows_filtered = batch.first_row * plan.columns..(batch.first_row + batch.rows) * plan.columns;
        timed(&mut tally.filter, || {
            let counts = self.counts.as_deref();
            tally.defects += rows.convert(context, plan, batch, self.input, counts, integrals, watch)?;
            watch.run(context.pool(), |poll| {
                for image in integrals.chunks_mut(panel) {
                    poll()?;
                    for p in image.iter_mut().filter(|p| !fits(**p, plan.largest_pixel)) {
                        tally.not_finite += 1;
                        *p = plan.options.not_finite();
                    }
                }
                filtered
                    .par_chunks_mut(plan.filtered_pixels())
                    .zip(integrals.par_chunks(panel))
                    .zip(batch.views)
                    .try_for_each(|((out, projection), &view)| {
                        filter_rows(plan, view, batch.first_row, projection, &mut out[rows_filtered.clone()], poll)
                    })
            })
        })?;
        let [nx, ny, _] = plan.grid.size;
        let slab = self.slab.as_mut().ok_or_else(unprepared)?.as_mut_slice::<f64>()?;
        let (slab, first) = (&mut slab[..self.count * nx * ny], self.first);
        timed(&mut tally.backproject, || {
            watch.run(context.pool(), |poll| {
                slab.par_chunks_mut(nx * ny).enumerate().try_for_each(|(k, slice)| {
                    filtered.chunks(plan.filtered_pixels()).zip(batch.views).try_for_each(|(filtered, &view)| {
                        backproject_view(plan, view, filtered, first + k, slice, poll)
                    })
                })
            })
        })
    }

    fn set_output(&mut self, number: Number) {
        self.output = number;
    }

    fn store(&mut self, job: Job<'_>, first: usize, count: usize, to: Target<'_, '_, HostMemory>) -> Result<()> {
        let plan = job.plan;
        let [nx, ny, _] = plan.grid.size;
        let out = match to {
            Target::Write(buffer) => buffer.as_mut_slice::<u8>()?,
            Target::Borrowed(out, _) => out,
            Target::Device(_) => return Err(Error::Internal("a volume on a device in a run on the CPU".into())),
        };
        let slab = self.slab.as_ref().ok_or_else(unprepared)?.as_slice::<f64>()?;
        let scaled = self.scaled.as_mut().ok_or_else(unprepared)?.as_mut_slice::<f64>()?;
        let first = first - self.first;
        let values = &slab[first * nx * ny..(first + count) * nx * ny];
        let (scale, offset) = (plan.options.output_scale, plan.options.output_offset);
        timed(&mut self.tally.download, || {
            let (slice, size) = (nx * ny, self.output.size());
            for (values, out) in values.chunks(slice).zip(out.chunks_mut(slice * size)) {
                scaled.iter_mut().zip(values).for_each(|(s, v)| *s = *v * scale + offset);
                encode_all(&self.context, self.output, scaled, out);
            }
        });
        if plan.options.fov_mask {
            let bytes = values.len() * self.output.size();
            plan.mask_unseen(self.first + first, self.output, &mut out[..bytes]);
        }
        if !plan.is_plain() || self.output != Number::F64 {
            self.tally.overflown += infinities(self.context.pool(), self.output, out, values.len());
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Tally> {
        Ok(std::mem::take(&mut self.tally))
    }
}
